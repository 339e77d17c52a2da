//! Messages to all clients of a server, and to the clients in a group.
//!
//! *Invariant:* if one connection has no room for a message, the message reaches all other clients.

use std::cell::Cell;
use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, Group, MessageOptions, SendError};

use crate::support::Room;

const RED: Group = Group(1);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat(#[replicated(with = counted)] u32, #[replicated(max_len = 2000)] String);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Spark(u32);

/// Numbers that count how many times they were encoded.
mod counted {
    use super::Cell;
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) const NAME: &str = "counted";

    thread_local! {
        /// How often this thread has encoded a number. Each test runs in a thread of its own.
        pub(super) static WRITTEN: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn write(value: &u32, writer: &mut BitWriter) -> Result<(), WriteError> {
        if *value == u32::MAX {
            return Err(WriteError::OutOfRange);
        }
        WRITTEN.set(WRITTEN.get() + 1);
        writer.write_bits((*value).into(), 32);
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u32, ReadError> {
        Ok(reader.read_bits(32)? as u32)
    }
}

const OPTIONS: MessageOptions = MessageOptions { max_bytes: 1_000, ..MessageOptions::DEFAULT };

fn room(guests: usize) -> Room {
    let register = |client: &mut Client| {
        client.register_message_with::<Chat>(Channel::Ordered, OPTIONS);
        client.register_message::<Spark>(Channel::Unreliable);
    };
    let register_on_server = |server: &mut Server| {
        server.register_message_with::<Chat>(Channel::Ordered, OPTIONS);
        server.register_message::<Spark>(Channel::Unreliable);
    };
    Room::furnished(ServerConfig::default(), register, guests, register_on_server).0
}

fn chat(number: u32) -> Chat {
    Chat(number, "to all".to_owned())
}

/// Returns the numbers of the chats that each guest has received.
fn received(room: &mut Room) -> Vec<Vec<u32>> {
    let numbers =
        |client: &mut Client| std::iter::from_fn(|| Some(client.poll_message::<Chat>()?.0)).collect();
    room.guests.iter_mut().map(|guest| numbers(&mut guest.client)).collect()
}

#[test]
fn a_message_to_many_reaches_each_of_them_and_nobody_else_and_is_encoded_once() {
    let mut room = room(4);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    room.server.connection(ids[1]).join_group(RED);
    room.server.connection(ids[3]).join_group(RED);
    room.server.connection(ids[2]).join_group(Group(2));
    let unfinished = room.server.connect(Duration::ZERO);
    room.server.connection(unfinished).join_group(RED);
    let before = counted::WRITTEN.get();
    assert_eq!(room.server.send_to_all(&chat(1)), Ok(vec![]));
    assert_eq!(room.server.send_to_group(RED, &chat(2)), Ok(vec![]));
    assert_eq!(room.server.send_to_group(Group(3), &chat(3)), Ok(vec![]));
    assert_eq!(counted::WRITTEN.get() - before, 3);
    room.settle();
    assert_eq!(received(&mut room), [vec![1], vec![1, 2], vec![1], vec![1, 2]]);
    room.server.connection(ids[1]).leave_group(RED);
    room.server.connection(ids[3]).disconnect();
    assert_eq!(room.server.send_to_group(RED, &chat(4)), Ok(vec![]));
    assert_eq!(room.server.send_to_all(&chat(5)), Ok(vec![]));
    (0..5).for_each(|_| _ = room.step());
    assert_eq!(received(&mut room), [vec![5], vec![5], vec![5], vec![]]);
}

#[test]
fn w14_clients_without_room_for_a_message_to_all_are_named_and_all_others_get_it() {
    let mut room = room(3);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    let spark = Spark(0);
    (0..1_024).for_each(|number| room.server.connection(ids[1]).send(&Chat(number, String::new())).unwrap());
    assert_eq!(room.server.send_to_all(&chat(2_000)), Ok(vec![ids[1]]));
    room.server.connection(ids[0]).join_group(RED);
    assert_eq!(room.server.send_to_group(RED, &chat(2_001)), Ok(vec![]));
    (0..3_000)
        .for_each(|_| assert_eq!(room.server.send_to_all(&spark), Ok(vec![]), "the oldest are dropped"));
    room.settle();
    let received = received(&mut room);
    assert_eq!((&received[0], &received[2]), (&vec![2_000, 2_001], &vec![2_000]));
    assert!(received[1].iter().copied().eq(0..1_024));
    assert_eq!(room.server.send_to_all(&chat(7)), Ok(vec![]));
}

#[test]
fn a_message_to_all_that_cannot_be_sent_is_queued_for_nobody() {
    let mut room = room(2);
    let large = room.server.send_to_all(&Chat(1, "x".repeat(1_500)));
    assert!(matches!(large, Err(SendError::TooLarge { max_bits: 8_000, .. })), "{large:?}");
    let refused = room.server.send_to_all(&chat(u32::MAX));
    assert!(matches!(refused, Err(SendError::Refused(_))), "{refused:?}");
    room.settle();
    assert_eq!(received(&mut room), [vec![], vec![]]);
}
