//! Identities of elements: ids of items and keys of entries, and sets of them.
//!
//! *Invariant:* shared code for fast arrays and maps uses the traits of this file for all differences between
//! the two.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::borrow::Borrow;
use std::fmt::Debug;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::guid::Guid;
use crate::ids::key::KeyBits;

/// A value that identifies an element of a collection: the id of an item of a fast array, or the bits of the
/// key of an entry of a map.
pub(crate) trait Identity: Clone + Debug + Ord + Sized + 'static {
    /// Whether the identity is the key of a map entry. A map cannot record the changes of an update, so
    /// entries of a map are removed, and their callbacks run, while the update is applied. If an update
    /// removes all elements except some, a map keeps the changed entries as well as the new entries of the
    /// update.
    const IS_KEY: bool;

    /// The type of a set of such ids or keys.
    type Set: IdSet<Self>;
    /// The part of the `Shape` of a collection that is about its ids or keys: whether items are ordered, or
    /// how a key is read.
    type Form: Copy + 'static;
    type Writer: WriteIds<Self>;
    type Reader: ReadIds<Self>;

    /// Returns whether the elements of the collection have an order, which is sent as labels (R13).
    fn is_ordered(form: &Self::Form) -> bool;

    /// Returns the objects to which the id or key refers.
    fn mentions(&self, form: &Self::Form) -> Vec<Guid>;

    /// Records in the writer the assets to which the key refers. This is needed because keys are written as
    /// stored bits. An id refers to no assets.
    fn name_assets(&self, form: &Self::Form, writer: &mut BitWriter);

    /// Returns the bits of a key, or `None` for an id. The key can be read again from these bits when an
    /// object to which it refers appears or disappears.
    fn as_bits(&self) -> Option<BitSlice<'_>>;

    /// Returns the steps that stand for the element with this id or key in a path. A path is a list of
    /// numbers that leads from an object to one of its values.
    fn steps(&self) -> impl Iterator<Item = u32> + Clone;

    /// Returns the id or key at the start of a path, and the steps after it.
    fn from_steps(path: &[u32]) -> Option<(Self, &[u32])>;

    /// Returns the number of an id, or `None` for a key.
    fn number_of(&self) -> Option<u32>;

    /// Estimates how many bits this id or key takes in a list together with the ids or keys `among`.
    fn most_bits(&self, among: &[Self]) -> u64;

    /// Returns a writer for a list of some elements of a collection. In the list, the content of an element
    /// follows its id or key.
    fn list(ids: impl Iterator<Item: Borrow<Self>>) -> Self::Writer;

    /// Begins to write the list of all elements of a collection.
    fn list_of_all(ids: &[Self], max_len: u32, writer: &mut BitWriter) -> Result<Self::Writer, WriteError>;

    /// Returns a reader for a list that was begun with [`list`](Self::list).
    fn read_list(form: &Self::Form) -> Self::Reader;

    /// Begins to read a list that [`list_of_all`](Self::list_of_all) began to write.
    fn read_list_of_all(
        form: &Self::Form,
        max_len: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<Self::Reader, ReadError>;
}

/// Writes ids or keys in ascending order.
pub(crate) trait WriteIds<I> {
    /// Writes the next id or key. Returns the position of the key's first bit. Returns `None` for an id,
    /// which does not count as a part of its element.
    fn id(&mut self, id: &I, writer: &mut BitWriter) -> Option<usize>;

    /// Ends the list of ids or keys.
    fn end(self, writer: &mut BitWriter);
}

/// Reads ids or keys that a [`WriteIds`] wrote.
pub(crate) trait ReadIds<I> {
    /// Returns the next id or key. Returns `None` at the end of the list.
    fn next(&mut self, reader: &mut BitReader<'_>, pass: &mut impl KeyPass) -> Result<Option<I>, ReadError>;

    /// Returns the next id or key of a list that has been read before.
    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<I>, ReadError>;

    /// Returns the position of the first bit of the last key, or `None` for ids.
    fn began_at(&self) -> Option<usize>;
}

pub(crate) trait IdSet<I>: Clone + Debug + Default + Eq {
    /// Whether a set can stand for all elements that exist, without listing them.
    const CAN_BE_ALL: bool;

    /// Returns the set that stands for all elements that exist.
    fn all() -> Self;

    /// Returns whether the set stands for all elements that exist, in addition to the elements that it lists.
    fn is_all(&self) -> bool;

    /// Makes a set of ids or keys, which must be in ascending order.
    fn of(ascending: impl Iterator<Item = I>) -> Self;

    fn is_empty(&self) -> bool;

    /// Returns the number of members. If the set stands for all elements that exist, "all elements" counts as
    /// one member.
    fn count(&self) -> usize;

    /// Returns how many stretches of consecutive members the set has.
    fn stretch_count(&self) -> usize;

    /// Returns about how many bytes the set takes on the heap. Costs O(1).
    fn heap_bytes(&self) -> usize;

    fn contains(&self, id: &I) -> bool;

    fn insert_anywhere(&mut self, id: I);

    fn union(&mut self, other: &Self);

    /// Removes from the set the members that `other` lists.
    fn subtract(&mut self, other: &Self);

    /// Returns the first and the last member of each stretch, ascending.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = (I, I)>;

    /// Returns the listed members in ascending order.
    fn iter(&self) -> impl Iterator<Item = I> + Clone;

    /// Returns a set of the first `count` members, or of all members if there are fewer.
    fn first(&self, count: usize) -> Self;

    /// Removes the first `count` members, or all members if there are fewer. Costs O(stretches that are
    /// removed).
    fn skip(&mut self, count: usize);

    /// Returns the first and the last listed member.
    fn span(&self) -> Option<(I, I)> {
        let mut stretches = self.stretches();
        let (first, end) = stretches.next()?;
        Some((first, stretches.next_back().map_or(end, |(_, last)| last)))
    }
}

/// Reads the keys of an update in one of two passes: the first pass validates the update, and the second one
/// applies it.
pub(crate) trait KeyPass {
    fn key(&mut self, reader: &mut BitReader<'_>, read: ReadKey) -> Result<KeyBits, ReadError>;
}

/// Reads a key and returns its bits. The guids of objects to which the key refers are added to the vector.
pub(crate) type ReadKey = fn(&mut BitReader<'_>, &mut Vec<Guid>) -> Result<KeyBits, ReadError>;
