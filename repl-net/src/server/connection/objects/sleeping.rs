//! How objects fall asleep for a client and wake.
//!
//! *Invariant:* the client of an object that sleeps has acknowledged everything of the object.

use repl_link::parts::Sequence;

use super::ObjectStates;
use super::tracked::{Phase, ProxyState, Tracked};
use crate::body::sparse_slots::SparseSlots;
use crate::server::dormancy::Dormancies;

impl ObjectStates {
    /// Returns whether an object sleeps for the client, and no data of it must be sent.
    pub(crate) fn is_asleep(&self, slot: u32) -> bool {
        !self.standings.to_send().contains(slot)
            && self.sleep.as_ref().is_some_and(|sleep| sleep.asleep.contains(slot))
    }

    /// Returns the objects that sleep. For these objects, at most the owner, the role and the fact that they
    /// sleep must still be sent.
    pub(crate) fn asleep(&self) -> Option<&SparseSlots> {
        self.sleep.as_ref().map(|sleep| &sleep.asleep)
    }

    /// Returns the objects with partial dormancy that may sleep for the client, if there are any.
    pub(crate) fn chosen(&self) -> Option<&SparseSlots> {
        self.sleep.as_ref().map(|sleep| &sleep.chosen)
    }

    /// Sets whether an object with partial dormancy may sleep for the client. Returns whether this is a
    /// change.
    pub(crate) fn set_may_sleep(&mut self, slot: u32, may_sleep: bool) -> bool {
        let chosen = &mut self.sleep.get_or_insert_default().chosen;
        let is_news = chosen.contains(slot) != may_sleep;
        chosen.set(slot, may_sleep);
        is_news
    }

    /// Wakes an object that the client has or is receiving. If the client was ever told that the object
    /// sleeps, it is told in the packet `since` or a later packet that the object is awake. This is
    /// necessary, because a change that has woken the object is not always sent, for example if a condition
    /// hides it.
    pub(crate) fn wake(&mut self, slot: u32, since: Sequence) {
        let told_asleep = &mut self.sleep.get_or_insert_default().told_asleep;
        if told_asleep.contains(slot) {
            told_asleep.remove(slot);
            self.track(slot).proxy = ProxyState::Unsent(since);
            self.must_send(slot);
        }
        self.stay_awake(slot);
    }

    /// Records that an object is awake. If it may sleep, it falls asleep when no packet in flight contains
    /// data of it.
    pub(crate) fn stay_awake(&mut self, slot: u32) {
        self.sleep.get_or_insert_default().keep_awake(slot as usize / 64, 1 << (slot % 64));
    }

    /// Wakes the objects that may sleep and have changes in this tick. Costs O(1) if there is none.
    pub(crate) fn wake_changed(&mut self, dormancies: &Dormancies) {
        if dormancies.changed().is_empty() {
            return;
        }
        for (word, mask) in self.standings.known().masks_in(dormancies.changed()) {
            let sleepers = mask & dormancies.sleepers_in(word, self.chosen());
            if sleepers != 0 {
                self.sleep.get_or_insert_default().keep_awake(word, sleepers);
            }
        }
    }

    /// Wakes an object if it sleeps or is about to fall asleep, because data of it is sent. A packet that
    /// only reports the object's sleep, owner and role does not wake it.
    pub(super) fn wake_to_send(&mut self, slot: u32) {
        let Some(sleep) = &self.sleep else { return };
        let tells_that_it_sleeps = sleep.asleep.contains(slot)
            && self.tracked.get(slot).is_some_and(|tracked| {
                tracked.phase == Phase::Open && tracked.blob.is_none() && !tracked.lacks_values()
            });
        if !tells_that_it_sleeps && (sleep.asleep.contains(slot) || sleep.queued.contains(slot)) {
            self.stay_awake(slot);
        }
    }

