//! Objects that are paused: nothing of them is sent until the pause ends, and then the newest values once.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, CloseReason, NotSent, UpdateKind, UpdateRate};

use crate::support::Room;

/// A thing in a hall that can be paused.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Statue {
    #[replicated]
    place: [f32; 2],
    #[replicated]
    pose: u32,
    #[replicated]
    cracks: FastArray<u32>,
    #[replicated(condition = OwnerOnly)]
    price: u32,
    #[replicated]
    faces: ObjectRef<Self>,
    knocks: u32,
}

#[rpcs]
impl Statue {
    #[rpc(multicast, reliable)]
    fn knock(call: &mut MulticastCall<'_, Self>, times: u32) {
        call.knocks += times;
    }

    #[rpc(server, reliable)]
    fn ask(call: &mut ServerCall<'_, Self>, times: u32) {
        call.knocks += times;
    }
}

fn register(client: &mut Client) {
    client.register::<Statue>().register_calls::<Statue>();
}

fn room(guests: usize, statues: usize) -> (Room, Vec<ObjectRef<Statue>>) {
    Room::furnished(ServerConfig::default(), register, guests, |server| {
        server.register::<Statue>().register_calls::<Statue>();
        (0..statues).map(|_| server.spawn(Statue::default())).collect()
    })
}

fn pose(room: &Room, guest: usize, statue: ObjectRef<Statue>) -> Option<u32> {
    room.guests[guest].client.get(statue).map(|statue| statue.pose)
}

fn has(room: &Room, guest: usize, statue: ObjectRef<Statue>) -> bool {
    room.guests[guest].client.contains(statue)
}

#[test]
fn s234_a_paused_object_sends_nothing_and_then_its_newest_values_once() {
    let ((mut room, statues), id) = {
        let room = Room::measuring(|| room(2, 2));
        let id = room.0.guests[0].id;
        (room, id)
    };
    let [paused, other] = [statues[0], statues[1]];
    room.server.object(paused).set_paused(true);
    assert!(room.server.object_info(paused).is_paused() && room.server.object_info(paused).is_paused_for(id));
    let before = room.updates::<Statue>(0, "pose");
    for value in 1..=300 {
        room.server[paused].pose = value;
        room.server[paused].cracks.push(value);
        room.server[other].pose = value;
        room.step();
        assert_eq!((pose(&room, 0, paused), pose(&room, 0, other)), (Some(0), Some(value)));
    }
    let others = room.updates::<Statue>(0, "pose") - before;
    assert_eq!(others, 300, "only those of the other statue");
    assert_eq!(room.server.object_info(paused).why_not_sent_to(id), Some(NotSent::ObjectPaused));
    room.settle();
    room.server.object(paused).set_paused(false);
    room.step();
    for guest in 0..2 {
        let shown = &room.guests[guest].client[paused];
        assert_eq!((shown.pose, shown.cracks.len()), (300, 300), "in the next tick");
    }
    room.settle();
    assert_eq!(room.updates::<Statue>(0, "pose") - before, 301, "once");
    assert_eq!(room.server.object_info(paused).why_not_sent_to(id), Some(NotSent::NothingChanged));
}

#[test]
fn s233_a_pause_for_one_connection_delays_nobody_else_and_merges_the_changes() {
    let (mut room, statues) = Room::measuring(|| room(2, 70));
    let (statue, id) = (statues[3], room.guests[0].id);
    room.server.object(statue).set_paused_for(id, true);
    let info = room.server.object_info(statue);
    assert!(!info.is_paused() && info.is_paused_for(id) && !info.is_paused_for(room.guests[1].id));
    let before = room.updates::<Statue>(0, "pose");
    let memory = |room: &Room| room.server.connection_info(id).stats().expect("it is there").memory_bytes;
    let mut most = 0;
    for value in 1..=1_000 {
        room.server[statue].pose = value;
        room.step();
        assert_eq!((pose(&room, 0, statue), pose(&room, 1, statue)), (Some(0), Some(value)));
        most = most.max(memory(&room));
    }
    assert!(most < 4_000, "{most} bytes, whatever the length of the pause");
    assert_eq!(room.server.object_info(statue).why_not_sent_to(id), Some(NotSent::ObjectPaused));
    room.server.object(statue).set_paused_for(id, false);
    room.step();
    assert_eq!(pose(&room, 0, statue), Some(1_000));
    room.settle();
    assert_eq!(room.updates::<Statue>(0, "pose") - before, 1, "once");
    room.server[statue].pose = 7;
    room.step();
    assert_eq!((pose(&room, 0, statue), pose(&room, 1, statue)), (Some(7), Some(7)));
}

