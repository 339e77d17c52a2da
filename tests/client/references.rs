//! References on a client: null while the client does not have the object, and valid as soon as it has (S116
//! to S122, R18, R19).
//!
//! *Invariant:* each reference that a client shows is null or refers to an object that it has.

use std::collections::{BTreeMap, VecDeque};

use crate::support::Room;
use repl::prelude::*;
use repl::{BitReader, BitWriter, Callbacks, ReadError, ReferenceMap, WriteError};

#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Unit {
    #[replicated(notify = on_target)]
    target: ObjectRef<Self>,
    #[replicated]
    friends: Vec<ObjectRef<Self>>,
    #[replicated]
    order: Order,
    #[replicated]
    goals: Vec<Goal>,
    #[replicated]
    queue: VecDeque<Goal>,
    #[replicated]
    number: u32,
    heard: Vec<ObjectRef<Self>>,
    calls: u32,
}

impl Callbacks for Unit {
    fn pre_net_receive(&mut self) {
        self.calls += 1;
    }
}

impl Unit {
    fn on_target(&mut self, old: &ObjectRef<Self>) {
        self.heard.push(*old);
    }
}

/// A value that is sent as a unit: a reference with a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Order {
    about: ObjectRef<Unit>,
    urgency: u8,
}

impl NetSerialize for Order {
    const WIRE_NAME: &'static str = "Order";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.about.write(writer)?;
        self.urgency.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self { about: ObjectRef::read(reader, references)?, urgency: u8::read(reader, references)? })
    }
}
repl::leaf!(Order);

/// A value that is sent as a unit. Its first bits look like a reference to another object.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Goal {
    #[default]
    Nowhere,
    Object(ObjectRef<Unit>),
    Place(u8),
}

/// Returns a room with one client that sees the first unit, but not the second.
fn two_units() -> (Room, ObjectRef<Unit>, ObjectRef<Unit>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Unit>();
    });
    let one = room.server.spawn(Unit::default());
    let other = room.server.spawn(Unit { number: 2, ..Unit::default() });
    let id = room.enter();
    room.settle();
    room.server.object(other).set_visible(id, false);
    room.settle();
    assert!(room.client().contains(one) && !room.client().contains(other));
    (room, one, other)
}

fn show(room: &mut Room, unit: ObjectRef<Unit>, visible: bool) {
    let id = room.guests[0].id;
    room.server.object(unit).set_visible(id, visible);
    room.settle();
}

fn seen(room: &Room, unit: ObjectRef<Unit>) -> &Unit {
    room.client().get(unit).expect("the client has it")
}

fn seen_mut(room: &mut Room, unit: ObjectRef<Unit>) -> &mut Unit {
    room.guests[0].client.get_mut(unit).expect("the client has it")
}

#[test]
fn s116_a_reference_to_a_missing_object_reads_as_null() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.server[one].friends = vec![one, other];
    room.settle();
    assert_eq!(
        (seen(&room, one).target, &seen(&room, one).friends),
        (ObjectRef::NULL, &vec![one, ObjectRef::NULL])
    );
}

#[test]
fn s118_it_heals_by_itself_when_its_object_arrives() {
    let (mut room, one, other) = Room::measuring(two_units);
    room.server[one].target = other;
    room.server[one].friends = vec![one, other];
    room.server[one].order = Order { about: other, urgency: 3 };
    room.settle();
    assert_eq!(seen(&room, one).order, Order { about: ObjectRef::NULL, urgency: 3 });
    let updates = room.updates::<Unit>(0, "target");
    show(&mut room, other, true);
    let unit = seen(&room, one);
    assert_eq!((unit.target, &unit.friends), (other, &vec![one, other]));
    assert_eq!(unit.order, Order { about: other, urgency: 3 });
    assert_eq!(room.updates::<Unit>(0, "target"), updates, "nothing was sent again");
}

#[test]
fn s118_an_element_heals_though_another_that_waited_for_the_same_object_has_changed() {
    let changes: [fn(&mut Unit, ObjectRef<Unit>); 3] = [
        |unit, it| unit.friends[0] = it,
        |unit, _| unit.friends[0] = ObjectRef::NULL,
        |unit, _| unit.friends.truncate(1),
    ];
    for change in changes {
        let (mut room, one, other) = two_units();
        room.server[one].friends = vec![other; 2];
        room.settle();
        change(&mut room.server[one], one);
        room.settle();
        show(&mut room, other, true);
        assert_eq!(seen(&room, one).friends, room.server[one].friends);
    }
}

