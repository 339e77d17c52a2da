//! Enums on clients: notifies with old values, references in fields of variants, edits of the client,
//! setters.
//!
//! *Invariant:* what a client sees of an enum is what the server sent, also after edits of the client.

use std::collections::BTreeMap;

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Task {
    #[default]
    Rest,
    Guard {
        whom: ObjectRef<Worker>,
        since: u16,
    },
    Dig {
        depth: u16,
        tools: Vec<ObjectRef<Worker>>,
        names: FastArray<Name>,
    },
    Number(u64, u64),
    Load {
        boxes: FastArray<Name>,
        lists: Vec<u32>,
        counts: BTreeMap<u8, Vec<u8>>,
    },
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Name {
    text: String,
}

#[derive(Replicated, Debug, Default)]
struct Worker {
    #[replicated(notify = on_task)]
    task: Task,
    #[replicated(push)]
    next: Task,
    #[replicated(condition = OwnerOnly)]
    secret: Task,
    #[replicated]
    energy: u8,
    heard: Vec<(Task, Task)>,
}

impl Worker {
    fn on_task(&mut self, old: &Task) {
        self.heard.push((old.clone(), self.task.clone()));
    }
}

fn register(client: &mut Client) {
    client.register::<Worker>();
}

fn room() -> (Room, ObjectRef<Worker>) {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Worker>();
    let worker = room.server.spawn(Worker::default());
    room.enter();
    room.settle();
    (room, worker)
}

fn seen(room: &Room, worker: ObjectRef<Worker>) -> &Worker {
    room.client().get(worker).expect("the client has the worker")
}

fn set(room: &mut Room, worker: ObjectRef<Worker>, task: Task) {
    room.server[worker].task = task;
    room.settle();
}

fn dig(depth: u16) -> Task {
    let name = |text: &str| Name { text: text.to_owned() };
    Task::Dig {
        depth,
        tools: vec![ObjectRef::NULL],
        names: [name("pick"), name("pan")].into_iter().collect(),
    }
}

#[test]
fn r28_a_notify_gets_the_old_variant_with_its_fields() {
    let (mut room, worker) = room();
    let tasks = [dig(3), dig(4), Task::Number(1, 2), Task::Number(1, 3), Task::Rest];
    tasks.iter().for_each(|task| set(&mut room, worker, task.clone()));
    let heard = &seen(&room, worker).heard;
    let expected = std::iter::once(&Task::Rest).chain(&tasks).zip(&tasks);
    let debug = |tasks: (&Task, &Task)| format!("{tasks:?}");
    let heard: Vec<_> = heard.iter().map(|(old, new)| debug((old, new))).collect();
    assert_eq!(heard, expected.map(debug).collect::<Vec<_>>());
}

#[test]
fn r28_s118_a_reference_in_a_variant_heals_unless_the_variant_was_left() {
    for leaves in [None, Some(Task::Number(5, 6)), Some(dig(1)), Some(Task::Rest)] {
        let (mut room, worker) = room();
        let id = room.guests[0].id;
        let other = room.server.spawn(Worker::default());
        room.server.object(other).set_visible(id, false);
        set(&mut room, worker, Task::Guard { whom: other, since: 3 });
        assert_eq!(seen(&room, worker).task, Task::Guard { whom: ObjectRef::NULL, since: 3 });
        if let Some(task) = &leaves {
            set(&mut room, worker, task.clone());
        }
        room.server.object(other).set_visible(id, true);
        room.settle();
        let expected = leaves.unwrap_or(Task::Guard { whom: other, since: 3 });
        assert_eq!(format!("{:?}", seen(&room, worker).task), format!("{expected:?}"));
    }
}

#[test]
fn r28_an_update_of_a_field_restores_the_variant_that_a_client_has_replaced() {
    let (mut room, worker) = room();
    set(&mut room, worker, dig(3));
    for edit in [Task::Number(7, 8), dig(9), Task::Guard { whom: worker, since: 1 }] {
        room.guests[0].client.get_mut(worker).unwrap().task = edit;
        let Task::Dig { depth, .. } = &mut room.server[worker].task else { unreachable!() };
        *depth += 1;
        room.settle();
        let (seen, sent) = (&seen(&room, worker).task, &room.server[worker].task);
        assert_eq!(format!("{seen:?}"), format!("{sent:?}"));
    }
}

#[test]
fn r28_another_variant_arrives_also_while_the_client_has_edited_the_old_one() {
    let load = |at: u8| Task::Load {
        boxes: std::iter::once(Name { text: "box".to_owned() }).collect(),
        lists: vec![at.into(); 2],
        counts: BTreeMap::from([(at, vec![at])]),
    };
    let (mut room, worker) = room();
    let guard = Task::Guard { whom: worker, since: 1 };
    for task in [dig(3), load(1), dig(4), guard, load(2), Task::Number(1, 2), dig(5)] {
        set(&mut room, worker, task.clone());
        assert_eq!(format!("{:?}", seen(&room, worker).task), format!("{task:?}"));
        match &mut room.guests[0].client.get_mut(worker).unwrap().task {
            Task::Dig { tools, names, .. } => {
                tools.push(worker);
                names.clear();
            }
            Task::Load { boxes, lists, counts } => {
                boxes.clear();
                lists.clear();
                counts.insert(9, vec![9]);
            }
            other => *other = load(7),
        }
    }
}

#[test]
fn r28_restore_puts_back_the_variant_of_the_server() {
    let (mut room, worker) = room();
    set(&mut room, worker, dig(3));
    room.guests[0].client.get_mut(worker).unwrap().task = Task::Number(7, 8);
    room.guests[0].client.object(worker).restore();
    assert_eq!(format!("{:?}", seen(&room, worker).task), format!("{:?}", dig(3)));
}

#[test]
fn r28_push_and_conditions_of_the_field_apply_to_the_enum() {
    let (mut room, worker) = room();
    room.server[worker].next = Task::Number(1, 1);
    room.server[worker].secret = Task::Number(2, 2);
    room.settle();
    assert_eq!((&seen(&room, worker).next, &seen(&room, worker).secret), (&Task::Rest, &Task::Rest));
    room.server.edit(worker).next(Task::Number(3, 3));
    let id = room.guests[0].id;
    room.server.object(worker).set_owner(Some(id));
    room.settle();
    assert_eq!(seen(&room, worker).next, Task::Number(3, 3));
    assert_eq!(seen(&room, worker).secret, Task::Number(2, 2));
    let Task::Number(_, second) = &mut room.server[worker].secret else { unreachable!() };
    *second = 9;
    room.settle();
    assert_eq!(seen(&room, worker).secret, Task::Number(2, 9));
}
