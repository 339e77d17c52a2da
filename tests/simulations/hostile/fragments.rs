//! False claims about fragments, one at a time: sizes, positions, counts, and the blobs that they are parts
//! of.
//!
//! *Invariant:* each packet is valid except for the one claim that the test is about.

use std::time::Duration;

use repl::BitWriter;
use repl::prelude::*;

use super::allocator::measure;
use super::claims::{client as client_with_both, refuse, update};
use super::forge::{end, segment, state};
use super::recording::SESSION;
use super::{Actor, Pebble, budget};

fn fragment(slot: u64, blob: u64, sizes: [u64; 3], bits: u32, writer: &mut BitWriter) {
    let [bit_len, part_bits, index] = sizes;
    writer.write_exp_golomb(slot, 0);
    writer.write_exp_golomb(blob, 4);
    // The blob is the only one in progress.
    writer.write_bits(1, 16);
    writer.write_below(0, 16);
    writer.write_exp_golomb(0, 3);
    writer.write_exp_golomb(bit_len, 12);
    writer.write_exp_golomb(part_bits, 12);
    writer.write_exp_golomb(index, 3);
    (0..bits).for_each(|_| writer.write_bits(0, 1));
}

#[test]
fn s99_a_segment_of_each_kind_has_no_header_but_its_kind_and_the_order_of_its_gaps() {
    let opening = client_with_both();
    assert_eq!((opening.objects::<Actor>().count(), opening.objects::<Pebble>().count()), (1, 1));
    let set_first = |value: u64, writer: &mut BitWriter| {
        update(3, 1, writer);
        writer.write_bits(value, 32);
        end(writer);
    };
    let mut blob = BitWriter::new();
    set_first(6, &mut blob);
    let (bit_len, blob) = (blob.bit_len(), blob.into_bytes());

    let mut client = opening;
    let changed = |client: &Client| client.objects::<Actor>().next().map(|(_, actor)| actor.score);
    client.receive(Duration::ZERO, &state(1, SESSION, |writer| set_first(5, writer))).unwrap();
    assert_eq!(changed(&client), Some(5));
    let fragments = state(2, SESSION, |writer| {
        segment(3, writer);
        fragment(3, 0, [bit_len as u64, 256, 0], 0, writer);
        writer.append(repl::tools::BitSlice::new(&blob, 0, bit_len).unwrap());
        end(writer);
    });
    client.receive(Duration::ZERO, &fragments).unwrap();
    assert_eq!(changed(&client), Some(6));
    let closings = state(3, SESSION, |writer| {
        segment(2, writer);
        writer.write_exp_golomb(5, 0);
        // There is no reason and no last state.
        writer.write_bits(0, 3);
        end(writer);
    });
    client.receive(Duration::ZERO, &closings).unwrap();
    assert_eq!((client.objects::<Actor>().count(), client.objects::<Pebble>().count()), (1, 0));
}

#[test]
fn fragments_that_claim_too_much_are_refused() {
    let huge = u64::from(u32::MAX) * 8;
    for sizes in [
        [huge, 512, 0],
        [u64::MAX - 1, 512, 0],
        [640, 0, 0],
        [640, 255, 0],
        [640, 512, 2],
        [640, 512, u64::MAX - 1],
        [640, u64::MAX - 1, 1],
        [0, 512, 0],
        [8_200 * 8, 512, 0],
    ] {
        refuse("", |writer| {
            segment(3, writer);
            fragment(7, 0, sizes, 512, writer);
            end(writer);
        });
    }
}

#[test]
fn many_fragments_cost_no_more_than_their_bits() {
    refuse("too many fragments", |writer| {
        for blob in 0..60 {
            segment(3, writer);
            fragment(7, blob, [257, 256, 1], 1, writer);
            writer.write_flag(false);
        }
        writer.write_flag(false);
    });
}

#[test]
fn incomplete_blobs_are_bounded() {
    // Each blob claims to be the only one in progress, so the client drops the previous blob.
    let mut client = client_with_both();
    let ((), most) = measure(|| {
        for number in 1..300_u16 {
            let packet = state(number, SESSION, |writer| {
                segment(3, writer);
                fragment(u64::from(number) % 60, number.into(), [8_000 * 8, 512, 0], 512, writer);
                end(writer);
            });
            client.receive(Duration::ZERO, &packet).unwrap();
        }
    });
    assert!(most <= budget(1_200), "{most} bytes");
    // All blobs claim to be in progress. Together the blobs are larger than the client's limit.
    let mut other = client_with_both();
    let (refused, most) = measure(|| {
        (1..300_u16).any(|number| {
            let packet = state(number, SESSION, |writer| {
                segment(3, writer);
                writer.write_exp_golomb(7, 0);
                writer.write_exp_golomb(0, 4);
                writer.write_bits(0xffff, 16);
                writer.write_below(u64::from(number) % 16, 16);
                writer.write_exp_golomb(0, 3);
                writer.write_exp_golomb(8_000 * 8, 12);
                writer.write_exp_golomb(256, 12);
                writer.write_exp_golomb(u64::from(number) / 16, 3);
                (0..256).for_each(|_| writer.write_bits(0, 1));
                end(writer);
            });
            other.receive(Duration::ZERO, &packet).is_err()
        })
    });
    // The first term is one and a half times the limit of this client.
    assert!(refused && most <= 8_192 * 3 / 2 + 4_096 + budget(80), "{most} bytes");
}

#[test]
fn a_packet_may_not_contain_an_object_and_complete_a_blob_of_it() {
    // The blob would update slot 3, which the same packet closes.
    let mut blob = BitWriter::new();
    update(3, 1, &mut blob);
    blob.write_bits(5, 32);
    end(&mut blob);
    let bit_len = blob.bit_len();
    let blob = blob.into_bytes();
    refuse("slot 3 stands twice in one packet", |writer| {
        segment(2, writer);
        writer.write_exp_golomb(3, 0);
        writer.write_bits(0, 2);
        // There is no last state, and the segment ends.
        writer.write_bits(0, 2);
        segment(3, writer);
        fragment(3, 0, [bit_len as u64, 256, 0], 0, writer);
        writer.append(repl::tools::BitSlice::new(&blob, 0, bit_len).unwrap());
        end(writer);
    });
}

#[test]
fn a_blob_within_a_blob_is_refused() {
    let mut blob = BitWriter::new();
    segment(3, &mut blob);
    fragment(3, 1, [64, 256, 0], 64, &mut blob);
    end(&mut blob);
    let bit_len = blob.bit_len();
    let blob = blob.into_bytes();
    refuse("a blob within a blob", |writer| {
        segment(3, writer);
        fragment(3, 0, [bit_len as u64, 256, 0], 0, writer);
        writer.append(repl::tools::BitSlice::new(&blob, 0, bit_len).unwrap());
        end(writer);
    });
}
