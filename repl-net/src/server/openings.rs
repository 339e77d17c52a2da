//! The spawn cache: the openings of objects for the default view, encoded once and shared by all connections
//! (S88). The opening of an object is its first update, which spawns it on a client. A connection has the
//! default view of an object if it does not own the object and does not record a replay.
//!
//! *Invariant:* if the opening of an object is encoded again, the result has the same bits as the cached
//! opening. The opening of an object is dropped from the cache when the object or its default view changes.
//! The cache frees its memory at the end of a round of ticks in which connections needed few openings.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use repl_core::{BitSlice, BitWriter, Changelist, ConditionMasks, HandleSet, Rows, WriteRecipe};

use super::column::Column;
use super::part_size::LEAST_NEW_BITS;
use super::world::World;
use crate::body::segment::{LEAST_RUN_BITS, Origin, RunHeader};
use crate::body::slot_set::{SlotSet, bits};
use crate::session::classes::ClassList;

/// The cache is cleared if outdated openings (first updates) take more bits than this, and also more bits
/// than the valid openings.
const MAX_WASTE_BITS: usize = 1 << 20;

/// An opening of at most this many bits can be sent in a run, together with other openings. If an object
/// changes after its small opening was sent and before the ack, the whole opening is sent again. The changes
/// of an object with a larger opening wait for the ack (R2).
pub(crate) const SMALL_OPEN_BITS: usize = 1_024;

/// At the end of a round, the cache is emptied unless connections needed more than one opening for every
/// `USED_PART` cached openings.
const USED_PART: usize = 4;

/// The number of bits that is counted for an opening in the cache in addition to its values.
const ENTRY_BITS: usize = 512;

/// The encoded openings of the objects that some connection needed.
#[derive(Debug, Default)]
pub(crate) struct OpeningCache {
    /// The encoded values of all openings, one after another. [`write`](Self::write) calls
    /// [`BitWriter::finish`] at its end.
    values: BitWriter,
    headers: Vec<OpeningHeader>,
    /// The cache entry of each slot. The position in a cache entry is valid if the slot is in `written`.
    entries: Vec<CachedOpening>,
    written: SlotSet,
    /// The assets to which the openings refer, each with the slot of the object that refers to it.
    named_assets: BTreeSet<(u32, NonZeroU32)>,
    /// The number of bits of outdated openings.
    waste_bits: usize,
    /// The number of openings that connections needed in this round of ticks. Atomic, because the passes of
    /// several connections may run at the same time.
    needed: AtomicUsize,
}

/// The header of an opening, which comes before its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpeningHeader {
    pub(crate) origin: Origin,
    /// The number of the class on the server, which differs from its number in packets.
    pub(crate) class: u16,
    pub(crate) handles: HandleSet,
}

/// The greatest number of classes in [`Forms`].
const MOST_FORMS: usize = 16;

/// The greatest number of [`Way`]s (sets of properties) in one [`Form`].
const MOST_WAYS: usize = 16;

/// The [`Form`]s of the classes whose openings were written last. They are reused, because the same few
/// classes of objects and subobjects alternate.
#[derive(Default)]
struct Forms<'a> {
    /// At most [`MOST_FORMS`], with one form for each class.
    forms: Vec<Form<'a>>,
    /// The index of the form that was chosen last.
    last: usize,
}

impl<'a> Forms<'a> {
    /// Returns the form of a class. If there is none yet, `make` makes it. If there are [`MOST_FORMS`]
    /// already, the new form replaces the form after the last chosen one.
    fn choose(&mut self, class: u16, make: impl FnOnce() -> Form<'a>) -> &mut Form<'a> {
        if let Some(known) = self.forms.iter().position(|form| form.class == class) {
            self.last = known;
        } else if self.forms.len() < MOST_FORMS {
            self.last = self.forms.len();
            self.forms.push(make());
        } else {
            self.last = (self.last + 1) % MOST_FORMS;
            self.forms[self.last] = make();
        }
        &mut self.forms[self.last]
    }
}

/// How the openings (first updates) of one class are written. It is reused for the next object, because
/// objects in neighbouring slots mostly have the same class.
struct Form<'a> {
    /// The number of the class on the server.
    class: u16,
    /// The number of the class in packets.
    wire: u32,
    column: &'a dyn Column,
    conditions: &'a ConditionMasks,
    rows: Rows<'a>,
    /// At most [`MOST_WAYS`]. The objects of a class mostly differ from their archetype in few sets of
    /// properties.
    ways: Vec<Way>,
    /// The index of the way that was chosen last.
    last: usize,
}

