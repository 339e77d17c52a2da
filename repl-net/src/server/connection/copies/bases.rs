//! Which values of properties that are sent as differences the client has and keeps (R23).
//!
//! *Invariant:* a difference is made only to a value that the client has acknowledged and still keeps. A
//! client keeps the value that was the base of the last difference, and the last two values that it was told
//! to keep. So it is told to keep another value only when it is known what became of the one before.

use std::collections::BTreeMap;

use repl_core::{Changelist, Rendition};
use repl_link::parts::Sequence;

use crate::body::by_property::{ByProperty, PropertyKey};
use crate::server::revisions::{Count, Revisions, in_packets};
use crate::server::world::World;

/// What carries a value that the client is told to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Carrier {
    Packet(Sequence),
    Blob(u32),
}

/// The values of one property that the client keeps.
#[derive(Clone, Copy, Debug, Default)]
struct ClientBase {
    /// The value that the client has acknowledged.
    confirmed: Option<Count>,
    /// The value that is on its way, and what carries it.
    next: Option<(Count, Carrier)>,
}

/// The values that one client keeps. In a box, because few clients have objects with such properties.
#[derive(Debug, Default)]
pub(crate) struct ClientBases(Option<Box<Known>>);

/// What is known of the values that one client keeps.
#[derive(Debug, Default)]
struct Known {
    by_property: ByProperty<ClientBase>,
    /// The properties whose values are on their way, by what carries them.
    on_their_way: BTreeMap<Carrier, Vec<PropertyKey>>,
}

impl ClientBases {
    fn base(&self, key: PropertyKey) -> ClientBase {
        let base = self.0.as_ref().and_then(|known| known.by_property.get(key));
        base.copied().unwrap_or_default()
    }

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
        let property = world.revisions.get((slot, handle))?;
        let base = self.base((slot, handle));
        let difference =
            base.confirmed.and_then(|base| property.difference(base, (column.rows(), row, handle)));
        let is_kept = base.next.is_none() && (difference.is_none() || property.is_next_base());
        let keeps = is_kept.then(|| in_packets(property.current()));
        Some((handle, Rendition { keeps, difference }))
    }

    /// Returns about how many bytes of memory this takes. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |known| {
            known.by_property.len() * (size_of::<PropertyKey>() + size_of::<ClientBase>())
                + known.on_their_way.len() * (size_of::<Carrier>() + size_of::<Vec<PropertyKey>>())
        })
    }

    /// Records that the present values were sent in this way.
    pub(crate) fn sent(
        &mut self,
        slot: u32,
        renditions: &[(u32, Rendition)],
        carrier: Carrier,
        revisions: &Revisions,
    ) {
        let known = self.0.get_or_insert_default();
        for (handle, Rendition { difference, .. }) in renditions.iter().filter(|sent| sent.1.keeps.is_some())
        {
            let key = (slot, *handle);
            let Some(property) = revisions.get(key) else { continue };
            let base = known.by_property.or_default(key);
            if difference.is_none() {
                base.confirmed.take().into_iter().for_each(|confirmed| revisions.release(key, confirmed));
            }
            property.use_current();
            base.next = Some((property.current(), carrier));
            known.on_their_way.entry(carrier).or_default().push(key);
        }
    }

    /// Records that what a packet or blob carried has arrived.
    pub(crate) fn arrived(&mut self, carrier: Carrier, revisions: &Revisions) {
        self.resolve(carrier, |key, base, arrived| {
            let former = base.confirmed.replace(arrived);
            former.into_iter().for_each(|former| revisions.release(key, former));
        });
    }

    /// Records that what a packet or blob carried counts as lost. The client may have it nevertheless.
    pub(crate) fn lost(&mut self, carrier: Carrier, revisions: &Revisions) {
        self.resolve(carrier, |key, _, lost| revisions.release(key, lost));
    }

    fn resolve(&mut self, carrier: Carrier, then: impl Fn(PropertyKey, &mut ClientBase, Count)) {
        let Some(known) = &mut self.0 else { return };
        for key in known.on_their_way.remove(&carrier).into_iter().flatten() {
            let Some(base) = known.by_property.get_mut(key) else { continue };
            if let Some((next, _)) = base.next.take_if(|(_, by)| *by == carrier) {
                then(key, base, next);
            }
        }
    }

    /// Forgets what the client keeps of the object in a slot.
    pub(crate) fn forget(&mut self, slot: u32, revisions: &Revisions) {
        let Some(known) = &mut self.0 else { return };
        for (key, base) in known.by_property.remove_object(slot) {
            known.release(key, base, revisions);
        }
    }

    /// Forgets what the client keeps of all objects.
    pub(crate) fn clear(&mut self, revisions: &Revisions) {
        let Some(mut known) = self.0.take() else { return };
        for (key, base) in known.by_property.take() {
            known.release(key, base, revisions);
        }
    }
}

impl Known {
    fn release(&mut self, key: PropertyKey, base: ClientBase, revisions: &Revisions) {
        if let Some((_, carrier)) = base.next
            && let Some(keys) = self.on_their_way.get_mut(&carrier)
        {
            keys.retain(|of| *of != key);
            if keys.is_empty() {
                self.on_their_way.remove(&carrier);
            }
        }
        let next = base.next.map(|(next, _)| next);
        base.confirmed.into_iter().chain(next).for_each(|used| revisions.release(key, used));
    }
}
