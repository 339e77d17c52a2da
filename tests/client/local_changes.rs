//! Changes that a client makes itself: later values replace them, and they never make an update fail (S49).
//!
//! *Invariant:* an update changes the values that the server sent before, whatever the user did to the
//! client's copy.

use std::collections::BTreeMap;

use crate::support::Room;
use repl::Callbacks;
use repl::prelude::*;

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
    /// Changes the received members, as a game with prediction does.
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
fn s49_an_array_that_was_shortened_in_a_notify_is_restored() {
    let (mut room, squad) = squad_of_three();
    assert_eq!(room.client().get(squad).unwrap().members, [member(1)], "its notify cut it");
    room.server[squad].members[2].wounds[1] = 77;
    room.settle();
    // The notify ran again, for all three members.
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
fn s49_local_values_stay_until_the_server_changes_their_property() {
    let (mut room, squad) = squad_of_three();
    change(&mut room, squad, |squad| squad.leader.as_mut().unwrap().health = 70);
    room.server[squad].score = 3;
    room.settle();
    assert_eq!(room.client()[squad].leader.as_ref().unwrap().health, 70);
    room.server[squad].leader.as_mut().unwrap().wounds[0] = 5;
    room.settle();
    let leader = room.client().get(squad).unwrap().leader.clone().unwrap();
    assert_eq!(leader, Member { health: 9, wounds: vec![5, 2, 3] }, "the property was updated");
}

/// A class that shortens itself in each of its callbacks.
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
    #[replicated(notify = on_change)]
    stacks: FastArray<Stack>,
    #[replicated(notify = on_change)]
    shelf: OrderedFastArray<Stack>,
    #[replicated(notify = on_change)]
    drawers: BTreeMap<u8, Stack>,
    #[replicated(notify = on_change)]
    rows: Vec<FastArray<u16>>,
    changes: u32,
}

impl Chest {
    fn on_change(&mut self) {
        self.changes += 1;
    }
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Stack {
    count: u16,
    marks: Vec<u8>,
    gems: FastArray<u16>,
}

fn stack(count: u16) -> Stack {
    Stack { count, marks: vec![1, 2, 3], gems: [7, 8].into() }
}

fn chest_of_three() -> (Room, ObjectRef<Chest>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Chest>();
    });
    let chest = room.server.spawn(Chest {
        stacks: (1..=3).map(stack).collect(),
        shelf: (1..=3).map(stack).collect(),
        drawers: (1..=3).map(|key| (key, stack(u16::from(key)))).collect(),
        ..Chest::default()
    });
    room.enter();
    room.settle();
    (room, chest)
}

fn rearrange(room: &mut Room, chest: ObjectRef<Chest>, change: impl FnOnce(&mut Chest)) {
    change(room.guests[0].client.get_mut(chest).expect("the client has it"));
}

#[test]
fn s49_an_array_in_an_item_that_was_cut_grows_again_with_its_next_update() {
    let (mut room, chest) = chest_of_three();
    rearrange(&mut room, chest, |chest| {
        chest.stacks[0].marks.clear();
        chest.shelf[0].marks.clear();
        chest.drawers.get_mut(&1).unwrap().marks.clear();
    });
    room.server[chest].stacks[0].marks[2] = 9;
    room.server[chest].shelf[0].marks[2] = 9;
    room.server[chest].drawers.get_mut(&1).unwrap().marks[2] = 9;
    room.settle();
    let held = room.client().get(chest).unwrap();
    for stack in [&held.stacks[0], &held.shelf[0], &held.drawers[&1]] {
        assert_eq!(stack.marks, [1, 2, 9]);
    }
}

