//! A connection of the server: the state of the objects for its client, and the packets that are sent to the
//! client.
//!
//! *Invariant:* the state of an object for the client changes only through [`ObjectStates`], and packets are
//! sent only through the outbox. The other files say what a connection does. No two of them call each
//! other.

mod alone;
mod backlog;
mod blobs;
mod broadcast;
mod call_rights;
mod calls;
mod context;
mod held_calls;
mod large;
mod last_rights;
mod lists;
mod memory;
mod not_sent;
mod objects;
mod packets;
mod pass;
mod pauses;
mod pending;
mod priorities;
mod proxies;
mod resolve;
mod rest;
mod session;
mod shares;
mod sight;
mod sleeping;
mod spawns;
mod statics;
mod subobjects;
mod tear_off;
mod unacked_calls;

use std::time::Duration;

use repl_core::__private::{preload, preload_all};

use backlog::Backlog;
pub(crate) use context::{PassContext, PassScratch};
pub(crate) use held_calls::CallRoute;
use held_calls::HeldCalls;
use last_rights::LastRights;
use objects::{ObjectStates, View};
use shares::Shares;
use unacked_calls::UnackedCalls;

use crate::messages::exchange::Exchange;
use crate::session::connection_id::ConnectionId;
use crate::session::time_budget::TimeBudget;
use crate::transport::ack_pace::AckPace;
use crate::transport::acks::Received;
use crate::transport::blob::Blobs;
use crate::transport::late::LateAcks;
use crate::transport::link::LinkHealth;
use crate::transport::outbox::{Limits, Outbox, PACKETS_PER_SECOND};
use crate::transport::rate_limit::RateLimit;
use crate::transport::sequence::Sequence;

/// Everything that the server stores about one client.
pub(crate) struct Connection {
    id: ConnectionId,
    /// Whether a session has begun and has not ended, so that state is sent.
    is_live: bool,
    pub(crate) outbox: Outbox,
    /// The number of the first packet of this session. It is the same in both directions.
    first: Sequence,
    /// The client's packets that have arrived. The record of arrived packets is used to detect repeated and
    /// late packets, and to ack packets with messages.
    received: Received,
    pub(crate) link: LinkHealth,
    objects: ObjectStates,
    /// What waits because of the limits. `None` if everything fits, as on most connections.
    backlog: Option<Box<Backlog>>,
    blobs: Blobs,
    /// The content of packets that count as lost but may still be acked, without the values of updates.
    late: LateAcks,
    pub(crate) exchange: Exchange,
    /// The limit on the number of packets that the client may send in a second.
    packet_limit: RateLimit,
    /// The shares of messages and state in what is sent in each tick.
    shares: Shares,
    /// The remote calls that wait for their objects. `None` if no call waits.
    held_calls: Option<Box<HeldCalls>>,
    /// The remote calls for which removals wait. `None` before the first remote call.
    unacked_calls: Option<Box<UnackedCalls>>,
    /// The rights to calls on objects that were removed or torn off.
    last_rights: LastRights,
    /// The number of remote calls of the client that were ignored.
    pub(crate) ignored_calls: u32,
    /// For how long the client's remote calls may still run.
    pub(crate) call_time: TimeBudget,
    /// Decides in which ticks the client's messages are acked.
    ack_pace: AckPace,
}

impl Connection {
    pub(crate) fn new(
        id: ConnectionId,
        is_replay: bool,
        first: Sequence,
        limits: Limits,
        message_percent: u8,
        now: Duration,
    ) -> Self {
        Self {
            id,
            is_live: false,
            outbox: Outbox::new(first, limits),
            first,
            received: Received::default(),
            link: LinkHealth::new(now),
            objects: ObjectStates::new(id, is_replay),
            backlog: None,
            blobs: Blobs::default(),
            late: LateAcks::default(),
            exchange: Exchange::default(),
            packet_limit: RateLimit::receiving(PACKETS_PER_SECOND, 0, Duration::ZERO),
            shares: Shares::new(message_percent),
            held_calls: None,
            unacked_calls: None,
            last_rights: LastRights::default(),
            ignored_calls: 0,
            call_time: TimeBudget::default(),
            ack_pace: AckPace::default(),
        }
    }

    /// Preloads what the server reads and writes when a packet with acks arrives. Does not follow pointers to
    /// the heap.
    #[inline]
    pub(crate) fn preload_packet(&self) {
        preload(&self.first);
        preload_all(&self.received);
        preload_all(&self.link);
        preload_all(&self.exchange);
        preload_all(&self.packet_limit);
        preload_all(&self.ack_pace);
        self.outbox.preload_packet();
    }

    /// Preloads what [`declare_lost`](Self::declare_lost) reads if no packet is in flight.
    pub(crate) fn preload_losses(&self) {
        preload(&self.is_live);
        preload_all(&self.outbox.in_flight);
        preload_all(&self.link);
        self.objects.preload_sets();
    }

    /// Preloads what every pass reads, but no memory behind pointers.
    pub(crate) fn preload_pass(&self) {
        preload(&self.id);
        preload(&self.backlog);
        preload_all(&self.outbox);
        preload_all(&self.link);
        preload_all(&self.exchange);
        preload(&self.blobs);
        preload(&self.late);
        preload(&self.ack_pace);
        self.objects.preload_pass();
    }

    /// Preloads the lists that the next pass reads. The argument `reads_known` says whether it reads which
    /// objects are known. A client without a session is sent no objects, so that its lists are not read.
    pub(crate) fn preload_lists(&self, reads_known: bool) {
        if !self.is_live {
            return;
        }
        self.objects.preload_lists(reads_known);
        self.outbox.preload_lists();
        self.backlog.iter().for_each(|backlog| preload_all(&**backlog));
    }

    /// Preloads what the lists lead to. Call it some time after [`preload_lists`](Self::preload_lists).
    pub(crate) fn preload_next(&self) {
        if !self.is_live {
            return;
        }
        self.objects.preload_next();
        self.outbox.preload_next();
    }

    /// Returns how the client sees the objects.
    pub(crate) fn view(&self) -> &View {
        self.objects.view()
    }

    /// Returns whether the session has begun and not ended.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Returns whether the client has an object in a slot, or will receive one.
    pub(crate) fn uses(&self, slot: u32) -> bool {
        self.objects.is_known(slot)
    }
}
