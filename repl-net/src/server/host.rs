//! The host: the player in the process of the server. It is a connection without packets and without copies
//! of objects, because it uses the objects of the server themselves.
//!
//! *Invariant:* `Server::sessions` does not contain the host among its peers, so no packet is made for the
//! host, and no tick decides what to send to it.

use std::collections::BTreeSet;

use repl_core::ObjectRef;
use repl_link::ConnectionId;
use repl_link::parts::{DirectLimits, Mailbox};

use super::cells::Group;
use super::connection::CallMeter;
use super::host_news::HostNews;
use super::host_notifies::HostNotifies;
use super::world::World;

/// The state that the server stores for its host.
pub(crate) struct Host {
    pub(crate) id: ConnectionId,
    /// The messages and calls to the host. A message type is registered here when its first message arrives.
    pub(crate) mailbox: Mailbox<()>,
    /// How many messages of each kind the host may send.
    pub(crate) limits: DirectLimits,
    /// What the server counts of the calls from the host.
    pub(crate) calls: CallMeter,
    pub(super) groups: BTreeSet<Group>,
    /// The events and updates for the host, if it asked for events.
    pub(super) news: Option<HostNews>,
    /// The old values for the notifies, if the host asked for notifies.
    pub(super) notifies: Option<HostNotifies>,
}

/// What a [host](crate::Server::connect_host) receives besides calls and messages. By default it receives
/// nothing else, because each option costs memory and time, and the server's code already knows which changes
/// it has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// Whether [`HostHandle::poll_event`](crate::HostHandle::poll_event) returns events, and
    /// [`HostHandle::poll_update`](crate::HostHandle::poll_update) returns updates about objects that were
    /// spawned, were removed or changed owners. Costs memory for each update. The number of updates that were
    /// not polled is limited: it is at most 1,024 or a small multiple of the greatest number of objects that
    /// existed at one time, whichever is greater.
    pub events: bool,
    /// Whether the notifies (`#[replicated(notify = …)]`) also run on the objects of the server, as if the
    /// host had received the changes that a tick has found. Unreal does not call `RepNotify` functions on a
    /// listen server (`OnRep_…` in C++), so by default they do not run here either.
    ///
    /// A notify runs in [`Server::tick`](crate::Server::tick), when a comparison has found that the value has
    /// changed, and receives the old value that clients had. It does not run for initial values, and not for
    /// objects [outside of the server](crate::External). Costs a second copy of each object whose class has
    /// notifies. Each change also costs an update of this copy, and one more comparison of the object in the
    /// next tick, because the notify may have written to it.
    pub notifies: bool,
}

impl Host {
    /// Returns a host. `mailbox` is the mailbox of the server, which contains the message types.
    pub(super) fn new(id: ConnectionId, options: HostOptions, mailbox: &Mailbox<ConnectionId>) -> Self {
        Self {
            id,
            mailbox: Mailbox::default(),
            limits: DirectLimits::of(mailbox),
            calls: CallMeter::default(),
            groups: BTreeSet::new(),
            news: options.events.then(HostNews::new),
            notifies: options.notifies.then(HostNotifies::default),
        }
    }

    pub(super) fn removed(&mut self, world: &World, slot: u32) {
        if let Some(news) = &mut self.news {
            news.removed(world, slot);
        }
        if let Some(notifies) = &mut self.notifies {
            notifies.removed(slot);
        }
    }

    pub(super) fn torn_off(&mut self, world: &World, slot: u32) {
        if let Some(news) = &mut self.news {
            news.torn_off(world, slot);
        }
    }

    /// Records that the owner of an object is about to change. `before` is the present owner.
    pub(super) fn owner_changes(&mut self, object: ObjectRef<()>, before: Option<ConnectionId>) {
        if let Some(news) = &mut self.news {
            news.owner_changes(object, before == Some(self.id));
        }
    }
}
