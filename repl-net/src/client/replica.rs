//! A replica column: stores all objects of one class on a client.
//!
//! The values of an update are read in one of two ways: by a walk over the program of the class (the list of
//! all its properties), or by a recipe. A recipe is a short list of reads for one set of properties, and is
//! faster.
//!
//! *Invariant:* row `n` of each list belongs to the same object. The list `old` is used only for classes with
//! notifies. Before the user can change an object, the object has a base: a copy of the values that the
//! server sent.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use repl_core::__private::{ObjectCallbackPolicy, preload, preload_all};
use repl_core::{
    BitReader, BitSlice, Checked, CheckedUpdate, Class, DecodeError, Guid, HandleSet, Notify, Objects,
    Observer, Program, PropertyIndex, ReadRecipe, ReferenceMap, Replicated,
};
use repl_link::parts::Sequence;

use super::bases::Bases;
use super::keyed_objects::KeyedObjects;
use super::notifies::{Notifies, NotifyOf};
use super::rows::Rows;
use super::slot_table::SlotTable;
use super::validated_entries::PreparedUpdate;
use crate::session::archetype::Archetype;

/// Objects of at most this size are prefetched as a whole.
const PRELOADED_BYTES: usize = 256;

/// The existing object that an update changes, or the new objects that several updates create.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// The update changes the existing object in this row.
    Row(u32),
    /// The updates are consecutive in the packet. Each creates an object, which first has the initial values
    /// of an archetype.
    New { archetype: u32, objects: u32 },
    /// The update sets the values of the object that the user has placed under this path, which then belongs
    /// to the server's object.
    Placed(&'a str),
}

/// Values that were validated and can be read by a recipe. They may be several updates of the same
/// properties.
#[derive(Clone, Copy)]
pub(crate) struct Prepared<'a> {
    pub(crate) handles: &'a HandleSet,
    pub(crate) recipe: &'a ReadRecipe,
    /// The packet body that contains the values.
    pub(crate) body: BitSlice<'a>,
}

/// A callback of the user's object type. Statement S54 lists the order in which callbacks run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callback {
    PreNetReceive,
    Opened,
    PostNetReceive,
    Notify(PropertyIndex),
    PostRepNotifies,
    PostNetInit,
}

/// A property with a notify that a packet contained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedNotify {
    /// The index of the notify in the class.
    notify: u32,
    pub(crate) property: PropertyIndex,
    /// Whether the notify must be called (S49, S50): the value has changed, or the notify is always called.
    pub(crate) is_due: bool,
}

