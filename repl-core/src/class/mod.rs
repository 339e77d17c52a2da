//! Classes: an object type at run time, with everything that compares, writes and reads its objects.
//!
//! Invariant: a class is made from its type's own tables, checked once; so its functions take plain references and are safe.
#![expect(unsafe_code, reason = "vouches for a layout being the object's own")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod begin;
mod limits;

use std::marker::PhantomData;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::changes::changelist::{ArrayChanges, Changelist, Growing, Nested};
use crate::changes::elements::ElementChanges;
use crate::changes::flat::flatten;
use crate::changes::prune::prune;
use crate::diff::compare::{Comparison, Scratch};
use crate::diff::places::Places;
use crate::diff::refusal::Refusal;
use crate::diff::sizes::Sizes;
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::reference::ReferenceMap;
use crate::object::collections::{Adopt, Conclude, Settle, VisitCollections};
use crate::object::copy::copy_slots;
use crate::object::equality::{Answer, same_slot};
use crate::object::level::{Elements, Level, LevelMut, Slot};
use crate::object::scan::{preload_strings, scan};
use crate::schema::condition_masks::Lifetime;
use crate::schema::display;
use crate::schema::erased::News;
use crate::schema::plan::Planned;
use crate::schema::program::{Collected, Command, CommandKind, Program};
use crate::schema::replicated::Replicated;
use crate::wire::checked::{Checked, CheckedUpdate};
use crate::wire::decode::{Applying, Hide, Observer, Path, Recipient, Validating, Validation, Walk};
use crate::wire::encode;

/// An object type at run time.
pub struct Class<T> {
    program: Program,
    lifetime: Lifetime,
    places: Places,
    /// The handles of arrays, of fast arrays and of maps, each with what a list says of one that is sent whole.
    growing: [Growing; 3],
    /// Whether there is a keyed collection at any depth.
    holds_items: bool,
    lends_arrays: bool,
    lends_entries: bool,
    sizes: Sizes,
    objects: PhantomData<fn(&mut T)>,
}

/// Why bytes are no update of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}.{property}: {reason} (bit {bit})")]
pub struct DecodeError {
    /// The object's type.
    pub class: &'static str,
    /// The path of the property at which reading stopped, such as `items[3].count`.
    pub property: String,
    /// How many bits into the input reading stopped.
    pub bit: usize,
    /// What was wrong there.
    #[source]
    pub reason: ReadError,
}

impl<T: Replicated> Default for Class<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Replicated> Class<T> {
    /// The class of `T`. Flattens the layout of a generic type.
    ///
    /// # Panics
    /// If `T::program` gives the program of another type, which no derived one does.
    #[must_use]
    pub fn new() -> Self {
        let program = T::program();
        assert!(program.layout().describes::<T>(), "the program of another type");
        let lifetime = Lifetime::new(&program, T::PLAN.overflows());
        let places = Places::of::<T>(&program);
        let select = |is: &dyn Fn(u32) -> bool| {
            let mut set = HandleSet::new();
            (1..=program.handles()).filter(|&handle| is(handle)).for_each(|handle| set.insert(handle));
            set
        };
        let growing: [Growing; 3] = [
            (select(&|handle| program.is_array(handle)), || Nested::Array(ArrayChanges::whole())),
            (select(&|handle| program.is_collection::<ItemId>(handle)), || {
                ElementChanges::<ItemId>::whole().into()
            }),
            (select(&|handle| program.is_collection::<KeyBits>(handle)), || {
                ElementChanges::<KeyBits>::whole().into()
            }),
        ];
        let holds_items = program.collections::<ItemId>().next().is_some();
        let (lends_arrays, lends_entries) = (lends::<ItemId>(&program), lends::<KeyBits>(&program));
        let sizes = Sizes::of(&program);
        Self {
            lifetime,
            places,
            growing,
            holds_items,
            lends_arrays,
            lends_entries,
            sizes,
            objects: PhantomData,
            program,
        }
    }

    /// The flat table.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Which handles are compared and sent when.
    #[must_use]
    pub fn lifetime(&self) -> &Lifetime {
        &self.lifetime
    }

    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    pub(crate) fn sizes_mut(&mut self) -> &mut Sizes {
        &mut self.sizes
    }

    pub(crate) fn level<'a>(&'a self, object: &'a T) -> Level<'a> {
        // SAFETY: `new` checked that the program is that of `T`.
        unsafe { Level::of(object, &self.program) }
    }

    fn level_mut<'a>(&'a self, object: &'a mut T) -> LevelMut<'a> {
        // SAFETY: `new` checked that the program is that of `T`.
        unsafe { LevelMut::of(object, &self.program) }
    }

