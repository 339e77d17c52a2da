//! Maps that record which entries were written to, side by side with ordinary maps: the updates are the same,
//! and only the written entries are compared (R14, W16).
//!
//! *Invariant:* after each comparison the shadow has all entries of the live map that can be sent.

use std::collections::HashMap;

use proptest::prelude::*;
use repl::map::Entry;
use repl::prelude::*;
use repl::{BitWriter, Map, WriteError};

use crate::pair::Pair;
use crate::support::Room;

#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
struct Score {
    #[replicated(range = 0..=99)]
    kills: u8,
    #[replicated]
    names: Vec<String>,
}

/// An object with ordinary maps. The other class has the same fields with maps that record their writes.
#[derive(Replicated, Default)]
#[replicated(name = "Board")]
struct Plain {
    #[replicated(max_len = 200)]
    scores: HashMap<String, Score>,
}

#[derive(Replicated, Default)]
#[replicated(name = "Board")]
struct Recorded {
    #[replicated(max_len = 200)]
    scores: ReplicatedMap<String, Score>,
}

/// A write that is made to both kinds of maps.
#[derive(Clone, Debug)]
enum Write {
    Insert(u8, u8),
    Change(u8, u8),
    Name(u8),
    Remove(u8),
    EachThird(u8),
    Entry(u8, u8),
    Retain(u8),
    Clear,
    /// Assigns another map with the same entries.
    Replace,
    /// Takes the map out of the field, and fills the new map in the field with its entries.
    Refill,
    Extend(u8),
    Drain,
}

impl Write {
    fn any() -> impl Strategy<Value = Self> {
        let key = 0..40_u8;
        prop_oneof![
            6 => (key.clone(), 0..110_u8).prop_map(|(key, kills)| Self::Insert(key, kills)),
            6 => (key.clone(), 0..110_u8).prop_map(|(key, kills)| Self::Change(key, kills)),
            3 => key.clone().prop_map(Self::Name),
            4 => key.clone().prop_map(Self::Remove),
            2 => (0..100_u8).prop_map(Self::EachThird),
            3 => (key.clone(), 0..100_u8).prop_map(|(key, kills)| Self::Entry(key, kills)),
            1 => (2..6_u8).prop_map(Self::Retain),
            1 => Just(Self::Clear),
            1 => Just(Self::Replace),
            1 => Just(Self::Refill),
            1 => key.prop_map(Self::Extend),
            1 => Just(Self::Drain),
        ]
    }

    fn plain(&self, map: &mut HashMap<String, Score>) {
        match *self {
            Self::Insert(key, kills) => _ = map.insert(key.to_string(), score(kills)),
            Self::Change(key, kills) => {
                map.get_mut(&key.to_string()).into_iter().for_each(|s| s.kills = kills)
            }
            Self::Name(key) => {
                map.get_mut(&key.to_string()).into_iter().for_each(|s| s.names.push("Ann".to_owned()));
            }
            Self::Remove(key) => _ = map.remove(&key.to_string()),
            Self::EachThird(kills) => {
                map.iter_mut().filter(|(key, _)| is_third(key)).for_each(|(_, s)| s.kills = kills)
            }
            Self::Entry(key, kills) => {
                map.entry(key.to_string()).and_modify(|s| s.kills = 1).or_default().kills = kills;
            }
            Self::Retain(part) => map.retain(|key, _| !is_part(key, part)),
            Self::Clear => map.clear(),
            Self::Replace | Self::Refill => {}
            Self::Extend(first) => map.extend((first..first + 5).map(|key| (key.to_string(), score(3)))),
            Self::Drain => map.drain().for_each(drop),
        }
    }

