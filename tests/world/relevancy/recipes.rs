//! The examples of the guide about relevancy: groups near a viewpoint, and attached objects. Also relevancy
//! together with update rates and with refused positions.

use std::time::Duration;

use repl::prelude::*;
use repl::{Area, Audience, Group, Relevancy};

use super::rules::has;
use super::{Banner, Bird, RADIUS, creature, in_plane, register, room};
use crate::support::Room;

#[test]
fn s188_an_audience_narrows_what_is_near_to_a_group() {
    let mut room = room(3);
    let ids: Vec<ConnectionId> = room.guests.iter().map(|guest| guest.id).collect();
    for (&id, x) in ids.iter().zip([0.0, 1_000.0, 0.0]) {
        room.server.connection(id).set_viewpoints(&[[x, 0.0, 0.0]]);
    }
    room.server.connection(ids[0]).join_group(Group(1));
    room.server.connection(ids[1]).join_group(Group(1));
    let ward = room.server.spawn(creature(10.0, 0.0));
    room.server.object(ward).set_audience(Audience::Group(Group(1)));
    room.settle();
    assert_eq!(
        [0, 1, 2].map(|guest| has(&room, guest, ward)),
        [true, false, false],
        "near, and in the group"
    );
    room.server.connection(ids[2]).join_group(Group(1));
    room.server.connection(ids[0]).leave_group(Group(1));
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| has(&room, guest, ward)), [false, false, true]);
    room.server[ward].position = [1_000.0, 0.0];
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| has(&room, guest, ward)), [false, true, false]);
}

/// An owner sees its objects and the objects that are attached to them, wherever they are. Each of the
/// exceptions in this test applies to the object itself, or to its carrier.
#[test]
fn s188_an_owner_sees_its_objects_wherever_they_are_unless_they_or_their_carriers_are_taken_from_it() {
    type Taking = fn(&mut Server, ConnectionId, ObjectRef<()>);
    let takings: [(&str, Taking); 4] = [
        ("hidden", |server, owner, object| _ = server.object(object).set_visible(owner, false)),
        ("nobody", |server, _, object| _ = server.object(object).set_relevancy(Relevancy::Nobody)),
        ("audience", |server, _, object| _ = server.object(object).set_audience(Audience::NotOwner)),
        ("initially dormant", |server, _, object| _ = server.object(object).set_dormancy(Dormancy::Initial)),
    ];
    for (name, take) in takings {
        for takes_carrier in [false, true] {
            let mut room = room(1);
            let owner = room.guests[0].id;
            room.server.connection(owner).set_viewpoints(&[[0.0; 3]]);
            let spawn = |room: &mut Room| room.server.spawn(creature(1_000.0, 1_000.0));
            let (far, carrier) = (spawn(&mut room), spawn(&mut room));
            room.server.object(far).set_owner(Some(owner));
            room.server.object(carrier).set_owner(Some(owner));
            let carried = room.server.spawn(Banner::default());
            room.server.object(carried).set_relevancy(Relevancy::attached_to(carrier));
            let taken = if takes_carrier { carrier.erase() } else { far.erase() };
            if name != "initially dormant" {
                room.settle();
                let has_all = has(&room, 0, far) && has(&room, 0, carrier) && has(&room, 0, carried);
                assert!(has_all, "the owner sees them far from its viewpoint");
            }
            take(&mut room.server, owner, taken);
            room.settle();
            assert_eq!(has(&room, 0, far), takes_carrier, "{name}");
            assert_eq!(has(&room, 0, carrier), !takes_carrier, "{name}");
            assert_eq!(has(&room, 0, carried), !takes_carrier, "{name}: what is carried");
        }
    }
}

#[test]
fn s187_what_is_attached_is_updated_as_often_as_what_carries_it() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.class().locate(Area::within(RADIUS).flat().slower_beyond(50.0, 10), in_plane);
    room.server.register::<Bird>().register::<Banner>();
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let carriers = [10.0, 80.0].map(|x| room.server.spawn(creature(x, 0.0)));
    let banners = carriers.map(|carrier| {
        let banner = room.server.spawn(Banner::default());
        room.server.object(banner).set_relevancy(Relevancy::attached_to(carrier));
        banner
    });
    room.settle();
    let updates = |room: &mut Room, colours: std::ops::RangeInclusive<u32>| {
        let mut updates = [0; 2];
        for colour in colours {
            let before = banners.map(|banner| room.guests[0].client[banner].colour);
            banners.iter().for_each(|&banner| room.server[banner].colour = colour);
            room.step();
            for at in 0..2 {
                updates[at] += u32::from(room.guests[0].client[banners[at]].colour != before[at]);
            }
        }
        updates
    };
    let [near, far] = updates(&mut room, 1..=40);
    assert!(near == 40 && (3..=5).contains(&far), "{near} near updates, {far} far ones");
    room.server.object(banners[1]).set_relevancy(Relevancy::attached_to(carriers[0]));
    room.step();
    assert_eq!(updates(&mut room, 41..=80), [40, 40], "it came nearer with another carrier");
}