/// The functions of a replica column that can be called without knowing its Rust type.
pub(crate) trait Replica: Any + Send + Sync {
    fn program(&self) -> &Program;
    /// Reads the updates of a subject without applying them, to check that they are valid. Stores in
    /// `checked` what [`apply`](Self::apply) needs.
    fn validate(
        &self,
        subject: Subject<'_>,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError>;
    /// Returns a recipe that reads the properties `handles`, or `None` if they must be read by a walk over
    /// the program.
    fn recipe(&self, handles: &HandleSet) -> Option<ReadRecipe>;
    /// Loads the object in a row into the processor's cache, because an update will soon change it.
    fn preload(&self, row: u32);
    /// Applies updates of the same properties by a recipe, and records each of them in the table of slots
    /// with its stamp. Calls the callback before each update, and stores the same old values as
    /// [`apply`](Self::apply).
    fn apply_prepared(
        &mut self,
        updates: &[PreparedUpdate],
        slots: (&mut SlotTable, Sequence),
        prepared: Prepared<'_>,
    );
    /// Does the same as [`apply_prepared`](Self::apply_prepared) for objects in consecutive rows, but records
    /// nothing. The values of the first object begin at the bit position `at`. The values of the other
    /// objects follow. Returns the position after the last value.
    fn apply_run(&mut self, rows: Range<u32>, at: usize, prepared: Prepared<'_>) -> usize;
    /// Applies an update that was validated. Stores the old values with which [`changed`](Self::changed)
    /// compares.
    fn apply(
        &mut self,
        row: u32,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    );
    /// Returns whether the column must be called after a packet has updated its objects, because the objects
    /// have callbacks or notifies, or collections that report changes.
    fn is_watched(&self) -> bool;
    /// For each property in `handles` that has a notify, adds the notify to `notified`, and whether it must
    /// be called.
    fn changed(&self, row: u32, handles: &HandleSet, notified: &mut Vec<ReceivedNotify>);
    /// Prepares to read leaves (values that are sent as a unit) of the property at `handle` again. Stores the
    /// old value of the property, unless this packet has already changed the property.
    fn begin_reread(&mut self, row: u32, handle: u32, notified: &mut Vec<ReceivedNotify>);
    /// Reads one leaf of an object again from its stored bits, because references in it resolve differently
    /// (S118).
    fn reread_leaf(&mut self, row: u32, path: &[u32], bits: BitSlice<'_>, references: &mut ReferenceMap<'_>);
    /// Checks again which properties have changed, after leaves of the object were read again.
    fn recheck_changed(&self, row: u32, notified: &mut [ReceivedNotify]);
    /// Returns the number of archetypes of the class (its sets of initial values), plus one for the values of
    /// `Default`.
    fn archetypes(&self) -> u32;
    /// Returns checksums of the initial values of all properties, for each archetype. The first checksums are
    /// those for the values of `Default`. [`Class::begin_sums`] describes the checksums.
    fn begin_sums(&self) -> Vec<Vec<u64>>;
    /// Adds objects with the initial values of an archetype, in consecutive rows. Returns the row of the
    /// first object.
    fn insert(&mut self, slots: Range<u32>, archetype: u32) -> u32;
    /// Removes an object from its row. Until it is [released](Self::release), the user can still read the
    /// object as [departed](crate::ClientObjectInfo::departed). Returns the slot of the object that was moved
    /// to this row.
    fn remove(&mut self, row: u32, guid: Guid) -> Option<u32>;
    /// Returns whether the user has placed an object under a path, and the server's object has not arrived.
    fn has_placed(&self, path: &str) -> bool;
    /// Moves the object that the user has placed under a path into a row, so that it becomes the server's
    /// object. Map entries whose keys refer to missing objects are removed from it. Returns the row, or
    /// `None` if no object waits under this path.
    fn bind(&mut self, slot: u32, path: &str, objects: &dyn Objects) -> Option<u32>;
    /// Removes an object from its row, and keeps it as an object that the user has placed. Returns the slot
    /// of the object that was moved to this row.
    fn unbind(&mut self, row: u32, path: Arc<str>) -> Option<u32>;
    /// Drops a removed object, so that it can no longer be read.
    fn release(&mut self, guid: Guid);
    /// Removes an object from its row, because it was torn off or is out of sight. The client keeps the
    /// object. Returns the slot of the object that was moved to this row.
    fn detach(&mut self, row: u32, guid: Guid) -> Option<u32>;
    /// Removes an object that was detached. Until it is [released](Self::release), the user can still read it
    /// as departed.
    fn remove_detached(&mut self, guid: Guid);
    /// Drops the values of a detached object, because the object in this row continues it. Each notify in
    /// `notified` then has the detached values as its old values.
    fn take_over(&mut self, row: u32, guid: Guid, notified: &mut Vec<ReceivedNotify>);
    /// Completes an update of an object's collections: calls the callbacks of their elements, and then
    /// removes those elements that the update removes (S178).
    fn finish_update(&mut self, row: u32);
    fn call(&mut self, row: u32, callback: Callback);
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// The replica column of the class `T`.
pub(crate) struct TypedReplica<T> {
    pub(crate) class: Class<T>,
    is_watched: bool,
    pub(crate) live: Rows<T>,
    /// For each object, the values before the last update, which are passed to notifies.
    old: Rows<T>,
    /// For each object that the user may have changed, a copy with the values that the server sent.
    bases: Bases<T>,
    pub(crate) slots: Vec<u32>,
    /// Removed objects that the user can still read.
    pub(crate) departed: KeyedObjects<Guid, T>,
    /// Objects that the server has torn off, and objects that are out of sight. They are in no slot.
    pub(crate) detached: KeyedObjects<Guid, T>,
    /// The objects that the user has placed under paths, except those that belong to a server's object now.
    pub(crate) placed: KeyedObjects<Arc<str>, T>,
    archetypes: Vec<Archetype<T>>,
    notifies: Notifies,
}

impl<T: Replicated> TypedReplica<T> {
    pub(crate) fn new() -> Self {
        let class = Class::new();
        let notifies = Notifies::of(class.conditions(), class.program().handles());
        Self {
            is_watched: T::CallbackPolicy::HAS_CALLBACKS || !notifies.is_empty() || class.holds_items(),
            class,
            live: Rows::default(),
            old: Rows::default(),
            bases: Bases::default(),
            slots: Vec::new(),
            departed: KeyedObjects::default(),
            detached: KeyedObjects::default(),
            placed: KeyedObjects::default(),
            archetypes: vec![Box::new(T::initial)],
            notifies,
        }
    }

    pub(crate) fn add_archetype(&mut self, archetype: Archetype<T>) -> u32 {
        self.archetypes.push(archetype);
        (self.archetypes.len() as u32).saturating_sub(1)
    }

    /// Returns the object in a row, so that the user can change it. First creates the base of the object (a
    /// copy with the server's values) if it has none.
    pub(crate) fn borrow_for_user(&mut self, row: u32) -> Option<&mut T> {
        let row = row as usize;
        let (live, slot) = (self.live.get_mut(row)?, self.slots.get(row)?);
        let base = self.bases.create(&self.class, *slot, live)?;
        base.uncheck_all(self.class.program().handles());
        Some(live)
    }

    /// Creates the base of an object (a copy with the server's values) before an update is applied, if it has
    /// none.
    fn prepare_base(&mut self, row: u32) {
        let row = row as usize;
        if let (Some(live), Some(slot)) = (self.live.get(row), self.slots.get(row)) {
            self.bases.create(&self.class, *slot, live);
        }
    }

    /// Sets properties of the object in a row back to the values that the server sent. Costs O(1) if the user
    /// has not borrowed the object.
    pub(crate) fn restore(&mut self, row: u32, handles: &HandleSet, objects: &dyn Objects) {
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(&slot)) = (live.get_mut(row as usize), slots.get(row as usize)) else { return };
        let Some(base) = bases.get_mut(slot) else { return };
        class.restore((live, &mut base.sent), handles, objects);
        base.unchecked.difference(handles);
        bases.remove_if_equal(class, slot, live);
    }

    fn push_row(&mut self, slot: u32, object: T) -> u32 {
        self.live.push(object);
        self.slots.push(slot);
        (self.live.len() as u32).saturating_sub(1)
    }

    /// Removes the object from a row. Returns the object, and the slot of the object that was moved to this
    /// row.
    fn take_row(&mut self, row: u32) -> Option<(T, Option<u32>)> {
        let row = row as usize;
        let object = self.live.swap_remove(row)?;
        self.bases.remove(self.slots.swap_remove(row));
        if !self.notifies.is_empty() {
            self.old.swap_remove(row);
        }
        Some((object, self.slots.get(row).copied()))
    }

    /// Returns the base of the object in `row`, or the object itself if it has no base: in each case, the
    /// values that the server sent.
    fn base(&self, row: usize) -> Option<&T> {
        let base = if self.bases.is_empty() { None } else { self.bases.get(*self.slots.get(row)?) };
        base.map(|base| &base.sent).or_else(|| self.live.get(row))
    }

    /// Applies an update to the object in `row`. The values of the update begin at the bit position `at`.
    /// Returns the position after the values.
    #[inline(always)]
    fn read_by(&mut self, row: u32, at: usize, prepared: Prepared<'_>) -> usize {
        let Prepared { handles, recipe, body } = prepared;
        self.call(row, Callback::PreNetReceive);
        let row = row as usize;
        if !self.notifies.is_empty() {
            self.remember(row, handles);
        }
        if !self.bases.is_empty() && self.has_base(row) {
            return self.read_both_by(row, at, prepared);
        }
        let Some(live) = self.live.get_mut(row) else { return at };
        self.class.apply_by(live, recipe, body, at)
    }

    #[inline]
    fn has_base(&self, row: usize) -> bool {
        self.slots.get(row).is_some_and(|&slot| self.bases.has(slot))
    }

    /// Applies an update to an object and to its base. Drops the base if it is no longer needed. Returns the
    /// bit position after the values of the update.
    #[inline(never)]
    fn read_both_by(&mut self, row: usize, at: usize, prepared: Prepared<'_>) -> usize {
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(&slot)) = (live.get_mut(row), slots.get(row)) else { return at };
        let Some(base) = bases.get_mut(slot) else { return at };
        class.apply_by(&mut base.sent, prepared.recipe, prepared.body, at);
        let end = class.apply_by(live, prepared.recipe, prepared.body, at);
        bases.remove_if_equal(class, slot, live);
        end
    }

    /// Stores the current values of those properties in `handles` that have a notify, as old values.
    fn remember(&mut self, row: usize, handles: &HandleSet) {
        let Self { class, live, old, notifies, .. } = self;
        let (Some(live), Some(old)) = (live.get(row), old.get_mut(row)) else { return };
        let mut remembered = notifies.handles_among(handles);
        // Old values of collections are not stored, because copying all items in each update would be slow.
        // Collections record their own changes.
        remembered.difference(class.keyed());
        if !remembered.is_empty() {
            class.copy(live, old, &remembered);
        }
    }

    /// Returns the notify of a property, and whether it must be called: the property has changed, or the
    /// notify is always called (S49, S50).
    fn notified(&self, row: usize, notify: u32) -> Option<ReceivedNotify> {
        let (live, old) = (self.live.get(row)?, self.old.get(row)?);
        let NotifyOf { property, when, handles } = self.notifies.get(notify)?;
        let is_due = when == Notify::Always || self.class.any_changed(live, old, handles);
        Some(ReceivedNotify { notify, property, is_due })
    }
}

/// Returns an object with the initial values of an archetype.
fn initial<T: Replicated>(archetypes: &[Archetype<T>], archetype: u32) -> T {
    archetypes.get(archetype as usize).map_or_else(T::initial, |make| make())
}

impl<T: Replicated> Replica for TypedReplica<T> {
    fn program(&self) -> &Program {
        self.class.program()
    }

