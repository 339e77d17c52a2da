//! Sessions: packets of one session have no effect on another (R25).
//!
//! *Invariant:* the attacker in these tests knows everything about the protocol, except the number of the
//! attacked session.

use std::time::Duration;

use crate::forge::seal;
use crate::support::{Guest, Packets, Room, collect, size};
use repl::prelude::*;
use repl::{BitWriter, DisconnectReason, ReceiveError};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    hull: u32,
}

fn ships(client: &mut Client) {
    client.register::<Ship>();
}

/// Returns a room with a client that has a ship.
fn one_ship() -> (Room, ObjectRef<Ship>) {
    Room::furnished(ServerConfig::default(), ships, 1, |server| server.spawn(Ship { hull: 1 }))
}

/// Returns a client with a session of its own, and its first hello.
fn newcomer(session: u64) -> (Client, Packets) {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(session));
    ships(&mut client);
    let hello = said(&mut client, Duration::ZERO);
    (client, hello)
}

fn said(client: &mut Client, now: Duration) -> Packets {
    client.tick(now);
    std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::to_vec)).collect()
}

/// Returns a control packet of this type and session.
fn control(kind: u64, session: u64, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    writer.write_bits(kind, 3);
    write(&mut writer);
    seal(&writer.into_bytes(), session)
}

fn events(client: &mut Client) -> Vec<ClientEvent> {
    std::iter::from_fn(|| client.poll_event()).collect()
}

/// Asserts that the room works as if nothing had happened.
fn assert_undisturbed(room: &mut Room, ship: ObjectRef<Ship>) {
    assert!(room.client().is_connected());
    room.server[ship].hull += 1;
    room.settle();
    assert_eq!(room.client()[ship].hull, room.server[ship].hull);
    assert_eq!(room.closed(0), None);
    assert_eq!(room.server.connections().count(), 1);
}

#[test]
fn r25_a_farewell_of_another_session_ends_nothing() {
    for session in [0, 1, 999, 1_001, u64::MAX] {
        let (mut room, ship) = one_ship();
        let farewell = control(5, session, |_| {});
        room.hear(0, std::slice::from_ref(&farewell));
        let now = room.now;
        assert_eq!(room.guests[0].client.receive(now, &farewell), Err(ReceiveError::Damaged));
        assert_undisturbed(&mut room, ship);
    }
}

#[test]
fn r25_a_farewell_before_any_hello_ends_nothing() {
    let mut room = Room::new(ServerConfig::default(), ships);
    let ship = room.server.spawn(Ship { hull: 1 });
    room.enter();
    room.hear(0, &[control(5, 0, |_| {}), control(5, 1_000, |_| {})]);
    room.settle();
    assert_undisturbed(&mut room, ship);
}

#[test]
fn r25_no_control_packet_of_another_session_is_listened_to() {
    for kind in 0..8 {
        for bits in [0, 1, 2, 40, 140, 240] {
            let packet = control(kind, 7, |writer| (0..bits).for_each(|_| writer.write_bits(0, 1)));
            let (mut room, ship) = one_ship();
            room.hear(0, std::slice::from_ref(&packet));
            let now = room.now;
            assert_eq!(room.guests[0].client.receive(now, &packet), Err(ReceiveError::Damaged));
            assert_undisturbed(&mut room, ship);
        }
    }
}

#[test]
fn r25_a_late_farewell_of_an_old_session_does_not_end_a_new_one_of_the_same_address() {
    let (mut old, _) = one_ship();
    old.guests[0].client.disconnect();
    let late = old.replies(0);
    let (mut room, ship) = one_ship();
    // The packets have the same numbers as in the old session. Only the session distinguishes the packets of
    // the two sessions.
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(7));
    ships(&mut client);
    room.guests[0] = Guest { client, id };
    room.settle();
    room.hear(0, &late);
    let events = std::iter::from_fn(|| room.server.poll_event());
    assert!(
        !events.into_iter().any(|event| matches!(event, ServerEvent::Disconnected(ended, _) if ended == id))
    );
    room.server[ship].hull = 9;
    room.settle();
    assert_eq!(room.client()[ship].hull, 9);
}