#[test]
fn s233_what_was_lost_before_a_pause_is_sent_after_it_with_the_newest_values() {
    let (mut room, statues) = room(1, 2);
    let (statue, id) = (statues[0], room.guests[0].id);
    for all in [true, false] {
        room.server[statue].pose += 1;
        room.tick();
        let pause = |room: &mut Room, paused| {
            let mut object = room.server.object(statue);
            _ = if all { object.set_paused(paused) } else { object.set_paused_for(id, paused) };
        };
        pause(&mut room, true);
        let shown = pose(&room, 0, statue);
        room.lose_until_noticed(0);
        (0..50).for_each(|_| _ = room.step());
        assert_eq!(pose(&room, 0, statue), shown, "what was lost waits");
        room.server[statue].pose += 1;
        room.settle();
        pause(&mut room, false);
        room.settle();
        assert_eq!(pose(&room, 0, statue), Some(room.server[statue].pose));
    }
}

#[test]
fn s235_a_paused_object_that_is_removed_goes_with_its_last_values() {
    let (mut room, statues) = room(2, 3);
    let id = room.guests[0].id;
    room.server.object(statues[0]).set_paused(true);
    room.server.object(statues[1]).set_paused_for(id, true);
    room.server.object(statues[2]).set_paused(true);
    statues.iter().for_each(|&statue| room.server[statue].pose = 5);
    room.settle();
    room.polled(0);
    room.server.despawn(statues[0]);
    room.server.despawn(statues[1]);
    room.server.object(statues[2]).set_visible(id, false);
    room.step();
    let despawned = |at: usize, reason| (statues[at].erase(), UpdateKind::Despawned(reason));
    let mut polled = Vec::new();
    while let Some(update) = room.guests[0].client.poll_update() {
        if let UpdateKind::Despawned(reason) = update.what {
            let statue = ObjectRef::<Statue>::new(update.object.guid().expect("it was an object"));
            let last = room.client().object_info(statue).departed().map(|last| last.pose);
            assert_eq!(last, Some(if reason == CloseReason::Destroyed { 5 } else { 0 }));
            polled.push((update.object, update.what));
        }
    }
    polled.sort_by_key(|(object, _)| *object);
    let (destroyed, out_of_sight) = (CloseReason::Destroyed, CloseReason::Relevancy);
    assert_eq!(polled, [despawned(0, destroyed), despawned(1, destroyed), despawned(2, out_of_sight)]);
    room.settle();
    assert!(has(&room, 1, statues[2]) && !has(&room, 0, statues[2]));
    // Another object in the slot is not paused.
    let next = room.server.spawn(Statue { pose: 9, ..Statue::default() });
    room.settle();
    room.server[next].pose = 10;
    room.step();
    assert_eq!((pose(&room, 0, next), pose(&room, 1, next)), (Some(10), Some(10)));
}