    fn recorded(&self, map: &mut ReplicatedMap<String, Score>) {
        match *self {
            Self::Insert(key, kills) => _ = map.insert(key.to_string(), score(kills)),
            Self::Change(key, kills) => {
                map.get_mut(&key.to_string()).into_iter().for_each(|mut s| s.kills = kills);
            }
            Self::Name(key) => {
                map.get_mut(&key.to_string()).into_iter().for_each(|mut s| s.names.push("Ann".to_owned()));
            }
            Self::Remove(key) => _ = map.remove(&key.to_string()),
            Self::EachThird(kills) => {
                map.iter_mut().filter(|(key, _)| is_third(key)).for_each(|(_, mut s)| s.kills = kills);
            }
            Self::Entry(key, kills) => {
                let entry: Entry<'_, _, _> = map.entry(key.to_string());
                entry.and_modify(|s| s.kills = 1).or_default().kills = kills;
            }
            Self::Retain(part) => map.retain(|key, _| !is_part(key, part)),
            Self::Clear => map.clear(),
            Self::Replace => *map = map.clone(),
            Self::Refill => {
                let entries = std::mem::take(map);
                map.extend(entries);
            }
            Self::Extend(first) => map.extend((first..first + 5).map(|key| (key.to_string(), score(3)))),
            Self::Drain => map.drain().for_each(drop),
        }
    }
}

fn score(kills: u8) -> Score {
    Score { kills, ..Score::default() }
}

fn is_third(key: &str) -> bool {
    key.ends_with('3')
}

fn is_part(key: &str, part: u8) -> bool {
    key.parse().is_ok_and(|key: u8| key.is_multiple_of(part))
}

proptest! {
    #[test]
    fn r14_recorded_writes_send_the_same_bits_as_a_comparison_of_all_entries(
        ticks in prop::collection::vec(prop::collection::vec(Write::any(), 0..6), 1..20),
    ) {
        let (mut plain, mut recorded) = (Pair::<Plain>::new(), Pair::<Recorded>::new());
        for writes in ticks {
            let changes = plain.edit(|board| writes.iter().for_each(|write| write.plain(&mut board.scores)));
            let others = recorded.edit(|board| writes.iter().for_each(|write| write.recorded(&mut board.scores)));
            prop_assert_eq!(&recorded.live.scores, &plain.live.scores);
            let (bits, other_bits) = (plain.encode(&changes), recorded.encode(&others));
            prop_assert_eq!(&bits, &other_bits);
            if !changes.is_empty() {
                plain.receive(&bits).unwrap();
                recorded.receive(&other_bits).unwrap();
            }
            prop_assert_eq!(&recorded.shadow.scores, &plain.shadow.scores);
            prop_assert_eq!(&recorded.replica.scores, &plain.shadow.scores);
        }
    }
}

#[test]
fn w16_a_recorded_map_takes_the_place_of_a_hash_map_in_a_layout() {
    assert_eq!(Recorded::LAYOUT.checksum(), Plain::LAYOUT.checksum());
    assert_eq!(Recorded::LAYOUT.to_string(), Plain::LAYOUT.to_string());
}

#[test]
fn w16_a_comparison_looks_only_at_the_entries_that_were_written_to() {
    let mut live: ReplicatedMap<u32, u8> = (0..10_000).map(|key| (key, 0)).collect();
    let mut shadow = ReplicatedMap::default();
    let touched = |live: &ReplicatedMap<u32, u8>, shadow: &mut ReplicatedMap<u32, u8>| {
        let mut keys = shadow.touched(live).map(<[u32]>::to_vec);
        keys.iter_mut().for_each(|keys| keys.sort_unstable());
        shadow.followed(live);
        keys
    };
    assert_eq!(touched(&live, &mut shadow), None, "nothing is known of another map");
    assert_eq!(touched(&live, &mut shadow), Some(vec![]));
    *live.get_mut(&7).unwrap() += 1;
    *live.get_mut(&7).unwrap() += 1;
    assert_eq!(live.get_mut(&8).as_deref(), Some(&0), "reading records nothing");
    assert_eq!(live.get_mut(&10_000).as_deref(), None);
    live.insert(10_000, 1);
    live.remove(&3);
    live.remove(&3);
    live.values_mut().filter(|value| **value == 2).for_each(|mut value| *value = 9);
    live.retain(|key, _| *key != 4);
    assert_eq!(touched(&live, &mut shadow), Some(vec![3, 4, 7, 7, 10_000]));
    *ValueMut::unmarked(&mut live.get_mut(&1).unwrap()) = 5;
    assert_eq!(touched(&live, &mut shadow), Some(vec![]), "an unmarked write waits");
    *live.entry(1).or_insert(3) += 1;
    live.entry(2).or_insert(3);
    live.entry(20_000).or_insert(3);
    assert_eq!(touched(&live, &mut shadow), Some(vec![1, 20_000]));
    live.drain();
    assert_eq!(touched(&live, &mut shadow), None, "all went");
    live.extend([(1, 1)]);
    shadow.extend([(1, 1)]);
    assert_eq!(touched(&live, &mut shadow), None, "a shadow that was written to has followed nothing");
}

