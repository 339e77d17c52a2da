//! Update rates: a changed object is compared only at its next update time, and other objects do not wait.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::{Room, TICK};
use repl::prelude::*;

/// An object that changes often.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Creature {
    #[replicated]
    health: u32,
    #[replicated(push)]
    mood: u32,
    #[replicated(condition = InitialOnly)]
    name: u32,
    #[replicated(condition = Custom)]
    trace: u32,
    heard: u32,
}

#[rpcs]
impl Creature {
    #[rpc(multicast, reliable)]
    fn roar(call: &mut MulticastCall<'_, Self>, volume: u32) {
        call.heard = volume;
    }
}

const RATE: Duration = Duration::from_millis(160);
/// The ticks in an interval of `RATE`.
const INTERVAL: u32 = 10;

fn register(client: &mut Client) {
    client.register::<Creature>().register_calls::<Creature>();
}

/// Returns a room with a guest, and creatures that are compared once in `INTERVAL` ticks.
fn room(creatures: usize) -> (Room, Vec<ObjectRef<Creature>>) {
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Creature>().register_calls::<Creature>();
        server.class::<Creature>().set_update_rate(UpdateRate::every(RATE));
        (0..creatures).map(|_| server.spawn(Creature::default())).collect()
    })
}

fn shown(room: &Room, object: ObjectRef<Creature>) -> u32 {
    room.client().get(object).expect("it is here").health
}

#[test]
fn s186_s187_each_object_is_sent_once_in_an_interval_and_not_all_in_one_tick() {
    let (mut room, creatures) = room(200);
    let mut sent: BTreeMap<ObjectRef<()>, u32> = BTreeMap::new();
    let mut most = 0;
    let before: Vec<u32> = creatures.iter().map(|&creature| shown(&room, creature)).collect();
    let mut last = before;
    for value in 1..=5 * INTERVAL {
        creatures.iter().for_each(|&creature| room.server[creature].health = value);
        room.step();
        let now: Vec<u32> = creatures.iter().map(|&creature| shown(&room, creature)).collect();
        let mut count = 0;
        for (at, creature) in creatures.iter().enumerate().filter(|(at, _)| now[*at] != last[*at]) {
            assert_eq!(now[at], value, "the newest value is sent");
            *sent.entry(creature.erase()).or_default() += 1;
            count += 1;
        }
        most = most.max(count);
        last = now;
    }
    assert!(sent.len() == 200 && sent.values().all(|&count| count == 5), "{sent:?}");
    assert!(most <= 200 / INTERVAL as usize + 4, "{most} creatures in one tick");
}

#[test]
fn s187_a_change_that_waits_arrives_within_an_interval_though_nobody_touches_the_object_again() {
    let (mut room, creatures) = room(50);
    for (round, &creature) in creatures.iter().enumerate() {
        let value = round as u32 + 1;
        match round % 3 {
            0 => room.server[creature].health = value,
            1 => room.server.objects_mut::<Creature>().for_each(|(object, entry)| {
                entry.health = if object == creature { value } else { entry.health };
            }),
            _ => {
                room.server[creature].health = value;
                room.server[creature].mood = value;
                room.server.object(creature).mark_dirty(Creature::LAYOUT.property("mood"));
            }
        }
        let mut steps = 0;
        while shown(&room, creature) != value {
            room.step();
            steps += 1;
            assert!(steps <= INTERVAL, "within an interval");
        }
        if round % 3 == 2 {
            assert_eq!(room.client().get(creature).expect("it is here").mood, value);
        }
    }
}

#[test]
fn s186_what_waits_sends_nothing_until_its_time() {
    let (mut room, creatures) = room(1);
    room.server.object(creatures[0]).set_update_rate(Some(UpdateRate::every(Duration::from_secs(60))));
    let idle: usize = (0..60).map(|_| room.step()).sum();
    let waiting: usize = (0..60)
        .map(|value| {
            room.server[creatures[0]].health = value + 1;
            room.step()
        })
        .sum();
    assert!(waiting <= idle, "{waiting} bytes instead of {idle}");
    room.server.object(creatures[0]).force_update();
    room.step();
    assert_eq!(shown(&room, creatures[0]), 60, "a forced update does not wait");
    room.server[creatures[0]].health = 61;
    room.step();
    assert_eq!(shown(&room, creatures[0]), 60, "it was forced only once");
    room.server.object(creatures[0]).set_update_rate(Some(UpdateRate::EACH_TICK));
    room.step();
    assert_eq!(shown(&room, creatures[0]), 61);
    room.server.object(creatures[0]).set_update_rate(None);
    room.server[creatures[0]].health = 62;
    (0..INTERVAL).for_each(|_| _ = room.step());
    assert_eq!(shown(&room, creatures[0]), 62, "it has the rate of its class again");
}

#[test]
fn s187_openings_removals_owners_conditions_and_calls_do_not_wait() {
    let (mut room, creatures) = room(2);
    let (creature, id) = (creatures[0], room.guests[0].id);
    room.server.class::<Creature>().set_update_rate(UpdateRate::every(Duration::from_secs(60)));
    let newborn = room.server.spawn(Creature { health: 5, name: 6, ..Creature::default() });
    room.server.object(creature).set_owner(Some(id));
    room.server.call(creature).roar(7).expect("there is room");
    room.step();
    let client = room.client();
    assert_eq!(client.get(newborn).map(|newborn| (newborn.health, newborn.name)), Some((5, 6)));
    assert!(client.object_info(creature).is_owner());
    room.step();
    assert_eq!(room.client().get(creature).map(|creature| creature.heard), Some(7));
    let trace = Creature::LAYOUT.property("trace");
    room.server.object(creature).set_custom_active(trace, false);
    room.server[creature].trace = 9;
    room.step();
    room.server.object(creature).set_custom_active(trace, true);
    room.step();
    assert_eq!(room.client().get(creature).map(|creature| creature.trace), Some(9), "S45 does not wait");
    room.server[newborn].health = 8;
    room.server.despawn(newborn);
    room.step();
    assert!(!room.client().contains(newborn));
    let next = room.server.spawn(Creature { health: 1, ..Creature::default() });
    room.settle();
    assert_eq!(shown(&room, next), 1, "nothing is left of the object that was in its slot");
}