    /// A shadow that holds the replicated values of `archetype`: where comparing begins (S69).
    #[must_use]
    pub fn shadow_of(&self, archetype: &T) -> T {
        let mut shadow = T::initial();
        self.copy(archetype, &mut shadow, &HandleSet::up_to(self.program.handles()));
        shadow
    }

    /// Calls `found` with the place of each object in a column that differs from its shadow in what is compared on ordinary
    /// updates: runs of plain memory first, eight objects at a time, the rest by command. Costs about a `memcmp` of the objects where all
    /// is plain; 1.6 to 2.4 of them with a `String`.
    pub fn scan(&self, live: &[T], shadow: &[T], mut found: impl FnMut(usize)) {
        if const { T::PLAN.has_rest() } {
            let pairs = live.iter().zip(shadow).enumerate();
            pairs.filter(|(_, (live, shadow))| self.differs(live, shadow)).for_each(|(at, _)| found(at));
        } else {
            scan(live, shadow, found);
        }
    }

    /// Whether one object differs from its shadow in what is compared on ordinary updates.
    #[must_use]
    pub fn differs(&self, live: &T, shadow: &T) -> bool {
        let mut differs = false;
        scan(std::slice::from_ref(live), std::slice::from_ref(shadow), |_| differs = true);
        differs || (const { T::PLAN.has_rest() } && self.rest_differs(live, shadow))
    }

    fn rest_differs(&self, live: &T, shadow: &T) -> bool {
        self.any_differs(live, shadow, self.lifetime.rest())
            || self.any_differs(live, shadow, self.lifetime.marks_itself())
    }

    fn any_differs(&self, live: &T, shadow: &T, handles: &HandleSet) -> bool {
        let (live, shadow) = (self.level(live), self.level(shadow));
        handles.iter().any(|handle| match (live.slot(handle), shadow.slot(handle)) {
            (Some(live), Some(shadow)) => !same_slot(live, shadow, Answer::Shadow),
            _ => false,
        })
    }

    /// The handles of the `push` properties in which a fast array was touched since its shadow last followed it, or is another one: they count as
    /// marked (S129). O(1) for each such array; nothing where there is none.
    #[must_use]
    pub fn touched(&self, live: &T, shadow: &T) -> HandleSet {
        let mut touched = HandleSet::new();
        for handle in self.lifetime.marks_itself().iter() {
            let mut one = HandleSet::new();
            one.insert(handle);
            if self.any_differs(live, shadow, &one)
                && let Some(property) = self.lifetime.property_of(handle)
            {
                touched.union(&self.lifetime.handles_of(property));
            }
        }
        touched
    }

    /// Preloads what the values of an object hold elsewhere, before it is [compared](Self::compare).
    #[inline]
    pub fn preload(&self, object: &T) {
        preload_strings(object);
    }

    /// Compares the handles in `scope`, copies what differs to the shadow and adds it to `changes` (S60). A value without a form on
    /// the wire is left out and told in `refusals`. O(bytes of plain memory), then O(other handles in scope), and O(elements) for arrays.
    pub fn compare(
        &self,
        live: &T,
        shadow: &mut T,
        scope: &HandleSet,
        changes: &mut Changelist,
        refusals: &mut Vec<Refusal>,
        scratch: &mut Scratch,
    ) {
        let mut candidates = std::mem::take(&mut scratch.candidates);
        self.places.candidates(live, shadow, scope, &mut candidates);
        scratch.comparisons = scratch.comparisons.saturating_add(1);
        let mut comparison = Comparison { sizes: &self.sizes.items, refusals, scratch };
        comparison.level(self.level(live), &mut self.level_mut(shadow), candidates.iter(), changes);
        scratch.candidates = candidates;
    }

    /// Settles the collections of an object that was compared: those that took the place of others get the ids under which the shadow has them.
    /// To be called when [`Scratch::take_unsettled`] says so, before the object is used again. O(items).
    pub fn settle(&self, live: &mut T) {
        Settle.visit(&mut self.level_mut(live));
    }

    /// Whether objects have arrays, collections or maps that grow.
    #[must_use]
    pub fn has_arrays(&self) -> bool {
        self.growing.iter().any(|(handles, _)| !handles.is_empty())
    }

    /// The handles of keyed collections.
    #[must_use]
    pub fn keyed(&self) -> &HandleSet {
        let [_, (items, _), _] = &self.growing;
        items
    }

    /// Whether callbacks of items are given what holds arrays or collections of its own.
    #[must_use]
    pub fn lends_arrays(&self) -> bool {
        self.lends_arrays
    }

    /// Whether callbacks of values of maps, which run while an update is applied, are given what holds arrays or collections of its own.
    #[must_use]
    pub fn lends_entries(&self) -> bool {
        self.lends_entries
    }

    /// From now on an object is a client's: what its user adds to its collections is local (S183).
    pub fn adopt(&self, object: &mut T) {
        if self.holds_items {
            Adopt.visit(&mut self.level_mut(object));
        }
    }

