//! Tests of the client's side of a handshake, with a server's side and without a client.

use super::*;
use crate::session::closing::Closing;
use crate::session::control::HELLO_BYTES;
use crate::session::limits::{Limit, LimitMismatch};
use crate::session::pair::{HandshakePair, Reported, SESSION, STEP, class, drain, state};

fn welcome(timeout_ms: u32) -> Control {
    Control::Welcome(Welcome {
        timeout_ms,
        token: 9,
        instance: 4,
        packet_bytes: 1_200,
        answer: Vec::new(),
        seals_state: true,
    })
}

#[test]
fn r21_hello_is_said_about_ten_times_a_second_until_it_is_answered() {
    let mut pair = HandshakePair::alike();
    let mut hellos = Vec::new();
    for _ in 0..400 {
        hellos.extend(pair.client_sends());
        pair.now += STEP;
    }
    assert!((65..85).contains(&hellos.len()), "{} in 8 s, in ticks of 20 ms", hellos.len());
    assert!(hellos.iter().take(3).all(|hello| *hello == hellos[0]));
    let sizes: Vec<usize> = hellos.iter().skip(3).take(6).map(Vec::len).collect();
    assert_eq!(sizes, [1_200, 508, 128, 1_200, 508, 128], "the path may carry smaller packets only");
    pair.server_receives(&hellos[0]);
    pair.server_sends().iter().for_each(|packet| pair.client_receives(packet));
    assert_eq!(pair.client_reports[0], Reported::Connected);
}

#[test]
fn r26_a_token_is_echoed_four_times_and_anew_with_each_welcome() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let welcome = pair.server_sends().remove(0);
    for report in [Reported::Connected, Reported::Welcome, Reported::Welcome] {
        pair.client_reports.clear();
        pair.client_receives(&welcome);
        assert_eq!(pair.client_reports, [report]);
        let mut has_token = Vec::new();
        for _ in 0..50 {
            has_token.extend(pair.client_sends());
            pair.now += STEP;
        }
        assert_eq!(has_token.len(), 4);
        pair.server_reports.clear();
        has_token.iter().for_each(|echo| pair.server_receives(echo));
        pair.server_reports.retain(|report| *report != Reported::Connected);
        assert_eq!(
            pair.server_reports.len(),
            4,
            "the server takes each for state: {:?}",
            pair.server_reports
        );
    }
}

#[test]
fn r26_a_client_is_silent_for_a_quarter_of_a_second_at_most_however_long_the_timeouts_are() {
    let timeout = Duration::from_secs(3_600);
    let mut pair = HandshakePair::alike();
    (pair.client_terms.timeout, pair.server_terms.timeout) = (timeout, timeout);
    (0..10).for_each(|_| pair.step());
    let shorter = pair.client.shorter_timeout(timeout);
    let silences = (0..1_000).map(|next| keep_alive::longest_silence(shorter, 5, next));
    assert!(silences.max().is_some_and(|longest| longest <= Duration::from_millis(250)));
}

#[test]
fn r21_a_question_that_comes_again_is_not_answered_before_its_time() {
    let mut pair = HandshakePair::new(class(1), class(2));
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let question = pair.server_sends().remove(0);
    pair.client_receives(&question);
    let answer = pair.client_sends();
    let asked = pair.now;
    let again = loop {
        pair.now += STEP;
        pair.client_receives(&question);
        let again = pair.client_sends();
        if !again.is_empty() {
            break again;
        }
    };
    let wait = pair.now - asked;
    assert!(wait >= HELLO_INTERVAL / 2 && wait <= HELLO_INTERVAL * 3 / 2 + STEP, "{wait:?}");
    assert_eq!(again, answer);
    assert_eq!(pair.client_reports, []);
}

