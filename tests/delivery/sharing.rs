//! One comparison, one shadow (the server's copy of an object) and one serialisation for all connections.
//! Sharing does not change the packets (S28, S63, S67, S88 to S90).
//!
//! *Invariant:* worlds that are compared with each other get the same calls in the same order.

use std::cell::Cell;

use crate::support::{Packets, Room, SIGN_OF_LIFE_BYTES, property};
use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Car {
    #[replicated]
    place: [f32; 2],
    #[replicated(condition = OwnerOnly)]
    fuel: u16,
    #[replicated(condition = SkipOwner)]
    paint: u8,
    #[replicated]
    plate: String,
    #[replicated]
    parts: Vec<u16>,
    #[replicated(condition = Custom)]
    radio: u8,
    #[replicated]
    ahead: ObjectRef<Self>,
    #[replicated(delta)]
    log: String,
}

/// Runs a busy world with losses. Returns every packet to every client, tick by tick.
fn record(share: bool, mtu_bytes: usize) -> Vec<Vec<Packets>> {
    let mut room = Room::new(ServerConfig { share, mtu_bytes, ..ServerConfig::default() }, |client| {
        client.register::<Car>();
    });
    let mut cars: Vec<_> = (0..40).map(|_| room.server.spawn(Car::default())).collect();
    for _ in 0..4 {
        room.enter();
    }
    let mut ticks = Vec::new();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for tick in 0..150 {
        for _ in 0..8 {
            let (at, what) = (next(cars.len()), next(13));
            let car = cars[at];
            match what {
                0 => room.server[car].fuel += 1,
                1 => room.server[car].paint = tick as u8,
                2 => room.server[car].plate = format!("{tick}").repeat(next(40)),
                3 => room.server[car].parts.push(tick as u16),
                4 => drop(room.server[car].parts.pop()),
                5 => room.server[car].ahead = cars[next(cars.len())],
                6 => _ = room.server.object(car).set_owner(Some(room.guests[next(4)].id)),
                7 => {
                    _ = room.server.object(car).set_custom_active_for(
                        room.guests[next(4)].id,
                        property::<Car>("radio"),
                        next(2) == 0,
                    )
                }
                8 => room.server[car].radio = tick as u8,
                12 => room.server[car].log.push_str("on "),
                9 => {
                    room.server.despawn(car);
                    cars[at] = room.server.spawn(Car { fuel: 3, ..Car::default() });
                }
                _ => room.server[car].place[0] += 1.0,
            }
        }
        room.acknowledge();
        let packets = room.tick();
        for (guest, packets) in packets.iter().enumerate() {
            if next(4) > 0 {
                room.deliver(guest, packets);
            }
        }
        ticks.push(packets);
    }
    room.settle();
    for guest in &room.guests {
        for &car in &cars {
            let (shown, truth) = (guest.client.get(car).unwrap(), &room.server[car]);
            assert_eq!((shown.place, &shown.plate, &shown.parts), (truth.place, &truth.plate, &truth.parts));
            assert_eq!(shown.log, truth.log);
        }
    }
    ticks
}

#[test]
fn s90_packets_are_the_same_bit_for_bit_with_and_without_sharing() {
    for mtu_bytes in [1_200, 200] {
        let (shared, unshared) = (record(true, mtu_bytes), record(false, mtu_bytes));
        for (tick, (shared, unshared)) in shared.iter().zip(&unshared).enumerate() {
            assert_eq!(shared, unshared, "tick {tick}");
        }
    }
}

#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Lamp {
    #[replicated]
    light: u8,
    #[replicated]
    colour: u16,
}

#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Door {
    #[replicated]
    angle: u8,
    #[replicated]
    width: u16,
    #[replicated(condition = Dynamic)]
    code: u16,
}

#[test]
fn s90_entries_of_a_segment_differ_in_their_classes_and_properties() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Lamp>();
        client.register::<Door>();
    });
    let lamps: Vec<_> = (0..4).map(|_| room.server.spawn(Lamp::default())).collect();
    let doors: Vec<_> = (0..3).map(|_| room.server.spawn(Door::default())).collect();
    let bulb = room.server.spawn(Lamp::default());
    room.enter();
    room.settle();
    room.server[lamps[0]].light = 1;
    room.server[lamps[1]].light = 2;
    room.server[lamps[2]].colour = 3;
    room.server[lamps[3]].light = 4;
    // The same handles change in objects of another class, and again in an object of the first class.
    room.server[doors[0]].angle = 5;
    room.server[doors[1]].angle = 6;
    room.server[doors[2]].width = 7;
    room.server[bulb].colour = 8;
    room.settle();
    let client = &room.guests[0].client;
    for lamp in lamps.into_iter().chain([bulb]) {
        assert_eq!(client.get(lamp), room.server.get(lamp));
    }
    for door in doors {
        assert_eq!(client.get(door), room.server.get(door));
    }
}

