//! Rewinding: the server looks up what a client saw at an earlier time.

use repl::History;
use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Player;

/// Returns a room with two guests, a player that both see, and a player that only the second guest sees.
fn room(remember_removed_ticks: u64) -> (Room, ObjectRef<Player>, ObjectRef<Player>) {
    let config = ServerConfig { remember_removed_ticks, ..ServerConfig::default() };
    let mut room = Room::new(config, |client| _ = client.register::<Player>());
    room.server.register::<Player>();
    let ids = [room.enter(), room.enter()];
    let [seen, hidden] = [0; 2].map(|_| room.server.spawn(Player));
    room.server.object(hidden).set_visible(ids[0], false);
    room.settle();
    (room, seen, hidden)
}

/// Returns whether a guest has seen an object, as far as the server knows.
fn has_seen(room: &Room, guest: usize, object: ObjectRef<Player>) -> bool {
    room.server.connection_info(room.guests[guest].id).has_seen(object)
}

#[test]
fn a_rewound_history_has_only_what_the_client_has_seen() {
    let (room, seen, hidden) = room(0);
    let mut players = History::new(10);
    players.record(1, seen, 1.0);
    players.record(1, hidden, 2.0);
    let rewound = |guest: usize| {
        let then = players.rewind(room.server.connection_info(room.guests[guest].id), 1.0);
        let all: Vec<_> = then.iter().collect();
        (all, then.get(hidden))
    };
    assert_eq!(rewound(0), (vec![(seen, 1.0)], None));
    assert_eq!(rewound(1), (vec![(seen, 1.0), (hidden, 2.0)], Some(2.0)));
    assert_eq!(players.at(1.0).iter().count(), 2, "the server itself sees all");
}

#[test]
fn an_object_was_seen_from_the_ack_of_its_opening() {
    let (mut room, ..) = room(0);
    let player = room.server.spawn(Player);
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    assert!(!has_seen(&room, 0, player), "nothing says that the packet has arrived");
    room.acknowledge();
    assert!(has_seen(&room, 0, player) && !has_seen(&room, 1, player));
}

#[test]
fn what_a_client_has_removed_is_remembered_for_the_ticks_of_the_configuration() {
    for by_hiding in [true, false] {
        let (mut room, seen, _) = room(20);
        let first = room.guests[0].id;
        if by_hiding {
            room.server.object(seen).set_visible(first, false);
        } else {
            room.server.despawn(seen);
        }
        let packets = room.tick();
        assert!(has_seen(&room, 0, seen), "the client has not removed it");
        room.deliver(0, &packets[0]);
        room.acknowledge();
        let removed = room.server.ticks();
        while room.server.ticks() < removed + 20 {
            room.step();
            assert!(has_seen(&room, 0, seen), "{by_hiding}, {}", room.server.ticks() - removed);
        }
        room.step();
        assert!(!has_seen(&room, 0, seen), "{by_hiding}");
        let another = room.server.spawn(Player);
        room.settle();
        assert!(has_seen(&room, 0, another));
    }
}

#[test]
fn a_client_that_comes_again_has_seen_nothing() {
    let (mut room, seen, _) = room(20);
    let first = room.guests[0].id;
    room.server.despawn(seen);
    room.settle();
    assert!(has_seen(&room, 0, seen));
    room.server.connection(first).disconnect();
    assert!(!has_seen(&room, 0, seen));
}

#[test]
fn nothing_removed_is_remembered_without_being_asked() {
    let (mut room, seen, _) = room(0);
    room.server.despawn(seen);
    room.settle();
    assert!(!has_seen(&room, 0, seen));
}

#[test]
fn the_host_sees_every_object_that_exists() {
    let (mut server, player) = (Server::new(ServerConfig::default()), Player);
    server.register::<Player>();
    let host = server.connect_host(HostOptions::default());
    let player = server.spawn(player);
    assert!(server.connection_info(host).has_seen(player));
    server.despawn(player);
    assert!(!server.connection_info(host).has_seen(player));
}

#[test]
fn an_object_that_was_closed_before_it_had_arrived_was_never_seen() {
    for by_hiding in [true, false] {
        let (mut room, ..) = room(20);
        let (first, player) = (room.guests[0].id, room.server.spawn(Player));
        room.tick(); // its opening is lost
        if by_hiding {
            room.server.object(player).set_visible(first, false);
        } else {
            room.server.despawn(player);
        }
        for _ in 0..30 {
            room.step();
            assert!(!room.guests[0].client.contains(player) && !has_seen(&room, 0, player), "{by_hiding}");
        }
    }
}

#[test]
fn an_object_that_arrived_while_it_was_closed_was_seen() {
    let (mut room, ..) = room(20);
    let player = room.server.spawn(Player);
    let opening = room.tick();
    room.deliver(0, &opening[0]);
    room.server.despawn(player);
    let closing = room.tick();
    assert!(!has_seen(&room, 0, player), "no ack has come");
    room.acknowledge();
    room.deliver(0, &closing[0]);
    room.acknowledge();
    assert!(!room.guests[0].client.contains(player));
    assert!(has_seen(&room, 0, player));
}

#[test]
fn a_history_that_nobody_records_has_nothing_to_go_back_to() {
    let (mut room, seen, _) = room(20);
    let mut players = History::new(10);
    players.record(room.server.ticks(), seen, 1.0);
    let recorded = room.server.ticks() as f64;
    let then =
        |room: &Room| players.rewind(room.server.connection_info(room.guests[0].id), recorded).get(seen);
    assert_eq!(then(&room), Some(1.0));
    (0..11).for_each(|_| _ = room.step());
    assert_eq!(then(&room), None);
}
