//! Tests of the server's side of a handshake, with a client's side and without a server.

use super::*;
use crate::session::client_handshake::ClientHandshake;
use crate::session::mismatch::{Difference, LayoutMismatch, Side};
use crate::session::pair::{HandshakePair, Reported, SESSION, STEP, class, drain, state};

/// Returns the reports of both sides at the end of a handshake that begins with `pair`, for links with
/// different losses.
fn verdicts(pair: fn() -> HandshakePair) -> Vec<(Vec<Reported>, Vec<Reported>)> {
    let mut verdicts: Vec<(Vec<Reported>, Vec<Reported>)> = Vec::new();
    for seed in 0..600 {
        let mut pair = pair();
        pair.run(seed, 120);
        let ends = |reports: &[Reported]| -> Vec<Reported> {
            let is_state = |report: &&Reported| matches!(report, Reported::State(_) | Reported::Welcome);
            reports.iter().filter(|report| !is_state(report)).cloned().collect()
        };
        for reports in [&pair.server_reports, &pair.client_reports] {
            let state = reports.iter().position(|report| matches!(report, Reported::State(_)));
            let connected = reports.iter().position(|report| *report == Reported::Connected);
            assert!(state.is_none_or(|state| connected.is_some_and(|connected| connected < state)));
        }
        let verdict = (ends(&pair.server_reports), ends(&pair.client_reports));
        if !verdicts.contains(&verdict) {
            verdicts.push(verdict);
        }
    }
    verdicts
}

fn refused(difference: Difference) -> Vec<(Vec<Reported>, Vec<Reported>)> {
    let reason = DisconnectReason::Layouts(LayoutMismatch { class: "()".to_owned(), difference });
    vec![(vec![Reported::Ended(reason.clone())], vec![Reported::Ended(reason)])]
}

#[test]
fn r21_an_equal_client_connects_once_under_loss_and_reordering() {
    assert_eq!(verdicts(HandshakePair::alike), [(vec![Reported::Connected], vec![Reported::Connected])]);
}

#[test]
fn r21_the_first_difference_is_reported_once_under_loss_and_reordering() {
    let value = Difference::Value { property: "7".to_owned(), archetype: 0 };
    assert_eq!(verdicts(|| HandshakePair::new(class(1), class(2))), refused(value.clone()));
    let in_parts = || {
        let mut pair = HandshakePair::new(class(1), class(2));
        (pair.client_terms.capacity.mtu_bytes, pair.server_terms.capacity.mtu_bytes) = (128, 128);
        pair
    };
    assert_eq!(verdicts(in_parts), refused(value));
    let missing = Difference::NoClass { missing_on: Side::Client };
    assert_eq!(verdicts(|| HandshakePair::new(class(1), Agreement::default())), refused(missing));
}

#[test]
fn r21_a_limit_that_is_too_small_is_reported_once_under_loss_and_reordering() {
    let too_small = || {
        let mut pair = HandshakePair::alike();
        pair.client_terms.capacity.max_objects = 10;
        pair
    };
    let verdicts = verdicts(too_small);
    let [(server, client)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
    assert_eq!(server, client);
    assert!(matches!(server.as_slice(), [Reported::Ended(DisconnectReason::Limits(_))]), "{server:?}");
}

#[test]
fn r21_a_welcome_is_said_again_until_its_token_is_echoed() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let mut welcomes = 0;
    for _ in 0..50 {
        welcomes += pair.server_sends().iter().filter(|packet| is_control(packet)).count();
        pair.server_receives(&hello);
        welcomes += drain(&mut pair.to_client).len();
        pair.now += STEP;
    }
    assert_eq!(welcomes, 17, "a hello is answered at once, but not within 50 ms of the last welcome");
    let mut silent = 0;
    for _ in 0..50 {
        silent += pair.server_sends().iter().filter(|packet| is_control(packet)).count();
        pair.now += STEP;
    }
    assert_eq!(silent, 10, "ten times a second");
    let token = Secret::from(77_u64).token(ConnectionId(3), SESSION);
    pair.server_receives(&state(SESSION ^ token, 0));
    for _ in 0..50 {
        assert_eq!(pair.server_sends().iter().filter(|packet| is_control(packet)).count(), 0);
        pair.now += STEP;
    }
}