#[test]
fn s34_what_is_hidden_of_one_object_only_is_in_no_shared_entry() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Door>();
    });
    let doors: Vec<_> = (0..3).map(|_| room.server.spawn(Door::default())).collect();
    room.server.object(doors[1]).set_dynamic_condition(property::<Door>("code"), Condition::OwnerOnly);
    room.enter();
    room.settle();
    for (door, code) in doors.iter().zip(5..) {
        room.server[*door].code = code;
    }
    room.settle();
    let codes: Vec<_> = doors.iter().map(|&door| room.guests[0].client[door].code).collect();
    assert_eq!(codes, [5, 0, 7]);
}

thread_local! {
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
    static COMPARED: Cell<usize> = const { Cell::new(0) };
}

/// Returns how many values `work` writes and how many it compares, and its result.
fn effort<R>(work: impl FnOnce() -> R) -> ((usize, usize), R) {
    WRITTEN.set(0);
    COMPARED.set(0);
    let result = work();
    ((WRITTEN.get(), COMPARED.get()), result)
}

/// A leaf that counts how often it is written and compared. Writing a zero does not count, because clients
/// write the default value of a class for the handshake.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counted(u32);

impl NetSerialize for Counted {
    const WIRE_NAME: &'static str = "Counted";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        WRITTEN.set(WRITTEN.get() + usize::from(self.0 != 0));
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u32::read(reader, references).map(Self)
    }

    fn identical(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        self == other
    }
}
repl::leaf!(Counted);

#[derive(Replicated, Default)]
struct Meter {
    #[replicated]
    count: Counted,
}

/// Returns the bits after the checksums. The checksums differ, because each session has its own.
fn bodies(packets: &[Vec<u8>]) -> Packets {
    packets.iter().map(|packet| packet[4..].to_vec()).collect()
}

/// Returns how many values a tick writes and compares for this many guests: first after one value has
/// changed, then after an object was spawned.
fn effort_of_a_change(share: bool, guests: usize) -> [(usize, usize); 2] {
    let register = |client: &mut Client| {
        client.register::<Meter>();
    };
    let config = ServerConfig { share, ..ServerConfig::default() };
    let (mut room, meter) =
        Room::furnished(config, register, guests, |server| server.spawn(Meter::default()));
    room.server[meter].count = Counted(5);
    let (change, packets) = effort(|| room.tick());
    let newcomer = room.server.spawn(Meter { count: Counted(7) });
    let (opening, later) = effort(|| room.tick());
    for guest in 0..guests {
        assert_eq!(bodies(&packets[guest]), bodies(&packets[0]));
        room.deliver(guest, &packets[guest]);
        room.deliver(guest, &later[guest]);
        let shown =
            [meter, newcomer].map(|meter| room.guests[guest].client.get(meter).map(|meter| meter.count.0));
        assert_eq!(shown, [Some(5), Some(7)]);
    }
    [change, opening]
}

/// How often a value is compared in a tick in which its object is compared once.
const COMPARED_ONCE: usize = 3;

#[test]
fn s28_s67_s88_one_comparison_and_one_writing_serve_all_connections() {
    let alone = effort_of_a_change(true, 1);
    for (written, compared) in alone {
        assert!(written >= 1, "the leaf counts what is done with it");
        assert_eq!(compared, COMPARED_ONCE);
    }
    for guests in [2, 16] {
        assert_eq!(effort_of_a_change(true, guests), alone, "{guests} connections");
        let unshared = effort_of_a_change(false, guests);
        for (unshared, alone) in unshared.iter().zip(&alone) {
            assert!(unshared.0 >= alone.0 + guests - 1, "without sharing each connection's is written");
            assert_eq!(unshared.1, alone.1, "and compared once all the same");
        }
    }
}

#[test]
fn s88_an_opening_is_written_once_for_all_who_join_until_its_object_changes() {
    let register = |client: &mut Client| {
        client.register::<Meter>();
    };
    let (mut room, meter) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.spawn(Meter { count: Counted(1) })
    });
    for value in [1, 2, 3] {
        room.server[meter].count = Counted(value);
        room.settle();
        let written: Vec<usize> = (0..3)
            .map(|_| {
                let ((written, _), ()) = effort(|| {
                    room.enter();
                    room.settle();
                });
                let shown = room.guests.last().and_then(|guest| guest.client.get(meter));
                assert_eq!(shown.map(|meter| meter.count.0), Some(value), "nobody is shown what is stale");
                written
            })
            .collect();
        assert!(
            written[0] <= 1 && written[1..] == [0, 0],
            "{written:?}: the second and third take the first's"
        );
        assert!(value == 1 || written[0] == 1, "{written:?}: what changed is written anew");
    }
}

