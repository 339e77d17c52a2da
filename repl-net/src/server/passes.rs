//! Runs the passes of all connections of a tick, one after the other or on several threads. A pass fills the
//! packets of one connection.
//!
//! *Invariant:* a pass writes only to its own connection. Memory of the world that passes no longer need is
//! freed after all passes, in the order of the slots. Therefore the packets depend neither on the order of
//! the passes nor on the threads that run them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use repl_link::parts::{PeerEntry as AnyPeerEntry, Rest};
use repl_link::{ConnectionId, DisconnectReason};

use super::broadcast::Broadcast;
use super::connection::Connection;
use super::connection::{PassContext, PassScratch};
use super::peer::{Peer, Preload, preloaded, rests_until};
use super::served::Served;
use super::world::{Unneeded, World};
use crate::session::classes::ClassList;
use crate::session::config::ServerConfig;

/// The number of connections whose passes one thread runs before it looks for more work.
#[cfg(feature = "rayon")]
const BATCH: usize = 8;

pub(super) type PeerEntry = AnyPeerEntry<Connection>;

/// The connections that end in a tick, each with the reason.
pub(super) type Ends = Vec<(ConnectionId, DisconnectReason)>;

/// The inputs that all passes of a tick read.
#[derive(Clone, Copy)]
pub(super) struct PassInputs<'a> {
    pub(super) world: &'a World,
    pub(super) broadcast: &'a Broadcast,
    pub(super) classes: &'a ClassList,
    pub(super) config: &'a ServerConfig,
    pub(super) turns: Turns<'a>,
    pub(super) now: Duration,
}

/// Which of the given connections are visited, and which of these have a turn.
#[derive(Clone, Copy)]
pub(super) enum Turns<'a> {
    /// All are visited, and those that are served have a turn.
    Served(&'a Served),
    /// All have a turn.
    Now,
    /// Only the connections that are not served are visited. The others had their turns before.
    Others(&'a Served),
}

impl Turns<'_> {
    /// Returns whether a connection has a turn, or `None` if it is not visited.
    fn of(self, id: ConnectionId) -> Option<bool> {
        match self {
            Self::Served(served) => Some(served.contains(id)),
            Self::Now => Some(true),
            Self::Others(served) => (!served.contains(id)).then_some(false),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Passes {
    /// One scratch memory for each thread that runs passes at the same time.
    scratches: Mutex<Vec<PassScratch>>,
}

impl Passes {
    /// Runs the passes of all connections. With the feature `rayon`, several threads run them if there is
    /// enough to send. Returns the connections that end in this tick, in the order of `peers`.
    pub(super) fn run(&self, peers: &mut [PeerEntry], inputs: PassInputs<'_>) -> Ends {
        #[cfg(feature = "rayon")]
        if peers.len() > BATCH && inputs.preload() != Preload::Nothing && rayon::current_num_threads() > 1 {
            use rayon::prelude::*;
            let batches = peers.par_chunks_mut(BATCH);
            return batches.flat_map_iter(|batch| self.run_batch(batch, inputs)).collect();
        }
        self.run_batch(peers, inputs)
    }

    fn run_batch(&self, peers: &mut [PeerEntry], inputs: PassInputs<'_>) -> Ends {
        let PassInputs { world, broadcast, classes, config, now, .. } = inputs;
        let mut scratch = self.lock().pop().unwrap_or_default();
        let mut ends = Vec::new();
        let may_skip = inputs.may_skip();
        let visited = peers.iter_mut().filter_map(|entry| inputs.visit(entry, may_skip));
        for ((id, has_turn, rest), peer) in preloaded(visited, inputs.preload()) {
            rest.take_skipped().into_iter().for_each(|until| peer.connection.link.outbox.has_rested(until));
            let timeout = peer.handshake.shorter_timeout(config.timeout);
            let mut context = PassContext { world, broadcast, classes, scratch: &mut scratch, now, timeout };
            if has_turn {
                peer.connection.pass(&mut context);
            } else {
                peer.connection.skip_pass(&mut context);
            }
            peer.handshake.repeat_welcome(&config.terms(), now, &mut peer.connection.link.outbox.queue);
            if let Some(reason) = peer.handshake.overdue(&config.terms(), now) {
                ends.push((id, reason));
            } else if let Err(reason) = peer.connection.check_progress(config.timeout, now) {
                ends.push((id, reason));
            }
            // A connection without a turn has had no pass, and only a pass shows whether it can rest.
            rest.set(if has_turn { rests_until(peer, config.timeout) } else { None });
        }
        self.lock().push(scratch);
        ends
    }

    /// Frees the state of objects that no connection needs any more after the passes of this tick.
    pub(super) fn free_unneeded(&mut self, world: &mut World) {
        let scratches = self.scratches.get_mut().unwrap_or_else(PoisonError::into_inner);
        if world.ends_round() {
            scratches.iter_mut().for_each(PassScratch::end_round);
        }
        let Some((first, others)) = scratches.split_first_mut() else { return };
        let unneeded: &mut Vec<(u32, Unneeded)> = &mut first.unneeded;
        others.iter_mut().for_each(|scratch| unneeded.append(&mut scratch.unneeded));
        unneeded.sort_unstable();
        unneeded.drain(..).for_each(|(slot, what)| world.free(slot, what));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PassScratch>> {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PassInputs<'_> {
    /// Returns whether this tick skips resting clients: clients that need nothing until a known time.
    fn may_skip(&self) -> bool {
        !self.world.has_changes() && !self.world.ends_round()
    }

    /// Returns a client with its id, whether it has a turn, and its rest time. Returns `None` if the client
    /// is not visited, or if it rests and `may_skip` is true.
    fn visit<'p>(
        &self,
        entry: &'p mut PeerEntry,
        may_skip: bool,
    ) -> Option<((ConnectionId, bool, &'p mut Rest), &'p mut Peer)> {
        let PeerEntry { id, rest, peer } = entry;
        let has_turn = self.turns.of(*id)?;
        if may_skip && rest.lasts(self.now) {
            if has_turn {
                rest.skip(self.now);
            }
            return None;
        }
        Some(((*id, has_turn, rest), peer))
    }

    /// Returns which memory of connections is preloaded for their passes.
    fn preload(&self) -> Preload {
        match self.broadcast.segments() {
            _ if !self.world.has_changes() => Preload::Nothing,
            [] => Preload::Changes,
            _ => Preload::All,
        }
    }
}