fn is_control(packet: &[u8]) -> bool {
    packet[4] & 1 == 1
}

#[test]
fn r25_packets_of_another_session_are_answered_with_taken_or_nothing() {
    let mut other = HandshakePair::new(class(1), class(2));
    other.client = ClientHandshake::new(SESSION + 1, 1_200);
    let mut recorded = Vec::new();
    for _ in 0..60 {
        for packet in other.client_sends() {
            other.server_receives(&packet);
            recorded.push(packet);
        }
        other.server_sends().iter().for_each(|packet| other.client_receives(packet));
        other.now += STEP;
    }
    assert!(recorded.len() > 4, "{} packets", recorded.len());
    recorded.push(Control::Closing(Closing::Closed).to_packet(SESSION + 1));
    for steps in [1, 40] {
        let mut pair = HandshakePair::alike();
        (0..steps).for_each(|_| pair.step());
        let (reports, received) = (pair.server_reports.clone(), pair.server.last_received());
        pair.now += STEP;
        for packet in &recorded {
            pair.server_receives(packet);
            for answer in drain(&mut pair.to_client) {
                other.client = ClientHandshake::new(SESSION + 1, 1_200);
                other.client_sends();
                other.client_reports.clear();
                other.client_receives(&answer);
                assert_eq!(other.client_reports, [Reported::Ended(DisconnectReason::Taken)]);
            }
        }
        assert_eq!((reports, received), (pair.server_reports.clone(), pair.server.last_received()));
        (0..2).for_each(|_| pair.step());
        assert!(pair.server.is_connected());
        assert_eq!(session_of(&pair.server), SESSION);
    }
}

#[test]
fn r26_a_wrong_token_neither_is_heard_nor_lifts_the_limit() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    pair.server_reports.clear();
    let right = Secret::from(77_u64).token(ConnectionId(3), SESSION);
    let of_others = [
        Secret::from(78_u64).token(ConnectionId(3), SESSION),
        Secret::from(77_u64).token(ConnectionId(4), SESSION),
        0,
        !right,
    ];
    for wrong in of_others.into_iter().chain((0..64).map(|bit| right ^ 1 << bit)) {
        pair.server_receives(&state(SESSION ^ wrong, 0));
        assert!(pair.to_client.allowance.left().is_some());
    }
    assert_eq!(pair.server_reports, []);
    pair.server_receives(&state(SESSION ^ right, 0));
    assert_eq!(pair.server_reports, [Reported::Connected, Reported::State(Sequence::new(0))]);
    assert_eq!(pair.to_client.allowance.left(), None);
}

#[test]
fn r26_no_row_of_hellos_and_answers_brings_more_than_three_times_its_bytes() {
    for value in [1, 2] {
        for mtu_bytes in [128, 1_200] {
            let mut pair = HandshakePair::new(class(1), class(value));
            (pair.client_terms.capacity.mtu_bytes, pair.server_terms.capacity.mtu_bytes) =
                (mtu_bytes, mtu_bytes);
            let mut recorded = Vec::new();
            for _ in 0..30 {
                recorded.extend(pair.client_sends());
                for packet in recorded.clone() {
                    pair.server_receives(&packet);
                    // `server_sends` asserts the limit. The sender of these packets receives none of the
                    // server's packets.
                    let sent = pair.server_sends();
                    sent.iter().filter(|packet| is_control(packet)).for_each(|packet| {
                        if pair.server.stage == Stage::Handshake {
                            pair.client_receives(packet);
                        }
                    });
                }
                pair.now += STEP;
            }
            assert!(pair.to_client.allowance.left().is_some());
        }
    }
}