/// An object that a player, its owner and a recording see in three different ways.
#[derive(Replicated, Default)]
struct Film {
    #[replicated]
    count: Counted,
    #[replicated]
    star: ObjectRef<Self>,
    #[replicated(condition = OwnerOnly)]
    cut: Counted,
    #[replicated(condition = ReplayOnly)]
    tape: Counted,
    #[replicated(condition = SkipReplay)]
    hud: Counted,
}

fn taxi() -> Car {
    Car { plate: "taxi".to_owned(), ..Car::default() }
}

fn truck() -> Car {
    Car { plate: "truck".to_owned(), ..Car::default() }
}

#[test]
fn s88_neighbours_share_the_head_of_their_openings_only_if_nothing_in_it_differs() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register_archetype(taxi);
        client.register_archetype(truck);
    });
    let archetypes = [taxi, truck].map(|make| room.server.register_archetype(make));
    // The slots of these objects are used again, so the new objects have other generations.
    let gone = room.server.spawn(Car::default());
    room.server.despawn(gone);
    let plain = [1, 2].map(|radius| Car { parts: vec![radius; 3], ..Car::default() });
    let cars = plain.map(|car| room.server.spawn(car));
    let from = [0, 1, 0].map(|at| {
        let car = [taxi, truck][at]();
        room.server.spawn_from(archetypes[at], Car { parts: vec![9; 3], ..car })
    });
    let roles = [Role::SimulatedProxy, Role::None, Role::SimulatedProxy].map(|role| {
        let car = room.server.spawn(Car { parts: vec![8; 3], ..Car::default() });
        room.server.object(car).set_remote_role(role);
        (car, role)
    });
    let moved = room.server.spawn(Car { place: [1.0; 2], ..Car::default() });
    room.enter();
    room.settle();
    let client = room.client();
    for car in cars.into_iter().chain(from).chain(roles.map(|(car, _)| car)).chain([moved]) {
        assert_eq!(client.get(car), room.server.get(car));
    }
    for (car, role) in roles {
        assert_eq!(client.object_info(car).role(), Some(role));
    }
}

#[test]
fn s89_views_of_owners_and_recordings_are_written_separately_and_references_once() {
    let register = |client: &mut Client| {
        client.register::<Film>();
    };
    let (mut room, film) =
        Room::furnished(ServerConfig::default(), register, 3, |server| server.spawn(Film::default()));
    room.enter_replay();
    room.server.object(film).set_owner(Some(room.guests[2].id));
    room.settle();
    let change = |room: &mut Room, change: &dyn Fn(&mut Film)| {
        change(&mut room.server[film]);
        let packets = room.tick();
        packets.iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
        room.acknowledge();
        packets
    };
    let told = |room: &Room| -> Vec<[u32; 4]> {
        let shown = (0..4).map(|guest| room.guests[guest].client.get(film).expect("all have it"));
        shown.map(|film| [&film.count, &film.cut, &film.tape, &film.hud].map(|count| count.0)).collect()
    };
    change(&mut room, &|film| film.count = Counted(1));
    assert_eq!(told(&room), [[1, 0, 0, 0]; 4]);
    let packets = change(&mut room, &|own| own.star = film);
    assert_eq!(bodies(&packets[0]), bodies(&packets[1]));
    for guest in 0..4 {
        let shown = room.guests[guest].client.get(film).expect("all have it");
        assert_eq!(shown.star, film, "a reference is shared like any other value");
    }
    let packets = change(&mut room, &|film| {
        (film.count, film.cut, film.tape, film.hud) = (Counted(2), Counted(3), Counted(4), Counted(5));
    });
    assert_eq!(told(&room), [[2, 0, 0, 5], [2, 0, 0, 5], [2, 3, 0, 5], [2, 0, 4, 0]]);
    assert_eq!(bodies(&packets[0]), bodies(&packets[1]));
    assert!((2..4).all(|guest| bodies(&packets[guest]) != bodies(&packets[0])));
    // A recording that begins late gets a separate opening, but the players share theirs.
    room.enter_replay();
    room.enter();
    room.settle();
    let late = |guest: usize| {
        let film = room.guests[guest].client.get(film).expect("it has it");
        [&film.count, &film.cut, &film.tape, &film.hud].map(|count| count.0)
    };
    assert_eq!([late(4), late(5)], [[2, 0, 4, 0], [2, 0, 0, 5]]);
}

