//! Validates and applies updates of an object on a client, and ends updates.
//!
//! *Invariant:* an update is applied only after it was validated.

use super::Class;
use super::tables::Tables;
use crate::bits::{BitReader, BitSlice, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::collections::{BecomeReplica, Conclude, VisitCollections};
use crate::object::copy::copy_whole;
use crate::object::equality::{Answer, differs};
use crate::object::level::{self, Elements, Level, LevelMut, Slot};
use crate::object::read_recipe::ReadRecipe;
use crate::schema::command::Collected;
use crate::schema::display;
use crate::schema::replicated::Replicated;
use crate::schema::step::ReceivedChange;
use crate::wire::checked::{Checked, CheckedUpdate};
use crate::wire::decode::{Applying, Hide, Lent, Observer, Path, Recipient, Validating, Validation, Walk};

/// The error for bytes that are not a valid update of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}.{property}: {reason} (bit {bit})")]
pub struct DecodeError {
    /// The name of the object's type.
    pub class: &'static str,
    /// The path of the property at which reading stopped, for example `items[3].count`.
    pub property: String,
    /// The position in the input, in bits, at which reading stopped.
    pub bit: usize,
    /// The reason why the bits could not be read.
    #[source]
    pub reason: ReadError,
}

impl<T: Replicated> Class<T> {
    /// Returns the handles of the fast arrays that are properties of the object itself (not inside elements).
    #[must_use]
    pub fn keyed(&self) -> &HandleSet {
        let [_, (items, _), _] = &self.tables.growing;
        items
    }

    /// Returns whether objects contain a fast array at any depth. [`conclude`](Self::conclude) must visit
    /// fast arrays.
    #[must_use]
    pub fn holds_items(&self) -> bool {
        self.tables.holds_items
    }

    /// Returns whether callbacks receive items that can contain arrays or collections.
    #[must_use]
    pub fn lends_arrays(&self) -> bool {
        self.tables.lends_arrays
    }

    /// Returns whether callbacks receive map values, during an update, that can contain arrays or
    /// collections.
    #[must_use]
    pub fn lends_entries(&self) -> bool {
        self.tables.lends_entries
    }

    /// Marks an object as an object of a client. Items that the user adds to collections of such an object
    /// from now on are local.
    pub fn make_replica(&self, object: &mut T) {
        if self.tables.holds_items {
            BecomeReplica.visit(&mut self.level_mut(object));
        }
    }

    /// Removes each map entry with a key that refers to an object that does not exist.
    pub fn hide_unmapped(&self, object: &mut T, objects: &dyn Objects) {
        if self.tables.program.layout().keys_may_refer() {
            Hide(objects).visit(&mut self.level_mut(object));
        }
    }

    /// Returns whether any property in the range `handles` (its end is exclusive) of a client's object has
    /// another value than in `old`. A collection counts as a different value if the current update changed
    /// it.
    #[must_use]
    pub fn any_changed(&self, now: &T, old: &T, handles: (u32, u32)) -> bool {
        let (now, old) = (self.level(now), self.level(old));
        (handles.0..handles.1).any(|handle| differs(now, old, handle, Answer::Replica))
    }

    /// Ends an update of a client's object. The collections of the object run their callbacks if
    /// `with_callbacks` is set, and then remove the items that are marked for removal. Costs O(items
    /// received).
    pub fn conclude(&self, object: &mut T, with_callbacks: bool) {
        if self.tables.holds_items {
            Conclude { with_callbacks }.visit(&mut self.level_mut(object));
        }
    }

    /// Returns the recipe (a precomputed way to read) of updates of `handles`. An update that passes
    /// [`ReadRecipe::check`] is valid, and [`apply_by`](Self::apply_by) applies it. Returns `None` if updates
    /// of these properties must be [validated](Self::validate) and [applied](Self::apply) one property after
    /// another.
    #[must_use]
    pub fn read_recipe(&self, handles: &HandleSet) -> Option<ReadRecipe> {
        ReadRecipe::of(&self.tables.program, handles)
    }

    /// Does the same as [`apply`](Self::apply) for an update that has a recipe, which begins at bit `at` of
    /// `bits`. Returns the position of the bit after the update. Costs less than `apply`, because values with
    /// a recipe contain no references and no inner values.
    ///
    /// # Panics
    /// Panics if the recipe belongs to another class.
    #[inline(always)]
    pub fn apply_by(&self, object: &mut T, recipe: &ReadRecipe, bits: BitSlice<'_>, at: usize) -> usize {
        // SAFETY: `new` has checked that the program belongs to `T`.
        unsafe { level::read_by((object, &self.tables.program), recipe, bits, at) }
    }

    /// Reads the values of `handles` without applying them, to check that they are a valid update of
    /// `object`. For a new object, arrays must be sent whole. Stores the data that
    /// [`apply`](Self::apply) needs in `checked`.
    ///
    /// # Errors
    /// Returns an error with the path of the property and the position in the input if the bits are not an
    /// update of an object of this class.
    pub fn validate(
        &self,
        object: Option<&T>,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        match object {
            Some(object) => self.validate_each(object, 1, handles, reader, references, checked),
            None => self.validate_each(&T::initial(), 1, handles, reader, references, checked),
        }
    }

    /// Does the same as [`validate`](Self::validate) for `objects` consecutive updates. Each of them is for
    /// an object that equals `object`.
    ///
    /// # Errors
    /// Returns the same errors as [`validate`](Self::validate).
    pub fn validate_each(
        &self,
        object: &T,
        objects: u32,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        self.tables.validate_each(self.level(object), objects, handles, reader, references, checked)
    }

    /// Reads the values of `handles` into `object`, and reports them to `observer`. If a hand-written
    /// serialiser now refuses a value that it accepted during validation, the property keeps its old value.
    pub fn apply(
        &self,
        object: &mut T,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        let target = Recipient::new(self.level_mut(object));
        self.tables.apply(target, handles, update, references, observer);
    }

    /// Applies an update to an object that the user has borrowed and may have changed, and to its `base`, the
    /// copy of the values that the server sent. `edited` contains the properties that the user may have
    /// edited. If the update contains such a property, the property is restored: afterwards it has the value
    /// that the server sent. Before this call, `validate` must have been called with `base`.
    pub fn apply_lent(
        &self,
        (object, base): (&mut T, &mut T),
        (handles, edited): (&HandleSet, &HandleSet),
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        let lent = Lent { edited, objects: references.objects() };
        let target = Recipient::lent(self.level_mut(object), self.level(base), lent);
        self.tables.apply(target, handles, update.clone(), references, observer);
        self.apply(base, handles, update, references, &mut ());
        self.follow_edits(object, base, handles);
    }

    /// Records in the base that its fast arrays among `handles` have the same items as the fast arrays of the
    /// object. From now on, only later writes of the user count as edits.
    pub(super) fn follow_edits(&self, object: &T, base: &mut T, handles: &HandleSet) {
        if self.keyed().is_empty() {
            return;
        }
        let (live, mut base) = (self.level(object), self.level_mut(base));
        for handle in handles.iter().filter(|&handle| self.keyed().contains(handle)) {
            if let (Some(live), Some(base)) =
                (live.elements::<ItemId>(handle), base.elements::<ItemId>(handle))
            {
                base.collection.follow_edits(live.collection);
            }
        }
    }

    /// Reads one leaf again from its stored bits, because an object to which it refers appeared or
    /// disappeared. `path` is the path of the leaf: [`apply`](Self::apply) has passed it to
    /// [`Observer::mention`]. Does nothing if the element that contains the leaf no longer exists.
    pub fn read_again(
        &self,
        object: &mut T,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
    ) {
        read_leaf_again(&mut self.level_mut(object), path, bits, references, true);
    }

    /// Reads one leaf again from its stored bits, for an object that the user has borrowed and for `base`,
    /// the copy of the values that the server sent. Reading values of `base` again runs no callbacks. If the
    /// bits are the key of a map entry, this function shows or hides the entry in the object. The entry is
    /// shown if all objects to which its key refers exist.
    pub fn read_again_lent(
        &self,
        (object, base): (&mut T, &mut T),
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
    ) {
        let (mut object, mut base) = (self.level_mut(object), self.level_mut(base));
        read_again_lent((&mut object, &mut base), path, bits, references);
    }
}

impl Tables {
    fn validate_each(
        &self,
        object: Level<'_>,
        objects: u32,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        let mut target = Validation(Some(object));
        let (pass, observer) = (Validating(checked), &mut ());
        let mut walk = Walk { program: &self.program, reader, references, observer, pass, path: Path::new() };
        let result = (0..objects).try_for_each(|_| {
            let start = walk.reader.position();
            walk.object(&mut target, handles)?;
            walk.pass.0.update(start..walk.reader.position());
            Ok(())
        });
        // Forget the objects to which an invalid value refers, so that they are not recorded for the next
        // value.
        walk.references.take_mentioned();
        result.map_err(|reason| {
            let layout = self.program.layout();
            let property = display::path(layout, walk.path.steps());
            DecodeError { class: layout.name(), property, bit: walk.reader.position(), reason }
        })
    }

    fn apply(
        &self,
        mut target: Recipient<'_>,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        let CheckedUpdate { mut reader, end, ends } = update;
        let (pass, reader) = (Applying(ends), &mut reader);
        let mut walk = Walk { program: &self.program, reader, references, observer, pass, path: Path::new() };
        let Ok(()) = walk.object(&mut target, handles);
        debug_assert_eq!(walk.reader.position(), end, "both passes read the same bits");
    }
}

fn read_again_lent(
    (object, base): (&mut LevelMut<'_>, &mut LevelMut<'_>),
    path: &[u32],
    bits: BitSlice<'_>,
    references: &mut ReferenceMap<'_>,
) {
    read_leaf_again(base, path, bits, references, false);
    let Some((&handle, rest)) = path.split_first() else { return };
    let Some((sent, key)) = find_key(base.as_level(), handle, rest) else {
        return read_leaf_again(object, path, bits, references, true);
    };
    let (objects, steps) = (references.objects(), key.steps().count());
    let way = rest.get(..rest.len().saturating_sub(steps)).unwrap_or_default();
    descend(object, handle, way, true, &mut |level, handle| {
        let Some(mut entries) = level.elements::<KeyBits>(handle) else { return };
        let is_shown = entries.as_elements().has(&key);
        match (sent.is_mapped(&key, objects), sent.element(&key)) {
            (true, Some(base)) if !is_shown => {
                let Some(mut value) = entries.insert(&key) else { return };
                copy_whole(base, &mut value);
                BecomeReplica.visit(&mut value);
                Hide(objects).visit(&mut value);
                entries.collection.receive(&key, ReceivedChange::Added, true);
            }
            (false, _) if is_shown => entries.collection.receive(&key, ReceivedChange::Removed, true),
            _ => {}
        }
    });
}

fn read_leaf_again(
    object: &mut LevelMut<'_>,
    path: &[u32],
    bits: BitSlice<'_>,
    references: &mut ReferenceMap<'_>,
    with_callbacks: bool,
) {
    let Some((&handle, rest)) = path.split_first() else { return };
    let mut reader = bits.reader();
    // If a hand-written serialiser now refuses bits that it accepted before, the value does not change.
    descend(object, handle, rest, with_callbacks, &mut |level, handle| {
        level.read_leaf(handle, &mut reader, references).ok();
    });
    references.take_mentioned();
}

/// Returns the key to which `path` leads, and the map that contains the key. Returns `None` if the path does
/// not lead to a key.
fn find_key<'a>(level: Level<'a>, handle: u32, path: &[u32]) -> Option<(Elements<'a, KeyBits>, KeyBits)> {
    match level.slot(handle)? {
        Slot::Leaf(_) => None,
        Slot::Array(array) => {
            let (&step, rest) = path.split_first()?;
            let (index, inner) = array.locate(step)?;
            find_key(array.element(index)?, inner, rest)
        }
        Slot::Items(items) => {
            let (id, rest) = ItemId::from_steps(path)?;
            let (&inner, rest) = rest.split_first()?;
            find_key(items.element(&id)?, inner, rest)
        }
        Slot::Entries(entries) => {
            let (key, rest) = KeyBits::from_steps(path)?;
            match rest.split_first() {
                None => Some((entries, key)),
                Some((&inner, rest)) => find_key(entries.element(&key)?, inner, rest),
            }
        }
    }
}