#[test]
fn s49_items_that_were_taken_out_are_restored_with_the_next_change_of_one() {
    let (mut room, chest) = chest_of_three();
    rearrange(&mut room, chest, |chest| {
        chest.stacks.clear();
        chest.shelf.clear();
        chest.drawers.clear();
    });
    room.server[chest].stacks[1].gems[0] = 70;
    room.server[chest].shelf[1].gems[0] = 70;
    room.server[chest].drawers.get_mut(&2).unwrap().gems[0] = 70;
    room.settle();
    assert!(room.client().is_connected());
    let held = room.client().get(chest).unwrap();
    assert_eq!((held.stacks.len(), held.shelf.len(), held.drawers.len()), (3, 3, 3), "all of them come back");
    let second = room.server[chest].stacks.id(1).unwrap();
    for stack in
        [held.stacks.by_id(second).expect("it is the item that it was"), &held.shelf[1], &held.drawers[&2]]
    {
        assert_eq!((stack.count, &stack.marks[..], &stack.gems[..]), (2, &[1, 2, 3][..], &[70, 8][..]));
    }

    room.server[chest].stacks.remove(1);
    room.server[chest].shelf.remove(1);
    room.server[chest].drawers.remove(&2);
    room.settle();
    let held = room.client().get(chest).unwrap();
    assert_eq!((held.stacks.len(), held.shelf.len(), held.drawers.len()), (2, 2, 2));
}

#[test]
fn s49_items_that_come_back_stand_where_the_server_has_them() {
    let (mut room, chest) = chest_of_three();
    rearrange(&mut room, chest, |chest| drop(chest.shelf.drain(..2)));
    room.server[chest].shelf[1].count = 20;
    room.server[chest].shelf[0].count = 10;
    room.settle();
    let counts: Vec<_> = room.client().get(chest).unwrap().shelf.iter().map(|stack| stack.count).collect();
    assert_eq!(counts, [10, 20, 3]);
}

#[test]
fn s183_an_array_that_a_client_assigned_goes_with_the_next_update() {
    let (mut room, chest) = chest_of_three();
    rearrange(&mut room, chest, |chest| {
        chest.stacks = (101..=103).map(stack).collect();
        chest.shelf = (101..=103).map(stack).collect();
        chest.stacks[1].gems = [70, 80].into();
    });
    room.server[chest].stacks[0].count = 10;
    room.server[chest].stacks.remove(2);
    room.server[chest].shelf[0].count = 10;
    room.server[chest].shelf.remove(2);
    room.settle();
    let held = room.client().get(chest).unwrap();
    let counts = |stacks: &mut dyn Iterator<Item = &Stack>| {
        let mut counts: Vec<_> = stacks.map(|stack| stack.count).collect();
        counts.sort_unstable();
        counts
    };
    assert_eq!(counts(&mut held.stacks.iter()), [2, 10]);
    assert_eq!(counts(&mut held.shelf.iter()), [2, 10]);
    assert!(held.stacks.ids().iter().all(|id| !id.is_local()));
}

#[test]
fn s183_a_copy_that_a_client_assigned_leaves_no_item_twice_and_one_that_went_to_a_server_is_the_servers() {
    let (mut room, chest) = chest_of_three();
    rearrange(&mut room, chest, |chest| {
        chest.stacks = chest.stacks.clone();
        chest.shelf = chest.shelf.clone();
    });
    room.server[chest].stacks[0].count = 10;
    room.server[chest].shelf[0].count = 10;
    room.settle();
    let held = room.client().get(chest).unwrap();
    assert_eq!((held.stacks.len(), held.shelf.len()), (3, 3));

    let (stacks, shelf) = (held.stacks.clone(), held.shelf.clone());
    let other = room.server.spawn(Chest { stacks, shelf, ..Chest::default() });
    room.settle();
    let held = room.client().get(other).unwrap();
    assert_eq!((held.stacks.len(), held.shelf.len()), (3, 3));
}

#[test]
fn s49_an_equal_value_that_is_sent_again_calls_no_notify() {
    let (mut room, chest) = chest_of_three();
    room.server[chest].rows = vec![(0..3).collect()];
    room.settle();
    let changes: [fn(&mut Chest); 6] = [
        |chest| chest.rows[0][0] = 9,
        |chest| chest.stacks[0].gems[0] += 1,
        |chest| _ = chest.stacks.push(stack(4)),
        |chest| chest.shelf[1].count += 1,
        |chest| chest.shelf.rotate_left(1),
        |chest| chest.drawers.get_mut(&1).unwrap().gems[0] += 1,
    ];
    for change in changes {
        let before = room.client().get(chest).unwrap().changes;
        change(&mut room.server[chest]);
        // No ack arrives, so the change is sent again and again.
        for _ in 0..40 {
            let packets = room.tick_one();
            room.deliver(0, &packets);
        }
        room.settle();
        assert_eq!(room.client().get(chest).unwrap().changes, before + 1);
    }
}
