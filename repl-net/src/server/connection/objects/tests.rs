//! Compares the states of objects with a naive model while random things happen to the objects.

mod plain;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl_core::{Changelist, PropertyIndex};

use super::*;
use crate::body::removal::CloseReason;
use plain::{Plain, PlainTracked};
use repl_sim::Rng;

/// The slots of the test, in two words of 64 slots. They are few, so that many objects use each slot one
/// after another.
const SLOTS: std::ops::Range<u32> = 58..70;

/// A packet in the test: its number, and its content with the slot and the generation of each object.
type Packet = (u64, Vec<(u32, u32, Carried)>);

/// The content of a packet about one object.
#[derive(Clone, Debug)]
enum Carried {
    Spawn,
    Opening,
    Update(BTreeSet<u32>),
    Proxy,
    Close,
    Blob(u32),
}

struct Pair {
    rng: Rng,
    states: ObjectStates,
    model: BTreeMap<u32, Plain>,
    /// The number of the next packet.
    next: u64,
    in_flight: Vec<Packet>,
    /// Packets with lower numbers than this that were not acked count as lost.
    floor: u64,
    spawned: u64,
    blobs: u32,
}

fn list(handles: &BTreeSet<u32>) -> Changelist {
    let mut list = Changelist::new();
    handles.iter().for_each(|&handle| list.insert(handle));
    list
}

fn handles(list: &Changelist) -> BTreeSet<u32> {
    list.handles().iter().collect()
}

impl Pair {
    fn new(seed: u64) -> Self {
        let mut pair = Self {
            rng: Rng::new(seed),
            states: ObjectStates::new(ConnectionId::for_tests(1), false),
            model: SLOTS.map(|slot| (slot, Plain::default())).collect(),
            next: 1,
            in_flight: Vec::new(),
            floor: 0,
            spawned: 0,
            blobs: 0,
        };
        // Some objects exist before the session begins. Some objects are hidden, owned, or seen in a view
        // that is not the default.
        for slot in SLOTS {
            if pair.rng.chance(0.5) {
                pair.set_alive(slot);
                match pair.rng.below(6) {
                    0 => pair.hide(slot),
                    1 => pair.set_view(slot),
                    2 => pair.set_owned(slot),
                    _ => {}
                }
            }
        }
        for slots in [SLOTS.start..64, 64..SLOTS.end] {
            let word = slots.start / 64;
            let mask =
                |slots: &mut dyn Iterator<Item = u32>| slots.fold(0, |mask, slot| mask | 1 << (slot % 64));
            let alive = mask(&mut slots.clone().filter(|slot| pair.model[slot].is_alive));
            let hidden = mask(&mut slots.clone().filter(|slot| pair.model[slot].is_hidden));
            let (spawns, others) = pair.states.begin(word as usize, alive, !hidden, 0);
            for slot in slots {
                let plain = pair.plain(slot);
                if plain.is_alive && !plain.is_hidden {
                    plain.show(1, false);
                    let is_spawn = plain.spawn.is_some();
                    assert_eq!(
                        (spawns >> (slot % 64) & 1 == 1, others >> (slot % 64) & 1 == 1),
                        (is_spawn, !is_spawn)
                    );
                    if !is_spawn {
                        assert!(pair.states.show(slot, Sequence::new(1), false, false));
                    }
                }
            }
        }
        pair
    }

    fn plain(&mut self, slot: u32) -> &mut Plain {
        self.model.get_mut(&slot).expect("each slot has a model")
    }

    fn slot(&mut self) -> u32 {
        self.rng.range(SLOTS.start.into()..SLOTS.end.into()) as u32
    }

    /// Returns up to five of the handles 1 to 8.
    fn handles(&mut self) -> BTreeSet<u32> {
        (0..self.rng.range(1..6)).map(|_| self.rng.range(1..9) as u32).collect()
    }

