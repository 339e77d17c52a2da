//! The destination of decoded values: an object or a part of one. If the user has edited a property of the
//! object, an update of this property first restores the earlier value from the server, and then applies the
//! change (S49).
//!
//! *Invariant:* an update is written first to the object that the user has borrowed, and then to its base,
//! the copy of the values that the server sent. After that, the properties in the update have the same values
//! in both, except for hidden entries and local items. No change that a user makes to an object can make an
//! update fail.

use std::collections::BTreeSet;

use crate::bits::{BitReader, BitSlice, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::collections::{BecomeReplica, VisitCollections};
use crate::object::level::{Elements, ElementsMut, Level, LevelMut, Slot};
use crate::object::restore::{Restore, edits};
use crate::schema::command::{Collected, LeafCommand};
use crate::schema::step::ReceivedChange;
use crate::wire::decode::target::{ElementTarget, ReadElement, Target, Validation};

/// Additional data for an object that the user has borrowed.
#[derive(Clone, Copy)]
pub(crate) struct Lent<'a> {
    /// The properties that the user may have edited.
    pub(crate) edited: &'a HandleSet,
    /// The objects that exist. Map entries whose keys refer to objects that do not exist are only in the copy
    /// of the values that the server sent.
    pub(crate) objects: &'a dyn Objects,
}

/// An object or a part of one, into which values are read.
pub(crate) struct Recipient<'a> {
    live: LevelMut<'a>,
    /// The same part with the values that the server sent, if the user has borrowed the object.
    base: Option<Level<'a>>,
    seen: Option<&'a dyn Objects>,
    /// The properties at this level that the user may have edited. At the level of an element this is `None`,
    /// because elements are restored together with their property.
    edited: Option<&'a HandleSet>,
}

impl<'a> Recipient<'a> {
    pub(crate) fn new(live: LevelMut<'a>) -> Self {
        Self { live, base: None, seen: None, edited: None }
    }

    /// Makes a recipient for an object that the user has borrowed.
    pub(crate) fn lent(live: LevelMut<'a>, base: Level<'a>, lent: Lent<'a>) -> Self {
        Self { live, base: Some(base), seen: Some(lent.objects), edited: Some(lent.edited) }
    }

    fn base_slot(&self, handle: u32) -> Option<Slot<'a>> {
        self.base?.slot(handle)
    }

    fn is_edited(&self, handle: u32) -> bool {
        self.edited.is_some_and(|edited| edited.contains(handle))
    }

    /// Restores the array at `handle`, if the user may have edited it, or if a callback of an element has
    /// changed its length.
    fn restore_array(&mut self, handle: u32) {
        let (Some(base), Some(objects), Some(Slot::Array(sent))) =
            (self.base, self.seen, self.base_slot(handle))
        else {
            return;
        };
        let has_count = |slot| matches!(slot, Some(Slot::Array(array)) if array.count() == sent.count());
        if self.is_edited(handle) || !has_count(self.live.as_level().slot(handle)) {
            let restore = Restore { objects, calls_back: false, is_thorough: false };
            restore.property(base, &mut self.live, handle);
        }
    }
}

/// Removes each map entry with a key that refers to an object that does not exist.
pub(crate) struct Hide<'o>(pub(crate) &'o dyn Objects);

impl VisitCollections for Hide<'_> {
    fn collection<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>) {
        for id in if I::IS_KEY { elements.collection.ids() } else { Vec::new() } {
            if !elements.as_elements().is_mapped(&id, self.0) {
                elements.collection.receive(&id, ReceivedChange::Removed, false);
            }
        }
        self.visit_elements(elements);
    }
}

