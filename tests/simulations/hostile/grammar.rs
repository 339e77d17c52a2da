//! Bodies of random segments: updates, tables, openings and closings of random objects. Most of their entries
//! are valid, so clients accept many bodies, and refuse others after many valid entries.
//!
//! *Invariant:* no entry contains references, so the order in which a client applies the entries of an
//! accepted body makes no difference.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, ReceiveError};

use super::allocator::measure;
use super::claims::{ACTOR, PEBBLE, origin, run};
use super::forge::{Numbers, segment, state};
use super::recording::{SESSION, client_of};
use super::{budget, shown, worth};

/// How many slots contain actors before a random body arrives. They begin with slot 0.
const ACTORS: u64 = 8;
/// How many slots contain pebbles. They follow the actors.
const PEBBLES: u64 = 24;
/// The number of slots of a client.
const SLOTS: u64 = 64;

/// Sets of handles of an actor: the score, the name, the optional number, and the score with the optional
/// number.
const LISTS: [&[u64]; 4] = [&[1], &[2], &[9], &[1, 9]];

/// One body, while it is written.
struct Body<'a> {
    numbers: &'a mut Numbers,
    writer: BitWriter,
    /// The last list of each class in this segment.
    lists: [Option<&'static [u64]>; 2],
    /// Whether an entry has the values of a class that is not the class of its object.
    has_other_class: bool,
}