    fn set_alive(&mut self, slot: u32) {
        let plain = self.plain(slot);
        (plain.is_alive, plain.generation) = (true, plain.generation + 1);
        self.spawned += 1;
    }

    fn hide(&mut self, slot: u32) {
        let next = self.next;
        let plain = self.plain(slot);
        plain.is_hidden = true;
        let expected = plain.close(CloseReason::Relevancy, next);
        self.states.hide(slot);
        assert_eq!(self.states.conceal(slot, None, Sequence::new(next)), expected);
    }

    fn show(&mut self, slot: u32, is_newborn: bool) {
        let next = self.next;
        self.plain(slot).is_hidden = false;
        self.plain(slot).show(next, is_newborn);
        self.states.unhide(slot);
        self.states.show(slot, Sequence::new(next), false, is_newborn);
    }

    fn spawn(&mut self, slot: u32) {
        // A slot is used again only after the client has removed its previous object.
        if !self.plain(slot).is_alive && !self.plain(slot).is_known {
            self.set_alive(slot);
            if self.rng.chance(0.2) { self.hide(slot) } else { self.show(slot, true) }
        }
    }

    fn destroy(&mut self, slot: u32) {
        let (next, tries_plainly) = (self.next, self.rng.chance(0.5));
        let plain = self.plain(slot);
        if plain.is_alive {
            plain.is_alive = false;
            let is_plain = plain.is_removable_plainly();
            if tries_plainly {
                assert_eq!(self.states.remove_plainly(&[slot]), is_plain);
            }
            let plain = self.plain(slot);
            if tries_plainly && is_plain {
                (plain.is_removed_plainly, plain.must_send, plain.spawn) = (true, true, None);
                return;
            }
            let expected = plain.close(CloseReason::Destroyed, next);
            (plain.is_hidden, plain.has_own_view, plain.is_owned) = (false, false, false);
            assert_eq!(self.states.destroy(slot, Sequence::new(next)), expected);
        }
    }

    /// Forgets slots that were used long ago. A slot whose object was removed after the oldest packet in
    /// flight was sent must still be used. Any of the others may be forgotten.
    fn forget_used(&mut self) {
        let floor = self.in_flight.iter().map(|(sequence, _)| *sequence).min().unwrap_or(self.next);
        self.states.forget_used_before(Sequence::new(floor), Sequence::new(self.next));
        for slot in SLOTS {
            let is_used = self.states.standings.words(slot as usize / 64).used >> (slot % 64) & 1 == 1;
            let plain = self.plain(slot);
            assert!(is_used == plain.was_used || plain.was_used && plain.removed_at <= floor, "slot {slot}");
            plain.was_used = is_used;
        }
    }

    fn forget(&mut self, slot: u32) {
        self.plain(slot).removed_at = self.next;
        let (expected, is_alive) = (self.plain(slot).forget(), self.plain(slot).is_alive);
        assert_eq!(self.states.forget(slot), expected);
        if expected && is_alive {
            self.show(slot, false);
        }
    }

    fn set_view(&mut self, slot: u32) {
        let is_default = self.rng.chance(0.5);
        let plain = self.plain(slot);
        plain.has_own_view = !is_default;
        let is_unsent = !plain.is_known || is_default && plain.spawn == Some(Phase::Unsent);
        assert_eq!(self.states.set_view(slot, is_default), !is_unsent);
        if is_unsent {
            return;
        }
        if self.plain(slot).spawn == Some(Phase::Unsent) {
            self.plain(slot).track();
        }
        if self.rng.chance(0.5) {
            self.change_view(slot);
        }
        self.plain(slot).update_step();
        self.states.update_step(slot);
    }

