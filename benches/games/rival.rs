//! The code that all hand-written servers share: tables of objects with shadows (copies with the values that
//! were sent last), and packets of entries. An entry contains the changed fields of one object.
//!
//! *Invariant:* an entry can be read without any other entry.

use std::collections::VecDeque;

use crate::bits::{BitReader, BitWriter};

/// A set of fields of an object, as bits. The two highest bits have a meaning of their own.
pub(crate) type Mask = u64;

/// The object is new.
pub(crate) const SPAWN: Mask = 1 << 62;
/// The object is gone.
pub(crate) const DESPAWN: Mask = 1 << 63;

pub(crate) const HEADER_BYTES: usize = 8;
/// The greatest size of an entry, in bytes.
pub(crate) const ENTRY_BYTES: usize = 160;

/// A hand-written server.
pub(crate) trait Rival {
    /// Sets how many bytes a tick may send to each client.
    fn set_budget(&mut self, bytes: usize);
    /// Handles the ack or the loss of the oldest packet in flight to a client.
    fn resolve(&mut self, client: usize, sequence: u64, is_lost: bool);
    /// Makes the packets of a tick, and passes each to `transmit` with the index of its client.
    fn tick(&mut self, transmit: impl FnMut(usize, &[u8]));
}

/// The change of one object in a tick.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The number of the table that contains the object.
    pub(crate) table: u8,
    pub(crate) slot: u32,
    pub(crate) fields: Mask,
}

/// The type of the objects in a table.
pub(crate) trait Row: Clone + Default + PartialEq {
    /// The set of all fields.
    const ALL: Mask;

    /// Returns the fields in which `self` and `other` differ.
    fn difference(&self, other: &Self) -> Mask;
    fn write(&self, fields: Mask, bits: &mut BitWriter);
    fn read(&mut self, fields: Mask, bits: &mut BitReader<'_>);
}

/// Which objects of a table a tick compares.
#[derive(Clone, Copy)]
pub(crate) enum Compared {
    /// None, because objects never change.
    Nothing,
    /// Only objects that were [edited](Table::edit).
    Edited,
    All,
}

/// All objects of one kind.
pub(crate) struct Table<T> {
    pub(crate) rows: Vec<T>,
    shadows: Vec<T>,
    is_alive: Vec<bool>,
    /// The objects that were edited since the last tick, without repetitions.
    edited: Vec<u32>,
    is_edited: Vec<bool>,
    /// The spawns and despawns since the last tick.
    events: Vec<(u32, Mask)>,
    free: VecDeque<u32>,
}

impl<T: Row> Table<T> {
    pub(crate) fn new() -> Self {
        Self {
            rows: Vec::new(),
            shadows: Vec::new(),
            is_alive: Vec::new(),
            edited: Vec::new(),
            is_edited: Vec::new(),
            events: Vec::new(),
            free: VecDeque::new(),
        }
    }

    pub(crate) fn spawn(&mut self, row: T) -> u32 {
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.rows.push(T::default());
            self.shadows.push(T::default());
            self.is_alive.push(false);
            self.is_edited.push(false);
            self.rows.len() as u32 - 1
        });
        self.shadows[slot as usize] = row.clone();
        self.rows[slot as usize] = row;
        self.is_alive[slot as usize] = true;
        self.events.push((slot, SPAWN | T::ALL));
        slot
    }

    /// Lets new objects use a slot again. Call it when all clients know that the old object is gone.
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push_back(slot);
    }

    pub(crate) fn despawn(&mut self, slot: u32) {
        self.is_alive[slot as usize] = false;
        self.events.push((slot, DESPAWN));
    }

    /// Returns an object for writing, and marks it as edited.
    pub(crate) fn edit(&mut self, slot: u32) -> &mut T {
        if !self.is_edited[slot as usize] {
            self.is_edited[slot as usize] = true;
            self.edited.push(slot);
        }
        &mut self.rows[slot as usize]
    }

    /// Returns the objects that exist, with their slots, ascending.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (u32, &T)> {
        let alive = self.rows.iter().zip(&self.is_alive).zip(0..);
        alive.filter(|((_, is_alive), _)| **is_alive).map(|((row, _), slot)| (slot, row))
    }

    /// Adds the entries of the changes since the last tick.
    pub(crate) fn compare(&mut self, table: u8, compared: Compared, entries: &mut Vec<Entry>) {
        match compared {
            Compared::Nothing => {}
            Compared::Edited => {
                let mut edited = std::mem::take(&mut self.edited);
                for slot in edited.drain(..) {
                    self.is_edited[slot as usize] = false;
                    self.compare_row(table, slot, entries);
                }
                self.edited = edited;
            }
            Compared::All => {
                (0..self.rows.len() as u32).for_each(|slot| self.compare_row(table, slot, entries))
            }
        }
        entries.extend(self.events.drain(..).map(|(slot, fields)| Entry { table, slot, fields }));
    }

    #[inline]
    fn compare_row(&mut self, table: u8, slot: u32, entries: &mut Vec<Entry>) {
        let at = slot as usize;
        if self.is_alive[at] {
            let fields = self.rows[at].difference(&self.shadows[at]);
            if fields != 0 {
                self.shadows[at] = self.rows[at].clone();
                entries.push(Entry { table, slot, fields });
            }
        }
    }
}
