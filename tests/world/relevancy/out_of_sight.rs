//! Objects that clients keep when they are out of sight.

use std::time::Duration;

use repl::prelude::*;
use repl::{Area, CloseReason, Group, OutOfSight, Relevancy};

use super::rules::has;
use super::{Banner, Bird, Creature, RADIUS, creature, in_plane, register};
use crate::support::{Guest, Room, leaks};

const HERE: [f32; 3] = [0.0; 3];
const AWAY: [f32; 3] = [5_000.0, 0.0, 0.0];
const RED: Group = Group(1);

/// An object that refers to a creature, and that everyone sees.
#[derive(Replicated, Default)]
struct Hunter {
    #[replicated]
    prey: ObjectRef<Creature>,
}

/// An object that counts its notifies.
#[derive(Replicated, Default)]
struct Lamp {
    #[replicated(notify = on_brightness)]
    brightness: u32,
    #[replicated(notify = on_height)]
    height: u32,
    told: Vec<(u32, u32)>,
}

impl Lamp {
    fn on_brightness(&mut self, old: &u32) {
        self.told.push((*old, self.brightness));
    }

    fn on_height(&mut self, old: &u32) {
        self.told.push((*old, self.height));
    }
}

fn register_all(client: &mut Client) {
    register(client);
    client.register::<Hunter>().register::<Lamp>();
}

fn room_without_guests(setting: OutOfSight) -> Room {
    let mut room = Room::new(ServerConfig::default(), register_all);
    room.server.class().locate(Area::within(RADIUS).flat(), in_plane);
    room.server.register::<Bird>().register::<Banner>().register::<Hunter>().register::<Lamp>();
    room.server.class::<Creature>().set_out_of_sight(setting);
    room
}

/// Returns a room with a client that has a viewpoint at the origin. `setting` is the setting of creatures.
fn room(setting: OutOfSight) -> (Room, ConnectionId) {
    let mut room = room_without_guests(setting);
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[HERE]);
    room.settle();
    (room, id)
}

fn look(room: &mut Room, at: [f32; 3]) {
    let id = room.guests[0].id;
    room.server.connection(id).set_viewpoints(&[at]);
    room.settle();
}

fn is_out_of_sight<T>(room: &Room, object: ObjectRef<T>) -> bool {
    room.client().object_info(object).is_out_of_sight()
}

/// Returns the updates of an object.
fn polled<T>(room: &mut Room, object: ObjectRef<T>) -> Vec<UpdateKind> {
    let updates = room.polled(0).into_iter().filter(|(about, _)| *about == object.erase());
    updates.map(|(_, what)| what).collect()
}

#[test]
fn s241_a_kept_object_has_its_last_values_and_nothing_of_it_is_sent() {
    const SECRET: u32 = 0xdead_b1e5;
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    let hunter = room.server.spawn(Hunter { prey: wolf });
    room.settle();
    room.polled(0);
    look(&mut room, AWAY);
    assert_eq!(room.polled(0), [(wolf.erase(), UpdateKind::OutOfSight)]);
    assert!(is_out_of_sight(&room, wolf) && has(&room, 0, wolf));
    assert_eq!(room.client()[wolf].health, 1);
    assert_eq!(room.client().objects::<Creature>().count(), 1);
    assert_eq!(room.client()[hunter].prey, wolf, "references to it remain valid");
    assert_eq!(room.client().object_info(wolf).role(), Some(Role::SimulatedProxy));
    assert_eq!(room.client().object_info(wolf).class_name(), Some("Creature"));
    for _ in 0..20 {
        room.server[wolf].health = SECRET;
        let packets = room.tick().remove(0);
        assert!(!packets.iter().any(|packet| leaks(packet, &SECRET.to_le_bytes())));
        room.deliver(0, &packets);
        room.acknowledge();
    }
    assert_eq!(room.client()[wolf].health, 1);
    look(&mut room, HERE);
    assert_eq!(room.polled(0), [(wolf.erase(), UpdateKind::BackInSight)]);
    assert!(!is_out_of_sight(&room, wolf));
    assert_eq!(room.client()[wolf].health, SECRET);
    assert_eq!(room.client()[hunter].prey, wolf);
    room.server[wolf].health = 5;
    room.settle();
    assert_eq!(polled(&mut room, wolf), [UpdateKind::Changed]);
    assert_eq!(room.client()[wolf].health, 5);
    assert_eq!(room.client().objects::<Creature>().count(), 1);
}

