//! What is sent first when not everything fits: budgets, priorities and ages.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::support::{Room, SIGN_OF_LIFE_BYTES, TICK, size};
use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, NotSent, Relevancy};

/// An object that changes often.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
pub(super) struct Creature {
    #[replicated]
    pub(super) position: [f32; 2],
    #[replicated]
    pub(super) health: u32,
    #[replicated(push)]
    pub(super) mood: u32,
}

/// An object with a part for its owner.
#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u32,
    #[replicated(condition = OwnerOnly)]
    secret: u32,
}

/// An object with a text.
#[derive(Replicated, Default)]
struct Sign {
    #[replicated]
    text: String,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub(super) struct Chat {
    pub(super) line: u32,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Letter(#[replicated(max_len = 1000)] String);

fn register(client: &mut Client) {
    client.register::<Creature>();
    client.register_message::<Chat>(Channel::Ordered).register_message::<Letter>(Channel::Ordered);
}

fn register_server(server: &mut Server) {
    server.register::<Creature>();
    server.register_message::<Chat>(Channel::Ordered).register_message::<Letter>(Channel::Ordered);
}

/// Returns a room with creatures. The first coordinate of each creature is its number.
pub(super) fn room(
    config: ServerConfig,
    guests: usize,
    creatures: usize,
) -> (Room, Vec<ObjectRef<Creature>>) {
    Room::furnished(config, register, guests, |server| {
        register_server(server);
        (0..creatures)
            .map(|at| server.spawn(Creature { position: [at as f32, 0.0], ..Creature::default() }))
            .collect()
    })
}

/// Writes to all creatures, and runs a tick in which packets are lost with this chance. Returns the bytes to
/// each guest.
pub(super) fn step(
    room: &mut Room,
    creatures: &[ObjectRef<Creature>],
    value: u32,
    loss: f64,
    rng: &mut Rng,
) -> Vec<usize> {
    creatures.iter().for_each(|&creature| room.server[creature].health = value);
    let packets = room.tick();
    let bytes = packets.iter().map(|packets| size(packets)).collect();
    for (guest, packets) in packets.into_iter().enumerate() {
        let arriving: Vec<_> = packets.into_iter().filter(|_| !rng.chance(loss)).collect();
        room.deliver(guest, &arriving);
        let replies = room.replies(guest);
        let arriving: Vec<_> = replies.into_iter().filter(|_| !rng.chance(loss)).collect();
        room.hear(guest, &arriving);
    }
    bytes
}

pub(super) fn shown(room: &Room, guest: usize, creature: ObjectRef<Creature>) -> u32 {
    room.guests[guest].client.get(creature).map_or(0, |creature| creature.health)
}

/// Returns for each creature the greatest age in ticks of the value that the client shows, if the budget is
/// this share of the needed bytes. `favour` is called once for each creature, with the creature's index.
fn oldest(
    share: f64,
    located: bool,
    loss: f64,
    favour: impl Fn(&mut Server, ConnectionId, ObjectRef<Creature>, usize),
) -> Vec<u32> {
    const CREATURES: usize = 400;
    let mut room = Room::new(ServerConfig::default(), register);
    if located {
        room.server.class::<Creature>().locate(Area::within(10_000.0).flat(), |creature: &Creature| {
            [creature.position[0], creature.position[1], 0.0]
        });
    }
    register_server(&mut room.server);
    let creatures: Vec<_> = (0..CREATURES).map(|_| room.server.spawn(Creature::default())).collect();
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    room.settle();
    let mut rng = Rng::new(5);
    let wanted: usize =
        (1..=20).map(|value| step(&mut room, &creatures, 1_000 + value, 0.0, &mut rng)[0]).sum();
    let per_second = wanted as f64 / 20.0 * share / TICK.as_secs_f64();
    room.server.connection(id).set_budget(per_second as usize);
    creatures.iter().enumerate().for_each(|(at, &creature)| favour(&mut room.server, id, creature, at));
    let mut oldest = vec![0; CREATURES];
    for value in 2_000..2_300 {
        step(&mut room, &creatures, value, loss, &mut rng);
        for (at, &creature) in creatures.iter().enumerate() {
            // The first 50 ticks do not count, because the budget takes effect in this time.
            oldest[at] = oldest[at].max(if value < 2_050 { 0 } else { value - shown(&room, 0, creature) });
        }
    }
    // With a small budget, some ticks send nothing although objects wait, so the room would seem at rest.
    room.server.connection(id).set_budget(usize::MAX);
    room.settle();
    assert!(creatures.iter().all(|&creature| shown(&room, 0, creature) == 2_299), "all arrives in the end");
    oldest
}

#[test]
fn s192_s193_nothing_waits_long_if_half_of_the_wanted_bytes_fit() {
    for located in [false, true] {
        let most = oldest(0.5, located, 0.0, |_, _, _, _| {}).into_iter().max().unwrap_or_default();
        assert!((1..=6).contains(&most), "{most} ticks");
        let most = oldest(0.5, located, 0.1, |_, _, _, _| {}).into_iter().max().unwrap_or_default();
        assert!(most <= 30, "{most} ticks with losses");
        let most = oldest(0.1, located, 0.0, |_, _, _, _| {}).into_iter().max().unwrap_or_default();
        assert!(most <= 30, "{most} ticks with a tenth of the bytes");
    }
}

/// Writes to all creatures in each tick. Not quite all of them fit into a tick, and those farther than 400
/// units are in a slow band. Returns how many updates of each creature the second guest received.
fn updates_with_a_short_budget(place: impl Fn(usize) -> [f32; 2]) -> Vec<u32> {
    const CREATURES: usize = 200;
    let mut room = Room::new(ServerConfig::default(), register);
    let area = Area::within(1_000.0).slower_beyond(400.0, 10);
    room.server.class::<Creature>().locate(area, |creature: &Creature| creature.position);
    register_server(&mut room.server);
    let spawn = |at| room.server.spawn(Creature { position: place(at), ..Creature::default() });
    let creatures: Vec<_> = (0..CREATURES).map(spawn).collect();
    let ids = [room.enter(), room.enter()];
    ids.iter().for_each(|&id| _ = room.server.connection(id).set_viewpoints(&[[0.0; 3]]));
    room.settle();
    let mut rng = Rng::new(7);
    let wanted: usize =
        (1..=20).map(|value| step(&mut room, &creatures, 1_000 + value, 0.0, &mut rng)[1]).sum();
    room.server.connection(ids[1]).set_budget((wanted as f64 / 20.0 * 0.95 / TICK.as_secs_f64()) as usize);
    room.polled(1);
    let mut updates = vec![0; CREATURES];
    for value in 2_000..2_200 {
        step(&mut room, &creatures, value, 0.0, &mut rng);
        // Several packets may arrive in a tick, each with a part of one change.
        let changed: BTreeSet<ObjectRef<()>> = room
            .polled(1)
            .into_iter()
            .map(|(object, what)| {
                assert_eq!(what, UpdateKind::Changed);
                object
            })
            .collect();
        for object in changed {
            updates[creatures.iter().position(|creature| creature.erase() == object).unwrap()] += 1;
        }
    }
    updates
}

#[test]
fn s192_what_a_short_budget_lets_through_is_sent_once() {
    let bytes = [0.7, 10.0].map(|share| {
        let (mut room, creatures) = room(ServerConfig::default(), 1, 2_000);
        room.settle();
        let mut rng = Rng::new(3);
        let wanted: usize = (1..=20).map(|value| step(&mut room, &creatures, value, 0.0, &mut rng)[0]).sum();
        let per_second = wanted as f64 / 20.0 * share / TICK.as_secs_f64();
        room.server.connection(room.guests[0].id).set_budget(per_second as usize);
        let sent = (1_000..1_100).map(|value| {
            // In two of five ticks more objects change than the budget allows. In the other three, the rest
            // is sent.
            let changed = if value % 5 < 2 { creatures.as_slice() } else { &[] };
            step(&mut room, changed, value, 0.0, &mut rng)[0]
        });
        sent.sum::<usize>() as f64
    });
    assert!(bytes[0] < bytes[1] * 1.15, "bytes with a short and with a long budget: {bytes:?}");
}

/// Returns the bytes that a client receives while more objects change than its budget allows, if a text of
/// this length changes too.
fn bytes_with_a_text(length: usize) -> usize {
    let register = |client: &mut Client| _ = client.register::<Creature>().register::<Sign>();
    let (mut room, (creatures, sign)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let creatures: Vec<_> = (0..2_000).map(|_| server.spawn(Creature::default())).collect();
        (creatures, server.spawn(Sign::default()))
    });
    room.settle();
    room.server.object(sign).set_priority(Some(1_000.0));
    room.server.connection(room.guests[0].id).set_budget(200_000);
    let mut rng = Rng::new(3);
    let mut bytes = 0;
    for value in 1_000..1_100 {
        let changed = if value < 1_003 { creatures.as_slice() } else { &[] };
        if value == 1_002 {
            room.server[sign].text = "x".repeat(length);
        }
        bytes += step(&mut room, changed, value, 0.0, &mut rng)[0];
    }
    assert_eq!(room.client()[sign].text.len(), length);
    bytes
}

#[test]
fn s192_a_change_that_is_shared_with_nobody_is_sent_once_with_a_short_budget() {
    let without = bytes_with_a_text(0);
    for length in [1_150, 3_000] {
        let bytes = bytes_with_a_text(length).saturating_sub(without);
        assert!(bytes < length * 3 / 2, "{bytes} bytes for a text of {length}");
    }
}

#[test]
fn s192_a_short_budget_does_not_change_the_ticks_of_bands() {
    let is_far = |at: usize| at.is_multiple_of(2);
    let updates = updates_with_a_short_budget(|at| [if is_far(at) { 800.0 } else { 10.0 }, at as f32 / 10.0]);
    let of = |far: bool| {
        updates.iter().enumerate().filter(move |(at, _)| is_far(*at) == far).map(|(_, count)| *count)
    };
    assert!(of(true).all(|count| (15..=21).contains(&count)), "far: {:?}", of(true).collect::<Vec<_>>());
    assert!(of(false).all(|count| count > 150), "near: {:?}", of(false).collect::<Vec<_>>());
}

#[test]
fn s36_s192_a_short_budget_sends_nothing_that_a_condition_forbids() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Player>());
    room.server.register::<Player>();
    let players: Vec<_> = (0..200).map(|_| room.server.spawn(Player::default())).collect();
    let owner = room.enter();
    room.enter();
    players.iter().for_each(|&player| _ = room.server.object(player).set_owner(Some(owner)));
    room.settle();
    room.guests.iter().for_each(|guest| _ = room.server.connection(guest.id).set_budget(10_000));
    for value in 1..100 {
        for &player in &players {
            (room.server[player].health, room.server[player].secret) = (value, value);
        }
        let packets = room.tick();
        packets.into_iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, &packets));
        for guest in 0..2 {
            let replies = room.replies(guest);
            room.hear(guest, &replies);
        }
        assert!(room.guests[1].client.objects::<Player>().all(|(_, player)| player.secret == 0));
    }
    let shown = |guest: usize| room.guests[guest].client.objects::<Player>();
    assert!(shown(1).any(|(_, player)| player.health > 90) && shown(0).any(|(_, player)| player.secret > 90));
}

