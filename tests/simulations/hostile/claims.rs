//! False claims with extreme values, one at a time: counts, lengths, slots, generations, fragments.
//!
//! *Invariant:* each packet is valid except for the one claim that the test is about.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, ReceiveError};

use super::allocator::measure;
use super::forge::{end, segment, state};
use super::recording::{SESSION, client_after};
use super::{Actor, Pebble, budget, shown};

/// The numbers of the classes on the wire, in the order of their names.
pub(super) const ACTOR: u64 = 0;
pub(super) const PEBBLE: u64 = 1;
/// The handles of an actor, in the order of declaration.
const HANDLES: u64 = 16;
const NAME: u64 = 2;
const LIMBS: u64 = 5;
const FRIENDS: u64 = 8;
const MAYBE: u64 = 9;
const GRID: u64 = 12;

/// Writes the start of the first opening of a segment: an actor or pebble in `slot`. Its properties follow.
fn open(slot: u64, class: u64, writer: &mut BitWriter) {
    writer.write_exp_golomb(slot, 0);
    origin(0, class, 0, writer);
}

/// Writes the generation, class and archetype of an object. It also says that the client does not own the
/// object and is a simulated proxy, and that not all properties follow.
pub(super) fn origin(generation: u64, class: u64, archetype: u64, writer: &mut BitWriter) {
    writer.write_exp_golomb(generation, 2);
    writer.write_below(class, 2);
    writer.write_exp_golomb(archetype, 0);
    writer.write_flag(false);
    writer.write_flag(false);
}

/// Writes how many openings are in consecutive slots (a run), including the first.
pub(super) fn run(objects: u64, writer: &mut BitWriter) {
    writer.write_exp_golomb(objects - 1, 0);
}

/// Writes a list of one handle. `may_be_empty` is true if the list could also be empty.
pub(super) fn only(handle: u64, count: u64, may_be_empty: bool, writer: &mut BitWriter) {
    writer.write_flag(true);
    if may_be_empty {
        writer.write_flag(true);
    }
    writer.write_below(handle - 1, count);
    if handle < count {
        writer.write_flag(false);
    }
}

/// Returns a client that has an actor in slot 3 and a pebble in slot 5, both with their initial values.
pub(super) fn client() -> Client {
    let mut client = client_after(&[first()]);
    assert_eq!((client.objects::<Actor>().count(), client.objects::<Pebble>().count()), (1, 1));
    while client.poll_event().is_some() || client.poll_update().is_some() {}
    client
}

fn first() -> Vec<u8> {
    state(0, SESSION, |writer| {
        segment(1, writer);
        open(3, ACTOR, writer);
        writer.write_bits(0b11, 2);
        writer.write_below(0, HANDLES);
        writer.write_flag(false);
        run(1, writer);
        writer.write_bits(77, 32);
        writer.write_flag(true);
        writer.write_exp_golomb(1, 0);
        // The flag says whether the origin is the same as that of the previous object. It is not.
        writer.write_flag(false);
        origin(0, PEBBLE, 0, writer);
        only(1, 1, true, writer);
        run(1, writer);
        writer.write_bits(9, 8);
        end(writer);
    })
}

/// Asserts that the body is refused with a reason that contains `why`, and that it costs no memory.
pub(super) fn refuse(why: &str, body: impl FnOnce(&mut BitWriter)) {
    let mut client = client();
    let expected = shown(&client);
    let packet = state(1, SESSION, body);
    let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
    match result {
        Err(ReceiveError::Malformed(reason)) => {
            assert!(reason.contains(why), "`{reason}` does not say `{why}`")
        }
        other => panic!("{other:?} for what should be refused with `{why}`"),
    }
    assert!(most <= budget(packet.len()), "{most} bytes for a packet of {}", packet.len());
    assert_eq!(shown(&client), expected);
    assert!(!client.is_connected());
    assert!(matches!(client.poll_event(), Some(ClientEvent::Disconnected(_))));
}

pub(super) fn update(slot: u64, handle: u64, writer: &mut BitWriter) {
    segment(0, writer);
    writer.write_exp_golomb(slot, 0);
    only(handle, HANDLES, false, writer);
}

#[test]
fn the_forge_makes_packets_that_are_taken() {
    let mut client = client();
    let packet = state(1, SESSION, |writer| {
        update(3, NAME, writer);
        writer.write_exp_golomb(2, 3);
        writer.write_bits(u64::from(b'h'), 8);
        writer.write_bits(u64::from(b'i'), 8);
        end(writer);
    });
    client.receive(Duration::ZERO, &packet).unwrap();
    assert_eq!(client.objects::<Actor>().next().map(|(_, actor)| actor.name.as_str()), Some("hi"));
}

