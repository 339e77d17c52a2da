//! The property lists in a packet. The list of an update or opening says which properties of an object
//! follow. Lists that will probably occur again are kept for later packets, together with the recipe that
//! reads their values fast (see [`ReadRecipe`]). Without a recipe, the values are read by a walk over the
//! program of the class, which is slower.
//!
//! *Invariant:* the index of a list is valid until the next call of [`begin_packet`](Lists::begin_packet).

use std::borrow::Cow;

use repl_core::wire::{read_handles, write_handles};
use repl_core::{BitSlice, BitWriter, HandleSet, ReadRecipe};

/// The lists of the current packet, and lists of earlier packets that will probably occur again.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The lists that are kept for later packets, as a set-associative cache: [`HOMES`] homes of [`WAYS`]
    /// places each. Empty before the first list.
    kept: Vec<Option<Kept>>,
    /// The lists that are dropped after this packet, because all places of their homes were occupied by lists
    /// of this packet.
    others: Vec<Other>,
    /// The encoded handles of `others`. A set of handles would take much more memory than an encoded list.
    bits: BitWriter,
    /// The list that was used last. `None` if its recipe was not made yet.
    last: Option<ListIndex>,
    /// The number of the current packet.
    packet: u32,
}

/// A list that is kept for later packets, with its recipe.
#[derive(Debug)]
struct Kept {
    /// The number of the class on this client.
    class: u16,
    handles: HandleSet,
    recipe: Recipe,
    /// The number of the last packet in which the list was used.
    packet: u32,
}

/// How the values of a list are read.
#[derive(Debug)]
enum Recipe {
    /// The recipe was not made yet, because the list was looked up only once, for a single object. Making a
    /// recipe costs more than reading one object.
    Unmade,
    /// There is no recipe: the values are read by a walk over the program of the class.
    Walk,
    Made(Box<ReadRecipe>),
}

/// A list that is dropped after the packet.
#[derive(Clone, Copy, Debug)]
struct Other {
    class: u16,
    /// The number of handles of all properties of the class.
    count: u32,
    /// The position in [`Lists::bits`] of the encoded handles.
    position: u32,
}

/// The number of homes of the cache. A home is a set of places for lists. The class and the handles of a list
/// decide its home.
const HOMES: usize = 16;

/// The number of places in a home.
const WAYS: usize = 4;

/// The greatest number of kept lists. It limits the memory for recipes that packets can make the client use.
const KEPT: usize = HOMES * WAYS;

/// The index of a list in [`Lists`]. The kept lists come before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListIndex(u32);

/// A list of properties that is looked up in [`Lists`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The number of the class on this client.
    pub(crate) class: u16,
    pub(crate) handles: &'a HandleSet,
    /// Whether several consecutive objects have these properties.
    pub(crate) is_of_several: bool,
    /// Whether the list that was looked up before this one has the same class and the same handles.
    pub(crate) is_alike: bool,
}

impl Lists {
    /// Begins the next packet, or the same packet again. Drops the lists that are not kept.
    pub(crate) fn begin_packet(&mut self) {
        self.packet = self.packet.wrapping_add(1);
        self.others.clear();
        self.bits.clear();
        self.last = None;
    }

    /// Returns the index of a list, and adds the list if it is new. `count` returns the number of handles of
    /// the class. `recipe` makes the recipe, or returns `None` if the values must be read by a walk. It is
    /// called only if the list was looked up before, or is looked up for several objects.
    #[inline]
    pub(crate) fn index_of(
        &mut self,
        wanted: Wanted<'_>,
        count: impl FnOnce() -> u32,
        recipe: impl FnOnce() -> Option<ReadRecipe>,
    ) -> ListIndex {
        match self.last {
            Some(last) if wanted.is_alike => {
                debug_assert!(self.kept(last).is_none_or(|kept| kept.is(wanted)), "not alike");
                last
            }
            _ => self.find_or_add(wanted, count, recipe),
        }
    }

    /// Returns the list that was used last and its recipe, if it has one.
    #[inline(always)]
    pub(crate) fn last(&self) -> Option<(ListIndex, &ReadRecipe)> {
        let last = self.last?;
        Some((last, self.recipe(last)?))
    }

