//! The openings of families in the order in which a packet has them: the first object of each family, then
//! the second of each, and so on. So the objects of families of the same shape are in runs.
//!
//! *Invariant:* each object comes after its parent, because the parent is before it in the family.

use repl_link::parts::SEGMENT_BITS;

use super::copies::Member;
use crate::body::parent::ParentGap;
use crate::body::segment::{LEAST_RUN_BITS, RunHeader, exp_golomb_bits};
use crate::server::openings::{OpeningRun, SMALL_OPEN_BITS, Written};
use crate::server::world::World;
use crate::session::classes::ClassList;

/// The greatest number of bits that one more object in a run takes without its values.
const IN_RUN_BITS: usize = 2;
/// The number of bits of a run of one object that has the header of the run before, without the gap and the
/// values.
const ALIKE_BITS: usize = 3;

/// Openings from the cache, for one packet.
pub(super) struct Levels<'a> {
    written: Written<'a>,
    world: &'a World,
    classes: &'a ClassList,
    levels: Vec<Level>,
}

/// The objects of all families that have the same place in their families.
#[derive(Default)]
struct Level {
    slots: Vec<u32>,
    parents: Vec<Option<ParentGap>>,
}

impl<'a> Levels<'a> {
    pub(super) fn new(written: Written<'a>, world: &'a World, classes: &'a ClassList) -> Self {
        Self { written, world, classes, levels: Vec::new() }
    }

    /// Removes all families.
    pub(super) fn clear(&mut self) {
        self.levels.clear();
    }

    /// Adds a family.
    pub(super) fn add(&mut self, family: &[Member]) {
        if self.levels.len() < family.len() {
            self.levels.resize_with(family.len(), Level::default);
        }
        for (level, &(slot, parent)) in self.levels.iter_mut().zip(family) {
            level.slots.push(slot);
            level.parents.push(parent);
        }
    }

    /// Returns how many bits a further family takes at most. `None` if one of its openings is not shared, or
    /// is too large to be sent again with each change.
    pub(super) fn bits(&self, family: &[Member]) -> Option<usize> {
        let levels = self.levels.iter().map(Some).chain(std::iter::repeat(None));
        family.iter().zip(levels).try_fold(0, |sum, (&member, level)| {
            Some(sum + self.object_bits(member, level.and_then(Level::last))?)
        })
    }

    /// Returns how many bits the opening of an object takes at most after another one.
    fn object_bits(&self, (slot, parent): Member, before: Option<Member>) -> Option<usize> {
        let run = self.written.run(&[slot], usize::MAX, SMALL_OPEN_BITS)?;
        let bits: usize = run.sizes().sum();
        let is_alike =
            |&(last, gap): &Member| gap == parent && last < slot && self.written.are_alike(last, slot);
        Some(match before.filter(is_alike) {
            Some((last, _)) if slot == last + 1 && bits >= LEAST_RUN_BITS => bits + IN_RUN_BITS,
            Some((last, _)) => bits + exp_golomb_bits(slot - last - 1) + ALIKE_BITS,
            None => bits + self.header(&run, parent).bits(1) + SEGMENT_BITS + 1,
        })
    }

    /// Returns all runs, each with its header.
    pub(super) fn runs(&self) -> impl Iterator<Item = (OpeningRun<'a>, RunHeader<'a>)> {
        let runs = self.levels.iter().flat_map(|level| level.runs(self.written));
        runs.map(|(run, parent)| (run, self.header(&run, parent)))
    }

    fn header(&self, run: &OpeningRun<'a>, parent: Option<ParentGap>) -> RunHeader<'a> {
        let mut header = run.run_header(self.world, self.classes);
        header.origin.parent = parent;
        header
    }
}

impl Level {
    fn last(&self) -> Option<Member> {
        Some((*self.slots.last()?, *self.parents.last()?))
    }

    /// Returns the runs, each with the gap between its objects and their parents.
    fn runs<'a>(&self, written: Written<'a>) -> impl Iterator<Item = (OpeningRun<'a>, Option<ParentGap>)> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let parent = *self.parents.get(next)?;
            let same = self.parents[next..].iter().take_while(|&&other| other == parent).count();
            let run = written.run(&self.slots[next..next + same], usize::MAX, SMALL_OPEN_BITS)?;
            next += run.len();
            Some((run, parent))
        })
    }
}
