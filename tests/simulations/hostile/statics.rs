//! False claims about the paths of static objects (S199, S212).

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, Placed, ReceiveError};

use super::claims::{ACTOR, PEBBLE, client, only, origin, refuse, run};
use super::forge::{end, segment, state};
use super::recording::SESSION;
use super::{Actor, PATH, Pebble, placed_actor, shown};

/// What a packet says about the path of an object: nothing, or a length and some bytes.
type Name<'a> = Option<(usize, &'a [u8])>;

fn path(length: usize, bytes: &[u8], writer: &mut BitWriter) {
    writer.write_bits(length as u64, 8);
    bytes.iter().for_each(|&byte| writer.write_bits(byte.into(), 8));
}

fn name(name: Name<'_>, writer: &mut BitWriter) {
    writer.write_flag(name.is_some());
    name.into_iter().for_each(|(length, bytes)| path(length, bytes, writer));
}

/// Writes a segment with the opening of a static pebble of weight 9. Archetype 1, the first number without an
/// archetype, says that the pebble is static.
fn open(slot: u64, generation: u64, said: Name<'_>, writer: &mut BitWriter) {
    segment(1, writer);
    writer.write_exp_golomb(slot, 0);
    origin(generation, PEBBLE, 1, writer);
    only(1, 1, true, writer);
    name(said, writer);
    writer.write_bits(9, 8);
    writer.write_flag(false);
}

/// Writes the closing of an object that is destroyed, with a path.
fn close(slot: u64, length: usize, bytes: &[u8], writer: &mut BitWriter) {
    segment(2, writer);
    writer.write_exp_golomb(slot, 0);
    writer.write_bits(3, 2);
    path(length, bytes, writer);
    // There is no last state, and the segment ends.
    writer.write_bits(0, 2);
}

fn receive(
    client: &mut Client,
    sequence: u16,
    body: impl FnOnce(&mut BitWriter),
) -> Result<(), ReceiveError> {
    let packet = state(sequence, SESSION, |writer| {
        body(writer);
        writer.write_flag(false);
    });
    client.receive(Duration::ZERO, &packet)
}