#[test]
fn r25_a_second_session_on_a_connection_is_refused_with_a_remedy() {
    let (mut room, ship) = one_ship();
    let (mut second, hello) = newcomer(7);
    room.hear(0, &hello);
    let answer = collect(&mut room.server, room.guests[0].id);
    assert!(!answer.is_empty() && size(&answer) <= 3 * size(&hello));
    for packet in &answer {
        assert_eq!(second.receive(Duration::ZERO, packet), Ok(()));
        let now = room.now;
        assert_eq!(room.guests[0].client.receive(now, packet), Err(ReceiveError::Damaged), "not the first's");
    }
    assert_eq!(events(&mut second), [ClientEvent::Disconnected(DisconnectReason::Taken)]);
    let remedy = DisconnectReason::Taken.to_string();
    assert!(remedy.contains("from another address"), "{remedy}");
    assert!(
        remedy.contains("the same session number") && remedy.contains("`Session::from_random`"),
        "{remedy}"
    );
    assert_undisturbed(&mut room, ship);
}

#[test]
fn r25_a_second_session_gets_neither_state_nor_errors_of_the_first() {
    let (mut room, ship) = one_ship();
    let (mut second, hello) = newcomer(7);
    for hull in 2..50 {
        room.server[ship].hull = hull;
        room.hear(0, &hello);
        let packets = room.tick_one();
        for packet in &packets {
            let now = room.now;
            room.guests[0].client.receive(now, packet).ok();
            second.receive(now, packet).ok();
        }
        let acks = room.replies(0);
        room.hear(0, &acks);
        let now = room.now;
        let noise = said(&mut second, now);
        room.hear(0, &noise);
    }
    assert!(!second.is_connected() && second.objects::<Ship>().count() == 0);
    let taken = ClientEvent::Disconnected(DisconnectReason::Taken);
    assert_eq!(events(&mut second), [taken.clone(), taken], "told once, and once more after another try");
    assert_undisturbed(&mut room, ship);
}

#[test]
fn r25_a_second_session_does_not_mix_into_a_handshake() {
    let mut room = Room::new(ServerConfig::default(), ships);
    let ship = room.server.spawn(Ship { hull: 1 });
    room.enter();
    let hello = room.replies(0);
    room.hear(0, &hello);
    let welcome = collect(&mut room.server, room.guests[0].id);
    room.deliver(0, &welcome);
    let (_, other) = newcomer(7);
    room.hear(0, &other);
    assert_eq!(collect(&mut room.server, room.guests[0].id).len(), 1, "a refusal, for the other");
    room.settle();
    assert_undisturbed(&mut room, ship);
}

#[test]
fn r25_a_malformed_hello_ends_no_session() {
    let (mut room, ship) = one_ship();
    room.hear(0, &[control(0, 0, |_| {}), control(0, 0, |writer| writer.write_bits(1_000, 64))]);
    assert_undisturbed(&mut room, ship);
}

#[test]
fn r25_a_refused_hello_does_not_prevent_a_timeout() {
    let (mut room, _) = one_ship();
    let (_, hello) = newcomer(7);
    for _ in 0..20 {
        room.wait(ServerConfig::default().timeout / 20);
        room.hear(0, &hello);
        room.tick_one();
    }
    assert_eq!(room.closed(0), Some(DisconnectReason::Timeout));
}

#[test]
fn r25_a_replayed_hello_does_not_prevent_a_timeout() {
    let timeout = Duration::from_secs(2);
    let mut room = Room::new(ServerConfig { timeout, ..ServerConfig::default() }, ships);
    room.server.spawn(Ship { hull: 1 });
    room.enter();
    let hello = room.replies(0);
    room.hear(0, &hello);
    room.settle();
    // The client falls silent. An attacker who recorded the client's hello repeats it.
    let end = room.now + timeout;
    while room.now <= end {
        room.wait(Duration::from_millis(34));
        room.hear(0, &hello);
        room.tick_one();
    }
    assert_eq!(room.closed(0), Some(DisconnectReason::Timeout));
}

#[test]
fn r25_a_hello_that_comes_again_is_answered_in_its_session() {
    let mut room = Room::new(ServerConfig::default(), ships);
    let ship = room.server.spawn(Ship { hull: 1 });
    room.enter();
    let hello = room.replies(0);
    for _ in 0..5 {
        room.hear(0, &hello);
        let packets = room.tick_one();
        room.deliver(0, &packets);
        let proof = room.replies(0);
        room.hear(0, &proof);
    }
    room.settle();
    let events = events(&mut room.guests[0].client);
    assert_eq!(events, [ClientEvent::Connected, ClientEvent::Synchronized], "connected once, joined once");
    assert_eq!(room.polled(0), [(ship.erase(), UpdateKind::Spawned)], "spawned once");
    assert_undisturbed(&mut room, ship);
}