#[test]
fn r25_the_client_that_first_proves_its_address_keeps_the_connection() {
    let late = {
        let mut other = HandshakePair::alike();
        other.client = ClientHandshake::new(SESSION + 1, 1_200);
        other.client_sends().remove(0)
    };
    // The hello of the other session arrives before the client's own hello, after it, or after the
    // client's welcome.
    for place in 0..3 {
        let mut pair = HandshakePair::alike();
        if place == 0 {
            pair.server_receives(&late);
        }
        for packet in pair.client_sends() {
            pair.server_receives(&packet);
        }
        if place == 1 {
            pair.server_receives(&late);
        }
        for packet in pair.server_sends() {
            pair.client_receives(&packet);
        }
        if place == 2 {
            pair.server_receives(&late);
        }
        (0..20).for_each(|_| pair.step());
        assert_eq!(pair.server_reports.first(), Some(&Reported::Connected), "place {place}");
        assert!(pair.client_reports.contains(&Reported::Connected), "place {place}");
        assert!(
            !pair.client_reports.iter().any(|report| matches!(report, Reported::Ended(_))),
            "place {place}"
        );
        assert!(pair.server.is_connected() && session_of(&pair.server) == SESSION);
        pair.server_receives(&late);
        assert_eq!(drain(&mut pair.to_client).len(), 1, "taken");
        assert!(pair.server.is_connected() && session_of(&pair.server) == SESSION);
    }
}

/// Returns a pair whose client was welcomed, and has not proved its address yet.
fn welcomed() -> HandshakePair {
    let mut pair = HandshakePair::alike();
    pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
    pair.server_sends().iter().for_each(|packet| pair.client_receives(packet));
    assert_eq!(pair.client_reports, [Reported::Connected]);
    pair
}

#[test]
fn r25_a_client_with_limits_that_are_too_small_replaces_no_other() {
    let hello = {
        let mut other = HandshakePair::alike();
        other.client = ClientHandshake::new(SESSION + 1, 1_200);
        other.client_terms.capacity.max_objects = 10;
        other.client_sends().remove(0)
    };
    let mut pair = welcomed();
    pair.server_receives(&hello);
    assert!(!pair.server.is_ended() && session_of(&pair.server) == SESSION);
    pair.step();
    assert!(pair.server.is_connected());
}

#[test]
fn r26_welcomes_that_may_not_be_sent_yet_do_not_pile_up() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let mut last_sent = 0;
    for _ in 0..3_000 {
        last_sent = pair.server_sends().len();
        pair.now += STEP;
    }
    assert_eq!(last_sent, 0, "the server has sent three times the bytes of the hello");
    pair.server_receives(&hello);
    // One welcome was already queued, and the other welcome answers the hello.
    assert!(pair.server_sends().len() <= 2);
}

#[test]
fn r21_a_session_that_replaces_another_is_asked_from_the_beginning() {
    let questions = |steps_of_another: u32| {
        let mut pair = HandshakePair::new(class(1), class(2));
        let own = std::mem::replace(&mut pair.client, ClientHandshake::new(SESSION + 1, 1_200));
        (0..steps_of_another).for_each(|_| pair.step());
        assert!(!pair.server.is_ended(), "after {steps_of_another} steps");
        pair.client = own;
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
        pair.server_sends()
    };
    let first = questions(0);
    assert_eq!(first.len(), 1);
    assert_eq!(questions(1), first);
    assert_eq!(questions(2), first);
}

#[test]
fn r26_before_its_address_is_proved_a_client_is_sent_no_state() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    for _ in 0..50 {
        pair.server_receives(&hello);
        assert!(pair.server_sends().iter().all(|packet| is_control(packet)));
        pair.now += STEP;
    }
    assert!(pair.server_reports.is_empty() && !pair.server.is_connected());
}

#[test]
fn r25_a_malformed_hello_ends_a_connection_without_a_session_and_no_other() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    // The packet begins like a hello, but ends directly after its kind.
    let mut writer = repl_core::BitWriter::new();
    packet::begin(packet::PacketKind::Control, &mut writer);
    writer.write_bits(0, 3);
    let malformed = packet::seal(writer, packet::Salt::HELLO);
    pair.server_receives(&hello);
    pair.server_receives(&malformed);
    assert_eq!(pair.server_reports, []);
    (0..10).for_each(|_| pair.step());
    assert_eq!(pair.server_reports.first(), Some(&Reported::Connected));
    let mut pair = HandshakePair::alike();
    pair.server_receives(&malformed);
    assert!(matches!(pair.server_reports.as_slice(), [Reported::Ended(DisconnectReason::Protocol(_))]));
    assert!(pair.server_sends().is_empty(), "nobody could open a disconnect packet");
}

