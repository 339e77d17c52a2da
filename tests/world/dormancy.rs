//! Objects that sleep while they do not change. Each change wakes its object.

use std::time::Duration;

use crate::support::{Guest, Room, SIGN_OF_LIFE_BYTES, leaks};
use repl::prelude::*;
use repl::sim::Rng;
use repl::{CloseReason, Dormancy, NotSent};

/// A thing that seldom changes.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Chest {
    #[replicated]
    coins: u32,
    #[replicated(push)]
    lid: u32,
    #[replicated]
    items: FastArray<u32>,
    #[replicated]
    beside: ObjectRef<Self>,
    knocked: u32,
}

/// An object without `push` properties.
#[derive(Replicated, Default)]
struct Torch {
    #[replicated]
    light: u32,
}

#[rpcs]
impl Chest {
    #[rpc(multicast, unreliable)]
    fn knock(call: &mut MulticastCall<'_, Self>, times: u32) {
        call.knocked += times;
    }
}

fn register(client: &mut Client) {
    client.register::<Chest>().register_calls::<Chest>();
}

fn room(guests: usize, chests: usize) -> (Room, Vec<ObjectRef<Chest>>) {
    Room::furnished(ServerConfig::default(), register, guests, |server| {
        server.register::<Chest>().register_calls::<Chest>();
        (0..chests).map(|_| server.spawn(Chest::default())).collect()
    })
}

/// Returns whether both sides of a connection say that an object sleeps.
fn is_asleep(room: &Room, guest: usize, chest: ObjectRef<Chest>) -> bool {
    let Guest { client, id, .. } = &room.guests[guest];
    let is_asleep = client.object_info(chest).is_asleep();
    assert!(
        !is_asleep
            || room.server.object_info(chest).is_asleep_for(*id)
            || room.server.object_info(chest).dormancy().is_none()
    );
    is_asleep
}

fn coins(room: &Room, guest: usize, chest: ObjectRef<Chest>) -> Option<u32> {
    room.guests[guest].client.get(chest).map(|chest| chest.coins)
}

#[test]
fn s206_s207_an_object_falls_asleep_when_all_is_acknowledged_and_stays_on_the_client() {
    let (mut room, chests) = room(2, 3);
    room.server.object(chests[0]).set_dormancy(Dormancy::All);
    room.server.object(chests[1]).set_dormancy(Dormancy::All);
    assert_eq!(room.server.object_info(chests[0]).dormancy(), Some(Dormancy::All));
    room.server[chests[0]].coins = 5;
    room.server[chests[0]].items.push(1);
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    assert!(!is_asleep(&room, 0, chests[0]), "it was not acknowledged");
    (0..20).for_each(|_| _ = room.tick());
    assert!(
        !room.server.object_info(chests[0]).is_asleep_for(room.guests[0].id),
        "nothing is acknowledged, so nothing sleeps"
    );
    room.settle();
    for guest in 0..2 {
        let asleep: Vec<bool> = chests.iter().map(|&chest| is_asleep(&room, guest, chest)).collect();
        assert_eq!(asleep, [true, true, false]);
        assert_eq!(coins(&room, guest, chests[0]), Some(5));
    }
    let idle: usize = (0..120).map(|_| room.step()).sum();
    assert!(idle <= 120 * SIGN_OF_LIFE_BYTES, "{idle} bytes: what sleeps costs no byte");
    chests.iter().for_each(|&chest| _ = room.server.object(chest).set_dormancy(Dormancy::Awake));
    room.settle();
    assert!(
        (0..2).all(|guest| !is_asleep(&room, guest, chests[0])),
        "clients are told that it never sleeps now"
    );
}