#[test]
fn s118_healing_does_not_wait_for_packets_of_the_holder() {
    let (mut room, _, other) = two_units();
    let holder = room.server.spawn(Unit { target: other, ..Unit::default() });
    let id = room.guests[0].id;
    room.server.object(other).set_visible(id, true);
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!(seen(&room, holder).target, other, "both in one packet");
}

#[test]
fn s117_a_reference_to_itself_and_circles_are_mapped_at_once() {
    let (mut room, ..) = two_units();
    let one = room.server.spawn(Unit::default());
    let other = room.server.spawn(Unit { target: one, ..Unit::default() });
    room.server[one].target = other;
    room.server[one].friends = vec![one];
    let packets = room.tick_one();
    room.deliver(0, &packets);
    let unit = seen(&room, one);
    assert_eq!((unit.target, &unit.friends, seen(&room, other).target), (other, &vec![one], one));
}

#[test]
fn s119_a_newer_value_replaces_a_reference_that_waits_for_its_object() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.server[one].friends = vec![one, other];
    room.settle();
    room.server[one].target = one;
    room.server[one].friends.truncate(1);
    room.settle();
    show(&mut room, other, true);
    assert_eq!((seen(&room, one).target, &seen(&room, one).friends), (one, &vec![one]));
}

#[test]
fn s119_an_element_that_came_back_with_another_value_keeps_it() {
    let (mut room, one, other) = two_units();
    room.server[one].friends = vec![one, other];
    room.settle();
    room.server[one].friends.clear();
    room.settle();
    room.server[one].friends = vec![one, one];
    room.settle();
    show(&mut room, other, true);
    assert_eq!(seen(&room, one).friends, [one, one]);
}

#[test]
fn s120_it_unmaps_when_its_object_leaves_sight_and_heals_without_a_resend() {
    let (mut room, one, other) = Room::measuring(two_units);
    show(&mut room, other, true);
    room.server[one].target = other;
    room.server[one].friends = vec![other, one];
    room.settle();
    assert_eq!(seen(&room, one).target, other);
    let updates = room.updates::<Unit>(0, "target") + room.updates::<Unit>(0, "friends");
    for _ in 0..3 {
        show(&mut room, other, false);
        assert_eq!(seen(&room, one).target, ObjectRef::NULL);
        assert_eq!(seen(&room, one).friends, [ObjectRef::NULL, one]);
        show(&mut room, other, true);
        assert_eq!((seen(&room, one).target, &seen(&room, one).friends), (other, &vec![other, one]));
    }
    assert_eq!(room.updates::<Unit>(0, "target") + room.updates::<Unit>(0, "friends"), updates);
}

#[test]
fn s121_the_notify_comes_when_the_reference_is_mapped() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.settle();
    assert!(seen(&room, one).heard.is_empty(), "null before and after");
    show(&mut room, other, true);
    assert_eq!(seen(&room, one).heard, [ObjectRef::NULL]);
    show(&mut room, other, false);
    assert_eq!(seen(&room, one).heard, [ObjectRef::NULL, other], "unmapping is a change too");
}

#[test]
fn s122_a_leaf_is_read_again_whole_from_its_last_bits() {
    let (mut room, one, other) = two_units();
    room.server[one].order = Order { about: other, urgency: 3 };
    room.settle();
    room.guests[0].client.get_mut(one).unwrap().order.urgency = 200;
    show(&mut room, other, true);
    assert_eq!(
        seen(&room, one).order,
        Order { about: other, urgency: 3 },
        "the sibling is the server's again"
    );
    room.server[one].order.urgency = 4;
    room.settle();
    show(&mut room, other, false);
    assert_eq!(
        seen(&room, one).order,
        Order { about: ObjectRef::NULL, urgency: 4 },
        "and never an older one"
    );
}

#[test]
fn s122_a_reference_in_any_unit_is_null_and_filled_in_again_with_its_object() {
    let goals = |to| vec![Goal::Place(3), Goal::Object(to), Goal::Nowhere];
    let (mut room, one, other) = two_units();
    room.server[one].goals = goals(other);
    room.server[one].queue = goals(other).into();
    room.settle();
    for _ in 0..2 {
        for (visible, shown) in [(false, ObjectRef::NULL), (true, other)] {
            show(&mut room, other, visible);
            let unit = seen(&room, one);
            assert_eq!((&unit.goals, &unit.queue), (&goals(shown), &goals(shown).into()), "{visible}");
        }
    }
}

