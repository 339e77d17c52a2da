//! Changes that were lost with their packets (R4).
//!
//! *Invariant:* a lost change is not sent again if a later packet contains the same change and was not
//! declared lost.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use repl_core::Changelist;
use repl_link::parts::{InFlight, Sequence};

use super::contents::Contents;
use super::slot_set::SlotSet;

/// For each object, subtracts from its lost changelists the changelists in all later packets that were not
/// declared lost (R4).
///
/// Visits each packet once for all objects. The cost is O(lost changelists + packets in flight + objects that
/// later packets contain outside shared segments).
pub(crate) fn subtract_later(in_flight: &InFlight<Contents>, lost: &mut [LostObject]) {
    debug_assert!(lost.is_sorted_by(|one, other| one.slot < other.slot), "each object once");
    let mut slots = SlotSet::default();
    lost.iter().for_each(|lost| slots.insert(lost.slot));
    let earliest = lost.iter().filter_map(|lost| lost.lists.front().map(|(sequence, _)| *sequence)).min();
    for (sequence, contents) in earliest.into_iter().flat_map(|first| in_flight.not_lost_since(first)) {
        contents.visit_lists(&slots, |slot, generation, later| {
            if let Ok(at) = lost.binary_search_by_key(&slot, |lost| lost.slot)
                && let Some(lost) = lost.get_mut(at)
                && lost.generation == generation
            {
                lost.subtract(sequence, later);
            }
        });
    }
}

/// Returns the changes in flight of the object in a slot, the oldest first. `may_be_shared` says whether
/// shared segments or tables of the packets may contain some of these changes. Costs O(packets in flight +
/// their entries outside shared data). If `may_be_shared` is true, also costs O(entries of their segments and
/// tables).
pub(crate) fn in_flight_of(
    in_flight: &InFlight<Contents>,
    slot: u32,
    generation: NonZeroU32,
    may_be_shared: bool,
) -> Vec<Changelist> {
    let mut lists = Vec::new();
    for record in in_flight.unknown().filter_map(|(sequence, _)| in_flight.get(sequence)) {
        let shared = may_be_shared.then(|| record.body.shared_lists(slot));
        let all = shared.into_iter().flatten().chain(record.body.own_lists(slot));
        lists.extend(all.filter(|(of, _)| *of == generation).map(|(_, list)| list.clone()));
    }
    lists
}

/// The changes of one object in packets that were declared lost together.
#[derive(Debug)]
pub(crate) struct LostObject {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    /// The lost changelists, each with its packet, in ascending order of the packets' numbers.
    pub(crate) lists: VecDeque<(Sequence, Changelist)>,
    /// What remains of the changelists that were already compared with later packets. Changelists with common
    /// properties are merged.
    left: Vec<Changelist>,
}

impl LostObject {
    pub(crate) fn new(slot: u32, generation: NonZeroU32) -> Self {
        Self { slot, generation, lists: VecDeque::new(), left: Vec::new() }
    }

    /// Moves the changelists of lost packets before the packet `end` to `left`.
    fn advance(&mut self, end: Sequence) {
        while self.lists.front().is_some_and(|(sequence, _)| *sequence < end) {
            let Some((_, list)) = self.lists.pop_front() else { break };
            // A long changelist may be stored in several parts. The parts are not merged, because most later
            // changelists have changes in common with only a few of them.
            match self.left.iter_mut().rfind(|earlier| earlier.may_meet(&list)) {
                Some(earlier) => earlier.merge(&list),
                None => self.left.push(list),
            }
        }
    }

    /// Subtracts the changelist `later` of the packet `sequence` from the changelists of lost packets before
    /// this packet.
    fn subtract(&mut self, sequence: Sequence, later: &Changelist) {
        self.advance(sequence);
        self.left.iter_mut().for_each(|list| list.subtract(later));
        self.left.retain(|list| !list.is_empty());
    }

    /// Returns one changelist with all lost changes that remain.
    pub(crate) fn into_list(mut self) -> Changelist {
        self.left.extend(self.lists.into_iter().map(|(_, list)| list));
        Changelist::merged(self.left)
    }
}

#[cfg(test)]
mod tests {
    use repl_link::parts::{Delivery, SentPacket};

    use super::*;
    use crate::body::contents::{Content, Sent};

    const FIRST: NonZeroU32 = NonZeroU32::MIN;
    const SECOND: NonZeroU32 = FIRST.saturating_add(1);

    fn list(handles: &[u32]) -> Changelist {
        let mut list = Changelist::new();
        handles.iter().for_each(|&handle| list.insert(handle));
        list
    }

    fn record(generation: NonZeroU32, handles: &[u32]) -> Box<SentPacket<Contents>> {
        let sent = Sent { slot: 7, generation, content: Content::Update(list(handles)) };
        let mut record = Box::<SentPacket<Contents>>::default();
        record.body.sent.push(sent);
        record
    }

    /// Returns the records of the packets 0, 1 and so on. Each packet has the given handles of the object in
    /// slot 7.
    fn in_flight(packets: &[(NonZeroU32, &[u32])]) -> InFlight<Contents> {
        let mut in_flight = InFlight::new(Sequence::new(0));
        packets.iter().for_each(|(generation, handles)| _ = in_flight.push(record(*generation, handles)));
        in_flight
    }

    /// Declares the packets `lost` lost together. Returns the handles of the object in slot 7 that must be
    /// sent again.
    fn sent_again(in_flight: &mut InFlight<Contents>, lost: &[(u64, &[u32])]) -> Changelist {
        let mut object = LostObject::new(7, FIRST);
        for (number, handles) in lost {
            let sequence = Sequence::new(*number);
            assert!(in_flight.resolve(sequence, Delivery::Lost).is_some());
            object.lists.push_back((sequence, list(handles)));
        }
        let mut objects = [object];
        subtract_later(in_flight, &mut objects);
        let [object] = objects;
        object.into_list()
    }

    #[test]
    fn r04_lost_changes_are_sent_again_unless_later_packets_carry_them() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (FIRST, &[2, 3])]);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[1]));
    }

    #[test]
    fn r04_a_later_packet_that_is_lost_too_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (FIRST, &[2, 3]), (FIRST, &[1])]);
        in_flight.resolve(Sequence::new(1), Delivery::Lost);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[2]));
    }

    #[test]
    fn r04_an_earlier_packet_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[3]), (FIRST, &[1, 2]), (FIRST, &[1, 2])]);
        in_flight.resolve(Sequence::new(1), Delivery::Arrived);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[3]), (2, &[1, 2])]), list(&[1, 2, 3]));
    }

    #[test]
    fn r18_a_packet_of_another_object_in_the_slot_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (SECOND, &[1, 2])]);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[1, 2]));
    }
}
