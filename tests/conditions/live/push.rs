//! Push properties with a condition that is switched off for a while. Marks are kept while the condition is
//! off, and the property is compared when the condition is switched on (S45, S124).
//!
//! *Invariant:* each test writes while no client may receive the value, and checks the clients only after the
//! switch is on again.

use repl::Condition;
use repl::prelude::*;

use crate::support::{Room, property};

/// Push properties with conditions that can be switched off, and one property without a condition.
#[derive(Replicated, Default)]
struct Trap {
    #[replicated(condition = Custom, push, notify = on_armed)]
    armed: u32,
    #[replicated(condition = Dynamic, push)]
    code: u32,
    #[replicated(push)]
    place: u32,
    /// The old and the new value of each call of `on_armed`.
    told: Vec<(u32, u32)>,
}

impl Trap {
    fn on_armed(&mut self, old: &u32) {
        self.told.push((*old, self.armed));
    }
}

fn room(guests: usize) -> (Room, ObjectRef<Trap>) {
    let register = |client: &mut Client| {
        client.register::<Trap>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| server.spawn(Trap::default()))
}

fn armed(room: &Room, trap: ObjectRef<Trap>) -> Vec<u32> {
    room.guests.iter().map(|guest| guest.client.get(trap).expect("the client has it").armed).collect()
}

fn codes(room: &Room, trap: ObjectRef<Trap>) -> Vec<u32> {
    room.guests.iter().map(|guest| guest.client.get(trap).expect("the client has it").code).collect()
}

#[test]
fn s45_a_marked_push_property_that_was_off_arrives_when_it_is_switched_on() {
    let (mut room, trap) = room(2);
    let property = property::<Trap>("armed");
    room.server.object(trap).set_custom_active(property, false);
    room.server[trap].armed = 4;
    room.server.object(trap).mark_dirty(property);
    room.settle();
    assert_eq!(armed(&room, trap), [0, 0]);
    room.server.object(trap).set_custom_active(property, true);
    room.settle();
    assert_eq!(armed(&room, trap), [4, 4]);
    assert_eq!(room.guests[0].client.get(trap).unwrap().told, [(0, 4)], "told once, with the old value");
}

#[test]
fn s45_switching_on_compares_a_push_property_that_nobody_marked() {
    let (mut room, trap) = room(1);
    let property = property::<Trap>("armed");
    room.server.object(trap).set_custom_active(property, false);
    room.server[trap].armed = 4;
    room.settle();
    room.server.object(trap).set_custom_active(property, true);
    room.settle();
    assert_eq!(armed(&room, trap), [4]);
    // The switch was already on. Switching the property on again marks nothing (S126).
    room.server[trap].armed = 5;
    room.server.object(trap).set_custom_active(property, true);
    room.settle();
    assert_eq!(armed(&room, trap), [4]);
}

#[test]
fn s68_a_connection_that_ends_while_an_object_is_to_come_back_opens_and_compares_nothing() {
    let (mut room, trap) = room(2);
    let first = room.guests[0].id;
    room.server.object(trap).set_visible(first, false);
    room.tick();
    // The object is opened again after the ack of its closing. After that, no ack arrives.
    room.server.object(trap).set_visible(first, true);
    room.server[trap].place = 5;
    room.server.connection(first).disconnect();
    room.guests.remove(0);
    room.settle();
    assert_eq!(room.client()[trap].place, 0, "nobody marked it");
}

#[test]
fn s45_a_marked_push_property_outlives_a_dynamic_condition_that_is_never() {
    for last in [Condition::None, Condition::SkipReplay, Condition::SkipOwner] {
        let (mut room, trap) = room(2);
        let property = property::<Trap>("code");
        for (value, condition) in [
            (1, Condition::Never),
            (2, Condition::OwnerOnly),
            (3, Condition::Never),
            (4, Condition::ReplayOnly),
            (5, Condition::Never),
        ] {
            room.server.object(trap).set_dynamic_condition(property, condition);
            room.server[trap].code = value;
            room.server.object(trap).mark_dirty(property);
            room.settle();
        }
        assert_eq!(codes(&room, trap), [0, 0], "never, or for others");
        room.server.object(trap).set_dynamic_condition(property, last);
        room.settle();
        assert_eq!(codes(&room, trap), [5, 5], "{last:?}");
    }
}

