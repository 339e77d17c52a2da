//! The handshake: which clients are accepted, which reasons refused clients get, and what must be registered
//! before the handshake (R21).
//!
//! *Invariant:* a client sees no object before its welcome.

use std::time::Duration;

use crate::support::{Packets, Room, TICK, collect, size};
use repl::prelude::*;
use repl::tools::{Difference, LayoutMismatch, Side};
use repl::{DisconnectReason, ReceiveError};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    hull: u16,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Port {
    ships: u8,
}

mod newer {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(all)]
    pub(crate) struct Ship {
        pub(crate) hull: u32,
    }
}

fn ships_and_ports(client: &mut Client) {
    client.register::<Ship>().register::<Port>();
}

/// Returns a server with ships and ports, and a client with the classes that `register` adds.
fn meet(register: fn(&mut Client)) -> (Room, ObjectRef<Ship>) {
    let mut room = Room::new(ServerConfig::default(), register);
    let ship = room.server.spawn(Ship { hull: 7 });
    room.server.register::<Port>();
    room.enter();
    (room, ship)
}

/// Returns why the server closed the connection, and the last event of the client.
fn verdict(register: fn(&mut Client)) -> (Option<DisconnectReason>, Option<ClientEvent>) {
    let (mut room, _) = meet(register);
    for _ in 0..20 {
        room.step();
    }
    assert_eq!(room.client().objects::<Ship>().count(), 0);
    let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
    assert!(events.len() <= 1);
    (room.closed(0), events.last().cloned())
}

#[test]
fn s04_r21_classes_go_by_their_names_so_that_any_order_is_let_in_after_one_exchange() {
    for register in
        [ships_and_ports, |client: &mut Client| drop_ref(client.register::<Port>().register::<Ship>())]
    {
        let (mut room, ship) = meet(register);
        assert!(room.tick_one().is_empty(), "no state before the hello");
        let hello = room.replies(0);
        assert_eq!(hello.len(), 1);
        room.hear(0, &hello);
        let packets = room.tick_one();
        assert_eq!(packets.len(), 1, "a welcome");
        room.deliver(0, &packets);
        assert!(room.client().is_connected());
        assert!(!room.client().contains(ship));
        let proof = room.replies(0);
        room.hear(0, &proof);
        let packets = room.tick_one();
        assert_eq!(packets.len(), 1, "the first state");
        room.deliver(0, &packets);
        assert_eq!(room.client().get(ship).map(|ship| ship.hull), Some(7));
        assert_eq!(room.server.poll_event(), Some(ServerEvent::Connected(room.guests[0].id)));
        assert_eq!(room.guests[0].client.poll_event(), Some(ClientEvent::Connected));
    }
}

fn drop_ref(_: &mut Client) {}

#[test]
fn s30_r21_the_first_layout_that_differs_is_named_on_both_sides() {
    let expected = |class: &str, difference: Difference| {
        let reason = DisconnectReason::Layouts(LayoutMismatch { class: class.into(), difference });
        (Some(reason.clone()), Some(ClientEvent::Disconnected(reason)))
    };
    let different = verdict(|client| drop_ref(client.register::<newer::Ship>().register::<Port>()));
    let form = Difference::Form {
        property: "hull".into(),
        client: "u32, 32 bits".into(),
        server: "u16, 16 bits".into(),
    };
    assert_eq!(different, expected("Ship", form));
    let missing = verdict(|client| drop_ref(client.register::<Ship>()));
    assert_eq!(missing, expected("Port", Difference::NoClass { missing_on: Side::Client }));
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Anchor {
        depth: u8,
    }
    let unknown =
        verdict(|client| drop_ref(client.register::<Ship>().register::<Port>().register::<Anchor>()));
    assert_eq!(unknown, expected("Anchor", Difference::NoClass { missing_on: Side::Server }));
}

#[test]
fn r09_an_idle_client_speaks_often_enough_for_the_shorter_of_the_two_timeouts() {
    for timeout_ms in [50, 200, 10_000] {
        let timeout = Duration::from_millis(timeout_ms);
        let mut room = Room::new(ServerConfig { timeout, ..ServerConfig::default() }, ships_and_ports);
        room.server.register::<Ship>().register::<Port>();
        room.enter();
        for _ in 0..320 {
            room.step();
        }
        assert_eq!(room.closed(0), None, "a timeout of {timeout:?}");
        assert!(room.client().is_connected());
    }
}

#[test]
fn a_server_whose_clock_goes_back_does_not_end_the_connections_of_clients_that_speak() {
    let mut room = Room::new(ServerConfig::default(), ships_and_ports);
    room.server.register::<Ship>().register::<Port>();
    // A connection is added, and packets are received, at times long before the last tick.
    room.server.tick(Duration::from_secs(100));
    room.enter();
    room.server.tick(Duration::from_secs(100));
    for _ in 0..40 {
        room.step();
        room.server.tick(Duration::from_secs(100));
    }
    assert_eq!(room.closed(0), None);
    assert!(room.client().is_connected());
}