#[test]
fn s193_openings_and_changes_share_a_budget_that_allows_a_packet_in_every_few_ticks() {
    let per_tick = |bytes: usize| bytes * 1_000 / TICK.as_millis() as usize;
    for (bytes, offset) in [(34, 0), (34, 1), (40, 0), (40, 1), (17, 0), (17, 2)] {
        let (mut room, creatures) = room(ServerConfig::default(), 1, 100);
        (0..offset).for_each(|_| _ = room.step());
        room.settle();
        let id = room.guests[0].id;
        room.server.connection(id).set_budget(per_tick(bytes));
        let mut rng = Rng::new(4);
        let mut value = 0;
        let mut play = |room: &mut Room, ticks: usize| {
            for _ in 0..ticks {
                value += 1;
                step(room, &creatures, value, 0.0, &mut rng);
            }
            value
        };
        play(&mut room, 60 + offset);
        let new: Vec<_> = (0..20).map(|_| room.server.spawn(Creature::default())).collect();
        play(&mut room, 120);
        // A packet of 64 bytes contains about six openings.
        let arrived = new.iter().filter(|&&creature| room.client().contains(creature)).count();
        assert_eq!(arrived, new.len(), "{bytes} bytes a tick from tick {offset} on");
        let mut endless = 0;
        for _ in 0..300 {
            room.server.spawn(Creature { health: endless, ..Creature::default() });
            endless = play(&mut room, 1);
        }
        let oldest = creatures.iter().map(|&creature| endless - shown(&room, 0, creature)).max();
        assert!(oldest < Some(200), "{oldest:?} ticks, {bytes} bytes a tick from tick {offset} on");
    }
}