#[test]
fn s241_a_value_that_returned_to_its_initial_value_is_not_the_kept_value() {
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    look(&mut room, AWAY);
    room.server[wolf].health = 0;
    look(&mut room, HERE);
    assert_eq!(room.client()[wolf], Creature { health: 0, secret: 0, detail: 1, ..creature(10.0, 0.0) });
}

#[test]
fn s241_an_object_has_its_own_setting_or_that_of_its_class() {
    let (mut room, _) = room(OutOfSight::kept());
    let [wolf, bear] = [10.0, 20.0].map(|x| room.server.spawn(creature(x, 0.0)));
    let bird = room.server.spawn(Bird::default());
    room.server.object(bird).set_relevancy(Relevancy::Group(RED));
    room.server.object(bear).set_out_of_sight(OutOfSight::removed());
    let id = room.guests[0].id;
    room.server.connection(id).join_group(RED);
    room.settle();
    room.server.connection(id).leave_group(RED);
    look(&mut room, AWAY);
    assert_eq!([has(&room, 0, wolf), has(&room, 0, bear), has(&room, 0, bird)], [true, false, false]);
    room.server.object(bird).set_out_of_sight(OutOfSight::kept());
    room.server.connection(id).join_group(RED);
    room.settle();
    room.server.connection(id).leave_group(RED);
    room.settle();
    assert!(is_out_of_sight(&room, bird));
}

#[test]
fn s241_references_to_a_kept_object_that_arrive_while_it_is_out_of_sight_are_valid() {
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    look(&mut room, AWAY);
    let hunter = room.server.spawn(Hunter { prey: wolf });
    room.settle();
    assert_eq!(room.client()[hunter].prey, wolf);
}

#[test]
fn s241_notifies_compare_with_the_kept_values() {
    let (mut room, id) = room(OutOfSight::kept());
    room.server.class::<Lamp>().set_out_of_sight(OutOfSight::kept());
    let lamp = room.server.spawn(Lamp { brightness: 7, height: 3, ..Lamp::default() });
    room.server.object(lamp).set_relevancy(Relevancy::Group(RED));
    room.server.connection(id).join_group(RED);
    room.settle();
    assert_eq!(room.client()[lamp].told, [(0, 7), (0, 3)]);
    room.server.connection(id).leave_group(RED);
    room.settle();
    room.server[lamp].brightness = 0;
    room.server.connection(id).join_group(RED);
    room.settle();
    assert_eq!(room.client()[lamp].told, [(7, 0)]);
}

#[test]
fn s242_a_destroyed_object_is_kept_until_another_object_is_in_its_slot() {
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    let hunter = room.server.spawn(Hunter { prey: wolf });
    room.settle();
    look(&mut room, AWAY);
    room.polled(0);
    room.server.despawn(wolf);
    room.settle();
    look(&mut room, HERE);
    assert!(is_out_of_sight(&room, wolf), "nobody has told the client");
    assert_eq!(room.polled(0), []);
    assert_eq!(room.client()[hunter].prey, wolf);
    let wolves: Vec<_> = (0..4).map(|_| room.server.spawn(creature(20.0, 0.0))).collect();
    let again =
        wolves.iter().find(|new| new.guid().map(|guid| guid.slot()) == wolf.guid().map(|guid| guid.slot()));
    let again = *again.expect("the slot is free");
    room.settle();
    assert!(!has(&room, 0, wolf) && has(&room, 0, again));
    assert_eq!(polled(&mut room, wolf), [UpdateKind::Despawned(CloseReason::Destroyed)]);
    assert_eq!(room.client()[hunter].prey, ObjectRef::NULL);
}

#[test]
fn s243_an_object_that_is_taken_from_a_client_on_purpose_is_kept_only_if_the_setting_says_so() {
    for is_kept in [false, true] {
        let setting = OutOfSight::kept();
        let (mut room, id) = room(if is_kept { setting.even_if_hidden() } else { setting });
        let all: Vec<_> = (0..4).map(|_| room.server.spawn(creature(10.0, 0.0))).collect();
        let flag = room.server.spawn(creature(10.0, 0.0));
        room.server.object(flag).set_relevancy(Relevancy::attached_to(all[0]));
        room.settle();
        room.server.object(all[0]).set_visible(id, false);
        room.server.object(all[1]).set_relevancy(Relevancy::Nobody);
        room.server.object(all[2]).set_audience(RED);
        room.server.object(all[3]).set_dormancy(Dormancy::Initial);
        room.settle();
        for wolf in all.into_iter().take(3).chain([flag]) {
            assert_eq!(is_out_of_sight(&room, wolf), is_kept, "{wolf:?}");
            assert_eq!(has(&room, 0, wolf), is_kept, "{wolf:?}");
        }
    }
}