#[test]
fn s207_s189_objects_fall_asleep_once_while_the_budget_is_exhausted() {
    const RESTING: usize = 60;
    let config = ServerConfig { max_bytes_per_second: 6_000, ..ServerConfig::default() };
    let (mut room, chests) = Room::furnished(config, register, 1, |server| {
        server.register::<Chest>().register_calls::<Chest>();
        (0..160).map(|_| server.spawn(Chest::default())).collect::<Vec<_>>()
    });
    room.settle();
    let (resting, busy) = chests.split_at(RESTING);
    let mut asleep = [false; RESTING];
    for tick in 0..400 {
        busy.iter().for_each(|&chest| room.server[chest].coins += 1);
        if tick == 60 {
            resting.iter().for_each(|&chest| _ = room.server.object(chest).set_dormancy(Dormancy::All));
        }
        room.step();
        for (&chest, was_asleep) in resting.iter().zip(&mut asleep) {
            let now = is_asleep(&room, 0, chest);
            assert!(now || !*was_asleep, "tick {tick}: {chest:?} was woken, but it has not changed");
            *was_asleep = now;
        }
    }
    let waiting =
        room.server.connection_info(room.guests[0].id).stats().expect("it is connected").waiting_objects;
    assert!(waiting > 10, "the budget is exhausted, {waiting} objects wait");
    assert!(asleep.iter().all(|&asleep| asleep), "{asleep:?}");
}

/// Writes to the first of two chests in some way.
type Way = fn(&mut Server, [ObjectRef<Chest>; 2]);

#[test]
fn w15_s209_every_way_to_write_wakes_an_object_and_it_falls_asleep_again() {
    let (mut room, chests) = room(1, 2);
    chests.iter().for_each(|&chest| _ = room.server.object(chest).set_dormancy(Dormancy::All));
    room.settle();
    let ways: [Way; 6] = [
        |server, [chest, _]| server[chest].coins += 1,
        |server, [chest, _]| server.get_mut(chest).expect("it exists").coins += 1,
        |server, [chest, _]| {
            server
                .objects_mut::<Chest>()
                .filter(|(object, _)| *object == chest)
                .for_each(|(_, chest)| chest.coins += 1);
        },
        |server, [chest, other]| server.get_pair_mut(chest, other).expect("both exist").0.coins += 1,
        |server, [chest, _]| _ = server[chest].items.push(7),
        |server, [chest, _]| {
            server[chest].lid += 1;
            server.object(chest).mark_dirty(Chest::LAYOUT.property("lid"));
        },
    ];
    for (number, write) in ways.into_iter().enumerate() {
        assert!(is_asleep(&room, 0, chests[0]) && is_asleep(&room, 0, chests[1]), "way {number}");
        write(&mut room.server, [chests[0], chests[1]]);
        room.step();
        assert!(!is_asleep(&room, 0, chests[0]) && is_asleep(&room, 0, chests[1]), "way {number}");
        let (live, replica) = (&room.server[chests[0]], room.client().get(chests[0]).expect("it is here"));
        assert_eq!(
            (live.coins, live.lid, &live.items),
            (replica.coins, replica.lid, &replica.items),
            "way {number}"
        );
        room.settle();
    }
    _ = room.server.get_mut(chests[0]);
    room.server.objects_mut::<Chest>().for_each(drop);
    room.step();
    assert!(is_asleep(&room, 0, chests[0]), "an access that changes nothing wakes nothing");
    room.server.object(chests[0]).wake();
    room.step();
    assert!(!is_asleep(&room, 0, chests[0]));
    room.settle();
    assert!(is_asleep(&room, 0, chests[0]));
}

#[test]
fn w15_s209_a_change_of_an_object_outside_the_server_wakes_it() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Chest>());
    room.server.register_external::<Chest>();
    let mut chest = Chest::default();
    let object = room.server.external().spawn(&chest);
    room.server.object(object).set_dormancy(Dormancy::All);
    room.enter();
    room.settle();
    assert!(is_asleep(&room, 0, object));
    chest.coins = 4;
    room.server.external().compare_mut(object, &mut chest).expect("it exists");
    room.step();
    assert_eq!((is_asleep(&room, 0, object), coins(&room, 0, object)), (false, Some(4)));
}