    fn validate(
        &self,
        subject: Subject<'_>,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        let class = &self.class;
        match subject {
            Subject::Row(row) => {
                class.validate(self.base(row as usize), handles, reader, references, checked)
            }
            Subject::New { archetype, objects } => {
                let initial = initial(&self.archetypes, archetype);
                class.validate_each(&initial, objects, handles, reader, references, checked)
            }
            Subject::Placed(path) => {
                class.validate(self.placed.get(path), handles, reader, references, checked)
            }
        }
    }

    fn recipe(&self, handles: &HandleSet) -> Option<ReadRecipe> {
        self.class.read_recipe(handles)
    }

    fn preload(&self, row: u32) {
        match self.live.get(row as usize) {
            Some(live) if size_of::<T>() <= PRELOADED_BYTES => preload_all(live),
            Some(live) => preload(live),
            None => {}
        }
    }

    fn apply_prepared(
        &mut self,
        updates: &[PreparedUpdate],
        (slots, stamp): (&mut SlotTable, Sequence),
        prepared: Prepared<'_>,
    ) {
        for &PreparedUpdate { slot, at } in updates {
            if let Some(row) = slots.update(slot, stamp) {
                self.read_by(row, at as usize, prepared);
            }
        }
    }

    fn apply_run(&mut self, rows: Range<u32>, at: usize, prepared: Prepared<'_>) -> usize {
        rows.fold(at, |at, row| self.read_by(row, at, prepared))
    }