#[test]
fn a_session_ends_once_and_a_late_hello_is_answered_with_the_end() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let end = |pair: &mut HandshakePair| {
        pair.server.end(DisconnectReason::Timeout, &pair.server_terms, &mut pair.to_client)
    };
    assert!(matches!(end(&mut pair), ServerOutcome::Ended(DisconnectReason::Timeout)));
    assert!(matches!(end(&mut pair), ServerOutcome::Nothing));
    pair.server_sends();
    pair.server_receives(&hello);
    let closing = pair.server_sends();
    let sealed = Control::Closing(Closing::Timeout).to_packet(SESSION);
    assert_eq!(closing, [sealed], "whoever says hello without a token has no welcome");
    pair.client_receives(&closing[0]);
    assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Timeout)]);
}

/// Returns the session that the checksums of the server's packets of state include, without the instance
/// number and the token.
fn session_of(server: &ServerHandshake) -> u64 {
    let client = server.client.expect("a hello has come");
    let (secret, session) = (Secret::from(77_u64), client.session);
    assert_eq!(server.binding(), session ^ secret.instance() ^ secret.token(ConnectionId(3), session));
    session
}

/// Returns a pair whose server has welcomed the client of the session, and then the client of the next
/// session.
fn replaced() -> HandshakePair {
    let mut pair = HandshakePair::alike();
    for session in [SESSION, SESSION + 1] {
        pair.client = ClientHandshake::new(session, 1_200);
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
    }
    assert_eq!((session_of(&pair.server), &pair.server.stage), (SESSION + 1, &Stage::Welcomed));
    pair
}

/// Returns the packet with which the client of this session proves its address.
fn proof(session: u64) -> Vec<u8> {
    state(session ^ Secret::from(77_u64).token(ConnectionId(3), session), 0)
}

#[test]
fn r25_a_replaced_client_is_forgotten_when_the_other_proves_its_address() {
    let mut pair = replaced();
    pair.server_receives(&proof(SESSION + 1));
    pair.server_receives(&proof(SESSION));
    assert_eq!(pair.server_reports, [Reported::Connected, Reported::State(Sequence::new(0))]);
    assert_eq!(session_of(&pair.server), SESSION + 1);
}

#[test]
fn r25_a_replaced_client_does_not_begin_a_session_after_its_end() {
    let mut pair = replaced();
    pair.server.end(DisconnectReason::Timeout, &pair.server_terms, &mut pair.to_client);
    pair.server_receives(&proof(SESSION));
    assert_eq!(pair.server_reports, []);
    assert!(pair.server.is_ended());
}

#[test]
fn r25_an_end_before_the_proof_is_told_whether_the_client_has_its_welcome_or_not() {
    for is_welcomed in [true, false] {
        let mut pair = HandshakePair::alike();
        let hello = pair.client_sends().remove(0);
        pair.server_receives(&hello);
        let welcomes = drain(&mut pair.to_client);
        welcomes.iter().filter(|_| is_welcomed).for_each(|packet| pair.client_receives(packet));
        // From now on, all packets of the client are lost.
        pair.server.end(DisconnectReason::Closed, &pair.server_terms, &mut pair.to_client);
        drain(&mut pair.to_client).iter().for_each(|packet| pair.client_receives(packet));
        let ended = Reported::Ended(DisconnectReason::Closed);
        assert!(pair.client_reports.contains(&ended), "{is_welcomed}: {:?}", pair.client_reports);
    }
}

#[test]
fn the_time_of_each_client_begins_with_its_own_hello() {
    let mut pair = HandshakePair::alike();
    for session in [SESSION, SESSION + 1] {
        pair.now += Duration::from_secs(4);
        pair.client = ClientHandshake::new(session, 1_200);
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
        assert_eq!((session_of(&pair.server), pair.server.last_received()), (session, pair.now));
    }
}

/// Returns a pair whose client has proved its address to an endpoint.
fn of_endpoint(waits: bool) -> HandshakePair {
    let mut pair = HandshakePair::alike();
    let (secret, trust) = (Secret::from(77_u64), Trust::Cookie { waits });
    pair.server = ServerHandshake::new(ConnectionId(3), secret, trust, pair.now);
    pair.to_client.allowance.lift();
    pair
}

