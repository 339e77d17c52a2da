//! Identities of elements: ids of items and keys of entries, and sets of them.
//!
//! *Invariant:* code that serves both fast arrays and maps calls the traits of this file for everything in
//! which the two differ.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::borrow::Borrow;
use std::fmt::Debug;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::key::KeyBits;
use crate::ids::reference::Guid;

/// Identifies an element of a collection: the id of an item of a fast array, or the bits of the key of an
/// entry of a map.
pub(crate) trait Identity: Clone + Debug + Ord + Sized + 'static {
    /// Whether this is a key of a map. A map cannot record the changes of an update, so its entries are
    /// removed immediately, and their callbacks run immediately. After a sweep, a map keeps changed entries
    /// as well as new ones.
    const IS_KEY: bool;

    /// A set of identities.
    type Set: IdSet<Self>;
    /// The part of a collection's shape that only collections with these identities have.
    type Form: Copy + 'static;
    type Writer: WriteIds<Self>;
    type Reader: ReadIds<Self>;

    /// Whether elements have an order, which is sent as labels (R13).
    fn is_ordered(form: &Self::Form) -> bool;

    /// Returns the objects to which the identity refers.
    fn mentions(&self, form: &Self::Form) -> Vec<Guid>;

    /// Returns the bits of a key, from which the key can be read again when an object to which it refers
    /// appears or disappears.
    fn as_bits(&self) -> Option<BitSlice<'_>>;

    /// Returns the steps of a path to the element with this identity.
    fn steps(&self) -> impl Iterator<Item = u32> + Clone;

    /// Returns the identity at the start of a path, and the steps after it.
    fn from_steps(path: &[u32]) -> Option<(Self, &[u32])>;

    /// Returns the number of an id.
    fn number_of(&self) -> Option<u32>;

    /// Returns the most bits that the identity takes in a list of these identities.
    fn most_bits(&self, among: &[Self]) -> u64;

    /// Begins a list of some elements. The content of an element follows its identity.
    fn list(ids: impl Iterator<Item: Borrow<Self>>) -> Self::Writer;

    /// Begins the list of all elements of a collection.
    fn list_of_all(ids: &[Self], max_len: u32, writer: &mut BitWriter) -> Result<Self::Writer, WriteError>;

    /// Returns a reader for a list that was begun with [`list`](Self::list).
    fn read_list(form: &Self::Form) -> Self::Reader;

    /// Begins to read a list that [`list_of_all`](Self::list_of_all) began.
    fn read_list_of_all(
        form: &Self::Form,
        max_len: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<Self::Reader, ReadError>;
}

/// Writes identities in ascending order.
pub(crate) trait WriteIds<I> {
    /// Writes the next identity. Returns where the element began, if the identity counts as a part of it.
    fn id(&mut self, id: &I, writer: &mut BitWriter) -> Option<usize>;

    /// Ends the list.
    fn end(self, writer: &mut BitWriter);
}

/// Reads identities that a [`WriteIds`] wrote.
pub(crate) trait ReadIds<I> {
    /// Returns the next identity. `None` at the end of the list.
    fn next(&mut self, reader: &mut BitReader<'_>, pass: &mut impl KeyPass) -> Result<Option<I>, ReadError>;

    /// Returns the next identity of a list that has been read before.
    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<I>, ReadError>;

    /// Returns where the last element began, if its identity counts as a part of it.
    fn began_at(&self) -> Option<usize>;
}

/// A set of identities.
pub(crate) trait IdSet<I>: Clone + Debug + Default + Eq {
    /// Whether a set can stand for all elements that exist, without listing them.
    const CAN_BE_ALL: bool;

    /// Returns the set of all elements that exist.
    fn all() -> Self;

    /// Whether the set stands for all elements that exist, besides those that it lists.
    fn is_all(&self) -> bool;

    /// Makes a set of ascending members.
    fn of(ascending: impl Iterator<Item = I>) -> Self;

    fn is_empty(&self) -> bool;

    /// Returns the number of members. "All" counts as one.
    fn count(&self) -> usize;

    /// Returns how many stretches the members form.
    fn stretch_count(&self) -> usize;

    /// Returns about how many bytes the set takes on the heap. O(1).
    fn heap_bytes(&self) -> usize;

    fn contains(&self, id: &I) -> bool;

    fn insert_anywhere(&mut self, id: I);

    fn union(&mut self, other: &Self);

    /// Removes the members that `other` lists.
    fn subtract(&mut self, other: &Self);

    /// Returns the first and the last member of each stretch, ascending.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = (I, I)>;

    /// Returns the listed members, ascending.
    fn iter(&self) -> impl Iterator<Item = I> + Clone;

    /// Returns the first members, at most `count`.
    fn first(&self, count: usize) -> Self;

    /// Removes the first members, at most `count`. O(stretches that are removed).
    fn skip(&mut self, count: usize);

    /// Returns the first and the last listed member.
    fn span(&self) -> Option<(I, I)> {
        let mut stretches = self.stretches();
        let (first, end) = stretches.next()?;
        Some((first, stretches.next_back().map_or(end, |(_, last)| last)))
    }
}

/// Reads keys in one of the two passes over an update.
pub(crate) trait KeyPass {
    fn key(&mut self, reader: &mut BitReader<'_>, read: ReadKey) -> Result<KeyBits, ReadError>;
}

/// Reads a key and returns its bits. Adds the objects to which the identity refers to the list.
pub(crate) type ReadKey = fn(&mut BitReader<'_>, &mut Vec<Guid>) -> Result<KeyBits, ReadError>;
