//! Properties that only connections near an object receive (`NearOnly`).
//!
//! *Invariant:* no packet for a client contains a `NearOnly` value of an object from which the client is far.

use repl::prelude::*;
use repl::{NotSent, Relevancy};

use crate::counted::{Counted, take_written};
use crate::support::{Room, property};

const NEAR: f32 = 40.0;

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Tower {
    #[replicated(location)]
    position: [f32; 2],
    #[replicated]
    flag: Counted,
    #[replicated(condition = NearOnly)]
    windows: Counted,
    #[replicated(condition = NearOnly)]
    people: FastArray<u16>,
}

/// An object without an area of its own.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Lamp {
    #[replicated]
    colour: u8,
    #[replicated(condition = NearOnly)]
    light: u32,
    #[replicated(condition = Dynamic)]
    oil: u32,
}

fn tower(x: f32) -> Tower {
    Tower { position: [x, 0.0], flag: Counted(1), windows: Counted(1), people: FastArray::new() }
}

fn area() -> Area {
    Area::within(100.0).near_within(NEAR)
}

fn town(area: Area, guests: usize) -> Room {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Tower>().register::<Lamp>();
    });
    room.server.register::<Lamp>().class::<Tower>().set_area(area);
    for _ in 0..guests {
        room.enter();
    }
    room.settle();
    room
}

fn look_from(room: &mut Room, guest: usize, x: f32) {
    let id = room.guests[guest].id;
    room.server.connection(id).set_viewpoints(&[[x, 0.0, 0.0]]);
}

#[test]
fn far_clients_receive_near_only_properties_neither_in_openings_nor_in_changes() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let (near, far) = (room.server.spawn(tower(10.0)), room.server.spawn(tower(80.0)));
    room.settle();
    let client = &room.guests[0].client;
    assert_eq!((&client[near].windows, &client[near].flag), (&Counted(1), &Counted(1)));
    assert_eq!((&client[far].windows, &client[far].flag), (&Counted(0), &Counted(1)));
    for tower in [near, far] {
        room.server[tower].flag = Counted(2);
        room.server[tower].windows = Counted(2);
        room.server[tower].people.push(7);
    }
    room.settle();
    let client = &room.guests[0].client;
    assert_eq!((&client[near].windows, client[near].people.len()), (&Counted(2), 1));
    assert_eq!((&client[far].windows, client[far].people.len()), (&Counted(0), 0));
    assert_eq!(client[far].flag, Counted(2));
}

#[test]
fn who_comes_near_receives_what_it_lacks_and_who_goes_away_receives_nothing() {
    let mut room = Room::measuring(|| town(area(), 1));
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    look_from(&mut room, 0, 70.0);
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
    let received = |room: &Room| ["flag", "windows"].map(|path| room.updates::<Tower>(0, path));
    let before = received(&room);
    look_from(&mut room, 0, 0.0);
    room.settle();
    assert_eq!(received(&room), before, "nothing is sent to one who goes away");
    room.server[tower].windows = Counted(9);
    room.server[tower].people.push(3);
    room.settle();
    assert_eq!(received(&room), before);
    assert_eq!(room.guests[0].client[tower].windows, Counted(1), "it keeps what it had");
    look_from(&mut room, 0, 70.0);
    room.settle();
    let replica = &room.guests[0].client[tower];
    assert_eq!((&replica.windows, &replica.people[..]), (&Counted(9), &[3_u16][..]));
    // Nothing changes while the client is far away, so nothing is sent when it comes back.
    let before = received(&room);
    for x in [0.0, 70.0] {
        look_from(&mut room, 0, x);
        room.settle();
    }
    assert_eq!(received(&room), before);
}

#[test]
fn an_object_that_moves_is_near_where_its_cell_is() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    room.server[tower].position = [5.0, 0.0];
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
    room.server[tower].position = [80.0, 0.0];
    room.settle();
    room.server[tower].windows = Counted(2);
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
}

