//! One walk over an update: its reader, its observer, and the path to the current value.
//!
//! *Invariant:* the path always leads to the value that is being read, so an error can name the value.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::ops::Range;

use crate::bits::{BitReader, BitSlice};
use crate::ids::guid::Guid;
use crate::ids::reference::ReferenceMap;
use crate::schema::layout::MAX_DEPTH;
use crate::schema::program::Program;
use crate::wire::decode::pass::Pass;

/// Receives reports about the content of an update while the update is read. A path consists of the handles
/// that lead from the object to a value. The first handle belongs to the object itself, and is counted from
/// one. The handles after it are element handles, which are counted from zero.
pub trait Observer {
    /// Called after a leaf (a value that is sent as a unit) was read that can contain references but refers
    /// to no object.
    fn plain(&mut self, path: &[u32]);

    /// Called after a leaf was read that refers to the objects `guids`. Store `bits` to read the leaf again
    /// when an object in `guids` appears or disappears (S117).
    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>);

    /// Called when values no longer exist. The removed values are those with a path that begins with `path`
    /// and continues with one of `steps`. The range `steps` contains element handles past the end of an
    /// array, the id of an item, or the end of a key.
    fn cut(&mut self, path: &[u32], steps: Range<u32>);

    /// Returns whether the callbacks of values in maps are called while the update is read.
    fn calls_back(&self) -> bool {
        true
    }
}

/// Ignores all calls, and prevents callbacks.
impl Observer for () {
    fn plain(&mut self, _: &[u32]) {}
    fn mention(&mut self, _: &[u32], _: &mut dyn Iterator<Item = Guid>, _: BitSlice<'_>) {}
    fn cut(&mut self, _: &[u32], _: Range<u32>) {}
    fn calls_back(&self) -> bool {
        false
    }
}

pub(crate) struct Walk<'w, 'r, 'b, O: ?Sized, P> {
    pub(crate) program: &'w Program,
    pub(crate) reader: &'w mut BitReader<'b>,
    pub(crate) references: &'w mut ReferenceMap<'r>,
    pub(crate) observer: &'w mut O,
    pub(crate) pass: P,
    pub(crate) path: Path,
}

/// The handles that lead from the object to the current value. The path to the current value is used in
/// errors, and to find a leaf again later.
pub(crate) struct Path {
    /// The first steps of the path.
    steps: [u32; MAX_DEPTH + 1],
    len: usize,
    /// All steps of the path, if there are more than fit into `steps`. A long key of a map entry has many
    /// steps.
    long: Vec<u32>,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self { steps: [0; MAX_DEPTH + 1], len: 0, long: Vec::new() }
    }

    pub(crate) fn steps(&self) -> &[u32] {
        self.steps.get(..self.len).unwrap_or(&self.long)
    }

    pub(crate) fn push(&mut self, handle: u32) {
        if let Some(step) = self.steps.get_mut(self.len) {
            *step = handle;
        } else {
            if self.long.is_empty() {
                self.long.extend(self.steps);
            }
            self.long.push(handle);
        }
        self.len = self.len.saturating_add(1);
    }

    pub(crate) fn pop(&mut self) {
        self.leave(self.len.saturating_sub(1));
    }

    /// Appends the steps of an id or key to the path. Returns how many steps the path had before.
    pub(super) fn enter(&mut self, steps: impl Iterator<Item = u32>) -> usize {
        let depth = self.len;
        steps.for_each(|step| self.push(step));
        depth
    }

    /// Drops all steps of the path except the first `depth`.
    pub(super) fn leave(&mut self, depth: usize) {
        self.len = depth;
        self.long.truncate(if depth > self.steps.len() { depth } else { 0 });
    }
}

impl<O: Observer + ?Sized, P: Pass> Walk<'_, '_, '_, O, P> {
    pub(super) fn flag(&mut self) -> Result<bool, P::Stop> {
        P::check(self.reader.read_flag())
    }
}
