//! A dishonest server: recorded, changed and random packets for clients in the middle of a match.
//!
//! *Invariant:* every packet is passed to a client that received exactly the packets that were recorded
//! before this packet.

use std::time::Duration;

use repl::ReceiveError;
use repl::prelude::*;

use super::allocator::measure;
use super::forge::{Numbers, reseal, seal, state};
use super::recording::{SESSION, client_after, client_of, record};
use super::support::Packets;
use super::{Shown, budget, shown, worth};

/// Returns recorded matches of a few packets each. Short matches make it fast to rebuild a client in the
/// middle of one.
fn recordings() -> Vec<Packets> {
    (0..10).map(|seed| record(seed, 8)).collect()
}

/// Passes `packet` to two clients that have received the packets `before`: one copies most values, the other
/// walks over the commands of each update and measures it. Returns whether the packet was accepted.
fn try_on(before: &[Vec<u8>], expected: &Shown, packet: &[u8]) -> bool {
    let [outcome, walked] = [false, true].map(|walks| {
        let mut client = client_of(walks, before);
        let result = try_packet(&mut client, expected, packet);
        (result, shown(&client))
    });
    assert_eq!(outcome, walked, "{packet:?}");
    outcome.0.is_ok()
}

/// Passes `packet` to a client that shows the objects in `expected`.
fn try_packet(client: &mut Client, expected: &Shown, packet: &[u8]) -> Result<(), ReceiveError> {
    let (result, most) = measure(|| client.receive(Duration::ZERO, packet));
    match &result {
        Ok(()) => {
            let allowed = budget(packet.len()) + worth(client);
            assert!(
                most <= allowed,
                "{most} bytes for a packet of {}, allowed {allowed}: {packet:?}",
                packet.len()
            );
        }
        Err(error) => {
            assert!(most <= budget(packet.len()), "{most} bytes for {error} of {}: {packet:?}", packet.len());
            assert_eq!(shown(client), *expected, "{error} changed something: {packet:?}");
            assert!(matches!(error, ReceiveError::Damaged) || !client.is_connected());
        }
    }
    client.tick(Duration::from_millis(16));
    while client.poll_transmit().is_some() {}
    while client.poll_event().is_some() || client.poll_update().is_some() {}
    result
}

/// Tries each packet of each recording in the forms that `forms` makes of it. Returns how many forms were
/// tried and how many of them were accepted.
fn try_all(recordings: &[Packets], mut forms: impl FnMut(&[u8]) -> Vec<Vec<u8>>) -> (usize, usize) {
    let (mut tried, mut taken) = (0, 0);
    for recording in recordings {
        for at in 0..recording.len() {
            let (before, rest) = recording.split_at(at);
            let expected = shown(&client_after(before));
            for form in forms(&rest[0]) {
                tried += 1;
                taken += usize::from(try_on(before, &expected, &form));
            }
        }
    }
    (tried, taken)
}

#[test]
fn packets_that_were_recorded_are_taken() {
    let recordings = recordings();
    let (tried, taken) =
        try_all(&recordings, |packet| vec![packet.to_vec(), reseal(packet, SESSION, |_| ())]);
    assert_eq!(tried, taken, "our own checksum is the library's");
    assert!(tried >= 200, "{tried} packets");
}

#[test]
fn every_truncation_of_a_recorded_packet_is_refused_or_taken() {
    let cut = |packet: &[u8]| {
        (0..packet.len() - 4).map(|len| reseal(packet, SESSION, |content| content.truncate(len))).collect()
    };
    let (tried, taken) = try_all(&recordings(), cut);
    assert!(tried > 5_000 && taken == 0, "{taken} of {tried}");
}

#[test]
fn every_one_bit_flip_of_a_recorded_packet_is_refused_or_taken() {
    let flip = |packet: &[u8]| {
        let bits = (packet.len() - 4) * 8;
        (0..bits).map(|bit| reseal(packet, SESSION, |content| content[bit / 8] ^= 1 << (bit % 8))).collect()
    };
    let (tried, taken) = try_all(&recordings(), flip);
    assert!(tried > 40_000 && taken > tried / 20, "{taken} of {tried}");
}

#[test]
fn many_changes_to_a_recorded_packet_are_refused_or_taken() {
    let recordings = recordings();
    let donors: Vec<Vec<u8>> = recordings.concat();
    let mut numbers = Numbers(3);
    let (tried, _) = try_all(&recordings, |packet| {
        (0..150).map(|_| reseal(packet, SESSION, |content| mutate(content, &donors, &mut numbers))).collect()
    });
    assert!(tried > 15_000, "{tried}");
}

fn mutate(content: &mut Vec<u8>, donors: &[Vec<u8>], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(content.len().max(1));
        let donor = &donors[numbers.below(donors.len())][4..];
        match numbers.below(6) {
            0 => content.truncate(at),
            1 => content.extend_from_slice(&donor[numbers.below(donor.len())..]),
            2 if at < content.len() => content[at] = numbers.next() as u8,
            3 if at < content.len() => content[at] = [0, 0xff][numbers.below(2)],
            4 if at < content.len() => drop(content.remove(at)),
            _ => content.insert(at, numbers.next() as u8),
        }
    }
}

#[test]
fn random_packets_are_refused_or_taken() {
    let recordings = recordings();
    let mut numbers = Numbers(4);
    let mut random = |most: usize| {
        let len = numbers.below(most);
        // Packets of mostly zeros or mostly ones get further in the decoder than noise.
        let (and, or) = [(0xff, 0), (0x11, 0), (0xff, 0xdb)][numbers.below(3)];
        (0..len).map(|_| (numbers.next() as u8 & and) | or).collect::<Vec<u8>>()
    };
    let (mut tried, mut number) = (0, 0_u16);
    for recording in &recordings {
        let before = &recording[..recording.len() / 2];
        let expected = shown(&client_after(before));
        for _ in 0..2_400 {
            number = number.wrapping_add(1);
            try_on(before, &expected, &seal(&random(300), SESSION));
            let body = random(1_000);
            let packet = state(number % 64, SESSION, |writer| {
                body.iter().for_each(|&byte| writer.write_bits(byte.into(), 8));
            });
            try_on(before, &expected, &packet);
            tried += 2;
        }
    }
    assert!(tried >= 48_000);
}
