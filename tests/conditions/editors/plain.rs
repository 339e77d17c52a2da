//! Objects of plain memory whose properties all have `push`: a tick copies the marked properties and reads no
//! others.
//!
//! *Invariant:* no object can become too large for a client, so the server never has to check sizes when it
//! compares.

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Soldier {
    #[replicated(push)]
    health: u16,
    #[replicated(push)]
    ammo: u16,
    #[replicated(push, range = 0..=9)]
    rank: u32,
    #[replicated(push)]
    slots: [u16; 3],
}

fn room() -> (Room, ObjectRef<Soldier>) {
    let register = |client: &mut Client| _ = client.register::<Soldier>();
    Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Soldier::default()))
}

fn shown(room: &Room, soldier: ObjectRef<Soldier>) -> (u16, u16, u32, [u16; 3]) {
    let soldier = room.client().get(soldier).expect("the client has it");
    (soldier.health, soldier.ammo, soldier.rank, soldier.slots)
}

#[test]
fn s124_s125_a_mark_counts_for_one_tick() {
    let (mut room, soldier) = room();
    room.server.edit(soldier).health(5);
    room.settle();
    room.server[soldier].health = 6;
    room.server.edit(soldier).ammo(1);
    room.settle();
    assert_eq!(shown(&room, soldier), (5, 1, 0, [0; 3]));
}

#[test]
fn s124_an_equal_element_marks_nothing() {
    let (mut room, soldier) = room();
    room.server.edit(soldier).slots_at(1, 0).ammo(1);
    room.server[soldier].slots = [7; 3];
    room.server.edit(soldier).slots_at(1, 7).slots_at(2, 8);
    room.settle();
    assert_eq!(shown(&room, soldier), (0, 1, 0, [0, 0, 8]));
}

#[test]
fn s45_a_new_object_is_compared_whole() {
    let (mut room, _) = room();
    let soldier = room.server.spawn(Soldier { health: 3, ..Soldier::default() });
    room.server.edit(soldier).ammo(2);
    room.settle();
    assert_eq!(shown(&room, soldier), (3, 2, 0, [0; 3]));
    room.server.edit(soldier).health(4);
    room.settle();
    assert_eq!(shown(&room, soldier), (4, 2, 0, [0; 3]));
}

#[test]
fn a_refused_value_is_not_copied() {
    let (mut room, soldier) = room();
    room.server.edit(soldier).rank(12).ammo(1);
    room.settle();
    assert_eq!(shown(&room, soldier), (0, 1, 0, [0; 3]));
    assert_eq!(room.refused().len(), 1);
    room.server.edit(soldier).rank(9);
    room.settle();
    assert_eq!(shown(&room, soldier), (0, 1, 9, [0; 3]));
}

/// An object without properties.
#[derive(Replicated, Default)]
struct Flag;

/// An object whose only property has no values.
#[derive(Replicated, Default)]
struct Empty {
    #[replicated(push)]
    none: [u8; 0],
}

#[test]
fn objects_without_values_can_be_compared_again() {
    let register = |client: &mut Client| _ = client.register::<Flag>().register::<Empty>();
    let (mut room, (flag, empty)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (server.spawn(Flag), server.spawn(Empty::default()))
    });
    for _ in 0..2 {
        assert!(room.server.get_mut(flag).is_some() && room.server.get_mut(empty).is_some());
        room.server.edit(empty).none_mut();
        room.server.object(flag).force_update();
        room.settle();
    }
    assert!(room.client().contains(flag) && room.client().contains(empty));
    room.server.objects_mut::<Flag>().for_each(drop);
    room.server.despawn(flag);
    room.settle();
    assert!(!room.client().contains(flag));
}
