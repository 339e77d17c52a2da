//! Damaged sessions: recorded packets with flipped bits, missing ends, parts of other packets, and repeated
//! packets.
//!
//! *Invariant:* the same sessions are damaged in the same way in every run.

use super::targets::endpoint::{self, Head};
use super::targets::forge::Numbers;
use super::targets::packets;
use super::targets::{to_client, to_server};
use super::visits::recordings;
use super::{client_sessions, server_sessions};

/// One packet of a session: a head that says who sends it and when, and its content.
type Packet = (u8, Vec<u8>);

/// Damages up to four packets of a session. `others` are packets of any session.
fn damage(session: &mut Vec<Packet>, others: &[Packet], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(session.len());
        let (head, content) = &mut session[at];
        let len = content.len();
        match numbers.below(8) {
            0..=2 if len > 0 => content[numbers.below(len)] ^= 1 << numbers.below(8),
            3 if len > 0 => content.truncate(numbers.below(len)),
            4 => {
                let (_, other) = &others[numbers.below(others.len())];
                let (keep, from) = (numbers.below(len + 1), numbers.below(other.len() + 1));
                content.truncate(keep);
                content.extend(&other[from..]);
            }
            5 => *head ^= 1 << numbers.below(8),
            6 => {
                let again = session[numbers.below(session.len())].clone();
                session.insert(at, again);
            }
            _ => drop(session.remove(at)),
        }
        if session.is_empty() {
            return;
        }
    }
}

/// Runs `cases` damaged forms of these sessions.
fn run_damaged(sessions: &[Vec<Packet>], cases: usize, seed: u64, mut run: impl FnMut(&[Packet])) {
    let others: Vec<Packet> = sessions.iter().flatten().cloned().collect();
    let mut numbers = Numbers(seed);
    for _ in 0..cases {
        let mut session = sessions[numbers.below(sessions.len())].clone();
        damage(&mut session, &others, &mut numbers);
        run(&session);
    }
}

/// Returns the packets of sessions that are plain lists of packets.
fn plain(sessions: &[(String, Vec<u8>)]) -> Vec<Vec<Packet>> {
    let packets =
        |data: &[u8]| packets::split(data).into_iter().map(|content| (0, content.to_vec())).collect();
    sessions.iter().map(|(_, data)| packets(data)).collect()
}

/// Returns the input that contains these packets.
fn joined(session: &[Packet]) -> Vec<u8> {
    let packets: Vec<_> = session.iter().map(|(_, content)| [&[0; 4], content.as_slice()].concat()).collect();
    packets::join(&packets)
}

#[test]
fn damaged_sessions_behind_an_endpoint_break_nothing() {
    let packets = |data: &[u8]| {
        endpoint::split(data).into_iter().map(|(head, content)| (head.0, content.to_vec())).collect()
    };
    let sessions: Vec<_> = recordings().iter().map(|(_, data)| packets(data)).collect();
    let (mut refused, mut accepted) = (0, 0);
    run_damaged(&sessions, 20_000, 1, |session| {
        let session: Vec<_> = session.iter().map(|(head, content)| (Head(*head), content.clone())).collect();
        let venue = endpoint::run(&endpoint::join(&session));
        let is_refused =
            |reason: &&repl::DisconnectReason| matches!(reason, repl::DisconnectReason::Protocol(_));
        refused += venue.ended.iter().filter(is_refused).count();
        accepted += venue.accepted;
    });
    assert!(refused > 1_000 && accepted > 10_000, "{refused} refused, {accepted} accepted");
}

#[test]
fn damaged_sessions_of_a_server_break_no_client() {
    let (mut refused, mut all) = (0, 0);
    run_damaged(&plain(&server_sessions()), 4_000, 2, |session| {
        let (_, accepted, packets) = to_client::run(&joined(session));
        refused += packets - accepted;
        all += packets;
    });
    assert!(refused > 4_000 && refused < all / 2, "{refused} of {all}");
}

#[test]
fn damaged_sessions_of_a_client_break_no_server() {
    let mut stand = 0;
    run_damaged(&plain(&client_sessions()), 4_000, 3, |session| {
        stand += usize::from(to_server::run(&joined(session)).is_connected());
    });
    assert!(stand > 500 && stand < 3_500, "{stand} connections stand");
}
