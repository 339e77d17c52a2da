//! The contents of a packet: the entries that validation has read, so that they can be applied without
//! reading their heads again.
//!
//! *Invariant:* the contents hold exactly the entries that were validated, in their order. Each entry takes
//! some bits of the packet, so the length of a packet limits the memory of its contents.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use repl_core::wire::{read_handles, write_handles};
use repl_core::{BitSlice, BitWriter, HandleSet, ReadRecipe};

use crate::session::events::CloseReason;
use crate::transport::role::Proxy;

/// The validated entries of a packet's body, and of the blobs that the packet completes. The memory is reused
/// for each packet.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    entries: Vec<Entry>,
    openings: Vec<Openings>,
    /// The lists of properties of the entries, and those of earlier packets that are likely to come again.
    lists: Vec<List>,
    /// For each home of a list, the index of the last list that has it. Empty until there is a list.
    homes: Vec<u16>,
    /// The index of the list that was used last.
    last: ListIndex,
    /// The handles of the last list of a class with many handles, if it was used last.
    last_long: HandleSet,
    /// The handles of the lists of classes with many handles, as bits.
    long_lists: BitWriter,
    /// The paths of static objects that the server has closed.
    paths: Vec<String>,
    /// The number of entries up to the end of each body: the packet's own body, and then the bodies in blobs.
    bodies: Vec<usize>,
}

/// One validated entry. The values of updates and openings are in the packet, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    Update {
        slot: u32,
        list: ListIndex,
        /// The number of bits before the values.
        head_bits: u32,
        /// The position of the values in the body, if they are read by the recipe of the list. The positions
        /// of all other values are in [`Checked`](repl_core::Checked).
        at: Option<NonZeroU32>,
    },
    /// Objects in consecutive slots are opened.
    Open {
        first: u32,
        objects: u32,
        openings: OpeningsIndex,
        /// The number of bits before the values of the first object.
        head_bits: u32,
        /// The position of the values of the first object, as for updates.
        at: Option<NonZeroU32>,
    },
    Close {
        slot: u32,
        reason: CloseReason,
        /// The path of the object, if the server has named it.
        path: Option<PathIndex>,
    },
}

impl Entry {
    /// Returns the slot of an update that is read by a recipe, the list of its properties, and the position
    /// of their values in the body.
    #[inline]
    pub(crate) fn as_prepared(&self) -> Option<(u32, ListIndex, u32)> {
        match *self {
            Self::Update { slot, list, at, .. } => Some((slot, list, at?.get())),
            _ => None,
        }
    }

    /// Returns whether this entry and the next one are updates that are read by the same recipe.
    #[inline]
    pub(crate) fn is_like(&self, next: &Self) -> bool {
        let list = |entry: &Self| entry.as_prepared().map(|(_, list, _)| list);
        list(self).is_some_and(|own| list(next) == Some(own))
    }
}

/// A list of properties of a class.
#[derive(Debug)]
struct List {
    /// The number of the class on this client.
    class: u16,
    handles: ListHandles,
    /// How the values are read, if they need no walk over the program of the class.
    recipe: Option<Box<ReadRecipe>>,
}

/// The handles of a list of properties.
#[derive(Clone, Debug)]
enum ListHandles {
    /// A set of handles of a class with up to [`FEW_HANDLES`], which allocates nothing.
    Few(HandleSet),
    /// The position of the handles in `long_lists`, and the number of handles of the class. A set of handles
    /// takes a bit for each handle of the class, and so much more memory than a short list in the packet.
    Many { position: u32, count: u32 },
}

/// Sets of up to this many handles allocate nothing.
const FEW_HANDLES: u32 = 64;

/// The number of homes, by which lists are found again.
const HOMES: usize = 64;

/// The greatest number of lists with recipes, and of lists that are kept for the next packet. A recipe takes
/// more memory than a list takes in a packet, so their number is limited.
const MAX_RECIPES: usize = 64;

/// The index of a list of properties in the [`Contents`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListIndex(u32);

/// The index of some [`Openings`] in the [`Contents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpeningsIndex(u32);

/// The index of a path in the [`Contents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathIndex(u32);

