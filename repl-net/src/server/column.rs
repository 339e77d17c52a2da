//! Columns: a server stores all objects of one class in a column, with their shadows.
//!
//! *Invariant:* row `n` of each vector belongs to the same object.

use std::any::Any;

use repl_core::__private::preload;
use repl_core::{
    BitWriter, Changelist, Class, HandleSet, Lifetime, Program, Refusal, Replicated, Scratch, WriteError,
};

use crate::session::archetype::Archetype;

/// The objects of one class, without their type.
pub(crate) trait Column: Any + Send + Sync {
    fn program(&self) -> &Program;
    fn lifetime(&self) -> &Lifetime;
    /// Compares a row's object with its shadow; see [`Class::compare`].
    fn compare(
        &mut self,
        row: u32,
        scope: &HandleSet,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    );
    /// Preloads a row that will be compared soon.
    fn preload_row(&self, row: u32);
    /// Preloads the heap memory of a row. The row itself must be loaded.
    fn preload_values(&self, row: u32);
    /// The handles of the `push` properties of a row's object that count as marked. See [`Class::touched`].
    fn touched(&self, row: u32) -> HandleSet;
    /// Removes from `scope` what would make a row's object larger than `max_bits`. See
    /// [`Class::keep_within`].
    fn keep_within(&self, max_bits: u64, row: u32, scope: &mut HandleSet) -> Vec<Refusal>;
    /// Calls `found` with the slot of each object that differs from its shadow.
    fn scan(&self, found: &mut dyn FnMut(u32));
    /// Writes from the shadow; see [`Class::write_values`].
    fn write_values(&self, row: u32, list: &Changelist, writer: &mut BitWriter) -> Result<(), WriteError>;
    fn prune(&self, row: u32, list: &mut Changelist);
    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist);
    /// How many items and entries the row's collections and maps among `handles` have. See
    /// [`Class::items_of`].
    fn items_of(&self, row: u32, handles: &HandleSet) -> usize;
    /// For each archetype, the one of `Default` first: checksums of its properties' initial values. See
    /// [`Class::begin_sums`].
    fn begin_sums(&self) -> Vec<Vec<u64>>;
    /// Removes an object. Returns the slot of the object that moved to its row.
    fn remove(&mut self, row: u32) -> Option<u32>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// The objects of the class `T`.
pub(crate) struct TypedColumn<T> {
    class: Class<T>,
    pub(crate) live: Vec<T>,
    shadow: Vec<T>,
    pub(crate) slots: Vec<u32>,
    archetypes: Vec<Archetype<T>>,
}

impl<T: Replicated> TypedColumn<T> {
    /// An empty column for objects of at most `max_bits`.
    pub(crate) fn new(max_bits: u64) -> Self {
        let mut class = Class::new();
        class.hold_items_within(max_bits);
        Self {
            class,
            live: Vec::new(),
            shadow: Vec::new(),
            slots: Vec::new(),
            archetypes: vec![Box::new(T::initial)],
        }
    }

    /// Checks that an archetype's values fit in `max_bytes`, because no object would shrink below them (R21).
    ///
    /// # Panics
    /// If they do not fit.
    #[track_caller]
    pub(crate) fn assert_fits(&self, archetype: &T, max_bytes: usize) {
        let bytes = self.class.most_bits_of(archetype).div_ceil(8);
        assert!(
            bytes <= max_bytes as u64,
            "a `{}` takes up to {bytes} bytes as it begins, but `max_object_bytes` is {max_bytes}: raise that here and on clients, \
             or make the object smaller",
            T::LAYOUT.name(),
        );
    }

    /// Adds an archetype and returns its number.
    pub(crate) fn add_archetype(&mut self, archetype: Archetype<T>) -> u32 {
        self.archetypes.push(archetype);
        self.archetypes.len() as u32 - 1
    }

    /// Whether an archetype has this number.
    pub(crate) fn has_archetype(&self, number: u32) -> bool {
        (number as usize) < self.archetypes.len()
    }

    /// Adds an object whose shadow starts as the archetype's values (S29, S69). Returns its row.
    pub(crate) fn insert(&mut self, object: T, slot: u32, archetype: u32) -> u32 {
        let archetype = self.archetypes.get(archetype as usize).map_or_else(T::initial, |make| make());
        self.shadow.push(self.class.shadow_of(&archetype));
        self.live.push(object);
        self.slots.push(slot);
        self.live.len() as u32 - 1
    }
}

impl<T: Replicated> Column for TypedColumn<T> {
    fn program(&self) -> &Program {
        self.class.program()
    }

    fn lifetime(&self) -> &Lifetime {
        self.class.lifetime()
    }

    fn compare(
        &mut self,
        row: u32,
        scope: &HandleSet,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        let row = row as usize;
        self.class.compare(&self.live[row], &mut self.shadow[row], scope, changes, refusals, scratch);
        if scratch.take_unsettled() {
            self.class.settle(&mut self.live[row]);
        }
    }

    fn preload_row(&self, row: u32) {
        let row = row as usize;
        // A row ends where the next one begins.
        self.live.iter().skip(row).take(2).for_each(preload);
        self.shadow.iter().skip(row).take(2).for_each(preload);
    }

    fn preload_values(&self, row: u32) {
        let row = row as usize;
        self.class.preload(&self.live[row]);
        self.class.preload(&self.shadow[row]);
    }

    fn touched(&self, row: u32) -> HandleSet {
        let row = row as usize;
        self.class.touched(&self.live[row], &self.shadow[row])
    }

    fn keep_within(&self, max_bits: u64, row: u32, scope: &mut HandleSet) -> Vec<Refusal> {
        let row = row as usize;
        self.class.keep_within(max_bits, &self.live[row], &self.shadow[row], scope)
    }

    fn scan(&self, found: &mut dyn FnMut(u32)) {
        self.class.scan(&self.live, &self.shadow, |row| found(self.slots[row]));
    }

    fn write_values(&self, row: u32, list: &Changelist, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.class.write_values(&self.shadow[row as usize], list, writer)
    }

    fn prune(&self, row: u32, list: &mut Changelist) {
        self.class.prune(&self.shadow[row as usize], list);
    }

    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist) {
        self.class.insert_whole(handles, list);
    }

    fn items_of(&self, row: u32, handles: &HandleSet) -> usize {
        self.class.items_of(&self.shadow[row as usize], handles)
    }

    fn begin_sums(&self) -> Vec<Vec<u64>> {
        self.archetypes.iter().map(|make| self.class.begin_sums(&make())).collect()
    }

    fn remove(&mut self, row: u32) -> Option<u32> {
        let row = row as usize;
        self.live.swap_remove(row);
        self.shadow.swap_remove(row);
        self.slots.swap_remove(row);
        self.slots.get(row).copied()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