impl Target for Recipient<'_> {
    type Element<'e>
        = Recipient<'e>
    where
        Self: 'e;

    type Elements<'e, I: Collected>
        = ElementRecipient<'e, I>
    where
        Self: 'e;

    #[inline]
    fn leaf(
        &mut self,
        handle: u32,
        _: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        self.live.read_leaf(handle, reader, references)
    }

    #[inline]
    fn direct(&mut self, first: u32, count: u32, bits: BitSlice<'_>) {
        let end = self.live.read_direct(first, count, bits, 0);
        debug_assert_eq!(end, bits.len(), "the bits of direct properties");
    }

    fn resize(&mut self, handle: u32, count: usize) -> usize {
        self.restore_array(handle);
        let Some(lens) = self.live.resize(handle, count) else { return 0 };
        for index in lens.clone() {
            if let Some(mut element) = self.live.element(handle, index) {
                BecomeReplica.visit(&mut element);
            }
        }
        lens.start
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Recipient<'_>> {
        let base = match (self.base_slot(handle), self.live.as_level().slot(handle)) {
            // The update may have made another variant of an enum active.
            (Some(Slot::Array(base)), Some(Slot::Array(live))) if base.has_elements_of(&live) => {
                base.element(index)
            }
            _ => None,
        };
        Some(Recipient { live: self.live.element(handle, index)?, base, seen: self.seen, edited: None })
    }

    fn elements<I: Collected>(&mut self, handle: u32) -> ElementRecipient<'_, I> {
        let base = self.base.and_then(|base| base.elements(handle));
        let is_edited = self.is_edited(handle);
        ElementRecipient { live: self.live.elements(handle), base, seen: self.seen, is_edited, edited: None }
    }
}

pub(crate) struct ElementRecipient<'a, I: Identity> {
    live: Option<ElementsMut<'a, I>>,
    /// The same collection with the elements that the server sent, if the user has borrowed the object.
    base: Option<Elements<'a, I>>,
    seen: Option<&'a dyn Objects>,
    /// Whether the user may have edited the collection.
    is_edited: bool,
    /// The elements that the user may have edited, if there are any.
    edited: Option<Box<Edited<I>>>,
}

/// The elements of a collection that the user may have edited, and that the update has not mentioned yet.
struct Edited<I> {
    /// The elements that are restored when the update ends.
    waiting: BTreeSet<I>,
    /// The elements that are removed at the end, because the update removes all elements that it does not
    /// list.
    swept: BTreeSet<I>,
}

impl<I: Ord> Edited<I> {
    /// Returns `None` if there are no elements.
    fn of(waiting: BTreeSet<I>) -> Option<Box<Self>> {
        (!waiting.is_empty()).then(|| Box::new(Self { waiting, swept: BTreeSet::new() }))
    }

    /// Removes an element because the update mentions it. Returns whether the element was in a set.
    fn take(&mut self, id: &I) -> bool {
        self.waiting.remove(id) || self.swept.remove(id)
    }

    fn sweep(&mut self) {
        self.swept.append(&mut self.waiting);
    }

    /// Moves an element from `swept` to `waiting`, because the update does not remove it.
    fn spare(&mut self, id: &I) {
        self.waiting.extend(self.swept.take(id));
    }
}

impl<'a, I: Identity> ElementRecipient<'a, I> {
    /// Returns the collection, or `None` if an element with this id or key must be hidden from the user. The
    /// user may have assigned an object value that contains such an element. Then the element is removed.
    fn place_of(&mut self, id: &I, calls_back: bool) -> Option<&mut ElementsMut<'a, I>> {
        let live = self.live.as_mut()?;
        if self.seen.is_none_or(|seen| live.as_elements().is_mapped(id, seen)) {
            return Some(live);
        }
        if live.as_elements().has(id) {
            live.collection.receive(id, ReceivedChange::Removed, calls_back);
        }
        None
    }

    /// Returns whether the user may have edited an element that the update mentions, and forgets the edit.
    fn take_edited(&mut self, id: &I) -> bool {
        self.edited.as_mut().is_some_and(|edited| edited.take(id))
    }
}