#[test]
fn r20_any_bits_give_a_recorded_map_an_update_or_an_error() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..20_000 {
        let (mut plain, mut recorded) = (Pair::<Plain>::new(), Pair::<Recorded>::new());
        plain.replica.scores.insert("known".to_owned(), score(1));
        recorded.replica.scores.insert("known".to_owned(), score(1));
        let mut writer = BitWriter::new();
        for _ in 0..next() % 12 {
            writer.write_bits(next() & next(), 64);
        }
        assert_eq!(plain.receive(&writer), recorded.receive(&writer));
        assert_eq!(recorded.replica.scores, plain.replica.scores);
    }
}

#[test]
fn r14_values_without_a_form_are_refused_and_sent_once_they_have_one() {
    let mut pair = Pair::<Recorded>::new();
    pair.update(|board| board.scores.extend([("a".to_owned(), score(1)), ("b".to_owned(), score(200))]));
    assert_eq!(pair.refusals.len(), 1);
    assert_eq!(pair.replica.scores.len(), 1, "a new entry waits for its value");
    pair.update(|board| board.scores.get_mut("a").unwrap().kills = 200);
    assert_eq!(pair.replica.scores["a"], score(1), "a known entry keeps the value that was sent");
    pair.update(|board| board.scores.values_mut().for_each(|mut score| score.kills = 5));
    assert_eq!(pair.replica.scores, pair.live.scores);
    pair.refusals.clear();
    pair.update(|board| board.scores = (0..201).map(|key| (key.to_string(), score(1))).collect());
    assert_eq!(pair.refusals[0].error, WriteError::TooLong { len: 201, max: 200 });
    assert_eq!(pair.replica.scores.len(), 2);
    pair.update(|board| _ = board.scores.remove("7"));
    assert_eq!(pair.replica.scores, pair.live.scores);
}

#[test]
fn r14_a_new_value_without_a_form_is_refused_once_however_often_it_was_written_to() {
    let mut pair = Pair::<Recorded>::new();
    pair.update(|board| _ = board.scores.insert("a".to_owned(), score(1)));
    pair.update(|board| {
        board.scores.insert("b".to_owned(), score(200));
        board.scores.get_mut("a").unwrap().kills = 2;
        board.scores.get_mut("b").unwrap().names.push("Bo".to_owned());
    });
    assert_eq!(pair.refusals.len(), 1, "{:?}", pair.refusals);
    assert_eq!((pair.replica.scores.len(), &pair.replica.scores["a"]), (1, &score(2)));
    pair.update(|board| board.scores.get_mut("b").unwrap().kills = 3);
    assert_eq!(pair.replica.scores, pair.live.scores);
}

#[test]
fn w16_an_entry_without_a_form_is_not_compared_again_until_it_is_written_to() {
    let mut pair = Pair::<Recorded>::new();
    pair.update(|board| board.scores.extend([("a".to_owned(), score(1)), ("b".to_owned(), score(200))]));
    assert_eq!(pair.refusals.len(), 1);
    pair.refusals.clear();
    pair.update(|_| {});
    pair.update(|board| board.scores.get_mut("a").unwrap().kills = 2);
    assert_eq!((&pair.refusals[..], &pair.replica.scores["a"]), (&[][..], &score(2)));
    pair.update(|board| board.scores.get_mut("b").unwrap().kills = 3);
    assert_eq!(pair.replica.scores, pair.live.scores);
}

/// A value that counts its callbacks.
#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
#[replicated(callbacks)]
struct Told {
    count: u8,
    target: ObjectRef<Mark>,
    list: Vec<u8>,
    #[replicated(skip)]
    calls: u32,
}