#[test]
fn s186_a_rate_delays_when_a_moved_object_comes_into_sight_and_viewpoints_do_not_wait() {
    let mut room = room(1);
    let id = room.guests[0].id;
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let one = room.server.spawn(creature(500.0, 0.0));
    room.settle();
    room.server.object(one).set_update_rate(Some(UpdateRate::every(Duration::from_secs(60))));
    room.server[one].position = [10.0, 0.0];
    for _ in 0..50 {
        room.step();
        assert!(!has(&room, 0, one), "its position was not compared yet");
    }
    room.server.connection(id).set_viewpoints(&[[500.0, 0.0, 0.0]]);
    (0..2).for_each(|_| _ = room.step());
    assert!(has(&room, 0, one), "it is where it was compared last");
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    (0..2).for_each(|_| _ = room.step());
    assert!(!has(&room, 0, one));
    room.server.object(one).force_update();
    (0..3).for_each(|_| _ = room.step());
    assert_eq!(room.guests[0].client.get(one).map(|one| one.position), Some([10.0, 0.0]));
}

/// A position that is sent and refused as a whole.
#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq)]
struct Place(#[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))] [f32; 2]);

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Ghost {
    place: Place,
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
    loose: [f32; 2],
}

#[test]
fn a_position_that_is_one_value_is_refused_as_a_whole_and_the_object_stays_in_sight() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Ghost>());
    room.server
        .class::<Ghost>()
        .locate(Area::within(RADIUS).flat(), |ghost: &Ghost| [ghost.place.0[0], ghost.place.0[1], 0.0]);
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let ghost = room.server.spawn(Ghost { place: Place([10.0, 0.0]), loose: [10.0, 0.0] });
    room.settle();
    while room.server.poll_event().is_some() {}
    room.server[ghost] = Ghost { place: Place([f32::NAN, 500.0]), loose: [f32::NAN, 500.0] };
    (0..5).for_each(|_| _ = room.step());
    let copy = &room.guests[0].client[ghost];
    assert_eq!((copy.place, copy.loose), (Place([10.0, 0.0]), [10.0, 500.0]));
    assert!(room.server.object_info(ghost).is_relevant_to(id));
    let mut paths = Vec::new();
    while let Some(event) = room.server.poll_event() {
        if let ServerEvent::ValueRefused { path, .. } = event {
            paths.push(path);
        }
    }
    paths.dedup();
    assert_eq!(paths, ["place", "loose[0]"]);
}

#[test]
fn s230_a_team_sees_its_objects_everywhere_and_others_see_them_when_they_are_near() {
    const RED: Group = Group(1);
    let mut room = room(3);
    let ids: Vec<ConnectionId> = room.guests.iter().map(|guest| guest.id).collect();
    for (&id, x) in ids.iter().zip([0.0, 1_000.0, 1_000.0]) {
        room.server.connection(id).set_viewpoints(&[[x, 0.0, 0.0]]);
    }
    room.server.connection(ids[1]).join_group(RED);
    let scout = room.server.spawn(creature(10.0, 0.0));
    room.server.object(scout).set_relevancy(Relevancy::any([Relevancy::Located, RED.into()]));
    room.settle();
    let seen = |room: &Room| [0, 1, 2].map(|guest| has(room, guest, scout));
    assert_eq!(seen(&room), [true, true, false], "near, or in the team");
    room.server[scout].health = 7;
    room.settle();
    assert!([0, 1].iter().all(|&guest| room.guests[guest].client[scout].health == 7));
    room.server[scout].position = [1_000.0, 0.0];
    room.settle();
    assert_eq!(seen(&room), [false, true, true], "the member of the team keeps it");
    room.server.connection(ids[1]).leave_group(RED).set_viewpoints(&[[0.0; 3]]);
    room.settle();
    assert_eq!(seen(&room), [false, false, true]);
    room.server.object(scout).set_visible(ids[2], false);
    room.settle();
    assert_eq!(seen(&room), [false; 3], "what is hidden is not seen");
}

/// A client sees a far object only because of its group, so the cell of the object is out of its sight. Its
/// session begins with the object.
#[test]
fn s230_a_client_that_joins_gets_the_changes_of_what_it_sees_far_from_its_viewpoint() {
    let mut room = room(1);
    let ward = room.server.spawn(creature(1_000.0, 0.0));
    let banner = room.server.spawn(Banner::default());
    room.server.object(ward).set_relevancy(Relevancy::any([Relevancy::Located, Relevancy::Group(Group(1))]));
    room.server.object(banner).set_relevancy(Relevancy::attached_to(ward));
    // For this client the cell of the object is in sight.
    let near = room.guests[0].id;
    room.server.connection(near).set_viewpoints(&[[1_000.0, 0.0, 0.0]]);
    for has_viewpoint in [false, true] {
        let late = room.enter();
        room.server.connection(late).join_group(Group(1));
        if has_viewpoint {
            room.server.connection(late).set_viewpoints(&[[0.0; 3]]);
        }
        room.settle();
        room.server[ward].health += 7;
        room.server[banner].colour += 7;
        room.settle();
        for guest in &room.guests {
            assert_eq!(guest.client.get(ward).map(|ward| ward.health), Some(room.server[ward].health));
            assert_eq!(guest.client.get(banner), Some(&room.server[banner]));
        }
    }
}
