//! What each packet carried, until it is known whether it arrived (R4, R6).
//!
//! Invariant: a record is resolved once; it stays in the row until all before it are resolved, so that a loss can be set off against all that
//! was sent since.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use repl_core::Changelist;

use crate::segment::Segment;
use crate::sequence::Sequence;
use crate::spare::{Spare, give_back_room};

/// What a packet carried of one object, beside shared segments.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) content: Content,
}

/// What was sent of an object.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Changed properties.
    Update(Changelist),
    /// The object whole, with these properties.
    Open(Changelist),
    /// Its end.
    Close,
    /// A part of a blob.
    Fragment { blob: u32, index: u32 },
}

impl Content {
    /// The properties whose values were sent.
    pub(crate) fn list(&self) -> Option<&Changelist> {
        match self {
            Self::Update(list) | Self::Open(list) => Some(list),
            Self::Close | Self::Fragment { .. } => None,
        }
    }
}

/// What is known of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Unknown,
    Arrived,
    Lost,
}

/// One packet.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) fate: Fate,
    pub(crate) sent_at: Duration,
    pub(crate) bytes: usize,
    pub(crate) cargo: Cargo,
}

/// What a packet carries.
#[derive(Debug, Default)]
pub(crate) struct Cargo {
    pub(crate) shared: Vec<Arc<Segment>>,
    pub(crate) sent: Vec<Sent>,
    /// Newcomers that it opened, by words of 64 slots.
    pub(crate) opened: Vec<(usize, u64)>,
}

impl Cargo {
    /// The properties of an object whose values it carries.
    fn lists_of(&self, slot: u32, generation: NonZeroU32) -> impl Iterator<Item = &Changelist> {
        let shared = self.shared.iter().filter_map(move |segment| segment.item(slot));
        let shared = shared.filter(move |item| item.generation == generation).map(|item| &item.list);
        let own = self.sent.iter().filter(move |sent| (sent.slot, sent.generation) == (slot, generation));
        shared.chain(own.filter_map(|sent| sent.content.list()))
    }
}

impl Record {
    /// Whether the packet asks for an ack (R8).
    pub(crate) fn elicits_ack(&self) -> bool {
        !self.cargo.shared.is_empty() || !self.cargo.sent.is_empty() || !self.cargo.opened.is_empty()
    }

    fn recycle(&mut self) {
        self.fate = Fate::Unknown;
        self.bytes = 0;
        self.cargo.shared.clear();
        self.cargo.sent.clear();
        self.cargo.opened.clear();
    }
}

/// The packets of a connection, from the oldest that is not resolved.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    records: VecDeque<Record>,
    first: u64,
    unresolved: usize,
    bytes: usize,
    spare: Spare<Record>,
}

impl InFlight {
    pub(crate) fn new(first: Sequence) -> Self {
        Self { first: first.number(), ..Self::default() }
    }

    /// Packets that are neither acknowledged nor given up, of those that ask for an ack.
    pub(crate) fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Bytes of the packets in the row.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How long the row is: packets since the oldest that is not resolved.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The oldest packet that is not resolved, or the next one.
    pub(crate) fn floor(&self) -> Sequence {
        Sequence::new(self.first)
    }

    /// An empty record, with the memory of an old one.
    pub(crate) fn blank(&mut self) -> Record {
        self.spare.take()
    }

    /// Appends the record of the next packet.
    pub(crate) fn push(&mut self, record: Record) {
        self.bytes += record.bytes;
        if record.elicits_ack() {
            self.unresolved += 1;
            self.records.push_back(record);
        } else {
            self.records.push_back(Record { fate: Fate::Arrived, ..record });
            self.trim();
        }
    }

    fn at(&self, sequence: Sequence) -> Option<usize> {
        usize::try_from(sequence.number().checked_sub(self.first)?).ok().filter(|&at| at < self.records.len())
    }

    /// Takes the cargo of a packet out of its record, to be worked through; [`put_cargo`](Self::put_cargo) puts it back, since earlier
    /// packets may have to be set off against it.
    pub(crate) fn take_cargo(&mut self, sequence: Sequence) -> Option<Cargo> {
        let at = self.at(sequence)?;
        Some(std::mem::take(&mut self.records.get_mut(at)?.cargo))
    }

    pub(crate) fn put_cargo(&mut self, sequence: Sequence, cargo: Cargo) {
        if let Some(record) = self.at(sequence).and_then(|at| self.records.get_mut(at)) {
            record.cargo = cargo;
        }
    }

    /// The packets of unknown fate, ascending, and when each was sent.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (Sequence, Duration)> {
        let unknown =
            self.records.iter().zip(self.first..).filter(|(record, _)| record.fate == Fate::Unknown);
        unknown.map(|(record, number)| (Sequence::new(number), record.sent_at))
    }

    /// Marks a packet; gives its time of sending if its fate was unknown.
    pub(crate) fn resolve(&mut self, sequence: Sequence, fate: Fate) -> Option<Duration> {
        let at = self.at(sequence)?;
        let record = self.records.get_mut(at)?;
        if record.fate != Fate::Unknown {
            return None;
        }
        record.fate = fate;
        self.unresolved = self.unresolved.saturating_sub(1);
        Some(record.sent_at)
    }

    /// Drops the resolved packets at the head of the row.
    pub(crate) fn trim(&mut self) {
        while self.records.front().is_some_and(|record| record.fate != Fate::Unknown) {
            let Some(mut record) = self.records.pop_front() else { break };
            self.first += 1;
            self.bytes -= record.bytes;
            record.recycle();
            self.spare.put(record);
        }
    }

    /// Gives back memory that was not needed of late.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        give_back_room(&mut self.records);
    }

    /// What these lists of an object say that no packet after theirs, not known to be lost, carried again (R4); each comes with the packet that it was
    /// lost with, ascending. Lists that speak of the same are set off together: O(what the packets say of the object), however many were lost.
    pub(crate) fn not_sent_since(
        &self,
        slot: u32,
        generation: NonZeroU32,
        lost: impl Iterator<Item = (Sequence, Changelist)>,
    ) -> Changelist {
        let mut lost = lost.peekable();
        let start = lost.peek().and_then(|(sequence, _)| self.at(*sequence)).unwrap_or(self.records.len());
        let mut left: Vec<Changelist> = Vec::new();
        for (record, number) in self.records.range(start..).zip(self.first + start as u64..) {
            if record.fate != Fate::Lost {
                for later in record.cargo.lists_of(slot, generation) {
                    left.iter_mut().for_each(|list| list.subtract(later));
                    left.retain(|list| !list.is_empty());
                }
            }
            while let Some((_, list)) = lost.next_if(|(sequence, _)| sequence.number() == number) {
                // Parts of one long list stay apart: most of what is sent again meets few of them.
                match left.iter_mut().rfind(|earlier| earlier.may_meet(&list)) {
                    Some(earlier) => earlier.merge(&list),
                    None => left.push(list),
                }
            }
            if lost.peek().is_none() && left.is_empty() {
                break;
            }
        }
        left.extend(lost.map(|(_, list)| list));
        Changelist::merged(left)
    }

    /// Whether a packet after `sequence`, not known to be lost, carried such a thing of the object.
    pub(crate) fn any_later(
        &self,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
        wanted: impl Fn(&Content) -> bool,
    ) -> bool {
        let Some(at) = self.at(sequence) else { return false };
        self.records
            .range(at + 1..)
            .filter(|record| record.fate != Fate::Lost)
            .flat_map(|record| &record.cargo.sent)
            .any(|sent| (sent.slot, sent.generation) == (slot, generation) && wanted(&sent.content))
    }
}
