//! Classes that declare which field is the position of their objects.

use super::RADIUS;
use crate::support::Room;
use repl::prelude::*;
use repl::{Area, Coordinates, Located};

/// An object in space. Its position is its only property.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Kite {
    #[replicated(location)]
    position: [f32; 3],
}

/// An object in a plane, with a position that is sent in steps of ten units.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Raft {
    #[replicated(location, quantize(step = 10.0, range = -1000.0..=1000.0))]
    position: [f32; 2],
}

/// A type of the user, with more than a position.
#[derive(NetSerialize, Default, Clone, Debug, PartialEq)]
struct Transform {
    angle: f32,
    translation: [f64; 2],
}

impl Coordinates for Transform {
    const IS_FLAT: bool = true;

    fn coordinates(&self) -> [f32; 3] {
        self.translation.coordinates()
    }
}

/// An object whose position is compared only when it is marked, and which its owner does not receive.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Cart {
    #[replicated(location, push, condition = SkipOwner)]
    place: Transform,
}

fn cart(x: f64) -> Cart {
    Cart { place: Transform { angle: 1.0, translation: [x, 0.0] } }
}

fn room() -> (Room, ConnectionId) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Kite>().register::<Raft>().register::<Cart>();
    });
    let area = Area::within(RADIUS);
    room.server.class::<Kite>().set_area(area);
    room.server.class::<Raft>().set_area(area);
    room.server.class::<Cart>().set_area(area);
    let guest = room.enter();
    room.settle();
    room.server.connection(guest).set_viewpoints(&[[0.0; 3]]);
    (room, guest)
}

#[test]
fn the_field_that_is_the_location_decides_who_sees_the_object() {
    let (mut room, guest) = room();
    let near = room.server.spawn(Kite { position: [30.0, 30.0, 30.0] });
    let high = room.server.spawn(Kite { position: [0.0, 0.0, 2.0 * RADIUS] });
    assert!(
        room.server.object_info(near).is_relevant_to(guest)
            && !room.server.object_info(high).is_relevant_to(guest)
    );
    room.server[near].position[2] = 3.0 * RADIUS;
    room.server[high].position[2] = 0.0;
    room.settle();
    assert_eq!([near, high].map(|kite| room.server.object_info(kite).is_relevant_to(guest)), [false, true]);
    assert_eq!(room.guests[0].client.get(near), None);
    assert_eq!(room.guests[0].client[high].position, [0.0; 3]);
    assert_eq!(room.server[high].location(), [0.0; 3]);
}

#[test]
fn positions_of_two_coordinates_make_the_area_flat() {
    let (mut room, guest) = room();
    let raft = room.server.spawn(Raft { position: [50.0, 0.0] });
    let cart = room.server.spawn(cart(50.0));
    // This viewpoint is high above the objects: too far away in space, but not in a plane.
    room.server.connection(guest).set_viewpoints(&[[0.0, 0.0, 9.0 * RADIUS]]);
    assert!(
        room.server.object_info(raft).is_relevant_to(guest)
            && room.server.object_info(cart).is_relevant_to(guest)
    );
}

#[test]
fn a_quantised_position_locates_by_its_value_and_not_by_its_steps() {
    let (mut room, guest) = room();
    let near = room.server.spawn(Raft { position: [50.0, 0.0] });
    let far = room.server.spawn(Raft { position: [900.0, 0.0] });
    room.settle();
    assert!(
        room.server.object_info(near).is_relevant_to(guest)
            && !room.server.object_info(far).is_relevant_to(guest)
    );
    assert_eq!(room.guests[0].client[near].position, [50.0, 0.0]);
    room.server[far].position[0] = 52.0;
    room.settle();
    assert!(room.server.object_info(far).is_relevant_to(guest));
    assert_eq!(room.guests[0].client[far].position, [50.0, 0.0], "the nearest step");
}

#[test]
fn a_position_that_is_not_compared_does_not_move_its_object() {
    let (mut room, guest) = room();
    let wagon = room.server.spawn(cart(0.0));
    room.settle();
    assert_eq!(room.guests[0].client[wagon], cart(0.0));
    room.server[wagon].place = cart(900.0).place;
    room.settle();
    assert!(room.server.object_info(wagon).is_relevant_to(guest), "it is `push` and not marked");
    room.server.object(wagon).mark_dirty(Cart::LAYOUT.property("place"));
    room.settle();
    assert!(!room.server.object_info(wagon).is_relevant_to(guest));
}

#[test]
fn a_condition_hides_the_position_but_not_where_the_object_is() {
    let (mut room, guest) = room();
    let wagon = room.server.spawn(cart(20.0));
    room.server.object(wagon).set_owner(Some(guest));
    let watcher = room.enter();
    room.settle();
    room.server.connection(watcher).set_viewpoints(&[[0.0; 3]]);
    room.settle();
    assert!(room.server.object_info(wagon).is_relevant_to(watcher));
    assert_eq!(room.guests[0].client[wagon], Cart::default(), "the owner does not receive the position");
    assert_eq!(room.guests[1].client[wagon], cart(20.0));
}

#[test]
fn an_object_that_moves_before_its_first_tick_is_seen_where_it_is() {
    let (mut room, guest) = room();
    let away = room.server.spawn(Kite { position: [0.0, 0.0, 300.0] });
    // This is the position of the archetype, so the first comparison finds no change.
    room.server[away].position[2] = 0.0;
    room.settle();
    assert!(room.server.object_info(away).is_relevant_to(guest));
    assert_eq!(room.guests[0].client.get(away), Some(&Kite::default()));
}

#[test]
fn functions_may_return_any_coordinates() {
    let mut server = Server::new(ServerConfig::default());
    server.class::<Raft>().locate(Area::within(RADIUS), |raft: &Raft| raft.position);
    server.class::<Cart>().locate(Area::within(RADIUS), |cart: &Cart| cart.place.clone());
    let (raft, wagon) = (server.spawn(Raft { position: [50.0, 0.0] }), server.spawn(cart(50.0)));
    let guest = server.connect(std::time::Duration::ZERO);
    server.connection(guest).set_viewpoints(&[[0.0, 0.0, 9.0 * RADIUS]]);
    assert!(
        server.object_info(raft).is_relevant_to(guest) && server.object_info(wagon).is_relevant_to(guest),
        "both areas are flat"
    );
}

#[test]
#[should_panic(
    expected = "areas are set before the first object: call `class::<Kite>().set_area` before `spawn`"
)]
fn an_area_is_set_before_the_first_object() {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Kite::default());
    server.class::<Kite>().set_area(Area::within(RADIUS));
}