/// What openings of objects that differ only in their slots and values have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Openings {
    pub(crate) origin: LocalOrigin,
    /// The path of the object if it is static. Such an object is alone.
    pub(crate) path: Option<Arc<str>>,
    pub(crate) list: ListIndex,
}

/// Everything that an opening contains except its slot, its name and its values, as the client stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalOrigin {
    pub(crate) generation: NonZeroU32,
    /// The number of the class on this client.
    pub(crate) class: u16,
    pub(crate) archetype: u32,
    pub(crate) proxy: Proxy,
}

/// A position in [`Contents`]. [`Contents::truncate`] removes everything that was added after the position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContentsMark {
    entries: usize,
    openings: usize,
    bodies: usize,
}

impl Contents {
    /// Removes all entries and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.openings.clear();
        if self.lists.len() > MAX_RECIPES || self.long_lists.bit_len() > 0 {
            self.lists.clear();
        }
        self.long_lists.clear();
        self.paths.clear();
        self.bodies.clear();
    }

    /// Returns the index of a list of properties of a class, which is added unless it is found. `count`
    /// returns the number of handles of the class, and `recipe` how the values are read.
    #[inline]
    pub(crate) fn index_of(
        &mut self,
        class: u16,
        handles: &HandleSet,
        count: impl FnOnce() -> u32,
        recipe: impl FnOnce() -> Option<ReadRecipe>,
    ) -> ListIndex {
        if !self.is_list(self.last, class, handles) {
            self.last = self.find_or_add(class, handles, count, recipe);
        }
        self.last
    }

    #[inline(never)]
    fn find_or_add(
        &mut self,
        class: u16,
        handles: &HandleSet,
        count: impl FnOnce() -> u32,
        recipe: impl FnOnce() -> Option<ReadRecipe>,
    ) -> ListIndex {
        let home = home_of(class, handles);
        let known = ListIndex(self.homes.get(home).copied().unwrap_or(0).into());
        if self.is_list(known, class, handles) {
            return known;
        }
        let recipe = if self.lists.len() < MAX_RECIPES { recipe() } else { None };
        let added = self.add(class, handles, count(), recipe);
        self.homes.resize(HOMES, 0);
        if let Some(known) = self.homes.get_mut(home) {
            *known = u16::try_from(added.0).unwrap_or(0);
        }
        added
    }

    /// Returns whether the list at an index is one of these properties.
    #[inline(always)]
    fn is_list(&self, index: ListIndex, class: u16, handles: &HandleSet) -> bool {
        match self.lists.get(index.0 as usize) {
            Some(list) if list.class == class => match &list.handles {
                ListHandles::Few(known) => known == handles,
                ListHandles::Many { .. } => index == self.last && self.last_long == *handles,
            },
            _ => false,
        }
    }

    /// Adds a list of properties of a class with `count` handles.
    fn add(&mut self, class: u16, handles: &HandleSet, count: u32, recipe: Option<ReadRecipe>) -> ListIndex {
        let handles = if count > FEW_HANDLES {
            self.last_long.clone_from(handles);
            self.write(count)
        } else {
            ListHandles::Few(handles.clone())
        };
        self.lists.push(List { class, handles, recipe: recipe.map(Box::new) });
        ListIndex((self.lists.len() as u32).saturating_sub(1))
    }

    /// Writes the handles of the last long list, which belong to a class with `count` handles.
    fn write(&mut self, count: u32) -> ListHandles {
        let position = self.long_lists.bit_len() as u32;
        let is_all = self.last_long.len() == count;
        self.long_lists.write_flag(is_all);
        if !is_all {
            write_handles(&self.last_long, count, true, &mut self.long_lists);
        }
        ListHandles::Many { position, count }
    }

    /// Adds an update. If its values are read by the recipe of the list, they are at the position `at`.
    #[inline]
    pub(crate) fn update(&mut self, slot: u32, list: ListIndex, head_bits: usize, at: Option<usize>) {
        self.entries.push(Entry::Update { slot, list, head_bits: head_bits as u32, at: position(at) });
    }

    /// Adds the opening of objects in consecutive slots. Openings in a row that have everything in common
    /// share it.
    pub(crate) fn open(
        &mut self,
        slots: Range<u32>,
        head_bits: usize,
        openings: Openings,
        at: Option<usize>,
    ) {
        if self.openings.last() != Some(&openings) {
            self.openings.push(openings);
        }
        self.entries.push(Entry::Open {
            first: slots.start,
            objects: slots.len() as u32,
            openings: OpeningsIndex((self.openings.len() as u32).saturating_sub(1)),
            head_bits: head_bits as u32,
            at: position(at),
        });
    }

    pub(crate) fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) {
        let path = path.map(|path| {
            self.paths.push(path.to_owned());
            PathIndex((self.paths.len() as u32).saturating_sub(1))
        });
        self.entries.push(Entry::Close { slot, reason, path });
    }

    /// Ends a body, after its last entry was added.
    pub(crate) fn end_body(&mut self) {
        self.long_lists.finish();
        self.bodies.push(self.entries.len());
    }

    /// Returns the entries of the body with this number. The packet's own body has the number 0.
    pub(crate) fn body(&self, number: usize) -> &[Entry] {
        let end_of = |number: usize| self.bodies.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.entries.get(start..end_of(number)).unwrap_or_default()
    }

    /// Returns the handles of a list of properties. Call [`end_body`](Self::end_body) before.
    #[inline]
    pub(crate) fn list(&self, list: ListIndex) -> Option<Cow<'_, HandleSet>> {
        match &self.lists.get(list.0 as usize)?.handles {
            ListHandles::Few(handles) => Some(Cow::Borrowed(handles)),
            ListHandles::Many { position, count } => self.read(*position as usize, *count).map(Cow::Owned),
        }
    }

    fn read(&self, position: usize, count: u32) -> Option<HandleSet> {
        let bytes = self.long_lists.finished();
        let rest = bytes.len().saturating_mul(8).checked_sub(position)?;
        let mut reader = BitSlice::new(bytes, position, rest)?.reader();
        let is_all = reader.read_flag().ok()?;
        if is_all { Some(HandleSet::up_to(count)) } else { read_handles(count, true, &mut reader).ok() }
    }

    /// Returns the number of the class of a list of properties.
    pub(crate) fn class_of(&self, list: ListIndex) -> Option<u16> {
        self.lists.get(list.0 as usize).map(|list| list.class)
    }

    /// Returns how the values of a list are read, if it has a recipe.
    #[inline]
    pub(crate) fn recipe(&self, list: ListIndex) -> Option<&ReadRecipe> {
        self.lists.get(list.0 as usize)?.recipe.as_deref()
    }

    pub(crate) fn openings(&self, openings: OpeningsIndex) -> Option<&Openings> {
        self.openings.get(openings.0 as usize)
    }

    pub(crate) fn path(&self, path: PathIndex) -> Option<&str> {
        self.paths.get(path.0 as usize).map(String::as_str)
    }

    /// Returns the current end of the contents, for [`truncate`](Self::truncate).
    pub(crate) fn mark(&self) -> ContentsMark {
        let Self { entries, openings, bodies, .. } = self;
        ContentsMark { entries: entries.len(), openings: openings.len(), bodies: bodies.len() }
    }

    /// Removes the entries that were added since `mark`.
    pub(crate) fn truncate(&mut self, mark: ContentsMark) {
        self.entries.truncate(mark.entries);
        self.openings.truncate(mark.openings);
        self.bodies.truncate(mark.bodies);
    }
}

