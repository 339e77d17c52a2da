//! What the host is told about objects, if it asks for events: which came, went, or got another owner.
//!
//! *Invariant:* as on a client, the events of a tick come with the tick, and what came and went between two
//! ticks is not reported.

use std::collections::BTreeMap;

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::world::World;
use crate::body::removal::CloseReason;
use crate::session::client_events::ClientEvents;
use crate::session::events::ClientEvent;

/// The events of the host, and what the next tick reports.
#[derive(Default)]
pub(crate) struct HostNews {
    events: ClientEvents,
    /// Whether a tick has reported the objects that the host found.
    has_begun: bool,
    /// The objects that were removed since the last tick.
    removed: Vec<ObjectRef<()>>,
    torn_off: Vec<ObjectRef<()>>,
    /// The objects that got or lost the host as their owner since the last tick, and whether the host owned
    /// them at that tick.
    owned_before: BTreeMap<ObjectRef<()>, bool>,
}

impl HostNews {
    /// Returns the news of a host that has just connected.
    pub(super) fn new() -> Self {
        let mut news = Self::default();
        news.events.push(ClientEvent::Connected);
        news
    }

    /// Removes and returns the oldest event.
    pub(super) fn pop(&mut self) -> Option<ClientEvent> {
        self.events.pop()
    }

    /// Records that an object is about to be removed.
    pub(super) fn removed(&mut self, world: &World, slot: u32) {
        let object = ObjectRef::new(world.store.occupant(slot).guid(slot));
        self.owned_before.remove(&object);
        if self.has_begun && !world.is_unseen(slot) {
            self.removed.push(object);
        }
    }

    /// Records that an object was torn off.
    pub(super) fn torn_off(&mut self, world: &World, slot: u32) {
        self.torn_off.push(ObjectRef::new(world.store.occupant(slot).guid(slot)));
    }

    /// Records that the host owned an object, or did not, before its owner changes.
    pub(super) fn owner_changes(&mut self, object: ObjectRef<()>, was_owner: bool) {
        self.owned_before.entry(object).or_insert(was_owner);
    }

    /// Reports what has happened since the last tick. `host` is the host.
    pub(super) fn report(&mut self, world: &World, host: ConnectionId) {
        let is_owner = |slot: u32| world.store.objects[slot as usize].owner() == Some(host);
        let came = if self.has_begun { &world.changes.newborn } else { &world.store.alive };
        for object in self.removed.drain(..) {
            self.events.push(ClientEvent::Despawned(object, CloseReason::Destroyed));
        }
        for slot in came.iter().filter(|&slot| world.store.occupant(slot).alive) {
            self.events.spawned(world.store.occupant(slot).guid(slot), 1);
        }
        for (object, was_owner) in std::mem::take(&mut self.owned_before) {
            let slot = world.store.slot_of(object).filter(|&slot| !came.contains(slot));
            if slot.is_some_and(|slot| is_owner(slot) != was_owner) {
                self.events.push(ClientEvent::RoleChanged(object));
            }
        }
        for object in self.torn_off.drain(..).filter(|&object| world.store.slot_of(object).is_some()) {
            self.events.push(ClientEvent::TornOff(object));
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            self.events.push(ClientEvent::Synchronized);
        }
        // The host keeps no last states of removed objects.
        self.events.take_unreported();
    }
}
