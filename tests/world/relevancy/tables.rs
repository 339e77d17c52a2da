//! The changes of objects in cells: encoded once, copied by all connections that are in step, and sent to
//! single connections in all other cases (R24).

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Group, Relevancy};

use super::Bird;
use crate::counted::{Counted, take_written};
use crate::support::{Packets, Room, TICK, property, size};

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Ship {
    #[replicated]
    position: [f32; 2],
    #[replicated]
    heading: Counted,
    #[replicated]
    crew: Vec<u16>,
    #[replicated]
    log: String,
    #[replicated]
    cargo: FastArray<Crate>,
    #[replicated(condition = OwnerOnly)]
    orders: u32,
    #[replicated(condition = Custom)]
    signal: u8,
}

#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
struct Crate {
    weight: u32,
    kind: u8,
}

/// An object of another class, which can be in the cells of ships when it is attached to one.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Flag {
    #[replicated]
    colour: Counted,
}

const EXTENT: u64 = 200;

fn nearby() -> Area {
    Area::within(100.0).flat()
}

fn sea(config: ServerConfig, area: Area, guests: usize) -> Room {
    let mut room = Room::new(config, |client| {
        client.register::<Ship>().register::<Flag>();
    });
    room.server
        .register::<Flag>()
        .class::<Ship>()
        .locate(area, |ship: &Ship| [ship.position[0], ship.position[1], 0.0]);
    for _ in 0..guests {
        let id = room.enter();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    }
    room
}

fn ship(x: f32, y: f32) -> Ship {
    Ship { position: [x, y], ..Ship::default() }
}

/// Returns how many values a tick writes. In this tick, ships that all guests see change, and ships that
/// nobody sees change too. All ships near zero have attached flags, which also change.
fn written(guests: usize, near: usize, far: usize) -> usize {
    let mut room = sea(ServerConfig::default(), nearby(), guests);
    let mut place = |at: usize, x: f32| room.server.spawn(ship(x, at as f32 * 9.0));
    let near: Vec<_> = (0..near).map(|at| place(at, 5.0)).collect();
    let far: Vec<_> = (0..far).map(|at| place(at, 900.0)).collect();
    let flags: Vec<_> = near.iter().map(|_| room.server.spawn(Flag::default())).collect();
    for (flag, ship) in flags.iter().zip(&near) {
        room.server.object(*flag).set_relevancy(Relevancy::AttachedTo(ship.erase()));
    }
    room.settle();
    near.iter().chain(&far).for_each(|&ship| room.server[ship].heading.0 += 1);
    flags.iter().for_each(|&flag| room.server[flag].colour.0 += 1);
    take_written();
    let packets = room.tick();
    let written = take_written();
    for (guest, packets) in packets.iter().enumerate() {
        room.deliver(guest, packets);
        let client = &room.guests[guest].client;
        assert!(near.iter().all(|&ship| client[ship].heading == Counted(1)));
        assert!(flags.iter().all(|&flag| client[flag].colour == Counted(1)));
        assert!(far.iter().all(|&ship| client.get(ship).is_none()));
    }
    written
}

#[test]
fn r24_a_change_is_written_once_for_all_who_see_its_cell_and_not_for_cells_that_nobody_sees() {
    let once = written(1, 6, 0);
    assert_eq!(written(5, 6, 0), once);
    // The comparison also writes values to measure them. A visible ship and its flag are each written once
    // more for the packets; a ship that nobody sees is not.
    let compared = written(5, 6, 1) - once;
    assert_eq!(written(5, 7, 0), once + 2 * (compared + 1));
}