#[test]
fn s235_a_client_loses_sight_of_a_paused_object_that_goes_away_or_is_left_behind() {
    let (mut room, statues) = Room::furnished(ServerConfig::default(), register, 2, |server| {
        server.class::<Statue>().locate(Area::within(100.0).flat(), |statue: &Statue| statue.place);
        server.register_calls::<Statue>();
        (0..2).map(|_| server.spawn(Statue::default())).collect::<Vec<_>>()
    });
    let ids = [room.guests[0].id, room.guests[1].id];
    ids.into_iter().for_each(|id| _ = room.server.connection(id).set_viewpoints(&[[0.0; 3]]));
    room.settle();
    room.server.object(statues[0]).set_paused(true);
    room.server.object(statues[1]).set_paused_for(ids[0], true);
    assert!(statues.iter().all(|&statue| has(&room, 0, statue) && has(&room, 1, statue)));
    statues.iter().for_each(|&statue| room.server[statue].place = [5_000.0, 0.0]);
    room.settle();
    assert!(statues.iter().all(|&statue| !has(&room, 0, statue) && !has(&room, 1, statue)));
    // The clients follow. Nobody receives a paused object that comes into sight.
    ids.into_iter().for_each(|id| _ = room.server.connection(id).set_viewpoints(&[[5_000.0, 0.0, 0.0]]));
    room.settle();
    assert!(!has(&room, 0, statues[0]) && !has(&room, 1, statues[0]));
    assert!(!has(&room, 0, statues[1]) && has(&room, 1, statues[1]));
    assert_eq!(room.server.object_info(statues[1]).why_not_sent_to(ids[0]), Some(NotSent::ObjectPaused));
    room.server.object(statues[0]).set_paused(false);
    room.server.object(statues[1]).set_paused_for(ids[0], false);
    room.settle();
    for (guest, statue) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(room.guests[guest].client[statues[statue]].place, [5_000.0, 0.0]);
    }
    // The clients go away from a paused object.
    room.server.object(statues[0]).set_paused(true);
    room.server.connection(ids[0]).set_viewpoints(&[[0.0; 3]]);
    room.settle();
    assert!(!has(&room, 0, statues[0]) && has(&room, 1, statues[0]));
}

#[test]
fn s236_a_client_that_joins_receives_a_paused_object_after_the_pause() {
    let (mut room, statues) = room(1, 3);
    room.server.object(statues[0]).set_paused(true);
    room.server[statues[1]].faces = statues[0];
    let late = room.enter();
    room.server.object(statues[2]).set_paused_for(late, true);
    room.settle();
    let joined = |room: &Room| room.guests[1].client.is_synchronized();
    assert!(joined(&room), "a paused object holds up nobody who joins");
    assert!(has(&room, 0, statues[0]) && !has(&room, 1, statues[0]) && !has(&room, 1, statues[2]));
    assert!(!room.guests[1].client.contains(room.guests[1].client[statues[1]].faces), "it reads as null");
    room.server[statues[0]].pose = 4;
    room.settle();
    room.server.object(statues[0]).set_paused(false);
    room.server.object(statues[2]).set_paused_for(late, false);
    room.settle();
    assert_eq!((pose(&room, 0, statues[0]), pose(&room, 1, statues[0])), (Some(4), Some(4)));
    assert!(has(&room, 1, statues[2]));
    assert_eq!(room.guests[1].client[statues[1]].faces, statues[0], "the reference heals");
}

#[test]
fn s236_an_object_that_is_paused_when_it_is_spawned_is_sent_after_the_pause() {
    let (mut room, _) = room(2, 1);
    let id = room.guests[0].id;
    let all = room.server.spawn(Statue { pose: 1, ..Statue::default() });
    let one = room.server.spawn(Statue { pose: 2, ..Statue::default() });
    room.server.object(all).set_paused(true);
    room.server.object(one).set_paused_for(id, true);
    (0..10).for_each(|_| _ = room.step());
    assert!(!has(&room, 0, all) && !has(&room, 1, all) && !has(&room, 0, one));
    assert_eq!(pose(&room, 1, one), Some(2));
    room.server[all].pose = 3;
    room.step();
    room.server.object(all).set_paused(false);
    room.server.object(one).set_paused_for(id, false);
    room.step();
    assert_eq!((pose(&room, 0, all), pose(&room, 1, all), pose(&room, 0, one)), (Some(3), Some(3), Some(2)));
}

#[test]
fn s236_an_opening_in_flight_when_a_pause_begins_arrives_or_waits_if_it_is_lost() {
    for (all, is_lost) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut room, _) = room(1, 1);
        let id = room.guests[0].id;
        let statue = room.server.spawn(Statue { pose: 1, ..Statue::default() });
        let packets = room.tick();
        let pause = |room: &mut Room, paused| {
            let mut object = room.server.object(statue);
            _ = if all { object.set_paused(paused) } else { object.set_paused_for(id, paused) };
        };
        pause(&mut room, true);
        room.server[statue].pose = 2;
        if is_lost {
            room.lose_until_noticed(0);
        } else {
            room.deliver(0, &packets[0]);
        }
        (0..50).for_each(|_| _ = room.step());
        assert_eq!(pose(&room, 0, statue), (!is_lost).then_some(1));
        pause(&mut room, false);
        room.settle();
        assert_eq!(pose(&room, 0, statue), Some(2));
    }
}

