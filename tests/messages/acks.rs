//! How the server acknowledges the packets in which messages arrive.

use repl::Channel;
use repl::prelude::*;

use crate::support::{Room, size};

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Score(u32);

fn room() -> Room {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register_message::<Score>(Channel::Ordered);
    });
    room.server.register_message::<Score>(Channel::Ordered);
    room.enter();
    room.settle();
    room
}

#[test]
fn r07_the_server_acks_a_duplicate_again_and_does_not_deliver_it() {
    let mut room = room();
    room.guests[0].client.send(&Score(1)).unwrap();
    let packets = room.replies(0);
    room.hear(0, &packets);
    assert!(!room.tick_one().is_empty(), "this ack is lost");
    assert!(room.tick_one().is_empty());
    room.hear(0, &packets);
    let acks = room.tick_one();
    assert_eq!(acks.len(), 1);
    room.deliver(0, &acks);
    assert_eq!(room.client().connection_info().stats().packets_in_flight, 0);
    assert_eq!(room.server.poll_message::<Score>().map(|(_, score)| score), Some(Score(1)));
    assert_eq!(room.server.poll_message::<Score>(), None);
}

#[test]
fn r07_the_server_does_not_ack_again_what_the_client_knows_to_have_arrived() {
    let mut room = room();
    let mut largest = 0;
    for number in 0..1_000 {
        room.guests[0].client.send(&Score(number)).unwrap();
        let packets = room.replies(0);
        if number % 3 > 0 {
            room.hear(0, &packets);
        }
        let acks = room.tick_one();
        room.deliver(0, &acks);
        largest = largest.max(size(&acks));
    }
    // The acks are ranges of two packets, and each range occupies five bits. In every 32nd packet the client
    // tells for which older packets it needs no ack any more. So the server acks about thirty ranges at a
    // time, and not all three hundred.
    assert!(largest <= 60, "{largest} bytes of acks");
}