/// Returns the number of ticks until an object with a text of this length and with this priority arrives,
/// while more such objects in lower slots come into sight in each tick than the budget allows.
fn wait_behind_lower_slots(length: usize, priority: Option<f32>) -> Option<u32> {
    const TICKS: usize = 100;
    const IN_EACH_TICK: usize = 60;
    let register: fn(&mut Client) = |client| _ = client.register::<Sign>();
    let (mut room, signs) = Room::furnished(ServerConfig::default(), register, 0, |server| {
        let sign = || Sign { text: "x".repeat(length) };
        (0..TICKS * IN_EACH_TICK + 1).map(|_| server.spawn(sign())).collect::<Vec<_>>()
    });
    signs.iter().for_each(|&sign| _ = room.server.object(sign).set_relevancy(Relevancy::Nobody));
    let (&last, others) = signs.split_last().expect("there are signs");
    if priority.is_some() {
        room.server.object(last).set_priority(priority);
    }
    let id = room.enter();
    room.settle();
    room.server.connection(id).set_budget(150 * 1_000 / TICK.as_millis() as usize);
    for (tick, coming) in (0..).zip(others.chunks(IN_EACH_TICK)) {
        coming.iter().for_each(|&sign| _ = room.server.object(sign).set_relevancy(Relevancy::Always));
        if tick == 10 {
            room.server.object(last).set_relevancy(Relevancy::Always);
        }
        room.step();
        if room.client().contains(last) {
            return Some(tick - 10);
        }
    }
    None
}