impl<I: Identity> ElementTarget<I> for ElementRecipient<'_, I> {
    fn own(&mut self) {
        let Some(live) = &mut self.live else { return };
        live.collection.own();
        if let (true, Some(base)) = (self.is_edited, self.base) {
            self.edited = Edited::of(edits(base, live.as_elements()));
        }
    }

    fn sweep(&mut self) -> Vec<I> {
        self.edited.iter_mut().for_each(|edited| edited.sweep());
        let mut swept = self.live.as_mut().map(|live| live.collection.sweep()).unwrap_or_default();
        if let (true, Some(_), Some(base)) = (I::IS_KEY, self.seen, self.base) {
            swept.extend(base.collection.ids());
        }
        swept
    }

    fn whole<R: ReadElement>(&mut self, id: &I, calls_back: bool, read: &mut R) -> Result<bool, R::Stop> {
        self.take_edited(id);
        let seen = self.seen;
        let mut read_into = |element: &mut LevelMut<'_>| {
            read.read(&mut Recipient { live: element.reborrow(), base: None, seen, edited: None })
        };
        if let Some(live) = self.place_of(id, calls_back) {
            if live.as_elements().has(id) {
                live.collection.receive(id, ReceivedChange::Spared, calls_back);
                let all = HandleSet::up_to(live.as_elements().handles());
                if let Some(read) = live.change(id, &all, calls_back, &mut read_into) {
                    return read.map(|()| false);
                }
            } else if let Some(mut element) = live.insert(id) {
                BecomeReplica.visit(&mut element);
                read_into(&mut element)?;
                live.collection.receive(id, ReceivedChange::Added, calls_back);
                return Ok(true);
            }
        }
        read.read(&mut Validation(None)).map(|()| true)
    }

    fn change<R: ReadElement>(
        &mut self,
        id: &I,
        handles: &HandleSet,
        calls_back: bool,
        read: &mut R,
    ) -> Option<Result<(), R::Stop>> {
        let is_edited = self.take_edited(id);
        let (base, seen) = (self.base, self.seen);
        let sent = base.and_then(|base| base.element(id));
        let mut read_into = |element: &mut LevelMut<'_>| {
            read.read(&mut Recipient { live: element.reborrow(), base: sent, seen, edited: None })
        };
        let result = match (self.place_of(id, calls_back), base, sent, seen) {
            (None, ..) => None,
            (Some(live), Some(base), Some(sent), Some(objects))
                if is_edited || !live.as_elements().has(id) =>
            {
                let restore = Restore { objects, calls_back, is_thorough: false };
                restore.change(base, live, id, |element| {
                    restore.level(sent, element);
                    read_into(element)
                })
            }
            (Some(live), ..) => live.change(id, handles, calls_back, read_into),
        };
        Some(result.unwrap_or_else(|| read.read(&mut Validation(None))))
    }

    fn receive(&mut self, id: &I, change: ReceivedChange<'_>, calls_back: bool) {
        match change {
            ReceivedChange::Removed => _ = self.take_edited(id),
            ReceivedChange::Spared => self.edited.iter_mut().for_each(|edited| edited.spare(id)),
            _ => {}
        }
        let is_spared = matches!(change, ReceivedChange::Spared);
        let live = if is_spared { self.place_of(id, calls_back) } else { self.live.as_mut() };
        live.into_iter().for_each(|live| live.collection.receive(id, change.clone(), calls_back));
    }

    fn finish(&mut self, calls_back: bool) {
        let Some(edited) = self.edited.take() else { return };
        let (Some(live), Some(base), Some(objects)) = (&mut self.live, self.base, self.seen) else { return };
        let restore = Restore { objects, calls_back, is_thorough: false };
        edited.waiting.iter().for_each(|id| restore.element(base, live, id));
    }

    fn marked_for_removal(&self, each: &mut dyn FnMut(I)) {
        self.live.iter().for_each(|live| live.collection.marked_for_removal(&mut *each));
    }
}
