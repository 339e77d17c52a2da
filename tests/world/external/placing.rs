//! Objects without a position of their own: the roots of entities, which the user places.

use repl::Area;
use repl::prelude::*;

use crate::support::Room;

/// The root of an entity, whose parts are its subobjects.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Entity;

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Health {
    #[replicated]
    points: u16,
}

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Flag {
    #[replicated(location)]
    position: [f32; 2],
}

fn area() -> Area {
    Area::within(10.0).flat()
}

/// A room with two guests: one looks at the origin, and the other looks 100 units to the east.
fn room() -> (Room, [ConnectionId; 2]) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Entity>().register::<Health>();
    });
    room.server.class::<Entity>().set_placed_area(area());
    room.server.register_external::<Health>();
    let guests = [0.0, 100.0].map(|x| {
        let guest = room.enter();
        room.server.connection(guest).set_viewpoints(&[[x, 0.0, 0.0]]);
        guest
    });
    room.settle();
    (room, guests)
}

fn entity(server: &mut Server, points: u16) -> (ObjectRef<Entity>, ObjectRef<Health>) {
    let root = server.external().spawn(&Entity);
    let health = server.external().spawn_subobject(root, &Health { points }).expect("the root exists");
    (root, health)
}

/// Returns for each guest whether it has the entity. Asserts that a guest has all objects of the entity or
/// none.
fn seers(room: &Room, (root, health): (ObjectRef<Entity>, ObjectRef<Health>)) -> [bool; 2] {
    [0, 1].map(|guest| {
        let client = &room.guests[guest].client;
        assert_eq!(client.contains(root), client.contains(health), "an entity is seen whole");
        client.contains(root)
    })
}

#[test]
fn an_entity_is_seen_whole_where_its_root_was_placed() {
    let (mut room, _) = room();
    let goblin = entity(&mut room.server, 7);
    room.server.external().place(goblin.0, [3.0, 1.0]).expect("it exists");
    room.settle();
    assert_eq!(seers(&room, goblin), [true, false]);
    room.server.external().place(goblin.0, [97.0, 1.0]).expect("it exists");
    room.settle();
    assert_eq!(seers(&room, goblin), [false, true]);
    room.server.external().place(goblin.0, [f32::NAN, 1.0]).expect("it exists");
    room.settle();
    assert_eq!(seers(&room, goblin), [false, false], "it is nowhere");
}

#[test]
fn an_entity_that_was_not_placed_is_seen_only_by_its_owner() {
    let (mut room, [first, _]) = room();
    room.server.connection(first).set_viewpoints(&[[0.0; 3], [f32::MAX, 0.0, 0.0]]);
    let (lost, mine) = (entity(&mut room.server, 1), entity(&mut room.server, 2));
    room.server.object(mine.0).set_owner(Some(first));
    room.settle();
    assert_eq!((seers(&room, lost), seers(&room, mine)), ([false, false], [true, false]));
    room.server.external().place(lost.0, [0.0, 0.0]).expect("it exists");
    room.settle();
    assert_eq!(seers(&room, lost), [true, false]);
}

#[test]
fn an_entity_in_a_slot_that_is_used_again_is_not_where_the_former_one_was() {
    let (mut room, _) = room();
    let goblin = entity(&mut room.server, 7);
    room.server.external().place(goblin.0, [3.0, 1.0]).expect("it exists");
    room.settle();
    room.server.despawn(goblin.0);
    room.settle();
    let others: Vec<_> = (0..4).map(|points| entity(&mut room.server, points)).collect();
    room.settle();
    assert!(
        others
            .iter()
            .any(|other| other.0.guid().map(|guid| guid.slot()) == goblin.0.guid().map(|guid| guid.slot()))
    );
    assert!(others.iter().all(|&other| seers(&room, other) == [false, false]));
}

#[test]
fn a_missing_object_and_one_of_another_class_are_not_placed() {
    let (mut room, _) = room();
    let (root, health) = entity(&mut room.server, 7);
    room.server.despawn(root);
    assert_eq!(room.server.external().place(root, [0.0, 0.0]), Err(repl::CompareError::Gone));
    let (root, _) = entity(&mut room.server, 7);
    let other = ObjectRef::<Health>::new(root.guid().expect("it is not null"));
    room.server.external::<Health>();
    assert_ne!(other, health);
    let placed = std::panic::AssertUnwindSafe(|| room.server.external().place(other, [0.0, 0.0]));
    assert_eq!(std::panic::catch_unwind(placed).expect("no panic"), Err(repl::CompareError::OtherClass));
}

#[test]
#[should_panic = "call `server.class::<Health>().set_placed_area(area)` before the first connection"]
fn a_class_without_an_area_cannot_be_placed() {
    let (mut room, _) = room();
    let (_, health) = entity(&mut room.server, 7);
    room.server.external().place(health, [0.0, 0.0]).ok();
}

#[test]
#[should_panic = "change the field and call `compare`, instead of `place`"]
fn a_class_whose_position_is_in_its_fields_cannot_be_placed() {
    let mut server = Server::new(ServerConfig::default());
    server.register_external::<Flag>().class::<Flag>().set_area(area());
    let flag = server.external().spawn(&Flag::default());
    server.external().place(flag, [1.0, 1.0]).ok();
}

#[test]
#[should_panic = "call `register_external::<Health>()` before anything else registers or spawns them"]
fn objects_of_the_server_are_not_placed() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Health>().class::<Health>().set_placed_area(area());
}

#[test]
#[should_panic = "instead of `follow`, call `set_viewpoints` of the connection with the same position whenever you call `place`"]
fn a_connection_cannot_follow_what_is_placed() {
    let (mut room, [first, _]) = room();
    let (root, _) = entity(&mut room.server, 7);
    room.server.external().place(root, [1.0, 1.0]).expect("it exists");
    room.server.connection(first).follow(root);
}