impl Body<'_> {
    fn is_one_in(&mut self, times: usize) -> bool {
        self.numbers.below(times) == 0
    }

    /// Returns the class of the object that the slot has before the body is applied. One time in 500, it
    /// returns the other class.
    fn class_in(&mut self, slot: u64) -> u64 {
        let class = if slot < ACTORS { ACTOR } else { PEBBLE };
        let is_other = self.is_one_in(500);
        self.has_other_class |= is_other;
        if is_other { 1 - class } else { class }
    }

    /// Writes a list of handles of a class.
    fn list(&mut self, class: u64, handles: &[u64], may_be_empty: bool) {
        let count = [14, 1][class as usize];
        self.writer.write_flag(true);
        let mut next = 0;
        for (at, handle) in handles.iter().enumerate() {
            if at > 0 || may_be_empty {
                self.writer.write_flag(true);
            }
            self.writer.write_below(handle - 1 - next, count - next);
            next = *handle;
        }
        if next < count {
            self.writer.write_flag(false);
        }
    }

    /// Returns a list of handles of a class.
    fn any_list(&mut self, class: u64) -> &'static [u64] {
        if class == PEBBLE { &[1] } else { LISTS[self.numbers.below(LISTS.len())] }
    }

    /// Writes a random list, or the flag that says that the list is the last list of the class. Returns the
    /// list.
    fn list_or_same(&mut self, class: u64, may_be_empty: bool) -> &'static [u64] {
        if let Some(last) = self.lists[class as usize] {
            let is_same = self.numbers.below(3) > 0;
            self.writer.write_flag(is_same);
            if is_same {
                return last;
            }
        }
        if may_be_empty {
            // Not all properties follow.
            self.writer.write_flag(false);
        }
        let list = self.any_list(class);
        self.list(class, list, may_be_empty);
        self.lists[class as usize] = Some(list);
        list
    }

    fn values(&mut self, class: u64, handles: &[u64]) {
        for handle in handles {
            match handle {
                _ if class == PEBBLE => self.writer.write_bits(self.numbers.next() & 0xff, 8),
                1 => self.writer.write_bits(self.numbers.next() & 0xffff_ffff, 32),
                2 => {
                    let len = self.numbers.below(4) as u64;
                    self.writer.write_exp_golomb(len, 3);
                    (0..len).for_each(|_| self.writer.write_bits(u64::from(b'x'), 8));
                }
                // The optional number is missing, or is new.
                _ => self.writer.write_flag(false),
            }
        }
    }

    /// Writes the slots of a segment in ascending order, from `first` to `end`, and calls `entry` for each.
    fn slots(&mut self, first: u64, end: u64, mut entry: impl FnMut(&mut Self, u64) -> u64) {
        let (mut next, mut slot) = (0, first + self.numbers.below(6) as u64);
        loop {
            if next > 0 {
                self.writer.write_flag(true);
            }
            self.writer.write_exp_golomb(slot - next, 0);
            next = entry(self, slot);
            slot = next + self.numbers.below(3) as u64 * self.numbers.below(3) as u64;
            if slot >= end || self.is_one_in(12) {
                break;
            }
        }
        self.writer.write_flag(false);
    }

    fn updates(&mut self, first: u64, end: u64) {
        segment(0, &mut self.writer);
        self.lists = [None; 2];
        self.slots(first, end, |body, slot| {
            let class = body.class_in(slot);
            let list = body.list_or_same(class, false);
            body.values(class, list);
            slot + 1
        });
    }

    fn table(&mut self, first: u64, end: u64) {
        self.writer.write_flag(true);
        self.writer.write_bits(15 << 2, 6);
        let (bits, class) = (6 + self.numbers.below(2) as u32, self.class_in(first));
        self.writer.write_bits(u64::from(bits) - 1, 5);
        self.writer.write_below(class, 2);
        let common = self.any_list(class);
        self.list(class, common, false);
        let mut slots: Vec<u64> = (first..end).filter(|_| self.numbers.below(3) == 0).collect();
        for at in (1..slots.len()).rev() {
            slots.swap(at, self.numbers.below(at + 1));
        }
        if let Some(&again) = slots.first()
            && self.is_one_in(30)
        {
            slots.push(again);
        }
        for slot in slots {
            self.writer.write_flag(true);
            self.writer.write_bits(slot, bits);
            let is_common = self.numbers.below(3) > 0;
            self.writer.write_flag(is_common);
            let list = if is_common { common } else { self.any_list(class) };
            if !is_common {
                self.list(class, list, false);
            }
            self.values(class, list);
        }
        self.writer.write_flag(false);
    }

    fn openings(&mut self, first: u64, end: u64) {
        segment(1, &mut self.writer);
        self.lists = [None; 2];
        let mut last = None;
        self.slots(first, end, |body, slot| {
            let class = match slot {
                0..ACTORS => body.class_in(slot),
                _ if slot < ACTORS + PEBBLES => body.class_in(slot),
                _ => body.numbers.below(2) as u64,
            };
            let is_same = last.is_some_and(|(known, _)| known == class) && body.numbers.below(3) > 0;
            if last.is_some() {
                body.writer.write_flag(is_same);
            }
            let list = match last {
                Some((_, list)) if is_same => list,
                _ => {
                    let generation = u64::from(body.is_one_in(300));
                    body.writer.write_exp_golomb(generation, 2);
                    body.writer.write_below(class, 2);
                    let archetype = u64::from(body.is_one_in(500)) * 7;
                    body.writer.write_exp_golomb(archetype, 0);
                    // The client does not own the object, and is a simulated proxy.
                    body.writer.write_flag(false);
                    body.list_or_same(class, true)
                }
            };
            last = Some((class, list));
            let objects = 1 + body.numbers.below(5) as u64 * body.numbers.below(2) as u64;
            let objects = if list == [9] { 1 } else { objects.min(end.max(slot + 1) - slot) };
            run(objects, &mut body.writer);
            (0..objects).for_each(|_| body.values(class, list));
            slot + objects
        });
    }

    fn closings(&mut self, first: u64, end: u64) {
        segment(2, &mut self.writer);
        self.slots(first, end, |body, slot| {
            let reason = body.numbers.below(3) as u64;
            body.writer.write_bits(reason, 2);
            if reason == 1 {
                // Whether the client keeps the object out of sight.
                body.writer.write_flag(body.numbers.below(2) == 1);
            }
            // Few closings have a last state, because most of these are malformed.
            let has_last_state = body.is_one_in(30);
            body.writer.write_flag(has_last_state);
            if has_last_state {
                let bits = body.numbers.below(40);
                body.writer.write_exp_golomb(bits as u64, 6);
                (0..bits).for_each(|_| body.writer.write_flag(body.numbers.below(2) == 1));
            }
            slot + 1
        });
    }

    /// Writes a segment about slots from `first` to `end`. All of these slots have objects of one class, or
    /// none has an object.
    fn segment(&mut self, first: u64, end: u64) {
        match self.numbers.below(8) {
            0..=2 if first < ACTORS + PEBBLES => self.updates(first, end),
            3 | 4 if first < ACTORS + PEBBLES => self.table(first, end),
            5 => self.closings(first, end),
            _ => self.openings(first, end),
        }
    }
}

