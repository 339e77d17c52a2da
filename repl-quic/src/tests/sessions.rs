//! Sessions begin, continue and end.

use std::time::Duration;

use repl_link::DisconnectReason;
use repl_link::plain::SessionEvent;
use repl_sim::LinkConditions;

use super::lan::{Lan, SECOND, SERVER, address, link, lock};

#[test]
fn messages_go_both_ways_and_nothing_of_them_can_be_read_on_the_way() {
    const CANARY: &str = "a canary that nobody but the other side may see";
    let mut lan = Lan::new(link(20));
    lock(&lan.air).heard = Some(Vec::new());
    let guest = lan.enter();
    lan.settle();
    lan.guests[guest].client.send(&CANARY.to_owned()).expect("there is room");
    lan.server.send_to_all(&CANARY.to_owned()).expect("there is room");
    let both = |lan: &Lan| lan.heard.len() == 1 && lan.guests[guest].heard.len() == 1;
    assert!(lan.until(SECOND, both).is_some());
    assert_eq!((&*lan.heard[0].1, &*lan.guests[guest].heard[0]), (CANARY, CANARY));
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    let part = &CANARY.as_bytes()[..8];
    assert!(
        heard.len() > 10 && !heard.iter().any(|(_, _, bytes)| bytes.windows(8).any(|bytes| bytes == part))
    );
}

#[test]
fn the_first_message_arrives_after_three_round_trips() {
    let mut lan = Lan::new(link(200));
    let guest = lan.enter();
    lan.step();
    let connected = lan.until(5 * SECOND, |lan| !lan.events.is_empty());
    lan.server.send_to_all(&"welcome".to_owned()).expect("there is room");
    let heard = lan.until(5 * SECOND, |lan| !lan.guests[guest].heard.is_empty());
    let took = connected.zip(heard).map(|(connected, heard)| connected + heard).expect("it arrives");
    assert!(took <= Duration::from_millis(3 * 400), "{took:?}");
}

#[test]
fn a_client_that_leaves_is_gone_at_once_and_one_that_is_told_to_hears_why() {
    let mut lan = Lan::new(link(20));
    let (leaving, staying) = (lan.enter(), lan.enter());
    lan.settle();
    let ids: Vec<_> = lan.events.drain(..).collect();
    lan.guests[leaving].client.disconnect();
    lan.run(SECOND / 5);
    let [SessionEvent::Connected(first), SessionEvent::Connected(second)] = ids[..] else {
        panic!("{ids:?}")
    };
    let gone = if lan.events == [SessionEvent::Disconnected(first, DisconnectReason::Closed)] {
        first
    } else {
        second
    };
    assert_eq!(lan.events, [SessionEvent::Disconnected(gone, DisconnectReason::Closed)]);
    let other = if gone == first { second } else { first };
    lan.server.disconnect(other);
    lan.run(SECOND / 5);
    assert_eq!(lan.guests[staying].ends, [DisconnectReason::Closed]);
    lan.run(3 * SECOND);
    assert_eq!((lan.quic.address(first), lan.quic.address(second)), (None, None));
}

#[test]
fn a_server_that_is_started_again_has_its_clients_back_within_two_seconds() {
    let mut lan = Lan::new(link(20));
    let guest = lan.enter();
    lan.settle();
    lan.run(SECOND);
    lan.restart();
    lan.events.clear();
    let back = lan.until(5 * SECOND, |lan| lan.events.len() == 1);
    assert!(back.is_some_and(|back| back <= 2 * SECOND), "{back:?}");
    assert_eq!(lan.guests[guest].ends, [DisconnectReason::Forgotten]);
    lan.settle();
}

#[test]
fn a_client_whose_address_changes_plays_on() {
    let mut lan = Lan::new(link(20));
    let guest = lan.enter();
    lan.settle();
    let Some(&SessionEvent::Connected(id)) = lan.events.first() else { panic!("{:?}", lan.events) };
    let moved = lan.link();
    *lan.guests[guest].peer.lock().expect("nobody panics with it") = moved;
    lan.run(3 * SECOND);
    lan.server.send_to_all(&"still here".to_owned()).expect("there is room");
    assert!(lan.until(SECOND, |lan| !lan.guests[guest].heard.is_empty()).is_some());
    assert_eq!((lan.quic.address(id), lan.events.len()), (Some(address(moved)), 1));
}

