//! Several features at the same time: bands, pauses, budgets, sleep, tear-offs, subobjects and sight.
//!
//! *Invariant:* each test loses packets, or proves that nothing was sent that could be lost.

use std::collections::BTreeMap;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Dormancy, NotSent};

use crate::support::Room;

/// An object with a position.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Beast {
    #[replicated]
    position: [f32; 2],
    #[replicated]
    health: u32,
    #[replicated(condition = OwnerOnly)]
    plans: Vec<u32>,
    #[replicated(condition = Custom)]
    signal: u8,
    #[replicated]
    tail: Vec<u32>,
    #[replicated]
    cubs: BTreeMap<u8, u32>,
}

fn beast(x: f32) -> Beast {
    Beast { position: [x, 10.0], ..Beast::default() }
}

fn register(client: &mut Client) {
    client.register::<Beast>();
}

/// Where beasts are near, and where they are so far that their changes are sent every seven ticks.
const NEAR: f32 = 10.0;
const FAR: f32 = 150.0;
const FAR_TICKS: u16 = 7;

/// Returns a room with clients whose viewpoints are at zero.
fn wood(guests: usize) -> Room {
    wood_of(guests, ServerConfig::default())
}

fn wood_of(guests: usize, config: ServerConfig) -> Room {
    wood_with(guests, FAR_TICKS, config)
}

/// Returns a wood in which the changes of far beasts are sent every `ticks` ticks.
fn wood_with(guests: usize, ticks: u16, config: ServerConfig) -> Room {
    let mut room = Room::new(config, register);
    let area = Area::within(200.0).flat().slower_beyond(60.0, ticks);
    room.server.class::<Beast>().locate(area, |beast: &Beast| [beast.position[0], beast.position[1], 0.0]);
    for _ in 0..guests {
        let id = room.enter();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    }
    room.settle();
    room
}

fn health(room: &Room, guest: usize, beast: ObjectRef<Beast>) -> Option<u32> {
    room.guests[guest].client.get(beast).map(|beast| beast.health)
}

/// Runs a tick in which packets are lost in both directions.
fn lossy_tick(room: &mut Room, rng: &mut Rng, loss: f64) {
    for (guest, packets) in room.tick().into_iter().enumerate() {
        let arriving: Vec<_> = packets.into_iter().filter(|_| !rng.chance(loss)).collect();
        room.deliver(guest, &arriving);
        let replies: Vec<_> = room.replies(guest).into_iter().filter(|_| !rng.chance(loss)).collect();
        room.hear(guest, &replies);
    }
}

fn torn_off(room: &mut Room, guest: usize) -> Vec<ObjectRef<()>> {
    let torn_off = |(object, what)| (what == UpdateKind::TornOff).then_some(object);
    room.polled(guest).into_iter().filter_map(torn_off).collect()
}

#[test]
fn s193_s187_what_is_due_in_a_band_during_a_pause_arrives_after_the_pause() {
    for (seed, length) in (1..24).enumerate() {
        let (mut room, mut rng) = (wood(2), Rng::new(seed as u64));
        let beasts = [NEAR, FAR, FAR].map(|x| room.server.spawn(beast(x)));
        room.settle();
        let id = room.guests[0].id;
        room.server.connection(id).pause();
        let before = room.server.connection_info(id).stats().expect("it is connected").bytes_sent;
        for tick in 0..length {
            beasts.iter().for_each(|&beast| room.server[beast].health += 1);
            lossy_tick(&mut room, &mut rng, 0.3);
            assert!(beasts.iter().all(|&beast| health(&room, 0, beast) == Some(0)), "tick {tick}");
        }
        assert!(
            room.server.connection_info(id).stats().expect("it is connected").bytes_sent - before
                < 40 * length as u64
        );
        room.server.connection(id).resume();
        (0..3).for_each(|_| lossy_tick(&mut room, &mut rng, 0.3));
        room.settle();
        for guest in 0..2 {
            assert!(beasts.iter().all(|&beast| health(&room, guest, beast) == Some(length)), "{length}");
        }
    }
}