#[test]
fn r25_no_packet_of_another_session_is_one() {
    let sent = |session: u64| -> Vec<Vec<u8>> {
        let mismatch = LimitMismatch { limit: Limit::Objects, client: 1, server: 2 };
        let controls = [
            welcome(5),
            Control::Differs(1_200, Question::Classes),
            Control::TooSmall(mismatch),
            Control::Closing(Closing::Closed),
            Control::Closing(Closing::Taken),
            Control::Retry(9),
            Control::Wait,
        ];
        let mut packets: Vec<_> = controls.iter().map(|control| control.to_packet(session)).collect();
        packets.push(state(session, 0));
        packets
    };
    for steps in [1, 40] {
        for packet in sent(SESSION ^ 1) {
            let mut pair = HandshakePair::alike();
            (0..steps).for_each(|_| pair.step());
            let binding = pair.client.binding();
            pair.client_reports.clear();
            pair.client_receives(&packet);
            let is_ignored = pair.client.instance.is_none() && packet::is_state(&packet);
            assert_eq!(pair.client_reports, if is_ignored { vec![] } else { vec![Reported::Damaged] });
            assert_eq!(pair.client.binding(), binding);
        }
    }
    let mut pair = HandshakePair::alike();
    (0..40).for_each(|_| pair.step());
    pair.client_reports.clear();
    pair.client_receives(&state(pair.server.binding() ^ 1, 50));
    assert_eq!(pair.client_reports, [Reported::Damaged], "it is of another server");
    for packet in sent(SESSION) {
        let mut pair = HandshakePair::alike();
        pair.client_sends();
        pair.client_receives(&packet);
        assert!(!pair.client_reports.contains(&Reported::Damaged));
    }
}

#[test]
fn an_end_before_the_welcome_is_told_again_when_the_server_sends_state() {
    let mut pair = HandshakePair::alike();
    pair.client_sends();
    pair.client.end(DisconnectReason::Closed, &mut pair.to_server);
    assert_eq!(drain(&mut pair.to_server).len(), 1);
    let wait = Control::Wait.to_packet(SESSION);
    let welcome = welcome(1).to_packet(SESSION);
    for (packet, answers) in [(wait, 0), (welcome, 1), (state(pair.server.binding(), 0), 1)] {
        pair.client.receive_after_end(&packet, Sequence::new(0), &mut pair.to_server);
        assert_eq!(drain(&mut pair.to_server).len(), answers);
    }
}

#[test]
fn r25_nothing_but_a_farewell_with_the_token_is_heard_once_the_client_is_welcome() {
    let mut pair = HandshakePair::alike();
    (0..10).for_each(|_| pair.step());
    pair.client_reports.clear();
    let instance = pair.client.instance.expect("a welcome");
    let controls = [
        Control::Closing(Closing::Taken),
        Control::Closing(Closing::Closed),
        Control::Closing(Closing::Forgotten),
        Control::Wait,
        Control::Retry(3),
        Control::Differs(1_200, Question::Classes),
        Control::TooSmall(LimitMismatch { limit: Limit::Objects, client: 1, server: 2 }),
        Control::Welcome(Welcome {
            timeout_ms: 1,
            token: 9,
            instance,
            packet_bytes: 1_200,
            answer: Vec::new(),
            seals_state: true,
        }),
    ];
    let token = pair.client.token;
    for control in &controls {
        pair.client_receives(&control.to_packet(SESSION));
    }
    assert_eq!((&pair.client_reports[..], pair.client.token), (&[][..], token));
    for control in &controls {
        pair.client_receives(&control.to_packet(SESSION ^ instance));
    }
    let damaged = vec![Reported::Damaged; controls.len()];
    assert_eq!(pair.client_reports, damaged, "a fellow client knows the number of the server");
    pair.client_reports.clear();
    for control in controls.iter().filter(|control| !matches!(control, Control::Closing(_))) {
        pair.client_receives(&control.to_packet(pair.client.binding()));
    }
    assert_eq!(pair.client_reports, []);
    pair.client_receives(&Control::Closing(Closing::Closed).to_packet(pair.client.binding()));
    assert_eq!(pair.client_reports, [Reported::Ended(DisconnectReason::Closed)]);
    pair.client_receives(&welcome(1).to_packet(SESSION));
    assert_eq!(pair.client_reports.len(), 1);
}