#[test]
fn s189_s193_an_opening_has_its_turn_whatever_its_slot_is() {
    let wait = wait_behind_lower_slots(8, None);
    assert!(wait.is_some_and(|ticks| ticks <= 60), "{wait:?}");
    for length in [8, 60] {
        let wait = wait_behind_lower_slots(length, Some(1_000.0));
        assert!(wait.is_some_and(|ticks| ticks <= 3), "{wait:?} with a priority, {length} bytes");
    }
}

#[test]
fn s189_s193_priorities_divide_the_waits_and_the_least_still_has_its_turn() {
    let oldest = oldest(0.2, false, 0.0, |server, _, creature, at| {
        server.object(creature).set_priority((at % 4 == 3).then_some(8.0));
    });
    let most = |rest: usize| {
        oldest.iter().enumerate().filter(|(at, _)| at % 4 / 3 == rest).map(|(_, age)| *age).max()
    };
    let (low, high) = (most(0).expect("there are some"), most(1).expect("there are some"));
    assert!(high * 3 <= low, "the important ones wait {high} ticks, the others {low}");
    assert!(low <= 8 * 6, "nothing waits longer than by the factor of the priorities");
}

#[test]
fn s189_an_object_is_four_times_as_important_to_its_owner() {
    for is_used in [false, true] {
        let oldest = oldest(0.1, false, 0.0, |server, id, creature, at| {
            if at % 100 == 0 {
                server.object(creature).set_owner(Some(id));
            }
            if is_used {
                server.class::<Creature>().set_priority(1.0);
            }
        });
        let (owned, others): (Vec<_>, Vec<_>) = (0..oldest.len()).partition(|at| at % 100 == 0);
        let most =
            |numbers: Vec<usize>| numbers.into_iter().map(|at| oldest[at]).max().expect("there are some");
        let (owned, others) = (most(owned), most(others));
        assert!(owned * 3 <= others, "the owned ones wait {owned} ticks, the others {others}");
    }
}