#[test]
fn s210_an_object_that_was_torn_off_does_not_open_again() {
    let close = |reason: u64, writer: &mut BitWriter| {
        segment(2, writer);
        writer.write_exp_golomb(5, 0);
        writer.write_bits(reason, 2);
        if reason == 1 {
            // The client does not keep it.
            writer.write_flag(false);
        }
        // There is no last state.
        writer.write_flag(false);
        end(writer);
    };
    let reopen = |generation: u64, writer: &mut BitWriter| {
        segment(1, writer);
        writer.write_exp_golomb(5, 0);
        origin(generation, PEBBLE, 0, writer);
        only(1, 1, true, writer);
        run(1, writer);
        writer.write_bits(9, 8);
        end(writer);
    };
    for (reason, generation, is_refused) in [(2, 0, true), (2, 1, false), (1, 0, false), (0, 0, false)] {
        let mut client = client();
        let closing = state(1, SESSION, |writer| close(reason, writer));
        client.receive(Duration::ZERO, &closing).unwrap();
        let torn_off = client
            .objects::<Pebble>()
            .filter(|(object, _)| client.object_info(*object).is_torn_off())
            .count();
        assert_eq!(torn_off, usize::from(reason == 2));
        let expected = shown(&client);
        let result = client.receive(Duration::ZERO, &state(2, SESSION, |writer| reopen(generation, writer)));
        assert_eq!(result.is_err(), is_refused, "reason {reason}, generation {generation}: {result:?}");
        assert!(!is_refused || shown(&client) == expected);
    }
}

#[test]
fn slots_that_are_empty_or_beyond_the_limit_are_refused() {
    refuse("update of slot 4, which is empty", |writer| {
        update(4, 1, writer);
        writer.write_bits(1, 32);
        end(writer);
    });
    for slot in [64, 1_000_000, u64::from(u32::MAX)] {
        refuse("over the limit of 64 objects", |writer| {
            segment(2, writer);
            writer.write_exp_golomb(slot - u64::from(slot == u64::from(u32::MAX)), 0);
            writer.write_bits(0, 2);
            end(writer);
        });
    }
    for slot in [u64::from(u32::MAX), u64::MAX - 1] {
        refuse("range", |writer| {
            segment(2, writer);
            writer.write_exp_golomb(slot, 0);
            end(writer);
        });
    }
}

#[test]
fn an_object_that_occurs_twice_is_refused() {
    refuse("slot 3 stands twice in one packet", |writer| {
        for _ in 0..2 {
            update(3, 1, writer);
            writer.write_bits(5, 32);
            writer.write_flag(false);
        }
        writer.write_flag(false);
    });
}

#[test]
fn openings_in_used_slots_and_of_unknown_classes_are_refused() {
    refuse("slot 3 is taken by another object", |writer| {
        segment(1, writer);
        open(3, PEBBLE, writer);
        only(1, 1, true, writer);
        run(1, writer);
        writer.write_bits(9, 8);
        end(writer);
    });
    refuse("slot 3 is taken by another object", |writer| {
        segment(1, writer);
        writer.write_exp_golomb(3, 0);
        origin(1, ACTOR, 0, writer);
        writer.write_bits(0b01, 2);
        run(1, writer);
        end(writer);
    });
    refuse("archetype 9 was not registered", |writer| {
        segment(1, writer);
        writer.write_exp_golomb(7, 0);
        origin(0, PEBBLE, 9, writer);
        writer.write_bits(0b01, 2);
        run(1, writer);
        end(writer);
    });
    for generation in [u64::from(u32::MAX), u64::MAX - 1] {
        refuse("range", |writer| {
            segment(1, writer);
            writer.write_exp_golomb(7, 0);
            writer.write_exp_golomb(generation, 2);
            end(writer);
        });
    }
}

#[test]
fn roles_that_no_server_sends_are_refused() {
    // If a client does not own an autonomous proxy, the server sends it as a simulated proxy. A simulated
    // proxy has a short form of one bit. Its long form says that the object has a parent, and may occur only
    // once in an opening.
    let autonomous = |writer: &mut BitWriter| writer.write_bits(0b01 | 2 << 2, 5);
    let twice_below = |writer: &mut BitWriter| {
        writer.write_bits(0b01 | 1 << 2, 5);
        writer.write_flag(false);
        writer.write_exp_golomb(0, 1);
        writer.write_bits(0b01 | 1 << 2, 5);
    };
    for proxy in [&autonomous as &dyn Fn(&mut BitWriter), &twice_below] {
        refuse("range", |writer| {
            segment(1, writer);
            writer.write_exp_golomb(8, 0);
            writer.write_exp_golomb(0, 2);
            writer.write_below(PEBBLE, 2);
            writer.write_exp_golomb(0, 0);
            proxy(writer);
            writer.write_bits(0b010, 3);
            run(1, writer);
            end(writer);
        });
    }
}

