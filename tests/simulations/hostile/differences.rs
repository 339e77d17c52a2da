//! Differences that no honest server sends: to values that the client has not kept, beyond the end of a
//! value, longer than what follows.
//!
//! *Invariant:* each packet is valid except for the one claim that the test is about.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, ReceiveError};

use super::allocator::{held, measure};
use super::claims::{client, refuse, update};
use super::forge::{end, state};
use super::recording::SESSION;
use super::{Actor, budget, worth};

const STORY: u64 = 13;

/// What a packet says of the story of the actor in slot 3.
#[derive(Clone, Copy)]
enum Story<'a> {
    Whole(&'a str),
    /// The difference to the value with this revision: after `same` bytes, `removed` are replaced.
    /// `left` is the length of the earlier value.
    Edit {
        base: u64,
        left: u64,
        same: u64,
        removed: u64,
        inserted: &'a [u8],
    },
}

/// Writes an update of the story, which the client keeps with the revision `keeps`.
fn story(keeps: Option<u64>, story: Story<'_>, writer: &mut BitWriter) {
    update(3, STORY, writer);
    writer.write_flag(keeps.is_some());
    keeps.into_iter().for_each(|revision| writer.write_bits(revision, 16));
    match story {
        Story::Whole(text) => {
            writer.write_flag(false);
            writer.write_exp_golomb(text.len() as u64, 3);
            text.bytes().for_each(|byte| writer.write_bits(byte.into(), 8));
        }
        Story::Edit { base, left, same, removed, inserted } => {
            let mut bits = BitWriter::new();
            bits.write_flag(true);
            bits.write_bits(same, u64::BITS - left.leading_zeros());
            bits.write_exp_golomb(removed, 0);
            bits.write_exp_golomb(inserted.len() as u64, 0);
            inserted.iter().for_each(|&byte| bits.write_bits(byte.into(), 8));
            bits.write_flag(false);
            difference(base, bits.bit_len() as u64, &mut bits, writer);
        }
    }
}

/// Writes a difference that claims to be `len` bits long.
fn difference(base: u64, len: u64, bits: &mut BitWriter, writer: &mut BitWriter) {
    writer.write_flag(true);
    writer.write_bits(base, 16);
    writer.write_exp_golomb(len, 5);
    writer.append(bits.as_slice());
}

fn packet(sequence: u16, body: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    state(sequence, SESSION, |writer| {
        body(writer);
        end(writer);
    })
}

/// Returns a client that keeps the story "once" with the revision 7.
fn client_with_story() -> Client {
    let mut client = client();
    let kept = packet(1, |writer| story(Some(7), Story::Whole("once"), writer));
    client.receive(Duration::ZERO, &kept).expect("nothing is wrong with it");
    client
}

fn story_of(client: &Client) -> &str {
    &client.objects::<Actor>().next().expect("the actor").1.story
}

/// Asserts that a client refuses an update of the story "once", and shows the story as before.
fn refuse_after_story(why: &str, body: impl FnOnce(&mut BitWriter)) {
    let mut client = client_with_story();
    let packet = packet(2, body);
    let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
    match result {
        Err(ReceiveError::Malformed(reason)) => {
            assert!(reason.contains("story") && reason.contains(why), "`{reason}` does not say `{why}`");
        }
        other => panic!("{other:?} for what should be refused with `{why}`"),
    }
    assert!(most <= budget(packet.len()), "{most} bytes for a packet of {}", packet.len());
    assert_eq!(story_of(&client), "once");
    assert!(!client.is_connected());
}

fn edit(base: u64, same: u64, removed: u64, inserted: &[u8]) -> Story<'_> {
    Story::Edit { base, left: 4, same, removed, inserted }
}

#[test]
fn the_forge_makes_differences_that_are_taken() {
    let mut client = client_with_story();
    for (sequence, keeps, change, shown) in [
        (2, Some(8), edit(7, 4, 0, b" more"), "once more"),
        (3, None, edit(7, 0, 1, b"O"), "Once"),
        (4, None, Story::Edit { base: 8, left: 9, same: 4, removed: 5, inserted: b"" }, "once"),
    ] {
        let packet = packet(sequence, |writer| story(keeps, change, writer));
        client.receive(Duration::ZERO, &packet).expect("nothing is wrong with it");
        assert_eq!(story_of(&client), shown);
    }
}

#[test]
fn s228_differences_to_values_that_were_not_kept_are_refused() {
    refuse("not kept", |writer| story(None, edit(7, 0, 0, b"a"), writer));
    refuse_after_story("not kept", |writer| story(None, edit(8, 0, 0, b"a"), writer));
}

#[test]
fn s228_differences_beyond_the_end_of_a_value_are_refused() {
    refuse_after_story("range", |writer| story(None, edit(7, 0, 5, b""), writer));
    refuse_after_story("range", |writer| story(None, edit(7, 5, 0, b""), writer));
    refuse_after_story("range", |writer| story(None, edit(7, 4, u64::MAX >> 1, b""), writer));
}

#[test]
fn s228_differences_that_make_no_value_are_refused() {
    refuse_after_story("UTF-8", |writer| story(None, edit(7, 1, 1, &[0xff]), writer));
}

#[test]
fn s228_differences_of_a_wrong_length_are_refused() {
    refuse_after_story("", |writer| {
        update(3, STORY, writer);
        writer.write_flag(false);
        difference(7, 1 << 40, &mut BitWriter::new(), writer);
    });
    refuse_after_story("range", |writer| {
        update(3, STORY, writer);
        writer.write_flag(false);
        let mut longer = BitWriter::new();
        longer.write_bits(0, 9);
        difference(7, 9, &mut longer, writer);
    });
}

#[test]
fn r23_a_value_replaces_the_kept_one_with_the_same_revision() {
    let mut client = client_with_story();
    let edit = Story::Edit { base: 7, left: 5, same: 5, removed: 0, inserted: b"!" };
    for (sequence, keeps, change, shown) in
        [(2, Some(7), Story::Whole("twice"), "twice"), (3, None, edit, "twice!")]
    {
        let packet = packet(sequence, |writer| story(keeps, change, writer));
        client.receive(Duration::ZERO, &packet).expect("nothing is wrong with it");
        assert_eq!(story_of(&client), shown);
    }
}

#[test]
fn s226_a_client_keeps_at_most_three_values_of_a_property() {
    let mut client = client_with_story();
    let long = "x".repeat(1_000);
    let before = held();
    for sequence in 2..200 {
        let packet = packet(sequence, |writer| story(Some(sequence.into()), Story::Whole(&long), writer));
        client.receive(Duration::ZERO, &packet).expect("nothing is wrong with it");
        while client.poll_update().is_some() {}
    }
    let kept = held() - before;
    assert!((3_000..12_000).contains(&kept), "{kept} bytes");
    assert!(kept <= worth(&client) as isize);
}