#[test]
fn s206_s209_a_partially_dormant_object_sleeps_for_chosen_connections_and_a_change_wakes_it_for_all() {
    let (mut room, chests) = room(2, 1);
    let chest = chests[0];
    room.server.object(chest).set_dormancy(Dormancy::Partial);
    room.settle();
    assert!(!is_asleep(&room, 0, chest) && !is_asleep(&room, 1, chest));
    room.server.object(chest).set_dormant_for(room.guests[1].id, true);
    room.settle();
    assert!(!is_asleep(&room, 0, chest) && is_asleep(&room, 1, chest));
    room.server[chest].coins = 3;
    room.step();
    assert!(!is_asleep(&room, 1, chest) && coins(&room, 1, chest) == Some(3));
    room.settle();
    assert!(is_asleep(&room, 1, chest));
    room.server.object(chest).set_dormant_for(room.guests[1].id, false);
    room.settle();
    assert!(!is_asleep(&room, 1, chest));
}

#[test]
fn s206_an_initially_dormant_object_is_sent_to_nobody_before_it_changes() {
    let (mut room, _) = room(1, 1);
    let chest = room.server.spawn(Chest { coins: 0xC0DE_1234, ..Chest::default() });
    room.server.object(chest).set_dormancy(Dormancy::Initial);
    room.server[chest].lid = 2;
    for _ in 0..30 {
        let packets = room.tick_one();
        assert!(!packets.iter().any(|packet| leaks(packet, &0xC0DE_1234_u32.to_le_bytes())));
        room.deliver(0, &packets);
        room.acknowledge();
    }
    room.server.objects_mut::<Chest>().for_each(drop);
    room.enter();
    room.settle();
    let id = room.guests[0].id;
    assert_eq!(room.server.object_info(chest).why_not_sent_to(id), Some(NotSent::Asleep));
    assert!((0..2).all(|guest| !room.guests[guest].client.contains(chest)));
    room.server[chest].items.push(9);
    room.settle();
    assert_eq!(room.server.object_info(chest).dormancy(), Some(Dormancy::All));
    for guest in 0..2 {
        let replica = room.guests[guest].client.get(chest).expect("it has changed");
        assert_eq!((replica.coins, replica.lid, replica.items.len()), (0xC0DE_1234, 2, 1));
        assert!(is_asleep(&room, guest, chest));
    }
    let other = room.server.spawn(Chest::default());
    room.server.object(other).set_dormancy(Dormancy::Initial);
    room.settle();
    room.server.object(other).wake();
    room.settle();
    assert!(is_asleep(&room, 0, other));
}

#[test]
fn s206_accesses_that_change_nothing_do_not_wake_an_initially_dormant_object() {
    let (mut room, _) = room(1, 0);
    let chest = room.server.spawn(Chest::default());
    room.server.object(chest).set_dormancy(Dormancy::Initial);
    room.settle();
    let ways: [fn(&mut Server, ObjectRef<Chest>); 5] = [
        |server, chest| _ = server.get_mut(chest),
        |server, chest| _ = server.object(chest).force_update(),
        |server, chest| _ = server.object(chest).mark_dirty(Chest::LAYOUT.property("lid")),
        |server, chest| _ = server.object(chest).set_update_rate(Some(UpdateRate::per_second(20.0))),
        |server, chest| _ = server.object(chest).tear_off(),
    ];
    for (number, touch) in ways.into_iter().enumerate() {
        touch(&mut room.server, chest);
        room.settle();
        assert_eq!(room.server.object_info(chest).dormancy(), Some(Dormancy::Initial), "way {number}");
        assert!(!room.client().contains(chest), "way {number}");
    }
}

#[test]
fn s206_s186_a_change_from_before_does_not_wake_an_object_that_becomes_initially_dormant() {
    for seconds in [0, 1] {
        let register: fn(&mut Client) = |client| _ = client.register::<Torch>();
        let furnish = |server: &mut Server| server.spawn(Torch::default());
        let (mut room, torch) = Room::furnished(ServerConfig::default(), register, 1, furnish);
        room.server.object(torch).set_update_rate(Some(UpdateRate::every(Duration::from_secs(seconds))));
        room.settle();
        room.server[torch].light = 2;
        room.server.object(torch).set_dormancy(Dormancy::Initial);
        (0..200).for_each(|_| _ = room.step());
        assert_eq!(room.server.object_info(torch).dormancy(), Some(Dormancy::Initial), "every {seconds} s");
        room.server[torch].light = 3;
        (0..200).for_each(|_| _ = room.step());
        assert_eq!(room.server.object_info(torch).dormancy(), Some(Dormancy::All), "every {seconds} s");
    }
}

