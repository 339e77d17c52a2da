//! Identities: what tells the elements of one collection apart, and sets of it.
//!
//! Invariant: what is written once for fast arrays and maps asks an identity for whatever differs between
//! them.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::borrow::Borrow;
use std::fmt::Debug;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::key::KeyBits;
use crate::ids::reference::Guid;

/// What tells the elements of one collection apart: the id of an item of a fast array, or the bits of the key
/// of an entry of a map.
pub(crate) trait Identity: Clone + Debug + Ord + Sized + 'static {
    /// Maps have no room for notes of an update: what goes is removed at once and callbacks run at once, by
    /// key. In a sweep they list what changed beside what came.
    const IS_KEY: bool;

    /// A set of them.
    type Set: IdSet<Self>;
    /// What a shape says beside what all collections have.
    type Form: Copy + 'static;
    type Writer: WriteIds<Self>;
    type Reader: ReadIds<Self>;

    /// Whether elements have places among each other, which travel as labels (R13).
    fn is_ordered(form: &Self::Form) -> bool;

    /// The objects that it mentions.
    fn mentions(&self, form: &Self::Form) -> Vec<Guid>;

    /// The bits by which it may come to be known again when an object comes or goes that it mentions.
    fn as_bits(&self) -> Option<BitSlice<'_>>;

    /// The steps of a path that lead to its element.
    fn steps(&self) -> impl Iterator<Item = u32> + Clone;

    /// The one that a path leads to, and the steps behind it.
    fn from_steps(path: &[u32]) -> Option<(Self, &[u32])>;

    /// The number that stands for it in a list of numbers, if it is one.
    fn number_of(&self) -> Option<u32>;

    /// What it takes at most in a list of some of these.
    fn most_bits(&self, among: &[Self]) -> u64;

    /// Begins a list of some elements, each followed by what is said of it.
    fn list(ids: impl Iterator<Item: Borrow<Self>>) -> Self::Writer;

    /// Begins the list of all elements of a collection.
    fn list_of_all(ids: &[Self], max_len: u32, writer: &mut BitWriter) -> Result<Self::Writer, WriteError>;

    /// Reads what is written after [`list`](Self::list).
    fn read_list(form: &Self::Form) -> Self::Reader;

    /// Reads what [`list_of_all`](Self::list_of_all) wrote.
    fn read_list_of_all(
        form: &Self::Form,
        max_len: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<Self::Reader, ReadError>;
}

/// Writes identities in ascending order.
pub(crate) trait WriteIds<I> {
    /// Writes the next; returns where the element began, if the identity counts as a part of it.
    fn id(&mut self, id: &I, writer: &mut BitWriter) -> Option<usize>;

    /// Ends the list.
    fn end(self, writer: &mut BitWriter);
}

/// Reads what a [`WriteIds`] wrote.
pub(crate) trait ReadIds<I> {
    /// The next identity; `None` at the end of the list.
    fn next(&mut self, reader: &mut BitReader<'_>, pass: &mut impl KeyPass) -> Result<Option<I>, ReadError>;

    /// The same in a list that was read before.
    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<I>, ReadError>;

    /// Where the last element began, if its identity counts as a part of it.
    fn began_at(&self) -> Option<usize>;
}

/// A set of identities.
pub(crate) trait IdSet<I>: Clone + Debug + Default + Eq {
    /// Whether a set can mean all that there are without a name for any.
    const CAN_BE_ALL: bool;

    /// All that there are.
    fn all() -> Self;

    /// Whether it means all that there are, beside those that it names.
    fn is_all(&self) -> bool;

    /// Of members that ascend.
    fn of(ascending: impl Iterator<Item = I>) -> Self;

    fn is_empty(&self) -> bool;

    /// How many members there are; "all" counts as one.
    fn count(&self) -> usize;

    /// How many stretches the members form, which is what they cost.
    fn stretch_count(&self) -> usize;

    /// About how many bytes it holds on the heap. O(1).
    fn heap_bytes(&self) -> usize;

    fn contains(&self, id: &I) -> bool;

    fn insert_anywhere(&mut self, id: I);

    fn union(&mut self, other: &Self);

    /// Takes out the members that `other` names.
    fn subtract(&mut self, other: &Self);

    /// The first and the last member of each stretch, ascending.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = (I, I)>;

    /// The members that are named, ascending.
    fn iter(&self) -> impl Iterator<Item = I> + Clone;

    /// The first members, at most `count`.
    fn first(&self, count: usize) -> Self;

    /// Takes the first members out, at most `count`. O(members that are taken).
    fn skip(&mut self, count: usize);

    /// The first and the last member that is named.
    fn span(&self) -> Option<(I, I)> {
        let mut stretches = self.stretches();
        let (first, end) = stretches.next()?;
        Some((first, stretches.next_back().map_or(end, |(_, last)| last)))
    }
}

/// Reads keys, of which it is known where they end before they are used.
pub(crate) trait KeyPass {
    fn key(&mut self, reader: &mut BitReader<'_>, read: ReadKey) -> Result<KeyBits, ReadError>;
}

/// Reads a key, and adds the objects that it mentions.
pub(crate) type ReadKey = fn(&mut BitReader<'_>, &mut Vec<Guid>) -> Result<KeyBits, ReadError>;