/// Returns the home of a list, which is below [`HOMES`].
#[inline]
fn home_of(class: u16, handles: &HandleSet) -> usize {
    let key = handles.first_word() ^ u64::from(class).rotate_right(16);
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_shr(58) as usize
}

/// Returns the position of values as it is stored. No values are at the position 0, because each body has a
/// head.
#[inline]
fn position(at: Option<usize>) -> Option<NonZeroU32> {
    at.and_then(|at| NonZeroU32::new(at as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(archetype: u32, list: ListIndex) -> Openings {
        let generation = NonZeroU32::MIN;
        let origin = LocalOrigin { generation, class: 0, archetype, proxy: Proxy::default() };
        Openings { origin, path: None, list }
    }

    #[test]
    fn truncated_contents_are_those_at_the_mark() {
        let mut contents = Contents::default();
        let list = contents.index_of(0, &HandleSet::up_to(1), || 1, || None);
        contents.update(3, list, 8, Some(20));
        contents.end_body();
        let mark = contents.mark();
        contents.open(4..7, 9, openings(0, list), None);
        contents.truncate(mark);
        contents.close(5, CloseReason::Relevancy, Some("a"));
        contents.end_body();
        assert!(matches!(contents.body(0), [Entry::Update { slot: 3, .. }]));
        let [Entry::Close { slot: 5, path: Some(path), .. }] = *contents.body(1) else { panic!("a closing") };
        assert_eq!(contents.path(path), Some("a"));
        assert!(contents.body(2).is_empty());
    }

    #[test]
    fn lists_of_classes_with_few_or_many_handles_are_returned_as_they_were_added() {
        let mut contents = Contents::default();
        let set = |handles: &[u32]| {
            let mut set = HandleSet::new();
            handles.iter().for_each(|&handle| set.insert(handle));
            set
        };
        let lists = [
            (64, set(&[1, 64])),
            (65, set(&[1, 64])),
            (65, set(&[65])),
            (4_096, HandleSet::new()),
            (4_096, HandleSet::up_to(4_096)),
            (4_096, set(&[1, 77, 4_095])),
            (4_096, HandleSet::up_to(4_095)),
        ];
        for _ in 0..2 {
            let added: Vec<_> = (0..)
                .zip(&lists)
                .map(|(class, (count, handles))| contents.index_of(class, handles, || *count, || None))
                .collect();
            contents.end_body();
            for (index, (_, handles)) in added.iter().zip(&lists) {
                assert_eq!(contents.list(*index).as_deref(), Some(handles));
            }
            contents.clear();
        }
    }

    #[test]
    fn openings_in_a_row_share_what_they_have_in_common() {
        let mut contents = Contents::default();
        let list = contents.index_of(0, &HandleSet::up_to(1), || 1, || None);
        for (first, archetype) in [(1, 0), (4, 0), (7, 1), (9, 0)] {
            contents.open(first..first + 2, 5, openings(archetype, list), Some(40));
        }
        contents.end_body();
        let known = contents.body(0).iter().map(|entry| match *entry {
            Entry::Open { first, objects: 2, openings, head_bits: 5, at: Some(_) } => {
                (first, contents.openings(openings).map(|openings| openings.origin.archetype))
            }
            _ => panic!("{entry:?}"),
        });
        assert_eq!(known.collect::<Vec<_>>(), [(1, Some(0)), (4, Some(0)), (7, Some(1)), (9, Some(0))]);
        assert_eq!(contents.openings.len(), 3);
    }

    #[test]
    fn equal_lists_of_the_same_class_in_a_row_are_one() {
        let mut contents = Contents::default();
        for count in [1, 100] {
            let mut index_of = |class, handles| contents.index_of(class, &handles, || count, || None);
            let one = index_of(0, HandleSet::up_to(1));
            assert_eq!(index_of(0, HandleSet::up_to(1)), one);
            assert_ne!(index_of(1, HandleSet::up_to(1)), one);
            let again = index_of(0, HandleSet::up_to(1));
            assert_ne!(index_of(0, HandleSet::new()), again);
            contents.clear();
        }
    }

    #[test]
    fn lists_of_classes_with_few_handles_are_found_again_and_their_number_is_limited() {
        let mut contents = Contents::default();
        let set = |bits: u32| (1..=12).filter(|handle| bits >> handle & 1 == 1).collect::<HandleSet>();
        let mut asked = 0;
        for _ in 0..3 {
            for bits in (0..40).step_by(2) {
                let index = contents.index_of(
                    7,
                    &set(bits),
                    || 12,
                    || {
                        asked += 1;
                        None
                    },
                );
                assert_eq!(contents.list(index).as_deref(), Some(&set(bits)));
                assert_eq!(contents.class_of(index), Some(7));
            }
            contents.clear();
        }
        // Two lists with the same home take turns.
        assert!((20..40).contains(&asked), "{asked}");
        for bits in 0..4_096 {
            let index = contents.index_of(
                7,
                &set(bits),
                || 12,
                || {
                    asked += 1;
                    None
                },
            );
            assert_eq!(contents.list(index).as_deref(), Some(&set(bits)));
        }
        assert!(asked <= 40 + MAX_RECIPES, "{asked}");
        contents.clear();
        assert!(contents.lists.is_empty());
    }
}
