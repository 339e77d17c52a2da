//! Fast arrays with `push`: a write marks the array, so nobody has to call `mark_dirty`.
//!
//! *Invariant:* other push properties still wait for `mark_dirty`.

use repl::prelude::*;

use crate::support::{Room, property};

/// A struct that contains an array and a number.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Drawer {
    papers: FastArray<u16>,
    label: u8,
}

#[derive(Replicated, Debug, Default)]
struct Desk {
    #[replicated(push)]
    pens: FastArray<u16>,
    #[replicated(push)]
    notes: OrderedFastArray<u16>,
    #[replicated(push)]
    drawer: Drawer,
    #[replicated(push)]
    shelves: Vec<Drawer>,
    #[replicated(push)]
    spare: Option<Drawer>,
    #[replicated(push)]
    height: u8,
    #[replicated(push, condition = Custom)]
    secret: FastArray<u16>,
}

fn desk() -> (Room, ObjectRef<Desk>) {
    let register = |client: &mut Client| {
        client.register::<Desk>();
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Desk::default()))
}

fn seen(room: &Room, desk: ObjectRef<Desk>) -> &Desk {
    room.client().get(desk).expect("the client has it")
}

#[test]
fn s129_a_push_array_marks_itself_when_it_is_written_to() {
    let (mut room, desk) = desk();
    room.server[desk].pens.push(1);
    room.server[desk].notes.push(2);
    room.server[desk].drawer.papers.push(3);
    room.settle();
    let shown = seen(&room, desk);
    assert_eq!((&shown.pens[..], &shown.drawer.papers[..]), (&[1][..], &[3][..]));
    assert_eq!(shown.notes, [2]);

    room.server[desk].pens[0] = 10;
    room.server[desk].notes[0] = 20;
    room.server[desk].drawer.papers.clear();
    room.settle();
    let shown = seen(&room, desk);
    assert_eq!((&shown.pens[..], shown.drawer.papers.len()), (&[10][..], 0));
    assert_eq!(shown.notes, [20]);
}

#[test]
fn s129_a_push_array_that_another_is_assigned_over_marks_itself() {
    let (mut room, desk) = desk();
    room.server[desk].pens = [7, 8].into();
    room.settle();
    assert_eq!(seen(&room, desk).pens, [7, 8]);
}

#[test]
fn s129_a_push_array_marks_itself_where_all_objects_of_a_class_are_written_to() {
    let (mut room, desk) = desk();
    room.server.objects_mut::<Desk>().for_each(|(_, desk)| _ = desk.pens.push(5));
    room.settle();
    assert_eq!(seen(&room, desk).pens, [5]);
}

#[test]
fn s129_a_push_array_in_a_vec_or_an_option_waits_for_the_mark_of_its_property() {
    let (mut room, desk) = desk();
    let drawer = Drawer { papers: [1].into(), label: 0 };
    let there = &mut room.server[desk];
    (there.shelves, there.spare) = (vec![drawer.clone()], Some(drawer));
    room.server.object(desk).mark_dirty(property::<Desk>("shelves"));
    room.server.object(desk).mark_dirty(property::<Desk>("spare"));
    room.settle();

    let papers = |desk: &Desk| [&desk.shelves[0], desk.spare.as_ref().unwrap()].map(|it| it.papers.to_vec());
    let there = &mut room.server[desk];
    there.shelves[0].papers.push(2);
    there.spare.as_mut().unwrap().papers.push(3);
    there.pens.push(4);
    room.settle();
    let shown = seen(&room, desk);
    assert_eq!((&shown.pens[..], papers(shown)), (&[4][..], [vec![1], vec![1]]));

    room.server.object(desk).mark_dirty(property::<Desk>("shelves"));
    room.server.object(desk).mark_dirty(property::<Desk>("spare"));
    room.settle();
    assert_eq!(papers(seen(&room, desk)), [vec![1, 2], vec![1, 3]]);
}

#[test]
fn s126_other_push_properties_wait_for_their_mark_beside_a_fast_array() {
    let (mut room, desk) = desk();
    room.server[desk].height = 4;
    room.server[desk].pens.push(1);
    room.settle();
    assert_eq!((seen(&room, desk).height, seen(&room, desk).pens.len()), (0, 1));
    room.server.object(desk).mark_dirty(property::<Desk>("height"));
    room.settle();
    assert_eq!(seen(&room, desk).height, 4);
}

#[test]
fn s45_s129_a_push_array_written_to_while_it_is_off_is_sent_when_it_is_on() {
    let (mut room, desk) = desk();
    room.server.object(desk).set_custom_active(property::<Desk>("secret"), false);
    room.server[desk].secret.push(9);
    room.settle();
    assert!(seen(&room, desk).secret.is_empty());
    room.server.object(desk).set_custom_active(property::<Desk>("secret"), true);
    room.settle();
    assert_eq!(seen(&room, desk).secret, [9]);
}