#[test]
fn s244_a_client_keeps_at_most_as_many_objects_as_it_wants() {
    let mut room = room_without_guests(OutOfSight::kept());
    let id = room.enter();
    let config = ClientConfig { max_out_of_sight: 2, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(1_000 + id.index() as u64));
    register_all(&mut client);
    room.guests[0].client = client;
    room.server.connection(id).set_viewpoints(&[HERE]);
    let wolves = [10.0, 20.0, 30.0].map(|x| room.server.spawn(creature(x, 0.0)));
    let hunter = room.server.spawn(Hunter { prey: wolves[1] });
    room.settle();
    room.polled(0);
    for wolf in [1, 0, 2] {
        room.server[wolves[wolf]].position = [5_000.0, 0.0];
        room.settle();
    }
    assert_eq!(wolves.map(|wolf| has(&room, 0, wolf)), [true, false, true]);
    let told = polled(&mut room, wolves[1]);
    assert_eq!(
        told[told.len() - 2..],
        [UpdateKind::OutOfSight, UpdateKind::Despawned(CloseReason::Relevancy)]
    );
    assert_eq!(room.client()[hunter].prey, ObjectRef::NULL);
    room.server[wolves[1]].position = [0.0, 0.0];
    room.settle();
    assert_eq!(polled(&mut room, wolves[1]), [UpdateKind::Spawned]);
    assert_eq!(room.client()[hunter].prey, wolves[1]);
}

#[test]
fn s245_subobjects_are_kept_with_their_object() {
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    let collar = room.server.object(wolf).spawn_subobject(Banner { colour: 4 }).expect("a wolf");
    room.settle();
    room.polled(0);
    let children = |room: &Room| room.client().object_info(wolf).subobjects().collect::<Vec<_>>();
    look(&mut room, AWAY);
    let told = room.polled(0);
    assert_eq!(told, [collar.erase(), wolf.erase()].map(|object| (object, UpdateKind::OutOfSight)));
    assert_eq!(children(&room), [collar.erase()]);
    assert_eq!(room.client().object_info(collar).parent(), Some(wolf.erase()));
    room.server[collar].colour = 5;
    look(&mut room, HERE);
    let told = room.polled(0);
    assert_eq!(told, [wolf.erase(), collar.erase()].map(|object| (object, UpdateKind::BackInSight)));
    assert_eq!(children(&room), [collar.erase()]);
    assert_eq!(room.client()[collar].colour, 5);
    look(&mut room, AWAY);
    room.server.despawn(wolf);
    room.settle();
    let news: Vec<_> = (0..4).map(|_| room.server.spawn(creature(5_000.0, 0.0))).collect();
    room.settle();
    assert!(news.into_iter().all(|new| has(&room, 0, new)));
    assert!(!has(&room, 0, wolf) && !has(&room, 0, collar));
}

#[test]
fn s245_the_first_poll_reports_a_kept_object_before_its_subobjects() {
    let mut room = room_without_guests(OutOfSight::kept());
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    register_all(&mut client);
    room.guests.push(Guest { client, id });
    room.server.connection(id).set_viewpoints(&[HERE]);
    let early = room.server.spawn(creature(10.0, 0.0));
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    room.server.despawn(early);
    room.settle();
    // The subobject gets the slot of the removed object, before that of its parent.
    let collar = room.server.object(wolf).spawn_subobject(Banner { colour: 4 }).expect("a wolf");
    assert!(collar.guid() < wolf.guid());
    room.settle();
    look(&mut room, AWAY);
    let told = [UpdateKind::Spawned, UpdateKind::OutOfSight];
    let told = [wolf.erase(), collar.erase()].map(|object| told.clone().map(|what| (object, what)));
    assert_eq!(room.polled(0), told.concat());
}

#[test]
fn s245_the_first_poll_reports_an_object_before_its_kept_subobject() {
    let mut room = room_without_guests(OutOfSight::kept().even_if_hidden());
    let id = room.server.connect(room.now);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    register_all(&mut client);
    room.guests.push(Guest { client, id });
    room.server.connection(id).set_viewpoints(&[HERE]);
    let wolf = room.server.spawn(creature(10.0, 0.0));
    let [collar, tail] =
        [4, 5].map(|colour| room.server.object(wolf).spawn_subobject(Banner { colour }).expect("a wolf"));
    room.settle();
    room.server.object(collar).set_visible(id, false);
    room.settle();
    let came = [wolf.erase(), tail.erase(), collar.erase()].map(|object| (object, UpdateKind::Spawned));
    assert_eq!(room.polled(0), [&came[..], &[(collar.erase(), UpdateKind::OutOfSight)]].concat());
}

