//! The broadcast: what changed, as the connections without a view of their own need it, written once for all of them (S88).
//!
//! Invariant: segments depend on the world alone; a connection takes a segment whole, or some of its items one by one.

use std::sync::Arc;

use repl_core::BitWriter;

use crate::classes::ClassList;
use crate::openings::Openings;
use crate::segment::{SEGMENT_BITS, Segment, SegmentItem, SegmentKind, SegmentWriter, gap_order};
use crate::world::{Change, World};

/// What one tick sends to all connections that are in step.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    segments: Vec<Arc<Segment>>,
    /// Segments of earlier ticks, used again once no packet refers to them.
    pool: Vec<Arc<Segment>>,
    pen: Pen,
    /// Slots of what changed and is in no segment: each connection sends it by itself.
    apart: Vec<u32>,
    openings: Openings,
    /// The frame for which it was last built.
    frame: u64,
}

impl Broadcast {
    /// What changed, in runs.
    pub(crate) fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }

    /// Objects that changed and are in no segment, because none of this size could hold them.
    pub(crate) fn apart(&self) -> &[u32] {
        &self.apart
    }

    /// Objects whole, for those that have not got them yet.
    pub(crate) fn openings(&mut self) -> &mut Openings {
        &mut self.openings
    }

    /// Writes what changed in `world`, in segments of at most `max_bits`. Built for a second time in a frame, all is written anew.
    pub(crate) fn build(&mut self, world: &World, classes: &ClassList, max_bits: usize) {
        if std::mem::replace(&mut self.frame, world.frame) == world.frame {
            self.openings.clear();
        }
        self.openings.expire(&world.changes.slots);
        self.openings.expire(&world.changes.recast);
        self.pool.append(&mut self.segments);
        self.apart.clear();
        let mut changes = world.changes.as_slice();
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
        let order = gap_order(last.slot - first.slot + 1, changes.len() as u32);
        let context = Context { world, classes, order, max_bits };
        while !changes.is_empty() {
            let mut segment = self.blank();
            let Some(empty) = Arc::get_mut(&mut segment) else { break };
            let done = self.pen.fill(empty, changes, &context, &mut self.apart);
            let kept = if empty.items.is_empty() { &mut self.pool } else { &mut self.segments };
            kept.push(segment);
            changes = &changes[done..];
        }
    }

    /// An empty segment, with the memory of one that no packet refers to any more.
    fn blank(&mut self) -> Arc<Segment> {
        let free = self.pool.iter().position(|segment| Arc::strong_count(segment) == 1);
        let mut segment = free.map_or_else(Arc::default, |at| self.pool.swap_remove(at));
        if let Some(segment) = Arc::get_mut(&mut segment) {
            segment.clear();
        }
        segment
    }
}

/// What decides the form of all segments of a tick.
struct Context<'a> {
    world: &'a World,
    classes: &'a ClassList,
    order: u32,
    max_bits: usize,
}

/// What segments are written with.
#[derive(Debug, Default)]
struct Pen {
    segment: SegmentWriter,
    bits: BitWriter,
}

/// Why a change is not in a segment.
enum Obstacle {
    /// It does not fit behind what is there.
    Full,
    /// A hand-written serialiser refuses a value.
    Refused,
}

impl Pen {
    /// Writes changes into an empty segment until it is full or one cannot be written; gives how many are done with. What has no place in any
    /// segment goes to `apart`.
    fn fill(
        &mut self,
        into: &mut Segment,
        changes: &[Change],
        context: &Context<'_>,
        apart: &mut Vec<u32>,
    ) -> usize {
        self.bits.clear();
        self.segment.reset();
        self.segment.begin(SegmentKind::Update, context.order, &mut self.bits);
        let mut done = 0;
        for change in changes {
            let before = self.bits.bit_len();
            let Err(obstacle) = self.write(change, context, into) else {
                done += 1;
                continue;
            };
            // The segment ends here: the writer knows of an item that is not there.
            self.bits.truncate(before);
            if into.items.is_empty() || matches!(obstacle, Obstacle::Refused) {
                apart.push(change.slot);
                done += 1;
            }
            break;
        }
        self.segment.end(&mut self.bits);
        into.complete(&mut self.bits);
        done
    }

    /// Appends what changed of an object, as far as those see it who see it like most.
    fn write(&mut self, change: &Change, context: &Context<'_>, into: &mut Segment) -> Result<(), Obstacle> {
        let Self { segment, bits } = self;
        let object = &context.world.objects[change.slot as usize];
        let column = context.world.column(object.class);
        let mut list = change.list.clone();
        if column.lifetime().is_conditional() {
            list.retain(&object.mask(column.lifetime(), object.common_flags()));
            if list.is_empty() {
                return Ok(());
            }
        }
        segment.slot(change.slot, bits);
        let class = context.classes.wire(object.class.into()) as usize;
        segment.handles(class, column.program().handles(), list.handles(), bits);
        let start = bits.bit_len();
        if !context.world.write_values(change.slot, &mut list, bits).is_empty() {
            return Err(Obstacle::Refused);
        }
        let end = bits.bit_len();
        if end + SEGMENT_BITS > context.max_bits {
            return Err(Obstacle::Full);
        }
        into.push(SegmentItem { slot: change.slot, generation: object.generation, list, values: start..end });
        Ok(())
    }
}