    #[inline(never)]
    fn find_or_add(
        &mut self,
        wanted: Wanted<'_>,
        count: impl FnOnce() -> u32,
        recipe: impl FnOnce() -> Option<ReadRecipe>,
    ) -> ListIndex {
        self.last = None;
        let Some((index, kept, is_new)) = self.keep(wanted) else {
            let added = self.add_other(wanted, count());
            self.last = Some(added);
            return added;
        };
        let is_second = !is_new || wanted.is_of_several;
        if let (Recipe::Unmade, true) = (&kept.recipe, is_second) {
            kept.recipe = recipe().map_or(Recipe::Walk, |made| Recipe::Made(Box::new(made)));
        }
        if is_second {
            self.last = Some(index);
        }
        index
    }

    /// Returns the kept list that equals `wanted`, and whether it was added now. A new list replaces the
    /// least recently used list of its home. Returns `None` if the current packet has used all lists of the
    /// home.
    fn keep(&mut self, wanted: Wanted<'_>) -> Option<(ListIndex, &mut Kept, bool)> {
        self.kept.resize_with(KEPT, || None);
        let packet = self.packet;
        let age =
            |place: &Option<Kept>| place.as_ref().map_or(u32::MAX, |kept| packet.wrapping_sub(kept.packet));
        let first = home_of(wanted).wrapping_mul(WAYS);
        let places = self.kept.get_mut(first..first.wrapping_add(WAYS))?;
        let is_wanted = |place: &Option<Kept>| place.as_ref().is_some_and(|kept| kept.is(wanted));
        let (at, is_new) = match places.iter().position(is_wanted) {
            Some(at) => (at, false),
            None => {
                let (at, age) = places.iter().map(age).enumerate().max_by_key(|&(_, age)| age)?;
                (age > 0).then_some((at, true))?
            }
        };
        let place = places.get_mut(at)?;
        if is_new {
            *place = Some(Kept::new(wanted));
        }
        let kept = place.as_mut()?;
        kept.packet = packet;
        Some((ListIndex(first.wrapping_add(at) as u32), kept, is_new))
    }

    /// Adds a list for the current packet only. `count` is the number of handles of its class.
    fn add_other(&mut self, wanted: Wanted<'_>, count: u32) -> ListIndex {
        let handles = wanted.handles;
        let position = self.bits.bit_len() as u32;
        let is_all = handles.len() == count;
        self.bits.write_flag(is_all);
        if !is_all {
            write_handles(handles, count, true, &mut self.bits);
        }
        self.others.push(Other { class: wanted.class, count, position });
        ListIndex(KEPT.wrapping_add(self.others.len()).wrapping_sub(1) as u32)
    }

    /// Ends the lists of a packet body. Then their [`handles`](Self::handles) can be read.
    pub(crate) fn end_body(&mut self) {
        self.bits.finish();
    }

    /// Returns the handles of a list. Call [`end_body`](Self::end_body) first.
    #[inline]
    pub(crate) fn handles(&self, list: ListIndex) -> Option<Cow<'_, HandleSet>> {
        match self.kept(list) {
            Some(kept) => Some(Cow::Borrowed(&kept.handles)),
            None => self.other(list)?.read(self.bits.finished()).map(Cow::Owned),
        }
    }

    #[inline]
    pub(crate) fn class_of(&self, list: ListIndex) -> Option<u16> {
        match self.kept(list) {
            Some(kept) => Some(kept.class),
            None => Some(self.other(list)?.class),
        }
    }

    #[inline]
    pub(crate) fn recipe(&self, list: ListIndex) -> Option<&ReadRecipe> {
        match &self.kept(list)?.recipe {
            Recipe::Made(recipe) => Some(recipe),
            Recipe::Unmade | Recipe::Walk => None,
        }
    }

    #[inline(always)]
    fn kept(&self, list: ListIndex) -> Option<&Kept> {
        self.kept.get(list.0 as usize)?.as_ref()
    }

    fn other(&self, list: ListIndex) -> Option<&Other> {
        self.others.get((list.0 as usize).checked_sub(KEPT)?)
    }
}

impl Kept {
    fn new(wanted: Wanted<'_>) -> Self {
        let Wanted { class, handles, .. } = wanted;
        Self { class, handles: handles.clone(), recipe: Recipe::Unmade, packet: 0 }
    }

