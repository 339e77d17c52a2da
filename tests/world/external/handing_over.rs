//! Tests when and how often a client receives changes of objects that live outside the server.

use std::time::Duration;

use repl::prelude::*;
use repl::{ArchetypeId, Area, CompareError};

use crate::support::{Room, SIGN_OF_LIFE_BYTES, leaks, property, size};

#[derive(Replicated, Clone, Default, Debug, PartialEq)]
struct Probe {
    #[replicated]
    depth: u32,
    #[replicated(condition = InitialOnly)]
    name: String,
    #[replicated(condition = Custom)]
    secret: String,
    #[replicated(condition = Dynamic)]
    mood: u32,
    #[replicated(condition = OwnerOnly)]
    orders: u32,
    #[replicated(push)]
    pushed: u32,
    #[replicated]
    base: ObjectRef<Base>,
    notes: u32,
}

/// A class of objects that live in the server.
#[derive(Replicated, Default)]
struct Base {
    #[replicated]
    probe: ObjectRef<Probe>,
}

#[derive(Replicated, Default)]
struct Bag {
    #[replicated]
    items: FastArray<u32>,
    #[replicated(push)]
    marked: FastArray<u32>,
    #[replicated(push)]
    later: FastArray<u32>,
}

/// An object with arrays.
#[derive(Replicated, Clone, Default, Debug, PartialEq)]
struct Trail {
    #[replicated]
    points: Vec<u16>,
    #[replicated(push)]
    marks: Vec<u16>,
}

fn register(client: &mut Client) {
    client.register::<Probe>().register::<Base>().register::<Bag>();
    client.register_archetype(deep);
}

fn deep() -> Probe {
    Probe { depth: 1_000, ..Probe::default() }
}

/// Creates a room with this many guests, and a probe that lives outside the server.
fn room(guests: usize) -> (Room, ObjectRef<Probe>, Probe) {
    let live = Probe { depth: 1, ..Probe::default() };
    let furnish = |server: &mut Server| {
        server.register_external::<Probe>().register_external::<Bag>().register::<Base>();
        server.register_archetype(deep);
        server.external().spawn(&live)
    };
    let (room, probe) = Room::furnished(ServerConfig::default(), register, guests, furnish);
    (room, probe, live)
}

fn shown(room: &Room, guest: usize, probe: ObjectRef<Probe>) -> &Probe {
    room.guests[guest].client.get(probe).expect("the client has it")
}

#[test]
fn an_object_is_sent_as_it_was_when_it_was_spawned_or_last_handed_over() {
    let (mut room, probe, mut live) = room(1);
    assert_eq!(shown(&room, 0, probe), &live);
    live.depth = 2;
    room.settle();
    assert_eq!(shown(&room, 0, probe).depth, 1, "it was not handed over");
    live.notes = 7;
    room.server.external().compare(probe, &live).expect("it exists");
    live.depth = 3;
    room.settle();
    assert_eq!((shown(&room, 0, probe).depth, shown(&room, 0, probe).notes), (2, 0));
}

#[test]
fn of_an_object_that_is_handed_over_twice_in_a_tick_the_last_values_arrive() {
    let (mut room, probe, mut live) = Room::measuring(|| room(1));
    for (depth, orders) in [(7, 1), (8, 2), (9, 3)] {
        (live.depth, live.orders) = (depth, orders);
        room.server.external().compare(probe, &live).expect("it exists");
    }
    room.settle();
    assert_eq!((shown(&room, 0, probe).depth, room.updates::<Probe>(0, "depth")), (9, 2));
    assert_eq!(shown(&room, 0, probe).orders, 0, "for owners only");
}

