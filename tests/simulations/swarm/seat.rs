//! A client of a run, with its links and the models that check it.
//!
//! *Invariant:* a seat lasts from the join of its client until the client leaves.

use std::collections::HashMap;
use std::time::Duration;

use repl::sim::{LinkId, Loss, Network};
use repl::{Client, ConnectionId};

use crate::follower::Follower;
use crate::patience::Watch;
use crate::talk::Talks;
use crate::whispers::Heard;
use crate::witness::Witness;

/// A client and its links.
pub(crate) struct Seat {
    pub(crate) client: Client,
    pub(crate) witness: Witness,
    pub(crate) follower: Follower,
    /// The tick in which the client joined.
    pub(crate) joined: u64,
    pub(crate) connection: ConnectionId,
    pub(crate) down: LinkId,
    pub(crate) up: LinkId,
    /// Whether the client receives nothing while the world changes.
    pub(crate) is_deaf: bool,
    pub(crate) talks: Talks,
    pub(crate) heard_calls: Heard,
    /// The tick in which the client made each packet, by the hash of the packet.
    pub(crate) made_at: HashMap<u64, u64>,
    /// The tick in which the client made the newest packet that the server has received.
    pub(crate) heard: u64,
    /// The clock that runs after the last change of the world.
    pub(crate) watch: Watch,
    /// The round trip that the server had measured when the watch began.
    pub(crate) measured: Duration,
    /// Whether an ack of the client has arrived.
    pub(crate) has_acked: bool,
    /// When the client last received a packet.
    pub(crate) last_received: Duration,
}

impl Seat {
    /// Returns how many packets were lost so far on those links of the client that lose packets in bursts.
    pub(crate) fn taken_by_bursts(&self, network: &Network) -> u64 {
        let links = [self.down, self.up].into_iter();
        let bursty =
            links.filter(|link| matches!(network.conditions(*link).loss, Loss::GilbertElliott { .. }));
        bursty.map(|link| network.stats(link).lost).sum()
    }
}