    /// Changes whether the client may see one property. The test chooses a random frame in which the property
    /// last changed.
    fn change_view(&mut self, slot: u32) {
        let (handle, is_gained, frame) = (self.rng.range(1..9) as u32, self.rng.chance(0.5), self.next);
        let changed_at = self.rng.below(frame + 1);
        let mut set = HandleSet::new();
        set.insert(handle);
        let property = PropertyIndex::new(handle as usize);
        let changes = std::iter::once((property, set, is_gained));
        let lacking = self.states.change_view(slot, frame, changes, |_| Some(changed_at));
        let tracked = self.plain(slot).track();
        if tracked.is_closing() || tracked.phase == Phase::Unsent {
            assert_eq!(lacking, None);
            return;
        }
        let is_behind =
            tracked.position.is_some() || tracked.phase == Phase::Opening || tracked.blob.is_some();
        let mut expected = BTreeSet::new();
        if is_gained {
            if changed_at > tracked.left.remove(&handle).unwrap_or(0) {
                expected.insert(handle);
            }
        } else {
            let since = if tracked.pending.remove(&handle) || is_behind { 0 } else { frame };
            let left = tracked.left.entry(handle).or_insert(since);
            *left = since.min(*left);
        }
        tracked.pending.extend(&expected);
        let blob = tracked.blob.take();
        self.plain(slot).must_send = true;
        assert_eq!(lacking.map(|lacking| lacking.iter().collect()), Some(expected.clone()));
        self.states.add_pending(slot, &list(&expected));
        self.withdraw_blob(slot, blob);
    }

    /// Stops sending the blob with an update of an object. The blob contains an opening or one property.
    fn withdraw_blob(&mut self, slot: u32, blob: Option<u32>) {
        assert_eq!(self.states.take_blob(slot), blob);
        if blob.is_none() {
            return;
        }
        let plain = self.plain(slot);
        let is_open = plain.track().phase == Phase::Open;
        if !is_open {
            plain.track().phase = Phase::Unsent;
            plain.must_send = true;
        }
        assert_eq!(self.states.opening_withdrawn(slot), !is_open);
        if is_open {
            self.return_to_pending(slot, BTreeSet::from([8]));
        }
    }

    fn return_to_pending(&mut self, slot: u32, lost: BTreeSet<u32>) {
        let plain = self.plain(slot);
        plain.track().pending.extend(&lost);
        plain.must_send = true;
        self.states.return_to_pending(slot, list(&lost), std::iter::empty(), |_| {});
    }

    fn set_owned(&mut self, slot: u32) {
        let (is_owned, is_news) = (self.rng.chance(0.5), self.rng.chance(0.8));
        let next = Sequence::new(self.next);
        let plain = self.plain(slot);
        plain.is_owned = is_owned;
        self.states.set_owned(slot, is_owned, is_news, next);
        let plain = self.plain(slot);
        let opens_right = !is_owned && plain.spawn == Some(Phase::Unsent);
        if is_news && plain.is_known && !opens_right && !plain.track().is_closing() {
            plain.track().proxy = ProxyState::Unsent(next);
            plain.must_send = true;
        }
    }

    /// Runs one tick: objects change, and one packet is sent with some of the changes that the client lacks.
    fn tick(&mut self) {
        let mut changes = BTreeMap::new();
        for _ in 0..self.rng.below(20) {
            let slot = self.slot();
            if self.plain(slot).is_alive {
                changes.insert(slot, self.handles());
            }
        }
        let mut slots = SlotSet::default();
        changes.keys().for_each(|&slot| slots.insert(slot));
        let all_in_step = changes.keys().all(|slot| self.model[slot].is_in_step());
        if self.rng.chance(0.5) {
            let mut alive = SlotSet::default();
            let is_alive = |&(_, plain): &(_, &Plain)| plain.is_alive;
            self.model.iter().filter(is_alive).for_each(|(&slot, _)| alive.insert(slot));
            self.states.find_complete(&alive, self.spawned);
        }
        assert_eq!(self.states.are_in_step(&slots, self.spawned), all_in_step);
        self.states.changed(&slots, |_| None, |_, _, _| 0);
        for &slot in changes.keys() {
            let is_alone = self.rng.chance(0.1);
            let plain = self.plain(slot);
            let waits = plain.spawn == Some(Phase::Unsent);
            plain.must_send |= plain.is_known && !plain.is_in_step() && !waits;
            plain.must_send |= is_alone && plain.is_in_step();
            if is_alone {
                self.states.changed_alone(slot);
            }
        }
        let mut carried = self.send_spawns();
        let mut order = Vec::new();
        self.states.order_to_send(&mut order);
        let expected = self.model.iter().filter(|(_, plain)| plain.must_send).map(|(&slot, _)| slot);
        assert_eq!(order, expected.collect::<Vec<_>>());
        for slot in order {
            carried.extend(self.send(slot, changes.get(&slot)));
        }
        self.in_flight.push((self.next, carried));
        self.next += 1;
    }

