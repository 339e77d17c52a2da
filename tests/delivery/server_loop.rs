//! The server as a game loop uses it: packets, objects and events.
//!
//! *Invariant:* nothing is sent twice, and no queue grows without limit, even if the loop omits calls.

use std::time::Duration;

use repl::prelude::*;
use repl::{ConnectionId, Transmit};

use crate::support::{Room, TICK};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Player {
    #[replicated]
    health: u16,
    #[replicated(quantize(step = 0.5, range = 0.0..=100.0))]
    speed: f32,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Chest {
    #[replicated]
    gold: u32,
}

fn room(guests: usize) -> (Room, [ObjectRef<Player>; 3]) {
    let register = |client: &mut Client| {
        client.register::<Player>().register::<Chest>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| {
        server.register::<Chest>();
        [1, 2, 3].map(|health| server.spawn(Player { health, speed: 0.0 }))
    })
}

/// Returns all packets of a tick with their connections.
fn transmits(server: &mut Server) -> Vec<(ConnectionId, Vec<u8>)> {
    let mut packets = Vec::new();
    while let Some(Transmit { connection, bytes }) = server.poll_any_transmit() {
        packets.push((connection, bytes.to_vec()));
    }
    packets
}

#[test]
fn one_loop_takes_the_packets_of_all_connections_as_loops_over_each_do() {
    let ((mut one, players), (mut other, _)) = (room(3), room(3));
    for room in [&mut one, &mut other] {
        room.server[players[1]].health = 77;
        room.server.tick(room.now);
    }
    let ids: Vec<_> = other.guests.iter().map(|guest| guest.id).collect();
    let mut expected = Vec::new();
    for id in ids {
        while let Some(bytes) = other.server.poll_transmit(id) {
            expected.push((id, bytes.to_vec()));
        }
    }
    let mut packets = transmits(&mut one.server);
    packets.sort_by_key(|(id, _)| *id);
    assert_eq!(packets.len(), 3);
    assert_eq!(packets, expected);
    assert_eq!(one.server.poll_any_transmit(), None);
}

#[test]
fn r26_the_connections_take_turns_in_the_loop_and_none_is_first_in_two_ticks() {
    let (mut room, _) = room(3);
    let mut firsts = Vec::new();
    for _ in 0..3 {
        // These objects do not fit into one packet, so each connection has several packets.
        (0..400).for_each(|gold| _ = room.server.spawn(Chest { gold: 1_000_000 + gold }));
        room.server.tick(room.now);
        let packets = transmits(&mut room.server);
        let turns: Vec<_> = packets.iter().map(|(id, _)| *id).collect();
        assert!(turns.len() >= 6 && turns.len() % 3 == 0, "{turns:?}");
        for round in turns.chunks(3) {
            assert_eq!(round, &turns[..3], "each connection has one packet in each round");
        }
        firsts.push(turns[0]);
        room.settle();
    }
    firsts.dedup();
    assert_eq!(firsts.len(), 3, "{firsts:?}");
}

#[test]
fn r26_a_loop_that_never_takes_all_packets_leaves_out_no_connection() {
    let (mut room, players) = room(3);
    let late = room.guests[2].id;
    players.iter().for_each(|&player| _ = room.server.object(player).set_visible(late, false));
    room.settle();
    let mut turns = Vec::new();
    for tick in 0..20 {
        room.server[players[0]].health += 1;
        if tick == 4 {
            players.iter().for_each(|&player| _ = room.server.object(player).set_visible(late, true));
        }
        room.server.tick(room.now);
        room.now += TICK;
        turns.extend(room.server.poll_any_transmit().map(|packet| packet.connection));
    }
    let of_late = turns.iter().filter(|id| **id == late).count();
    assert!(of_late >= 4, "{turns:?}");
}

#[test]
fn the_loop_over_all_packets_takes_farewells_of_connections_that_are_closed() {
    let (mut room, _) = room(3);
    let closing = room.guests[1].id;
    room.server.connection(closing).disconnect();
    assert!(!room.server.connections().any(|id| id == closing));
    let packets = transmits(&mut room.server);
    assert_eq!(packets.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [closing]);
    room.guests[1].client.receive(room.now, &packets[0].1).expect("a farewell");
    assert!(!room.guests[1].client.is_connected());
}

#[test]
fn packets_made_behind_the_place_of_the_loop_are_taken_too() {
    let (mut room, _) = room(3);
    room.server.connection(room.guests[2].id).disconnect();
    assert_eq!(transmits(&mut room.server).len(), 1);
    room.server.connection(room.guests[0].id).disconnect();
    assert_eq!(transmits(&mut room.server).len(), 1, "of a connection before the one that was polled last");
}

#[test]
fn two_objects_of_one_class_are_changed_at_once_and_both_arrive() {
    let (mut room, [one, two, three]) = room(1);
    let Some((first, second)) = room.server.get_pair_mut(one, three) else { panic!("both are there") };
    std::mem::swap(first, second);
    let Some([second, first]) = room.server.get_disjoint_mut([two, one]) else { panic!("both are there") };
    (second.health, first.health) = (20, first.health + 10);
    room.settle();
    let health = [one, two, three].map(|player| room.client()[player].health);
    assert_eq!(health, [13, 20, 1]);
}

#[test]
fn objects_of_two_classes_are_changed_at_once_and_both_arrive() {
    let (mut room, [player, ..]) = room(1);
    let chest = room.server.spawn(Chest { gold: 50 });
    for _ in 0..2 {
        let Some((player, chest)) = room.server.get_pair_mut(player, chest) else { panic!("both are there") };
        (player.health, chest.gold) = (player.health + 20, chest.gold - 20);
        room.settle();
    }
    let Some((chest_again, _)) = room.server.get_pair_mut(chest, player) else { panic!("in any order") };
    chest_again.gold += 1;
    room.settle();
    assert_eq!((room.client()[player].health, room.client()[chest].gold), (41, 11));
}

#[test]
fn an_object_is_not_lent_twice_and_a_missing_object_is_not_lent() {
    let (mut room, [one, two, three]) = room(1);
    assert!(room.server.get_pair_mut(one, one).is_none());
    assert!(room.server.get_disjoint_mut([one, two, one]).is_none());
    room.server.despawn(three);
    assert!(room.server.get_pair_mut(one, three).is_none());
    assert!(room.server.get_disjoint_mut([three]).is_none());
    assert!(room.server.get_disjoint_mut([ObjectRef::<Player>::NULL]).is_none());
    // This reference has another type than its object.
    let chest = ObjectRef::<Chest>::new(one.guid().expect("not null"));
    assert!(room.server.get_pair_mut(two, chest).is_none());
    assert!(room.server.get_disjoint_mut([chest]).is_none());
}

#[test]
fn all_objects_of_a_class_are_lent_with_their_references() {
    let (mut room, players) = room(1);
    room.server.despawn(players[0]);
    for (player, object) in room.server.objects_mut::<Player>() {
        assert!(players[1..].contains(&player));
        object.health += if player == players[1] { 100 } else { 200 };
    }
    room.settle();
    assert_eq!(
        players[1..].iter().map(|&player| room.client()[player].health).collect::<Vec<_>>(),
        [102, 203]
    );
    assert_eq!(room.server.objects_mut::<Chest>().count(), 0);
}

#[test]
fn servers_and_clients_are_read_from_many_threads() {
    fn is_sync<T: Send + Sync>() {}
    is_sync::<Server>();
    is_sync::<Client>();
    let (room, players) = room(1);
    let total: u16 = std::thread::scope(|scope| {
        let (server, client) = (&room.server, room.client());
        let read = players.map(|player| scope.spawn(move || server[player].health + client[player].health));
        read.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(total, 12);
}

#[test]
fn a_value_refused_in_every_tick_waits_once_however_rarely_events_are_polled() {
    let (mut room, [player, ..]) = room(0);
    while room.server.poll_event().is_some() {}
    for tick in 0..500 {
        room.server[player].speed = f32::NAN;
        room.server.tick(Duration::from_millis(16 * tick));
    }
    let events: Vec<_> = std::iter::from_fn(|| room.server.poll_event()).collect();
    assert!(matches!(&events[..], [ServerEvent::ValueRefused { path, .. }] if path == "speed"), "{events:?}");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Server::tick` was not called: call it in every frame")]
fn a_server_that_is_never_ticked_panics_with_a_hint() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Player>();
    });
    room.server.register::<Player>();
    let id = room.enter();
    for _ in 0..1_000 {
        room.wait(TICK);
        room.acknowledge();
        while let Some(welcome) = room.server.poll_transmit(id).map(<[u8]>::to_vec) {
            room.deliver(0, &[welcome]);
        }
    }
}

/// Returns a room, and a keep-alive packet of its client.
fn with_keep_alive() -> (Room, Vec<Vec<u8>>) {
    let (mut room, _) = room(1);
    room.wait(Duration::from_millis(500));
    let packets = room.replies(0);
    assert_eq!(packets.len(), 1);
    (room, packets)
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Server::tick` was not called: call it in every frame")]
fn a_server_that_only_receives_panics_with_a_hint() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Player>();
    });
    room.server.register::<Player>();
    room.enter();
    for _ in 0..1_000 {
        room.wait(TICK);
        room.acknowledge();
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Server::tick` was not called: call it in every frame")]
fn a_server_that_gets_one_packet_again_and_again_without_a_tick_panics_with_a_hint() {
    let (mut room, packets) = with_keep_alive();
    for _ in 0..1_000 {
        room.wait(TICK);
        room.hear(0, &packets);
    }
}

#[test]
fn packets_of_a_connection_that_has_ended_need_no_tick() {
    let (mut room, packets) = with_keep_alive();
    room.server.connection(room.guests[0].id).disconnect();
    for _ in 0..1_000 {
        room.wait(TICK);
        room.hear(0, &packets);
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Client::tick` was never called: call it in every frame")]
fn a_client_that_is_never_ticked_panics_with_a_hint() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    while client.poll_transmit().is_none() {}
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Client::tick` was not called: call it in every frame")]
fn a_client_that_is_no_longer_ticked_panics_with_a_hint() {
    let (mut room, players) = room(1);
    for health in 0..1_000 {
        room.server[players[0]].health = health;
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Client::tick` was not called: call it in every frame")]
fn a_client_that_gets_one_packet_again_and_again_without_a_tick_panics_with_a_hint() {
    let (mut room, players) = room(1);
    room.server[players[0]].health = 50;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    room.replies(0);
    for _ in 0..1_000 {
        room.wait(TICK);
        room.deliver(0, &packets);
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Client::tick` was not called: call it in every frame")]
fn a_client_that_was_never_ticked_and_receives_panics_with_a_hint() {
    let (mut room, players) = room(1);
    room.server[players[0]].health = 50;
    let packets = room.tick_one();
    let mut idle = Client::new(ClientConfig::default(), Session::for_tests(2));
    for _ in 0..1_000 {
        room.wait(TICK);
        idle.receive(room.now, &packets[0]).ok();
    }
}

#[test]
fn time_that_goes_back_stands_still() {
    let (mut room, players) = room(1);
    room.wait(Duration::from_secs(1));
    room.step();
    let before = room.now;
    room.now -= Duration::from_millis(500);
    for health in 100..110 {
        room.server[players[0]].health = health;
        room.step();
        assert_eq!(room.client().get(players[0]).map(|player| player.health), Some(health));
    }
    assert!(room.now < before);
    assert_eq!(
        room.server.connection_info(room.guests[0].id).stats().map(|stats| stats.packets_lost),
        Some(0)
    );
}

/// Lets a minute pass in steps that are shorter than the timeout.
fn grow_old(room: &mut Room) {
    for _ in 0..60 {
        room.wait(Duration::from_secs(1));
        room.step();
    }
    room.settle();
}

#[test]
fn time_that_goes_back_and_returns_ends_no_session() {
    let (mut room, players) = room(1);
    grow_old(&mut room);
    let now = room.now;
    for health in 100..110 {
        // These times come from a clock that was set by hand, or from two clocks in one program.
        room.now = Duration::from_secs(u64::from(health % 5));
        room.server[players[0]].health = health;
        let packets = room.tick_one();
        room.deliver(0, &packets);
        room.now = now;
        room.acknowledge();
        let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
        let ended = events.iter().find(|event| matches!(event, ClientEvent::Disconnected(_)));
        assert_eq!(ended, None, "a packet was received at an earlier time");
        assert_eq!(room.client().get(players[0]).map(|player| player.health), Some(health));
    }
}

#[test]
fn a_long_pause_between_two_ticks_is_no_mistake() {
    let (mut room, players) = room(1);
    room.server[players[0]].health = 50;
    room.wait(Duration::from_secs(9));
    room.settle();
    let packets = room.replies(0);
    room.wait(Duration::from_secs(60));
    room.hear(0, &packets);
}