#[test]
fn s237_calls_on_a_paused_object_arrive_and_the_owner_stays_as_it_was() {
    let (mut room, statues) = room(2, 1);
    let (statue, id) = (statues[0], room.guests[0].id);
    room.server.object(statue).set_owner(Some(id));
    room.settle();
    room.server.object(statue).set_paused(true);
    room.server.call(statue).knock(3).expect("clients have it");
    room.guests[0].client.call(statue).ask(2).expect("the client owns it");
    room.settle();
    room.server[statue].price = 8;
    room.server.object(statue).set_owner(Some(room.guests[1].id));
    room.settle();
    assert_eq!([0, 1].map(|guest| room.guests[guest].client[statue].knocks), [3, 3]);
    assert_eq!(room.server[statue].knocks, 5, "3 of its own");
    assert!(room.guests[0].client.object_info(statue).is_owner(), "nobody was told yet");
    let refused = room.guests[0].client.call(statue).ask(9);
    assert!(refused.is_ok(), "the client does not know that it lost the object");
    room.settle();
    assert_eq!(room.server[statue].knocks, 5, "the server knows");
    room.server.object(statue).set_paused(false);
    room.settle();
    let owns = |guest: usize| room.guests[guest].client.object_info(statue).is_owner();
    assert!(!owns(0) && owns(1) && room.guests[1].client[statue].price == 8);
}

#[test]
fn s233_a_family_pauses_together_and_a_subobject_of_a_paused_object_waits() {
    let (mut room, statues) = room(2, 1);
    let (top, id) = (statues[0], room.guests[0].id);
    let child = room.server.object(top).spawn_subobject(Statue::default()).expect("it is there");
    room.settle();
    room.server.object(top).set_paused_for(id, true);
    let born = room.server.object(child).spawn_subobject(Statue::default()).expect("it is there");
    [top, child, born].into_iter().for_each(|statue| room.server[statue].pose = 6);
    room.settle();
    assert_eq!([top, child, born].map(|statue| pose(&room, 0, statue)), [Some(0), Some(0), None]);
    assert_eq!([top, child, born].map(|statue| pose(&room, 1, statue)), [Some(6); 3]);
    room.server.object(top).set_paused(true);
    let last = room.server.object(top).spawn_subobject(Statue::default()).expect("it is there");
    room.settle();
    assert!(!has(&room, 0, last) && !has(&room, 1, last) && room.server.object_info(last).is_paused());
    room.server.object(top).set_paused(false);
    room.settle();
    assert_eq!([top, child, born].map(|statue| pose(&room, 0, statue)), [Some(0), Some(0), None]);
    assert!(has(&room, 1, last));
    room.server.object(top).set_paused_for(id, false);
    room.settle();
    assert_eq!([top, child, born].map(|statue| pose(&room, 0, statue)), [Some(6); 3]);
    assert!(has(&room, 0, last));
}

#[test]
fn s233_a_pause_ends_with_a_tear_off() {
    let (mut room, statues) = room(1, 2);
    let id = room.guests[0].id;
    room.server.object(statues[0]).set_paused(true);
    room.server.object(statues[1]).set_paused_for(id, true);
    for &statue in &statues {
        room.server[statue].pose = 3;
    }
    room.settle();
    for &statue in &statues {
        room.server.object(statue).tear_off();
        assert!(!room.server.object_info(statue).is_paused_for(id));
        room.server.object(statue).set_paused(true);
    }
    room.settle();
    for &statue in &statues {
        assert!(room.client().object_info(statue).is_torn_off() && pose(&room, 0, statue) == Some(3));
    }
}

/// Nothing of the objects was sent to the client before the tear-off, so it did not see them while they were
/// paused.
#[test]
fn s233_a_pause_of_a_family_ends_with_its_tear_off_for_all_of_the_family() {
    for is_for_one in [false, true] {
        let (mut room, _) = room(1, 0);
        let id = room.guests[0].id;
        let top = room.server.spawn(Statue::default());
        if is_for_one {
            room.server.object(top).set_paused_for(id, true);
        } else {
            room.server.object(top).set_paused(true);
        }
        let child = room.server.object(top).spawn_subobject(Statue::default()).expect("it is there");
        let leaf = room.server.object(child).spawn_subobject(Statue::default()).expect("it is there");
        room.settle();
        assert!(!has(&room, 0, top));
        room.server.object(top).tear_off();
        room.settle();
        for statue in [top, child, leaf] {
            assert!(room.client().object_info(statue).is_torn_off(), "{statue:?}, {is_for_one}");
        }
    }
}

