//! The broadcast: the changes of a tick for all connections with the default view, encoded only one time and
//! shared (S88). Changes of objects that everyone sees are in segments, and changes of objects in cells are
//! in tables.
//!
//! *Invariant:* the bits of shared segments and tables depend only on the objects, and not on any connection.
//! A connection sends a whole shared segment, or some entries of it one by one. From a table, it can copy any
//! entries.

mod named_assets;
mod pool;
mod section;
mod tables;

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use repl_core::{BitWriter, Changelist, ConditionMasks, HandleSet, Rows, WriteRecipe};
use repl_link::parts::SEGMENT_BITS;

use super::changes::Change;
use super::occupant::Occupant;
use super::openings::OpeningCache;
use super::part_size::{LEAST_ITEM_BITS, PartSize, Verdict};
use super::world::World;
use crate::body::segment::{Segment, SegmentKind, SegmentWriter, gap_order};
use crate::session::classes::ClassList;
use named_assets::NamedAssets;
use pool::Pool;
pub(crate) use section::{Distance, Piece};
pub(crate) use tables::Tables;

/// The changes of one tick, for all connections that are in step with the changed objects: those have the
/// default view and lack no earlier change.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    segments: Vec<Arc<Segment>>,
    pool: Pool<Segment>,
    encoder: SegmentEncoder,
    tables: Tables,
    /// The slots of changed objects that are in no segment and no table, each with the distance of the
    /// connections that must encode the change separately.
    unshared: Vec<(u32, Distance)>,
    /// The cached openings (encoded spawn data) for near and for far connections. They are locked, because
    /// the passes of several connections may run at the same time.
    openings: [RwLock<OpeningCache>; 2],
    /// The assets to which the changes refer, each with the slot of the object that refers to it.
    named_assets: NamedAssets,
    /// The frame (number of the tick) in which segments were built last.
    frame: u64,
    /// The greatest number of bits of a segment.
    max_bits: usize,
}

impl Broadcast {
    /// Returns the shared segments with the encoded changes of this tick.
    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Returns the greatest number of bits of a segment. It is also the limit for the head of a table plus
    /// one entry.
    pub(crate) fn max_bits(&self) -> usize {
        self.max_bits
    }

    /// Returns the tables, which contain this tick's changes of objects in cells.
    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the assets to which the changes in segments and tables refer, each with the slot of the object
    /// that refers to it.
    pub(crate) fn named_assets(&self) -> &[(u32, NonZeroU32)] {
        self.named_assets.as_slice()
    }

    /// Returns the changed objects that are in no segment and no table, because their changes do not fit,
    /// each with the distance of the connections for which this is so.
    pub(crate) fn unshared(&self) -> &[(u32, Distance)] {
        &self.unshared
    }