impl ItemCallbacks for Told {
    fn post_replicated_add(&mut self) {
        self.calls += 1;
    }

    fn post_replicated_change(&mut self, _: &ChangedProperties<'_>) {
        self.calls += 1;
    }
}

#[derive(Replicated, Default)]
struct Mark {
    #[replicated]
    number: u8,
}

/// Both kinds of maps, with equal entries.
#[derive(Replicated, Default)]
struct Twins {
    #[replicated(notify = on_plain)]
    plain: HashMap<u16, Told>,
    #[replicated(notify = on_recorded)]
    recorded: ReplicatedMap<u16, Told>,
    #[replicated(notify = on_numbers)]
    numbers: ReplicatedMap<ObjectRef<Mark>, u32>,
    #[replicated(condition = OwnerOnly)]
    secret: ReplicatedMap<u8, u8>,
    /// How often the notifies of `plain` and `recorded` were called.
    calls: [u32; 2],
}

impl Twins {
    fn on_plain(&mut self) {
        self.calls[0] += 1;
    }

    fn on_recorded(&mut self, old: &ReplicatedMap<u16, Told>) {
        let parts = |map: &ReplicatedMap<u16, Told>| -> HashMap<u16, (u8, ObjectRef<Mark>, Vec<u8>)> {
            map.iter().map(|(key, told)| (*key, (told.count, told.target, told.list.clone()))).collect()
        };
        assert_ne!(parts(old), parts(&self.recorded), "no notify without a change");
        self.calls[1] += 1;
    }

    fn on_numbers(&mut self, old: &ReplicatedMap<ObjectRef<Mark>, u32>) {
        assert_ne!(*old, self.numbers, "no notify without a change");
    }
}

fn twins() -> (Room, ObjectRef<Twins>, Vec<ObjectRef<Mark>>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Twins>();
        client.register::<Mark>();
    });
    let marks = (0..12).map(|number| room.server.spawn(Mark { number })).collect();
    let twins = room.server.spawn(Twins::default());
    (room, twins, marks)
}

fn write(twins: &mut Twins, marks: &[ObjectRef<Mark>], roll: &mut impl FnMut(u64) -> u64) {
    let (key, value, mark) = (roll(60) as u16, roll(256) as u8, marks[roll(12) as usize]);
    let Twins { plain, recorded, numbers, secret, .. } = twins;
    match roll(14) {
        0..4 => {
            let told = Told { count: value, target: mark, ..Told::default() };
            plain.insert(key, told.clone());
            recorded.insert(key, told);
        }
        4 | 5 => {
            plain.values_mut().filter(|told| told.count % 5 == 1).for_each(|told| told.count = value);
            recorded.values_mut().filter(|told| told.count % 5 == 1).for_each(|mut told| told.count = value);
        }
        6 => {
            plain.get_mut(&key).into_iter().for_each(|told| told.list.push(value));
            recorded.get_mut(&key).into_iter().for_each(|mut told| told.list.push(value));
        }
        7 => {
            plain.entry(key).or_default().target = mark;
            recorded.entry(key).or_default().target = mark;
        }
        8 => _ = (plain.remove(&key), recorded.remove(&key)),
        9 => *numbers.entry(mark).or_default() += 1,
        10 => _ = numbers.remove(&mark),
        11 => _ = secret.insert(value, value),
        12 => {
            plain.retain(|key, _| key % 7 != u16::from(value % 7));
            recorded.retain(|key, _| key % 7 != u16::from(value % 7));
        }
        _ if roll(4) == 0 => *recorded = recorded.clone(),
        _ => {}
    }
}

fn assert_twins(room: &Room, twins: ObjectRef<Twins>, context: &str) {
    let parts = |told: &Told| (told.count, told.target, told.list.clone());
    let server = &room.server[twins];
    for guest in &room.guests {
        let client = guest.client.get(twins).expect("the client has it");
        assert_eq!(client.recorded.len(), server.recorded.len(), "{context}");
        assert_eq!(client.plain.len(), server.plain.len(), "{context}");
        for (key, told) in &server.recorded {
            assert_eq!(parts(&client.recorded[key]), parts(told), "{context}");
            assert_eq!(parts(&client.plain[key]), parts(told), "{context}");
            assert!(client.recorded[key].calls > 0, "{context}");
        }
        assert_eq!(client.numbers, server.numbers, "{context}");
        assert!(client.secret.is_empty(), "{context}");
        assert!(client.calls[1] > 0 || server.recorded.is_empty(), "{context}");
    }
}

