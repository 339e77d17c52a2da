//! Reported: <https://github.com/FirstGearGames/FishNet/issues/692> (and issue 945 there), and
//! <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/issues/1052>.
//!
//! An object gets a value and is despawned in the same tick. The client gets the removal and not the value.
//! Users expect the values that were written before the despawn, for example a death with health 0.
//!
//! In two situations of these reports, this library behaves differently. A value that is written before an
//! object is *hidden* does not arrive: the client keeps its old value, because packets contain nothing that
//! the client may not see (`hidden_and_shown`). A call to the owner does not arrive either if the owner
//! changes in the same tick, because such calls are for the client that owns the object when the packet is
//! made.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Audience, UpdateRate};

use crate::step_losing;
use crate::support::{Room, leaks, size};

#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated(max_len = 30000)]
    scars: Vec<u8>,
    #[replicated]
    items: FastArray<Item>,
    #[replicated(condition = OwnerOnly)]
    secret: u32,
    #[replicated(location)]
    at: [f32; 3],
    heard: Vec<u16>,
}

#[derive(FastArrayItem, Default, Clone, PartialEq, Debug)]
struct Item {
    #[replicated]
    number: u16,
}

impl Player {
    fn on_health(&mut self) {
        self.heard.push(self.health);
    }
}

const TEAM: Group = Group(3);

fn room() -> (Room, ObjectRef<Player>) {
    let register = |client: &mut Client| _ = client.register::<Player>();
    let (mut room, player) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Player>().class::<Player>().set_area(Area::within(100.0));
        let player = server.spawn(Player { health: 100, ..Player::default() });
        server.object(player).set_relevancy(Relevancy::Always);
        player
    });
    room.polled(0);
    (room, player)
}

/// Polls the updates of a client up to the end of an object. Returns the object as it was then.
fn departed(room: &mut Room, player: ObjectRef<Player>) -> Option<Player> {
    let client = &mut room.guests[0].client;
    while let Some(update) = client.poll_update() {
        if matches!(update.what, UpdateKind::Despawned(_)) && update.object == player.erase() {
            return client.object_info(player).departed().cloned();
        }
    }
    None
}

#[test]
fn s86_the_last_value_before_a_despawn_arrives_with_it() {
    for losses in [0, 1, 4] {
        let (mut room, player) = room();
        room.server[player].health = 7;
        room.server[player].items.push(Item { number: 5 });
        room.server.despawn(player);
        assert!(!room.server.contains(player));
        (0..losses).for_each(|_| step_losing(&mut room, true, false));
        room.settle();
        let last = departed(&mut room, player).expect("it was there");
        assert_eq!(
            (last.health, last.items.len(), &*last.heard),
            (7, 1, &[100, 7][..]),
            "its notify ran once"
        );
        assert_eq!(room.polled(0), []);
    }
}

/// An object of which all clients see the same properties.
#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Shot {
    #[replicated]
    damage: u16,
}

#[test]
fn s86_the_last_value_of_a_plain_object_arrives_and_its_silence_too() {
    for (changes_after, losses) in [(None, 0), (Some(0), 0), (Some(0), 3), (Some(1), 0), (Some(1), 3)] {
        let register = |client: &mut Client| _ = client.register::<Shot>();
        let (mut room, shot) =
            Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Shot { damage: 9 }));
        let expected = changes_after.map_or(9, |_| 30);
        if let Some(ticks) = changes_after {
            room.server[shot].damage = 30;
            (0..ticks).for_each(|_| step_losing(&mut room, true, false));
        }
        room.server.despawn(shot);
        (0..losses).for_each(|_| step_losing(&mut room, true, false));
        room.settle();
        assert!(!room.client().contains(shot));
        let mut departed = None;
        while let Some(update) = room.guests[0].client.poll_update() {
            if matches!(update.what, UpdateKind::Despawned(_)) {
                departed = room.client().object_info(shot).departed().cloned();
            }
        }
        assert_eq!(departed, Some(Shot { damage: expected }), "{changes_after:?}, {losses} losses");
    }
}

