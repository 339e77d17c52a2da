//! Ticks whose work is limited: what does not fit goes first in the next ticks, and nobody starves.

use std::collections::BTreeMap;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Dormancy, NotSent, Work};

use super::budget::{Creature, room, shown};
use crate::support::{Room, TICK, collect};

/// The greatest number of objects that are compared before the function is asked again.
const GROUP: usize = 64;

/// Runs a tick with a limit on a perfect link. Returns how many bytes each guest received.
fn tick_while(room: &mut Room, goes_on: impl FnMut(Work) -> bool) -> Vec<usize> {
    room.acknowledge();
    room.server.tick_while(room.now, goes_on);
    room.now += TICK;
    let packets: Vec<_> = room.guests.iter().map(|guest| collect(&mut room.server, guest.id)).collect();
    for (guest, packets) in packets.iter().enumerate() {
        room.deliver(guest, packets);
    }
    packets.iter().map(|packets| packets.iter().map(Vec::len).sum()).collect()
}

#[test]
fn s239_objects_without_room_in_a_tick_are_compared_in_the_next_ticks() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 1_000);
    let id = room.guests[0].id;
    creatures.iter().for_each(|&creature| room.server[creature].health = 1);
    let most = |work| {
        matches!(work, Work::Objects(compared) if compared < 300) || matches!(work, Work::Connections(_))
    };
    let mut counts = Vec::new();
    for _ in 0..4 {
        tick_while(&mut room, most);
        counts.push(creatures.iter().filter(|&&creature| shown(&room, 0, creature) == 1).count());
    }
    assert_eq!(counts, [320, 640, 960, 1_000], "groups of {GROUP}");
    creatures.iter().for_each(|&creature| room.server[creature].health = 2);
    tick_while(&mut room, most);
    let waits = creatures.iter().find(|&&creature| shown(&room, 0, creature) == 1).expect("one waits");
    assert_eq!(room.server.object_info(*waits).why_not_sent_to(id), Some(NotSent::Budget));
    // A tick without a limit compares all.
    room.step();
    assert!(creatures.iter().all(|&creature| shown(&room, 0, creature) == 2));
}

#[test]
fn s239_no_object_starves_while_all_of_them_change_in_each_tick() {
    const CREATURES: usize = 700;
    let (mut room, creatures) = room(ServerConfig::default(), 1, CREATURES);
    let mut since: BTreeMap<usize, u32> = BTreeMap::new();
    let mut longest = 0;
    for tick in 1..300_u32 {
        creatures.iter().for_each(|&creature| room.server[creature].health = tick);
        let mut asked = 0;
        tick_while(&mut room, |work| {
            asked += 1;
            matches!(work, Work::Connections(_))
        });
        assert!(asked < 3, "after `false` the function is not asked again");
        for (at, &creature) in creatures.iter().enumerate() {
            if shown(&room, 0, creature) == tick {
                since.insert(at, tick);
            }
            longest = longest.max(tick - since.get(&at).copied().unwrap_or(0));
        }
    }
    let bound = CREATURES.div_ceil(GROUP) * 2;
    assert!(longest as usize <= bound, "{longest} ticks, and at most {bound} are allowed");
    assert_eq!(since.len(), CREATURES);
}

#[test]
fn s239_what_was_left_over_goes_before_what_changes_later() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 640);
    let stop = |work| matches!(work, Work::Connections(_));
    let (early, late) = creatures.split_at(320);
    // The later slots change first.
    late.iter().for_each(|&creature| room.server[creature].health = 1);
    tick_while(&mut room, stop);
    early.iter().for_each(|&creature| room.server[creature].health = 1);
    let count = |room: &Room, of: &[ObjectRef<Creature>]| {
        of.iter().filter(|&&creature| shown(room, 0, creature) == 1).count()
    };
    for tick in 1..10 {
        assert_eq!(count(&room, late), (GROUP * tick).min(320));
        assert_eq!(count(&room, early), (GROUP * tick).saturating_sub(320));
        tick_while(&mut room, stop);
    }
}

#[test]
fn s239_new_objects_do_not_wait_and_removed_ones_take_their_last_values() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 200);
    let stop = |work| matches!(work, Work::Connections(_));
    creatures.iter().for_each(|&creature| room.server[creature].health = 5);
    tick_while(&mut room, stop);
    let born: Vec<_> =
        (0..100).map(|_| room.server.spawn(Creature { health: 6, ..Creature::default() })).collect();
    room.server.object(creatures[198]).tear_off();
    tick_while(&mut room, stop);
    assert!(born.iter().all(|&creature| shown(&room, 0, creature) == 6));
    assert_eq!((shown(&room, 0, creatures[198]), shown(&room, 0, creatures[199])), (5, 0));
    while room.guests[0].client.poll_update().is_some() {}
    room.server.despawn(creatures[199]);
    tick_while(&mut room, stop);
    let last = room.client().object_info(creatures[199]).departed().map(|last| last.health);
    assert_eq!(last, Some(5));
}