#[test]
fn a_client_that_is_frozen_for_long_is_dropped_and_comes_back() {
    let mut lan = Lan::new(link(20));
    let guest = lan.enter();
    lan.settle();
    for _ in 0..3_000 {
        lock(&lan.air).advance(super::lan::FRAME);
        lan.step_server();
    }
    assert!(matches!(lan.events[..], [_, SessionEvent::Disconnected(_, DisconnectReason::Timeout)]));
    let back = lan.until(5 * SECOND, |lan| lan.events.len() == 3);
    assert!(back.is_some(), "{:?}, {:?}", lan.events, lan.guests[guest].ends);
}

#[test]
fn packets_grow_to_what_the_path_carries_and_shrink_with_it() {
    let wide = LinkConditions { mtu_bytes: 1_500, ..link(100) };
    let mut lan = Lan::new(wide);
    let guest = lan.enter();
    lan.settle();
    (0..100).for_each(|_| _ = lan.server.send_to_all(&"x".repeat(90)).expect("there is room"));
    lan.run(3 * SECOND);
    let largest = |lan: &mut Lan| {
        lock(&lan.air).heard = Some(Vec::new());
        let wanted = lan.guests[guest].heard.len() + 100;
        (0..100).for_each(|_| _ = lan.server.send_to_all(&"x".repeat(90)).expect("there is room"));
        assert!(lan.until(3 * SECOND, |lan| lan.guests[guest].heard.len() == wanted).is_some());
        let heard = lock(&lan.air).heard.take().expect("somebody listened");
        heard.iter().filter(|(from, ..)| *from == SERVER).map(|(.., bytes)| bytes.len()).max()
    };
    assert!(largest(&mut lan) > Some(1_300), "{:?}", largest(&mut lan));
    assert_eq!(lan.quic.counters().dropped, 0, "no packet was ever too large");
    lan.set_conditions(LinkConditions { mtu_bytes: 1_250, ..link(100) });
    assert!(largest(&mut lan) > Some(1_250), "nothing has shown that the path is narrow");
    lan.run(10 * SECOND);
    assert!(largest(&mut lan) <= Some(1_250), "{:?}", largest(&mut lan));
    assert!(lan.guests[guest].ends.is_empty());
}

#[test]
fn messages_of_any_size_arrive_over_a_bad_link() {
    let bad = LinkConditions { jitter: Duration::from_millis(20), ..link(60) }.with_loss(0.1);
    let mut lan = Lan::new(bad);
    let guest = lan.enter();
    lan.settle();
    let texts: Vec<_> = (0..60).map(|number| "y".repeat(number * 60)).collect();
    let Some(&SessionEvent::Connected(id)) = lan.events.first() else { panic!("{:?}", lan.events) };
    for text in &texts {
        // The channel accepts no message while too many messages are not acknowledged.
        while lan.guests[guest].client.send(text).is_err() {
            lan.step();
        }
        while lan.server.send(id, text).is_err() {
            lan.step();
        }
        lan.run(SECOND / 5);
    }
    lan.run(20 * SECOND);
    let arrived: Vec<_> = lan.heard.iter().map(|(_, text)| text.clone()).collect();
    assert!(arrived == texts && lan.guests[guest].heard == texts);
}

#[test]
fn a_client_that_waits_for_its_server_is_there_soon_after_it_however_long_that_took() {
    for tenths in [12, 31, 51, 71, 91, 131] {
        let mut lan = Lan::new(link(20));
        lan.enter();
        lan.run_without_server(tenths * SECOND / 10);
        let there = lan.until(20 * SECOND, |lan| !lan.events.is_empty());
        assert!(there.is_some_and(|there| there < 5 * SECOND / 2), "after {tenths} tenths: {there:?}");
    }
}

#[test]
fn a_client_whose_server_is_very_far_away_connects() {
    let mut lan = Lan::new(link(1_300));
    lan.enter();
    let there = lan.until(20 * SECOND, |lan| !lan.events.is_empty());
    assert!(there.is_some_and(|there| there < 8 * SECOND), "{there:?}");
}

#[test]
fn each_client_is_sometimes_sent_to_first() {
    let mut lan = Lan::new(link(20));
    for _ in 0..3 {
        lan.enter();
    }
    lan.settle();
    let mut first = Vec::new();
    for _ in 0..12 {
        lan.server.send_to_all(&"now".to_owned()).expect("there is room");
        lock(&lan.air).heard = Some(Vec::new());
        lan.step_server();
        let heard = lock(&lan.air).heard.take().expect("it listens");
        first.push(heard[0].1);
        lan.step();
    }
    first.sort_unstable();
    first.dedup();
    assert_eq!(first.len(), 3, "each was the first");
}
