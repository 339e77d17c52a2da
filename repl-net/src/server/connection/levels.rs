//! The openings of families in the order in which a packet has them: the first object of each family, then
//! the second of each, and so on. In this order, corresponding objects of families with the same structure
//! follow each other, so their openings can form runs (several openings with one header).
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
/// The number of bits of a run of one object that repeats the header of the previous run, without the gap and
/// the values.
const ALIKE_BITS: usize = 3;

/// The cached openings (first updates) of families that one packet will contain.
pub(super) struct Levels<'a> {
    written: Written<'a>,
    world: &'a World,
    classes: &'a ClassList,
    /// For each position in a family (first, second and so on), the objects at this position, in the order of
    /// their families.
    levels: Vec<Vec<Member>>,
}

impl<'a> Levels<'a> {
    pub(super) fn new(written: Written<'a>, world: &'a World, classes: &'a ClassList) -> Self {
        Self { written, world, classes, levels: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.levels.clear();
    }

    pub(super) fn add(&mut self, family: &[Member]) {
        if self.levels.len() < family.len() {
            self.levels.resize_with(family.len(), Vec::new);
        }
        self.levels.iter_mut().zip(family).for_each(|(level, &member)| level.push(member));
    }

    /// Returns how many bits a further family (an object with its subobjects) takes at most. `None` if one of
    /// its openings is not shared, or is too large to be sent again with each change.
    pub(super) fn bits(&self, family: &[Member]) -> Option<usize> {
        let last = self.levels.iter().map(|level| level.last().copied()).chain(std::iter::repeat(None));
        family
            .iter()
            .zip(last)
            .try_fold(0, |sum, (&member, last)| Some(sum + self.object_bits(member, last)?))
    }

    /// Returns how many bits the opening (first update) of an object takes at most, after the opening of
    /// `before` at the same level.
    fn object_bits(&self, (slot, parent): Member, before: Option<Member>) -> Option<usize> {
        let run = self.written.run([slot], usize::MAX, SMALL_OPEN_BITS)?;
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
        self.levels.iter().flat_map(|level| self.runs_of(level))
    }

    fn runs_of(&self, level: &[Member]) -> impl Iterator<Item = (OpeningRun<'a>, RunHeader<'a>)> {
        let mut left = level;
        std::iter::from_fn(move || {
            let &(_, parent) = left.first()?;
            let alike = left.iter().take_while(|(_, other)| *other == parent).map(|&(slot, _)| slot);
            let run = self.written.run(alike, usize::MAX, SMALL_OPEN_BITS)?;
            left = &left[run.len()..];
            Some((run, self.header(&run, parent)))
        })
    }

    fn header(&self, run: &OpeningRun<'a>, parent: Option<ParentGap>) -> RunHeader<'a> {
        let mut header = run.run_header(self.world, self.classes);
        header.origin.parent = parent;
        header
    }
}