#[test]
fn s186_s40_a_client_that_joins_receives_what_waits_with_the_opening_or_at_its_time() {
    let (mut room, creatures) = room(20);
    for &creature in &creatures {
        let creature = &mut room.server[creature];
        (creature.health, creature.name) = (3, 4);
    }
    room.enter();
    let mut steps = 0;
    while !creatures.iter().all(|&creature| room.guests[1].client.contains(creature)) {
        room.step();
        steps += 1;
        assert!(steps < 6, "openings do not wait");
    }
    (0..INTERVAL).for_each(|_| _ = room.step());
    for &creature in &creatures {
        let late = room.guests[1].client.get(creature).expect("it is here");
        assert_eq!((late.health, late.name), (3, 4));
    }
    room.settle();
}

#[test]
fn s187_a_rate_that_an_object_gets_when_it_is_spawned_does_not_delay_its_first_values() {
    let (mut room, _) = room(0);
    room.server.class::<Creature>().set_update_rate(UpdateRate::default());
    for second in 0..20 {
        let object = room.server.spawn(Creature { health: 7 + second, ..Creature::default() });
        room.server.object(object).set_update_rate(Some(UpdateRate::per_second(1.0)));
        room.step();
        assert_eq!(shown(&room, object), 7 + second);
    }
    // The last state of an object that is torn off does not wait either.
    let object = room.server.spawn(Creature::default());
    room.settle();
    room.server[object].health = 3;
    room.server.object(object).tear_off();
    room.server.object(object).set_update_rate(Some(UpdateRate::per_second(0.1)));
    room.settle();
    assert!(room.client().object_info(object).is_torn_off());
    assert_eq!(shown(&room, object), 3);
}

#[test]
fn s187_the_next_object_of_a_slot_does_not_have_the_rate_of_the_last_one() {
    let (mut room, _) = room(0);
    room.server.class::<Creature>().set_update_rate(UpdateRate::default());
    let slow = room.server.spawn(Creature::default());
    room.server.object(slow).set_update_rate(Some(UpdateRate::per_second(0.1)));
    room.settle();
    room.server.despawn(slow);
    room.settle();
    let next = room.server.spawn(Creature::default());
    assert_eq!(next.guid().map(|guid| guid.slot()), slow.guid().map(|guid| guid.slot()));
    room.settle();
    for health in 1..20 {
        room.server[next].health = health;
        room.step();
        assert_eq!(shown(&room, next), health);
    }
}

#[test]
fn s187_an_adaptive_object_is_sent_less_often_after_silence_and_in_each_interval_while_it_changes() {
    let (mut room, creatures) = room(1);
    let rate = UpdateRate::every(TICK).slowing_to(Duration::from_secs(2));
    room.server.object(creatures[0]).set_update_rate(Some(rate));
    let delay = |room: &mut Room, value: u32| {
        room.server[creatures[0]].health = value;
        let mut steps = 0;
        while shown(room, creatures[0]) != value {
            room.step();
            steps += 1;
            assert!(steps < 1_000, "the change is lost");
        }
        steps
    };
    assert_eq!(delay(&mut room, 1), 1);
    let silence = |room: &mut Room, time: Duration| {
        (0..time.as_millis() / TICK.as_millis()).for_each(|_| _ = room.step())
    };
    silence(&mut room, Duration::from_secs(7));
    let slow: u32 = (2..12)
        .map(|value| {
            let steps = delay(&mut room, value);
            silence(&mut room, Duration::from_secs(7));
            steps
        })
        .sum();
    assert!(
        (30 * 10..=126 * 10).contains(&slow),
        "about half of 2 s on average, not {slow} ticks for ten changes"
    );
    for value in 100..400 {
        delay(&mut room, value);
    }
    assert_eq!(delay(&mut room, 400), 1, "changes in each tick bring the shortest interval back");
    room.settle();
}

#[test]
fn s186_rates_of_objects_outside_the_server_hold_their_differences() {
    let mut room =
        Room::measuring(|| Room::new(ServerConfig::default(), |client| _ = client.register::<Creature>()));
    room.server.register_external::<Creature>();
    room.server.class::<Creature>().set_update_rate(UpdateRate::every(RATE));
    let mut creature = Creature::default();
    let object = room.server.external().spawn(&creature);
    room.enter();
    room.settle();
    for value in 1..=30 {
        creature.health = value;
        room.server.external().compare(object, &creature).expect("it exists");
        room.step();
    }
    assert!(room.updates::<Creature>(0, "health") <= 4, "three intervals");
    (0..INTERVAL).for_each(|_| _ = room.step());
    assert_eq!(shown(&room, object), 30);
}

#[test]
#[should_panic(expected = "a rate is a positive number of updates in a second, not 0")]
fn a_rate_of_zero_is_refused() {
    _ = UpdateRate::per_second(0.0);
}

#[test]
#[should_panic(expected = "`Creature` is not registered")]
fn a_rate_of_an_unknown_class_is_refused() {
    Server::new(ServerConfig::default()).class::<Creature>().set_update_rate(UpdateRate::EACH_TICK);
}