#[test]
fn r26_a_client_with_a_cookie_is_connected_at_once_unless_another_has_its_address() {
    for waits in [false, true] {
        let mut pair = of_endpoint(waits);
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
        assert_eq!(pair.server.is_connected(), !waits);
        assert!(!pair.server.is_through());
        (0..4).for_each(|_| pair.step());
        assert!(pair.server.is_connected() && pair.server.is_through());
        assert_eq!(pair.server_reports[0], Reported::Connected);
    }
}

#[test]
fn r26_a_client_with_a_cookie_has_a_timeout_or_a_minute_to_show_the_token() {
    for (waits, timeout_ms, step_ms) in
        [(false, 20_000, 20_000), (false, 600_000, 60_000), (true, 600_000, 60_000)]
    {
        let mut pair = of_endpoint(waits);
        pair.server_terms.timeout = Duration::from_millis(timeout_ms);
        let (start, hello) = (pair.now, pair.client_sends().remove(0));
        pair.server_receives(&hello);
        let overdue = |pair: &HandshakePair, ms| {
            pair.server.overdue(&pair.server_terms, start + Duration::from_millis(ms))
        };
        assert_eq!(overdue(&pair, step_ms - 1), None);
        assert_eq!(overdue(&pair, step_ms), Some(DisconnectReason::Timeout));
        pair.server_receives(&proof(SESSION));
        assert_eq!(overdue(&pair, timeout_ms - 1), None);
        assert_eq!(overdue(&pair, timeout_ms), Some(DisconnectReason::Timeout), "the client is silent");
    }
}

#[test]
fn r25_after_the_token_was_seen_only_a_farewell_with_the_token_ends_the_session() {
    let farewell = |key| Control::Closing(Closing::Closed).to_packet(key);
    let malformed = |key| {
        let mut writer = repl_core::BitWriter::new();
        packet::begin(packet::PacketKind::Control, &mut writer);
        writer.write_bits(1, 3);
        packet::seal(writer, packet::Salt::control(key))
    };
    let (secret, token) = (Secret::from(77_u64), Secret::from(77_u64).token(ConnectionId(3), SESSION));
    let mut pair = HandshakePair::alike();
    (0..10).for_each(|_| pair.step());
    pair.server_reports.clear();
    for key in [SESSION, SESSION ^ secret.instance(), token] {
        pair.server_receives(&farewell(key));
        pair.server_receives(&malformed(key));
    }
    assert_eq!((&pair.server_reports[..], pair.server.is_connected()), (&[][..], true));
    pair.server_receives(&farewell(SESSION ^ token));
    assert_eq!(pair.server_reports, [Reported::Ended(DisconnectReason::Closed)]);
    // The welcome is lost, and the client ends the session without it.
    let mut pair = HandshakePair::alike();
    pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
    assert_eq!(pair.server_sends().len(), 1);
    pair.client.end(DisconnectReason::Closed, &mut pair.to_server);
    drain(&mut pair.to_server).iter().for_each(|packet| pair.server_receives(packet));
    assert_eq!(pair.server_reports, [Reported::Ended(DisconnectReason::Closed)]);
}

#[test]
fn r25_a_farewell_of_the_server_is_heard_whether_the_client_has_the_welcome_or_not() {
    for (welcome_arrives, proof_arrives) in [(false, false), (true, false), (true, true)] {
        let mut pair = HandshakePair::alike();
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
        let welcome = pair.server_sends();
        welcome.iter().filter(|_| welcome_arrives).for_each(|packet| pair.client_receives(packet));
        let proof = pair.client_sends();
        proof.iter().filter(|_| proof_arrives).for_each(|packet| pair.server_receives(packet));
        pair.server_sends();
        pair.server.end(DisconnectReason::Timeout, &pair.server_terms, &mut pair.to_client);
        pair.client_reports.clear();
        let farewells = drain(&mut pair.to_client);
        assert_eq!(farewells.len(), if proof_arrives { 1 } else { 2 });
        farewells.iter().for_each(|packet| pair.client_receives(packet));
        pair.client_reports.retain(|report| *report != Reported::Damaged);
        assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Timeout)]);
    }
}