#[test]
fn the_last_value_some_ticks_before_a_despawn_arrives_in_spite_of_a_loss() {
    for ticks in 1..5 {
        let (mut room, player) = room();
        room.server[player].health = 3;
        (0..ticks).for_each(|_| step_losing(&mut room, true, false));
        room.server.despawn(player);
        room.settle();
        assert_eq!(departed(&mut room, player).map(|last| last.health), Some(3), "after {ticks} ticks");
    }
}

#[test]
fn a_despawn_without_changes_costs_what_hiding_costs() {
    let bytes = |end: fn(&mut Room, ObjectRef<Player>)| {
        let (mut room, player) = room();
        end(&mut room, player);
        size(&room.tick_one())
    };
    let hidden = bytes(|room, player| {
        let id = room.guests[0].id;
        room.server.object(player).set_visible(id, false);
    });
    let despawned = bytes(|room, player| room.server.despawn(player));
    let written = bytes(|room, player| {
        room.server[player].health = 100;
        room.server.despawn(player);
    });
    let changed = bytes(|room, player| {
        room.server[player].health = 99;
        room.server.despawn(player);
    });
    assert_eq!((despawned, written), (hidden, hidden));
    assert!(changed > hidden && changed <= hidden + 5, "{changed} and {hidden}");
}

#[test]
fn an_object_that_is_hidden_has_no_last_state() {
    let (mut room, player) = room();
    let id = room.guests[0].id;
    room.server[player].health = 7;
    room.server.object(player).set_visible(id, false);
    room.server.despawn(player);
    room.settle();
    assert_eq!(departed(&mut room, player).map(|last| last.health), Some(100));
}

#[test]
fn an_object_that_a_client_never_had_is_not_opened_for_its_end() {
    let (mut room, _) = room();
    let short = room.server.spawn(Player { health: 10, ..Player::default() });
    room.server[short].health = 5;
    room.server.despawn(short);
    room.settle();
    assert_eq!(room.polled(0), []);
    let lost = room.server.spawn(Player::default());
    room.server.object(lost).set_relevancy(Relevancy::Always);
    step_losing(&mut room, true, false);
    room.server[lost].health = 6;
    room.server.despawn(lost);
    room.settle();
    assert_eq!(room.polled(0), []);
}

#[test]
fn the_conditions_of_that_moment_filter_the_last_state() {
    const SECRET: u32 = 0x5ec_2e7a;
    let (mut room, player) = room();
    let owner = room.enter();
    room.settle();
    room.server.object(player).set_owner(Some(owner));
    room.settle();
    room.server[player].secret = SECRET;
    room.server.despawn(player);
    let packets = room.tick();
    let tells = |packets: &[Vec<u8>]| packets.iter().any(|packet| leaks(packet, &SECRET.to_le_bytes()));
    assert_eq!((tells(&packets[0]), tells(&packets[1])), (false, true));
}

#[test]
fn a_client_that_leaves_the_group_or_the_audience_meanwhile_gets_a_bare_end() {
    const SECRET: u16 = 0xbeef;
    for by_audience in [false, true] {
        let (mut room, player) = room();
        let id = room.guests[0].id;
        room.server.connection(id).join_group(TEAM);
        let mut object = room.server.object(player);
        if by_audience {
            object.set_audience(Audience::Group(TEAM));
        } else {
            object.set_relevancy(Relevancy::Group(TEAM));
        }
        room.settle();
        room.server[player].scars = vec![0xbe, 0xef, 0xbe, 0xef];
        room.server.despawn(player);
        let tells = |packets: &[Vec<u8>]| packets.iter().any(|packet| leaks(packet, &SECRET.to_be_bytes()));
        assert!(tells(&room.tick_one()), "it was in the group");
        room.server.connection(id).leave_group(TEAM);
        for _ in 0..100 {
            assert!(!tells(&room.tick_one()));
        }
        room.settle();
        assert_eq!(departed(&mut room, player).map(|last| last.scars), Some(vec![]));
    }
}