/// A client has the objects that it owns wherever they are. If such an object is far away, its changes are in
/// no table of the cells that the client sees.
#[test]
fn s188_an_owner_gets_the_changes_of_what_is_far_away_and_nobody_else_does() {
    let mut room = sea(ServerConfig::default(), nearby(), 2);
    let owner = room.guests[0].id;
    let far = room.server.spawn(ship(900.0, 0.0));
    let flag = room.server.spawn(Flag::default());
    room.server.object(flag).set_relevancy(Relevancy::AttachedTo(far.erase()));
    room.server.object(flag).set_owner(Some(owner));
    room.server.object(far).set_owner(Some(owner));
    room.settle();
    for step in 1..40_u32 {
        // The ship comes into sight and goes out of sight again.
        let x = (900.0 - step as f32 * 30.0).abs();
        let object = &mut room.server[far];
        (object.position, object.heading, object.orders) = ([x, 0.0], Counted(step), step);
        room.server[flag].colour = Counted(step);
        let packets = room.tick();
        room.deliver(0, &packets[0]);
        room.acknowledge();
        let shown = &room.guests[0].client[far];
        assert_eq!((shown.position[0], &shown.heading, shown.orders), (x, &Counted(step), step));
        assert_eq!(room.guests[0].client[flag].colour, Counted(step));
        if x > 200.0 {
            assert!(size(&packets[1]) < 60, "nothing of it is sent to the other");
        }
    }
}

#[test]
fn r24_changes_too_large_for_a_packet_arrive() {
    let mut room = sea(ServerConfig { mtu_bytes: 300, ..ServerConfig::default() }, nearby(), 3);
    let ships: Vec<_> = (0..3).map(|at| room.server.spawn(ship(at as f32, 0.0))).collect();
    room.settle();
    for (&ship, length) in ships.iter().zip([100, 260, 3_000]) {
        room.server[ship].log = "x".repeat(length);
        room.server[ship].crew = (0..length as u16 / 10).collect();
    }
    room.settle();
    for guest in &room.guests {
        for &ship in &ships {
            assert_eq!(guest.client[ship].log, room.server[ship].log);
            assert_eq!(guest.client[ship].crew, room.server[ship].crew);
        }
    }
}

/// New elements are sent whole until one packet with them is acked. A later change of such an element is not
/// sent alone, because the client may lack the element (R2).
#[test]
fn r02_new_elements_in_a_table_are_sent_again_with_their_changes_until_they_arrive() {
    let mut room = sea(ServerConfig::default(), nearby(), 1);
    let ship = room.server.spawn(ship(0.0, 0.0));
    room.settle();
    for weight in [5, 6] {
        room.server[ship].crew.push(weight);
        room.tick();
        room.server[ship].crew[usize::from(weight) - 5] += 10;
        let packets = room.tick_one();
        room.deliver(0, &packets);
        assert_eq!(room.guests[0].client[ship].crew, room.server[ship].crew, "only the second packet came");
    }
}

#[test]
fn s192_changes_without_room_wait_and_arrive() {
    let config = ServerConfig { max_bytes_per_tick: 60, mtu_bytes: 200, ..ServerConfig::default() };
    for area in [nearby(), nearby().slower_beyond(1.0, 4)] {
        let mut room = sea(config.clone(), area, 2);
        let ships: Vec<_> = (0..240).map(|at| room.server.spawn(ship(at as f32 / 8.0, 40.0))).collect();
        room.settle();
        ships.iter().for_each(|&ship| room.server[ship].position[1] += 1.0);
        room.settle();
        for guest in &room.guests {
            assert!(ships.iter().all(|&ship| guest.client[ship] == room.server[ship]));
        }
    }
}

/// Returns in which of `ticks` ticks the client shows a new position of a ship that moves in each tick.
fn updates(room: &mut Room, ship: ObjectRef<Ship>, ticks: u32) -> Vec<u32> {
    let mut shown = room.guests[0].client[ship].position[1];
    let mut updates = Vec::new();
    for tick in 0..ticks {
        room.server[ship].position[1] += 0.01;
        room.step();
        let now = room.guests[0].client[ship].position[1];
        if std::mem::replace(&mut shown, now) != now {
            assert_eq!(now, room.server[ship].position[1], "an update is new");
            updates.push(tick);
        }
    }
    updates
}