#[test]
fn s206_what_is_attached_to_an_initially_dormant_object_waits_with_it() {
    let (mut room, chests) = room(1, 2);
    let [chest, lock] = [chests[0], chests[1]];
    let key = room.server.object(chest).spawn_subobject(Chest::default()).expect("a chest");
    room.server.object(lock).set_relevancy(Relevancy::AttachedTo(chest.erase()));
    room.settle();
    room.server.object(chest).set_dormancy(Dormancy::Initial);
    room.enter();
    room.settle();
    for guest in 0..2 {
        let id = room.guests[guest].id;
        for object in [chest, lock, key] {
            assert!(
                !room.guests[guest].client.contains(object)
                    && !room.server.object_info(object).is_relevant_to(id)
            );
            assert_eq!(room.server.object_info(object).why_not_sent_to(id), Some(NotSent::Asleep));
        }
    }
    // A change of an attached object wakes only that object. No client sees it without the object that
    // carries it.
    room.server[lock].coins = 1;
    room.settle();
    assert!(!room.client().contains(lock));
    room.server[chest].coins = 2;
    room.settle();
    for guest in 0..2 {
        assert!([chest, lock, key].iter().all(|&object| room.guests[guest].client.contains(object)));
        assert_eq!((coins(&room, guest, lock), coins(&room, guest, chest)), (Some(1), Some(2)));
    }
}