#[test]
fn a_missing_object_and_an_object_of_another_class_are_refused_and_nothing_is_sent() {
    let (mut room, probe, mut live) = room(1);
    let bag = room.server.external().spawn(&Bag::default());
    let base = room.server.spawn(Base::default());
    room.settle();
    live.depth = 9;
    let guid = |guid: Option<repl::Guid>| ObjectRef::new(guid.expect("it is not null"));
    let mut probes = room.server.external::<Probe>();
    assert_eq!(probes.compare(guid(bag.guid()), &live), Err(CompareError::OtherClass));
    assert_eq!(probes.compare(guid(base.guid()), &live), Err(CompareError::OtherClass));
    assert_eq!(probes.compare(ObjectRef::default(), &live), Err(CompareError::Gone));
    room.server.despawn(probe);
    assert_eq!(room.server.external().compare(probe, &live), Err(CompareError::Gone));
    room.settle();
    // The slot is used again, and the old reference does not reach the new object.
    let next = room.server.external().spawn(&Probe { depth: 4, ..Probe::default() });
    assert_eq!(next.guid().map(|guid| guid.slot()), probe.guid().map(|guid| guid.slot()));
    assert_eq!(room.server.external().compare(probe, &live), Err(CompareError::Gone));
    room.settle();
    assert_eq!(shown(&room, 0, next).depth, 4);
    assert!(!room.client().contains(probe));
}

#[test]
fn s45_a_property_that_changed_while_it_was_off_arrives_when_it_is_on_without_being_handed_over() {
    let (mut room, probe, mut live) = room(2);
    let (secret, mood) = (property("secret"), property("mood"));
    room.server.object(probe).set_custom_active(secret, false);
    room.server.object(probe).set_dynamic_condition(mood, Condition::Never);
    (live.secret, live.mood, live.depth) = ("THE SECRET".to_owned(), 5, 6);
    room.server.external().compare(probe, &live).expect("it exists");
    room.enter();
    for _ in 0..30 {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            assert!(packets.iter().all(|packet| !leaks(packet, b"THE SECRET")), "sent to guest {guest}");
            room.deliver(guest, &packets);
        }
    }
    for guest in 0..3 {
        let probe = shown(&room, guest, probe);
        assert_eq!((probe.depth, probe.secret.as_str(), probe.mood), (6, "", 0), "guest {guest}");
    }
    room.server.object(probe).set_custom_active(secret, true);
    room.server.object(probe).set_dynamic_condition(mood, Condition::None);
    room.settle();
    for guest in 0..3 {
        let probe = shown(&room, guest, probe);
        assert_eq!((probe.secret.as_str(), probe.mood), ("THE SECRET", 5), "guest {guest}");
    }
}

#[test]
fn s124_a_push_property_is_sent_when_it_is_marked_before_or_after_it_is_handed_over() {
    let (mut room, probe, mut live) = room(1);
    let pushed = property::<Probe>("pushed");
    live.pushed = 1;
    room.server.external().compare(probe, &live).expect("it exists");
    room.settle();
    assert_eq!(shown(&room, 0, probe).pushed, 0, "without a mark");
    room.server.object(probe).mark_dirty(pushed);
    room.settle();
    assert_eq!(shown(&room, 0, probe).pushed, 1, "marked afterwards");
    room.server.object(probe).mark_dirty(pushed);
    live.pushed = 2;
    room.server.external().compare(probe, &live).expect("it exists");
    room.settle();
    assert_eq!(shown(&room, 0, probe).pushed, 2, "marked before");
}

#[test]
fn s40_a_late_client_receives_what_was_handed_over_last() {
    let (mut room, probe, mut live) = room(1);
    for name in ["first", "second"] {
        live.name = name.to_owned();
        room.server.external().compare(probe, &live).expect("it exists");
        room.settle();
    }
    room.enter();
    room.settle();
    assert_eq!((shown(&room, 0, probe).name.as_str(), shown(&room, 1, probe).name.as_str()), ("", "second"));
}

#[test]
fn owners_visibility_and_despawning_are_as_for_the_servers_own_objects() {
    let (mut room, probe, mut live) = room(2);
    let ids = [room.guests[0].id, room.guests[1].id];
    live.orders = 3;
    room.server.external().compare(probe, &live).expect("it exists");
    room.server.object(probe).set_owner(Some(ids[1]));
    room.settle();
    assert_eq!((shown(&room, 0, probe).orders, shown(&room, 1, probe).orders), (0, 3));
    assert!(room.guests[1].client.object_info(probe).is_owner());
    room.server.object(probe).set_visible(ids[0], false);
    live.depth = 50;
    room.server.external().compare(probe, &live).expect("it exists");
    room.settle();
    assert!(!room.guests[0].client.contains(probe));
    room.server.object(probe).set_visible(ids[0], true);
    room.settle();
    assert_eq!(shown(&room, 0, probe).depth, 50);
    room.server.despawn(probe);
    room.settle();
    assert!(room.guests.iter().all(|guest| !guest.client.contains(probe)));
}