#[test]
fn r18_a_reference_to_a_destroyed_object_never_heals() {
    let (mut room, one, other) = two_units();
    show(&mut room, other, true);
    room.server[one].target = other;
    room.settle();
    room.server.despawn(other);
    room.settle();
    assert_eq!(seen(&room, one).target, ObjectRef::NULL);
    let next = room.server.spawn(Unit::default());
    let slot = |unit: ObjectRef<Unit>| unit.guid().map(repl::Guid::slot);
    assert_eq!(slot(next), slot(other), "the slot has a new object");
    room.settle();
    assert!(room.client().contains(next));
    assert_eq!(seen(&room, one).target, ObjectRef::NULL);
}

#[test]
fn r19_a_reference_is_sent_alike_whether_its_object_is_visible_or_not() {
    let (mut room, one, other) = two_units();
    room.enter();
    room.settle();
    // Now both clients know that they have received the same tick.
    room.server[one].number = 1;
    room.settle();
    room.server[one].target = other;
    let packets = room.tick();
    let [first, second] = &packets[..] else { panic!("two guests") };
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(first[0].len(), second[0].len());
    room.deliver(0, first);
    room.deliver(1, second);
    assert_eq!(seen(&room, one).target, ObjectRef::NULL);
    assert_eq!(room.guests[1].client.get(one).map(|unit| unit.target), Some(other));
}

#[test]
fn r19_a_reference_that_arrives_before_its_object_is_filled_in_later() {
    for swapped in [false, true] {
        let (mut room, one, _) = two_units();
        let born = room.server.spawn(Unit::default());
        let opening = room.tick_one();
        room.server[one].target = born;
        let mention = room.tick_one();
        let order = if swapped { [&mention, &opening] } else { [&opening, &mention] };
        order.into_iter().for_each(|packets| room.deliver(0, packets));
        assert_eq!(seen(&room, one).target, born, "swapped: {swapped}");
    }
}

#[test]
fn s119_references_in_elements_that_are_gone_are_forgotten() {
    let (mut room, one, other) = two_units();
    room.server[one].friends = vec![one, other];
    room.settle();
    room.server[one].friends.truncate(1);
    room.settle();
    let calls = seen(&room, one).calls;
    show(&mut room, other, true);
    assert_eq!(seen(&room, one).calls, calls, "nothing of it waits for the one that came");
    room.server[one].friends.push(other);
    room.settle();
    assert_eq!(seen(&room, one).friends, [one, other]);
}

#[test]
fn s118_a_reference_that_is_filled_in_is_among_the_changes_of_its_object() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.settle();
    let targets_changed = |room: &mut Room| -> Vec<_> {
        let updates = std::iter::from_fn(|| room.guests[0].client.poll_update());
        let targets = updates.filter(|update| update.properties().contains("target"));
        targets.filter_map(|update| update.cast::<Unit>()).collect()
    };
    targets_changed(&mut room);
    show(&mut room, other, true);
    assert!(targets_changed(&mut room).contains(&one));
    show(&mut room, other, false);
    assert_eq!(targets_changed(&mut room), [one]);
}

#[test]
fn s118_one_change_names_what_a_packet_brought_and_each_reference_that_it_filled_in() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.server[one].order.about = other;
    room.settle();
    room.polled(0);
    seen_mut(&mut room, one).calls = 0;
    room.server[one].number = 7;
    show(&mut room, other, true);
    assert_eq!(seen(&room, one).calls, 1, "all of it came in one packet");
    let updates = std::iter::from_fn(|| room.guests[0].client.poll_update());
    let updates = updates.filter(|update| update.cast() == Some(one));
    let names: Vec<Vec<_>> = updates.map(|update| update.properties().iter().collect()).collect();
    assert_eq!(names, [["target", "order", "number"]]);
    assert_eq!(seen(&room, one).heard, [ObjectRef::default()], "the notify comes too");
}