#[test]
fn s246_a_kept_object_ends_with_the_session() {
    let (mut room, _) = room(OutOfSight::kept());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    look(&mut room, AWAY);
    room.polled(0);
    // Nothing arrives until both sides end the session. Then the client connects again by itself.
    for _ in 0..150 {
        room.wait(Duration::from_millis(84));
        room.tick();
        room.replies(0);
    }
    assert!(is_out_of_sight(&room, wolf), "the last state remains until the next session begins");
    room.guests[0].id = room.server.connect(room.now);
    for _ in 0..200 {
        room.wait(Duration::from_millis(84));
        let replies = room.replies(0);
        room.hear(0, &replies);
        for packet in room.tick_one() {
            drop(room.guests[0].client.receive(room.now, &packet));
        }
    }
    assert!(room.client().is_connected() && !has(&room, 0, wolf));
    assert_eq!(polled(&mut room, wolf), [UpdateKind::Despawned(CloseReason::Relevancy)]);
    look(&mut room, HERE);
    assert_eq!(polled(&mut room, wolf), [UpdateKind::Spawned]);
}

#[test]
fn r17_an_object_that_goes_and_comes_while_packets_are_lost_is_the_same_object() {
    for lost in 0..4_u32 {
        let (mut room, id) = room(OutOfSight::kept());
        let wolf = room.server.spawn(creature(10.0, 0.0));
        room.settle();
        for round in 0..6_u32 {
            room.server[wolf].health = 10 + round;
            let at = if round % 2 == 0 { AWAY } else { HERE };
            room.server.connection(id).set_viewpoints(&[at]);
            if lost & (1 << (round % 2)) == 0 {
                room.step();
            } else {
                room.lose_until_noticed(0);
            }
        }
        room.settle();
        assert_eq!(room.client()[wolf].health, 15);
        assert!(!is_out_of_sight(&room, wolf));
        let told = polled(&mut room, wolf);
        assert!(!told.iter().any(|what| matches!(what, UpdateKind::Despawned(_))), "{told:?}");
    }
}

#[test]
fn s247_a_client_is_told_at_once_of_the_end_of_a_kept_object_if_the_setting_says_so() {
    for is_lost in [false, true] {
        let (mut room, _) = room(OutOfSight::kept().until_destroyed());
        let [wolf, unseen] = [10.0, 3_000.0].map(|x| room.server.spawn(creature(x, 0.0)));
        let collar = room.server.object(wolf).spawn_subobject(Banner { colour: 4 }).expect("a wolf");
        let hunter = room.server.spawn(Hunter { prey: wolf });
        let stranger = room.enter();
        room.server.connection(stranger).set_viewpoints(&[AWAY]);
        room.settle();
        look(&mut room, AWAY);
        (0..2).for_each(|guest| _ = room.polled(guest));
        assert!(is_out_of_sight(&room, wolf) && is_out_of_sight(&room, collar));
        room.server.despawn(unseen);
        room.server.despawn(wolf);
        if is_lost {
            room.lose_until_noticed(0);
        }
        room.settle();
        assert!(!has(&room, 0, wolf) && !has(&room, 0, collar));
        let told = room.polled(0).into_iter().filter(|(object, _)| *object != hunter.erase());
        let ended = UpdateKind::Despawned(CloseReason::Destroyed);
        let expected = [collar.erase(), wolf.erase()].map(|object| (object, ended.clone()));
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert_eq!(room.client()[hunter].prey, ObjectRef::NULL);
        assert!(room.polled(1).iter().all(|(object, _)| *object == hunter.erase()));
    }
}

#[test]
fn s247_an_object_that_came_back_ends_like_any_other() {
    let (mut room, id) = room(OutOfSight::kept().until_destroyed());
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    for (at, is_sent) in [(HERE, true), (HERE, false), (AWAY, false)] {
        let wolf = room.server.spawn(creature(10.0, 0.0));
        look(&mut room, HERE);
        look(&mut room, AWAY);
        assert!(is_out_of_sight(&room, wolf));
        room.server.connection(id).set_viewpoints(&[at]);
        if is_sent {
            room.step();
        }
        room.server.despawn(wolf);
        room.settle();
        assert!(!has(&room, 0, wolf), "{at:?}, {is_sent}");
    }
    assert!(has(&room, 0, wolf));
}