#[test]
fn references_go_both_ways_between_objects_outside_and_inside_the_server() {
    let (mut room, probe, mut live) = room(1);
    let base = room.server.spawn(Base { probe });
    live.base = base;
    room.server.external().compare(probe, &live).expect("it exists");
    room.settle();
    assert_eq!((shown(&room, 0, probe).base, room.client()[base].probe), (base, probe));
    room.server.despawn(base);
    room.settle();
    assert!(shown(&room, 0, probe).base.is_null());
}

#[test]
fn s69_s197_only_differences_from_the_archetype_are_sent() {
    let (mut room, ..) = Room::measuring(|| room(1));
    // The id of the first archetype after the default one.
    let archetype = {
        let mut other = Server::new(ServerConfig::default());
        other.register_external::<Probe>();
        other.register_archetype(deep)
    };
    assert_ne!(archetype, ArchetypeId::default());
    let before = (room.updates::<Probe>(0, "depth"), room.updates::<Probe>(0, "mood"));
    let live = Probe { mood: 3, ..deep() };
    let probe = room.server.external().try_spawn_from(archetype, &live).expect("there is room");
    room.settle();
    assert_eq!(shown(&room, 0, probe), &live);
    let after = (room.updates::<Probe>(0, "depth"), room.updates::<Probe>(0, "mood"));
    assert_eq!((after.0 - before.0, after.1 - before.1), (0, 1));
}

#[test]
fn an_object_that_did_not_change_costs_nothing_when_it_is_handed_over() {
    let (mut room, probe, live) = Room::measuring(|| room(1));
    let before = room.updates::<Probe>(0, "depth");
    for _ in 0..60 {
        room.server.external().compare(probe, &live).expect("it exists");
        let packets = room.tick_one();
        assert!(packets.iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
        room.deliver(0, &packets);
        room.acknowledge();
    }
    assert_eq!(room.updates::<Probe>(0, "depth"), before);
}

#[test]
fn s137_an_array_that_is_assigned_over_another_has_new_items_once() {
    let (mut room, ..) = Room::measuring(|| room(1));
    let mut live = Bag { items: [1, 2, 3].into_iter().collect(), ..Bag::default() };
    let bag = room.server.external().spawn(&live);
    room.settle();
    let old: Vec<_> = live.items.iter().enumerate().map(|(at, _)| live.items.id(at)).collect();
    live.items = [4, 5].into_iter().collect();
    room.server.external().compare_mut(bag, &mut live).expect("it exists");
    room.settle();
    for (at, item) in live.items.iter().enumerate() {
        let id = live.items.id(at).expect("it is there");
        assert!(!old.contains(&Some(id)), "a new item has an old id");
        assert_eq!(room.client()[bag].items.by_id(id), Some(item));
    }
    // The items keep their ids from now on: only the new item is sent.
    let before = room.received::<Bag>(0, "items").1;
    live.items.push(6);
    room.server.external().compare_mut(bag, &mut live).expect("it exists");
    room.settle();
    assert_eq!(room.client()[bag].items.len(), 3);
    let bits = room.received::<Bag>(0, "items").1 - before;
    assert!(bits < 80, "{bits} bits for one item");
}

#[test]
fn s129_a_push_array_marks_itself_where_it_lives() {
    let (mut room, ..) = room(1);
    let mut live = Bag::default();
    let bag = room.server.external().spawn(&live);
    room.settle();
    live.marked.push(7);
    let packets = room.tick_one();
    assert!(size(&packets) <= SIGN_OF_LIFE_BYTES, "it was not handed over");
    room.server.external().compare_mut(bag, &mut live).expect("it exists");
    room.settle();
    assert_eq!(room.client()[bag].marked.iter().copied().collect::<Vec<_>>(), [7]);
}

#[test]
fn s129_push_arrays_that_are_handed_over_one_after_the_other_in_a_tick_both_arrive() {
    let (mut room, ..) = room(1);
    let mut live = Bag::default();
    let bag = room.server.external().spawn(&live);
    room.settle();
    live.marked.push(7);
    room.server.external().compare_mut(bag, &mut live).expect("it exists");
    live.later.push(8);
    room.server.external().compare_mut(bag, &mut live).expect("it exists");
    room.settle();
    let shown = &room.client()[bag];
    assert_eq!((shown.marked.first(), shown.later.first()), (Some(&7), Some(&8)));
}

#[test]
fn an_object_that_is_despawned_after_it_was_handed_over_is_sent_no_more() {
    let (mut room, probe, mut live) = room(1);
    live.depth = 5;
    room.server.external().compare(probe, &live).expect("it exists");
    room.server.despawn(probe);
    let next = room.server.external().spawn(&Probe { depth: 6, ..Probe::default() });
    room.settle();
    assert!(!room.client().contains(probe));
    assert_eq!(shown(&room, 0, next), &Probe { depth: 6, ..Probe::default() });
    assert_eq!(room.server.external().compare(probe, &live), Err(CompareError::Gone));
}

#[test]
fn an_object_whose_arrays_were_handed_over_before_can_be_spawned_again() {
    let (mut room, ..) = room(1);
    let mut live = Bag { items: [1, 2, 3].into_iter().collect(), ..Bag::default() };
    for round in 0..3 {
        let bag = room.server.external().spawn(&live);
        room.settle();
        live.items[1] += 10;
        live.items.push(round);
        room.server.external().compare_mut(bag, &mut live).expect("it exists");
        room.settle();
        let shown = &room.client()[bag].items;
        assert_eq!(shown.len(), live.items.len());
        for (at, item) in live.items.iter().enumerate() {
            assert_eq!(shown.by_id(live.items.id(at).expect("it is there")), Some(item));
        }
        room.server.despawn(bag);
    }
}

/// Returns a room with a trail that lives outside the server, and that the client has. `prepare` is called
/// before the first client connects.
fn trail(prepare: impl FnOnce(&mut Server)) -> (Room, ObjectRef<Trail>, Trail) {
    let live = Trail { points: vec![1, 2, 3], marks: vec![1, 2, 3] };
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Trail>());
    prepare(room.server.register_external::<Trail>());
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let trail = room.server.external().spawn(&live);
    room.settle();
    assert_eq!(room.client().get(trail), Some(&live));
    (room, trail, live)
}