#[test]
fn s193_s187_what_waits_for_its_band_when_a_pause_begins_arrives_after_the_pause() {
    for delay in 0..u32::from(FAR_TICKS) {
        let mut room = wood(1);
        let beasts = [FAR; 9].map(|x| room.server.spawn(beast(x)));
        room.settle();
        (0..delay).for_each(|_| _ = room.step());
        beasts.iter().for_each(|&beast| room.server[beast].health = 5);
        room.step();
        room.server.connection(room.guests[0].id).pause();
        (0..2 * FAR_TICKS).for_each(|_| _ = room.step());
        assert!(beasts.iter().any(|&beast| health(&room, 0, beast) == Some(0)), "some changes waited");
        room.server.connection(room.guests[0].id).resume();
        room.settle();
        assert!(beasts.iter().all(|&beast| health(&room, 0, beast) == Some(5)), "{delay}");
    }
}

#[test]
fn s193_s187_a_change_during_a_pause_is_not_forgotten_for_an_older_one_that_waits_for_a_band() {
    for is_added_first in [true, false] {
        // Changes that wait for a band are not sent before the end of the test.
        let mut room = wood_with(1, 1_000, ServerConfig::default());
        let (id, beast) = (room.guests[0].id, room.server.spawn(beast(FAR)));
        let look = |room: &mut Room, x: f32| _ = room.server.connection(id).set_viewpoints(&[[x, 0.0, 0.0]]);
        let change = |room: &mut Room, is_added: bool| match is_added {
            true => _ = room.server[beast].cubs.insert(1, 7),
            false => _ = room.server[beast].cubs.remove(&1),
        };
        change(&mut room, !is_added_first);
        room.settle();
        change(&mut room, is_added_first);
        room.step();
        assert_eq!(room.server.object_info(beast).why_not_sent_to(id), Some(NotSent::Band));
        // The client comes near, so nobody is far from the beast, and its next change waits for no band.
        look(&mut room, FAR);
        room.settle();
        assert_eq!(room.client()[beast].cubs, room.server[beast].cubs);
        room.server.connection(id).pause();
        change(&mut room, !is_added_first);
        room.step();
        look(&mut room, 0.0);
        room.step();
        look(&mut room, FAR);
        room.step();
        room.server.connection(id).resume();
        room.settle();
        assert_eq!(room.client()[beast].cubs, room.server[beast].cubs, "{is_added_first}");
    }
}

#[test]
fn s42_s187_a_value_that_waits_for_its_band_is_not_lost_when_its_condition_ends_and_returns() {
    const PERIOD: u16 = 10;
    let signal = Beast::LAYOUT.property("signal");
    let waits = [(0, 1), (1, 1), (3, 2), (1, 2 * PERIOD), (PERIOD - 1, 3)];
    for ((ticks_before, ticks_hidden), for_all) in waits.into_iter().flat_map(|it| [(it, false), (it, true)])
    {
        let switch = |server: &mut Server, id, far, is_active| match for_all {
            true => _ = server.object(far).set_custom_active(signal, is_active),
            false => _ = server.object(far).set_custom_active_for(id, signal, is_active),
        };
        let mut room = wood_with(1, PERIOD, ServerConfig::default());
        let (id, far) = (room.guests[0].id, room.server.spawn(beast(FAR)));
        room.settle();
        (0..PERIOD).for_each(|_| _ = room.step());
        room.server[far].signal = 1;
        (0..ticks_before).for_each(|_| _ = room.step());
        switch(&mut room.server, id, far, false);
        (0..ticks_hidden).for_each(|_| _ = room.step());
        switch(&mut room.server, id, far, true);
        (0..3 * PERIOD).for_each(|_| _ = room.step());
        assert_eq!(
            room.client()[far].signal,
            1,
            "hidden after {ticks_before}, for {ticks_hidden} ticks, for all: {for_all}"
        );
    }
}

#[test]
fn r2_s187_a_lost_change_of_an_array_is_sent_again_with_the_elements_that_wait_for_the_band() {
    const PERIOD: u16 = 30;
    for lost in 1..=PERIOD {
        let mut room = wood_with(1, PERIOD, ServerConfig::default());
        let far = room.server.spawn(Beast { tail: (0..6).collect(), ..beast(FAR) });
        let near = room.server.spawn(beast(NEAR));
        room.settle();
        (0..PERIOD).for_each(|_| _ = room.step());
        room.server[far].tail.truncate(3);
        (0..lost).for_each(|_| _ = room.tick());
        room.server[far].tail.extend(10..15);
        for health in 1..u32::from(PERIOD) {
            // The acks of these changes show that the change of the array was lost.
            room.server[near].health = health;
            room.step();
        }
        room.settle();
        (0..PERIOD).for_each(|_| _ = room.step());
        room.settle();
        assert_eq!(room.client()[far].tail, [0, 1, 2, 10, 11, 12, 13, 14], "{lost}");
    }
}