    /// Returns the cache of encoded openings (first updates), which contains the openings of all objects in
    /// `slots`. `is_far` says whether they are for connections that are far from the objects.
    pub(crate) fn openings(
        &self,
        slots: &[u32],
        is_far: bool,
        world: &World,
        classes: &ClassList,
    ) -> RwLockReadGuard<'_, OpeningCache> {
        let openings = &self.openings[usize::from(is_far)];
        let read = || openings.read().unwrap_or_else(PoisonError::into_inner);
        if !read().contain(slots) {
            let mut openings = openings.write().unwrap_or_else(PoisonError::into_inner);
            openings.write(slots, world, is_far, |class| classes.wire(class.into()));
        }
        read()
    }

    /// Returns how many bytes of memory the encoded openings take.
    pub(crate) fn opening_bytes(&self) -> usize {
        let openings =
            self.openings.iter().map(|openings| openings.read().unwrap_or_else(PoisonError::into_inner));
        openings.map(|openings| openings.heap_bytes()).sum()
    }

    /// Encodes the changes of `world` in segments of at most `max_bits`. If `build` is called twice in a
    /// frame, or was not called in the previous frame, it encodes all changes and openings again.
    pub(crate) fn build(&mut self, world: &World, classes: &ClassList, max_bits: usize) {
        self.max_bits = max_bits;
        let last = std::mem::replace(&mut self.frame, world.frame);
        for openings in &mut self.openings {
            let openings = openings.get_mut().unwrap_or_else(PoisonError::into_inner);
            if last + 1 != world.frame {
                // Without a build, the changes of a frame did not remove outdated openings from the cache.
                openings.clear();
            }
            if world.ends_round() {
                openings.end_round();
            }
            openings.expire(&world.changes.slots);
            openings.expire(&world.changes.view_changed);
        }
        self.pool.reclaim(&mut self.segments);
        if world.ends_round() {
            self.pool.end_round(Segment::end_round);
        }
        self.unshared.clear();
        self.named_assets.clear();
        if world.ends_round() {
            self.named_assets.end_round();
            self.encoder.named_assets.end_round();
            self.tables.named_assets_mut().end_round();
        }
        self.tables.build(world, classes, max_bits, &mut self.unshared);
        self.build_segments(world, classes, max_bits);
        self.named_assets.append(self.tables.named_assets_mut());
        self.named_assets.append(&mut self.encoder.named_assets);
        self.named_assets.settle();
    }

    /// Encodes the changes of objects that everyone sees.
    fn build_segments(&mut self, world: &World, classes: &ClassList, max_bits: usize) {
        let mut changes = world.changes.as_slice();
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
        if !world.cells.has_everyones(&world.changes.slots) {
            return;
        }
        let order = gap_order(last.slot - first.slot + 1, changes.len() as u32);
        let context = Context { world, classes, order, max_bits };
        while !changes.is_empty() {
            let mut segment = self.pool.blank(Segment::clear);
            let Some(empty) = Arc::get_mut(&mut segment) else { break };
            let mut large = None;
            let done = self.encoder.fill(empty, changes, &context, &mut large);
            if empty.is_empty() {
                self.pool.give_back(segment);
            } else {
                self.segments.push(segment);
            }
            changes = &changes[done..];
            if let Some(large) = large {
                self.build_parts(large, &context);
            }
        }
    }

    /// Splits a change that does not fit into one segment into several segments, if it is the change of a
    /// collection (R15).
    fn build_parts(&mut self, change: &Change, context: &Context<'_>) {
        let first = self.segments.len();
        let class = context.class(context.world.store.occupant(change.slot).class);
        let list = context.world.store.shared_list(change, class.conditions, false);
        if list.is_empty() {
            return;
        }
        let portions =
            if list.handles().intersects(class.deltas) { None } else { list.into_owned().take_portions() };
        let Some(mut portions) = portions else {
            self.unshared.push((change.slot, Distance::Any));
            return;
        };
        let mut size = PartSize::new(context.max_bits);
        while !portions.is_empty() {
            let mut segment = self.pool.blank(Segment::clear);
            let Some(empty) = Arc::get_mut(&mut segment) else { break };
            let count = size.count().min(portions.len());
            let bits =
                match self.encoder.write_one(empty, change.slot, &class, &portions.part(count), context) {
                    Ok(()) => empty.bits().len(),
                    Err(Obstacle::Full { bits }) => bits,
                    Err(Obstacle::Refused) => break,
                };
            match size.judge(count, bits, portions.len()) {
                Verdict::Send => {
                    portions.skip(count);
                    empty.continues = self.segments.len() > first;
                    self.segments.push(segment);
                }
                Verdict::TryAgain => self.pool.give_back(segment),
                Verdict::TooLarge => break,
            }
        }
        if !portions.is_empty() {
            // All parts of the change are dropped, because each connection now encodes and sends the whole
            // change itself.
            self.pool.withdraw(self.segments.drain(first..));
            self.unshared.push((change.slot, Distance::Any));
        }
    }
}

/// The settings for all segments of a tick.
struct Context<'a> {
    world: &'a World,
    classes: &'a ClassList,
    order: u32,
    max_bits: usize,
}