#[test]
fn s187_what_is_far_is_updated_every_few_ticks_and_what_is_near_in_each() {
    let area = Area::within(200.0).flat().slower_beyond(50.0, 3).slower_beyond(120.0, 10);
    let mut room = sea(ServerConfig::default(), area, 1);
    let ships = [10.0, 80.0, 160.0].map(|x| room.server.spawn(ship(x, 0.0)));
    room.settle();
    for (ship, period) in ships.into_iter().zip([1, 3, 10]) {
        let updates = updates(&mut room, ship, 60);
        assert_eq!(updates.len() as u32, 60 / period);
        assert!(updates.windows(2).all(|pair| pair[1] - pair[0] == period), "{updates:?}");
    }
}

#[test]
fn s187_far_objects_have_ticks_of_their_own_and_all_far_clients_share_their_bytes() {
    let mut room = sea(ServerConfig::default(), nearby().slower_beyond(50.0, 5), 3);
    let ships: Vec<_> = (0..50).map(|at| room.server.spawn(ship(60.0, at as f32))).collect();
    room.settle();
    let mut counts = Vec::new();
    for _ in 0..20 {
        ships.iter().for_each(|&ship| room.server[ship].heading.0 += 1);
        ships.iter().for_each(|&ship| room.server[ship].position[0] += 0.01);
        let packets = room.tick();
        let bodies: Vec<usize> = packets.iter().map(|packets| size(packets)).collect();
        assert!(bodies.iter().all(|&size| size == bodies[0]));
        counts.push(bodies[0]);
        packets.iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
        room.acknowledge();
    }
    let (least, most) = (counts[5..].iter().min().unwrap(), counts[5..].iter().max().unwrap());
    assert!(most - least < least / 2, "about a fifth in each tick: {counts:?}");
}

/// The slots of the ships are ten apart, and the period is ten ticks. If the slot modulo the period chose the
/// tick, all ships would be sent in the same tick.
#[test]
fn s187_far_objects_in_slots_at_regular_distances_have_ticks_of_their_own() {
    let mut room = sea(ServerConfig::default(), nearby().slower_beyond(50.0, 10), 1);
    let ships: Vec<_> = (0..100)
        .map(|_| {
            (0..9).for_each(|_| _ = room.server.spawn(Flag::default()));
            room.server.spawn(ship(60.0, 0.0))
        })
        .collect();
    room.settle();
    for tick in 0..30 {
        let shown = |room: &Room| ships.iter().map(|&ship| room.client()[ship].heading.0).collect::<Vec<_>>();
        let before = shown(&room);
        ships.iter().for_each(|&ship| room.server[ship].heading.0 += 1);
        room.step();
        let updates = shown(&room).iter().zip(&before).filter(|(now, before)| now != before).count();
        assert!(tick < 10 || (5..=15).contains(&updates), "{updates} of 100 ships in tick {tick}");
    }
}

/// Returns how many bytes the server sends to a guest until a change has arrived. The change may wait up to
/// 20 ticks for its band.
fn bytes_of(room: &mut Room, guest: usize, change: impl FnOnce(&mut Server)) -> usize {
    let id = room.guests[guest].id;
    let sent = |room: &Room| room.server.connection_info(id).stats().expect("it is connected").bytes_sent;
    let before = sent(room);
    change(&mut room.server);
    (0..40).for_each(|_| _ = room.step());
    (sent(room) - before) as usize
}

#[test]
fn s187_far_changes_that_do_not_fit_into_a_packet_wait_for_their_band_and_are_sent_once() {
    for length in [100, 1_300, 3_000] {
        let mut room = sea(ServerConfig::default(), nearby().slower_beyond(50.0, 20), 1);
        let ship = room.server.spawn(ship(60.0, 0.0));
        room.server[ship].log = "x".repeat(length);
        room.settle();
        let (mut updates, mut shown) = (0, String::new());
        for tick in 0..100 {
            room.server[ship].log = format!("{tick:0length$}");
            room.step();
            let log = &room.client()[ship].log;
            updates += u32::from(*log != shown);
            shown.clone_from(log);
        }
        // The first counted update is only the text that the opening contained.
        assert_eq!(updates, 1 + 100 / 20, "{length} bytes");
        (0..40).for_each(|_| _ = room.step());
        let bytes = bytes_of(&mut room, 0, |server| server[ship].log = "y".repeat(length));
        assert!(bytes < length * 5 / 4 + 400, "{bytes} bytes for {length}");
    }
}

