//! The destination of decoded values: an object or a part of one. If the user has borrowed an object and has
//! removed elements from it, the elements are restored with the values of the server when an update changes
//! them.
//!
//! *Invariant:* an update is written first to the object that the user has borrowed, and then to the copy of
//! the values that the server sent. Nothing that a user did to a borrowed object makes an update fail (S49):
//! values for elements that no longer exist are skipped.

use crate::bits::{BitReader, BitSlice, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::collections::{BecomeReplica, VisitCollections};
use crate::object::copy::{copy_slots, copy_whole};
use crate::object::level::{Elements, ElementsMut, Level, LevelMut, Slot};
use crate::schema::program::{Collected, LeafCommand};
use crate::schema::step::ReceivedChange;
use crate::wire::decode::target::{ElementTarget, ReadElement, Target, Validation};

/// An object or a part of one, into which values are read.
pub(crate) struct Recipient<'a> {
    live: LevelMut<'a>,
    /// The same part with the values that the server sent, if the user has borrowed the object.
    base: Option<Level<'a>>,
    /// The objects that exist, if the user has borrowed this object. Map entries whose keys refer to objects
    /// that do not exist are only in the copy of the values that the server sent.
    seen: Option<&'a dyn Objects>,
}

impl<'a> Recipient<'a> {
    pub(crate) fn new(live: LevelMut<'a>) -> Self {
        Self { live, base: None, seen: None }
    }

    /// Makes a recipient for an object that the user has borrowed.
    pub(crate) fn lent(live: LevelMut<'a>, base: Level<'a>, objects: &'a dyn Objects) -> Self {
        Self { live, base: Some(base), seen: Some(objects) }
    }

    fn base_slot(&self, handle: u32) -> Option<Slot<'a>> {
        self.base?.slot(handle)
    }

    /// Restores the array at `handle` to the state that the server sent, if the user changed its length.
    fn restore_array(&mut self, handle: u32) {
        let (Some(base), Some(Slot::Array(sent))) = (self.base, self.base_slot(handle)) else { return };
        if !matches!(self.live.as_level().slot(handle), Some(Slot::Array(array)) if array.len() != sent.len())
        {
            return;
        }
        copy_slots(base, &mut self.live, std::iter::once(handle));
        for index in 0..sent.len() {
            if let Some(mut element) = self.live.element(handle, index) {
                make_replica(&mut element, self.seen);
            }
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

/// Marks the collections in a new part of an object as replicas of a client. If the user has borrowed the
/// object, hides the map entries whose keys refer to objects that do not exist.
fn make_replica(part: &mut LevelMut<'_>, seen: Option<&dyn Objects>) {
    BecomeReplica.visit(part);
    seen.into_iter().for_each(|objects| Hide(objects).visit(part));
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

    fn resize(&mut self, handle: u32, len: usize) -> usize {
        self.restore_array(handle);
        let old_len = self.live.resize(handle, len).unwrap_or(0);
        for index in old_len..len {
            if let Some(mut element) = self.live.element(handle, index) {
                BecomeReplica.visit(&mut element);
            }
        }
        old_len
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Recipient<'_>> {
        let base = match self.base_slot(handle) {
            Some(Slot::Array(array)) => array.element(index),
            _ => None,
        };
        Some(Recipient { live: self.live.element(handle, index)?, base, seen: self.seen })
    }

    fn elements<I: Collected>(&mut self, handle: u32) -> ElementRecipient<'_, I> {
        let base = self.base.and_then(|base| base.elements(handle));
        ElementRecipient { live: self.live.elements(handle), base, seen: self.seen }
    }
}

/// A collection into which elements are read. The fields of `ElementRecipient` have the same meaning as the
/// fields of [`Recipient`].
pub(crate) struct ElementRecipient<'a, I: Identity> {
    live: Option<ElementsMut<'a, I>>,
    base: Option<Elements<'a, I>>,
    seen: Option<&'a dyn Objects>,
}

impl<'a, I: Identity> ElementRecipient<'a, I> {
    /// Returns the collection, or `None` if an element with this id or key must be hidden from the user. If
    /// the user has placed the object, it can contain such an element, which is removed.
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
}

impl<I: Identity> ElementTarget<I> for ElementRecipient<'_, I> {
    fn own(&mut self) {
        self.live.iter_mut().for_each(|live| live.collection.own());
    }

    fn sweep(&mut self) -> Vec<I> {
        let mut swept = self.live.as_mut().map(|live| live.collection.sweep()).unwrap_or_default();
        if let (true, Some(_), Some(base)) = (I::IS_KEY, self.seen, self.base) {
            swept.extend(base.collection.ids());
        }
        swept
    }

    fn whole<R: ReadElement>(&mut self, id: &I, calls_back: bool, read: &mut R) -> Result<bool, R::Stop> {
        let seen = self.seen;
        let mut read_into = |element: &mut LevelMut<'_>| {
            read.read(&mut Recipient { live: element.reborrow(), base: None, seen })
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
        let (sent, seen) = (self.base, self.seen);
        let base = sent.and_then(|sent| sent.element(id));
        let mut read_into =
            |element: &mut LevelMut<'_>| read.read(&mut Recipient { live: element.reborrow(), base, seen });
        if let Some(live) = self.place_of(id, calls_back) {
            if let (false, Some(base)) = (live.as_elements().has(id), base) {
                if let Some(mut element) = live.insert(id) {
                    copy_whole(base, &mut element);
                    make_replica(&mut element, seen);
                    let result = read_into(&mut element);
                    if let Some(label) = sent.and_then(|sent| sent.collection.label(id)) {
                        live.collection.receive(id, ReceivedChange::Moved(label.clone()), calls_back);
                    }
                    live.collection.receive(id, ReceivedChange::Added, calls_back);
                    return Some(result);
                }
            } else if let Some(result) = live.change(id, handles, calls_back, &mut read_into) {
                return Some(result);
            }
        }
        Some(read.read(&mut Validation(None)))
    }

    fn receive(&mut self, id: &I, change: ReceivedChange<'_>, calls_back: bool) {
        let is_spared = matches!(change, ReceivedChange::Spared);
        let live = if is_spared { self.place_of(id, calls_back) } else { self.live.as_mut() };
        live.into_iter().for_each(|live| live.collection.receive(id, change.clone(), calls_back));
    }

    fn marked_for_removal(&self, each: &mut dyn FnMut(I)) {
        self.live.iter().for_each(|live| live.collection.marked_for_removal(&mut *each));
    }
}
