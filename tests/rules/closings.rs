//! R17 with tens of thousands of ends outstanding: what losses and late acks cost the server.
//!
//! *Invariant:* the time of the server alone counts, not that of clients.

use std::time::{Duration, Instant};

use repl::prelude::*;

use super::support::{Packets, Room, TICK, collect};
use super::{Thing, thing, things};

/// What takes the objects from the client.
#[derive(Clone, Copy, Debug)]
enum End {
    Despawn,
    Hide,
}

/// What the link does for the first second.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// One packet is lost.
    LosesOne,
    /// Every third packet is lost.
    LosesMany,
    /// All acks of the first second come at its end.
    HoldsAcks,
    /// No packet arrives in the first second.
    Dead,
}

/// The time that the server took: in its longest tick with what arrived before it, and in all.
#[derive(Clone, Copy, Debug)]
struct Cost {
    longest: Duration,
    all: Duration,
    /// Bytes sent meanwhile.
    bytes: usize,
}

/// Ends all of `count` objects at once, and measures until the client has lost them all.
fn cost(count: usize, end: End, link: Link) -> Cost {
    let spawn_all = |server: &mut Server| (0..count).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(ServerConfig::default(), things, 1, spawn_all);
    let id = room.guests[0].id;
    for &object in &all {
        match end {
            End::Despawn => room.server.despawn(object),
            End::Hide => room.server.set_visible(id, object, false),
        }
    }
    let mut cost = Cost { longest: Duration::ZERO, all: Duration::ZERO, bytes: 0 };
    let (mut held, mut packets) = (Packets::new(), 0);
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
        let start = Instant::now();
        room.hear(0, &acks);
        room.server.tick(room.now);
        let time = start.elapsed();
        cost.longest = cost.longest.max(time);
        cost.all += time;
        room.now += TICK;
        for packet in collect(&mut room.server, id) {
            packets += 1;
            cost.bytes += packet.len();
            let arrives = match link {
                Link::LosesOne => packets != 1,
                Link::LosesMany => packets % 3 > 0,
                Link::HoldsAcks => true,
                Link::Dead => !is_first_second,
            };
            if arrives {
                room.deliver(0, &[packet]);
            }
        }
        if !is_first_second && room.client().objects::<Thing>().next().is_none() && room.in_flight(0) == 0 {
            return cost;
        }
    }
    panic!("{} objects are left", room.client().objects::<Thing>().count());
}

#[test]
fn r17_losses_and_late_acks_of_ends_cost_what_was_lost_whatever_is_outstanding() {
    for end in [End::Despawn, End::Hide] {
        for link in [Link::LosesOne, Link::LosesMany, Link::HoldsAcks, Link::Dead] {
            // Of two runs the shorter: the other may have been interrupted.
            let cost = |_| cost(60_000, end, link);
            let Some(least) = (0..2).map(cost).min_by_key(|cost| cost.all) else { unreachable!() };
            println!("{end:?} {link:?}: {least:?}");
            // An end takes about a byte, and much less than a microsecond. Were each loss set off against all that is outstanding, it
            // would be 20 to 100 microseconds.
            let most = Duration::from_micros(4) * least.bytes as u32;
            assert!(least.all < most, "{end:?} {link:?}: {least:?}, {most:?} may be");
        }
    }
}