/// Owners, connections with switches of their own and replays have views of their own, which no band delays.
#[test]
fn s187_far_changes_are_sent_at_once_and_only_once_to_those_with_a_view_of_their_own() {
    for view in 0..3 {
        let mut room = sea(ServerConfig::default(), nearby().slower_beyond(50.0, 20), 1);
        let id = if view == 0 { room.enter_replay() } else { room.enter() };
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
        let ship = room.server.spawn(ship(60.0, 0.0));
        match view {
            0 => {}
            1 => _ = room.server.object(ship).set_owner(Some(id)),
            _ => _ = room.server.object(ship).set_custom_active_for(id, property::<Ship>("signal"), false),
        }
        room.settle();
        for heading in 1..=40 {
            room.server[ship].heading = Counted(heading);
            room.step();
            assert_eq!(room.guests[1].client[ship].heading, Counted(heading), "view {view}");
        }
        (0..40).for_each(|_| _ = room.step());
        let bytes = bytes_of(&mut room, 1, |server| server[ship].log = "y".repeat(500));
        assert!(bytes < 900, "{bytes} bytes for 500, view {view}");
    }
}

/// All clients see the same properties of a class without conditions, but far clients receive changes later.
#[test]
fn s187_no_band_delays_an_object_for_its_owner_if_its_class_has_no_conditions() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Bird>());
    let area = Area::within(200.0).slower_beyond(50.0, 20);
    room.server.class::<Bird>().locate(area, |bird: &Bird| [bird.position[0], 0.0, 0.0]);
    for _ in 0..2 {
        let id = room.enter();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    }
    let bird = room.server.spawn(Bird { position: [150.0, 0.0, 0.0] });
    room.server.object(bird).set_owner(Some(room.guests[0].id));
    room.settle();
    let mut delayed = 0;
    for height in 1..=40 {
        room.server[bird].position[1] = height as f32;
        room.step();
        let shown = [0, 1].map(|guest: usize| room.guests[guest].client[bird].position[1]);
        assert_eq!(shown[0], height as f32);
        delayed += usize::from(shown[1] != height as f32);
    }
    assert_eq!(delayed, 38, "the other client gets every twentieth change");
}

/// A change that waits for a far client is sent when the object comes nearer, when it goes into another
/// band, and when its owner or place changes.
#[test]
fn s187_waiting_changes_are_not_lost_when_an_object_leaves_its_band() {
    let area = Area::within(200.0).flat().slower_beyond(50.0, 7).slower_beyond(120.0, 100);
    for start in 0..9 {
        for move_on in 0..7 {
            let mut room = sea(ServerConfig::default(), area, 2);
            let id = room.guests[0].id;
            let ship = room.server.spawn(ship(160.0, 0.0));
            room.settle();
            (0..start).for_each(|_| _ = room.step());
            room.server[ship].heading = Counted(9);
            room.step();
            match move_on {
                0 => room.server[ship].position[0] = 10.0,
                1 => room.server[ship].position[0] = 80.0,
                2 => _ = room.server.connection(id).set_viewpoints(&[[150.0, 0.0, 0.0]]),
                3 => _ = room.server.object(ship).set_owner(Some(id)),
                4 => _ = room.server.object(ship).set_relevancy(Relevancy::Always),
                // From now on this client has a view of its own, and tables are not sent to it.
                5 => {
                    _ = room.server.object(ship).set_custom_active_for(id, property::<Ship>("signal"), false)
                }
                _ => room.server[ship].crew = vec![1; 1_500],
            }
            for _ in 0..if move_on >= 5 { 110 } else { 9 } {
                room.step();
            }
            assert_eq!(room.guests[0].client[ship].heading, Counted(9), "start {start}, {move_on}");
            assert_eq!(room.guests[0].client[ship].crew, room.server[ship].crew);
        }
    }
}

