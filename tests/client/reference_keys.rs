//! References as keys of maps and sets: a client shows an entry only while it has the object of the key.
//!
//! *Invariant:* each key that a client shows refers to an object that it has.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::support::Room;
use repl::prelude::*;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Judge {
    scores: HashMap<ObjectRef<Self>, Score>,
    seen: BTreeSet<ObjectRef<Self>>,
    #[replicated(notify = told)]
    pairs: HashMap<(ObjectRef<Self>, u8), u16>,
    courts: Vec<Court>,
    #[replicated(skip)]
    calls: u32,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Court {
    votes: HashMap<ObjectRef<Judge>, u8>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Score {
    points: u32,
    by: ObjectRef<Judge>,
    notes: Vec<u8>,
}

/// Maps and sets in values that are sent as units.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Archive {
    #[replicated(atomic)]
    whole: BTreeMap<ObjectRef<Judge>, u8>,
    ledger: Ledger,
    queue: VecDeque<BTreeSet<(ObjectRef<Judge>, u8)>>,
    #[replicated(with = halves)]
    within: HashMap<ObjectRef<Judge>, u8>,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Ledger {
    scores: HashMap<ObjectRef<Judge>, Score>,
}

/// A serialiser for one value of a map.
mod halves {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) const NAME: &str = "halves";

    pub(super) fn write(value: &u8, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(u64::from(value / 2), 7);
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u8, ReadError> {
        Ok(reader.read_bits(7)? as u8 * 2)
    }
}

impl Archive {
    fn of(judges: &[ObjectRef<Judge>]) -> Self {
        let score = |by| Score { points: 7, by, notes: vec![1] };
        Self {
            whole: judges.iter().map(|judge| (*judge, 3)).collect(),
            ledger: Ledger { scores: judges.iter().map(|judge| (*judge, score(*judge))).collect() },
            queue: VecDeque::from([judges.iter().map(|judge| (*judge, 5)).collect(), BTreeSet::new()]),
            within: judges.iter().map(|judge| (*judge, 8)).collect(),
        }
    }
}

impl Judge {
    fn told(&mut self) {
        self.calls += 1;
    }
}

/// Returns the values of `judge` that a client must show if it has only the objects `there`.
fn shown(judge: &Judge, there: &[ObjectRef<Judge>]) -> Judge {
    let mut shown = judge.clone();
    let is_there = |key: &ObjectRef<Judge>| key.is_null() || there.contains(key);
    shown.scores.retain(|key, _| is_there(key));
    for score in shown.scores.values_mut().filter(|score| !is_there(&score.by)) {
        score.by = ObjectRef::NULL;
    }
    shown.seen.retain(is_there);
    shown.pairs.retain(|(key, _), _| is_there(key));
    shown.courts.iter_mut().for_each(|court| court.votes.retain(|key, _| is_there(key)));
    shown
}

fn check(room: &Room, judge: ObjectRef<Judge>, there: &[ObjectRef<Judge>]) {
    for guest in &room.guests {
        let mut known = guest.client[judge].clone();
        known.calls = 0;
        assert_eq!(known, shown(&room.server[judge], there));
    }
}

/// Returns a judge and three other objects. The client sees only the first of the objects.
fn court() -> (Room, ObjectRef<Judge>, [ObjectRef<Judge>; 3]) {
    let register = |client: &mut Client| {
        client.register::<Judge>();
    };
    let (mut room, judge) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Judge::default()));
    let others = [(); 3].map(|()| room.server.spawn(Judge::default()));
    show(&mut room, others[1], false);
    show(&mut room, others[2], false);
    let [first, second, third] = others;
    let score = |points, by| Score { points, by, notes: vec![1, 2] };
    room.server[judge].scores =
        HashMap::from([(first, score(1, second)), (second, score(2, first)), (third, score(3, third))]);
    room.server[judge].seen = BTreeSet::from(others);
    room.server[judge].pairs = HashMap::from([((first, 1), 1), ((second, 1), 2), ((second, 2), 3)]);
    room.server[judge].courts = vec![Court { votes: HashMap::from(others.map(|other| (other, 1))) }; 2];
    room.settle();
    (room, judge, others)
}

fn show(room: &mut Room, judge: ObjectRef<Judge>, visible: bool) {
    let id = room.guests[0].id;
    room.server.object(judge).set_visible(id, visible);
    room.settle();
}

#[test]
fn s116_entries_whose_keys_refer_to_missing_objects_are_not_shown() {
    let (room, judge, [first, ..]) = court();
    check(&room, judge, &[first]);
    assert_eq!((room.client()[judge].scores.len(), room.client()[judge].seen.len()), (1, 1));
}