#[test]
fn r14_clients_with_recorded_maps_converge_under_any_loss_and_delay() {
    for seed in 1..30_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut roll = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % end
        };
        let (mut room, twins, marks) = twins();
        room.enter();
        let mut late = Vec::new();
        for tick in 0..150 {
            for _ in 0..roll(5) {
                write(&mut room.server[twins], &marks, &mut roll);
            }
            if tick % 60 == 30 {
                let guest = room.enter();
                room.server.object(marks[3]).set_visible(guest, seed % 2 == 0);
            }
            for (guest, packets) in room.tick().into_iter().enumerate() {
                for packet in packets {
                    match roll(12) {
                        lost if lost < seed % 9 => {}
                        9 => late.push((guest, packet)),
                        _ => room.deliver(guest, &[packet]),
                    }
                }
            }
            if roll(3) == 0 && !late.is_empty() {
                let (guest, packet) = late.remove(0);
                room.deliver(guest, &[packet]);
            }
            for guest in 0..room.guests.len() {
                let replies = room.replies(guest);
                if roll(10) >= seed % 9 {
                    room.hear(guest, &replies);
                }
            }
        }
        for guest in 0..room.guests.len() {
            room.server.object(marks[3]).set_visible(room.guests[guest].id, true);
        }
        room.settle();
        assert_twins(&room, twins, &format!("seed {seed}"));
    }
}

#[test]
fn s34_a_recorded_map_obeys_the_condition_of_its_field() {
    let (mut room, twins, _) = twins();
    room.server[twins].secret.insert(0xA5, 0x5A);
    let guest = room.enter();
    room.settle();
    assert!(room.client().get(twins).unwrap().secret.is_empty());
    room.server.object(twins).set_owner(Some(guest));
    room.settle();
    assert_eq!(room.client()[twins].secret, room.server[twins].secret);
}

#[test]
fn a_client_may_change_a_recorded_map_and_still_receives_updates() {
    let (mut room, twins, marks) = twins();
    room.enter();
    room.server[twins].numbers.extend([(marks[0], 1), (marks[1], 2)]);
    room.settle();
    let lent = room.guests[0].client.get_mut(twins).unwrap();
    lent.numbers.remove(&marks[1]);
    *lent.numbers.get_mut(&marks[0]).unwrap() = 0;
    lent.numbers.insert(marks[2], 9);
    room.server[twins].numbers.values_mut().for_each(|mut number| *number += 10);
    room.settle();
    let client = &room.client()[twins];
    assert_eq!([0, 1, 2].map(|mark| client.numbers.get(&marks[mark]).copied()), [Some(11), Some(12), None]);
}

#[test]
fn what_a_client_receives_can_be_served_again() {
    let (mut room, twins, marks) = twins();
    room.enter();
    let mut relay = Room::new(ServerConfig::default(), |client| {
        client.register::<Mark>();
        client.register::<Twins>();
    });
    relay.server.register::<Mark>();
    relay.server.register_external::<Twins>();
    room.settle();
    let copy = relay.server.external().spawn(&room.client()[twins]);
    relay.enter();
    for step in 0..30 {
        let recorded = &mut room.server[twins].recorded;
        recorded.insert(step, Told::default());
        recorded.remove(&(step / 2));
        recorded.values_mut().for_each(|mut told| told.count += 1);
        room.server[twins].numbers.insert(marks[usize::from(step) % 12], step.into());
        room.settle();
        relay.server.external().compare(copy, &room.client()[twins]).unwrap();
        relay.settle();
        let (near, far) = (&room.client()[twins], &relay.client()[copy]);
        let counts = |twins: &Twins| -> HashMap<u16, u8> {
            twins.recorded.iter().map(|(key, told)| (*key, told.count)).collect()
        };
        assert_eq!(counts(far), counts(near), "step {step}");
    }
}