/// Returns the segments of a random body, each as bits, and whether an entry has the values of a class that
/// is not the class of its object. A client reads such values as values of the object's class, and they may
/// end only at the end of the packet.
fn segments(numbers: &mut Numbers) -> (Vec<BitWriter>, bool) {
    let parts =
        [(0, ACTORS), (ACTORS, ACTORS + 10), (ACTORS + 10, ACTORS + PEBBLES), (ACTORS + PEBBLES, SLOTS)];
    let (mut segments, mut has_other_class) = (Vec::new(), false);
    for (first, end) in parts {
        // Now and then two segments are about the same slots.
        for _ in 0..[0, 1, 1, 1, 1, 1, 1, 2][numbers.below(8)] {
            let writer = BitWriter::new();
            let mut body = Body { numbers, writer, lists: [None; 2], has_other_class: false };
            body.segment(first, end);
            has_other_class |= body.has_other_class;
            segments.push(body.writer);
        }
    }
    for at in (1..segments.len()).rev() {
        segments.swap(at, numbers.below(at + 1));
    }
    (segments, has_other_class)
}

/// Returns the packet with these segments.
fn packet(sequence: u16, segments: &mut [BitWriter]) -> Vec<u8> {
    state(sequence, SESSION, |writer| {
        segments.iter_mut().for_each(|segment| writer.append(segment.as_slice()));
        // The end of the body, and of the packet.
        writer.write_bits(0, 1);
    })
}

/// Returns the packet that creates the objects that random bodies are about.
fn world() -> Vec<u8> {
    state(0, SESSION, |writer| {
        segment(1, writer);
        writer.write_exp_golomb(0, 0);
        origin(0, ACTOR, 0, writer);
        super::claims::only(1, 14, true, writer);
        run(ACTORS, writer);
        (0..ACTORS).for_each(|score| writer.write_bits(score, 32));
        writer.write_flag(true);
        writer.write_exp_golomb(0, 0);
        writer.write_flag(false);
        origin(0, PEBBLE, 0, writer);
        super::claims::only(1, 1, true, writer);
        run(PEBBLES, writer);
        (0..PEBBLES).for_each(|weight| writer.write_bits(weight, 8));
        super::forge::end(writer);
    })
}

fn events(client: &mut Client) -> Vec<ClientEvent> {
    std::iter::from_fn(|| client.poll_event()).collect()
}

#[test]
fn bodies_of_random_segments_are_applied_like_their_segments_one_by_one_or_refused() {
    let mut numbers = Numbers(5);
    let world = [world()];
    let expected = shown(&client_of(false, &world));
    assert_eq!((expected.0.len() as u64, expected.1.len() as u64), (ACTORS, PEBBLES));
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let (mut segments, has_other_class) = segments(&mut numbers);
        let packet = packet(1, &mut segments);
        let mut results = Vec::new();
        for walks in [false, true] {
            let mut client = client_of(walks, &world);
            events(&mut client);
            let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
            let allowed = budget(packet.len()) + if result.is_ok() { worth(&client) } else { 0 };
            assert!(most <= allowed, "{most} bytes of {allowed} for {result:?} of {packet:?}");
            let events = if result.is_ok() { events(&mut client) } else { Vec::new() };
            results.push((result, shown(&client), events));
        }
        let (walked, copied) = (results.pop().expect("of one"), results.pop().expect("of the other"));
        assert_eq!(copied, walked, "{packet:?}");
        match copied {
            (Ok(()), ..) if has_other_class => {}
            (Ok(()), now, _) => {
                taken += 1;
                let mut client = client_of(false, &world);
                for (segment, sequence) in segments.chunks_mut(1).zip(1..) {
                    client.receive(Duration::ZERO, &self::packet(sequence, segment)).expect("a segment");
                }
                assert_eq!(now, shown(&client), "{packet:?}");
            }
            (Err(ReceiveError::Malformed(_)), now, _) => {
                refused += 1;
                assert_eq!(now, expected, "{packet:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(taken > 5_000 && refused > 2_000, "{taken} taken, {refused} refused");
}
