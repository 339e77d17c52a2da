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
use repl_core::{BitSlice, BitWriter, HandleSet};

use crate::session::events::CloseReason;
use crate::transport::role::Proxy;

/// The validated entries of a packet's body, and of the blobs that the packet completes. The memory is reused
/// for each packet.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    entries: Vec<Entry>,
    openings: Vec<Openings>,
    /// The lists of properties of the entries. Consecutive entries with the same list share it.
    lists: Vec<List>,
    /// The handles of the last list.
    last: HandleSet,
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
        /// The position of the values in the body, if all bits are valid values. The positions of all other
        /// values are in [`Checked`](repl_core::Checked).
        direct: Option<NonZeroU32>,
    },
    /// Objects in consecutive slots are opened.
    Open {
        first: u32,
        objects: u32,
        openings: OpeningsIndex,
        /// The number of bits before the values of the first object.
        head_bits: u32,
    },
    Close {
        slot: u32,
        reason: CloseReason,
        /// The path of the object, if the server has named it.
        path: Option<PathIndex>,
    },
}

impl Entry {
    /// Returns the slot of an update of direct properties, the list of the properties, and the position of
    /// their values in the body.
    #[inline]
    pub(crate) fn as_direct(&self) -> Option<(u32, ListIndex, usize)> {
        match *self {
            Self::Update { slot, list, direct, .. } => Some((slot, list, direct?.get() as usize)),
            _ => None,
        }
    }

    /// Returns whether this entry and the next one are updates of the same direct properties.
    #[inline]
    pub(crate) fn is_like(&self, next: &Self) -> bool {
        let list = |entry: &Self| entry.as_direct().map(|(_, list, _)| list);
        list(self).is_some_and(|own| list(next) == Some(own))
    }
}

/// A list of properties of a class.
#[derive(Clone, Debug)]
struct List {
    /// The number of the class on this client.
    class: u16,
    handles: ListHandles,
    /// The number of bits that the values take, if all bits are valid values of these properties.
    direct_bits: Option<usize>,
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

/// The index of a list of properties in the [`Contents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        self.lists.clear();
        self.long_lists.clear();
        self.paths.clear();
        self.bodies.clear();
    }

    /// Returns the index of a list of properties of a class, which is added unless it equals the last one.
    /// `describe` returns the number of handles of the class, and the number of bits that the values take, if
    /// all bits are valid values.
    #[inline]
    pub(crate) fn index_of(
        &mut self,
        class: u16,
        handles: &HandleSet,
        describe: impl FnOnce() -> (u32, Option<usize>),
    ) -> ListIndex {
        if !self.lists.last().is_some_and(|last| last.class == class && self.last == *handles) {
            let (count, direct_bits) = describe();
            self.last.clone_from(handles);
            let handles =
                if count > FEW_HANDLES { self.write(count) } else { ListHandles::Few(handles.clone()) };
            self.lists.push(List { class, handles, direct_bits });
        }
        ListIndex((self.lists.len() as u32).saturating_sub(1))
    }

    /// Writes the handles of the last list, which belong to a class with `count` handles.
    fn write(&mut self, count: u32) -> ListHandles {
        let position = self.long_lists.bit_len() as u32;
        let is_all = self.last.len() == count;
        self.long_lists.write_flag(is_all);
        if !is_all {
            write_handles(&self.last, count, true, &mut self.long_lists);
        }
        ListHandles::Many { position, count }
    }

    #[inline]
    pub(crate) fn update(&mut self, slot: u32, list: ListIndex, head_bits: usize, direct: Option<usize>) {
        // No values are at the position 0, because each body has a head.
        let direct = direct.and_then(|position| NonZeroU32::new(position as u32));
        self.entries.push(Entry::Update { slot, list, head_bits: head_bits as u32, direct });
    }

    /// Adds the opening of objects in consecutive slots. Openings in a row that have everything in common
    /// share it.
    pub(crate) fn open(&mut self, slots: Range<u32>, head_bits: usize, openings: Openings) {
        if self.openings.last() != Some(&openings) {
            self.openings.push(openings);
        }
        self.entries.push(Entry::Open {
            first: slots.start,
            objects: slots.len() as u32,
            openings: OpeningsIndex((self.openings.len() as u32).saturating_sub(1)),
            head_bits: head_bits as u32,
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

    /// Returns the number of bits that the values of a list take, if all bits are valid values.
    #[inline]
    pub(crate) fn direct_bits(&self, list: ListIndex) -> Option<usize> {
        self.lists.get(list.0 as usize)?.direct_bits
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
        let list = contents.index_of(0, &HandleSet::up_to(1), || (1, Some(1)));
        contents.update(3, list, 8, Some(20));
        contents.end_body();
        let mark = contents.mark();
        contents.open(4..7, 9, openings(0, list));
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
                .map(|(class, (count, handles))| contents.index_of(class, handles, || (*count, None)))
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
        let list = contents.index_of(0, &HandleSet::up_to(1), || (1, Some(1)));
        for (first, archetype) in [(1, 0), (4, 0), (7, 1), (9, 0)] {
            contents.open(first..first + 2, 5, openings(archetype, list));
        }
        contents.end_body();
        let known = contents.body(0).iter().map(|entry| match *entry {
            Entry::Open { first, objects: 2, openings, head_bits: 5 } => {
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
            let one = contents.index_of(0, &HandleSet::up_to(1), || (count, Some(1)));
            assert_eq!(contents.index_of(0, &HandleSet::up_to(1), || (count, None)), one);
            assert_ne!(contents.index_of(1, &HandleSet::up_to(1), || (count, None)), one);
            let again = contents.index_of(0, &HandleSet::up_to(1), || (count, Some(1)));
            assert_ne!(contents.index_of(0, &HandleSet::new(), || (count, None)), again);
        }
    }
}
