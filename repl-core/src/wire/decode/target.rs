//! The target of decoding: an object, or nothing while an update is validated.
//!
//! *Invariant:* for the same command of the program, every target reads the same number of bits.

use crate::bits::{BitReader, BitSlice, ReadError};
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::ReferenceMap;
use crate::object::leaf::validate_value;
use crate::object::level::{Elements, Level, Slot};
use crate::schema::command::{Collected, LeafCommand};
use crate::schema::step::ReceivedChange;

/// The destination of decoded values.
pub(crate) trait Target {
    /// The type of the target for an element of an array.
    type Element<'e>: Target
    where
        Self: 'e;

    /// The type of the target for the elements of a collection.
    type Elements<'e, I: Collected>: ElementTarget<I>
    where
        Self: 'e;

    /// Reads a value into the leaf at `handle`.
    fn leaf(
        &mut self,
        handle: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError>;

    /// Stores the values of `count` direct properties (leaves with a wire form that equals their bytes in
    /// memory) from the handle `first` on. The values are `bits`.
    fn direct(&mut self, first: u32, count: u32, bits: BitSlice<'_>);

    /// Changes the length of the array at `handle`, or the variant of the enum, to `count`. Returns the old
    /// length. For an enum, the old length is one if the variant was active already, and otherwise zero.
    fn resize(&mut self, handle: u32, count: usize) -> usize;

    fn element(&mut self, handle: u32, index: usize) -> Option<Self::Element<'_>>;

    fn elements<I: Collected>(&mut self, handle: u32) -> Self::Elements<'_, I>;
}

pub(crate) trait ElementTarget<I> {
    /// Marks the collection as a client's replica. This function is called first when an update changes the
    /// collection. If client code has assigned another collection to the field, this collection loses all
    /// elements.
    fn own(&mut self) {}

    /// Returns how many elements the collection has, to limit how many may be added. Returns 0 if no limit
    /// applies.
    fn held(&self) -> usize {
        0
    }

    /// Marks for removal all elements that the rest of the update does not contain. Returns the elements that
    /// the collection cannot mark. The caller must remove these elements.
    fn sweep(&mut self) -> Vec<I> {
        Vec::new()
    }

    /// Reads a whole element with `read`. If the element does not exist, it is added to the collection.
    /// Returns whether the element is new.
    fn whole<R: ReadElement>(&mut self, id: &I, calls_back: bool, read: &mut R) -> Result<bool, R::Stop>;

    /// Reads the properties `handles` of an element with `read`. Returns `None` if the collection has no such
    /// element.
    fn change<R: ReadElement>(
        &mut self,
        id: &I,
        handles: &HandleSet,
        calls_back: bool,
        read: &mut R,
    ) -> Option<Result<(), R::Stop>>;

    /// Records that an element was changed. This call does not change the values of the element.
    fn receive(&mut self, _: &I, _: ReceivedChange<'_>, _: bool) {}

    /// Called when all elements of the update were read. Restores the other elements that the user of a
    /// client has edited.
    fn finish(&mut self, _calls_back: bool) {}

    /// Calls `each` with the elements that are marked for removal.
    fn marked_for_removal(&self, _: &mut dyn FnMut(I)) {}
}

/// Reads one element of a collection into any target.
pub(crate) trait ReadElement {
    /// The error that stops reading before the end.
    type Stop;

    fn read<T: Target>(&mut self, element: &mut T) -> Result<(), Self::Stop>;
}

/// The target of the validation pass, which changes nothing. It contains the current value, because the
/// update may refer to existing elements of its arrays and collections. Without a current value, the bits are
/// only read.
pub(crate) struct Validation<'a>(pub(crate) Option<Level<'a>>);

impl<'a> Target for Validation<'a> {
    type Element<'e>
        = Validation<'e>
    where
        Self: 'e;

    type Elements<'e, I: Collected>
        = ElementValidation<'a, I>
    where
        Self: 'e;

    #[inline]
    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        validate_value(&command.codec, reader, references)
    }

    #[inline]
    fn direct(&mut self, _: u32, _: u32, _: BitSlice<'_>) {}

    fn resize(&mut self, handle: u32, count: usize) -> usize {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) if array.is_variant() => usize::from(array.count() == count),
            Some(Slot::Array(array)) => array.len(),
            _ => 0,
        }
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Validation<'_>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) => Some(Validation(array.element(index))),
            _ => Some(Validation(None)),
        }
    }

    fn elements<I: Collected>(&mut self, handle: u32) -> ElementValidation<'a, I> {
        ElementValidation(self.0.and_then(|level| level.elements(handle)))
    }
}

/// The target of the validation pass for the elements of a collection. It has access to the existing
/// elements, and changes nothing.
pub(crate) struct ElementValidation<'a, I: Identity>(Option<Elements<'a, I>>);

impl<I: Identity> ElementTarget<I> for ElementValidation<'_, I> {
    fn held(&self) -> usize {
        self.0.map_or(0, |elements| elements.collection.len())
    }

    fn whole<R: ReadElement>(&mut self, id: &I, _: bool, read: &mut R) -> Result<bool, R::Stop> {
        let element = self.0.and_then(|elements| elements.element(id));
        read.read(&mut Validation(element))?;
        Ok(element.is_none())
    }

    fn change<R: ReadElement>(
        &mut self,
        id: &I,
        _: &HandleSet,
        _: bool,
        read: &mut R,
    ) -> Option<Result<(), R::Stop>> {
        let element = match self.0 {
            Some(elements) => Some(elements.element(id)?),
            None => None,
        };
        Some(read.read(&mut Validation(element)))
    }

    fn receive(&mut self, id: &I, change: ReceivedChange<'_>, _: bool) {
        // The apply pass will look for this element soon.
        if let (ReceivedChange::Removed, Some(elements)) = (change, self.0) {
            elements.collection.preload(id);
        }
    }
}