#[test]
fn s189_what_a_function_prefers_comes_first_openings_included() {
    let (mut room, mut creatures) = room(ServerConfig::default(), 1, 1);
    let id = room.guests[0].id;
    room.server.class::<Creature>().set_priority_by(|creature: &Creature, viewer| {
        let [x, ..] = viewer.viewpoints[0];
        1.0 / (1.0 + (creature.position[0] - x).abs())
    });
    room.server.connection(id).set_viewpoints(&[[700.0, 0.0, 0.0]]);
    room.server.connection(id).set_budget(30_000);
    creatures.extend(
        (1..1_000).map(|at| room.server.spawn(Creature { position: [at as f32, 0.0], health: 1, mood: 0 })),
    );
    let mut rng = Rng::new(1);
    for _ in 0..5 {
        step(&mut room, &[], 0, 0.0, &mut rng);
    }
    let here: Vec<usize> = (1..1_000).filter(|&at| room.guests[0].client.contains(creatures[at])).collect();
    let (near, far) = (here.iter().filter(|at| at.abs_diff(700) <= 50).count(), here.len());
    assert!(far < 600 && near >= 95, "{near} near ones among {far}");
    room.settle();
    creatures.iter().for_each(|&creature| room.server[creature].health = 2);
    for _ in 0..4 {
        step(&mut room, &[], 0, 0.0, &mut rng);
    }
    let fresh: Vec<usize> = (1..1_000).filter(|&at| shown(&room, 0, creatures[at]) == 2).collect();
    let near = fresh.iter().filter(|at| at.abs_diff(700) <= 50).count();
    assert!(fresh.len() < 800 && near >= 95, "{near} near ones among {}", fresh.len());
    room.settle();
    assert!(creatures.iter().all(|&creature| shown(&room, 0, creature) == 2));
}

#[test]
fn s189_a_function_can_prefer_the_objects_of_a_team() {
    let (mut room, mut creatures) = room(ServerConfig::default(), 1, 1);
    let id = room.guests[0].id;
    room.server.class::<Creature>().set_priority_by(|creature: &Creature, viewer| {
        if viewer.is_in_group(Group(creature.mood)) { 1_000.0 } else { 1.0 }
    });
    (0..3).for_each(|_| _ = room.server.connection(id).join_group(Group(7)));
    room.server.connection(id).join_group(Group(2));
    assert!(
        room.server.connection_info(id).is_in_group(Group(7))
            && !room.server.connection_info(id).is_in_group(Group(3))
    );
    room.server.connection(id).set_budget(30_000);
    let team = |at: usize| if at.is_multiple_of(10) { 7 } else { 3 };
    creatures.extend(
        (1..1_000)
            .map(|at| room.server.spawn(Creature { position: [at as f32, 0.0], health: 1, mood: team(at) })),
    );
    let mut rng = Rng::new(1);
    for _ in 0..5 {
        step(&mut room, &[], 0, 0.0, &mut rng);
    }
    let here: Vec<usize> = (1..1_000).filter(|&at| room.guests[0].client.contains(creatures[at])).collect();
    let (own, all) = (here.iter().filter(|at| team(**at) == 7).count(), here.len());
    assert!(all < 600 && own == 99, "{own} of the team among {all}");
}

#[test]
fn s189_objects_that_are_removed_while_everything_waits_have_no_values_for_a_function() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 60);
    room.server.class::<Creature>().set_priority_by(|creature: &Creature, _| 1.0 + creature.position[0]);
    assert_eq!(room.client().objects::<Creature>().count(), 60);
    let id = room.guests[0].id;
    room.server.connection(id).set_budget(1_500);
    for (value, creature) in creatures.iter().rev().enumerate() {
        room.server.despawn(*creature);
        creatures.iter().for_each(|&other| {
            if let Some(other) = room.server.get_mut(other) {
                other.health = value as u32;
            }
        });
        room.step();
    }
    room.server.connection(id).set_budget(1 << 20);
    room.settle();
    assert_eq!(room.client().objects::<Creature>().count(), 0);
}

