//! Which values of properties that are sent as differences the client has and keeps (R23).
//!
//! *Invariant:* a difference is made only to a value that the client has acknowledged and still keeps. A
//! client keeps the value that was the base of the last difference, and the last two values that it was told
//! to keep. So it is told to keep another value only when it is known what became of the one before.

use std::collections::BTreeMap;

use repl_core::{Changelist, Rendition, Revision};
use repl_link::parts::Sequence;

use crate::server::revisions::Revisions;
use crate::server::world::World;

/// What carries a value that the client is told to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    Packet(Sequence),
    Blob(u32),
}

/// The values of one property that the client keeps.
#[derive(Clone, Copy, Debug, Default)]
struct ClientBase {
    /// The value that the client has acknowledged.
    confirmed: Option<Revision>,
    /// The value that is on its way, and what carries it.
    next: Option<(Revision, Carrier)>,
}

/// The values that one client keeps, by the slots of objects and the handles of properties.
#[derive(Debug, Default)]
pub(crate) struct ClientBases(BTreeMap<(u32, u32), ClientBase>);

impl ClientBases {
    /// Replaces `renditions` by how the values of those properties in `list` are written that are sent as
    /// differences.
    #[inline]
    pub(crate) fn renditions(
        &self,
        slot: u32,
        list: &Changelist,
        world: &World,
        renditions: &mut Vec<(u32, Rendition)>,
    ) {
        renditions.clear();
        let column = world.store.column_of(slot);
        if list.handles().intersects(column.deltas()) {
            let handles = column.deltas().iter().filter(|handle| list.handles().contains(*handle));
            renditions.extend(handles.filter_map(|handle| self.rendition(slot, handle, world)));
        }
    }

    /// Returns how the value of a property is written.
    fn rendition(&self, slot: u32, handle: u32, world: &World) -> Option<(u32, Rendition)> {
        let (column, row) = (world.store.column_of(slot), world.store.occupant(slot).row);
        let property = world.revisions.get(slot, handle)?;
        let base = self.0.get(&(slot, handle)).copied().unwrap_or_default();
        let difference =
            base.confirmed.and_then(|base| property.difference(base, (column.rows(), row, handle)));
        let keeps = base.next.is_none().then(|| property.current());
        Some((handle, Rendition { keeps, difference }))
    }

    /// Returns about how many bytes of memory this takes. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.len() * (size_of::<(u32, u32)>() + size_of::<ClientBase>())
    }

    /// Records that values were sent in this way.
    pub(crate) fn sent(
        &mut self,
        slot: u32,
        renditions: &[(u32, Rendition)],
        carrier: Carrier,
        revisions: &Revisions,
    ) {
        for (handle, Rendition { keeps, difference }) in renditions {
            let Some(revision) = *keeps else { continue };
            let base = self.0.entry((slot, *handle)).or_default();
            if difference.is_none()
                && let Some(confirmed) = base.confirmed.take()
            {
                revisions.release(slot, *handle, confirmed);
            }
            if let Some(property) = revisions.get(slot, *handle) {
                property.use_current();
            }
            base.next = Some((revision, carrier));
        }
    }

    /// Records that what a packet or blob carried has arrived.
    pub(crate) fn arrived(&mut self, carrier: Carrier, revisions: &Revisions) {
        self.resolve(carrier, |slot, handle, base, revision| {
            if let Some(confirmed) = base.confirmed.replace(revision) {
                revisions.release(slot, handle, confirmed);
            }
        });
    }

    /// Records that what a packet or blob carried counts as lost. The client may have it nevertheless.
    pub(crate) fn lost(&mut self, carrier: Carrier, revisions: &Revisions) {
        self.resolve(carrier, |slot, handle, _, revision| revisions.release(slot, handle, revision));
    }

    fn resolve(&mut self, carrier: Carrier, mut then: impl FnMut(u32, u32, &mut ClientBase, Revision)) {
        for (&(slot, handle), base) in &mut self.0 {
            if let Some((revision, _)) = base.next.take_if(|(_, by)| *by == carrier) {
                then(slot, handle, base, revision);
            }
        }
    }

    /// Forgets what the client keeps of the object in a slot.
    pub(crate) fn forget(&mut self, slot: u32, revisions: &Revisions) {
        let of_slot: Vec<_> = self.0.range((slot, 0)..=(slot, u32::MAX)).map(|(key, _)| *key).collect();
        for key in of_slot {
            self.0.remove(&key).into_iter().for_each(|base| release(key, base, revisions));
        }
    }

    /// Forgets what the client keeps of all objects.
    pub(crate) fn clear(&mut self, revisions: &Revisions) {
        std::mem::take(&mut self.0).into_iter().for_each(|(key, base)| release(key, base, revisions));
    }
}

fn release((slot, handle): (u32, u32), base: ClientBase, revisions: &Revisions) {
    let next = base.next.map(|(revision, _)| revision);
    base.confirmed.into_iter().chain(next).for_each(|revision| revisions.release(slot, handle, revision));
}