    fn apply(
        &mut self,
        row: u32,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        // Two cases need a base. Callbacks of map entries run while the update is applied. And a map entry
        // whose key refers to a missing object is stored only in the base.
        if self.class.lends_entries() || update.refers() {
            self.prepare_base(row);
        }
        let at = row as usize;
        self.remember(at, handles);
        let Self { class, live, bases, slots, .. } = self;
        let Some(live) = live.get_mut(at) else { return };
        let slot = if bases.is_empty() { None } else { slots.get(at) };
        let Some((slot, base)) = slot.and_then(|slot| Some((*slot, bases.get_mut(*slot)?))) else {
            return class.apply(live, handles, update, references, observer);
        };
        let handles = (handles, &base.unchecked);
        class.apply_lent((live, &mut base.sent), handles, update, references, observer);
        base.unchecked.difference(handles.0);
        bases.remove_if_equal(class, slot, live);
    }

    fn is_watched(&self) -> bool {
        self.is_watched
    }

    fn changed(&self, row: u32, handles: &HandleSet, notified: &mut Vec<ReceivedNotify>) {
        for notify in self.notifies.among(handles) {
            notified.extend(self.notified(row as usize, notify));
        }
    }

    fn begin_reread(&mut self, row: u32, handle: u32, notified: &mut Vec<ReceivedNotify>) {
        if self.class.lends_entries() {
            self.prepare_base(row);
        }
        let row = row as usize;
        let Some(notify) = self.notifies.number_at(handle) else { return };
        // If the property is already in `notified`, this packet has changed it, and its old value was stored.
        if notified.iter().all(|known| known.notify != notify) {
            let mut handles = HandleSet::new();
            handles.insert(handle);
            self.remember(row, &handles);
            notified.extend(self.notified(row, notify));
        }
    }

    fn recheck_changed(&self, row: u32, notified: &mut [ReceivedNotify]) {
        for known in notified {
            if let Some(now) = self.notified(row as usize, known.notify) {
                *known = now;
            }
        }
    }