    /// Returns the next object of which no packet in flight contains data. The caller lets it fall asleep if
    /// it [is quiet](Self::is_quiet). All packets before `floor` have arrived or count as lost.
    pub(crate) fn next_quiet(&mut self, floor: Sequence) -> Option<u32> {
        self.sleep.as_mut()?.next_quiet(floor)
    }

    /// Returns whether the client has everything of an object that it may see. The caller makes sure that no
    /// packet in flight contains anything of it. Elements that were lost and are now hidden from the client
    /// do not count.
    pub(crate) fn is_quiet(&self, slot: u32) -> bool {
        self.has_arrived(slot)
            && !self.standings.to_send().contains(slot)
            && self.tracked.get(slot).is_none_or(Tracked::has_nothing_to_send)
    }

    /// Records that an object sleeps, which the packet `since` or a later packet tells the client.
    pub(crate) fn fall_asleep(&mut self, slot: u32, since: Sequence) {
        self.track(slot).proxy = ProxyState::Unsent(since);
        self.standings.leave_step(slot);
        let sleep = self.sleep.get_or_insert_default();
        sleep.asleep.insert(slot);
        sleep.told_asleep.insert(slot);
    }

    /// Ends a tick, as `Sleep::end_pass` describes. The next packet is `next`.
    pub(crate) fn end_sleep_pass(&mut self, next: Sequence) {
        self.sleep.iter_mut().for_each(|sleep| sleep.end_pass(next));
    }
}

#[cfg(test)]
mod tests {
    use repl_link::ConnectionId;

    use super::*;
    use crate::body::slot_set::SlotSet;
    use crate::server::dormancy::Dormancy;

    #[test]
    fn s207_an_object_falls_asleep_when_the_packets_with_its_changes_are_acknowledged() {
        let mut states = ObjectStates::new(ConnectionId::for_tests(0), false);
        [3, 4].into_iter().for_each(|slot| _ = states.standings.show(slot, true, false));
        let packet = |number| Sequence::default().plus(number);
        // Packet 5 contains changes of both objects, and packet 6 a change of object 4.
        [3, 4].into_iter().for_each(|slot| states.stay_awake(slot));
        states.end_sleep_pass(packet(6));
        states.stay_awake(4);
        states.end_sleep_pass(packet(7));
        assert_eq!(states.next_quiet(packet(5)), None, "nothing was acknowledged");
        assert_eq!(states.next_quiet(packet(6)), Some(3));
        assert_eq!(states.next_quiet(packet(6)), None, "the packet 6 is still in flight");
        states.end_sleep_pass(packet(7));
        assert_eq!(states.next_quiet(packet(7)), Some(4));
        assert!(!states.is_quiet(4), "its opening was not acknowledged");
        states.fall_asleep(3, packet(7));
        assert!(states.asleep().is_some_and(|asleep| asleep.contains(3) && !asleep.contains(4)));
    }

    #[test]
    fn a_connection_whose_objects_never_sleep_stores_nothing_about_sleep() {
        let mut states = ObjectStates::new(ConnectionId::for_tests(0), false);
        [3, 4].into_iter().for_each(|slot| _ = states.standings.show(slot, true, false));
        let mut dormancies = Dormancies::default();
        // Slot 70 is an object that the client does not have, and slot 3 one that may not sleep for this
        // client.
        dormancies.set(70, Dormancy::All);
        dormancies.set(3, Dormancy::Partial);
        let mut changed = SlotSet::default();
        [3, 4, 70].into_iter().for_each(|slot| changed.insert(slot));
        dormancies.find_changed([&changed].into_iter());
        states.wake_changed(&dormancies);
        assert!(states.chosen().is_none() && states.sleep.is_none());
        assert_eq!(dormancies.sleepers_in(0, states.chosen()), 0);
        states.set_may_sleep(3, true);
        assert_eq!(dormancies.sleepers_in(0, states.chosen()), 1 << 3);
    }
}