/// How openings with one set of properties are written.
struct Way {
    /// The properties, which are sent whole.
    list: Changelist,
    recipe: WriteRecipe,
    /// The index of the header of the last opening that was written in this way.
    header: u32,
}

impl<'a> Form<'a> {
    fn new(class: u16, wire: u32, column: &'a dyn Column) -> Self {
        let (conditions, rows) = (column.conditions(), column.rows());
        Self { class, wire, column, conditions, rows, ways: Vec::new(), last: 0 }
    }

    /// Chooses the way in which openings with these properties are written.
    #[inline]
    fn choose_way(&mut self, handles: &HandleSet) {
        let is_right = |way: &Way| way.list.handles() == handles;
        if !self.ways.get(self.last).is_some_and(is_right) {
            self.last = self.ways.iter().position(is_right).unwrap_or_else(|| self.make_way(handles));
        }
    }

    /// Computes how openings with these properties are written. Returns the index of the new way. If there
    /// are [`MOST_WAYS`] already, the new way replaces the way after the last chosen one.
    #[cold]
    fn make_way(&mut self, handles: &HandleSet) -> usize {
        let (mut list, mut recipe) = (Changelist::new(), WriteRecipe::default());
        self.column.insert_whole(handles, &mut list);
        self.rows.make_recipe(handles, &mut recipe);
        let way = Way { list, recipe, header: u32::MAX };
        if self.ways.len() < MOST_WAYS {
            self.ways.push(way);
            return self.ways.len() - 1;
        }
        let at = (self.last + 1) % MOST_WAYS;
        self.ways[at] = way;
        at
    }

    /// Writes the opening of an object in the chosen way. Returns whether the opening is refused. It is
    /// refused if the object has too many items for a run of openings, or if a hand-written serialiser
    /// refuses a value.
    #[inline]
    fn write(&self, row: u32, values: &mut BitWriter) -> bool {
        let Way { list, recipe, .. } = &self.ways[self.last];
        if list.handles().intersects(self.column.deltas()) {
            // What each client keeps of the object is recorded for this client alone.
            return true;
        }
        let items = self.column.items_of(row, list.handles());
        items * LEAST_NEW_BITS > SMALL_OPEN_BITS || self.rows.write_values(row, list, recipe, values).is_err()
    }
}

/// The position in the cache of the opening (first update) of an object.
#[derive(Clone, Copy, Debug, Default)]
struct CachedOpening {
    start: usize,
    bits: u32,
    /// The index of the opening's header. The index is out of range if the object has no shared opening,
    /// either because it has too many items for a run of openings, or because a hand-written serialiser
    /// refuses a value.
    header: u32,
}

/// The openings of objects in consecutive slots that have equal headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpeningRun<'a> {
    pub(crate) first: u32,
    pub(crate) header: &'a OpeningHeader,
    entries: &'a [CachedOpening],
}

impl OpeningCache {
    pub(crate) fn expire(&mut self, slots: &SlotSet) {
        let Self { entries, written, waste_bits, .. } = self;
        if written.is_empty() {
            return;
        }
        // The set `written` is processed word by word, because it cannot be iterated while it shrinks.
        for (word, mask) in slots.masks() {
            let mask = mask & written.word(word);
            if mask == 0 {
                continue;
            }
            for bit in bits(mask) {
                *waste_bits += entries[word * 64 + bit as usize].bits as usize + ENTRY_BITS;
            }
            written.remove_mask(word, mask);
        }
        let all_bits = self.values.bit_len() + self.headers.len() * ENTRY_BITS;
        if self.waste_bits > MAX_WASTE_BITS && self.waste_bits * 2 > all_bits {
            self.clear();
        }
    }