    /// Ends an update of a client's object: its collections call back, if `with_callbacks`, and let go what is to go (S178). O(items received).
    pub fn conclude(&self, object: &mut T, with_callbacks: bool) {
        if self.holds_items {
            Conclude { with_callbacks }.visit(&mut self.level_mut(object));
        }
    }

    /// Makes the properties of `handles` in `to` those of `from`.
    pub fn copy(&self, from: &T, to: &mut T, handles: &HandleSet) {
        copy_slots(self.level(from), &mut self.level_mut(to), handles.iter());
    }

    /// Whether any property of `handles` of a client's object has other values than it had in `old`; of collections, whether the update under way
    /// has brought them anything.
    #[must_use]
    pub fn any_changed(&self, now: &T, old: &T, handles: (u32, u32)) -> bool {
        let (now, old) = (self.level(now), self.level(old));
        (handles.0..handles.1).any(|handle| match (now.slot(handle), old.slot(handle)) {
            (Some(now), Some(old)) => !same_slot(now, old, Answer::Replica),
            _ => false,
        })
    }

    /// Writes the values that `changes` lists (not which they are).
    ///
    /// # Errors
    /// Only if a hand-written serialiser refuses a value that it took when it was compared.
    pub fn write_values(
        &self,
        shadow: &T,
        changes: &Changelist,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        encode::write_values(self.level(shadow), changes, writer)
    }

    /// Drops what lies past the ends of the shadow's arrays (S72).
    pub fn prune(&self, shadow: &T, changes: &mut Changelist) {
        prune(self.level(shadow), changes);
    }

    /// How many items and entries the collections and maps among the properties of `handles` have together. O(properties).
    pub fn items_of(&self, shadow: &T, handles: &HandleSet) -> usize {
        let level = self.level(shadow);
        let items = |handle| match level.slot(handle) {
            Some(Slot::Items(items)) => items.collection.len(),
            Some(Slot::Entries(entries)) => entries.collection.len(),
            _ => 0,
        };
        let collections = self.growing.iter().skip(1).flat_map(|(collections, _)| collections.iter());
        collections.filter(|&handle| handles.contains(handle)).map(items).sum()
    }

    /// Adds the properties of `handles` to `changes`, whole.
    pub fn insert_whole(&self, handles: &HandleSet, changes: &mut Changelist) {
        changes.insert_whole(handles, &self.growing);
    }

    /// The list in the form of S58: ascending handles, each array followed by the number of entries of its own list and that
    /// list; every list ends with 0. New elements are listed with all their handles (S60). Of a collection the ids are listed that came, changed
    /// or went.
    #[must_use]
    pub fn flat(&self, shadow: &T, changes: &Changelist) -> Vec<u32> {
        let mut flat = Vec::new();
        flatten(self.level(shadow), changes, &mut flat);
        flat
    }

    /// Reads the values of `handles` without applying them: whether they are an update of `object`, or of a new one, whose arrays come
    /// whole (R2). What [`apply`](Self::apply) needs goes to `checked`.
    ///
    /// # Errors
    /// When the bits are no update of such an object, with the property and the bit.
    pub fn validate(
        &self,
        object: Option<&T>,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        let initial;
        let object = match object {
            Some(object) => object,
            None => {
                initial = T::initial();
                &initial
            }
        };
        let mut target = Validation(Some(self.level(object)));
        let (pass, observer) = (Validating(checked), &mut ());
        let mut walk = Walk { program: &self.program, reader, references, observer, pass, path: Path::new() };
        let result = walk.object(&mut target, handles);
        // What a value that failed mentioned must not be taken for the next one's.
        walk.references.take_mentioned();
        result.map_err(|reason| {
            let layout = self.program.layout();
            let property = display::path(layout, walk.path.steps());
            DecodeError { class: layout.name(), property, bit: walk.reader.position(), reason }
        })?;
        checked.update(reader.position());
        Ok(())
    }

    /// Reads the values of `handles` into `object`, and tells `observer` what they bring. A value that was validated, and that a reader of the
    /// user's own refuses now, stays as it is.
    pub fn apply(
        &self,
        object: &mut T,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        let target = Recipient::new(self.level_mut(object));
        self.apply_to(target, handles, update, references, observer);
    }

    /// The same for an object that was lent to its user, whatever he made of it; `base` is what the server had sent of it. What he took out of arrays
    /// and collections comes back with the update that says something of it. `validate` must have looked at `base`.
    pub fn apply_lent(
        &self,
        (object, base): (&mut T, &T),
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        let objects = references.objects();
        let target = Recipient::lent(self.level_mut(object), self.level(base), objects);
        self.apply_to(target, handles, update, references, observer);
    }

