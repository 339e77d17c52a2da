//! Messages of more than 64 KiB: they arrive whole in both directions, messages of other types do not wait
//! for them, and both sides see how much has been transferred.
//!
//! *Invariant:* no packet is lost, unless a test drops it.

use repl::prelude::*;
use repl::{MessageProgress, Progress, SendError};

use crate::support::Room;

const LEVELS: MessageOptions = MessageOptions { max_bytes: 1 << 20, ..MessageOptions::DEFAULT };

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Level(u32, #[replicated(max_len = 2097152)] Vec<u8>);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Avatar(#[replicated(max_len = 2097152)] Vec<u8>);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat(u32);

fn register(side: &mut impl Register) {
    side.register_message_with::<Level>(Channel::Ordered, LEVELS);
    side.register_message_with::<Avatar>(Channel::Unordered, LEVELS);
    side.register_message::<Chat>(Channel::Ordered);
}

fn room(guests: usize) -> Room {
    limited(guests, usize::MAX)
}

fn limited(guests: usize, max_bytes_per_tick: usize) -> Room {
    let config = ServerConfig { max_bytes_per_tick, ..ServerConfig::default() };
    Room::furnished(config, register, guests, register).0
}

fn level(number: u32, bytes: usize) -> Level {
    Level(number, (0..bytes).map(|at| (at * at / 3) as u8 ^ number as u8).collect())
}

fn sending(room: &Room) -> MessageProgress {
    room.server.connection_info(room.guests[0].id).message_progress::<Level>()
}

fn receiving(room: &Room) -> MessageProgress {
    room.client().connection_info().message_progress::<Level>()
}

#[test]
fn a_level_arrives_as_it_was_sent_in_both_directions() {
    let mut room = room(2);
    let (down, up) = (level(1, 1_000_000), level(2, 900_000));
    room.server.send_to_all(&down).unwrap();
    room.guests[1].client.send(&up).unwrap();
    room.settle();
    let id = room.guests[1].id;
    assert_eq!(room.server.poll_message(), Some((id, up)));
    for guest in &mut room.guests {
        assert_eq!(guest.client.poll_message::<Level>().as_ref(), Some(&down));
        assert_eq!(guest.client.poll_message::<Level>(), None);
    }
}

#[test]
fn both_sides_see_how_much_of_a_level_has_been_transferred() {
    let mut room = limited(1, 30_000);
    assert_eq!((sending(&room), receiving(&room)), (MessageProgress::default(), MessageProgress::default()));
    room.server.send_to_all(&level(1, 1_000_000)).unwrap();
    let total_bytes = sending(&room).sending.expect("a level").total_bytes;
    assert!((1_000_004..1_000_010).contains(&total_bytes), "{total_bytes}");
    assert_eq!(sending(&room).sending, Some(Progress { done_bytes: 0, total_bytes }));
    let (mut acked, mut arrived, mut steps) = (0, 0, 0);
    while let Some(progress) = sending(&room).sending {
        assert!(progress.done_bytes >= acked && progress.total_bytes == total_bytes);
        acked = progress.done_bytes;
        // The packets of every third tick are lost.
        let packets = room.tick_one();
        if steps % 3 > 0 {
            room.deliver(0, &packets);
        }
        if let Some(progress) = receiving(&room).receiving {
            assert!(progress.done_bytes >= arrived.max(acked) && progress.total_bytes == total_bytes);
            arrived = progress.done_bytes;
        }
        room.acknowledge();
        steps += 1;
        assert!(steps < 1_000, "{acked} of {total_bytes} bytes");
    }
    assert!(arrived > total_bytes / 2 && acked > total_bytes / 2, "{arrived} and {acked}");
    assert_eq!((sending(&room), receiving(&room)), (MessageProgress::default(), MessageProgress::default()));
    assert_eq!(room.guests[0].client.poll_message(), Some(level(1, 1_000_000)));
}

#[test]
fn later_messages_of_an_ordered_type_wait_for_a_level_and_those_of_others_do_not() {
    let mut room = room(1);
    let id = room.guests[0].id;
    room.server.connection(id).send(&level(0, 1_000_000)).unwrap();
    for number in 1..100 {
        room.server.connection(id).send(&level(number, 900)).unwrap();
        room.server.connection(id).send(&Chat(number)).unwrap();
    }
    room.step();
    let client = &mut room.guests[0].client;
    let chats: Vec<_> = std::iter::from_fn(|| client.poll_message::<Chat>()).collect();
    assert_eq!(chats, (1..100).map(Chat).collect::<Vec<_>>());
    let mut ticks = 0;
    while room.guests[0].client.poll_message::<Level>().map(|Level(number, _)| number) != Some(0) {
        room.step();
        ticks += 1;
        assert!(ticks < 200);
    }
    for number in 1..100 {
        assert_eq!(room.guests[0].client.poll_message(), Some(level(number, 900)), "they came with it");
    }
}

#[test]
fn w14_the_levels_of_a_type_that_wait_have_together_at_most_what_the_type_allows() {
    let mut room = room(1);
    let id = room.guests[0].id;
    room.server.connection(id).send(&level(0, 600_000)).unwrap();
    room.server.connection(id).send(&level(1, 400_000)).unwrap();
    assert_eq!(room.server.connection(id).send(&level(2, 70_000)), Err(SendError::Full));
    // Each type has its own limit, and smaller messages do not count.
    room.server.connection(id).send(&Avatar(vec![1; 1_000_000])).unwrap();
    room.server.connection(id).send(&level(2, 50_000)).unwrap();
    assert!(matches!(room.server.connection(id).send(&level(3, 1 << 20)), Err(SendError::TooLarge { .. })));
    room.settle();
    let client = &mut room.guests[0].client;
    let levels: Vec<_> = std::iter::from_fn(|| client.poll_message::<Level>()).collect();
    assert_eq!(levels, [level(0, 600_000), level(1, 400_000), level(2, 50_000)]);
    assert_eq!(client.poll_message(), Some(Avatar(vec![1; 1_000_000])));
    room.server.connection(id).send(&level(2, 70_000)).unwrap();
}

#[test]
#[should_panic = "`max_bytes` of a channel that is sequenced is at most 65536, but 65537 was asked for: larger messages need \
                  a channel that is ordered or unordered"]
fn levels_need_a_reliable_channel() {
    let options = MessageOptions { max_bytes: 65_537, ..MessageOptions::DEFAULT };
    Server::new(ServerConfig::default())
        .register_message_with::<Chat>(Channel::Sequenced { copies: 1 }, options);
}

#[test]
#[should_panic = "`max_bytes` is from 1 to 16777216, but 16777217 was asked for"]
fn levels_have_16_mib_at_most() {
    let options = MessageOptions { max_bytes: (16 << 20) + 1, ..MessageOptions::DEFAULT };
    Client::new(ClientConfig::default(), Session::for_tests(1))
        .register_message_with::<Chat>(Channel::Ordered, options);
}
