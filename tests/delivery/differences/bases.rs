//! The earlier values to which differences are made: which are stored, for how long, and for whom.

use std::cell::Cell;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

use super::page;
use crate::support::{Room, property, size};

thread_local! {
    /// How many differences of logs were written.
    static WRITTEN: Cell<u32> = const { Cell::new(0) };
}

/// A log to which lines are added.
#[derive(Replicated, Default)]
struct Log {
    #[replicated(delta = lines, condition = Custom)]
    lines: String,
}

/// Differences of texts that only grow.
mod lines {
    use super::{BitReader, BitWriter, ReadError, ReferenceMap, WRITTEN, WriteError};

    pub(super) const NAME: &str = "lines";
    pub(super) type State = String;

    pub(super) fn write(base: &str, value: &str, writer: &mut BitWriter) -> Result<(), WriteError> {
        WRITTEN.set(WRITTEN.get() + 1);
        let new = value.strip_prefix(base).ok_or(WriteError::Other("a text that does not grow"))?;
        repl::NetSerialize::write(&new.to_owned(), writer)
    }

    pub(super) fn read(
        base: &str,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<String, ReadError> {
        let new: String = repl::NetSerialize::read(reader, references)?;
        Ok(format!("{base}{new}"))
    }
}

fn logs(guests: usize) -> (Room, ObjectRef<Log>) {
    Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Log>(),
        guests,
        |server| server.spawn(Log { lines: "begun\n".repeat(100) }),
    )
}

#[test]
fn s229_a_difference_is_made_once_for_all_clients_with_the_same_base() {
    let (mut room, log) = logs(32);
    for round in 0..3 {
        WRITTEN.set(0);
        room.server[log].lines += "one more\n";
        room.settle();
        assert_eq!(WRITTEN.get(), 1, "round {round}");
        for guest in &room.guests {
            assert_eq!(guest.client[log].lines, room.server[log].lines);
        }
    }
}

#[test]
fn s225_a_difference_that_is_longer_than_the_value_is_not_sent() {
    let (mut room, page) = page(1);
    room.server[page].text = "x".into();
    room.settle();
    room.server[page].text = "entirely different".into();
    let packets = room.tick_one();
    assert!(size(&packets) < 50, "{} bytes", size(&packets));
    room.deliver(0, &packets);
    room.acknowledge();
    room.settle();
    assert_eq!(room.client()[page].text, "entirely different");
    // What cannot be written as a difference is sent whole.
    let (mut room, log) = logs(1);
    room.server[log].lines.truncate(50);
    room.settle();
    assert_eq!(room.client()[log].lines, room.server[log].lines);
}

#[test]
fn s226_earlier_values_are_stored_only_while_a_client_needs_them() {
    let (mut room, page) = page(2);
    let stored = |room: &Room| room.server.memory().base_bytes;
    let at_rest = stored(&room);
    assert!(at_rest < 1_000, "{at_rest} bytes without earlier values");
    room.server[page].text.push('!');
    room.tick();
    assert!(stored(&room) > at_rest + 3_600, "the clients have the value from before");
    room.settle();
    room.tick();
    assert_eq!(stored(&room), at_rest);
    room.server[page].text.push('!');
    room.tick();
    for guest in 0..2 {
        let id = room.guests[guest].id;
        room.server.connection(id).disconnect();
    }
    room.server[page].text.push('!');
    room.tick();
    assert_eq!(stored(&room), at_rest);
    room.server.despawn(page);
    room.tick();
    assert_eq!(stored(&room), 0);
}

#[test]
fn s226_s229_who_hears_nothing_holds_nobody_back_and_no_memory_without_bounds() {
    let (mut room, page) = page(2);
    let mut largest = 0;
    for tick in 0..500 {
        let at = tick * 7 % 3_000;
        room.server[page].text.replace_range(at..=at, if tick % 2 == 0 { "!" } else { "?" });
        let packets = room.tick();
        assert!(size(&packets[0]) < 50, "tick {tick}: {} bytes", size(&packets[0]));
        // The server hears both clients, but all packets to the second one are lost.
        room.deliver(0, &packets[0]);
        room.acknowledge();
        largest = largest.max(room.server.memory().base_bytes);
    }
    assert!(largest < 33 * 3_800, "{largest} bytes");
    room.settle();
    for guest in &room.guests {
        assert_eq!(guest.client[page].text, room.server[page].text);
    }
}

#[test]
fn s225_a_base_is_not_confused_with_a_value_of_the_same_revision_in_packets() {
    let (mut room, log) = logs(1);
    let id = room.guests[0].id;
    let lines = property::<Log>("lines");
    _ = room.server.object(log).set_custom_active_for(id, lines, false);
    room.settle();
    let kept = room.client()[log].lines.clone();
    for change in 1..1_u32 << 16 {
        room.server[log].lines = format!("{change} ").repeat(20);
        room.server.tick(room.now);
    }
    // The client takes this value for one with the revision of the value that it keeps, and its ack is lost.
    room.server[log].lines = format!("{kept}on");
    _ = room.server.object(log).set_custom_active_for(id, lines, true);
    let packets = room.tick_one();
    room.deliver(0, &packets);
    room.replies(0);
    room.lose_until_noticed(0);
    for _ in 0..3 {
        room.server[log].lines += "and on";
        room.settle();
        assert_eq!(room.client()[log].lines, room.server[log].lines);
    }
}

#[test]
fn s226_a_client_that_comes_later_gets_the_whole_value() {
    let (mut room, page) = page(1);
    room.server[page].text.push('!');
    room.settle();
    room.enter();
    room.server[page].text.push('?');
    room.settle();
    room.server[page].text.push('.');
    room.settle();
    assert_eq!(room.guests[1].client[page].text, room.server[page].text);
}