/// A change that makes an array shorter is lost. When it is sent again, the array is longer, and its new
/// elements wait for the update time of the object or for a mark.
#[test]
fn r02_s186_s124_new_elements_that_wait_are_sent_with_a_lost_change_of_their_array() {
    let marks = property::<Trail>("marks");
    for is_push in [false, true] {
        let (mut room, trail, mut live) = trail(|_| {});
        room.server.object(trail).set_update_rate(Some(UpdateRate::every(Duration::from_secs(600))));
        let array = if is_push { &mut live.marks } else { &mut live.points };
        array.truncate(1);
        room.server.external().compare(trail, &live).expect("it exists");
        if is_push {
            room.server.object(trail).mark_dirty(marks);
        }
        room.server.object(trail).force_update();
        room.tick();
        let array = if is_push { &mut live.marks } else { &mut live.points };
        array.extend([7, 8, 9]);
        room.server.external().compare(trail, &live).expect("it exists");
        room.lose_until_noticed(0);
        room.settle();
        assert_eq!(room.client().get(trail), Some(&live), "push: {is_push}");
    }
}

/// The change that makes an array shorter waits for its band. When it is due, the array is longer, and its
/// new elements wait for a mark.
#[test]
fn r02_s187_new_elements_that_wait_for_a_mark_are_sent_with_a_change_that_is_due_in_a_band() {
    const PERIOD: u16 = 8;
    for start in 0..PERIOD {
        let (mut room, trail, mut live) = trail(|server| {
            let area = Area::within(200.0).slower_beyond(50.0, PERIOD);
            server.class::<Trail>().locate(area, |_: &Trail| [150.0, 0.0]);
        });
        (0..start).for_each(|_| _ = room.step());
        live.marks.truncate(1);
        room.server.external().compare(trail, &live).expect("it exists");
        room.server.object(trail).mark_dirty(property::<Trail>("marks"));
        room.step();
        live.marks.extend([7, 8, 9]);
        room.server.external().compare(trail, &live).expect("it exists");
        (0..PERIOD).for_each(|_| _ = room.step());
        room.settle();
        let shown = &room.client().get(trail).expect("the client has it").marks;
        assert!(*shown == [1] || *shown == live.marks, "{shown:?} from tick {start} on");
    }
}
