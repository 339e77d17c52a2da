//! The revisions of properties that are sent as differences: which earlier values are stored, because some
//! client has them, and the differences to them (R23).
//!
//! *Invariant:* an earlier value is stored exactly as long as a connection uses it as a base, or may soon.
//! A difference is made once for all connections with the same base.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use repl_core::{BitWriter, DeltaBase, Difference, DifferenceBits, Rendition, Revision, Rows};

use crate::body::by_property::{ByProperty, PropertyKey};

/// The revisions of the properties of all objects that are sent as differences.
#[derive(Debug, Default)]
pub(crate) struct Revisions {
    by_property: ByProperty<PropertyRevisions>,
    /// The properties with an earlier value that no connection uses any more.
    unused: Mutex<Vec<PropertyKey>>,
}

/// The number of a value of a property, which counts its changes. A packet contains only the lower bits, as a
/// [`Revision`].
pub(crate) type Count = u32;

/// Returns the revision in packets of a value.
pub(crate) fn in_packets(count: Count) -> Revision {
    count as Revision
}

/// At most so many earlier values of a property are stored. A connection whose base is dropped is sent the
/// next value whole.
pub(crate) const MOST_BASES: usize = 32;

/// Of the values that follow, half as many become bases with each so many values that are stored. So clients
/// with different round trips share them, and [`MOST_BASES`] are enough for any number of clients.
const BASES_PER_STEP: usize = 4;

/// A value that so many changes have replaced is no base any more, because its revision in packets would soon
/// be that of another value.
const OLDEST: Count = Revision::MAX as Count / 2;

/// The revisions of one property of an object.
#[derive(Debug, Default)]
pub(crate) struct PropertyRevisions {
    /// The revision of the present value.
    current: Count,
    /// How many connections use the present value as a base, or may soon.
    users: AtomicU32,
    /// The earlier values that some connection uses, the oldest first.
    kept: Vec<Kept>,
    /// The differences of the present value, by the revisions of their bases, and how many bits the whole
    /// value takes.
    made: Mutex<Made>,
}

/// An earlier value.
#[derive(Debug)]
struct Kept {
    count: Count,
    base: DeltaBase,
    users: AtomicU32,
}

/// What was written of the present value.
#[derive(Debug, Default)]
struct Made {
    whole_bits: Option<usize>,
    /// A base without a difference is one to which the difference takes more than the whole value.
    differences: Vec<(Count, Option<Arc<DifferenceBits>>)>,
}

impl Revisions {
    /// Records that there is a new object in a slot, whose properties with these handles are sent as
    /// differences.
    pub(crate) fn begin(&mut self, slot: u32, handles: impl Iterator<Item = u32>) {
        for handle in handles {
            self.by_property.or_default((slot, handle));
        }
    }

    /// Forgets the object in a slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        self.by_property.remove_object(slot);
    }

    /// Records that a value was replaced by another one.
    pub(crate) fn replaced(&mut self, slot: u32, handle: u32, base: DeltaBase) {
        let Some(property) = self.by_property.get_mut((slot, handle)) else { return };
        let PropertyRevisions { current, kept, .. } = property;
        kept.retain(|kept| current.wrapping_sub(kept.count) < OLDEST);
        let users = std::mem::take(property.users.get_mut());
        if users > 0 {
            if kept.len() >= MOST_BASES {
                kept.remove(0);
            }
            kept.push(Kept { count: *current, base, users: users.into() });
        }
        *current = current.wrapping_add(1);
        *property.made.get_mut().unwrap_or_else(PoisonError::into_inner) = Made::default();
    }

    pub(crate) fn get(&self, property: PropertyKey) -> Option<&PropertyRevisions> {
        self.by_property.get(property)
    }

    /// Records that a connection no longer uses a value as a base.
    pub(crate) fn release(&self, property: PropertyKey, count: Count) {
        let users = self.get(property).and_then(|property| property.users_of(count));
        if users.is_some_and(|users| users.fetch_sub(1, Ordering::Relaxed) == 1) {
            self.unused.lock().unwrap_or_else(PoisonError::into_inner).push(property);
        }
    }

    /// Frees the earlier values that no connection uses any more.
    pub(crate) fn free_unused(&mut self) {
        for key in self.unused.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(property) = self.by_property.get_mut(key) {
                property.kept.retain_mut(|kept| *kept.users.get_mut() > 0);
            }
        }
    }

    /// Returns about how many bytes of memory the earlier values take. Costs O(properties).
    pub(crate) fn bytes(&self) -> usize {
        let kept = self.by_property.values().flat_map(|property| &property.kept);
        kept.map(|kept| size_of::<Kept>() + kept.base.bytes()).sum::<usize>()
            + self.by_property.len() * (size_of::<PropertyRevisions>() + size_of::<PropertyKey>())
    }
}

impl PropertyRevisions {
    /// Returns the number of the present value.
    pub(crate) fn current(&self) -> Count {
        self.current
    }

    /// Returns whether a client that has an earlier value as its base is told to keep the present one. The
    /// answer is the same for all connections in a tick.
    pub(crate) fn is_next_base(&self) -> bool {
        let step = self.kept.len() / BASES_PER_STEP;
        self.current.trailing_zeros() as usize >= step
    }

    /// Records that a connection may use the present value as a base.
    pub(crate) fn use_current(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    fn users_of(&self, count: Count) -> Option<&AtomicU32> {
        if count == self.current {
            return Some(&self.users);
        }
        self.kept.iter().find(|kept| kept.count == count).map(|kept| &kept.users)
    }

    /// Returns how the present value is sent to a connection whose client has the value with the number
    /// `base`. `rows` has the object in `row`.
    pub(crate) fn difference(
        &self,
        base: Count,
        (rows, row, handle): (Rows<'_>, u32, u32),
    ) -> Option<Difference> {
        let kept = self.kept.iter().find(|kept| kept.count == base)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let of = in_packets(base);
        if let Some((_, bits)) = made.differences.iter().find(|(count, _)| *count == base) {
            return bits.clone().map(|bits| Difference { base: of, bits });
        }
        let whole_bits = *made.whole_bits.get_or_insert_with(|| rows.whole_bits(row, handle));
        let mut writer = BitWriter::new();
        let is_written = rows.write_difference(row, handle, &kept.base, &mut writer).is_ok();
        let is_shorter = Rendition::difference_bits(writer.bit_len()) < whole_bits;
        let bits = (is_written && is_shorter).then(|| Arc::new(DifferenceBits::take(&mut writer)));
        made.differences.push((base, bits.clone()));
        bits.map(|bits| Difference { base: of, bits })
    }
}
