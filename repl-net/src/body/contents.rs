//! The contents of a server packet: the record of its body, which is kept until the server knows whether the
//! packet has arrived (R4).
//!
//! *Invariant:* there is one list for each form in which a body can contain state of objects. Code that
//! handles an ack or a loss visits all lists.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use repl_core::Changelist;
use repl_link::parts::Record;

use super::copied::Copied;
use super::segment::Segment;
use super::slot_set::{SlotSet, bit_of, slots_of, word_of};

/// The content of a packet for one object, if it is not in a shared segment.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) content: Content,
}

/// What a packet contains about one object.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The values of the properties in this changelist, which changed.
    Update(Changelist),
    /// The opening (the update that creates the object on the client), with the properties in this
    /// changelist.
    Open(Changelist),
    /// The role of the object on the client, and whether the client owns it.
    Proxy,
    /// A part of a blob (an update that is too large for one packet).
    Fragment { blob: u32, index: u32 },
    /// The removal of the object, with a last state that is too large for one packet. Only blobs contain
    /// this.
    Close,
}

impl Content {
    /// Returns the changelist of the properties whose values were sent, or `None` if the content has no
    /// values.
    pub(crate) fn list(&self) -> Option<&Changelist> {
        match self {
            Self::Update(list) | Self::Open(list) => Some(list),
            Self::Proxy | Self::Fragment { .. } | Self::Close => None,
        }
    }
}

/// Objects with the same generation whose slots are in the same word (64 consecutive slots).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cohort {
    pub(crate) word: usize,
    pub(crate) mask: u64,
    pub(crate) generation: NonZeroU32,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) shared: Vec<Arc<Segment>>,
    pub(crate) copied: Copied,
    pub(crate) sent: Vec<Sent>,
    /// The objects that the packet creates on the client, and whose spawns had waited to be sent before.
    pub(crate) opened: Vec<Cohort>,
    /// The objects that the packet removes from the client.
    pub(crate) closed: Vec<Cohort>,
}

impl Contents {
    /// Records that the packet creates objects on the client. Their spawns had waited to be sent before.
    pub(crate) fn open(&mut self, opened: Cohort) {
        add(&mut self.opened, opened);
    }

    /// Records that the packet removes objects from the client.
    pub(crate) fn close(&mut self, closed: Cohort) {
        add(&mut self.closed, closed);
    }

    /// Returns the changelists of the object in `slot` in the shared segments and tables of the packet. Costs
    /// O(segments × log(entries) + entries of tables).
    pub(super) fn shared_lists(&self, slot: u32) -> impl Iterator<Item = (NonZeroU32, &Changelist)> {
        let shared = self.shared.iter().filter_map(move |segment| segment.entry(slot));
        let copied = self.copied.entries().filter(move |entry| entry.slot == slot);
        shared.chain(copied).map(|entry| (entry.generation, entry.list))
    }

    /// Returns the changelists of the object in `slot` that the packet contains outside shared segments and
    /// tables. Costs O(entries outside them).
    pub(super) fn own_lists(&self, slot: u32) -> impl Iterator<Item = (NonZeroU32, &Changelist)> {
        let sent = self.sent.iter().filter(move |sent| sent.slot == slot);
        sent.filter_map(|sent| Some((sent.generation, sent.content.list()?)))
    }

    /// Calls `visit` with each changelist of values that the packet contains for an object in `slots`.
    pub(super) fn visit_lists(&self, slots: &SlotSet, mut visit: impl FnMut(u32, NonZeroU32, &Changelist)) {
        for segment in &self.shared {
            let found =
                segment.masks.iter().flat_map(|(word, mask)| slots_of(*word, mask & slots.word(*word)));
            for entry in found.filter_map(|slot| segment.entry(slot)) {
                visit(entry.slot, entry.generation, entry.list);
            }
        }
        for entry in self.copied.entries().filter(|entry| slots.contains(entry.slot)) {
            visit(entry.slot, entry.generation, entry.list);
        }
        for sent in self.sent.iter().filter(|sent| slots.contains(sent.slot)) {
            if let Some(list) = sent.content.list() {
                visit(sent.slot, sent.generation, list);
            }
        }
    }
}

/// Adds objects to a list. If the last item of the list has the same word and generation, they are added to
/// this item.
fn add(cohorts: &mut Vec<Cohort>, more: Cohort) {
    match cohorts.last_mut() {
        Some(last) if (last.word, last.generation) == (more.word, more.generation) => last.mask |= more.mask,
        _ => cohorts.push(more),
    }
}

/// The contents of a packet that was declared lost and may still be acked. Changed values are not recorded
/// here, because they are sent again in any case.
#[derive(Debug)]
pub(crate) enum Late {
    /// The owner flag and role of an object, or a part of a blob.
    Sent(Sent),
    /// Objects that the packet creates on the client. Their values are not recorded.
    Opened(Cohort),
    /// Objects that the packet removes from the client.
    Closed(Cohort),
}