    /// Returns about how many bytes of memory the openings take.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.values.finished().len()
            + self.headers.capacity() * size_of::<OpeningHeader>()
            + self.entries.capacity() * size_of::<CachedOpening>()
            + self.named_assets.len() * size_of::<(u32, NonZeroU32)>()
    }

    pub(crate) fn clear(&mut self) {
        if self.headers.is_empty() {
            return;
        }
        self.values.clear();
        self.headers.clear();
        self.named_assets.clear();
        self.written.clear();
        self.waste_bits = 0;
    }

    /// Frees all memory if connections needed few of the openings (first updates) in this round (see
    /// [`ROUND_TICKS`](repl_link::parts::ROUND_TICKS)). Openings that are needed later are encoded again.
    pub(crate) fn end_round(&mut self) {
        let needed = std::mem::take(self.needed.get_mut());
        let openings: usize = self.written.masks().map(|(_, mask)| mask.count_ones() as usize).sum();
        if needed * USED_PART <= openings {
            *self = Self::default();
        }
    }

    /// Notes that a connection needs the openings of all objects in `slots`. Returns whether the cache
    /// contains them.
    pub(crate) fn contain(&self, slots: &[u32]) -> bool {
        self.needed.fetch_add(slots.len(), Ordering::Relaxed);
        slots.iter().all(|&slot| self.written.contains(slot))
    }

    /// Encodes the openings of the objects in `slots`, unless they are already in the cache. The argument
    /// `is_far` says whether the openings are for connections that are far from the objects. For the same
    /// cache, `is_far` must be the same in all calls. The argument `wire` returns the wire number of a class.
    pub(crate) fn write(&mut self, slots: &[u32], world: &World, is_far: bool, wire: impl Fn(u16) -> u32) {
        let (mut forms, mut left) = (Forms::default(), slots);
        while let Some(&first) = left.first() {
            let class = world.store.occupant(first).class;
            let form = forms.choose(class, || Form::new(class, wire(class), world.store.column(class)));
            left = self.write_alike(left, world, is_far, form);
        }
        self.values.finish();
    }

    /// Encodes the openings of the first objects in `slots`, which have the class of `form`, unless they are
    /// already in the cache. Returns the rest of `slots`, which begins at the first object of another class.
    #[inline]
    fn write_alike<'s>(
        &mut self,
        slots: &'s [u32],
        world: &World,
        is_far: bool,
        form: &mut Form<'_>,
    ) -> &'s [u32] {
        for (at, &slot) in slots.iter().enumerate() {
            if self.written.contains(slot) {
                continue;
            }
            if world.store.occupant(slot).class != form.class {
                return &slots[at..];
            }
            self.write_object(slot, world, is_far, form);
        }
        &[]
    }

    /// Encodes the opening of an object. `form` says how openings of its class are written.
    #[inline]
    fn write_object(&mut self, slot: u32, world: &World, is_far: bool, form: &mut Form<'_>) {
        let (object, occupant) = (&world.store.objects[slot as usize], world.store.occupant(slot));
        let handles = object.shared_opening(form.conditions, is_far);
        form.choose_way(&handles);
        let start = self.values.bit_len();
        let is_refused = form.write(occupant.row, &mut self.values);
        self.forget_named_assets(slot);
        if !self.values.named_assets().is_empty() {
            let named = self.values.named_assets().iter();
            self.named_assets.extend(named.map(|&number| (slot, number)));
            self.values.forget_named_assets();
        }
        if is_refused {
            self.values.truncate(start);
        }
        let origin = Origin {
            generation: occupant.generation,
            class: form.wire,
            archetype: object.archetype(),
            proxy: object.proxy(false),
            parent: None,
        };
        let class = form.class;
        let way = &mut form.ways[form.last];
        if !self.headers.get(way.header as usize).is_some_and(|last| last.origin == origin) {
            way.header = self.headers.len() as u32;
            self.headers.push(OpeningHeader { origin, class, handles: handles.into_owned() });
        }
        let header = if is_refused { u32::MAX } else { way.header };
        if self.entries.len() <= slot as usize {
            // Reserves as many entries as there are objects. `resize` alone could reserve twice as many.
            self.entries.reserve_exact(world.store.objects.capacity() - self.entries.len());
            self.entries.resize(world.store.objects.len(), CachedOpening::default());
        }
        let bits = (self.values.bit_len() - start) as u32;
        self.entries[slot as usize] = CachedOpening { start, bits, header };
        self.written.insert(slot);
    }

    /// Forgets the assets that were named by an earlier opening (first update) of this slot, either of the
    /// same object or of a previous object.
    fn forget_named_assets(&mut self, slot: u32) {
        if !self.named_assets.is_empty() {
            let mut later = self.named_assets.split_off(&(slot, NonZeroU32::MIN));
            self.named_assets.append(&mut later.split_off(&(slot + 1, NonZeroU32::MIN)));
        }
    }

    /// Returns a view that finds the cached openings by slot, and the buffer with the bits of all their
    /// values.
    pub(crate) fn lend(&self) -> (Written<'_>, BitSlice<'_>) {
        let Self { headers, entries, named_assets, .. } = self;
        let written = Written { headers, entries, named_assets };
        (written, self.values.finished().into())
    }
}

