//! The events and updates for the host, if it asks for them: which objects were spawned, were removed, or got
//! another owner.
//!
//! *Invariant:* as on a client, the updates appear in the tick that made the changes, and an object that was
//! spawned and removed between two ticks is not reported.

use std::collections::BTreeMap;

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::world::World;
use crate::body::removal::CloseReason;
use crate::session::client_events::ClientEvents;
use crate::session::events::ClientEvent;
use crate::updates::queue::Updates;
use crate::updates::update::{Update, UpdateKind};

/// The events and updates of the host, and the changes that the next tick reports.
#[derive(Default)]
pub(crate) struct HostNews {
    events: ClientEvents,
    updates: Updates,
    /// Whether a tick has reported the objects that existed before the host.
    has_begun: bool,
    /// The objects that were removed since the last tick, with their classes.
    removed: Vec<(ObjectRef<()>, u16)>,
    torn_off: Vec<ObjectRef<()>>,
    /// The objects whose owner changed since the last tick, each with whether the host owned it at that tick.
    owned_before: BTreeMap<ObjectRef<()>, bool>,
}

impl HostNews {
    /// Returns the events and updates of a host that has just connected.
    pub(super) fn new() -> Self {
        let mut news = Self::default();
        news.events.push(ClientEvent::Connected);
        news.updates.begin();
        news
    }

    pub(super) fn pop(&mut self) -> Option<ClientEvent> {
        self.events.pop()
    }

    pub(super) fn pop_update(&mut self) -> Option<Update> {
        self.updates.pop()
    }

    pub(super) fn removed(&mut self, world: &World, slot: u32) {
        let object = ObjectRef::new(world.store.occupant(slot).guid(slot));
        self.owned_before.remove(&object);
        if self.has_begun && !world.is_unseen(slot) {
            self.removed.push((object, world.store.occupant(slot).class));
        }
    }

    pub(super) fn torn_off(&mut self, world: &World, slot: u32) {
        self.torn_off.push(ObjectRef::new(world.store.occupant(slot).guid(slot)));
    }

    /// Records whether the host owned an object at the last tick. Called before the owner of the object
    /// changes.
    pub(super) fn owner_changes(&mut self, object: ObjectRef<()>, was_owner: bool) {
        self.owned_before.entry(object).or_insert(was_owner);
    }

    /// Reports what has happened since the last tick. `tick` is this tick, and `host` is the host.
    pub(super) fn report(&mut self, world: &World, tick: u64, host: ConnectionId) {
        let store = &world.store;
        let is_owner = |slot: u32| store.objects[slot as usize].owner() == Some(host);
        let came = if self.has_begun { &world.changes.newborn } else { &store.alive };
        self.updates.begin_packet(Some(tick));
        for (object, class) in self.removed.drain(..) {
            let what = UpdateKind::Despawned(CloseReason::Destroyed);
            self.updates.push(object, what, store.column(class).program());
        }
        for slot in came.iter().filter(|&slot| store.occupant(slot).alive) {
            let (guid, class) = (store.occupant(slot).guid(slot), store.column_of(slot).program());
            if world.subobjects.parent(slot).is_some() {
                self.updates.spawned_below(guid, 1, class);
            } else {
                self.updates.spawned(guid, 1, class);
            }
            if is_owner(slot) {
                self.updates.push(ObjectRef::new(guid), UpdateKind::Owner, class);
            }
        }
        for (object, was_owner) in std::mem::take(&mut self.owned_before) {
            let slot = store.slot_of(object).filter(|&slot| !came.contains(slot));
            if let Some(slot) = slot.filter(|&slot| is_owner(slot) != was_owner) {
                self.updates.push(object, UpdateKind::Owner, store.column_of(slot).program());
            }
        }
        for object in self.torn_off.drain(..) {
            let Some(slot) = store.slot_of(object) else { continue };
            self.updates.push(object, UpdateKind::TornOff, store.column_of(slot).program());
        }
        let is_there = |guid| store.slot_of(ObjectRef::<()>::new(guid)).is_some();
        self.updates.end_packet(&world.subobjects, is_there);
        // The host keeps no last states of removed objects.
        self.updates.take_unreported();
        if !std::mem::replace(&mut self.has_begun, true) {
            self.events.push(ClientEvent::Synchronized);
        }
    }
}
