//! Reported: <https://github.com/MirrorNetworking/Mirror/issues/2809> (and issues 2349, 3097 and 3874 there).
//!
//! A client joins late. The hook of a reference runs before the object of the reference has arrived. It gets
//! null as the old and as the new value, and does not run again when the object arrives. Users expect a call
//! of the hook that shows the object. The tests use each type of field that can hold a reference.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Target {
    #[replicated]
    number: u32,
}

#[derive(NetSerialize, Clone, Default, PartialEq)]
struct Unit(ObjectRef<Target>);

#[derive(NetSerialize, Clone, Default, PartialEq)]
enum Order {
    #[default]
    Rest,
    Follow {
        whom: ObjectRef<Target>,
        near: u8,
    },
}

#[derive(Replicated, Default, Clone, PartialEq)]
struct Part {
    #[replicated]
    at: ObjectRef<Target>,
}

#[derive(FastArrayItem, Default, Clone)]
struct Item {
    at: ObjectRef<Target>,
}

/// Declares the class `Holder`. Each field has a type, a notify, an expression that puts a reference into the
/// field, and an expression that tells whether the field shows an object.
macro_rules! holder {
    ($($field:ident: $type:ty, $notify:ident, |$filled:ident, $target:ident| $fill:expr, |$value:ident| $shows:expr;)*) => {
        #[derive(Replicated, Default)]
        struct Holder {
            $(#[replicated(notify = $notify)] $field: $type,)*
            /// The fields whose notify ran, each with whether the field showed an object at that time.
            heard: Vec<(&'static str, bool)>,
        }

        impl Holder {
            $(fn $notify(&mut self) {
                let $value = &self.$field;
                let shows = $shows;
                self.heard.push((stringify!($field), shows));
            })*

            fn fill(&mut self, target: ObjectRef<Target>) {
                $({ let ($filled, $target) = (&mut self.$field, target); $fill; })*
            }

            /// Returns for each field whether it shows an object.
            fn shown(&self) -> Vec<(&'static str, bool)> {
                vec![$({ let $value = &self.$field; (stringify!($field), $shows) }),*]
            }
        }
    };
}

holder! {
    plain: ObjectRef<Target>, on_plain, |v, t| *v = t, |v| !v.is_null();
    option: Option<ObjectRef<Target>>, on_option, |v, t| *v = Some(t), |v| v.is_some_and(|r| !r.is_null());
    array: [ObjectRef<Target>; 2], on_array, |v, t| v[1] = t, |v| !v[1].is_null();
    tuple: (u8, ObjectRef<Target>), on_tuple, |v, t| v.1 = t, |v| !v.1.is_null();
    list: Vec<ObjectRef<Target>>, on_list, |v, t| v.push(t), |v| v.iter().any(|r| !r.is_null());
    queue: VecDeque<ObjectRef<Target>>, on_queue, |v, t| v.push_back(t), |v| v.iter().any(|r| !r.is_null());
    boxed: Box<ObjectRef<Target>>, on_boxed, |v, t| **v = t, |v| !v.is_null();
    unit: Unit, on_unit, |v, t| v.0 = t, |v| !v.0.is_null();
    order: Order, on_order, |v, t| *v = Order::Follow { whom: t, near: 1 },
        |v| matches!(v, Order::Follow { whom, near: 1 } if !whom.is_null());
    part: Part, on_part, |v, t| v.at = t, |v| !v.at.is_null();
    parts: Vec<Part>, on_parts, |v, t| v.push(Part { at: t }), |v| v.iter().any(|part| !part.at.is_null());
    items: FastArray<Item>, on_items, |v, t| v.push(Item { at: t }), |v| v.iter().any(|item| !item.at.is_null());
    row: OrderedFastArray<Item>, on_row, |v, t| v.push(Item { at: t }), |v| v.iter().any(|item| !item.at.is_null());
    by_number: HashMap<u8, ObjectRef<Target>>, on_by_number, |v, t| v.insert(1, t), |v| v.values().any(|r| !r.is_null());
    sorted: BTreeMap<u8, ObjectRef<Target>>, on_sorted, |v, t| v.insert(1, t), |v| v.values().any(|r| !r.is_null());
    recorded: ReplicatedMap<u8, ObjectRef<Target>>, on_recorded, |v, t| v.insert(1, t),
        |v| v.values().any(|r| !r.is_null());
    keys: HashMap<ObjectRef<Target>, u8>, on_keys, |v, t| v.insert(t, 1), |v| v.keys().any(|r| !r.is_null());
    recorded_keys: ReplicatedMap<ObjectRef<Target>, u8>, on_recorded_keys, |v, t| v.insert(t, 1),
        |v| v.keys().any(|r| !r.is_null());
    set: HashSet<ObjectRef<Target>>, on_set, |v, t| v.insert(t), |v| v.iter().any(|r| !r.is_null());
    sorted_set: BTreeSet<ObjectRef<Target>>, on_sorted_set, |v, t| v.insert(t), |v| v.iter().any(|r| !r.is_null());
}

fn room() -> Room {
    let mut room =
        Room::new(ServerConfig::default(), |client| _ = client.register::<Target>().register::<Holder>());
    room.server.register::<Target>().register::<Holder>();
    room
}

/// Asserts that each field of the client's copy shows the object, and that the last call of its notify showed
/// the object too.
fn assert_all_shown(room: &Room, holder: ObjectRef<Holder>) {
    let copy = &room.client()[holder];
    for (field, shows) in copy.shown() {
        let calls: Vec<bool> =
            copy.heard.iter().filter(|(heard, _)| *heard == field).map(|(_, shown)| *shown).collect();
        assert!(
            shows && calls.last() == Some(&true),
            "`{field}` shows the object: {shows}, notifies: {calls:?}"
        );
    }
}

/// Asserts that no field of the client's copy shows an object.
fn assert_none_shown(room: &Room, holder: ObjectRef<Holder>) {
    for (field, shows) in room.client()[holder].shown() {
        assert!(!shows, "`{field}` shows an object that the client does not have");
    }
}

#[test]
fn a_late_client_hears_of_a_target_that_is_older_than_its_holder() {
    let mut room = room();
    let target = room.server.spawn(Target { number: 7 });
    let mut holder = Holder::default();
    holder.fill(target);
    let holder = room.server.spawn(holder);
    room.enter();
    room.settle();
    assert_all_shown(&room, holder);
}

#[test]
fn a_late_client_hears_of_a_target_that_is_younger_than_its_holder() {
    let mut room = room();
    let holder = room.server.spawn(Holder::default());
    let target = room.server.spawn(Target { number: 7 });
    room.server[holder].fill(target);
    room.enter();
    room.settle();
    assert_all_shown(&room, holder);
}

#[test]
fn a_client_hears_of_a_target_that_it_sees_much_later() {
    let mut room = room();
    let id = room.enter();
    room.settle();
    let (holder, target) = (room.server.spawn(Holder::default()), room.server.spawn(Target { number: 7 }));
    room.server.object(target).set_visible(id, false);
    room.server[holder].fill(target);
    room.settle();
    assert_none_shown(&room, holder);
    room.server.object(target).set_visible(id, true);
    room.settle();
    assert_all_shown(&room, holder);
}

#[test]
fn a_client_hears_when_a_target_goes_out_of_sight_and_when_it_comes_back() {
    let mut room = room();
    let id = room.enter();
    let (holder, target) = (room.server.spawn(Holder::default()), room.server.spawn(Target { number: 7 }));
    room.server[holder].fill(target);
    room.settle();
    room.guests[0].client[holder].heard.clear();
    room.server.object(target).set_visible(id, false);
    room.settle();
    assert_none_shown(&room, holder);
    let copy = &room.client()[holder];
    let unheard: Vec<_> =
        copy.shown().into_iter().filter(|(field, _)| !copy.heard.contains(&(*field, false))).collect();
    assert!(unheard.is_empty(), "no notify when the object left: {unheard:?}");
    room.server.object(target).set_visible(id, true);
    room.settle();
    assert_all_shown(&room, holder);
}
