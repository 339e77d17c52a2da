//! A connection of the server: the state of the objects for its client, and the packets that are sent to the
//! client.
//!
//! The `link` of a connection sends and receives packets, its `copies` are the objects that the client has,
//! its `calls` wait for their objects, its `backlog` stores since when objects wait that the limits delay,
//! and its `shares` divide the bytes of a tick between messages and state. The other files decide what is
//! sent in a tick.
//!
//! *Invariant:* none of these parts uses [`Connection`].

mod alone;
mod assets;
mod backlog;
mod blobs;
mod broadcast;
mod calls;
mod context;
mod copies;
mod families;
mod large;
mod last_state;
mod levels;
mod lists;
mod memory;
mod messages;
mod named_assets;
mod not_sent;
mod objects;
mod opening;
mod packets;
mod pass;
mod pauses;
mod priorities;
mod proxies;
mod removals;
mod rest;
mod session;
mod shares;
mod spawns;
mod tear_off;
mod verdicts;

use repl_core::__private::{preload, preload_all};
use repl_link::ConnectionId;
use repl_link::parts::{HasLink, Link};

use backlog::Backlog;
use calls::Calls;
pub(crate) use calls::{CallMeter, CallRoute};
pub(crate) use context::{PassContext, PassScratch};
pub(crate) use copies::Copies;
use copies::recent_removals::RecentRemovals;
use named_assets::NamedAssets;
use shares::Shares;

use crate::body::State;
use crate::session::config::ServerConfig;

/// Everything that the server stores about one client, except its handshake.
pub(crate) struct Connection {
    pub(crate) link: Link<State>,
    pub(crate) copies: Copies,
    pub(crate) calls: Calls,
    /// Since when objects wait because of the limits, and the pause. `None` if everything fits, as on most
    /// connections.
    backlog: Option<Box<Backlog>>,
    /// Divides the bytes that may be sent in a tick between messages and state.
    shares: Shares,
    /// The assets whose names were sent to the client or wait to be sent.
    pub(crate) assets: NamedAssets,
}

impl HasLink for Connection {
    type Payload = State;

    #[inline]
    fn link(&self) -> &Link<State> {
        &self.link
    }

    #[inline]
    fn link_mut(&mut self) -> &mut Link<State> {
        &mut self.link
    }
}

impl Connection {
    pub(crate) fn new(id: ConnectionId, is_replay: bool, link: Link<State>, config: &ServerConfig) -> Self {
        let mut copies = Copies::new(id, is_replay, link.outbox.sequence());
        copies.recent_removals = RecentRemovals::new(config.remember_removed_ticks);
        Self {
            copies,
            link,
            calls: Calls::default(),
            backlog: None,
            shares: Shares::new(config.message_percent),
            assets: NamedAssets::default(),
        }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.copies.id
    }

    /// Preloads the memory that the search for lost packets reads if no packets are in flight.
    pub(crate) fn preload_losses(&self) {
        preload(&self.copies.is_live);
        self.link.preload_losses();
        self.copies.objects.preload_sets();
    }

    /// Preloads the memory that every pass reads, but no memory behind pointers.
    pub(crate) fn preload_pass(&self) {
        preload(&self.copies.id);
        preload(&self.backlog);
        self.link.preload_pass();
        preload(&self.copies.blobs);
        self.copies.objects.preload_pass();
    }

    /// Preloads the lists that the next pass reads. The argument `reads_known` says whether the pass reads
    /// the set of known objects. A client without a session is sent no objects, so its lists are not read.
    pub(crate) fn preload_lists(&self, reads_known: bool) {
        if !self.copies.is_live {
            return;
        }
        self.copies.objects.preload_lists(reads_known);
        self.link.outbox.preload_lists();
        self.backlog.iter().for_each(|backlog| preload_all(&**backlog));
    }

    /// Preloads the memory to which the lists point. This reads the memory that
    /// [`preload_lists`](Self::preload_lists) has preloaded, so call it only after that memory has had time
    /// to arrive.
    pub(crate) fn preload_next(&self) {
        if !self.copies.is_live {
            return;
        }
        self.copies.objects.preload_next();
        self.link.outbox.preload_next();
    }
}