#[test]
fn r20_s199_paths_that_no_server_sends_are_refused() {
    let cases: [(&str, Name<'_>); 6] = [
        ("range", Some((0, &[]))),
        ("ends inside", Some((200, b"short"))),
        ("ends inside", Some((255, &[b'x'; 200]))),
        ("UTF-8", Some((2, &[0xc3, 0x28]))),
        ("UTF-8", Some((1, &[0xff]))),
        ("a path that the object cannot have", None),
    ];
    for (why, said) in cases {
        refuse(why, |writer| {
            open(7, 0, said, writer);
            writer.write_flag(false);
        });
        if let Some((length, bytes)) = said {
            refuse(why, |writer| {
                close(7, length, bytes, writer);
                writer.write_flag(false);
            });
        }
    }
    // The number after the number for static objects is not an archetype.
    refuse("archetype 2 was not registered", |writer| {
        segment(1, writer);
        writer.write_exp_golomb(7, 0);
        origin(0, PEBBLE, 2, writer);
        writer.write_bits(0b01, 2);
        run(1, writer);
        end(writer);
    });
    // If the client has an object without a path, the object cannot get a path later.
    refuse("another path than before", |writer| {
        open(5, 0, Some((1, b"a")), writer);
        writer.write_flag(false);
    });
}

#[test]
fn r20_s199_two_objects_with_one_path_are_refused_whole() {
    refuse("two objects with the same path", |writer| {
        open(7, 0, Some((1, b"a")), writer);
        open(8, 0, Some((1, b"a")), writer);
        writer.write_flag(false);
    });
    // The placed actor is bound only once, so a second opening in the packet must be refused.
    refuse("two objects with the same path", |writer| {
        for slot in [7, 8] {
            segment(1, writer);
            writer.write_exp_golomb(slot, 0);
            origin(0, ACTOR, 1, writer);
            writer.write_bits(0b01, 2);
            name(Some((PATH.len(), PATH.as_bytes())), writer);
            writer.write_flag(false);
        }
        writer.write_flag(false);
    });
    let mut client = client();
    receive(&mut client, 1, |writer| open(7, 0, Some((1, b"a")), writer)).unwrap();
    let expected = shown(&client);
    for (slot, said) in [(8, Some((1, &b"a"[..]))), (7, Some((1, b"b"))), (8, None)] {
        let mut other = self::client();
        receive(&mut other, 1, |writer| open(7, 0, Some((1, b"a")), writer)).unwrap();
        let result = receive(&mut other, 2, |writer| open(slot, 0, said, writer));
        assert!(matches!(result, Err(ReceiveError::Malformed(_))), "{slot}: {result:?}");
        assert_eq!(shown(&other), expected);
    }
    // The path belongs to the guid, and another object in the slot does not have it.
    receive(&mut client, 2, |writer| {
        segment(2, writer);
        writer.write_exp_golomb(7, 0);
        // It is out of sight and not kept, there is no last state, and the segment ends.
        writer.write_bits(1, 2);
        writer.write_bits(0, 3);
    })
    .unwrap();
    let result = receive(&mut client, 3, |writer| open(7, 1, None, writer));
    assert!(matches!(result, Err(ReceiveError::Malformed(_))), "{result:?}");
}

#[test]
fn s199_a_path_that_was_named_is_known_after_the_object_was_out_of_sight() {
    let mut client = client();
    receive(&mut client, 1, |writer| open(7, 0, Some((1, b"a")), writer)).unwrap();
    receive(&mut client, 2, |writer| {
        segment(2, writer);
        writer.write_exp_golomb(7, 0);
        // It is out of sight and not kept, there is no last state, and the segment ends.
        writer.write_bits(1, 2);
        writer.write_bits(0, 3);
    })
    .unwrap();
    assert_eq!(client.find_static::<Pebble>("a"), None);
    receive(&mut client, 3, |writer| open(7, 0, None, writer)).unwrap();
    let pebble = client.find_static::<Pebble>("a").expect("its path is known");
    assert_eq!((client[pebble].weight, client.object_info(pebble).path()), (9, Some("a")));
}

#[test]
fn s212_closings_with_paths_end_only_what_they_name() {
    let mut client = client();
    let told = |client: &mut Client, sequence, slot, path: &str| {
        receive(client, sequence, |writer| close(slot, path.len(), path.as_bytes(), writer)).unwrap();
        let updates = std::iter::from_fn(|| client.poll_update());
        updates.map(|update| (update.object, update.what)).collect::<Vec<_>>()
    };
    // A closing with a path may name any slot, with or without an object. An object in the slot is removed.
    assert_eq!(told(&mut client, 1, 60, PATH), [(ObjectRef::NULL, UpdateKind::PathDestroyed(PATH.into()))]);
    assert_eq!(told(&mut client, 2, 61, PATH), []);
    assert_eq!(told(&mut client, 3, 5, PATH).len(), 1);
    assert_eq!(client.objects::<Pebble>().count(), 0);
    assert_eq!(client.placed::<Actor>(PATH), Some(&placed_actor()));
    assert_eq!(client.statics().place("b", Pebble { weight: 1 }), Placed::Waiting);
    receive(&mut client, 4, |writer| open(7, 0, Some((1, b"b")), writer)).unwrap();
    assert_eq!(client.placed::<Pebble>("b").map(|pebble| pebble.weight), Some(9));
    told(&mut client, 5, 8, "b");
    assert!(client.find_static::<Pebble>("b").is_some(), "another slot does not end it");
    let updates = told(&mut client, 6, 7, "whatever");
    let [(_, UpdateKind::Unbound(unbound)), (nothing, UpdateKind::PathDestroyed(destroyed))] = &updates[..]
    else {
        panic!("{updates:?}")
    };
    assert!(nothing.is_null());
    assert_eq!((&**unbound, &**destroyed), ("b", "b"));
}