/// The packets with a new item and with its next change are lost, but the server does not know this yet when
/// the change is due for far clients.
#[test]
fn r02_changes_of_new_items_are_not_sent_alone_when_they_are_due() {
    let mut room = sea(ServerConfig::default(), nearby().slower_beyond(30.0, 2), 1);
    let ship = room.server.spawn(ship(60.0, 0.0));
    room.settle();
    while room.in_flight(0) == 0 {
        if room.server[ship].cargo.is_empty() {
            room.server[ship].cargo.push(Crate { weight: 1, kind: 7 });
        }
        room.tick();
    }
    room.server[ship].cargo[0].weight = 2;
    room.tick();
    for _ in 0..6 {
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    assert_eq!(room.guests[0].client[ship].cargo[0], Crate { weight: 2, kind: 7 });
}

/// A new item is lost, and its next change waits for its band. In the tick of the change the client is
/// paused, or an ack of something older arrives after the change. In both cases the server counts the client
/// as up to date with the object when the change is due, although the client lacks the item.
#[test]
fn r02_changes_of_new_items_that_wait_for_their_band_are_not_sent_alone() {
    const PERIOD: u16 = 4;
    // The ticks are so short that no packet counts as lost.
    let tick = |room: &mut Room| {
        let packets = room.tick_one();
        room.now -= TICK - TICK / 100;
        packets
    };
    for is_paused in [true, false] {
        let mut room = sea(ServerConfig::default(), nearby().slower_beyond(30.0, PERIOD), 1);
        let ship = room.server.spawn(ship(60.0, 0.0));
        room.settle();
        let id = room.guests[0].id;
        let push = |room: &mut Room, weight| {
            room.server[ship].cargo.push(Crate { weight, kind: 7 });
            let in_flight = room.in_flight(0);
            loop {
                let packets = tick(room);
                if room.in_flight(0) > in_flight {
                    return packets;
                }
            }
        };
        let first = push(&mut room, 1);
        room.deliver(0, &first);
        let acks = room.replies(0);
        push(&mut room, 2); // This packet is lost.
        room.server[ship].cargo[1].weight = 3;
        if is_paused {
            room.server.connection(id).pause();
        }
        tick(&mut room);
        room.server.connection(id).resume();
        if !is_paused {
            room.hear(0, &acks);
        }
        for _ in 0..PERIOD {
            let packets = tick(&mut room);
            room.deliver(0, &packets);
        }
        assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.packets_lost), Some(0));
        let cargo = &room.guests[0].client[ship].cargo;
        assert!(cargo.iter().eq(room.server[ship].cargo.iter()), "paused: {is_paused}, {cargo:?}");
    }
}

#[test]
#[should_panic(expected = "a band is slower than what is nearer, of which changes are sent every 5 ticks")]
fn bands_become_slower_with_the_distance() {
    _ = nearby().slower_beyond(30.0, 5).slower_beyond(60.0, 5);
}

#[test]
#[should_panic(expected = "a band begins farther away than the band before, which begins at 30, not at 30")]
fn bands_are_in_the_order_of_their_distances() {
    _ = nearby().slower_beyond(30.0, 5).slower_beyond(30.0, 6);
}