    fn send_spawns(&mut self) -> Vec<(u32, u32, Carried)> {
        let mut carried = Vec::new();
        for slot in self.states.waiting_spawns().collect::<Vec<_>>() {
            if self.rng.chance(0.3) {
                self.states.spawns_sent(slot as usize / 64, 1 << (slot % 64));
                self.plain(slot).spawn = Some(Phase::Opening);
                carried.push((slot, self.plain(slot).generation, Carried::Spawn));
            } else if self.rng.chance(0.1) {
                self.states.leave_spawns(slot);
                self.plain(slot).track();
            }
        }
        carried
    }

    fn send(&mut self, slot: u32, changed: Option<&BTreeSet<u32>>) -> Option<(u32, u32, Carried)> {
        let generation = self.plain(slot).generation;
        if self.plain(slot).is_removed_plainly {
            let is_sent = self.rng.chance(0.7);
            self.plain(slot).must_send = !is_sent;
            self.states.removals_sent(slot as usize / 64, u64::from(is_sent) << (slot % 64));
            return is_sent.then_some((slot, generation, Carried::Close));
        }
        if self.plain(slot).spawn.is_some() {
            self.states.leave_spawns(slot);
            self.plain(slot).track();
        }
        if self.rng.chance(0.3) {
            if changed.is_some() {
                self.postpone(slot, changed);
            }
            return None;
        }
        self.states.begin_sending(slot);
        self.plain(slot).must_send = false;
        let (next, sequence) = (self.next, Sequence::new(self.next));
        let is_large = self.rng.chance(0.2);
        let tracked = self.plain(slot).track().clone();
        let what = match tracked.phase {
            _ if tracked.blob.is_some() => None,
            Phase::Closing(_) => {
                self.states.close_sent(slot, sequence, Duration::from_millis(next));
                self.plain(slot).track().carried = next;
                return Some((slot, generation, Carried::Close));
            }
            Phase::Opening if tracked.open_bits > 100 => None,
            Phase::Unsent | Phase::Opening => {
                let blob = is_large.then(|| self.begin_blob(slot));
                let (bits, later) = if is_large { (1_000, self.handles()) } else { (100, BTreeSet::new()) };
                let remainder =
                    OpeningRemainder { after_ack: list(&later), owed: HandleSet::new(), has_items: true };
                let position = self.states.opening_sent(slot, sequence, bits, remainder);
                assert_eq!(position, tracked.position);
                let tracked = self.plain(slot).track();
                (tracked.phase, tracked.carried, tracked.position) = (Phase::Opening, next, None);
                (tracked.pending, tracked.open_bits) = (later, bits);
                if blob.is_none() {
                    self.proxy_sent(slot);
                }
                return Some((slot, generation, blob.map_or(Carried::Opening, Carried::Blob)));
            }
            Phase::Open if matches!(tracked.proxy, ProxyState::Unsent(_)) && is_large => None,
            Phase::Open => return self.send_update(slot, changed).map(|what| (slot, generation, what)),
        };
        self.postpone(slot, changed);
        what
    }