    #[inline(always)]
    fn is(&self, wanted: Wanted<'_>) -> bool {
        self.class == wanted.class && self.handles == *wanted.handles
    }
}

impl Other {
    /// Reads the handles from `bytes`, the encoded handles of all lists that are not kept.
    fn read(&self, bytes: &[u8]) -> Option<HandleSet> {
        let position = self.position as usize;
        let rest = bytes.len().saturating_mul(8).checked_sub(position)?;
        let mut reader = BitSlice::new(bytes, position, rest)?.reader();
        let is_all = reader.read_flag().ok()?;
        if is_all {
            Some(HandleSet::up_to(self.count))
        } else {
            read_handles(self.count, true, &mut reader).ok()
        }
    }
}

/// Returns the home of a list. It is less than [`HOMES`].
#[inline]
fn home_of(wanted: Wanted<'_>) -> usize {
    let Wanted { class, handles, .. } = wanted;
    let key = handles.first_word() ^ u64::from(class).rotate_right(16) ^ u64::from(handles.len());
    const BITS: u32 = u64::BITS - HOMES.ilog2();
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_shr(BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(class: u16, handles: &HandleSet) -> Wanted<'_> {
        Wanted { class, handles, is_of_several: false, is_alike: false }
    }

    /// Returns `number` different sets of handles, for a class with `count` handles.
    fn sets(count: u32, number: u32) -> Vec<HandleSet> {
        (0..number).map(|bits| (1..=count).filter(|handle| (handle * 7 % 97) & bits != 0).collect()).collect()
    }

    #[test]
    fn lists_are_returned_as_they_were_added() {
        let mut lists = Lists::default();
        for number in [1, 20, 90] {
            for count in [40, 64, 65, 4_096] {
                let mut sets = sets(count, number);
                sets.extend([HandleSet::new(), HandleSet::up_to(count), HandleSet::up_to(count - 1)]);
                let added: Vec<_> =
                    sets.iter().map(|set| lists.index_of(wanted(3, set), || count, || None)).collect();
                lists.end_body();
                for (&index, set) in added.iter().zip(&sets) {
                    assert_eq!(lists.handles(index).as_deref(), Some(set));
                    assert_eq!(lists.class_of(index), Some(3));
                }
                lists.begin_packet();
            }
        }
    }

    #[test]
    fn a_recipe_is_made_for_the_second_object_and_only_once() {
        let mut lists = Lists::default();
        let (one, other) = (HandleSet::up_to(1), HandleSet::up_to(100));
        let mut asked = 0;
        let mut ask = |lists: &mut Lists, wanted: Wanted<'_>| {
            lists.index_of(
                wanted,
                || 100,
                || {
                    asked += 1;
                    None
                },
            );
            asked
        };
        assert_eq!(ask(&mut lists, wanted(0, &one)), 0);
        assert_eq!(ask(&mut lists, wanted(0, &one)), 1, "again in the packet");
        assert_eq!(ask(&mut lists, wanted(1, &one)), 1, "another class");
        lists.begin_packet();
        assert_eq!(ask(&mut lists, wanted(1, &one)), 2, "again in the next packet");
        assert_eq!(ask(&mut lists, Wanted { is_of_several: true, ..wanted(0, &other) }), 3, "two objects");
        for _ in 0..3 {
            assert_eq!(ask(&mut lists, wanted(0, &one)), 3);
            assert_eq!(ask(&mut lists, wanted(0, &other)), 3);
            lists.begin_packet();
        }
    }

    #[test]
    fn lists_that_packets_do_not_use_make_room_for_those_that_they_use() {
        let mut lists = Lists::default();
        let sets: Vec<HandleSet> = (0..4_096_u32)
            .map(|bits| (1..=12).filter(|handle| bits >> (handle - 1) & 1 == 1).collect())
            .collect();
        for set in &sets {
            lists.index_of(wanted(7, set), || 12, || None);
        }
        assert_eq!((lists.kept.len(), lists.others.len()), (KEPT, sets.len() - KEPT));
        for few in sets.chunks(8).skip(20) {
            lists.begin_packet();
            let is_kept = |set: &HandleSet| lists.index_of(wanted(7, set), || 12, || None).0 < KEPT as u32;
            let kept = few.iter().map(is_kept).filter(|is_kept| *is_kept).count();
            assert!(kept >= WAYS, "{kept}");
        }
    }
}