impl Record for Contents {
    type Late = Late;

    fn is_empty(&self) -> bool {
        self.shared.is_empty()
            && self.copied.is_empty()
            && self.sent.is_empty()
            && self.opened.is_empty()
            && self.closed.is_empty()
    }

    /// Shared updates without new elements of collections are not awaited: the server does nothing when they
    /// are acked.
    fn is_awaited(&self) -> bool {
        let is_of_objects = !self.sent.is_empty() || !self.opened.is_empty() || !self.closed.is_empty();
        is_of_objects
            || self.shared.iter().any(|segment| segment.has_new_elements())
            || self.copied.has_new_elements()
    }

    /// Counts the buffers, the changelists, and the shared segments. If several records contain the same
    /// segment, each record counts it. Costs O(contents).
    fn content_bytes(&self) -> usize {
        let shared = self.shared.iter().map(|segment| segment.held_bytes());
        let lists = self.sent.iter().filter_map(|sent| sent.content.list()).map(Changelist::heap_bytes);
        self.buffer_bytes() + shared.sum::<usize>() + self.copied.entry_bytes() + lists.sum::<usize>()
    }

    fn buffer_bytes(&self) -> usize {
        self.shared.capacity() * size_of::<Arc<Segment>>()
            + self.copied.buffer_bytes()
            + self.sent.capacity() * size_of::<Sent>()
            + self.opened.capacity() * size_of::<Cohort>()
            + self.closed.capacity() * size_of::<Cohort>()
    }

    fn clear(&mut self) {
        self.shared.clear();
        self.copied.clear();
        self.sent.clear();
        self.opened.clear();
        self.closed.clear();
    }

    fn late(&self) -> Vec<Late> {
        // Openings of the same word may be several entries of the list here, so this loop joins them.
        let mut opened: BTreeMap<(usize, NonZeroU32), u64> = BTreeMap::new();
        let mut add = |word, generation, mask| *opened.entry((word, generation)).or_default() |= mask;
        self.opened.iter().for_each(|opened| add(opened.word, opened.generation, opened.mask));
        let mut late = Vec::new();
        for sent in &self.sent {
            match sent.content {
                Content::Open(_) => add(word_of(sent.slot), sent.generation, bit_of(sent.slot)),
                Content::Proxy | Content::Fragment { .. } => late.push(Late::Sent(sent.clone())),
                Content::Update(_) | Content::Close => {}
            }
        }
        let opened = opened.into_iter();
        late.extend(opened.map(|((word, generation), mask)| Late::Opened(Cohort { word, mask, generation })));
        late.extend(self.closed.iter().copied().map(Late::Closed));
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r04_everything_except_updates_is_recorded_for_late_acks() {
        let of = |generation| NonZeroU32::new(generation).expect("it is not zero");
        let sent = |slot, content| Sent { slot, generation: of(1), content };
        let contents = Contents {
            sent: vec![
                sent(3, Content::Update(Changelist::new())),
                sent(4, Content::Proxy),
                sent(65, Content::Open(Changelist::new())),
                sent(6, Content::Fragment { blob: 7, index: 8 }),
            ],
            opened: [(0, 0b1, 1), (1, 0b1, 1), (0, 0b1000, 1), (0, 0b100, 2)]
                .into_iter()
                .map(|(word, mask, generation)| Cohort { word, mask, generation: of(generation) })
                .collect(),
            closed: vec![Cohort { word: 2, mask: 0b101, generation: of(3) }],
            ..Contents::default()
        };
        let text = |late: &Late| match late {
            Late::Sent(Sent { slot, content: Content::Proxy, .. }) => format!("proxy {slot}"),
            Late::Sent(Sent { slot, content: Content::Fragment { blob, index }, .. }) => {
                format!("part {index} of blob {blob} of {slot}")
            }
            Late::Sent(sent) => format!("{:?}", sent.content),
            Late::Opened(Cohort { word, mask, generation }) => {
                format!("opened {mask:#b} of generation {generation} in {word}")
            }
            Late::Closed(Cohort { word, mask, generation }) => {
                format!("closed {mask:#b} of generation {generation} in {word}")
            }
        };
        let expected = [
            "proxy 4",
            "part 8 of blob 7 of 6",
            "opened 0b1001 of generation 1 in 0",
            "opened 0b100 of generation 2 in 0",
            "opened 0b11 of generation 1 in 1",
            "closed 0b101 of generation 3 in 2",
        ];
        assert_eq!(contents.late().iter().map(text).collect::<Vec<_>>(), expected);
    }
}