    fn send_update(&mut self, slot: u32, changed: Option<&BTreeSet<u32>>) -> Option<Carried> {
        let mut what = None;
        if matches!(self.plain(slot).track().proxy, ProxyState::Unsent(_)) {
            self.proxy_sent(slot);
            what = Some(Carried::Proxy);
        }
        let (pending, position) = self.states.take_pending(slot);
        let tracked = self.plain(slot).track();
        let mut all = std::mem::take(&mut tracked.pending);
        assert_eq!((handles(&pending), position), (all.clone(), tracked.position.take()));
        all.extend(changed.into_iter().flatten());
        if what.is_none() && !all.is_empty() {
            let choice = self.rng.below(4);
            if choice == 0 {
                self.states.add_pending(slot, &list(&all));
                self.states.must_send(slot);
                self.plain(slot).track().pending = all;
                self.plain(slot).must_send = true;
            } else if choice == 1 {
                what = Some(Carried::Blob(self.begin_blob(slot)));
            } else {
                what = Some(Carried::Update(all));
            }
        }
        self.plain(slot).update_step();
        self.states.update_step(slot);
        what
    }

    fn begin_blob(&mut self, slot: u32) -> u32 {
        self.blobs += 1;
        let (blob, next) = (self.blobs, self.next);
        self.states.blob_begun(slot, blob);
        self.states.blob_part_sent(slot, Sequence::new(next));
        let tracked = self.plain(slot).track();
        (tracked.blob, tracked.carried) = (Some(blob), next);
        blob
    }

    fn proxy_sent(&mut self, slot: u32) {
        let sequence = Sequence::new(self.next);
        self.states.proxy_sent(slot, sequence);
        let tracked = self.plain(slot).track();
        if let ProxyState::Unsent(since) | ProxyState::Sent(since, _) = tracked.proxy {
            tracked.proxy = ProxyState::Sent(since, sequence);
        }
    }

    fn postpone(&mut self, slot: u32, changed: Option<&BTreeSet<u32>>) {
        let position = self.next;
        let plain = self.plain(slot);
        let tracked = plain.track();
        let takes_changes = matches!(tracked.phase, Phase::Open | Phase::Opening);
        if takes_changes {
            let is_new = tracked.position.is_none();
            if is_new {
                tracked.position = Some(position);
                tracked.pending.extend(changed.into_iter().flatten());
            }
            plain.must_send = true;
            assert_eq!(self.states.is_behind(slot), !is_new);
            if is_new {
                self.states.fall_behind(slot, position, changed.map(list).unwrap_or_default());
            } else {
                self.states.must_send(slot);
            }
        } else {
            assert!(!self.states.takes_changes(slot));
        }
    }

    /// Drops a changelist from the history of an object, as if the history were full.
    fn evict(&mut self, slot: u32) {
        let (place, evicted) = (self.rng.below(self.next), self.handles());
        self.states.evicted(slot, place, &list(&evicted), |_| HandleSet::up_to(9));
        if let Some(tracked) = &mut self.plain(slot).tracked
            && let Some(position) = &mut tracked.position
            && *position <= place
        {
            *position = place + 1;
            tracked.pending.extend(evicted);
        }
    }

    /// Acks a random packet, which may already count as lost.
    fn arrive(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        let at = self.rng.below(self.in_flight.len() as u64) as usize;
        let (sequence, contents) = self.in_flight.remove(at);
        for (slot, generation, what) in contents {
            // The connection ignores late acks of updates.
            if sequence >= self.floor || !matches!(what, Carried::Update(_)) {
                self.content_arrived(Sequence::new(sequence), slot, generation, what);
            }
        }
    }

