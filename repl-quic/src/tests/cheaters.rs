//! Tests with clients that break the rules of QUIC: they do little harm.

use std::sync::Arc;
use std::time::Duration;

use repl_sim::LinkConditions;

use super::lan::{Lan, SECOND, SERVER, link, lock};
use crate::QuicConfig;

#[test]
fn no_question_and_no_answer_goes_to_another_address_than_the_present_one() {
    let mut lan = Lan::connected(20);
    let peer = Arc::clone(&lan.guests[0].peer);
    let (left, moved) = (*peer.lock().expect("nobody panics with it"), lan.link());
    lock(&lan.air).heard = Some(Vec::new());
    *peer.lock().expect("nobody panics with it") = moved;
    lan.run(SECOND);
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    // Only path challenges and path responses take a whole packet here.
    let is_full = |bytes: &[u8]| bytes.len() >= 1_200;
    let full = |peer| {
        heard.iter().filter(|(from, to, bytes)| (*from, *to) == (SERVER, peer) && is_full(bytes)).count()
    };
    assert_eq!((full(moved) > 0, full(left)), (true, 0));
}

#[test]
fn a_client_that_moves_while_much_is_not_acknowledged_plays_on() {
    let mut lan = Lan::connected(5);
    lan.set_conditions(link(5).with_loss(1.0));
    lan.server.send_to_all(&"lost".to_owned()).expect("there is room");
    lan.step_server();
    lan.set_conditions(link(5));
    *lan.guests[0].peer.lock().expect("nobody panics with it") = lan.link();
    // The packet from the new address arrives when the server is about to send a probe, because nothing was
    // acknowledged.
    lock(&lan.air).advance(SECOND / 2);
    lan.guests[0].client.send(&"here".to_owned()).expect("there is room");
    lan.step_guest(0);
    lock(&lan.air).advance(SECOND / 2);
    lan.step_server();
    assert!(lan.until(2 * SECOND, |lan| lan.heard.len() == 1 && lan.guests[0].heard.len() == 1).is_some());
    assert_eq!(lan.guests[0].ends, []);
}

#[test]
fn few_connections_are_stored_that_are_closed() {
    const CLIENTS: usize = 1_100;
    let config = QuicConfig { max_handshakes: 2 * CLIENTS, ..QuicConfig::default() };
    let mut lan = Lan::with(LinkConditions::perfect(), config);
    for client in 0..CLIENTS {
        lan.enter();
        while lan.quic.unfinished_handshakes() == client {
            lan.step_guest(0);
            lock(&lan.air).advance(Duration::ZERO);
            lan.step_server();
            lock(&lan.air).advance(Duration::ZERO);
        }
        lan.guests.clear();
    }
    assert_eq!(lan.quic.unfinished_handshakes(), CLIENTS);
    // All connections are closed at the same time, because nothing arrives from the clients. No client
    // receives the close.
    lan.run(5 * SECOND + SECOND / 10);
    assert_eq!((lan.quic.unfinished_handshakes(), lan.quic.connections()), (0, 1_024));
    lan.run(30 * SECOND);
    assert_eq!(lan.quic.connections(), 0);
}