/// Returns every packet to every client of a busy sea under loss, tick by tick, and checks what the clients
/// have at the end.
fn record(share: bool, seed: u64) -> Vec<Vec<Packets>> {
    let mtu_bytes = if seed.is_multiple_of(2) { 1_200 } else { 200 };
    let area = if seed.is_multiple_of(3) {
        nearby()
    } else {
        nearby().slower_beyond(40.0, 3).slower_beyond(80.0, 8)
    };
    let mut room = sea(ServerConfig { share, mtu_bytes, ..ServerConfig::default() }, area, 4);
    let mut rng = Rng::new(seed);
    let coordinate = |rng: &mut Rng| rng.below(2 * EXTENT) as f32 - EXTENT as f32;
    let mut ships: Vec<_> =
        (0..60).map(|_| room.server.spawn(ship(coordinate(&mut rng), coordinate(&mut rng)))).collect();
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    let mut ticks = Vec::new();
    for tick in 0..150_u32 {
        for _ in 0..12 {
            let at = rng.below(ships.len() as u64) as usize;
            let (ship, id) = (ships[at], ids[rng.below(4) as usize]);
            match rng.below(14) {
                0 => room.server[ship].position = [coordinate(&mut rng), coordinate(&mut rng)],
                1 => room.server[ship].crew.push(tick as u16),
                2 => drop(room.server[ship].crew.pop()),
                3 => room.server[ship].log = "ahoy".repeat(rng.below(20) as usize),
                4 => drop(room.server[ship].cargo.push(Crate { weight: tick, kind: 1 })),
                5 if !room.server[ship].cargo.is_empty() => drop(room.server[ship].cargo.remove(0)),
                6 => _ = room.server.object(ship).set_owner(Some(id)),
                7 => {
                    _ = room.server.connection(id).set_viewpoints(&[[
                        coordinate(&mut rng),
                        coordinate(&mut rng),
                        0.0,
                    ]])
                }
                8 => {
                    room.server.despawn(ship);
                    ships[at] = room.server.spawn(self::ship(coordinate(&mut rng), 0.0));
                }
                9 => {
                    let other = ships[rng.below(ships.len() as u64) as usize];
                    let relevancy = match rng.below(4) {
                        0 if other != ship && at.is_multiple_of(2) => Relevancy::Group(Group(1)),
                        1 => Relevancy::Always,
                        _ => Relevancy::Located,
                    };
                    room.server.object(ship).set_relevancy(relevancy);
                }
                10 => _ = room.server.connection(id).join_group(Group(1)),
                _ => {
                    room.server[ship].heading.0 += 1;
                    room.server[ship].orders += 1;
                    room.server[ship].position[0] += 1.0;
                }
            }
        }
        room.acknowledge();
        let packets = room.tick();
        for (guest, packets) in packets.iter().enumerate() {
            if rng.below(4) > 0 {
                room.deliver(guest, packets);
            }
        }
        ticks.push(packets);
    }
    room.settle();
    // Changes of far objects wait for their ticks.
    (0..10).for_each(|_| _ = room.step());
    room.settle();
    for guest in &room.guests {
        for &ship in &ships {
            let truth = &room.server[ship];
            let shown = guest.client.get(ship);
            assert_eq!(shown.is_some(), room.server.object_info(ship).is_relevant_to(guest.id));
            if let Some(shown) = shown {
                assert_eq!((shown.position, &shown.heading), (truth.position, &truth.heading));
                assert_eq!((&shown.crew, &shown.log), (&truth.crew, &truth.log));
                let weights = |ship: &Ship| {
                    let mut weights: Vec<u32> = ship.cargo.iter().map(|item| item.weight).collect();
                    weights.sort_unstable();
                    weights
                };
                assert_eq!(weights(shown), weights(truth));
                if room.server.object_info(ship).owner() == Some(guest.id) {
                    assert_eq!(shown.orders, truth.orders);
                }
            }
        }
    }
    ticks
}

#[test]
fn s90_tables_make_no_difference_to_the_packets_and_lose_nothing() {
    for seed in 0..16 {
        let (shared, unshared) = (record(true, seed), record(false, seed));
        for (tick, (shared, unshared)) in shared.iter().zip(&unshared).enumerate() {
            assert_eq!(shared, unshared, "seed {seed}, tick {tick}");
        }
    }
}