#[test]
fn an_owner_keeps_the_last_state_when_it_leaves_a_group_that_others_need() {
    for (by_audience, expected) in [(false, 0), (true, 100)] {
        let (mut room, player) = room();
        let id = room.guests[0].id;
        room.server.connection(id).join_group(TEAM);
        let mut object = room.server.object(player);
        object.set_owner(Some(id)).set_relevancy(Relevancy::Group(TEAM));
        if by_audience {
            object.set_audience(Audience::Group(TEAM));
        }
        room.settle();
        room.server[player].health = 0;
        room.server.despawn(player);
        room.server.connection(id).leave_group(TEAM);
        room.settle();
        assert_eq!(departed(&mut room, player).map(|last| last.health), Some(expected), "{by_audience}");
    }
}

#[test]
fn a_value_that_waits_for_the_update_rate_of_its_object_arrives_with_the_despawn() {
    let (mut room, player) = room();
    room.server.object(player).set_update_rate(Some(UpdateRate::per_second(0.5)));
    room.settle();
    room.server[player].health = 7;
    (0..200).for_each(|_| step_losing(&mut room, false, false));
    room.server[player].health = 0;
    (0..3).for_each(|_| step_losing(&mut room, false, false));
    assert_eq!(room.client()[player].health, 7, "it waits");
    room.server.despawn(player);
    room.settle();
    assert_eq!(departed(&mut room, player).map(|last| last.health), Some(0));
}

#[test]
fn s43_items_that_an_opening_left_out_arrive_with_a_despawn_before_its_ack() {
    let (mut room, _) = room();
    let items = (0..5_000).map(|number| Item { number });
    let new = Player { items: items.collect(), ..Player::default() };
    let new = room.server.spawn(new);
    room.server.object(new).set_relevancy(Relevancy::Always);
    step_losing(&mut room, false, true);
    room.server.despawn(new);
    room.settle();
    assert_eq!(departed(&mut room, new).map(|last| last.items.len()), Some(5_000));
}

#[test]
fn r17_a_last_state_that_takes_longer_than_four_timeouts_arrives_as_long_as_parts_of_it_do() {
    let register = |client: &mut Client| _ = client.register::<Player>();
    let config = ServerConfig { timeout: Duration::from_millis(100), ..ServerConfig::default() };
    let (mut room, player) = Room::furnished(config, register, 1, |server| {
        server.spawn(Player { health: 100, ..Player::default() })
    });
    room.server[player].scars = (0..20_000).map(|index| index as u8).collect();
    room.server.despawn(player);
    let id = room.guests[0].id;
    room.server.connection(id).set_budget(6_000);
    let started = room.now;
    let last = std::iter::from_fn(|| {
        step_losing(&mut room, false, false);
        (room.now - started < Duration::from_secs(20)).then(|| departed(&mut room, player))
    });
    assert_eq!(last.flatten().next().map(|last| last.scars.len()), Some(20_000));
    assert!(room.now - started > Duration::from_secs(2), "{:?}", room.now - started);
    assert_eq!(room.closed(0), None);
}

#[test]
fn r15_a_last_state_that_is_larger_than_a_packet_arrives_whole() {
    for loses in [false, true] {
        let (mut room, player) = room();
        room.server[player].scars = (0..20_000).map(|index| index as u8).collect();
        room.server.despawn(player);
        step_losing(&mut room, loses, false);
        room.settle();
        assert_eq!(departed(&mut room, player).map(|last| last.scars.len()), Some(20_000));
        assert_eq!(room.polled(0), []);
    }
}

#[test]
fn s210_what_is_torn_off_and_despawned_in_one_tick_stays_with_its_last_state() {
    for losses in [0, 1, 5] {
        let (mut room, player) = room();
        room.server[player].health = 0;
        room.server.object(player).tear_off();
        room.server.despawn(player);
        (0..losses).for_each(|_| step_losing(&mut room, true, false));
        room.settle();
        let told = [UpdateKind::Changed, UpdateKind::TornOff].map(|what| (player.erase(), what));
        assert_eq!(room.polled(0), told);
        let copy = room.client().get(player).expect("it belongs to the client");
        assert_eq!((copy.health, &*copy.heard), (0, &[100, 0][..]));
    }
}