#[test]
fn r21_answers_are_never_longer_than_the_request() {
    for register in [ships_and_ports, |client: &mut Client| drop_ref(client.register::<newer::Ship>())] {
        let (mut room, ship) = meet(register);
        room.server.despawn(ship);
        for _ in 0..40 {
            for packet in room.replies(0) {
                room.hear(0, std::slice::from_ref(&packet));
                let answer = collect(&mut room.server, room.guests[0].id);
                assert!(size(&answer) <= packet.len(), "{} bytes for {}", size(&answer), packet.len());
                for packet in answer {
                    room.guests[0].client.receive(room.now, &packet).ok();
                }
            }
            room.now += TICK;
        }
    }
}

/// Registers more classes on the client than a packet of the smallest size can list.
fn many_classes(client: &mut Client) {
    macro_rules! classes {
        ($($name:ident)*) => {
            $(
                #[derive(Replicated, Default)]
                #[replicated(all)]
                struct $name {
                    number: u8,
                }
                client.register::<$name>();
            )*
        };
    }
    classes!(Anemometer Barometer Chronometer Dynamometer Electrometer Fluorometer Galvanometer Hydrometer);
    ships_and_ports(client);
}

#[test]
fn r21_a_client_with_larger_packets_than_the_servers_learns_the_difference() {
    let mut room = Room::new(ServerConfig { mtu_bytes: 128, ..ServerConfig::default() }, many_classes);
    room.server.register::<Ship>().register::<Port>();
    room.enter();
    for _ in 0..20 {
        room.step();
    }
    let difference = Difference::NoClass { missing_on: Side::Server };
    let mismatch = LayoutMismatch { class: "Anemometer".into(), difference };
    assert_eq!(room.closed(0), Some(DisconnectReason::Layouts(mismatch)));
}

#[test]
fn r21_a_lost_hello_is_said_again() {
    let (mut room, ship) = meet(ships_and_ports);
    for _ in 0..60 {
        room.replies(0);
        room.tick_one();
    }
    room.settle();
    assert!(room.client().contains(ship));
}

#[test]
fn r21_state_that_comes_without_its_welcome_comes_again() {
    let config = ServerConfig { validate_addresses: false, ..ServerConfig::default() };
    let mut room = Room::new(config, ships_and_ports);
    room.server.register::<Port>();
    let ship = room.server.spawn(Ship { hull: 7 });
    room.enter();
    room.acknowledge();
    let packets = room.tick_one();
    room.deliver(0, &packets[1..]);
    assert!(!room.client().is_connected() && !room.client().contains(ship));
    room.settle();
    assert!(room.client().is_connected() && room.client().contains(ship));
    let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
    assert_eq!(events, [ClientEvent::Connected, ClientEvent::Synchronized]);
    assert_eq!(room.polled(0), [(ship.erase(), UpdateKind::Spawned)]);
}

#[test]
fn r21_every_packet_of_the_handshake_may_be_lost_or_come_twice() {
    for register in [ships_and_ports, |client: &mut Client| drop_ref(client.register::<newer::Ship>())] {
        for pattern in 0_u32..64 {
            let (mut room, _) = meet(register);
            let mut moved = 0;
            let mut copies = |packets: Packets| -> Packets {
                let mut kept = Packets::new();
                for packet in packets {
                    let fate = pattern >> (2 * (moved % 3)) & 3;
                    // One of the first twelve packets is lost if its fate is 0. All other packets are
                    // delivered once or repeated.
                    let count = if fate == 0 && moved < 12 { 0 } else { fate.max(1) };
                    kept.extend((0..count).map(|_| packet.clone()));
                    moved += 1;
                }
                kept
            };
            for _ in 0..200 {
                let said = copies(room.replies(0));
                room.hear(0, &said);
                for packet in copies(room.tick_one()) {
                    let result = room.guests[0].client.receive(room.now, &packet);
                    assert!(matches!(result, Ok(()) | Err(ReceiveError::Closed)), "{result:?}");
                }
            }
            let is_welcome = room.client().is_connected();
            let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
            let refused = events
                .iter()
                .any(|event| matches!(event, ClientEvent::Disconnected(DisconnectReason::Layouts(_))));
            assert!(is_welcome != refused, "pattern {pattern}: {events:?}");
        }
    }
}

#[test]
fn r21_a_peer_that_never_says_hello_is_forgotten() {
    let (mut room, _) = meet(ships_and_ports);
    room.wait(ServerConfig::default().timeout);
    room.tick();
    assert_eq!(room.closed(0), Some(DisconnectReason::Timeout));
    assert_eq!(room.server.connections().count(), 0);
}

#[test]
fn a_disconnect_reaches_the_other_side() {
    let (mut room, _) = meet(ships_and_ports);
    room.settle();
    room.guests[0].client.disconnect();
    room.acknowledge();
    assert_eq!(room.closed(0), Some(DisconnectReason::Closed));
    let (mut room, _) = meet(ships_and_ports);
    room.settle();
    room.server.connection(room.guests[0].id).disconnect();
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert!(!room.client().is_connected());
    assert_eq!(room.guests[0].client.receive(room.now, &packets[0]), Err(ReceiveError::Closed));
}