#[test]
fn r22_a_parent_that_is_not_there_counts_as_none() {
    // A pebble in slot 8, whose parent would be in slot 2, or far above the highest slot.
    for (is_above, distance) in [(false, 5), (true, 2_000_000_000), (false, 90)] {
        let mut client = client();
        let packet = state(1, SESSION, |writer| {
            segment(1, writer);
            writer.write_exp_golomb(8, 0);
            writer.write_exp_golomb(0, 2);
            writer.write_below(PEBBLE, 2);
            writer.write_exp_golomb(0, 0);
            writer.write_bits(0b01 | 1 << 2, 5);
            writer.write_flag(is_above);
            writer.write_exp_golomb(distance, 1);
            writer.write_flag(false);
            writer.write_bits(0b010, 3);
            run(1, writer);
            end(writer);
        });
        client.receive(Duration::ZERO, &packet).unwrap();
        let (pebble, _) = client.objects::<Pebble>().last().expect("it is there");
        assert_eq!((client.object_info(pebble).parent(), client.objects::<Pebble>().count()), (None, 2));
    }
}

#[test]
fn a_run_opens_new_objects_beside_those_that_the_client_has() {
    let mut client = client();
    let known = client.objects::<Pebble>().map(|(pebble, _)| pebble).next().unwrap();
    let packet = state(1, SESSION, |writer| {
        segment(1, writer);
        // The pebble that the client has is in slot 5.
        writer.write_exp_golomb(4, 0);
        origin(0, PEBBLE, 0, writer);
        only(1, 1, true, writer);
        run(3, writer);
        (11..14).for_each(|weight| writer.write_bits(weight, 8));
        end(writer);
    });
    client.receive(Duration::ZERO, &packet).unwrap();
    assert_eq!(client[known].weight, 12);
    let mut spawned = Vec::new();
    while let Some(update) = client.poll_update() {
        match update.what {
            UpdateKind::Spawned => spawned.push(update.object),
            UpdateKind::Changed => assert_eq!(update.cast(), Some(known)),
            other => panic!("{other:?}"),
        }
    }
    let weight_of = |object: &ObjectRef<()>| {
        client
            .objects::<Pebble>()
            .find(|(pebble, _)| pebble.erase() == *object)
            .map(|(_, pebble)| pebble.weight)
    };
    assert_eq!(spawned.iter().map(weight_of).collect::<Vec<_>>(), [Some(11), Some(13)]);
}

#[test]
fn runs_of_openings_that_cost_nothing_are_refused() {
    // Many objects with less than one bit for each, few objects with fewer bits than they need, and slots
    // after the last slot.
    for (objects, bits) in [(1 << 20, 0), (1 << 63, 0), (40, 300), (2, 16)] {
        refuse("range", |writer| {
            segment(1, writer);
            open(8, ACTOR, writer);
            writer.write_bits(0b01, 2);
            run(objects, writer);
            (0..bits).for_each(|_| writer.write_flag(false));
            end(writer);
        });
    }
    refuse("slot 7 stands twice in one packet", |writer| {
        segment(1, writer);
        open(6, PEBBLE, writer);
        only(1, 1, true, writer);
        run(2, writer);
        writer.write_bits(0x0909, 16);
        writer.write_flag(false);
        segment(2, writer);
        writer.write_exp_golomb(7, 0);
        writer.write_bits(0, 2);
        end(writer);
    });
}

#[test]
fn a_run_whose_length_has_more_than_32_bits_is_refused() {
    // The low 32 bits are the length of a valid run of one object.
    for objects in [1 << 32 | 1, 1 << 40 | 1] {
        refuse("range", |writer| {
            segment(1, writer);
            open(6, PEBBLE, writer);
            only(1, 1, true, writer);
            run(objects, writer);
            writer.write_bits(9, 8);
            end(writer);
        });
    }
}

#[test]
fn objects_of_a_run_that_take_too_few_bits_are_refused() {
    refuse("range", |writer| {
        segment(1, writer);
        open(8, ACTOR, writer);
        only(MAYBE, HANDLES, true, writer);
        run(5, writer);
        // One bit for each object.
        writer.write_bits(0, 5);
        writer.write_flag(false);
        update(3, NAME, writer);
        writer.write_exp_golomb(20, 3);
        (0..20).for_each(|_| writer.write_bits(u64::from(b'x'), 8));
        end(writer);
    });
}