#[test]
fn s234_a_change_that_waits_for_its_update_time_waits_for_the_pause_too() {
    let (mut room, statues) = room(1, 1);
    let statue = statues[0];
    room.server.object(statue).set_update_rate(Some(UpdateRate::every(Duration::from_secs(1))));
    (0..70).for_each(|_| _ = room.step());
    room.server[statue].pose = 1;
    room.step();
    room.server.object(statue).set_paused(true);
    (0..100).for_each(|_| _ = room.step());
    assert_eq!(pose(&room, 0, statue), Some(0));
    room.server.object(statue).set_paused(false);
    room.step();
    assert_eq!(pose(&room, 0, statue), Some(1), "without another wait");
}

#[test]
fn s233_objects_that_are_paused_again_and_again_under_loss_converge() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (mut room, statues) = room(2, 40);
        let ids = [room.guests[0].id, room.guests[1].id];
        for tick in 1..200_u32 {
            for &statue in &statues {
                if rng.chance(0.1) {
                    room.server.object(statue).set_paused(rng.chance(0.3));
                }
                for id in ids {
                    if rng.chance(0.1) {
                        room.server.object(statue).set_paused_for(id, rng.chance(0.3));
                    }
                    if rng.chance(0.02) {
                        room.server.object(statue).set_visible(id, rng.chance(0.7));
                    }
                }
                if rng.chance(0.3) {
                    room.server[statue].pose = tick;
                    room.server[statue].cracks.push(tick);
                }
            }
            let before: Vec<Vec<Option<Statue>>> = shown(&room, &statues);
            for (guest, packets) in room.tick().into_iter().enumerate() {
                let arriving: Vec<_> = packets.into_iter().filter(|_| !rng.chance(0.2)).collect();
                room.deliver(guest, &arriving);
                let replies = room.replies(guest);
                let arriving: Vec<_> = replies.into_iter().filter(|_| !rng.chance(0.2)).collect();
                room.hear(guest, &arriving);
            }
            for (guest, now) in shown(&room, &statues).into_iter().enumerate() {
                for (at, now) in now.into_iter().enumerate() {
                    let is_paused = room.server.object_info(statues[at]).is_paused_for(ids[guest]);
                    let is_same = now.is_none() || now == before[guest][at];
                    assert!(!is_paused || is_same, "seed {seed}, tick {tick}: {now:?} is new on a client");
                }
            }
        }
        for &statue in &statues {
            room.server.object(statue).set_paused(false);
            ids.into_iter().for_each(|id| {
                _ = room.server.object(statue).set_paused_for(id, false).set_visible(id, true);
            });
        }
        room.settle();
        for (guest, &statue) in (0..2).flat_map(|guest| statues.iter().map(move |statue| (guest, statue))) {
            let (there, here) = (&room.guests[guest].client[statue], &room.server[statue]);
            let mut cracks = there.cracks.to_vec();
            cracks.sort_unstable();
            assert_eq!((there.pose, &cracks[..]), (here.pose, &here.cracks[..]), "seed {seed}");
        }
    }
}

fn shown(room: &Room, statues: &[ObjectRef<Statue>]) -> Vec<Vec<Option<Statue>>> {
    let of = |client: &Client| statues.iter().map(|&statue| client.get(statue).cloned()).collect();
    room.guests.iter().map(|guest| of(&guest.client)).collect()
}

#[test]
fn s233_a_pause_costs_nothing_while_nothing_changes() {
    let (mut room, statues) = room(1, 100);
    let id = room.guests[0].id;
    for &statue in &statues {
        room.server.object(statue).set_paused_for(id, true);
        room.server[statue].pose = 1;
    }
    room.settle();
    let bytes: usize = (0..100).map(|_| room.step()).sum();
    assert!(bytes < 100 * 2 * crate::support::SIGN_OF_LIFE_BYTES, "{bytes} bytes");
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.waiting_objects), Some(0));
}
