//! Buffers that are too small for the packets that arrive: both sides report that packets are truncated.
//!
//! *Invariant:* a side that receives one large packet intact reports nothing.

use repl::prelude::*;

use crate::support::{Room, TICK, collect};

#[derive(Replicated, Default)]
struct Sign {
    #[replicated]
    text: String,
}

#[derive(NetSerialize, Clone, Default)]
struct Letter(String);

/// The sizes of the buffers with which the two sides receive, in bytes.
struct Buffers {
    server: usize,
    client: usize,
}

/// Runs 20 s in which both sides send many objects and messages. Returns what the server and the client
/// report about truncated packets.
fn told(buffers: &Buffers) -> (Vec<usize>, Vec<usize>) {
    let register = |client: &mut Client| {
        client.register::<Sign>().register_message::<Letter>(Channel::Ordered);
    };
    let mut room = Room::paced(ServerConfig::default(), register);
    room.server.register_message::<Letter>(Channel::Ordered);
    (0..60).for_each(|_| _ = room.server.spawn(Sign { text: "a".repeat(90) }));
    let id = room.enter();
    let (mut of_server, mut of_client, mut sent) = (Vec::new(), Vec::new(), 0);
    for _ in 0..1_250 {
        let client = &mut room.guests[0].client;
        while sent < 300 && client.send(&Letter("a".repeat(90))).is_ok() {
            sent += 1;
        }
        for packet in room.replies(0) {
            room.server.receive(id, room.now, &packet[..packet.len().min(buffers.server)]);
        }
        room.server.tick(room.now);
        for packet in collect(&mut room.server, id) {
            let bytes = &packet[..packet.len().min(buffers.client)];
            room.guests[0].client.receive(room.now, bytes).ok();
        }
        room.wait(TICK);
        while let Some(event) = room.server.poll_event() {
            of_server.extend(
                if let ServerEvent::PacketsTruncated { arrived_bytes, mtu_bytes: 1_200 } = event {
                    Some(arrived_bytes)
                } else {
                    None
                },
            );
        }
        while let Some(event) = room.guests[0].client.poll_event() {
            of_client.extend(
                if let ClientEvent::PacketsTruncated { arrived_bytes, mtu_bytes: 1_200 } = event {
                    Some(arrived_bytes)
                } else {
                    None
                },
            );
        }
        while room.server.poll_message::<Letter>().is_some() {}
    }
    assert!(room.client().is_connected() && room.client().objects::<Sign>().count() == 60 && sent == 300);
    (of_server, of_client)
}

#[test]
fn a_client_whose_buffer_is_too_small_is_told_so() {
    assert_eq!(told(&Buffers { server: 1_500, client: 1_024 }), (vec![], vec![1_024]));
    assert_eq!(told(&Buffers { server: 1_200, client: 600 }), (vec![], vec![600]));
}

#[test]
fn a_server_whose_buffer_is_too_small_is_told_so() {
    assert_eq!(told(&Buffers { server: 1_024, client: 1_500 }), (vec![1_024], vec![]));
}

#[test]
fn sides_whose_buffers_are_large_enough_are_told_nothing() {
    assert_eq!(told(&Buffers { server: 1_200, client: 1_200 }), (vec![], vec![]));
}