#[test]
fn s74_a_recording_that_connects_again_is_sent_everything_that_recordings_see() {
    let register = |client: &mut Client| {
        client.register::<Film>();
    };
    let (mut room, film) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Film::default()));
    let first = room.enter_replay();
    room.settle();
    room.server[film].count = Counted(1);
    room.server[film].tape = Counted(2);
    room.settle();
    room.server.connection(first).disconnect();
    room.guests.pop();
    room.server[film].tape = Counted(3);
    room.settle();
    let second = room.server.spawn(Film { tape: Counted(4), hud: Counted(5), ..Film::default() });
    room.enter_replay();
    room.settle();
    let recorded = |object: ObjectRef<Film>| {
        let film = room.guests[1].client.get(object).expect("the recording has it");
        [&film.count, &film.cut, &film.tape, &film.hud].map(|count| count.0)
    };
    // These are the present values of the properties that changed before and after the first recording began.
    assert_eq!([recorded(film), recorded(second)], [[1, 0, 3, 0], [0, 0, 4, 0]]);
}

#[test]
fn s75_a_late_joiner_receives_current_values_only() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, mut cars) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (0..60)
            .map(|_| server.spawn(Car { place: [1.0, 2.0], plate: "old".into(), ..Car::default() }))
            .collect::<Vec<_>>()
    });
    for round in 1..6_u8 {
        let first = room.guests[0].id;
        room.server[cars[5]].place[0] = f32::from(round);
        room.server[cars[17]].plate = format!("new {round}");
        room.server[cars[30]].parts.push(round.into());
        room.server.object(cars[40]).set_owner((round % 2 == 0).then_some(first));
        let gone = cars.swap_remove(50);
        room.server.despawn(gone);
        cars.push(room.server.spawn(Car { paint: round, ..Car::default() }));
        room.enter();
        room.settle();
        for guest in &room.guests {
            assert_eq!(guest.client.objects::<Car>().count(), cars.len());
            for &car in &cars {
                let (shown, truth) = (guest.client.get(car).expect("all are in sight"), &room.server[car]);
                assert_eq!(
                    (shown.place, &shown.plate, &shown.parts),
                    (truth.place, &truth.plate, &truth.parts)
                );
            }
        }
    }
}

#[test]
fn s63_there_and_back_between_two_comparisons_is_invisible() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(Car::default()));
    let there = &mut room.server[car];
    (there.place, there.plate) = ([3.0; 2], "there".into());
    there.parts.push(7);
    let back = &mut room.server[car];
    (back.place, back.plate) = ([0.0; 2], String::new());
    back.parts.pop();
    assert!(room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
}

#[test]
fn s67_a_write_that_changed_nothing_sends_nothing() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(Car::default()));
    let same = room.server[car].clone();
    room.server[car] = same;
    drop(room.server.objects_mut::<Car>());
    assert!(room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
}

#[test]
fn s89_a_view_of_one_connection_is_not_shared() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 3, |server| server.spawn(Car::default()));
    room.server.object(car).set_owner(Some(room.guests[1].id));
    room.settle();
    room.server[car].fuel = 60_000;
    room.server[car].place = [1.0; 2];
    room.settle();
    let fuel = |guest: usize| room.guests[guest].client.get(car).map(|car| (car.fuel, car.place));
    assert_eq!(fuel(0), Some((0, [1.0; 2])));
    assert_eq!(fuel(1), Some((60_000, [1.0; 2])));
    assert_eq!(fuel(2), Some((0, [1.0; 2])));
}

#[test]
fn s90_changes_without_connections_are_in_openings_without_sharing() {
    let mut room = Room::new(ServerConfig { share: false, ..ServerConfig::default() }, |client| {
        client.register::<Car>();
    });
    let car = room.server.spawn(Car { plate: "old".into(), ..Car::default() });
    let first = room.enter();
    room.settle();
    room.server.connection(first).disconnect();
    room.guests.clear();
    room.wait(ServerConfig::default().timeout);
    room.tick();
    assert!(room.server.connection_info(first).stats().is_none(), "forgotten");
    room.server[car].plate = "new".into();
    room.tick();
    room.enter();
    room.settle();
    assert_eq!(room.client().get(car).map(|car| car.plate.as_str()), Some("new"));
}
