//! Sends the changes of a tick: encodes what connections share, and runs the passes of the connections that
//! have a turn.
//!
//! *Invariant:* each connection with a session has one pass in a tick, or its changes of the tick are
//! postponed.

use std::slice;
use std::time::Duration;

use repl_link::parts::{Peers, Secret, frame_bits};

use super::Server;
use super::broadcast::Broadcast;
use super::connection::Connection;
use super::passes::{Ends, PassInputs, Passes, PeerEntry, Turns};
use super::served::Served;
use super::work_limit::WorkLimit;
use super::world::World;
use crate::body::State;
use crate::session::classes::ClassList;
use crate::session::config::ServerConfig;
use crate::telemetry;

/// What the passes of a tick need.
struct Sending<'a> {
    world: &'a World,
    broadcast: &'a mut Broadcast,
    classes: &'a ClassList,
    config: &'a ServerConfig,
    passes: &'a Passes,
    now: Duration,
}

impl Server {
    /// Encodes the changes of this tick, and runs the passes of all connections that have a turn. With a
    /// `limit`, serves one connection after the other, as long as the limit allows it. Returns the
    /// connections that end in this tick.
    pub(super) fn send(&mut self, limit: Option<WorkLimit<'_>>) -> Ends {
        telemetry::span!(DEBUG, "send");
        let (now, secret) = (self.sessions.now(), self.sessions.secret());
        let Self { world, broadcast, classes, config, passes, served, sessions, shared_size, .. } = self;
        let (peers, most) = (&mut sessions.peers, config.connections_per_tick);
        if config.share {
            let shared_bytes = shared_size.bytes(peers, config.mtu_bytes);
            broadcast.build(world, classes, shared_bytes * 8 - frame_bits::<State>());
        }
        let mut sending = Sending { world, broadcast, classes, config, passes, now };
        match limit {
            None => {
                served.choose(peers, most, secret);
                sending.run(peers.as_mut_slice(), Turns::Served(served))
            }
            Some(limit) => sending.run_within(limit, peers, served, secret),
        }
    }
}

impl Sending<'_> {
    /// Runs the passes of some connections. Returns those that end in this tick.
    #[inline]
    fn run(&mut self, entries: &mut [PeerEntry], turns: Turns<'_>) -> Ends {
        if self.config.share {
            return self.passes.run(entries, self.inputs(turns));
        }
        let mut ends = Ends::new();
        for entry in entries {
            if entry.peer.handshake.is_connected() {
                let body_bits = entry.peer.connection.link.outbox.body_bits();
                self.broadcast.build(self.world, self.classes, body_bits);
            }
            ends.append(&mut self.passes.run(slice::from_mut(entry), self.inputs(turns)));
        }
        ends
    }

    /// Runs the passes of connections, one after the other, as long as `limit` allows it. Then postpones the
    /// changes of the other connections. Returns the connections that end in this tick.
    // Not inlined, because most ticks have no limit.
    #[inline(never)]
    fn run_within(
        &mut self,
        mut limit: WorkLimit<'_>,
        peers: &mut Peers<Connection>,
        served: &mut Served,
        secret: Secret,
    ) -> Ends {
        let mut ends = Ends::new();
        served.begin();
        while served.count() < self.config.connections_per_tick
            && limit.allows_connection()
            && let Some(id) = served.choose_next(peers, secret)
        {
            let entry = peers.entry_mut(id).map_or(&mut [][..], slice::from_mut);
            ends.append(&mut self.run(entry, Turns::Now));
        }
        served.end();
        ends.append(&mut self.run(peers.as_mut_slice(), Turns::Others(served)));
        ends.sort_unstable_by_key(|(id, _)| *id);
        ends
    }

    fn inputs<'i>(&'i self, turns: Turns<'i>) -> PassInputs<'i> {
        let Self { world, broadcast, classes, config, now, .. } = self;
        PassInputs { world, broadcast, classes, config, turns, now: *now }
    }
}