#[test]
fn lengths_over_limit_or_input_are_refused() {
    for len in [4_097, 1 << 20, 1 << 40, u64::MAX - 1] {
        refuse("name", |writer| {
            update(3, NAME, writer);
            writer.write_exp_golomb(len, 3);
            end(writer);
        });
    }
    for (handle, property) in [(FRIENDS, "friends"), (GRID, "grid")] {
        for len in [500, 2_048, 2_049, 1 << 32, u64::MAX - 1] {
            refuse(property, |writer| {
                update(3, handle, writer);
                writer.write_exp_golomb(len, 3);
                // All elements from the first on are new.
                writer.write_flag(true);
                writer.write_below(0, len.min(4_096));
                end(writer);
            });
        }
    }
    refuse("limbs", |writer| {
        update(3, LIMBS, writer);
        writer.write_below(15, 16);
        writer.write_bits(0, 40);
        end(writer);
    });
}

#[test]
fn lengths_over_the_input_inside_new_elements_are_refused_by_their_counts() {
    for len in [60, 500, 2_048] {
        for (handle, property) in [(LIMBS, "limbs"), (GRID, "grid")] {
            refuse(&format!("a length of {len} is over the limit of"), |writer| {
                update(3, handle, writer);
                if property == "limbs" {
                    writer.write_below(1, 10);
                } else {
                    writer.write_exp_golomb(1, 3);
                }
                // The first element is new.
                writer.write_flag(true);
                if property == "limbs" {
                    writer.write_bits(5, 8);
                }
                // The length of the list in the element.
                writer.write_exp_golomb(len, 3);
                writer.write_bits(0, 40);
                end(writer);
            });
        }
    }
}

#[test]
fn elements_that_were_never_supplied_are_refused() {
    for tail in [1, 19] {
        refuse("friends", |writer| {
            update(3, FRIENDS, writer);
            writer.write_exp_golomb(20, 3);
            // The packet claims that the first `tail` elements exist already, but the array is empty.
            writer.write_flag(true);
            writer.write_below(tail, 20);
            writer.write_flag(false);
            writer.write_bits(0, 64);
            end(writer);
        });
    }
}

#[test]
fn bits_after_the_end_are_refused() {
    refuse("range", |writer| writer.write_bits(0, 1 + 12));
    let trailing = |writer: &mut BitWriter| {
        update(3, 1, writer);
        writer.write_bits(1, 32);
        end(writer);
        writer.write_bits(1, 7);
    };
    let mut writer = BitWriter::new();
    trailing(&mut writer);
    refuse("", trailing);
}

#[test]
fn a_header_that_reaches_before_the_first_packet_is_refused() {
    let header = |write: fn(&mut BitWriter)| {
        let mut writer = BitWriter::new();
        writer.write_flag(false);
        writer.write_bits(1, 16);
        write(&mut writer);
        writer.write_bits(0, 8);
        super::forge::seal(&writer.into_bytes(), SESSION)
    };
    let stamp = header(|writer| {
        writer.write_flag(true);
        writer.write_exp_golomb(1, 2);
    });
    let floor = header(|writer| {
        writer.write_bits(0b010, 3);
        writer.write_exp_golomb(2, 5);
    });
    let acks = header(|writer| {
        writer.write_bits(0, 3);
        writer.write_flag(true);
        writer.write_bits(40_000, 16);
        writer.write_exp_golomb(0, 2);
    });
    let round_trip = header(|writer| {
        writer.write_bits(0b010, 3);
        writer.write_exp_golomb(0, 5);
        writer.write_exp_golomb(65_536, 5);
    });
    for packet in [stamp, floor, acks, round_trip] {
        let mut client = client();
        let result = client.receive(Duration::ZERO, &packet);
        assert!(matches!(result, Err(ReceiveError::Malformed(_))), "{result:?}");
    }
}

#[test]
fn a_thousand_references_cost_little_time() {
    let mut client = client();
    let packet = state(1, SESSION, |writer| {
        update(3, FRIENDS, writer);
        writer.write_exp_golomb(800, 3);
        writer.write_flag(true);
        writer.write_below(0, 800);
        for slot in 0..800 {
            writer.write_flag(true);
            writer.write_exp_golomb(slot % 60, 6);
            writer.write_exp_golomb(0, 2);
        }
        end(writer);
    });
    assert!(packet.len() < 1_200);
    let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
    result.unwrap();
    assert!(most < budget(packet.len()) + super::worth(&client));
    let friends = client.objects::<Actor>().next().map(|(_, actor)| actor.friends.len());
    assert_eq!(friends, Some(800));
}
