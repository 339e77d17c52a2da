//! The reason that a server returns for a change that does not arrive, for each mistake that can hold the
//! change back.
//!
//! *Invariant:* the answer names the mistake, and what to do about it.

use repl::prelude::*;
use repl::{Area, Audience, Group, NotSent, Relevancy};

use crate::support::Room;

const RED: Group = Group(1);
const HALL: Group = Group(7);

#[derive(Replicated, Default)]
struct Chest {
    #[replicated(range = 0..=9)]
    level: u8,
    #[replicated(push)]
    gold: u32,
    #[replicated(push)]
    coins: FastArray<u8>,
    #[replicated(push, quantize(step = 0.01, range = -1.0..=1.0))]
    tilt: f32,
    #[replicated(condition = OwnerOnly)]
    secret: u32,
    #[replicated(condition = ReplayOrOwner)]
    diary: u32,
    #[replicated(condition = InitialOrOwner)]
    motto: u32,
    #[replicated]
    place: [f32; 2],
}

#[derive(Replicated, Default)]
struct Wagon {
    #[replicated]
    load: u32,
    #[replicated(push)]
    driver: u32,
}

fn room() -> (Room, ObjectRef<Chest>) {
    let register = |client: &mut Client| _ = client.register::<Chest>().register::<Wagon>();
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        let chest = server.spawn(Chest::default());
        server.register_external::<Wagon>();
        chest
    })
}

/// Returns why nothing of an object is sent to the only guest, and checks that the text has a hint.
fn why<T: Replicated>(room: &Room, object: ObjectRef<T>, hint: &str) -> NotSent {
    let id = room.guests[0].id;
    let reason = room.server.object_info(object).why_not_sent_to(id).expect("both exist");
    assert!(reason.to_string().contains(hint), "`{hint}` is not in `{reason}`");
    reason
}

#[test]
fn a_value_that_was_refused_is_named_as_the_reason() {
    let (mut room, chest) = room();
    room.server[chest].level = 10;
    room.settle();
    assert_eq!(why(&room, chest, "`ValueRefused`"), NotSent::Refused);
    room.server[chest].level = 9;
    room.settle();
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged);
}

#[test]
fn a_push_property_that_was_written_without_a_mark_is_named_as_the_reason() {
    let (mut room, chest) = room();
    room.server[chest].gold = 5;
    room.settle();
    assert_eq!(room.client()[chest].gold, 0);
    assert_eq!(why(&room, chest, "call `mark_dirty` after it"), NotSent::Unmarked);
    assert_eq!(why(&room, chest, "write it with `edit`"), NotSent::Unmarked, "asking changes nothing");
    room.server.edit(chest).gold_mut();
    room.settle();
    assert_eq!(room.client()[chest].gold, 5);
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged);
}

#[test]
fn push_properties_that_need_no_mark_are_no_reason() {
    let (mut room, chest) = room();
    room.server[chest].coins.extend([1, 2, 3]);
    room.settle();
    assert_eq!(room.client()[chest].coins.len(), 3);
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged, "it marks itself");
    room.server.edit(chest).tilt(0.5);
    room.settle();
    // Less than a quarter of a step counts as the same value.
    room.server[chest].tilt += 0.000_1;
    room.settle();
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged, "the value is the same");
}

#[test]
fn an_external_object_that_was_not_compared_is_named_as_the_reason() {
    let (mut room, _) = room();
    let mut wagon = Wagon::default();
    let object = room.server.external().spawn(&wagon);
    room.settle();
    wagon.load = 7;
    room.step();
    assert_eq!(why(&room, object, "`External::compare`"), NotSent::NotCompared);
    for _ in 0..3 {
        room.server.external().compare(object, &wagon).expect("it exists");
        room.step();
    }
    assert_eq!(why(&room, object, "everything"), NotSent::NothingChanged);
    wagon.driver = 3;
    room.server.external().compare(object, &wagon).expect("it exists");
    room.step();
    assert_eq!(why(&room, object, "call `mark_dirty`"), NotSent::Unmarked);
    room.server.external().edit(object, &mut wagon, |wagon| _ = wagon.driver(4)).expect("it exists");
    room.step();
    assert_eq!(why(&room, object, "everything"), NotSent::NothingChanged);
}

#[test]
fn a_property_for_the_owner_of_an_object_without_owner_is_named_as_the_reason() {
    let (mut room, chest) = room();
    let id = room.guests[0].id;
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged, "nothing has changed");
    room.server[chest].secret = 1;
    room.settle();
    assert_eq!(why(&room, chest, "call `set_owner`"), NotSent::NoOwner);
    room.server.object(chest).set_owner(Some(id));
    room.settle();
    assert_eq!(room.client()[chest].secret, 1);
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged);
}

#[test]
fn a_property_that_was_sent_in_spite_of_its_condition_is_no_reason() {
    let (mut room, _) = room();
    let chest = room.server.spawn(Chest { motto: 1, ..Chest::default() });
    room.settle();
    assert_eq!(room.client()[chest].motto, 1);
    assert_eq!(why(&room, chest, "everything"), NotSent::NothingChanged, "it was sent with the opening");
    let id = room.enter_replay();
    let diary = room.server.spawn(Chest { diary: 1, ..Chest::default() });
    room.settle();
    assert_eq!(why(&room, diary, "call `set_owner`"), NotSent::NoOwner);
    let of_replay = room.server.object_info(diary).why_not_sent_to(id);
    assert_eq!(of_replay, Some(NotSent::NothingChanged), "a replay has it");
}