#[test]
fn s118_an_entry_is_shown_when_the_object_comes_and_goes_with_it() {
    let (mut room, judge, [first, second, third]) = court();
    for _ in 0..2 {
        let calls = room.client()[judge].calls;
        show(&mut room, second, true);
        check(&room, judge, &[first, second]);
        assert_eq!(room.client()[judge].calls, calls + 1, "an entry that is shown is a change");
        show(&mut room, third, true);
        check(&room, judge, &[first, second, third]);
        show(&mut room, first, false);
        check(&room, judge, &[second, third]);
        show(&mut room, first, true);
        show(&mut room, second, false);
        show(&mut room, third, false);
        check(&room, judge, &[first]);
    }
}

#[test]
fn s118_an_entry_in_a_unit_is_shown_while_the_object_of_its_key_is() {
    let register = |client: &mut Client| {
        client.register::<Judge>().register::<Archive>();
    };
    let (mut room, archive) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Judge>().spawn(Archive::default())
    });
    let [first, second] = [(); 2].map(|()| room.server.spawn(Judge::default()));
    show(&mut room, second, false);
    room.server[archive] = Archive::of(&[first, second]);
    room.settle();
    for _ in 0..2 {
        assert_eq!(room.client()[archive], Archive::of(&[first]));
        show(&mut room, second, true);
        assert_eq!(room.client()[archive], Archive::of(&[first, second]));
        show(&mut room, second, false);
    }
    room.server[archive] = Archive::of(&[ObjectRef::NULL, second]);
    room.settle();
    assert_eq!(room.client()[archive], Archive::of(&[ObjectRef::NULL]));
}

#[test]
fn s119_entries_that_are_not_shown_change_and_go_like_others() {
    let (mut room, judge, [first, second, third]) = court();
    room.server[judge].scores.get_mut(&second).unwrap().points = 20;
    room.server[judge].scores.get_mut(&second).unwrap().notes.push(9);
    room.server[judge].scores.get_mut(&third).unwrap().by = second;
    room.settle();
    room.server[judge].seen.remove(&second);
    room.server[judge].courts[0].votes.remove(&second);
    room.server[judge].courts[1].votes.insert(second, 7);
    room.settle();
    check(&room, judge, &[first]);
    show(&mut room, second, true);
    check(&room, judge, &[first, second]);
    room.server[judge].scores.remove(&third);
    room.settle();
    show(&mut room, third, true);
    check(&room, judge, &[first, second, third]);
    // The object is despawned. The entries of this object stay on the server, but no client shows them.
    room.server.despawn(second);
    room.settle();
    check(&room, judge, &[first, third]);
    room.server[judge].scores.clear();
    room.server[judge].courts.clear();
    room.settle();
    check(&room, judge, &[first, third]);
}

#[test]
fn s117_s120_entries_converge_under_loss() {
    let (mut room, judge, others) = court();
    for round in 0..60_u32 {
        let other = others[round as usize % 3];
        let id = room.guests[0].id;
        room.server.object(other).set_visible(id, round % 4 < 2);
        let score = Score { points: round, by: others[(round as usize + 1) % 3], notes: vec![round as u8] };
        if round % 5 == 4 {
            room.server[judge].scores.remove(&other);
            room.server[judge].seen.remove(&other);
        } else {
            room.server[judge].scores.insert(other, score);
            room.server[judge].seen.insert(other);
        }
        let packets = room.tick_one();
        if round % 3 != 1 {
            room.deliver(0, &packets);
            room.acknowledge();
        }
        let client = room.client();
        let known = &client[judge];
        let keys = known.scores.keys().chain(&known.seen).chain(known.pairs.keys().map(|(key, _)| key));
        assert!(keys.into_iter().all(|&key| client.contains(key)), "round {round}");
    }
    room.settle();
    let there: Vec<_> = others.into_iter().filter(|&other| room.client().contains(other)).collect();
    check(&room, judge, &there);
    others.into_iter().for_each(|other| show(&mut room, other, true));
    check(&room, judge, &others);
}

#[test]
fn s49_changes_of_the_user_do_not_show_a_hidden_entry() {
    let (mut room, judge, [first, second, _]) = court();
    let lent = room.guests[0].client.get_mut(judge).unwrap();
    lent.scores.clear();
    lent.courts.clear();
    room.server[judge].scores.get_mut(&first).unwrap().points = 5;
    room.server[judge].scores.get_mut(&second).unwrap().points = 6;
    room.server[judge].courts[0].votes.insert(first, 9);
    room.settle();
    check(&room, judge, &[first]);
    show(&mut room, second, true);
    check(&room, judge, &[first, second]);
}