/// Encodes changes into segments.
#[derive(Debug, Default)]
struct SegmentEncoder {
    segment: SegmentWriter,
    bits: BitWriter,
    /// The assets to which the changes that were encoded so far in this tick refer.
    named_assets: NamedAssets,
    /// The recipe (offsets and widths of the values) with which the values of the last change were written.
    recipe: WriteRecipe,
}

/// A class whose objects are in a segment.
struct SharedClass<'a> {
    /// The number of the class on the server.
    number: u16,
    /// The number of the class on the wire.
    wire: usize,
    /// The number of handles of the class.
    handles: u32,
    rows: Rows<'a>,
    conditions: &'a ConditionMasks,
    /// The properties that are sent as differences, to each client alone.
    deltas: &'a HandleSet,
}

impl<'a> Context<'a> {
    fn class(&self, number: u16) -> SharedClass<'a> {
        let column = self.world.store.column(number);
        SharedClass {
            number,
            wire: self.classes.wire(number.into()) as usize,
            handles: column.program().handles(),
            rows: column.rows(),
            conditions: column.conditions(),
            deltas: column.deltas(),
        }
    }

    /// Returns whether the changes of an object are in segments. Only the changes of objects that everyone
    /// sees are in segments.
    #[inline]
    fn is_in_segments(&self, slot: u32) -> bool {
        self.world.cells.is_everyones(slot)
    }
}

/// The changes of an object that become one entry of a segment.
#[derive(Clone, Copy)]
struct SharedChange<'a> {
    slot: u32,
    class: &'a SharedClass<'a>,
    list: &'a Changelist,
}

/// The reason why a change is not in a segment.
enum Obstacle {
    /// The change does not fit into the segment. With this change, the segment would have `bits` bits, or
    /// more if the change was not written.
    Full { bits: usize },
    /// A hand-written serialiser refuses a value.
    Refused,
}