#[test]
fn s192_s187_what_waits_for_its_band_when_room_becomes_short_arrives() {
    for delay in 0..u32::from(FAR_TICKS) {
        let mut room = wood(1);
        let far = [FAR; 9].map(|x| room.server.spawn(beast(x)));
        let near: Vec<_> = (0..200).map(|_| room.server.spawn(beast(NEAR))).collect();
        room.settle();
        (0..delay).for_each(|_| _ = room.step());
        room.server.connection(room.guests[0].id).set_budget(5_000);
        far.iter().for_each(|&beast| room.server[beast].health = 5);
        for _ in 0..2 * FAR_TICKS {
            room.step();
            near.iter().for_each(|&beast| room.server[beast].health += 1);
        }
        room.server.connection(room.guests[0].id).set_budget(usize::MAX);
        room.settle();
        assert!(far.iter().all(|&beast| health(&room, 0, beast) == Some(5)), "{delay}");
    }
}

#[test]
fn s192_a_single_change_of_what_a_client_sees_in_its_own_way_waits_for_room() {
    let mut room = wood(1);
    let (id, beasts) = (room.guests[0].id, [NEAR; 900].map(|x| room.server.spawn(beast(x))));
    beasts.iter().for_each(|&beast| _ = room.server.object(beast).set_owner(Some(id)));
    room.settle();
    room.server.connection(id).set_budget(3_000);
    beasts.iter().for_each(|&beast| room.server[beast].health = 5);
    (0..10).for_each(|_| _ = room.step());
    assert!(beasts.iter().any(|&beast| health(&room, 0, beast) == Some(0)), "not all fit");
    room.server.connection(id).set_budget(usize::MAX);
    room.settle();
    assert!(beasts.iter().all(|&beast| health(&room, 0, beast) == Some(5)));
}

#[test]
fn s192_s187_changes_of_a_band_without_room_wait_and_none_starves() {
    for seed in 0..6 {
        let (mut room, mut rng) = (wood(2), Rng::new(seed));
        let beasts: Vec<_> =
            (0..120).map(|at| room.server.spawn(beast(if at % 3 == 0 { NEAR } else { FAR }))).collect();
        room.settle();
        // The budget is enough for about fifteen objects in a tick.
        room.server.connection(room.guests[0].id).set_budget(10_000);
        for _ in 0..300 {
            beasts.iter().for_each(|&beast| room.server[beast].health += 1);
            lossy_tick(&mut room, &mut rng, 0.1);
        }
        let oldest = beasts.iter().map(|&beast| health(&room, 0, beast)).min().expect("there are beasts");
        assert!(oldest > Some(150), "the last update that a beast received was the one of tick {oldest:?}");
        room.server.connection(room.guests[0].id).set_budget(usize::MAX);
        room.settle();
        assert!((0..2).all(|guest| beasts.iter().all(|&beast| health(&room, guest, beast) == Some(300))));
    }
}