#[test]
fn s212_an_object_that_is_destroyed_while_it_sleeps_is_removed_everywhere_and_late_joiners_never_see_it() {
    let (mut room, chests) = room(2, 2);
    chests.iter().for_each(|&chest| _ = room.server.object(chest).set_dormancy(Dormancy::All));
    room.settle();
    room.server.despawn(chests[0]);
    room.enter();
    room.settle();
    assert!((0..3).all(|guest| !room.guests[guest].client.contains(chests[0])));
    assert!((0..3).all(|guest| is_asleep(&room, guest, chests[1])), "who joins late has what sleeps, asleep");
    let reasons: Vec<_> = room
        .polled(0)
        .into_iter()
        .filter_map(|(object, what)| match what {
            UpdateKind::Despawned(reason) => Some((object, reason)),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [(chests[0].erase(), CloseReason::Destroyed)]);
    let next = room.server.spawn(Chest::default());
    room.settle();
    assert!(!is_asleep(&room, 0, next), "the next object of the slot is awake");
}

#[test]
fn s207_s208_references_to_objects_that_sleep_and_calls_of_them_work() {
    let (mut room, chests) = room(1, 2);
    room.server.object(chests[0]).set_dormancy(Dormancy::All);
    room.settle();
    room.server[chests[1]].beside = chests[0];
    room.server.call(chests[0]).knock(2).expect("there is room");
    for _ in 0..3 {
        room.step();
        assert!(is_asleep(&room, 0, chests[0]), "S208: a call does not wake an object");
    }
    room.settle();
    let client = room.client();
    let beside = client.get(chests[1]).expect("it is here").beside;
    assert_eq!(client.get(beside).map(|chest| chest.knocked), Some(2));
    assert!(is_asleep(&room, 0, chests[0]), "S208: nor does a call delay its sleep");
}

#[test]
fn s207_objects_that_only_their_owners_see_and_owned_ones_sleep_too() {
    let (mut room, chests) = room(2, 2);
    let id = room.guests[0].id;
    room.server.object(chests[0]).set_owner(Some(id));
    room.server.object(chests[0]).set_relevancy(Relevancy::OwnerOnly);
    room.server.object(chests[1]).set_owner(Some(id));
    chests.iter().for_each(|&chest| _ = room.server.object(chest).set_dormancy(Dormancy::All));
    room.settle();
    assert!(
        is_asleep(&room, 0, chests[0]) && is_asleep(&room, 0, chests[1]) && is_asleep(&room, 1, chests[1])
    );
    room.server.object(chests[1]).set_owner(None);
    room.step();
    assert!(!room.client().object_info(chests[1]).is_owner());
    room.settle();
    assert!(is_asleep(&room, 0, chests[1]) && is_asleep(&room, 1, chests[1]));
    room.server.object(chests[1]).set_visible(id, false);
    room.settle();
    room.server.object(chests[1]).set_visible(id, true);
    room.settle();
    assert!(is_asleep(&room, 0, chests[1]), "an object that comes back into sight falls asleep again");
}

#[test]
fn w15_s207_random_worlds_never_have_a_stale_object_asleep() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let (mut room, mut chests) = room(3, 12);
        let loss = [0.0, 0.1, 0.4][rng.below(3) as usize];
        for tick in 0..150 {
            for _ in 0..rng.below(3) {
                let at = rng.below(chests.len() as u64) as usize;
                let (chest, guest) = (chests[at], room.guests[rng.below(3) as usize].id);
                match rng.below(9) {
                    0 => _ = room.server.object(chest).set_dormancy(Dormancy::All),
                    1 => _ = room.server.object(chest).set_dormancy(Dormancy::Partial),
                    2 => _ = room.server.object(chest).set_dormant_for(guest, rng.chance(0.7)),
                    3 => _ = room.server.object(chest).set_owner(rng.chance(0.5).then_some(guest)),
                    4 => _ = room.server.object(chest).wake(),
                    5 => _ = room.server.object(chest).set_visible(guest, rng.chance(0.8)),
                    6 => {
                        room.server.despawn(chest);
                        chests[at] = room.server.spawn(Chest { coins: tick, ..Chest::default() });
                        let dormancy = [Dormancy::All, Dormancy::Initial][rng.below(2) as usize];
                        room.server.object(chests[at]).set_dormancy(dormancy);
                    }
                    7 => _ = room.server[chest].items.push(tick),
                    _ => room.server[chest].coins += 1,
                }
            }
            let packets = room.tick();
            for (guest, packets) in packets.into_iter().enumerate() {
                let arriving: Vec<_> = packets.into_iter().filter(|_| !rng.chance(loss)).collect();
                room.deliver(guest, &arriving);
                let replies: Vec<_> = room.replies(guest).into_iter().filter(|_| !rng.chance(loss)).collect();
                room.hear(guest, &replies);
            }
            for (guest, &chest) in (0..3).flat_map(|guest| chests.iter().map(move |chest| (guest, chest))) {
                if room.server.object_info(chest).is_asleep_for(room.guests[guest].id) {
                    let replica = room.guests[guest].client.get(chest).expect("what sleeps is there");
                    let live = &room.server[chest];
                    let content = |chest: &Chest| {
                        let mut items = chest.items.to_vec();
                        items.sort_unstable();
                        (chest.coins, items)
                    };
                    assert_eq!(content(replica), content(live), "seed {seed}");
                }
            }
        }
        room.settle();
        for (guest, &chest) in (0..3).flat_map(|guest| chests.iter().map(move |chest| (guest, chest))) {
            let id = room.guests[guest].id;
            assert_eq!(
                room.guests[guest].client.contains(chest),
                room.server.object_info(chest).is_relevant_to(id),
                "seed {seed}"
            );
            assert_eq!(
                room.guests[guest].client.object_info(chest).is_asleep(),
                room.server.object_info(chest).is_asleep_for(id),
                "seed {seed}"
            );
            let may_sleep = room.server.object_info(chest).dormancy() == Some(Dormancy::All);
            let is_here = room.guests[guest].client.contains(chest);
            assert!(!may_sleep || !is_here || is_asleep(&room, guest, chest), "seed {seed}: it falls asleep");
        }
    }
}