/// Slots and memory are free again when the clients have removed the objects.
#[test]
fn r17_a_slot_is_used_again_after_its_last_state_arrived() {
    let (mut room, player) = room();
    for generation in 2..20 {
        let next = room.server.spawn(Player { health: 1, ..Player::default() });
        room.server.object(next).set_relevancy(Relevancy::Always);
        room.settle();
        room.server[next].health = 2;
        room.server.despawn(next);
        room.settle();
        assert_eq!(departed(&mut room, next).map(|last| last.health), Some(2), "{generation}");
    }
    let info = room.server.connection_info(room.guests[0].id);
    assert_eq!(info.stats().map(|stats| stats.packets_in_flight), Some(0));
    assert!(room.server.contains(player));
}

/// A client with a link that loses half of all packets, in both directions.
struct Lossy {
    room: Room,
    rng: Rng,
    /// The ends of each object, each with the state of the object at its end.
    ends: BTreeMap<ObjectRef<()>, Vec<Option<Player>>>,
    spawned: BTreeMap<ObjectRef<()>, u32>,
}

impl Lossy {
    fn step(&mut self) {
        let packets = self.room.replies(0);
        let kept: Vec<_> = packets.into_iter().filter(|_| self.rng.chance(0.5)).collect();
        self.room.hear(0, &kept);
        let packets = self.room.tick_one();
        let kept: Vec<_> = packets.into_iter().filter(|_| self.rng.chance(0.5)).collect();
        self.room.deliver(0, &kept);
        self.note_updates();
    }

    fn note_updates(&mut self) {
        let client = &mut self.room.guests[0].client;
        while let Some(update) = client.poll_update() {
            match update.what {
                UpdateKind::Spawned => *self.spawned.entry(update.object).or_default() += 1,
                UpdateKind::Despawned(_) => {
                    let player = update.cast::<Player>().expect("all objects are players");
                    let last = client.object_info(player).departed().cloned();
                    self.ends.entry(update.object).or_default().push(last);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_last_state_arrives_in_each_of_1000_runs_that_lose_half() {
    let mut ended = 0;
    for seed in 1..=1_000 {
        let (room, _) = room();
        let mut lossy = Lossy { room, rng: Rng::new(seed), ends: BTreeMap::new(), spawned: BTreeMap::new() };
        let mut last: BTreeMap<ObjectRef<()>, Player> = BTreeMap::new();
        let mut alive: Vec<ObjectRef<Player>> = Vec::new();
        for _ in 0..30 {
            if lossy.rng.chance(0.3) {
                let health = lossy.rng.below(50) as u16;
                let player = lossy.room.server.spawn(Player { health, ..Player::default() });
                lossy.room.server.object(player).set_relevancy(Relevancy::Always);
                alive.push(player);
            }
            for &player in &alive {
                if lossy.rng.chance(0.3) {
                    let number = lossy.rng.below(1_000) as u16;
                    let player = &mut lossy.room.server[player];
                    player.health = number;
                    if number.is_multiple_of(3) {
                        player.items.push(Item { number });
                    } else if number % 3 == 1 && !player.items.is_empty() {
                        player.items[0].number = number;
                    }
                }
            }
            if !alive.is_empty() && lossy.rng.chance(0.2) {
                let player = alive.swap_remove(lossy.rng.below(alive.len() as u64) as usize);
                last.insert(player.erase(), lossy.room.server[player].clone());
                lossy.room.server.despawn(player);
            }
            lossy.step();
        }
        for _ in 0..200 {
            lossy.step();
        }
        lossy.room.settle();
        lossy.note_updates();
        for (object, expected) in last {
            let ends = lossy.ends.remove(&object).unwrap_or_default();
            let begins = lossy.spawned.get(&object).copied().unwrap_or(0) as usize;
            assert_eq!(ends.len(), begins, "seed {seed}: {object:?} ends once if it begins");
            assert!(begins <= 1, "seed {seed}: {object:?} begins once");
            for end in ends {
                let end = end.expect("what has ended can be read until the next update");
                assert_eq!(end.health, expected.health, "seed {seed}: {object:?}");
                let numbers = |player: &Player| {
                    let mut numbers: Vec<u16> = player.items.iter().map(|item| item.number).collect();
                    numbers.sort_unstable();
                    numbers
                };
                assert_eq!(numbers(&end), numbers(&expected), "seed {seed}: {object:?}");
                ended += 1;
            }
        }
        assert!(lossy.ends.is_empty(), "seed {seed}");
    }
    assert!(ended > 2_000, "{ended} objects ended");
}