#[test]
fn a_hello_to_a_closed_connection_is_answered_with_a_disconnect() {
    let mut room = Room::new(ServerConfig::default(), ships);
    let id = room.enter();
    room.server.connection(id).disconnect();
    let hello = room.replies(0);
    room.hear(0, &hello);
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!(events(&mut room.guests[0].client), [ClientEvent::Disconnected(DisconnectReason::Closed)]);
}

/// Another client knows the session and the number of the server, but not the token. Returns every packet
/// that it can make: control packets of all kinds, well formed or not, and packets of state.
fn forged_by_a_fellow(session: u64, instance: u64, with_state: bool) -> Packets {
    let mut packets = Packets::new();
    for key in [session, session ^ instance] {
        for kind in 0..8 {
            for bits in [0, 1, 2, 40, 140, 240] {
                packets.push(control(kind, key, |writer| (0..bits).for_each(|_| writer.write_bits(0, 1))));
            }
        }
        for reason in 0..16 {
            packets.push(control(5, key, |writer| writer.write_bits(reason, 12)));
        }
        // A welcome with a token that the other client made up.
        packets.push(control(1, key, |writer| {
            writer.write_bits(1, 32);
            writer.write_bits(99, 64);
            writer.write_bits(instance, 64);
            writer.write_bits(0, 10);
        }));
        for number in (0..64).filter(|_| with_state) {
            // A closing of slot 0, and a malformed closing.
            packets.push(crate::forge::state(number, key, |writer| {
                crate::forge::segment(2, writer);
                writer.write_exp_golomb(0, 0);
                writer.write_bits(0, 2);
                crate::forge::end(writer);
            }));
            packets.push(crate::forge::state(number, key, |writer| writer.write_bits(u64::MAX, 64)));
        }
    }
    packets
}

#[test]
fn r25_nobody_without_the_token_ends_a_session_or_changes_what_a_client_shows() {
    for validates in [true, false] {
        let config = ServerConfig { validate_addresses: validates, ..ServerConfig::default() };
        let (mut room, ship) = Room::furnished(config, ships, 1, |server| server.spawn(Ship { hull: 1 }));
        let instance = room.client().connection_info().server_instance().expect("it is connected");
        // If the transport validates the addresses instead, it knows who sends. So packets of state are not
        // sealed with the token, and are not forged here.
        for packet in forged_by_a_fellow(1_000, instance, validates) {
            room.hear(0, std::slice::from_ref(&packet));
            let now = room.now;
            room.guests[0].client.receive(now, &packet).ok();
            assert!(room.client().is_connected() && room.client().contains(ship), "{packet:?}");
            room.guests[0].client.poll_transmit();
        }
        assert_undisturbed(&mut room, ship);
        let ends = |event: &ClientEvent| matches!(event, ClientEvent::Disconnected(_));
        assert!(!events(&mut room.guests[0].client).iter().any(ends));
    }
}

#[test]
fn r25_a_farewell_is_heard_on_either_side_although_packets_are_lost() {
    for by_client in [true, false] {
        // The session ends before the welcome, between the welcome and its proof, or after the proof. All
        // packets of the side that ends the session are lost for a while.
        for ticks_before in 0..6 {
            for lost in 0..4 {
                let mut room = Room::new(ServerConfig::default(), ships);
                room.server.spawn(Ship { hull: 1 });
                room.enter();
                (0..ticks_before).for_each(|_| _ = room.step());
                // The next welcome, state or proof is lost, too.
                room.acknowledge();
                room.tick();
                match by_client {
                    true => room.guests[0].client.disconnect_with("enough"),
                    false => room.server.connection(room.guests[0].id).disconnect_with("enough"),
                }
                let mut heard = Vec::new();
                for tick in 0..100 {
                    let sent = room.replies(0);
                    if tick >= lost || !by_client {
                        room.hear(0, &sent);
                    }
                    let packets = room.tick_one();
                    for packet in packets.iter().filter(|_| tick >= lost || by_client) {
                        let now = room.now;
                        room.guests[0].client.receive(now, packet).ok();
                    }
                    match by_client {
                        true => heard.extend(room.closed(0)),
                        false => {
                            heard.extend(events(&mut room.guests[0].client).into_iter().filter_map(|event| {
                                match event {
                                    ClientEvent::Disconnected(reason) => Some(reason),
                                    _ => None,
                                }
                            }))
                        }
                    }
                }
                let expected = [DisconnectReason::ClosedWith("enough".to_owned())];
                assert_eq!(heard, expected, "by client {by_client}, {ticks_before} ticks, {lost} lost");
            }
        }
    }
}
