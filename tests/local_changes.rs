//! What a client changes by itself: later values replace it, and nothing of it makes an update fail (S49).
//!
//! *Invariant:* updates are deltas to what the server sent, whatever the user made of the client's copy.

mod support;

use repl::Callbacks;
use repl::prelude::*;
use support::Room;

#[derive(Replicated, Default)]
struct Squad {
    #[replicated(notify = on_members)]
    members: Vec<Member>,
    #[replicated]
    leader: Option<Member>,
    #[replicated]
    score: u32,
}

impl Squad {
    /// Takes for its own what has been told, as predicting games do.
    fn on_members(&mut self) {
        self.members.truncate(1);
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Member {
    #[replicated]
    health: u16,
    #[replicated]
    wounds: Vec<u8>,
}

fn member(health: u16) -> Member {
    Member { health, wounds: vec![1, 2, 3] }
}

fn squad_of_three() -> (Room, ObjectRef<Squad>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Squad>();
    });
    let members = vec![member(1), member(2), member(3)];
    let squad = room.server.spawn(Squad { members, leader: Some(member(9)), score: 0 });
    room.enter();
    room.settle();
    (room, squad)
}

fn change(room: &mut Room, squad: ObjectRef<Squad>, change: impl FnOnce(&mut Squad)) {
    change(room.guests[0].client.get_mut(squad).expect("the client has it"));
}

#[test]
fn s49_an_array_that_was_cut_in_a_notify_comes_back_whole() {
    let (mut room, squad) = squad_of_three();
    assert_eq!(room.client().get(squad).unwrap().members, [member(1)], "its notify cut it");
    room.server[squad].members[2].wounds[1] = 77;
    room.settle();
    // The notify ran again, on all three.
    assert_eq!(room.client().get(squad).unwrap().members, [member(1)]);
    assert!(room.client().is_connected());
}

#[test]
fn s49_arrays_changed_in_length_come_back_with_their_next_update() {
    let (mut room, squad) = squad_of_three();
    change(&mut room, squad, |squad| {
        squad.leader.as_mut().unwrap().wounds.clear();
        squad.score = 5;
    });
    room.server[squad].leader.as_mut().unwrap().wounds[2] = 33;
    room.settle();
    let leader = room.client().get(squad).unwrap().leader.clone().unwrap();
    assert_eq!(leader, Member { health: 9, wounds: vec![1, 2, 33] });
    assert_eq!(room.client().get(squad).unwrap().score, 5, "the server did not change it");

    change(&mut room, squad, |squad| squad.leader = None);
    room.server[squad].leader.as_mut().unwrap().health = 8;
    room.settle();
    assert_eq!(room.client().get(squad).unwrap().leader, Some(Member { health: 8, wounds: vec![1, 2, 33] }));
}

#[test]
fn s49_local_values_stay_until_the_server_changes_them() {
    let (mut room, squad) = squad_of_three();
    change(&mut room, squad, |squad| squad.leader.as_mut().unwrap().health = 70);
    room.server[squad].leader.as_mut().unwrap().wounds[0] = 5;
    room.settle();
    let leader = room.client().get(squad).unwrap().leader.clone().unwrap();
    assert_eq!(leader, Member { health: 70, wounds: vec![5, 2, 3] }, "the lengths were as the server's");
}

/// Shortens itself in each of its callbacks.
#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Shrinking {
    #[replicated]
    values: Vec<u16>,
}

impl Callbacks for Shrinking {
    fn pre_net_receive(&mut self) {
        self.values.clear();
    }

    fn post_rep_notifies(&mut self) {
        self.values.push(9);
    }
}

#[test]
fn r20_a_callback_that_cuts_an_array_half_applies_nothing() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Shrinking>();
    });
    let object = room.server.spawn(Shrinking { values: vec![1, 2, 3] });
    room.enter();
    room.settle();
    for round in 0..3 {
        room.server[object].values[2] = 10 + round;
        room.settle();
        assert!(room.client().is_connected());
        assert_eq!(room.client().get(object).unwrap().values, [1, 2, 10 + round, 9]);
    }
    room.server[object].values.truncate(1);
    room.settle();
    assert_eq!(room.client().get(object).unwrap().values, [1, 9]);
}

#[derive(Replicated, Default)]
struct Chest {
    #[replicated]
    stacks: FastArray<Stack>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Stack {
    marks: Vec<u8>,
}

#[test]
fn s49_an_array_in_an_item_that_was_cut_grows_again_with_its_next_update() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Chest>();
    });
    let chest = room.server.spawn(Chest { stacks: FastArray::from([Stack { marks: vec![1, 2, 3] }]) });
    room.enter();
    room.settle();
    room.guests[0].client.get_mut(chest).expect("the client has it").stacks[0].marks.clear();
    room.server[chest].stacks[0].marks[2] = 9;
    room.settle();
    assert!(room.client().is_connected());
    let marks = &room.client().get(chest).unwrap().stacks[0].marks;
    assert_eq!(*marks, [0, 0, 9], "what the server did not send again is initial");

    room.guests[0].client.get_mut(chest).expect("the client has it").stacks.clear();
    room.server[chest].stacks[0].marks[1] = 8;
    room.settle();
    assert!(room.client().is_connected() && room.client().get(chest).unwrap().stacks.is_empty());
}