#[test]
fn s45_a_dynamic_push_property_is_compared_when_it_is_no_longer_never() {
    let (mut room, trap) = room(1);
    let property = property::<Trap>("code");
    room.server.object(trap).set_dynamic_condition(property, Condition::Never);
    room.server[trap].code = 6;
    room.settle();
    room.server.object(trap).set_dynamic_condition(property, Condition::None);
    room.settle();
    assert_eq!(codes(&room, trap), [6]);
    // The property was visible under both conditions, so the change of the condition marks nothing (S126).
    room.server[trap].code = 7;
    room.server.object(trap).set_dynamic_condition(property, Condition::SkipReplay);
    room.settle();
    assert_eq!(codes(&room, trap), [6]);
}

#[test]
fn s45_who_joins_while_a_push_property_is_off_gets_it_with_the_others() {
    let (mut room, trap) = room(1);
    let (custom, dynamic) = (property::<Trap>("armed"), property::<Trap>("code"));
    room.server.object(trap).set_custom_active(custom, false);
    room.server.object(trap).set_dynamic_condition(dynamic, Condition::Never);
    (room.server[trap].armed, room.server[trap].code) = (8, 9);
    room.server.object(trap).mark_dirty(custom);
    room.server.object(trap).mark_dirty(dynamic);
    room.enter();
    room.settle();
    assert_eq!((armed(&room, trap), codes(&room, trap)), (vec![0, 0], vec![0, 0]));
    room.server.objects_mut::<Trap>().for_each(drop);
    room.settle();
    room.server.object(trap).set_custom_active(custom, true);
    room.server.object(trap).set_dynamic_condition(dynamic, Condition::None);
    room.settle();
    assert_eq!((armed(&room, trap), codes(&room, trap)), (vec![8; 2], vec![9; 2]));
}

#[test]
fn a_switch_of_one_push_property_leaves_the_marks_of_others() {
    let (mut room, trap) = room(1);
    let (custom, always) = (property::<Trap>("armed"), property::<Trap>("place"));
    room.server.object(trap).set_custom_active(custom, false);
    (room.server[trap].armed, room.server[trap].place) = (1, 2);
    room.server.object(trap).mark_dirty(custom);
    room.server.object(trap).mark_dirty(always);
    room.settle();
    assert_eq!(room.client()[trap].place, 2);
    room.server[trap].place = 3;
    room.server.object(trap).set_custom_active(custom, true);
    room.settle();
    assert_eq!((room.client()[trap].armed, room.client()[trap].place), (1, 2), "unmarked (S126)");
}

#[test]
fn a_switch_for_one_connection_loses_no_mark() {
    let (mut room, trap) = room(2);
    let (property, first) = (property::<Trap>("armed"), room.guests[0].id);
    room.server.object(trap).set_custom_active_for(first, property, false);
    room.server[trap].armed = 4;
    room.server.object(trap).mark_dirty(property);
    room.settle();
    assert_eq!(armed(&room, trap), [0, 4]);
    room.server.object(trap).set_custom_active_for(first, property, true);
    room.settle();
    assert_eq!(armed(&room, trap), [4, 4]);
}

#[test]
fn a_push_property_that_had_no_room_arrives_when_there_is_some() {
    #[derive(Replicated, Default)]
    struct Crate {
        #[replicated]
        label: String,
        #[replicated(push)]
        cargo: Vec<u8>,
    }
    let register = |client: &mut Client| {
        client.register::<Crate>();
    };
    let config = ServerConfig { max_object_bytes: 1_024, ..ServerConfig::default() };
    let (mut room, object) = Room::furnished(config, register, 1, |server| {
        server.spawn(Crate { label: "x".repeat(600), cargo: vec![] })
    });
    room.server[object].cargo = vec![7; 800];
    room.server.object(object).mark_dirty(property::<Crate>("cargo"));
    room.settle();
    assert_eq!(room.client()[object].cargo.len(), 0, "both together are too large");
    room.server[object].label.clear();
    room.settle();
    room.server.get_mut(object);
    room.settle();
    assert_eq!(room.client()[object].cargo.len(), 800);
}
