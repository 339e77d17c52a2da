//! Reported: <https://github.com/naia-lib/naia/issues/67>, <https://github.com/lucaspoffo/renet/issues/123>,
//! <https://github.com/RevenantX/LiteNetLib/issues/180>, and
//! <https://github.com/MirrorNetworking/Mirror/issues/3352>.
//!
//! A value that is larger than a packet, or than a limit of the library, makes the sender loop for ever,
//! never arrives, arrives empty, or stops everything else. Users expect that it arrives, or an error that
//! names it, and that everything else continues.

use repl::prelude::*;

use crate::step_losing;
use crate::support::Room;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Page {
    #[replicated]
    text: String,
    #[replicated(max_len = 65_535)]
    long: String,
    #[replicated(max_len = 200_000)]
    bytes: Vec<u8>,
    #[replicated]
    list: Vec<u64>,
    #[replicated]
    rows: FastArray<u64>,
    #[replicated]
    small: u32,
}

#[rpcs]
impl Page {
    #[rpc(multicast, reliable)]
    fn reliable(#[replicated(max_len = 100_000)] bytes: Vec<u8>);
    #[rpc(multicast, unreliable)]
    fn unreliable(#[replicated(max_len = 100_000)] bytes: Vec<u8>);
}

#[derive(NetSerialize, Clone)]
struct Reliable(#[replicated(max_len = 100_000)] Vec<u8>);

#[derive(NetSerialize, Clone)]
struct Unreliable(#[replicated(max_len = 100_000)] Vec<u8>);

fn register(side: &mut impl Register) {
    side.register::<Page>().register_calls::<Page>();
    side.register_message::<Reliable>(Channel::Ordered).register_message::<Unreliable>(Channel::Unreliable);
}

/// Returns a room with a client that has a page.
fn room() -> (Room, ObjectRef<Page>) {
    room_with(ServerConfig::default())
}

fn room_with(config: ServerConfig) -> (Room, ObjectRef<Page>) {
    let mut room = Room::paced(config, register);
    register(&mut room.server);
    let page = room.server.spawn(Page::default());
    room.enter();
    room.settle();
    (room, page)
}

/// Returns the names of the properties that were refused since the last call.
fn refused(room: &mut Room) -> Vec<&'static str> {
    room.refused().into_iter().map(|(property, _)| property).collect()
}

/// Returns a text with this many bytes. Its characters have one, two and three bytes.
fn text(bytes: usize) -> String {
    let mut text = "é\0€".repeat(bytes / 6);
    text += &"x".repeat(bytes - text.len());
    text
}

#[test]
fn texts_up_to_their_limit_arrive_and_longer_ones_are_named() {
    let (mut room, page) = room();
    for (bytes, fits) in
        [(0, true), (4_095, true), (4_096, true), (4_097, false), (3, true), (100_000, false), (1, true)]
    {
        let before = room.client()[page].text.clone();
        room.server[page].text = text(bytes);
        room.server[page].small += 1;
        room.settle();
        let (copy, truth) = (&room.client()[page], &room.server[page]);
        assert_eq!(copy.small, truth.small, "{bytes}");
        assert_eq!(copy.text, if fits { truth.text.clone() } else { before }, "{bytes}");
        assert_eq!(refused(&mut room), if fits { vec![] } else { vec!["text"] }, "{bytes}");
    }
}

#[test]
fn large_values_arrive_in_spite_of_losses() {
    let (mut room, page) = room();
    room.server[page].long = "€".repeat(21_000);
    room.server[page].bytes = (0..60_000_u32).map(|at| (at * 7) as u8).collect();
    room.server[page].list = (0..2_048).collect();
    (0..2_000).for_each(|row| _ = room.server[page].rows.push(row << 20));
    for tick in 0..400 {
        room.server[page].small += 1;
        step_losing(&mut room, tick % 3 == 1, false);
    }
    room.settle();
    assert_eq!(room.client().get(page), room.server.get(page));
}

#[test]
fn values_that_are_too_large_for_their_object_or_list_are_named_and_hold_nothing_back() {
    let (mut room, page) = room_with(ServerConfig { max_object_bytes: 150_000, ..ServerConfig::default() });
    room.server[page].bytes = vec![9; 200_000];
    room.server[page].list = vec![5; 3_000];
    room.server[page].small = 8;
    room.settle();
    assert_eq!(room.client()[page].small, 8);
    let mut named = refused(&mut room);
    named.sort_unstable();
    assert_eq!(named, ["bytes", "list"]);
    room.server[page].bytes.truncate(10);
    room.server[page].list.truncate(10);
    room.settle();
    assert_eq!(room.client().get(page), room.server.get(page));
}

#[test]
fn messages_and_calls_of_any_size_arrive_or_return_an_error() {
    for bytes in [100, 1_100, 1_300, 5_000, 20_311, 40_693, 60_000, 65_000, 73_083, 90_000] {
        let (mut room, page) = room();
        let (id, data) = (room.guests[0].id, vec![7; bytes]);
        let sent = [
            room.server.connection(id).send(&Reliable(data.clone())).is_ok(),
            room.server.connection(id).send(&Unreliable(data.clone())).is_ok(),
            room.server.call(page).reliable(data.clone()).is_ok(),
            room.server.call(page).unreliable(data.clone()).is_ok(),
        ];
        room.server[page].small = 3;
        room.settle();
        let client = &mut room.guests[0].client;
        let mut arrived = [
            client.poll_message().is_some_and(|Reliable(received)| received == data),
            client.poll_message().is_some_and(|Unreliable(received)| received == data),
            false,
            false,
        ];
        while let Some(received) = client.poll_call::<Page>() {
            match received.call {
                PageCall::Reliable { bytes } => arrived[2] = bytes == data,
                PageCall::Unreliable { bytes } => arrived[3] = bytes == data,
            }
        }
        assert_eq!(arrived, sent, "{bytes}");
        assert!(sent == [true; 4] || bytes > 60_000, "{bytes}: {sent:?}");
        assert_eq!(client[page].small, 3);
    }
}