/// Calls `at_end` with the level (the object or element) and the handle to which `path` leads. Returns `None`
/// if the level no longer exists. After the handle at `level`, each part of a path is either a handle of an
/// array element, or the steps of an id or key followed by a handle.
fn descend(
    level: &mut LevelMut<'_>,
    handle: u32,
    path: &[u32],
    calls_back: bool,
    at_end: &mut dyn FnMut(&mut LevelMut<'_>, u32),
) -> Option<()> {
    let Some((&step, rest)) = path.split_first() else {
        at_end(level, handle);
        return Some(());
    };
    match level.as_level().slot(handle)? {
        Slot::Leaf(_) => None,
        Slot::Array(array) => {
            let (index, inner) = array.locate(step)?;
            descend(&mut level.element(handle, index)?, inner, rest, calls_back, at_end)
        }
        Slot::Items(_) => descend_into::<ItemId>(level, handle, path, calls_back, at_end),
        Slot::Entries(_) => descend_into::<KeyBits>(level, handle, path, calls_back, at_end),
    }
}

/// Follows the path into an element of a collection, if its next part is an id or key.
fn descend_into<I: Collected>(
    level: &mut LevelMut<'_>,
    handle: u32,
    path: &[u32],
    calls_back: bool,
    at_end: &mut dyn FnMut(&mut LevelMut<'_>, u32),
) -> Option<()> {
    let (id, rest) = I::from_steps(path)?;
    let (&inner, rest) = rest.split_first()?;
    let handles = HandleSet::from_iter([inner]);
    let mut elements = level.elements::<I>(handle)?;
    elements.collection.own();
    let change = |element: &mut LevelMut<'_>| descend(element, inner, rest, calls_back, at_end);
    elements.change(&id, &handles, calls_back, change)?
}