    fn apply_to(
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

    /// Reads one leaf again from the bits it had, because an object it mentions came or went (S118). `path` is as `apply` told it. Does
    /// nothing if the leaf's element is no longer there (S119).
    pub fn read_again(
        &self,
        object: &mut T,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
    ) {
        self.read_leaf_again(object, path, bits, references, true);
    }

    /// The same for one that was lent; `base` is what the server sent of it. The bits may be the key of an entry too: the entry stands in the object
    /// while all is there that the key mentions.
    pub fn read_again_lent(
        &self,
        (object, base): (&mut T, &T),
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
    ) {
        let Some((&handle, rest)) = path.split_first() else { return };
        let Some((sent, key)) = find_key(self.level(base), handle, rest) else {
            return self.read_leaf_again(object, path, bits, references, true);
        };
        let (objects, steps) = (references.objects(), key.steps().count());
        let way = rest.get(..rest.len().saturating_sub(steps)).unwrap_or_default();
        descend(&mut self.level_mut(object), handle, way, true, &mut |level, handle| {
            let Some(mut entries) = level.elements::<KeyBits>(handle) else { return };
            let is_shown = entries.as_elements().has(&key);
            match (sent.is_mapped(&key, objects), sent.element(&key)) {
                (true, Some(base)) if !is_shown => {
                    let Some(mut value) = entries.insert(&key) else { return };
                    copy_slots(base, &mut value, 1..=base.handles());
                    Adopt.visit(&mut value);
                    Hide(objects).visit(&mut value);
                    entries.collection.receive(&key, News::Added, true);
                }
                (false, _) if is_shown => entries.collection.receive(&key, News::Removed, true),
                _ => {}
            }
        });
    }

    /// The same for an object that its user does not see: values of maps are told nothing.
    pub fn read_again_silently(
        &self,
        object: &mut T,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
    ) {
        self.read_leaf_again(object, path, bits, references, false);
    }

    fn read_leaf_again(
        &self,
        object: &mut T,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
        with_callbacks: bool,
    ) {
        let Some((&handle, rest)) = path.split_first() else { return };
        let mut reader = bits.reader();
        // Bits that were read before are read again; a serialiser that now refuses them leaves the value as it is.
        descend(&mut self.level_mut(object), handle, rest, with_callbacks, &mut |level, handle| {
            level.read_leaf(handle, &mut reader, references).ok();
        });
        references.take_mentioned();
    }
}

/// Whether callbacks of elements are given what holds arrays or collections of its own.
fn lends<I: Collected>(program: &Program) -> bool {
    let is_leaf = |command: &Command| matches!(command.kind, CommandKind::Leaf(_) | CommandKind::Return);
    program.collections::<I>().any(|collection| {
        let inner = program.commands().get(collection.first as usize..collection.end as usize);
        collection.shape.has_callbacks && !inner.unwrap_or_default().iter().all(is_leaf)
    })
}

/// The entry whose key `path` leads to, in its map; `None` if it leads elsewhere.
fn find_key<'a>(level: Level<'a>, handle: u32, path: &[u32]) -> Option<(Elements<'a, KeyBits>, KeyBits)> {
    match level.slot(handle)? {
        Slot::Leaf(_) => None,
        Slot::Array(array) => {
            let (&step, rest) = path.split_first()?;
            let element = array.element(step.checked_div(array.handles())? as usize)?;
            find_key(element, step.checked_rem(array.handles())?.saturating_add(1), rest)
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

/// Calls `at_end` with the level that `path` leads to and the handle there; `None` if the way is gone. Below `level`'s own handle a
/// path has element handles, or the steps of an identity and a handle.
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
            let index = step.checked_div(array.handles())?;
            let inner = step.checked_rem(array.handles())?.saturating_add(1);
            descend(&mut level.element(handle, index as usize)?, inner, rest, calls_back, at_end)
        }
        Slot::Items(_) => descend_into::<ItemId>(level, handle, path, calls_back, at_end),
        Slot::Entries(_) => descend_into::<KeyBits>(level, handle, path, calls_back, at_end),
    }
}

/// The same through an element of a collection.
fn descend_into<I: Collected>(
    level: &mut LevelMut<'_>,
    handle: u32,
    path: &[u32],
    calls_back: bool,
    at_end: &mut dyn FnMut(&mut LevelMut<'_>, u32),
) -> Option<()> {
    let (id, rest) = I::from_steps(path)?;
    let (&inner, rest) = rest.split_first()?;
    let mut handles = HandleSet::new();
    handles.insert(inner);
    let mut elements = level.elements::<I>(handle)?;
    elements.collection.own();
    let change = |element: &mut LevelMut<'_>| descend(element, inner, rest, calls_back, at_end);
    elements.change(&id, &handles, calls_back, change)?
}