#[test]
fn s226_objects_that_were_removed_before_their_first_tick_leave_nothing() {
    let (mut room, page) = page(1);
    let at_rest = room.server.memory().base_bytes;
    let pages: Vec<_> = (0..100).map(|_| room.server.spawn(super::Page::default())).collect();
    pages.into_iter().for_each(|page| room.server.despawn(page));
    room.settle();
    assert_eq!(room.server.memory().base_bytes, at_rest);
    room.server.despawn(page);
    room.settle();
    assert_eq!(room.server.memory().base_bytes, 0);
}

thread_local! {
    /// Whether moods cannot be written.
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Mood(String);

impl NetSerialize for Mood {
    const WIRE_NAME: &'static str = "mood";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if REFUSES.get() { Err(WriteError::Other("not now")) } else { self.0.write(writer) }
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        NetSerialize::read(reader, references).map(Self)
    }
}

/// Differences of moods that only grow.
mod moods {
    use super::{BitReader, BitWriter, Mood, ReadError, ReferenceMap, WriteError, lines};

    pub(super) const NAME: &str = "moods";
    pub(super) type State = Mood;

    pub(super) fn write(base: &Mood, value: &Mood, writer: &mut BitWriter) -> Result<(), WriteError> {
        lines::write(&base.0, &value.0, writer)
    }

    pub(super) fn read(
        base: &Mood,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Mood, ReadError> {
        lines::read(&base.0, reader, references).map(Mood)
    }
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Person {
    #[replicated(delta = moods)]
    mood: Mood,
    age: u32,
}

#[test]
fn r23_a_value_that_was_refused_while_it_was_sent_is_no_base() {
    let (mut room, person) = Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Person>(),
        1,
        |server| server.spawn(Person::default()),
    );
    let id = room.guests[0].id;
    room.server.connection(id).pause();
    (room.server[person].mood.0, room.server[person].age) = ("sad, ".repeat(50), 1);
    room.tick();
    // The value was accepted when it was compared. Now the packet contains only the other property.
    room.server.connection(id).resume();
    REFUSES.set(true);
    let packets = room.tick_one();
    REFUSES.set(false);
    room.deliver(0, &packets);
    assert_eq!((room.client()[person].age, &*room.client()[person].mood.0), (1, ""));
    room.acknowledge();
    room.server[person].mood.0 += "no longer";
    room.settle();
    assert_eq!(room.client()[person].mood, room.server[person].mood);
}

/// Delivers everything to the client for some time, but nothing from the client to the server, so that the
/// server sends a value again and again.
fn without_acks(room: &mut Room) {
    for _ in 0..120 {
        let packets = room.tick_one();
        room.deliver(0, &packets);
        room.replies(0);
    }
}

#[test]
fn r23_a_client_keeps_its_base_while_all_acks_are_lost() {
    let (mut room, page) = page(1);
    for letter in ["a", "b"] {
        room.server[page].text.replace_range(7..8, letter);
        room.settle();
    }
    for letter in ["c", "d", "e", "f"] {
        room.server[page].text.replace_range(7..8, letter);
        without_acks(&mut room);
        assert_eq!(room.client()[page].text, room.server[page].text);
    }
    room.settle();
    assert_eq!(room.client()[page].text, room.server[page].text);
}

#[test]
fn r23_no_difference_is_made_to_a_value_from_before_a_whole_one() {
    let (mut room, page) = page(1);
    for letter in ["a", "b"] {
        room.server[page].text.replace_range(7..8, letter);
        room.settle();
    }
    let known = room.server[page].text.clone();
    for letter in ["c", "d", "e"] {
        // Shorter than any difference.
        room.server[page].text = letter.into();
        without_acks(&mut room);
        assert_eq!(room.client()[page].text, letter);
    }
    // The client has kept the last values that were sent whole, and no longer this one.
    room.server[page].text = known + "!";
    room.settle();
    assert_eq!(room.client()[page].text, room.server[page].text);
}

/// Returns a text that has little in common with the same text for another number.
fn text_of(number: usize) -> String {
    (0..600).map(|at| char::from(b'a' + (at * at * (2 * number + 1) / 5 % 26) as u8)).collect()
}

/// Sets the text of the page and sends it to one of the guests, which are all paused. Returns the size of the
/// packets.
fn send_text(room: &mut Room, page: ObjectRef<super::Page>, guest: usize, text: String) -> usize {
    let id = room.guests[guest].id;
    room.server[page].text = text;
    room.server.connection(id).resume();
    let packets = room.tick();
    room.deliver(guest, &packets[guest]);
    assert_eq!(room.guests[guest].client[page].text, room.server[page].text);
    let replies = room.replies(guest);
    room.hear(guest, &replies);
    room.server.connection(id).pause();
    size(&packets[guest])
}

#[test]
fn s226_the_oldest_values_are_dropped_first() {
    let (mut room, page) = page(40);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    ids.into_iter().for_each(|id| _ = room.server.connection(id).pause());
    for guest in 0..40 {
        let bytes = send_text(&mut room, page, guest, text_of(guest));
        assert!(bytes > 500, "guest {guest}: {bytes} bytes for an entirely different text");
    }
    for (guest, is_stored) in [(38, true), (14, true), (2, false)] {
        let bytes = send_text(&mut room, page, guest, text_of(guest) + ".");
        assert_eq!(bytes < 60, is_stored, "guest {guest}: {bytes} bytes");
    }
}