#[test]
fn s239_s206_an_object_that_waits_does_not_sleep_and_an_initially_dormant_one_does_not_wait() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 200);
    let asleep = creatures[199];
    room.server.object(asleep).set_dormancy(Dormancy::All);
    let still = room.server.spawn(Creature::default());
    room.server.object(still).set_dormancy(Dormancy::Initial);
    room.settle();
    assert!(room.client().object_info(asleep).is_asleep() && !room.client().contains(still));
    let stop = |work| matches!(work, Work::Connections(_));
    creatures.iter().for_each(|&creature| room.server[creature].health = 5);
    room.server[still].health = 5;
    tick_while(&mut room, stop);
    assert_eq!((shown(&room, 0, still), shown(&room, 0, asleep)), (5, 0));
    (0..5).for_each(|_| _ = tick_while(&mut room, stop));
    assert_eq!(shown(&room, 0, asleep), 5);
}

#[test]
fn s240_connections_without_room_in_a_tick_are_served_in_the_next_ticks_in_rounds() {
    for (at_once, most) in [(0, 1), (1, 1), (3, 3), (7, 7), (9, 9)] {
        let (mut room, creatures) = room(ServerConfig::default(), 9, 30);
        let mut last = [0_u32; 9];
        let mut rng = Rng::new(most as u64);
        for value in 1..=120 {
            creatures
                .iter()
                .filter(|_| rng.chance(0.5))
                .for_each(|&creature| room.server[creature].health = value);
            let bytes = tick_while(&mut room, |work| match work {
                Work::Connections(served) => served < at_once,
                _ => true,
            });
            let served: Vec<usize> = (0..9).filter(|&guest| bytes[guest] > 20).collect();
            assert!(served.len() <= most, "{served:?}");
            for guest in served {
                last[guest] = value;
                let is_right = |&creature: &ObjectRef<Creature>| {
                    shown(&room, guest, creature) == room.server[creature].health
                };
                assert!(creatures.iter().all(is_right), "all that it missed");
            }
            let bound = 2 * 9_usize.div_ceil(most) as u32;
            assert!(last.iter().all(|last| value - last <= bound), "{last:?} at {value}, {most} at once");
        }
        room.settle();
        for (guest, creature) in
            (0..9).flat_map(|guest| creatures.iter().map(move |&creature| (guest, creature)))
        {
            assert_eq!(shown(&room, guest, creature), room.server[creature].health);
        }
    }
}

#[test]
fn s240_turns_of_the_configuration_and_a_limit_apply_together() {
    let config = ServerConfig { connections_per_tick: 2, ..ServerConfig::default() };
    let (mut room, creatures) = room(config, 6, 20);
    for value in 1..100 {
        creatures.iter().for_each(|&creature| room.server[creature].health = value);
        let bytes = match value % 3 {
            0 => tick_while(&mut room, |work| !matches!(work, Work::Connections(_))),
            1 => tick_while(&mut room, |_| true),
            _ => {
                room.step();
                continue;
            }
        };
        let served = bytes.iter().filter(|&&bytes| bytes > 20).count();
        assert!(served <= if value % 3 == 0 { 1 } else { 2 }, "{bytes:?}");
    }
    room.settle();
    let all = (0..6).flat_map(|guest| creatures.iter().map(move |&creature| (guest, creature)));
    assert!(all.into_iter().all(|(guest, creature)| shown(&room, guest, creature) == 99));
}

#[test]
fn s239_s240_a_tick_whose_function_never_stops_sends_the_packets_of_an_ordinary_tick() {
    let run = |is_limited: bool| {
        let (mut room, creatures) = room(ServerConfig::default(), 3, 300);
        let (mut rng, mut sent) = (Rng::new(3), Vec::new());
        for value in 1..50 {
            creatures
                .iter()
                .filter(|_| rng.chance(0.6))
                .for_each(|&creature| room.server[creature].health = value);
            room.acknowledge();
            if is_limited {
                room.server.tick_while(room.now, |_| true);
            } else {
                room.server.tick(room.now);
            }
            room.now += TICK;
            let packets: Vec<_> =
                room.guests.iter().map(|guest| collect(&mut room.server, guest.id)).collect();
            for (guest, packets) in packets.iter().enumerate() {
                let arriving: Vec<_> = packets.iter().filter(|_| !rng.chance(0.1)).cloned().collect();
                room.deliver(guest, &arriving);
            }
            sent.extend(packets);
        }
        sent
    };
    assert!(run(true) == run(false));
}