    fn reread_leaf(&mut self, row: u32, path: &[u32], bits: BitSlice<'_>, references: &mut ReferenceMap<'_>) {
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(&slot)) = (live.get_mut(row as usize), slots.get(row as usize)) else { return };
        let Some(base) = bases.get_mut(slot) else { return class.read_again(live, path, bits, references) };
        if let Some(&handle) = path.first()
            && base.unchecked.contains(handle)
        {
            let handles = HandleSet::from_iter([handle]);
            class.restore_for_update((live, &mut base.sent), &handles, references);
            base.unchecked.remove(handle);
        }
        class.read_again_lent((live, &mut base.sent), path, bits, references);
    }

    fn begin_sums(&self) -> Vec<Vec<u64>> {
        self.archetypes.iter().map(|make| self.class.begin_sums(&make())).collect()
    }

    fn archetypes(&self) -> u32 {
        self.archetypes.len() as u32
    }

    fn has_placed(&self, path: &str) -> bool {
        self.placed.contains(path)
    }

    fn bind(&mut self, slot: u32, path: &str, objects: &dyn Objects) -> Option<u32> {
        let mut object = self.placed.remove(path)?;
        self.class.make_replica(&mut object);
        // While this object waited, objects may have been removed to which keys of its map entries refer.
        self.class.hide_unmapped(&mut object, objects);
        if !self.notifies.is_empty() {
            let mut old = self.class.shadow_of(&object);
            self.class.make_replica(&mut old);
            self.old.push(old);
        }
        Some(self.push_row(slot, object))
    }

    fn unbind(&mut self, row: u32, path: Arc<str>) -> Option<u32> {
        let (object, moved) = self.take_row(row)?;
        self.placed.insert(path, object);
        moved
    }

    fn insert(&mut self, slots: Range<u32>, archetype: u32) -> u32 {
        let first = self.live.len() as u32;
        let Self { class, live, old, archetypes, notifies, .. } = self;
        let make = |_| {
            let mut object = initial(archetypes, archetype);
            class.make_replica(&mut object);
            object
        };
        live.extend(slots.clone().map(make));
        if !notifies.is_empty() {
            old.extend(slots.clone().map(make));
        }
        self.slots.extend(slots);
        first
    }

    fn remove(&mut self, row: u32, guid: Guid) -> Option<u32> {
        let (object, moved) = self.take_row(row)?;
        self.departed.insert(guid, object);
        moved
    }

    fn detach(&mut self, row: u32, guid: Guid) -> Option<u32> {
        let (object, moved) = self.take_row(row)?;
        self.detached.insert(guid, object);
        moved
    }

    fn remove_detached(&mut self, guid: Guid) {
        if let Some(object) = self.detached.remove(&guid) {
            self.departed.insert(guid, object);
        }
    }

    fn take_over(&mut self, row: u32, guid: Guid, notified: &mut Vec<ReceivedNotify>) {
        let Some(before) = self.detached.remove(&guid) else { return };
        let all = HandleSet::up_to(self.class.program().handles());
        let mut remembered = self.notifies.handles_among(&all);
        remembered.difference(self.class.keyed());
        if let Some(old) = self.old.get_mut(row as usize) {
            self.class.copy(&before, old, &remembered);
        }
        notified.clear();
        self.changed(row, &all, notified);
    }

    fn release(&mut self, guid: Guid) {
        self.departed.remove(&guid);
    }

    fn finish_update(&mut self, row: u32) {
        if self.class.lends_arrays() {
            self.prepare_base(row);
        }
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(slot)) = (live.get_mut(row as usize), slots.get(row as usize)) else { return };
        class.conclude(live, true);
        if let Some(base) = bases.get_mut(*slot) {
            class.conclude(&mut base.sent, false);
        }
    }

    fn call(&mut self, row: u32, callback: Callback) {
        if !T::CallbackPolicy::HAS_CALLBACKS && !matches!(callback, Callback::Notify(_)) {
            return;
        }
        // Updates of arrays are applied to the values that the server sent, so copy these before the callback
        // can write.
        if self.class.has_arrays() {
            self.borrow_for_user(row);
        }
        let Some(live) = self.live.get_mut(row as usize) else { return };
        match callback {
            Callback::PreNetReceive => T::CallbackPolicy::receiving(live),
            Callback::Opened => T::CallbackPolicy::opened(live),
            Callback::PostNetReceive => T::CallbackPolicy::received(live),
            Callback::Notify(property) => {
                if let Some(old) = self.old.get(row as usize) {
                    live.notify(property.index(), old);
                }
            }
            Callback::PostRepNotifies => T::CallbackPolicy::notified(live),
            Callback::PostNetInit => T::CallbackPolicy::begun(live),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