#[test]
fn s118_a_holder_of_two_references_is_updated_once_by_the_packet_that_fills_in_both() {
    let (mut room, one, other) = two_units();
    let id = room.guests[0].id;
    let (holder, third) = (room.server.spawn(Unit::default()), room.server.spawn(Unit::default()));
    room.server.object(third).set_visible(id, false);
    for unit in [one, holder] {
        (room.server[unit].target, room.server[unit].friends) = (other, vec![third]);
    }
    room.settle();
    for unit in [one, holder] {
        seen_mut(&mut room, unit).calls = 0;
    }
    room.server.object(third).set_visible(id, true);
    show(&mut room, other, true);
    for unit in [one, holder] {
        let unit = seen(&room, unit);
        assert_eq!((unit.target, unit.friends.as_slice(), unit.calls), (other, [third].as_slice(), 1));
    }
}

#[test]
fn r18_references_of_an_object_that_is_gone_are_not_filled_in_for_the_next_one_in_its_slot() {
    let (mut room, one, other) = two_units();
    room.server[one].target = other;
    room.settle();
    room.server.despawn(one);
    room.settle();
    let next = room.server.spawn(Unit::default());
    room.settle();
    assert_eq!(next.guid().map(|guid| guid.slot()), one.guid().map(|guid| guid.slot()));
    show(&mut room, other, true);
    assert!(room.client()[next].target.is_null());
    assert_eq!(room.client()[next].heard, []);
}

#[test]
fn s117_an_earlier_removal_does_not_hide_the_next_object_in_its_slot() {
    for packets_between in 0..3 {
        let (mut room, one, other) = two_units();
        let third = room.server.spawn(Unit::default());
        room.settle();
        room.server.despawn(third);
        room.settle();
        let next = room.server.spawn(Unit::default());
        let last = room.server.spawn(Unit::default());
        room.settle();
        assert_eq!(next.guid().map(|guid| guid.slot()), third.guid().map(|guid| guid.slot()));
        for number in 0..packets_between {
            room.server[one].number = number + 1;
            room.step();
        }
        // One packet removes an object and contains a reference to another one.
        room.server.despawn(last);
        room.server[one].target = next;
        room.settle();
        assert_eq!(room.client()[one].target, next);
        assert!(!room.client().contains(other) && !room.client().contains(last));
    }
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Link {
    to: ObjectRef<Unit>,
}

/// A class with references in each kind of collection.
#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Board {
    #[replicated]
    map: BTreeMap<u8, ObjectRef<Unit>>,
    #[replicated]
    items: FastArray<Link>,
    #[replicated]
    ordered: OrderedFastArray<Link>,
    #[replicated]
    list: Vec<ObjectRef<Unit>>,
    calls: u32,
}

impl Callbacks for Board {
    fn pre_net_receive(&mut self) {
        self.calls += 1;
    }
}

#[test]
fn s117_s119_what_was_removed_from_a_collection_is_not_read_again_when_its_object_goes() {
    type Change = fn(&mut Board, ObjectRef<Unit>);
    let kinds: [(Change, Change); 4] = [
        (|board, unit| _ = board.map.insert(1, unit), |board, _| board.map.clear()),
        (|board, unit| _ = board.items.push(Link { to: unit }), |board, _| board.items.clear()),
        (|board, unit| _ = board.ordered.push(Link { to: unit }), |board, _| board.ordered.clear()),
        (|board, unit| board.list.push(unit), |board, _| board.list.clear()),
    ];
    for (kind, (add, remove)) in kinds.into_iter().enumerate() {
        let register: fn(&mut Client) = |client| _ = client.register::<Unit>().register::<Board>();
        let (mut room, (board, unit)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
            (server.spawn(Board::default()), server.spawn(Unit::default()))
        });
        for removes in [false, true] {
            add(&mut room.server[board], unit);
            room.settle();
            if removes {
                remove(&mut room.server[board], unit);
                room.settle();
            }
            let (id, before) = (room.guests[0].id, room.client()[board].calls);
            room.polled(0);
            room.server.object(unit).set_visible(id, false);
            room.settle();
            let read_again = u32::from(!removes);
            assert_eq!(room.client()[board].calls - before, read_again, "kind {kind}, {removes}");
            let told = room.polled(0).into_iter().filter(|(object, _)| *object == board.erase());
            let expected = vec![(board.erase(), UpdateKind::Changed); read_again as usize];
            assert_eq!(told.collect::<Vec<_>>(), expected);
            room.server.object(unit).set_visible(id, true);
            room.settle();
            remove(&mut room.server[board], unit);
            room.settle();
        }
    }
}