    fn content_arrived(&mut self, sequence: Sequence, slot: u32, generation: u32, what: Carried) {
        let plain = self.plain(slot);
        let is_current = plain.is_known && plain.generation == generation;
        let tracked = plain.tracked.as_mut().filter(|_| is_current);
        match what {
            Carried::Spawn | Carried::Opening => {
                if is_current && plain.spawn == Some(Phase::Opening) {
                    plain.spawn = None;
                } else if is_current {
                    plain.proxy_arrived(sequence);
                    plain.opening_arrived(sequence);
                }
                let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
                if is_current {
                    self.states.openings_arrived(sequence, word, bit);
                }
            }
            Carried::Close => {
                let is_closed =
                    tracked.is_some_and(|tracked| tracked.is_closing() && tracked.since <= sequence.number());
                assert_eq!(self.states.is_closing(slot, sequence), is_closed);
                if is_closed {
                    self.forget(slot);
                }
                let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
                let plain = self.plain(slot);
                let is_removed = is_current && plain.is_removed_plainly;
                if is_removed {
                    plain.forget();
                }
                let next = self.next;
                self.plain(slot).removed_at = if is_removed { next } else { self.plain(slot).removed_at };
                if is_current {
                    let expected = if is_removed { bit } else { 0 };
                    assert_eq!(self.states.plain_removals_arrived(word, bit), expected);
                }
            }
            Carried::Blob(blob) => {
                if let Some(tracked) = tracked.filter(|tracked| tracked.blob == Some(blob)) {
                    tracked.blob = None;
                    plain.must_send |= plain.tracked.as_ref().is_some_and(PlainTracked::lacks_something);
                    let next = Sequence::new(self.next);
                    self.plain(slot).opening_arrived(next);
                    self.states.blob_arrived(slot, blob);
                    self.states.opening_arrived(slot, next, &Changelist::new());
                }
            }
            _ if !is_current => {}
            Carried::Update(all) => {
                plain.settle_if_tracked();
                self.states.list_arrived(slot, sequence, &list(&all));
            }
            Carried::Proxy => {
                plain.proxy_arrived(sequence);
                plain.settle_if_tracked();
                self.states.proxy_arrived(slot, sequence);
                self.states.update_step(slot);
            }
        }
    }

    /// Declares lost the oldest packet that does not count as lost yet.
    fn lose(&mut self) {
        let Some((sequence, contents)) = self.in_flight.iter().find(|(sequence, _)| *sequence >= self.floor)
        else {
            return;
        };
        let (sequence, contents) = (*sequence, contents.clone());
        self.floor = sequence + 1;
        for (slot, generation, what) in contents {
            let plain = self.plain(slot);
            if plain.is_known && plain.generation == generation {
                self.content_lost(Sequence::new(sequence), slot, what);
            }
        }
    }

    fn content_lost(&mut self, sequence: Sequence, slot: u32, what: Carried) {
        let plain = self.plain(slot);
        match what {
            Carried::Spawn | Carried::Opening => {
                if matches!(what, Carried::Spawn) && !plain.was_used && plain.spawn.is_some() {
                    plain.track();
                    self.states.leave_spawns(slot);
                }
                let expected = self.plain(slot).opening_lost(sequence);
                assert_eq!(self.states.opening_lost(slot, sequence), expected);
                if expected == LostOpening::Values && self.states.takes_changes(slot) {
                    let lost = self.handles();
                    self.return_to_pending(slot, lost);
                }
            }
            Carried::Update(lost) => {
                let phase = plain.tracked.as_ref().map_or(Phase::Open, |tracked| tracked.phase);
                let is_there = matches!(phase, Phase::Open | Phase::Opening);
                let takes_changes = is_there && !plain.is_removed_plainly;
                assert_eq!(self.states.takes_changes(slot), takes_changes);
                if takes_changes {
                    self.return_to_pending(slot, lost);
                }
            }
            Carried::Proxy => {
                plain.proxy_lost(sequence);
                self.states.proxy_lost(slot, sequence);
            }
            Carried::Close => {
                if plain.is_removed_plainly {
                    let tracked = plain.track();
                    (tracked.since, tracked.carried) = (sequence.number(), sequence.number());
                }
                if let Some(tracked) = &plain.tracked {
                    let is_closing = tracked.is_closing() && tracked.since <= sequence.number();
                    plain.must_send |= is_closing && tracked.carried <= sequence.number();
                }
                self.states.closes_lost(sequence, slot as usize / 64, 1 << (slot % 64));
            }
            Carried::Blob(blob) => {
                if self.plain(slot).tracked.as_ref().is_some_and(|tracked| tracked.blob == Some(blob)) {
                    let generation = self.plain(slot).generation;
                    self.in_flight.push((self.next, vec![(slot, generation, Carried::Blob(blob))]));
                    self.next += 1;
                }
            }
        }
    }