impl SegmentEncoder {
    /// Encodes changes into an empty segment until it is full or a change cannot be encoded. Returns how many
    /// changes were processed. If the last of them must be sent in another way, because it is too large for
    /// any segment or a serialiser refuses it, stores it in `large`.
    fn fill<'c>(
        &mut self,
        into: &mut Segment,
        changes: &'c [Change],
        context: &Context<'_>,
        large: &mut Option<&'c Change>,
    ) -> usize {
        self.bits.clear();
        self.segment.reset();
        self.segment.begin(SegmentKind::Update, context.order, &mut self.bits);
        let begin = self.bits.bit_len();
        let mut done = 0;
        if let Err(obstacle) = self.write_changes(changes, &mut done, context, into) {
            // The bits of an unfinished entry are removed here, but the segment writer's state still includes
            // this entry. So no more entries can follow.
            self.bits.truncate(into.end_of_entries().unwrap_or(begin));
            if into.is_empty() || matches!(obstacle, Obstacle::Refused) {
                *large = changes.get(done);
                done += 1;
            }
        }
        self.segment.end(&mut self.bits);
        into.complete(&mut self.bits);
        done
    }

    /// Appends changes, and counts them in `done`, which is zero before.
    fn write_changes(
        &mut self,
        changes: &[Change],
        done: &mut usize,
        context: &Context<'_>,
        into: &mut Segment,
    ) -> Result<(), Obstacle> {
        let mut class = None;
        while let Some(change) = changes.get(*done) {
            self.write_change(change, &mut class, context, into)?;
            *done += 1;
            if let Some(class) = &class {
                self.write_alike(changes, done, class, context, into)?;
            }
        }
        Ok(())
    }

    /// Returns whether a change is written like the previous entry, which is of an object of `class`: it
    /// changes the same whole properties, and all connections that share the segment may receive it.
    #[inline]
    fn is_alike(&self, change: &Change, class: &SharedClass<'_>, context: &Context<'_>) -> bool {
        change.list.handles() == self.recipe.handles()
            && change.list.is_flat()
            && context.world.store.occupant(change.slot).class == class.number
            && !class.conditions.is_conditional()
            && context.is_in_segments(change.slot)
    }

    /// Appends the changes from number `done` on, as long as they are written [like](Self::is_alike) the
    /// previous entry, and counts them in `done`. Appends none if the previous entry is not of whole
    /// properties.
    fn write_alike(
        &mut self,
        changes: &[Change],
        done: &mut usize,
        class: &SharedClass<'_>,
        context: &Context<'_>,
        into: &mut Segment,
    ) -> Result<(), Obstacle> {
        if !into.ends_flat() {
            return Ok(());
        }
        while let Some(change) = changes.get(*done).filter(|change| self.is_alike(change, class, context)) {
            let Occupant { row, generation, .. } = context.world.store.occupant(change.slot);
            self.segment.alike(change.slot, &mut self.bits);
            let values = self.write_values((change.slot, row), class, &change.list, context)?;
            into.push_alike(change.slot, generation, values);
            *done += 1;
        }
        Ok(())
    }

    /// Appends the changes of an object that connections with the default view may receive, if they are in
    /// segments. `class` is the class of the previous entry.
    fn write_change<'a>(
        &mut self,
        change: &Change,
        class: &mut Option<SharedClass<'a>>,
        context: &Context<'a>,
        into: &mut Segment,
    ) -> Result<(), Obstacle> {
        if !context.is_in_segments(change.slot) {
            return Ok(());
        }
        if change.list.items().is_some_and(|items| items * LEAST_ITEM_BITS > context.max_bits) {
            return Err(Obstacle::Full { bits: usize::MAX });
        }
        let number = context.world.store.occupant(change.slot).class;
        let own = match class.take() {
            Some(class) if class.number == number => class,
            _ => context.class(number),
        };
        let list = context.world.store.shared_list(change, own.conditions, false);
        let own = class.insert(own);
        if list.is_empty() {
            return Ok(());
        }
        if list.handles().intersects(own.deltas) {
            return Err(Obstacle::Refused);
        }
        self.write(SharedChange { slot: change.slot, class: own, list: &list }, context, into)
    }

    /// Encodes a part of one object's changes into an empty segment.
    fn write_one(
        &mut self,
        into: &mut Segment,
        slot: u32,
        class: &SharedClass<'_>,
        list: &Changelist,
        context: &Context<'_>,
    ) -> Result<(), Obstacle> {
        self.bits.clear();
        self.segment.reset();
        self.segment.begin(SegmentKind::Update, context.order, &mut self.bits);
        self.write(SharedChange { slot, class, list }, context, into)?;
        self.segment.end(&mut self.bits);
        into.complete(&mut self.bits);
        Ok(())
    }

    fn write(
        &mut self,
        entry: SharedChange<'_>,
        context: &Context<'_>,
        into: &mut Segment,
    ) -> Result<(), Obstacle> {
        let SharedChange { slot, class, list } = entry;
        self.segment.slot(slot, &mut self.bits);
        self.segment.handles(class.wire, class.handles, list.handles(), &mut self.bits);
        class.rows.make_recipe(list.handles(), &mut self.recipe);
        let Occupant { row, generation, .. } = context.world.store.occupant(slot);
        let values = self.write_values((slot, row), class, list, context)?;
        into.push(slot, generation, list, values);
        Ok(())
    }

    /// Appends the values of an entry with the current recipe, after its slot and handles. Returns the range
    /// of bits of the values.
    // Inlined, because it is called for each change in a loop.
    #[inline(always)]
    fn write_values(
        &mut self,
        (slot, row): (u32, u32),
        class: &SharedClass<'_>,
        list: &Changelist,
        context: &Context<'_>,
    ) -> Result<Range<usize>, Obstacle> {
        let start = self.bits.bit_len();
        let written = class.rows.write_values(row, list, &self.recipe, &mut self.bits);
        written.map_err(|_| Obstacle::Refused)?;
        self.named_assets.take(slot, &mut self.bits);
        let end = self.bits.bit_len();
        let bits = end + SEGMENT_BITS;
        if bits > context.max_bits { Err(Obstacle::Full { bits }) } else { Ok(start..end) }
    }
}
