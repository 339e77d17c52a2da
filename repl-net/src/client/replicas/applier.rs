//! Applies the entries in the body of a packet that was validated.
//!
//! *Invariant:* applying never fails, because validation has refused every entry that could not be applied.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitReader, BitSlice, Checked, Guid, ObjectRef, Observer, ReferenceMap};

use super::{ChangedObject, Replicas};
use crate::client::body::{BodyError, OpenHead, PropertyList, Visitor};
use crate::client::events::ClientEvents;
use crate::client::mentions::Mentions;
use crate::client::replica::Callback;
use crate::session::events::{ClientEvent, CloseReason};
use crate::session::traffic::Traffic;
use crate::transport::reassembly::Part;
use crate::transport::role::Proxy;
use crate::transport::sequence::Sequence;

/// The visitor that applies the validated entries of a body.
pub(super) struct Applier<'a> {
    pub(super) replicas: &'a mut Replicas,
    pub(super) stamp: Sequence,
    pub(super) events: &'a mut ClientEvents,
    pub(super) checked: &'a mut Checked,
}

impl Applier<'_> {
    /// Creates an object in an empty slot, or binds the object that the user has placed under its path.
    fn create(&mut self, head: OpenHead<'_>) -> Result<(), BodyError> {
        let Replicas { columns, classes, slots, paths, created_or_removed, .. } = &mut *self.replicas;
        let class = classes.registered(head.class).ok_or_else(|| BodyError::malformed("no such class"))?;
        let column = columns.get_mut(class).ok_or_else(|| BodyError::malformed("no such class"))?;
        let path = head.name.and_then(|name| paths.resolve(head.slot, head.generation, name));
        let path: Option<Arc<str>> = path.map(Arc::from);
        let bound = path.as_ref().and_then(|path| column.bind(head.slot, path));
        let row = bound.unwrap_or_else(|| column.insert(head.slot, head.archetype));
        slots.set(head.slot, head.generation.get(), class as u16, row);
        let guid = Guid::new(head.slot, head.generation);
        created_or_removed.push(guid);
        let object = ObjectRef::new(slots.known(guid));
        let Some(path) = path else {
            paths.remove(head.slot);
            self.events.push(ClientEvent::Spawned(object));
            return Ok(());
        };
        paths.open(head.slot, head.generation, path.clone(), bound.is_some());
        if bound.is_some() {
            self.events.push(ClientEvent::Bound(object, path));
        } else {
            self.events.push(ClientEvent::Spawned(object));
            self.events.push(ClientEvent::UnknownPath(object, path));
        }
        Ok(())
    }

    fn values(
        &mut self,
        slot: u32,
        is_new: bool,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let Replicas { columns, slots, mentions, traffic, touched, feeds, .. } = &mut *self.replicas;
        let (class, row) = slots.class_and_row(slot).ok_or_else(|| BodyError::malformed("an empty slot"))?;
        let column = columns.get_mut(class as usize).ok_or_else(|| BodyError::malformed("no such class"))?;
        slots.stamp(slot, self.stamp);
        slots.asleep.remove(slot);
        column.call(row, Callback::PreNetReceive);
        if let Some(traffic) = traffic {
            traffic.object(class, is_new, list.head_bits);
        }
        let mut references = ReferenceMap::new(slots);
        let mut record = Record { slot, class, mentions, traffic: traffic.as_mut() };
        column.apply(row, list.handles, self.checked.take(reader), &mut references, &mut record);
        let mut notified = Vec::new();
        column.changed(row, list.handles, &mut notified);
        if let Some(feed) = feeds.get_mut(&class) {
            feed.note(slot, is_new, list.handles);
        }
        touched.push(ChangedObject { slot, is_new, notified });
        Ok(())
    }
}

/// Records the references in one object, and the traffic of the object, while an update of it is applied.
struct Record<'a> {
    slot: u32,
    class: u16,
    mentions: &'a mut Mentions,
    traffic: Option<&'a mut Traffic>,
}

impl Observer for Record<'_> {
    fn property(&mut self, handle: u32, bits: usize) {
        if let Some(traffic) = &mut self.traffic {
            traffic.property(self.class, handle, bits);
        }
    }

    fn measures(&self) -> bool {
        self.traffic.is_some()
    }

    fn plain(&mut self, path: &[u32]) {
        self.mentions.remove_leaf(self.slot, path);
    }

    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>) {
        self.mentions.set(self.slot, path, guids, bits);
    }

    fn cut(&mut self, path: &[u32], steps: Range<u32>) {
        self.mentions.cut(self.slot, path, steps);
    }
}

impl Visitor for Applier<'_> {
    fn class_of(&mut self, slot: u32) -> Result<u32, BodyError> {
        self.replicas.wire_class(slot).ok_or_else(|| BodyError::malformed("an empty slot"))
    }

    fn handles_of(&self, class: u32) -> Option<u32> {
        self.replicas.handles_of(class)
    }

    fn archetypes_of(&self, class: u32) -> Option<u32> {
        self.replicas.archetypes_of(class)
    }

    fn classes(&self) -> u32 {
        self.replicas.classes.len()
    }

    fn update(
        &mut self,
        slot: u32,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        self.values(slot, false, list, reader)
    }

    fn open(
        &mut self,
        head: OpenHead<'_>,
        list: PropertyList<'_>,
        reader: &mut BitReader<'_>,
    ) -> Result<(), BodyError> {
        let is_new = self.replicas.slots.generation(head.slot).is_none();
        if is_new {
            self.create(head)?;
        }
        let proxy = Proxy { is_asleep: false, ..head.proxy };
        if self.replicas.slots.set_proxy(head.slot, proxy) && !is_new {
            let guid = Guid::new(head.slot, head.generation);
            self.events.push(ClientEvent::RoleChanged(ObjectRef::new(self.replicas.slots.known(guid))));
        }
        self.values(head.slot, is_new, list, reader)?;
        self.replicas.slots.asleep.set(head.slot, head.proxy.is_asleep);
        Ok(())
    }

    fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) -> Result<(), BodyError> {
        self.replicas.slots.stamp(slot, self.stamp);
        self.replicas.slots.asleep.remove(slot);
        if reason == CloseReason::TearOff {
            if let Some(guid) = self.replicas.tear_off(slot) {
                self.events.push(ClientEvent::TornOff(ObjectRef::new(guid)));
            }
        } else if let Some((guid, unbound)) = self.replicas.close(slot) {
            self.replicas.created_or_removed.push(guid);
            let known = ObjectRef::new(self.replicas.slots.known(guid));
            self.events.push(match unbound {
                Some(path) => ClientEvent::Unbound(known, path),
                None => ClientEvent::Despawned(known, reason),
            });
        }
        if reason == CloseReason::Destroyed
            && let Some(path) = self.replicas.paths.destroy(slot, path)
            && self.replicas.has_placed(&path)
        {
            self.events.push(ClientEvent::PathDestroyed(path));
        }
        Ok(())
    }

    fn part(&mut self, _: Part) -> Result<(), BodyError> {
        Ok(())
    }
}
