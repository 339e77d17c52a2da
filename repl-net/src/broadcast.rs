//! The broadcast: what changed, as the connections without a view of their own need it, written once for all of them (S88).
//!
//! Invariant: segments and values depend on the world alone; a connection takes a segment whole, or some of its items one by one.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitSlice, BitWriter, Changelist};

use crate::classes::ClassList;
use crate::segment::{SEGMENT_BITS, Segment, SegmentItem, SegmentKind, SegmentWriter, gap_order};
use crate::world::World;

/// What one tick sends to all connections that are in step.
#[derive(Debug, Default)]
pub(crate) struct Broadcast {
    items: Vec<BroadcastItem>,
    len: usize,
    values: BitWriter,
    segments: Vec<SharedSegment>,
    /// Segments of earlier ticks, used again once no packet refers to them.
    pool: Vec<Arc<Segment>>,
    pen: Pen,
    /// Slots of what changed and is in no segment: each connection sends it by itself.
    apart: Vec<u32>,
}

/// What changed of one object, for those in step.
#[derive(Debug)]
pub(crate) struct BroadcastItem {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) class: u16,
    pub(crate) list: Changelist,
    /// Where its values are among all values.
    values: Range<usize>,
}

/// A run of items in one segment.
#[derive(Debug)]
pub(crate) struct SharedSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) items: Range<usize>,
}

impl Broadcast {
    pub(crate) fn segments(&self) -> &[SharedSegment] {
        &self.segments
    }

    /// All items of this tick and their values.
    pub(crate) fn items_and_values(&mut self) -> (&[BroadcastItem], BitSlice<'_>) {
        (&self.items[..self.len], self.values.as_slice())
    }

    /// Objects that changed and are in no segment, because none of this size could hold them.
    pub(crate) fn apart(&self) -> &[u32] {
        &self.apart
    }

    /// Writes what changed in `world`, in segments of at most `max_bits`.
    pub(crate) fn build(&mut self, world: &World, classes: &ClassList, max_bits: usize) {
        self.retire_segments();
        self.write_values(world);
        let items = &self.items[..self.len];
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return };
        let order = gap_order(last.slot - first.slot + 1, items.len() as u32);
        let values = self.values.as_slice();
        let context = Context { world, classes, order, max_bits };
        let mut current = Building::take(&mut self.pool, 0);
        for (at, item) in items.iter().enumerate() {
            let Some(bits) = values.slice(item.values.clone()) else { continue };
            if !current.push(item, bits, &context, &mut self.pen) {
                current.finish(at, &mut self.pen, &mut self.segments);
                current = Building::take(&mut self.pool, at);
                if !current.push(item, bits, &context, &mut self.pen) {
                    self.apart.push(item.slot);
                    current.first = at + 1;
                }
            }
        }
        current.finish(self.len, &mut self.pen, &mut self.segments);
    }

    fn retire_segments(&mut self) {
        self.pool.extend(self.segments.drain(..).map(|shared| shared.segment));
    }

    /// Serialises the changes of each object that concern connections in step.
    fn write_values(&mut self, world: &World) {
        self.values.clear();
        self.apart.clear();
        self.len = 0;
        for change in world.changes.iter() {
            let object = &world.objects[change.slot as usize];
            let column = world.column(object.class);
            if self.items.len() == self.len {
                self.items.push(BroadcastItem {
                    slot: 0,
                    generation: object.generation,
                    class: 0,
                    list: Changelist::new(),
                    values: 0..0,
                });
            }
            let item = &mut self.items[self.len];
            item.list.clone_from(&change.list);
            if column.lifetime().is_conditional() {
                item.list.retain(&object.mask(column.lifetime(), object.common_flags()));
                if item.list.is_empty() {
                    continue;
                }
            }
            let start = self.values.bit_len();
            if !world.write_values(change.slot, &mut item.list, &mut self.values).is_empty() {
                self.values.truncate(start);
                self.apart.push(change.slot);
                continue;
            }
            (item.slot, item.generation, item.class) = (change.slot, object.generation, object.class);
            item.values = start..self.values.bit_len();
            self.len += 1;
        }
    }
}

impl BroadcastItem {
    /// The item's values among those of the tick.
    pub(crate) fn values<'a>(&self, all: BitSlice<'a>) -> Option<BitSlice<'a>> {
        all.slice(self.values.clone())
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

/// A segment being written.
struct Building {
    segment: Arc<Segment>,
    first: usize,
}

impl Building {
    /// An empty segment, with the memory of one that no packet refers to any more; its items begin at `first`.
    fn take(pool: &mut Vec<Arc<Segment>>, first: usize) -> Self {
        let free = pool.iter().position(|segment| Arc::strong_count(segment) == 1);
        let mut segment = free.map_or_else(Arc::default, |at| pool.swap_remove(at));
        if let Some(segment) = Arc::get_mut(&mut segment) {
            segment.clear();
        }
        Self { segment, first }
    }

    /// Appends an item; `false` if it does not fit, then nothing was written.
    fn push(
        &mut self,
        item: &BroadcastItem,
        values: BitSlice<'_>,
        context: &Context<'_>,
        pen: &mut Pen,
    ) -> bool {
        let Some(segment) = Arc::get_mut(&mut self.segment) else { return false };
        let Pen { segment: writer, bits } = pen;
        if segment.items.is_empty() {
            bits.clear();
            writer.reset();
            writer.begin(SegmentKind::Update, context.order, bits);
        }
        let before = bits.bit_len();
        let count = context.world.column(item.class).program().handles();
        let class = context.classes.wire(item.class.into()) as usize;
        writer.update(item.slot, class, count, item.list.handles(), values, bits);
        if bits.bit_len() + SEGMENT_BITS > context.max_bits {
            bits.truncate(before);
            return false;
        }
        segment.push(SegmentItem { slot: item.slot, generation: item.generation, list: item.list.clone() });
        true
    }

    fn finish(mut self, end: usize, pen: &mut Pen, into: &mut Vec<SharedSegment>) {
        let Some(segment) = Arc::get_mut(&mut self.segment) else { return };
        if segment.items.is_empty() {
            return;
        }
        pen.segment.end(&mut pen.bits);
        segment.complete(&mut pen.bits);
        into.push(SharedSegment { segment: self.segment, items: self.first..end });
    }
}