#[test]
fn r25_a_client_that_was_started_again_with_the_same_session_learns_that_it_is_taken() {
    let mut pair = HandshakePair::alike();
    (0..10).for_each(|_| pair.step());
    let own = std::mem::replace(&mut pair.client, ClientHandshake::new(SESSION, 1_200));
    pair.client_reports.clear();
    (0..10).for_each(|_| pair.step());
    assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Taken)]);
    pair.client = own;
    pair.client_reports.clear();
    (0..10).for_each(|_| pair.step());
    assert!(pair.server.is_connected() && pair.client.is_connected());
}

#[test]
fn r25_a_client_with_a_cookie_is_replaced_by_no_other() {
    let other = {
        let mut other = HandshakePair::alike();
        other.client = ClientHandshake::new(SESSION + 1, 1_200);
        other.client_sends().remove(0)
    };
    for waits in [false, true] {
        let mut pair = of_endpoint(waits);
        pair.client_sends().iter().for_each(|packet| pair.server_receives(packet));
        drain(&mut pair.to_client);
        pair.server_receives(&other);
        assert_eq!(session_of(&pair.server), SESSION);
        assert_eq!(drain(&mut pair.to_client), [Control::Closing(Closing::Taken).to_packet(SESSION + 1)]);
    }
}

#[test]
fn r25_a_session_whose_login_waits_is_replaced_by_no_other() {
    let mut pair = HandshakePair::alike();
    pair.server_terms.asks_login = true;
    pair.client_terms.login = b"Ada";
    (0..4).for_each(|_| pair.step());
    assert_eq!(pair.server_reports, [Reported::Login(b"Ada".to_vec())]);
    let own = std::mem::replace(&mut pair.client, ClientHandshake::new(SESSION + 1, 1_200));
    pair.client_terms.login = b"Eve";
    (0..4).for_each(|_| pair.step());
    assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Taken)]);
    assert_eq!(pair.server_reports.len(), 1, "no second login is reported for the connection");
    pair.client = own;
    let accepted = pair.server.accept(b"4", pair.now, &pair.server_terms, &mut pair.to_client);
    assert!(matches!(accepted, ServerOutcome::Nothing), "the address is not proved yet");
    (0..30).for_each(|_| pair.step());
    assert!(pair.server.is_connected() && session_of(&pair.server) == SESSION);
    assert_eq!(pair.client.login_answer, b"4");
}

#[test]
fn r21_the_first_hello_has_the_login_if_the_transport_seals() {
    let mut pair = HandshakePair::alike();
    pair.server = ServerHandshake::new(ConnectionId(3), Secret::from(77_u64), Trust::Sealed, pair.now);
    pair.client.is_sealed = true;
    pair.server_terms.asks_login = true;
    pair.client_terms.login = b"Ada";
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    assert_eq!(pair.server_reports, [Reported::Login(b"Ada".to_vec())]);
}

#[test]
fn r21_a_login_is_decided_once_under_loss_and_reordering() {
    for seed in 0..300 {
        let mut pair = HandshakePair::alike();
        pair.server_terms.asks_login = true;
        pair.client_terms.login = &[7; 512];
        pair.run(seed, 60);
        assert_eq!(pair.server_reports, [Reported::Login(vec![7; 512])], "with the seed {seed}");
        assert!(pair.client_reports.is_empty() && !pair.server.is_connected());
        pair.server.accept(&[], pair.now, &pair.server_terms, &mut pair.to_client);
        pair.run(seed, 60);
        assert!(pair.server.is_connected(), "with the seed {seed}");
        assert_eq!(pair.client_reports[0], Reported::Connected);
    }
}

#[test]
fn r26_the_answer_about_the_classes_is_dropped_when_nothing_more_is_asked() {
    let is_dropped =
        |pair: &HandshakePair| format!("{:?}", pair.server.inquiry) == format!("{:?}", Inquiry::default());
    let mut pair = HandshakePair::new(class(1), class(2));
    (0..50).for_each(|_| pair.step());
    assert!(pair.server.is_ended() && is_dropped(&pair));
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    let question = Inquiry::default().question().clone();
    let part = Part { question, part: 0, parts: 2, entries: Vec::new() };
    assert_eq!(pair.server.inquiry.take(part).map(|_| is_dropped(&pair)), Ok(false));
    pair.server_receives(&hello);
    assert!(is_dropped(&pair));
}