#[test]
fn r21_a_disconnect_is_told_to_the_other_side_while_the_server_still_asks_about_classes() {
    let asked = || {
        let (mut room, _) = meet(|client| drop_ref(client.register::<Ship>()));
        let hello = room.replies(0);
        room.hear(0, &hello);
        let question = room.tick_one();
        assert!(!question.is_empty() && room.closed(0).is_none());
        (room, question)
    };
    let (mut room, _) = asked();
    room.guests[0].client.disconnect();
    room.acknowledge();
    assert_eq!(room.closed(0), Some(DisconnectReason::Closed));
    let (mut room, question) = asked();
    room.deliver(0, &question);
    room.server.connection(room.guests[0].id).disconnect();
    let farewell = room.tick_one();
    room.deliver(0, &farewell);
    let event = room.guests[0].client.poll_event();
    assert_eq!(event, Some(ClientEvent::Disconnected(DisconnectReason::Closed)));
}

#[test]
fn a_session_that_was_left_does_not_disturb_the_next() {
    let (mut room, ship) = meet(ships_and_ports);
    room.settle();
    room.server[ship].hull = 1;
    let late = room.tick_one();
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(77));
    ships_and_ports(&mut client);
    client.tick(room.now);
    let result = client.receive(room.now, &late[0]);
    assert_eq!(result, Ok(()), "it cannot be checked before the welcome, and is ignored");
    assert_eq!(client.objects::<Ship>().count(), 0);
    // First the hello and the welcome are exchanged, then the proof that the welcome arrived, and the state.
    for _ in 0..2 {
        while let Some(packet) = client.poll_transmit() {
            room.server.receive(id, room.now, packet);
        }
        room.server.tick(room.now);
        for packet in collect(&mut room.server, id) {
            client.receive(room.now, &packet).unwrap();
        }
        client.tick(room.now);
    }
    assert_eq!(client.get(ship).map(|ship| ship.hull), Some(1));
    assert_eq!(client.receive(room.now, &late[0]), Err(ReceiveError::Damaged), "of the session before");
}

#[test]
#[should_panic(
    expected = "class `Port` is new, but a client or a host has connected already: call `register::<Port>()` before the first one"
)]
fn registering_a_class_after_the_first_connection_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    server.connect(Duration::ZERO);
    server.register::<Port>();
}

#[test]
#[should_panic(expected = "call `register::<Ship>()` before the first one")]
fn spawning_a_new_class_after_the_first_connection_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    server.connect(Duration::ZERO);
    server.spawn(Ship::default());
}

#[test]
#[should_panic(expected = "archetypes are registered before the first connection")]
fn an_archetype_after_the_first_connection_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Ship>();
    server.connect(Duration::ZERO);
    server.register_archetype(Ship::default);
}

#[test]
#[should_panic(expected = "class `Ship` must be registered before the first `tick`")]
fn a_client_registers_its_classes_before_its_first_tick() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.tick(Duration::ZERO);
    client.register::<Ship>();
}

#[test]
#[should_panic(expected = "the archetypes of `Ship` must be registered before the first `tick`")]
fn a_client_registers_its_archetypes_before_its_first_tick() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.tick(Duration::ZERO);
    client.register_archetype(Ship::default);
}

#[test]
#[should_panic(expected = "the largest packet is from 128 to 65,507 bytes")]
fn a_packet_size_that_holds_nothing_is_refused() {
    drop(Server::new(ServerConfig { mtu_bytes: 127, ..ServerConfig::default() }));
}

#[test]
#[should_panic(expected = "there is no Ship 0v1")]
fn indexing_a_missing_object_panics() {
    let mut server = Server::new(ServerConfig::default());
    let ship = server.spawn(Ship::default());
    server.despawn(ship);
    server[ship].hull = 1;
}

#[test]
#[should_panic(
    expected = "`sessions::handshake::Ship` and `sessions::handshake::newer::Ship` are both called `Ship` on the \
                wire: give one of them another name with `#[replicated(name = \"…\")]`"
)]
fn r21_a_server_refuses_two_classes_of_one_name() {
    Server::new(ServerConfig::default()).register::<Ship>().register::<newer::Ship>();
}

#[test]
#[should_panic(expected = "are both called `Ship` on the wire")]
fn r21_a_client_refuses_two_classes_of_one_name() {
    Client::new(ClientConfig::default(), Session::for_tests(1)).register::<newer::Ship>().register::<Ship>();
}

#[test]
#[should_panic(
    expected = "`Ship` has no property number 1: ask for one by its name with `Ship::LAYOUT.property`"
)]
fn an_index_of_no_property_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    let ship = server.spawn(Ship::default());
    server.object(ship).mark_dirty(PropertyIndex::new(1));
}

#[test]
#[should_panic(expected = "archetype 1 of `Ship` is not this server's")]
fn an_archetype_of_another_server_is_refused() {
    let foreign = Server::new(ServerConfig::default()).register_archetype(Ship::default);
    Server::new(ServerConfig::default()).spawn_from(foreign, Ship::default());
}