#[test]
fn a_silent_server_is_given_up_once_and_a_welcome_is_a_sign_of_life() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.now += pair.client_terms.timeout - STEP;
    pair.client_sends();
    pair.server_receives(&hello);
    pair.server_sends().iter().take(1).for_each(|packet| pair.client_receives(packet));
    pair.now += pair.client_terms.timeout - STEP;
    pair.client_sends();
    assert_eq!(pair.client_reports, [Reported::Connected]);
    pair.now += STEP;
    pair.client_sends();
    pair.now += STEP;
    pair.client_sends();
    assert_eq!(pair.client_reports, [Reported::Connected, Reported::Ended(DisconnectReason::Timeout)]);
}

#[test]
fn r25_a_repeated_welcome_keeps_no_session_with_state_alive() {
    let mut pair = HandshakePair::alike();
    let hello = pair.client_sends().remove(0);
    pair.server_receives(&hello);
    let welcome = pair.server_sends().remove(0);
    pair.client_receives(&welcome);
    pair.client.note_packet(pair.now);
    let (silent_since, mut hellos) = (pair.now, 0);
    while pair.now - silent_since < pair.client_terms.timeout {
        pair.client_receives(&welcome);
        hellos += pair.client_sends().iter().filter(|packet| packet.len() == HELLO_BYTES).count();
        pair.now += STEP;
    }
    assert!(hellos > 10, "{hellos} hellos: the address of the client may have changed");
    pair.client_sends();
    assert_eq!(pair.client_reports.last(), Some(&Reported::Ended(DisconnectReason::Timeout)));
}

#[test]
fn r26_of_many_cookies_the_first_is_answered_at_once_and_the_last_with_the_next_hello() {
    let mut pair = HandshakePair::alike();
    pair.client_sends();
    for cookie in 0..1_000 {
        pair.client_receives(&Control::Retry(cookie).to_packet(SESSION));
    }
    let cookie_of = |packet: &[u8]| {
        let hello = packet::open_hello(packet).and_then(|mut reader| Control::read(&mut reader).ok());
        let Some(Control::Hello(hello)) = hello else { panic!("not a hello") };
        hello.proof.map(|proof| proof.cookie)
    };
    let at_once = drain(&mut pair.to_server);
    assert_eq!(at_once.iter().map(|hello| cookie_of(hello)).collect::<Vec<_>>(), [Some(0)]);
    pair.now += HELLO_INTERVAL * 2;
    let later = pair.client_sends();
    assert_eq!(later.iter().map(|hello| cookie_of(hello)).collect::<Vec<_>>(), [Some(999)]);
}

#[test]
fn a_malformed_control_packet_ends_the_session_with_a_farewell() {
    let mut pair = HandshakePair::alike();
    (0..10).for_each(|_| pair.step());
    pair.client_reports.clear();
    let mut writer = repl_core::BitWriter::new();
    packet::begin(packet::PacketKind::Control, &mut writer);
    // A welcome that ends before its timeout.
    writer.write_bits(1, 3);
    pair.client_receives(&packet::seal(writer.clone(), packet::Salt::control(SESSION)));
    assert_eq!(pair.client_reports, [Reported::Damaged], "whoever knows the session may have sent it");
    pair.client_reports.clear();
    let binding = pair.client.binding();
    pair.client_receives(&packet::seal(writer, packet::Salt::control(binding)));
    assert!(matches!(pair.client_reports.as_slice(), [Reported::Ended(DisconnectReason::Protocol(_))]));
    assert_eq!(drain(&mut pair.to_server), [Control::Closing(Closing::NotRead).to_packet(binding)]);
}