    fn step(&mut self) {
        let slot = self.slot();
        match self.rng.below(20) {
            0 => self.spawn(slot),
            1 => self.destroy(slot),
            2 => self.evict(slot),
            3 if self.plain(slot).is_alive => self.hide(slot),
            4 if self.plain(slot).is_alive => self.show(slot, false),
            5 if self.plain(slot).is_alive => self.set_owned(slot),
            6..=8 if self.plain(slot).is_alive => self.set_view(slot),
            9 => self.lose(),
            10 => {
                self.forget_used();
                self.lose();
            }
            11..=14 => self.arrive(),
            _ => self.tick(),
        }
    }

    fn compare(&self) {
        for (&slot, plain) in &self.model {
            let states = &self.states;
            assert_eq!(states.is_known(slot), plain.is_known, "slot {slot}: {plain:?}");
            assert_eq!(states.is_in_step(slot), plain.is_in_step(), "slot {slot}: {plain:?}");
            assert_eq!(states.standings.to_send().contains(slot), plain.must_send, "slot {slot}: {plain:?}");
            assert_eq!(states.is_pending_spawn(slot), plain.spawn.is_some(), "slot {slot}: {plain:?}");
            let is_first = states.spawns_in(slot as usize / 64, 1 << (slot % 64)) != 0;
            let is_here = plain.is_known && !plain.is_removed_plainly;
            assert_eq!(is_first, is_here && !plain.was_used, "slot {slot}: {plain:?}");
            assert_eq!(states.is_removed_plainly(slot), plain.is_removed_plainly, "slot {slot}: {plain:?}");
            let is_in_step = states.in_step_in(slot as usize / 64) >> (slot % 64) & 1 == 1;
            assert_eq!(is_in_step, plain.is_in_step(), "slot {slot}: {plain:?}");
            let found = states.get(slot);
            assert_eq!(found.is_some(), plain.tracked.is_some(), "slot {slot}: {plain:?}");
            let Some((found, tracked)) = found.zip(plain.tracked.as_ref()) else { continue };
            assert_eq!(
                (found.phase, found.after_closing == AfterClosing::Reopen),
                (tracked.phase, tracked.reopen),
                "slot {slot}"
            );
            assert_eq!((found.position, found.blob), (tracked.position, tracked.blob), "slot {slot}");
            assert_eq!(found.arrived_late, tracked.arrived_late, "slot {slot}");
            assert_eq!((found.proxy, handles(&found.pending)), (tracked.proxy, tracked.pending.clone()));
            let left = found.left.iter().map(|(property, frame)| (property.index() as u32, *frame));
            assert_eq!(left.collect::<BTreeMap<_, _>>(), tracked.left, "slot {slot}");
        }
    }
}

#[test]
fn the_states_of_objects_equal_the_naive_model() {
    for seed in 0..300 {
        let mut pair = Pair::new(seed);
        for _ in 0..120 {
            pair.compare();
            pair.step();
        }
        let ended: BTreeSet<u32> = pair.states.end().into_iter().map(|(slot, _)| slot).collect();
        let known = pair.model.iter().filter(|(_, plain)| plain.is_known).map(|(&slot, _)| slot);
        assert_eq!(ended, known.collect());
        assert!(SLOTS.into_iter().all(|slot| !pair.states.is_known(slot) && pair.states.get(slot).is_none()));
        assert!(pair.states.has_nothing_to_send() && !pair.states.has_waiting_spawns());
    }
}