#[test]
fn s192_w17_what_waits_for_one_connection_costs_the_others_nothing() {
    let bytes = |is_limited: bool| {
        let (mut room, creatures) = room(ServerConfig::default(), 2, 200);
        let mut rng = Rng::new(2);
        if is_limited {
            let id = room.guests[0].id;
            room.server.connection(id).set_budget(12_000);
        }
        let mut all = [0, 0];
        for value in 1..200 {
            let touched: Vec<_> = creatures.iter().copied().filter(|_| rng.chance(0.5)).collect();
            let bytes = step(&mut room, &touched, value, 0.0, &mut Rng::new(0));
            (0..2).for_each(|guest| all[guest] += bytes[guest]);
            assert!(touched.iter().all(|&creature| shown(&room, 1, creature) == value));
        }
        room.settle();
        assert!(creatures.iter().all(|&creature| shown(&room, 0, creature) == room.server[creature].health));
        all
    };
    let ([unlimited, one], [limited, other]) = (bytes(false), bytes(true));
    assert_eq!(one, other, "the unlimited client receives the same");
    let most = 12_000.0 * TICK.as_secs_f64() * 199.0 + 2_400.0;
    assert!(
        limited * 3 < unlimited * 2 && limited as f64 <= most,
        "{limited} of {unlimited}, at most {most}"
    );
}

#[test]
fn s189_what_goes_first_is_sent_in_each_tick_of_a_budget_below_a_packet() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 200);
    let (id, mut rng) = (room.guests[0].id, Rng::new(8));
    let first = creatures[0];
    room.server.object(first).set_priority(Some(1_000_000.0));
    // The budget allows 160 bytes in a tick, and a packet has up to 1,200 bytes.
    room.server.connection(id).set_budget(10_000);
    let (mut bytes, mut silent) = (0, 0);
    for value in 1..=100 {
        let sent = step(&mut room, &creatures, value, 0.0, &mut rng)[0];
        bytes += sent;
        silent += u32::from(sent <= SIGN_OF_LIFE_BYTES);
        assert!(
            value < 10 || shown(&room, 0, first) == value,
            "in tick {value} it shows {}",
            shown(&room, 0, first)
        );
    }
    assert_eq!(silent, 0, "no tick is silent");
    let most = 10_000.0 * TICK.as_secs_f64() * 100.0;
    assert!((most * 0.95..most + 1_200.0).contains(&(bytes as f64)), "{bytes} of {most} bytes");
}

#[test]
fn s193_what_is_larger_than_the_budget_of_a_tick_is_sent_and_paid_for() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 100);
    let (id, mut rng) = (room.guests[0].id, Rng::new(9));
    room.server.connection(id).set_budget(10_000);
    // A message of about a thousand bytes uses the budget of six ticks.
    let mut heard = 0;
    let mut bytes = 0;
    for value in 1..=100 {
        if value % 10 == 0 {
            room.server.connection(id).send(&Letter("x".repeat(900))).expect("there is room");
        }
        bytes += step(&mut room, &creatures, value, 0.0, &mut rng)[0];
        while room.guests[0].client.poll_message::<Letter>().is_some() {
            heard += 1;
        }
    }
    assert!(heard >= 5, "{heard} letters beside more changes than the budget has room for");
    assert!(bytes as f64 <= 10_000.0 * TICK.as_secs_f64() * 100.0 + 1_200.0, "{bytes} bytes");
}