#[test]
fn owners_receive_everything_wherever_they_look() {
    let mut room = town(area(), 2);
    (0..2).for_each(|guest| look_from(&mut room, guest, 0.0));
    let tower = room.server.spawn(tower(80.0));
    let owner = room.guests[0].id;
    room.server.object(tower).set_owner(Some(owner));
    room.settle();
    let windows = |room: &Room, guest: usize| room.guests[guest].client[tower].windows.0;
    assert_eq!((windows(&room, 0), windows(&room, 1)), (1, 0));
    room.server[tower].windows = Counted(2);
    room.settle();
    assert_eq!((windows(&room, 0), windows(&room, 1)), (2, 0));
    room.server.object(tower).set_owner(None);
    room.server[tower].windows = Counted(3);
    room.settle();
    assert_eq!((windows(&room, 0), windows(&room, 1)), (2, 0));
    room.server.object(tower).set_owner(Some(owner));
    room.settle();
    assert_eq!((windows(&room, 0), windows(&room, 1)), (3, 0));
}

#[test]
fn objects_without_positions_are_always_near() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let (lamp, tower) =
        (room.server.spawn(Lamp { light: 5, ..Lamp::default() }), room.server.spawn(tower(80.0)));
    room.settle();
    assert_eq!(room.guests[0].client[lamp].light, 5);
    room.server.object(tower).set_relevancy(Relevancy::Always);
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
    room.server.object(tower).set_relevancy(Relevancy::Located);
    room.server[tower].windows = Counted(2);
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
}

#[test]
fn without_near_within_all_who_see_an_object_are_near() {
    let mut room = town(Area::within(100.0), 1);
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(1));
}

#[test]
fn attached_objects_and_subobjects_are_as_near_as_their_object() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    let lamp = || Lamp { colour: 1, light: 5, oil: 0 };
    let attached = room.server.spawn(lamp());
    room.server.object(attached).set_relevancy(Relevancy::attached_to(tower));
    let below = room.server.object(tower).spawn_subobject(lamp()).unwrap();
    room.settle();
    let lights = |room: &Room| [attached, below].map(|lamp| room.guests[0].client[lamp].light);
    assert_eq!(lights(&room), [0, 0]);
    room.server[tower].position = [0.0, 0.0];
    room.settle();
    assert_eq!(lights(&room), [5, 5]);
    room.server[tower].position = [80.0, 0.0];
    room.settle();
    [attached, below].into_iter().for_each(|lamp| room.server[lamp].light = 6);
    room.settle();
    assert_eq!(lights(&room), [5, 5]);
    // The owner of the tower is near all that the tower carries.
    room.server.object(tower).set_owner(Some(room.guests[0].id));
    room.settle();
    assert_eq!(lights(&room), [6, 6]);
    [attached, below].into_iter().for_each(|lamp| room.server[lamp].light = 7);
    room.settle();
    assert_eq!(lights(&room), [7, 7], "it does not take what others far away share");
}

#[test]
fn a_dynamic_property_can_become_near_only() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    let lamp = room.server.spawn(Lamp { oil: 1, ..Lamp::default() });
    room.server.object(lamp).set_relevancy(Relevancy::attached_to(tower));
    room.settle();
    assert_eq!(room.guests[0].client[lamp].oil, 1);
    room.server.object(lamp).set_dynamic_condition(property("oil"), Condition::NearOnly);
    room.server[lamp].oil = 2;
    room.settle();
    assert_eq!(room.guests[0].client[lamp].oil, 1);
    room.server.object(lamp).set_dynamic_condition(property("oil"), Condition::None);
    room.settle();
    assert_eq!(room.guests[0].client[lamp].oil, 2);
}

#[test]
fn the_reason_says_that_the_client_is_too_far_away() {
    let mut room = town(area(), 1);
    look_from(&mut room, 0, 0.0);
    let guest = room.guests[0].id;
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    assert_eq!(room.server.object_info(tower).why_not_sent_to(guest), Some(NotSent::Far));
    look_from(&mut room, 0, 70.0);
    room.settle();
    assert_eq!(room.server.object_info(tower).why_not_sent_to(guest), Some(NotSent::NothingChanged));
    look_from(&mut room, 0, 0.0);
    room.settle();
    assert_eq!(
        room.server.object_info(tower).why_not_sent_to(guest),
        Some(NotSent::NothingChanged),
        "it lacks nothing"
    );
}