#[test]
fn an_object_for_its_owner_that_has_none_is_named_as_the_reason() {
    let (mut room, chest) = room();
    let id = room.guests[0].id;
    room.server.object(chest).set_relevancy(Relevancy::OwnerOnly);
    room.settle();
    assert_eq!(why(&room, chest, "the object has no owner, or one"), NotSent::NoOwner);
    let stranger = room.enter();
    room.server.object(chest).set_owner(Some(id));
    room.settle();
    let of_stranger = room.server.object_info(chest).why_not_sent_to(stranger);
    assert_eq!(of_stranger, Some(NotSent::Irrelevant), "it has an owner");
    room.server.object(chest).set_relevancy(Relevancy::Always).set_audience(Audience::Owner);
    room.settle();
    let of_stranger = room.server.object_info(chest).why_not_sent_to(stranger);
    assert_eq!(of_stranger, Some(NotSent::NotInAudience), "it has an owner");
    room.server.object(chest).set_owner(None);
    room.settle();
    assert_eq!(why(&room, chest, "call `set_owner`"), NotSent::NoOwner);
}

#[test]
fn an_owner_that_has_ended_is_named_as_the_reason() {
    let (mut room, chest) = room();
    let ended = room.server.connect(room.now);
    room.server.connection(ended).disconnect();
    room.server.object(chest).set_owner(Some(ended));
    room.server[chest].secret = 1;
    room.settle();
    assert_eq!(room.server.object_info(chest).owner(), Some(ended), "the end changes no owner");
    assert_eq!(why(&room, chest, "one whose connection has ended: call `set_owner`"), NotSent::NoOwner);
    room.server.object(chest).set_relevancy(Relevancy::OwnerOnly);
    room.settle();
    assert_eq!(why(&room, chest, "one whose connection has ended"), NotSent::NoOwner);
    room.server.object(chest).set_relevancy(Relevancy::Always).set_audience(Audience::Owner);
    room.settle();
    assert_eq!(why(&room, chest, "one whose connection has ended"), NotSent::NoOwner);
    let other = room.enter();
    room.server.object(chest).set_owner(Some(other));
    room.settle();
    assert_eq!(why(&room, chest, "audience"), NotSent::NotInAudience);
}

/// Returns a room with a chest that is seen from ten metres.
fn room_with_a_place() -> (Room, ObjectRef<Chest>) {
    let register = |client: &mut Client| _ = client.register::<Chest>();
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        server
            .class::<Chest>()
            .locate(Area::within(10.0).flat(), |chest| [chest.place[0], chest.place[1], 0.0]);
        server.spawn(Chest::default())
    })
}

#[test]
fn a_connection_without_viewpoints_is_named_as_the_reason() {
    let (mut room, chest) = room_with_a_place();
    let id = room.guests[0].id;
    assert_eq!(why(&room, chest, "no viewpoints: call `set_viewpoints`"), NotSent::NoViewpoints);
    room.server.connection(id).set_viewpoints(&[[500.0, 0.0, 0.0]]);
    room.settle();
    assert_eq!(why(&room, chest, "too far"), NotSent::OutOfSight);
    room.server.connection(id).set_viewpoints(&[]);
    room.settle();
    assert_eq!(why(&room, chest, "no viewpoints"), NotSent::NoViewpoints);
}

#[test]
fn the_parts_of_a_combination_that_fail_are_named_as_the_reason() {
    let (mut room, chest) = room_with_a_place();
    let id = room.guests[0].id;
    let says = |room: &mut Room, expected: &str| {
        room.settle();
        let reason = room.server.object_info(chest).why_not_sent_to(id).expect("both exist").to_string();
        assert!(reason.contains(expected), "`{expected}` is not in `{reason}`");
    };
    let near_in_hall = Relevancy::all([Relevancy::Located, HALL.into()]);
    room.server.object(chest).set_relevancy(Relevancy::any([RED.into(), near_in_hall.clone()]));
    says(&mut room, "`Any([Group(Group(1)), All([Located, Group(Group(7))])])`");
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    says(&mut room, "`Any([Group(Group(1)), Group(Group(7))])`");
    room.server.object(chest).set_relevancy(near_in_hall);
    says(&mut room, "`Group(Group(7))`");
    room.server.connection(id).join_group(HALL).set_viewpoints(&[[500.0, 0.0, 0.0]]);
    says(&mut room, "too far");
    room.server.connection(id).set_viewpoints(&[]);
    says(&mut room, "no viewpoints");
    room.server.object(chest).set_relevancy(Relevancy::all([Relevancy::Always, Relevancy::not(HALL)]));
    says(&mut room, "`Not(Group(Group(7)))`");
    room.server.object(chest).set_relevancy(Relevancy::Always);
    room.server.object(chest).set_audience(Relevancy::all([RED, HALL]));
    says(&mut room, "`Group(Group(1))`");
    room.server.object(chest).set_audience(Relevancy::any([HALL]));
    says(&mut room, "everything");
}
