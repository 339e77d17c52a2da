//! Tens of thousands of objects that are removed at the same time, over links that lose the packets with the
//! closings (R17).
//!
//! *Invariant:* the caller runs all work of the server, so it can be measured without the work of the client.

use repl::prelude::*;

use crate::support::{Packets, Room, TICK, collect};

#[derive(Default, Replicated)]
pub(crate) struct Thing {
    #[replicated]
    number: u32,
}

/// Why the client must remove the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// The objects are destroyed.
    Despawn,
    /// The objects are hidden from the client.
    Hide,
}

/// The packets that the link loses in the first second.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// Nothing is lost.
    Good,
    /// One packet is lost.
    LosesOne,
    /// Every third packet is lost.
    LosesMany,
    /// All acks of the first second arrive at its end.
    HoldsAcks,
    /// No packet arrives in the first second.
    Dead,
}

/// Removes all `count` objects at the same time, and runs until the client has removed them all and the
/// server knows it. `serve` passes the acks to the server and ticks it. Returns the bytes that were sent.
///
/// # Panics
/// Panics if any object is left after 1,000 ticks.
pub(crate) fn end_all(
    count: usize,
    end: End,
    link: Link,
    mut serve: impl FnMut(&mut Room, &Packets),
) -> usize {
    let spawn_all =
        |server: &mut Server| (0..count).map(|_| server.spawn(Thing::default())).collect::<Vec<_>>();
    let register = |client: &mut Client| {
        client.register::<Thing>();
    };
    let (mut room, all) = Room::furnished(ServerConfig::default(), register, 1, spawn_all);
    let id = room.guests[0].id;
    for &object in &all {
        match end {
            End::Despawn => room.server.despawn(object),
            End::Hide => _ = room.server.object(object).set_visible(id, false),
        }
    }
    let (mut held, mut packets, mut bytes) = (Packets::new(), 0, 0);
    for tick in 0..1_000 {
        let is_first_second = tick < 62;
        let replies = room.replies(0);
        let acks = match link {
            Link::HoldsAcks if is_first_second => {
                held.extend(replies);
                Packets::new()
            }
            _ => std::mem::take(&mut held).into_iter().chain(replies).collect(),
        };
        serve(&mut room, &acks);
        room.now += TICK;
        for packet in collect(&mut room.server, id) {
            packets += 1;
            bytes += packet.len();
            let arrives = match link {
                Link::Good | Link::HoldsAcks => true,
                Link::LosesOne => packets != 1,
                Link::LosesMany => packets % 3 > 0,
                Link::Dead => !is_first_second,
            };
            if arrives {
                room.deliver(0, &[packet]);
            }
        }
        if !is_first_second && room.client().objects::<Thing>().next().is_none() && room.in_flight(0) == 0 {
            return bytes;
        }
    }
    panic!("{} objects are left", room.client().objects::<Thing>().count());
}