#[test]
fn a_client_that_was_far_when_its_session_began_is_far() {
    let mut room = town(area(), 0);
    let tower = room.server.spawn(tower(80.0));
    let lamp = room.server.spawn(Lamp { light: 5, ..Lamp::default() });
    room.server.object(lamp).set_relevancy(Relevancy::attached_to(tower));
    let guest = room.enter();
    look_from(&mut room, 0, 0.0);
    room.settle();
    assert!(room.server.object_info(tower).is_relevant_to(guest));
    let client = &room.guests[0].client;
    assert_eq!((client[tower].windows.0, client[tower].flag.0, client[lamp].light), (0, 1, 0));
}

#[test]
fn an_object_that_is_torn_off_does_not_reveal_its_last_values_to_those_far_away() {
    let mut room = town(area(), 2);
    look_from(&mut room, 0, 0.0);
    look_from(&mut room, 1, 70.0);
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    room.server[tower].windows = Counted(2);
    room.server[tower].flag = Counted(2);
    room.server.object(tower).tear_off();
    room.settle();
    let states = [0, 1].map(|guest| {
        let tower = room.guests[guest].client.get(tower).expect("it was torn off");
        (tower.flag.0, tower.windows.0)
    });
    assert_eq!(states, [(2, 0), (2, 2)]);
}

/// Returns how many values the server writes for one change of a tower. All guests see the tower, some of
/// them from far away.
fn written(near: usize, far: usize, area: Area) -> usize {
    let mut room = town(area, near + far);
    (0..near).for_each(|guest| look_from(&mut room, guest, 10.0));
    (near..near + far).for_each(|guest| look_from(&mut room, guest, -60.0));
    let tower = room.server.spawn(tower(12.0));
    room.settle();
    room.server[tower].windows = Counted(2);
    room.server[tower].flag = Counted(2);
    take_written();
    // With slow bands, the far clients receive the change some ticks later.
    (0..10).for_each(|_| _ = room.step());
    let written = take_written();
    for (at, guest) in room.guests.iter().enumerate() {
        let replica = &guest.client[tower];
        assert_eq!((replica.flag.0, replica.windows.0), (2, if at < near { 2 } else { 0 }));
    }
    written
}

#[test]
fn r24_a_change_is_written_once_for_all_near_clients_and_once_for_all_far_ones() {
    for area in [area(), area().slower_beyond(NEAR, 4)] {
        let (near, far) = (written(1, 0, area), written(0, 1, area));
        assert_eq!(written(5, 0, area), near);
        assert_eq!(written(0, 5, area), far);
        // The comparison also writes values to measure them: in each case it writes both values.
        let compared = written(0, 0, area);
        assert_eq!((near - compared, far - compared), (2, 1));
        assert_eq!(written(3, 4, area), compared + 3);
    }
}

#[test]
fn slow_bands_send_only_what_far_clients_may_see() {
    let mut room = town(area().slower_beyond(NEAR, 5), 1);
    look_from(&mut room, 0, 0.0);
    let tower = room.server.spawn(tower(80.0));
    room.settle();
    for value in 2..30 {
        room.server[tower].windows = Counted(value);
        room.server[tower].flag = Counted(value);
        room.step();
    }
    room.settle();
    let replica = &room.guests[0].client[tower];
    assert_eq!((replica.flag.0, replica.windows.0), (29, 0));
    look_from(&mut room, 0, 70.0);
    room.settle();
    assert_eq!(room.guests[0].client[tower].windows, Counted(29));
}

#[test]
fn what_is_near_is_a_part_of_what_is_in_sight() {
    let refused = |make: fn() -> Area| {
        std::panic::catch_unwind(|| {
            _ = Server::new(ServerConfig::default()).class::<Tower>().set_area(make())
        })
        .is_err()
    };
    assert!(refused(|| Area::within(100.0).near_within(125.0)), "nothing would be far");
    assert!(refused(|| Area::within(100.0).near_within(f32::INFINITY)));
    assert!(refused(|| Area::within(100.0).near_within(0.0)));
    assert!(!refused(|| Area::within(100.0).near_within(110.0)), "far is what is kept beyond it");
    assert!(!refused(|| Area::within(100.0).near_within(200.0).keep_within(300.0)));
}

#[test]
fn the_printed_layout_shows_the_condition() {
    let table = Tower::LAYOUT.to_string();
    let row = table.lines().find(|line| line.contains("windows")).expect("a row");
    assert!(row.contains("NearOnly"), "{row}");
}