#[test]
fn s207_what_changes_in_a_band_does_not_sleep_before_the_change_has_arrived() {
    for seed in 0..30 {
        let (mut room, mut rng) = (wood(2), Rng::new(seed));
        room.server.connection(room.guests[1].id).set_viewpoints(&[[FAR, 0.0, 0.0]]);
        let beasts: Vec<_> = (0..8).map(|_| room.server.spawn(beast(FAR))).collect();
        beasts.iter().for_each(|&beast| _ = room.server.object(beast).set_dormancy(Dormancy::All));
        room.settle();
        for _ in 0..60 {
            if rng.chance(0.3) {
                let beast = *rng.pick(&beasts).expect("there are beasts");
                room.server[beast].health += 1;
            }
            lossy_tick(&mut room, &mut rng, 0.2);
            for guest in 0..2 {
                let id = room.guests[guest].id;
                for &beast in beasts.iter().filter(|&&beast| room.server.object_info(beast).is_asleep_for(id))
                {
                    assert_eq!(health(&room, guest, beast), Some(room.server[beast].health), "seed {seed}");
                }
            }
        }
        (0..3 * FAR_TICKS).for_each(|_| room.settle());
        for &beast in &beasts {
            assert!(
                (0..2).all(|guest| room.guests[guest].client.object_info(beast).is_asleep()),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn s207_what_goes_out_of_sight_asleep_comes_back_with_its_changes_and_sleeps_again() {
    for seed in 0..20 {
        let (mut room, mut rng) = (wood(1), Rng::new(seed));
        let sleeper = room.server.spawn(beast(NEAR));
        room.server.object(sleeper).set_dormancy(Dormancy::All);
        for round in 1..6 {
            room.settle();
            assert!(
                room.client().object_info(sleeper).is_asleep()
                    && room.server.object_info(sleeper).is_asleep_for(room.guests[0].id)
            );
            room.server.connection(room.guests[0].id).set_viewpoints(&[[5_000.0, 0.0, 0.0]]);
            // The next tick decides that the object is out of sight.
            (0..1 + rng.below(11)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            let changes = rng.chance(0.5);
            room.server[sleeper].health = if changes { round } else { room.server[sleeper].health };
            (0..rng.below(3)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            if rng.chance(0.5) {
                room.settle();
            }
            assert!(
                !room.server.object_info(sleeper).is_asleep_for(room.guests[0].id),
                "what is out of sight does not sleep"
            );
            room.server.connection(room.guests[0].id).set_viewpoints(&[[0.0; 3]]);
            (0..rng.below(12)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            room.settle();
            assert_eq!(health(&room, 0, sleeper), Some(room.server[sleeper].health), "seed {seed}");
        }
    }
}

#[test]
fn s207_elements_that_were_lost_and_are_hidden_now_delay_neither_sleep_nor_a_tear_off() {
    for tears_off in [false, true] {
        let mut room = wood(1);
        let one = room.server.spawn(beast(NEAR));
        room.server.object(one).set_owner(Some(room.guests[0].id));
        room.settle();
        room.server[one].plans.push(1);
        room.tick();
        room.server.object(one).set_owner(None);
        room.lose_until_noticed(0);
        room.settle();
        if tears_off {
            room.server.object(one).tear_off();
        } else {
            room.server.object(one).set_dormancy(Dormancy::All);
        }
        room.settle();
        let client = room.client();
        assert_eq!(
            (client.object_info(one).is_torn_off(), client.object_info(one).is_asleep()),
            (tears_off, !tears_off)
        );
    }
}

#[test]
fn s206_a_client_is_told_that_an_object_never_sleeps_now_even_if_the_change_that_woke_it_is_hidden() {
    let mut room = wood(1);
    let (one, id) = (room.server.spawn(beast(NEAR)), room.guests[0].id);
    let signal = Beast::LAYOUT.property("signal");
    room.server.object(one).set_dormancy(Dormancy::All);
    room.settle();
    assert!(room.client().object_info(one).is_asleep());
    room.server.connection(id).pause();
    room.server[one].signal = 1;
    room.step();
    room.server.object(one).set_custom_active(signal, false);
    room.server.connection(id).resume();
    room.server.object(one).set_dormancy(Dormancy::Awake);
    room.settle();
    assert!(!room.client().object_info(one).is_asleep() && !room.server.object_info(one).is_asleep_for(id));
}

#[test]
fn s207_an_object_is_not_asleep_while_a_property_that_was_switched_on_waits_for_the_end_of_a_pause() {
    let mut room = wood(1);
    let (one, id) = (room.server.spawn(beast(NEAR)), room.guests[0].id);
    let signal = Beast::LAYOUT.property("signal");
    room.server.object(one).set_custom_active_for(id, signal, false);
    room.server.object(one).set_dormancy(Dormancy::All);
    room.server[one].signal = 1;
    room.settle();
    assert!(room.server.object_info(one).is_asleep_for(id));
    room.server.connection(id).pause();
    room.server.object(one).set_custom_active_for(id, signal, true);
    room.step();
    assert!(!room.server.object_info(one).is_asleep_for(id), "the client lacks the signal");
    room.server.connection(id).resume();
    room.settle();
    assert!(room.server.object_info(one).is_asleep_for(id) && room.client()[one].signal == 1);
}

#[test]
fn s210_what_sleeps_is_torn_off_with_its_last_state() {
    for (changes, loses) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut room = wood(1);
        let sleeper = room.server.spawn(beast(NEAR));
        room.server.object(sleeper).set_dormancy(Dormancy::All);
        room.settle();
        assert!(room.client().object_info(sleeper).is_asleep());
        torn_off(&mut room, 0);
        room.server[sleeper].health = if changes { 5 } else { 0 };
        room.server.object(sleeper).tear_off();
        if loses {
            room.lose_until_noticed(0);
        }
        room.settle();
        assert_eq!(torn_off(&mut room, 0), [sleeper.erase()]);
        assert_eq!(health(&room, 0, sleeper), Some(if changes { 5 } else { 0 }));
        assert!(!room.client().object_info(sleeper).is_asleep(), "what is torn off does not sleep");
    }
}

#[test]
fn s210_s193_a_tear_off_waits_for_the_end_of_a_pause() {
    for despawns in [false, true] {
        let mut room = wood(1);
        let (one, id) = (room.server.spawn(beast(FAR)), room.guests[0].id);
        room.settle();
        room.server.connection(id).pause();
        room.server[one].health = 3;
        room.server.object(one).tear_off();
        (0..40).for_each(|_| _ = room.step());
        assert!(!room.client().object_info(one).is_torn_off() && health(&room, 0, one) == Some(0));
        if despawns {
            room.server.despawn(one);
        }
        room.server.connection(id).resume();
        room.lose_until_noticed(0);
        room.settle();
        assert!(room.client().object_info(one).is_torn_off());
        assert_eq!(health(&room, 0, one), Some(3));
    }
}

#[test]
fn s210_the_slots_of_torn_off_objects_are_used_again_and_the_client_keeps_all() {
    for seed in 0..10 {
        let (mut room, mut rng, mut kept) = (wood(1), Rng::new(seed), Vec::new());
        for round in 0..12 {
            let one = room.server.spawn(Beast { health: round, ..beast(NEAR) });
            if round % 3 == 0 {
                room.server.object(one).set_dormancy(Dormancy::All);
            }
            (0..rng.below(8)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            room.server[one].health += 100;
            room.server.object(one).tear_off();
            (0..rng.below(8)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            room.settle();
            room.server[one].health = 9_999;
            kept.push((one, round + 100));
            room.server.despawn(one);
            (0..rng.below(4)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.4));
            for &(one, last) in &kept {
                assert!(
                    room.client().object_info(one).is_torn_off() && health(&room, 0, one) == Some(last),
                    "seed {seed}"
                );
            }
            room.settle();
        }
        let slots: std::collections::BTreeSet<u32> =
            kept.iter().filter_map(|(one, _)| one.guid()).map(|guid| guid.slot()).collect();
        assert!(slots.len() < kept.len(), "slots are used again");
    }
}

#[test]
fn s210_a_subobject_that_was_torn_off_before_its_object_keeps_its_own_last_state() {
    let mut room = wood(1);
    let one = room.server.spawn(beast(NEAR));
    let rider = room.server.object(one).spawn_subobject(beast(NEAR)).expect("a beast");
    room.settle();
    room.server[rider].health = 1;
    room.server.object(rider).tear_off();
    room.tick();
    room.server[rider].health = 2;
    room.server.object(one).tear_off();
    room.lose_until_noticed(0);
    room.settle();
    assert!(room.client().object_info(rider).is_torn_off() && room.client().object_info(one).is_torn_off());
    assert_eq!(health(&room, 0, rider), Some(1));
}

#[test]
fn s210_clients_are_told_of_subobjects_before_their_object_whatever_is_lost() {
    for seed in 0..60 {
        // The changes of one tick need many packets, and the riders are in the last of them.
        let config = ServerConfig { mtu_bytes: 160, ..ServerConfig::default() };
        let (mut room, mut rng) = (wood_of(2, config), Rng::new(seed));
        let one = room.server.spawn(beast(NEAR));
        let others: Vec<_> = (0..60).map(|_| room.server.spawn(beast(NEAR))).collect();
        let riders = [0, 1].map(|_| room.server.object(one).spawn_subobject(beast(NEAR)).expect("a beast"));
        (0..rng.below(6)).for_each(|_| lossy_tick(&mut room, &mut rng, 0.5));
        room.server.object(one).tear_off();
        for _ in 0..150 {
            others.iter().for_each(|&other| room.server[other].health += 1);
            lossy_tick(&mut room, &mut rng, 0.5);
            for guest in &room.guests {
                let is_told = guest.client.object_info(one).is_torn_off();
                let has_riders = riders.iter().all(|&rider| guest.client.object_info(rider).is_torn_off());
                assert!(!is_told || has_riders, "seed {seed}");
            }
        }
        room.settle();
        assert!(room.guests.iter().all(|guest| guest.client.object_info(one).is_torn_off()), "seed {seed}");
    }
}

#[test]
fn s210_subobjects_that_are_being_torn_off_are_hidden_with_their_object() {
    for arrives in [false, true] {
        let mut room = wood(1);
        let one = room.server.spawn(beast(NEAR));
        let rider = room.server.object(one).spawn_subobject(beast(NEAR)).expect("a beast");
        if arrives {
            room.settle();
        }
        room.server.object(one).tear_off();
        room.server.object(one).set_visible(room.guests[0].id, false);
        room.settle();
        assert!(!room.client().contains(one) && !room.client().contains(rider), "arrives {arrives}");
    }
}

/// Changes all beasts for some ticks without losses. Returns how many changes a guest has received of beasts
/// that are near, and of those that are far.
fn received_changes(room: &mut Room, beasts: &[ObjectRef<Beast>], ticks: u32) -> [u32; 2] {
    let mut found = [0; 2];
    for _ in 0..ticks {
        let before: Vec<_> = beasts.iter().map(|&beast| health(room, 0, beast)).collect();
        beasts.iter().for_each(|&beast| room.server[beast].health += 1);
        room.step();
        for (&beast, before) in beasts.iter().zip(before) {
            let is_far = room.server[beast].position[0] == FAR;
            found[usize::from(is_far)] += u32::from(health(room, 0, beast) != before);
        }
    }
    found
}

#[test]
fn s187_s189_far_objects_keep_their_period_after_a_shortage() {
    const TICKS: u32 = 20 * FAR_TICKS as u32;
    for dip in [100_000, 2_000] {
        let mut room = wood(1);
        let id = room.guests[0].id;
        room.server.connection(id).set_budget(dip);
        let beasts: Vec<_> =
            (0..100).map(|at| room.server.spawn(beast(if at < 5 { NEAR } else { FAR }))).collect();
        for _ in 0..30 {
            beasts.iter().for_each(|&beast| room.server[beast].health += 1);
            room.step();
        }
        // The budget is larger than the due changes of a tick, and smaller than all changes together.
        room.server.connection(id).set_budget(30_000);
        received_changes(&mut room, &beasts, 2 * u32::from(FAR_TICKS));
        let [near, far] = received_changes(&mut room, &beasts, TICKS);
        assert_eq!(near, 5 * TICKS, "each change of what is near arrives in its tick");
        let due = 95 * TICKS / u32::from(FAR_TICKS);
        assert!(far.abs_diff(due) <= 95, "{far} of {due} changes of what is far");
        room.settle();
        assert!(beasts.iter().all(|&beast| health(&room, 0, beast) == Some(room.server[beast].health)));
    }
}

#[test]
fn s187_s193_far_objects_keep_their_period_when_connections_take_turns() {
    const TICKS: u32 = 20 * FAR_TICKS as u32;
    let mut room = wood_of(3, ServerConfig { connections_per_tick: 1, ..ServerConfig::default() });
    let beasts = [NEAR, FAR].map(|x| room.server.spawn(beast(x)));
    room.settle();
    let [near, far] = received_changes(&mut room, &beasts, TICKS);
    assert!(near.abs_diff(TICKS / 3) <= 1, "{near} changes in every third tick of {TICKS}");
    assert!(far.abs_diff(TICKS / u32::from(FAR_TICKS)) <= 1, "{far} changes");
    room.settle();
    assert!(beasts.iter().all(|&beast| health(&room, 0, beast) == Some(TICKS)));
}

#[test]
fn s187_a_change_that_waits_for_its_band_is_not_sent_because_of_it() {
    let mut room = wood(1);
    let id = room.guests[0].id;
    let far = room.server.spawn(beast(FAR));
    room.settle();
    let mut reasons = Vec::new();
    for _ in 0..2 * FAR_TICKS {
        room.server[far].health += 1;
        room.step();
        let has_all = health(&room, 0, far) == Some(room.server[far].health);
        let reason = room.server.object_info(far).why_not_sent_to(id).expect("both exist");
        assert_eq!(reason, if has_all { NotSent::NothingChanged } else { NotSent::Band });
        reasons.push(reason);
    }
    assert_eq!(reasons.iter().filter(|reason| **reason == NotSent::NothingChanged).count(), 2);
}