#[test]
fn s193_what_the_memory_limit_holds_back_is_counted_and_takes_turns() {
    const DELAY: usize = 8;
    let config = ServerConfig { max_connection_bytes: 256 << 10, ..ServerConfig::default() };
    let (mut room, creatures) = room(config, 1, 2_000);
    let id = room.guests[0].id;
    let mut on_the_way = VecDeque::new();
    let (mut most_waited, mut oldest) = (0, 0);
    for value in 1..=300 {
        creatures.iter().for_each(|&creature| room.server[creature].health = value);
        let packets = room.tick().swap_remove(0);
        on_the_way.push_back(packets);
        if on_the_way.len() > DELAY {
            let arriving = on_the_way.pop_front().unwrap_or_default();
            room.deliver(0, &arriving);
        }
        let replies = room.replies(0);
        room.hear(0, &replies);
        let stats = room.server.connection_info(id).stats().expect("it is connected");
        let why = |&&creature: &&ObjectRef<Creature>| {
            room.server.object_info(creature).why_not_sent_to(id) == Some(NotSent::Budget)
        };
        assert_eq!(stats.waiting_objects, creatures.iter().filter(why).count(), "in tick {value}");
        most_waited = most_waited.max(stats.waiting_objects);
        if value > 100 {
            let least = creatures.iter().map(|&creature| shown(&room, 0, creature)).min();
            oldest = oldest.max(value - least.expect("there are some"));
        }
    }
    assert!(most_waited > 500, "{most_waited} objects waited");
    assert!(oldest <= 60, "the oldest value is {oldest} ticks old");
}

#[test]
fn s193_messages_have_their_share_of_a_budget() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 400);
    let (id, mut rng) = (room.guests[0].id, Rng::new(3));
    room.server.connection(id).set_budget(30_000);
    let mut heard = 0;
    for value in 1..100 {
        room.server.connection(id).send(&Chat { line: value }).expect("there is room");
        step(&mut room, &creatures, value, 0.0, &mut rng);
        while room.guests[0].client.poll_message::<Chat>().is_some() {
            heard += 1;
        }
    }
    assert!(heard >= 95, "{heard} messages of 99");
}

#[test]
fn s193_the_server_says_why_it_does_not_send() {
    let (mut room, creatures) = room(ServerConfig::default(), 1, 300);
    let id = room.guests[0].id;
    let why = |room: &Room, at: usize| room.server.object_info(creatures[at]).why_not_sent_to(id);
    assert_eq!(why(&room, 0), Some(NotSent::NothingChanged));
    room.server.object(creatures[0]).set_visible(id, false);
    room.server.object(creatures[1]).set_relevancy(Relevancy::OwnerOnly);
    assert_eq!([why(&room, 0), why(&room, 1)], [Some(NotSent::Hidden), Some(NotSent::NoOwner)]);
    room.server.object(creatures[1]).set_relevancy(Relevancy::Group(Group(4)));
    assert_eq!(why(&room, 1), Some(NotSent::NotInGroup));
    room.server.object(creatures[1]).set_audience(Audience::Group(Group(5)));
    assert_eq!(why(&room, 1), Some(NotSent::NotInAudience));
    room.server.object(creatures[2]).set_update_rate(Some(UpdateRate::every(Duration::from_secs(60))));
    room.server[creatures[2]].health = 1;
    room.server[creatures[3]].health = 1;
    assert_eq!(why(&room, 3), Some(NotSent::NextTick));
    room.step();
    assert_eq!([why(&room, 2), why(&room, 3)], [Some(NotSent::Rate), Some(NotSent::NothingChanged)]);
    room.server.connection(id).set_budget(1_000);
    creatures.iter().for_each(|&creature| room.server[creature].health = 9);
    (0..3).for_each(|_| _ = room.step());
    let waiting = (3..300).filter(|&at| why(&room, at) == Some(NotSent::Budget)).count();
    let stats = room.server.connection_info(id).stats().expect("it is connected");
    assert!(waiting > 20 && stats.waiting_objects == waiting, "{waiting}, {}", stats.waiting_objects);
    room.server.connection(id).set_budget(usize::MAX);
    room.settle();
    assert_eq!(room.server.connection_info(id).stats().expect("it is connected").waiting_objects, 0);
    let stranger = room.server.connect(room.now);
    assert_eq!(room.server.object_info(creatures[5]).why_not_sent_to(stranger), Some(NotSent::NotConnected));
    room.server.despawn(creatures[5]);
    assert_eq!(room.server.object_info(creatures[5]).why_not_sent_to(id), None);
}

#[test]
#[should_panic(expected = "a priority is from")]
fn a_priority_that_starves_is_refused() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Creature>().class::<Creature>().set_priority(0.0);
}