/// A table that finds the cached openings by their slots.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    headers: &'a [OpeningHeader],
    entries: &'a [CachedOpening],
    named_assets: &'a BTreeSet<(u32, NonZeroU32)>,
}

impl<'a> Written<'a> {
    /// Returns the assets to which the openings of the objects in `slots` refer.
    pub(crate) fn named_assets(&self, slots: Range<u32>) -> impl Iterator<Item = NonZeroU32> {
        let none = NonZeroU32::MIN;
        self.named_assets.range((slots.start, none)..(slots.end, none)).map(|&(_, number)| number)
    }

    /// Returns the longest run of openings at the start of `slots`, which must be in ascending order. The
    /// values of all objects of a run take at most `max_bits` bits, and the values of each object at most
    /// `max_object_bits`. Returns `None` if the first object has no shared opening, or if its values alone
    /// exceed a limit. Costs O(objects of the run).
    pub(crate) fn run(
        &self,
        slots: impl IntoIterator<Item = u32>,
        max_bits: usize,
        max_object_bits: usize,
    ) -> Option<OpeningRun<'a>> {
        let mut slots = slots.into_iter().peekable();
        let first = *slots.peek()?;
        let leader = self.entries.get(first as usize)?;
        let header = self.headers.get(leader.header as usize)?;
        let (mut end, mut left) = (first as usize, max_bits);
        for slot in slots {
            let Some(entry) = self.entries.get(slot as usize) else { break };
            let bits = entry.bits as usize;
            let alike = self.have_same_header(leader, entry);
            let fits = bits <= left.min(max_object_bits) && (slot == first || bits >= LEAST_RUN_BITS);
            if slot as usize != end || !alike || !fits {
                break;
            }
            (end, left) = (end + 1, left - bits);
        }
        let entries = self.entries.get(first as usize..end).filter(|entries| !entries.is_empty())?;
        Some(OpeningRun { first, header, entries })
    }

    /// Returns whether the openings (first updates) of the objects in two slots have equal headers.
    pub(crate) fn are_alike(&self, one: u32, other: u32) -> bool {
        let entries = self.entries.get(one as usize).zip(self.entries.get(other as usize));
        entries.is_some_and(|(one, other)| self.have_same_header(one, other))
    }

    fn have_same_header(&self, one: &CachedOpening, other: &CachedOpening) -> bool {
        let header = |entry: &CachedOpening| self.headers.get(entry.header as usize);
        one.header == other.header || header(one).is_some() && header(one) == header(other)
    }
}

impl<'a> OpeningRun<'a> {
    /// Returns the header of the run in a packet.
    pub(crate) fn run_header(&self, world: &World, classes: &ClassList) -> RunHeader<'a> {
        RunHeader {
            origin: self.header.origin,
            handles: &self.header.handles,
            count: world.store.column(self.header.class).program().handles(),
            classes: classes.len(),
            name: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns how many bits the values of each object of the run take.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.entries.iter().map(|entry| entry.bits as usize)
    }

    /// Returns the positions of the values of the first `count` objects of the run. Adjacent positions are
    /// joined, so there are as few ranges as possible.
    pub(crate) fn pieces(&self, count: usize) -> impl Iterator<Item = Range<usize>> {
        let whole = |entry: &CachedOpening| entry.start..entry.start + entry.bits as usize;
        self.entries[..count]
            .chunk_by(move |one, next| whole(one).end == next.start)
            .filter_map(move |piece| Some(whole(piece.first()?).start..whole(piece.last()?).end))
    }
}
