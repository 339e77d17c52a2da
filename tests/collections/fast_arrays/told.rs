//! Which callbacks and notifies run on a client for its arrays, and when. Also references that become valid
//! later (S163, S171 to S184).
//!
//! *Invariant:* items are identified by their kind, which no test of this file changes by accident.

use repl::prelude::*;

use super::classes::{Bag, Call, Item, PlainItem, Socket, Step, View, calls};
use crate::support::{Room, SIGN_OF_LIFE_BYTES};

pub(crate) fn item(kind: u32) -> Item {
    Item { kind, ..Item::default() }
}

/// Returns a room with one client and a bag of items of these kinds. No callback is recorded yet.
pub(crate) fn room_with(kinds: impl IntoIterator<Item = u32>) -> (Room, ObjectRef<Bag>) {
    room_of(kinds.into_iter().map(item).collect())
}

/// After a time without packets and then this many ticks, the server knows that the client has received the
/// current tick.
const STEADY_TICKS: u32 = 4;

/// Returns a room with one client and a bag of these items. No callback is recorded yet.
pub(crate) fn room_of(items: FastArray<Item>) -> (Room, ObjectRef<Bag>) {
    let register = |client: &mut Client| {
        client.register::<Bag>();
    };
    let furnish = |server: &mut Server| server.spawn(Bag { items, ..Bag::default() });
    let furnished = Room::furnished(ServerConfig::default(), register, 1, furnish);
    calls();
    furnished
}

/// Makes the link steady: each tick sends a packet, and all packets are acked. Then the header of each packet
/// has the same number of bits.
pub(crate) fn make_steady(room: &mut Room, bag: ObjectRef<Bag>) {
    for _ in 0..STEADY_TICKS {
        room.server[bag].number += 1;
        room.step();
    }
    room.acknowledge();
}

fn kinds(room: &Room, bag: ObjectRef<Bag>) -> Vec<u32> {
    let found = room.client().get(bag).expect("the client has it");
    found.items.iter().map(|item| item.kind).collect()
}

/// Returns the callbacks of items since the last call of this function.
fn told() -> Vec<String> {
    let of = |what: &str, view: View<PlainItem>| {
        let View { items, indices, old_len, final_len } = view;
        format!("{what} {indices:?} of {}, {old_len} to {final_len}", items.len())
    };
    let outline = |call| match call {
        Call::Item(Step::Remove(item)) => Some(format!("remove {}", item.kind)),
        Call::Item(Step::Add(item)) => Some(format!("add {}", item.kind)),
        Call::Item(Step::Change(item, names)) => Some(format!("change {} {names:?}", item.kind)),
        Call::Item(Step::Removes(view)) => Some(of("removes", view)),
        Call::Item(Step::Adds(view)) => Some(of("adds", view)),
        Call::Item(Step::Changes(view)) => Some(of("changes", view)),
        Call::Item(Step::Receive(view)) => Some(of("receive", view)),
        Call::Socket(_) | Call::End(_) => None,
    };
    calls().into_iter().filter_map(outline).collect()
}

/// Returns the packets of this tick. The test delivers or drops them.
fn sent(room: &mut Room) -> Vec<Vec<u8>> {
    room.tick_one()
}

#[test]
fn s178_s179_callbacks_come_in_their_order_with_the_indices_before_removal() {
    let (mut room, bag) = room_with([10, 11, 12, 13]);
    let items = &mut room.server[bag].items;
    items.remove(2);
    items.remove(0);
    items[0].name = "eleven".into();
    items.push(item(14));
    items.push(item(15));
    room.settle();
    assert_eq!(
        told(),
        [
            "remove 10",
            "remove 12",
            "removes [0, 2] of 6, 4 to 4",
            "add 14",
            "add 15",
            "adds [4, 5] of 6, 4 to 4",
            "change 11 [\"name\"]",
            "changes [1] of 6, 4 to 4",
            "receive [] of 4, 4 to 4",
        ]
    );
    // The last item moves to the index of each removed item, from the highest index down (S180).
    assert_eq!(kinds(&room, bag), [14, 11, 15, 13]);
}

#[test]
fn s163_s160_a_mark_without_a_change_sends_and_calls_nothing() {
    let (mut room, bag) = room_with([10, 11]);
    room.server[bag].items.mark_all();
    room.server[bag].items[0].kind += 0;
    assert!(sent(&mut room).iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.settle();
    assert_eq!(told(), Vec::<String>::new());
}

#[test]
fn s63_an_item_that_went_there_and_back_between_two_comparisons_is_not_sent() {
    let (mut room, bag) = room_with([10, 11]);
    let items = &mut room.server[bag].items;
    (items[1].kind, items[1].name) = (12, "there".into());
    items[1].marks.push(3);
    (items[1].kind, items[1].name) = (11, String::new());
    items[1].marks.pop();
    assert!(sent(&mut room).iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.settle();
    assert_eq!(told(), Vec::<String>::new());
}

#[test]
fn s145_s150_a_new_order_sends_and_calls_nothing() {
    let (mut room, bag) = Room::measuring(|| room_with(10..30));
    let before = room.updates::<Bag>(0, "items");
    room.server[bag].items.reverse();
    room.server[bag].items.rotate_left(7);
    room.server[bag].items.swap(3, 9);
    assert!(sent(&mut room).iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.settle();
    assert_eq!(room.updates::<Bag>(0, "items"), before, "not even an empty list");
    assert_eq!((told(), kinds(&room, bag)), (Vec::new(), (10..30).collect()));
}

#[test]
fn s53_s171_repeated_data_calls_nothing() {
    let (mut room, bag) = room_with([10]);
    room.server[bag].items.push(item(11));
    room.server[bag].items[0].name = "ten".into();
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    assert_eq!(told().len(), 6);
    let notified = room.client().get(bag).expect("the client has it").notified;
    // The ack is lost.
    room.replies(0);
    room.settle();
    assert_eq!(told(), Vec::<String>::new());
    // In Unreal, the notify of the field would run each time the data arrives.
    assert_eq!(room.client().get(bag).expect("the client has it").notified, notified);
}

#[test]
fn s172_an_item_is_removed_although_the_ack_of_its_addition_was_lost() {
    let (mut room, bag) = room_with([10]);
    room.server[bag].items.push(item(11));
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    assert_eq!(kinds(&room, bag), [10, 11]);
    room.replies(0);
    // When the item is removed, the server has no ack for the item yet.
    room.server[bag].items.pop();
    room.settle();
    assert_eq!(kinds(&room, bag), [10]);
}

#[test]
fn s172_an_item_is_removed_although_the_packet_with_the_removal_was_lost() {
    let (mut room, bag) = room_with([10]);
    room.server[bag].items.push(item(11));
    let came = sent(&mut room);
    room.server[bag].items.pop();
    let went = sent(&mut room);
    // Only the older of the two packets arrives, and it arrives late.
    drop(went);
    room.deliver(0, &came);
    room.replies(0);
    room.settle();
    assert_eq!(kinds(&room, bag), [10]);
}

#[test]
fn s173_an_existing_item_survives_a_sweep() {
    let (mut room, bag) = room_with([10]);
    room.server[bag].items.push(item(11));
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    room.replies(0);
    room.server[bag].items.push(item(12));
    room.settle();
    let mut found = kinds(&room, bag);
    found.sort_unstable();
    assert_eq!(found, [10, 11, 12]);
    assert_eq!(told().iter().filter(|call| call.starts_with("remove ")).count(), 0);
}

#[test]
fn s177_an_update_is_one_change_of_the_array() {
    let (mut room, bag) = room_with(10..20);
    let client = &mut room.guests[0].client;
    let own = client.get_mut(bag).expect("it has it").items.push(item(90));
    let notified = client.get(bag).expect("it has it").notified;
    let items = &mut room.server[bag].items;
    items.drain(2..5);
    (0..4).for_each(|at| items[at].name = "changed".into());
    items[0].sockets.push(Socket::default());
    items.extend([item(20), item(21)]);
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    room.settle();
    let calls = told();
    for (what, count) in [
        ("remove ", 3),
        ("removes ", 1),
        ("add ", 2),
        ("adds ", 1),
        ("change ", 4),
        ("changes ", 1),
        ("receive ", 1),
    ] {
        assert_eq!(calls.iter().filter(|call| call.starts_with(what)).count(), count, "{what}: {calls:?}");
    }
    let found = room.guests[0].client.get_mut(bag).expect("it has it");
    assert_eq!(found.notified, notified + 1);
    // None of these items counts as an item that the client itself added.
    let own_ids =
        |items: &FastArray<Item>| items.ids().iter().copied().filter(|id| id.is_local()).collect::<Vec<_>>();
    assert_eq!(own_ids(&found.items), [own]);
    assert_eq!(found.items.push(item(91)).number(), own.number() + 1);
}

#[test]
fn s181_the_notify_of_the_field_runs_after_the_callbacks() {
    let (mut room, bag) = room_with([10]);
    let before = room.client().get(bag).expect("the client has it").notified;
    room.server[bag].items.push(item(11));
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    // `post_net_receive` runs between the two callbacks.
    let calls = calls();
    assert_eq!(calls.last(), Some(&Call::End(0)));
    let bag = room.client().get(bag).expect("the client has it");
    assert_eq!((bag.notified, bag.calls_before_notify), (before + 1, calls.len()));
}

#[test]
fn s182_all_that_a_packet_brings_is_there_before_any_callback() {
    let (mut room, bag) = room_with([10]);
    // In the packet, the object to which the item refers comes after the item.
    let other = room.server.spawn(Bag { number: 1, ..Bag::default() });
    room.server[bag].items.push(Item { target: other, ..item(11) });
    let packets = sent(&mut room);
    assert_eq!(packets.len(), 1);
    room.deliver(0, &packets);
    let added = calls().into_iter().find_map(|call| match call {
        Call::Item(Step::Add(item)) => Some(item),
        _ => None,
    });
    assert_eq!(added.and_then(|item| item.target), other.guid());
}

#[test]
fn s184_a_reference_in_an_item_heals_and_tells_of_a_change() {
    let (mut room, bag) = room_with([10]);
    let other = room.server.spawn(Bag { number: 1, ..Bag::default() });
    let id = room.guests[0].id;
    room.server.object(other).set_visible(id, false);
    room.server[bag].items[0].target = other;
    room.settle();
    assert_eq!(told(), Vec::<String>::new(), "null before and after");
    room.server.object(other).set_visible(id, true);
    room.settle();
    let healed = [
        "removes [] of 1, 1 to 1",
        "adds [] of 1, 1 to 1",
        "change 10 [\"target\"]",
        "changes [0] of 1, 1 to 1",
        "receive [] of 1, 1 to 1",
    ];
    assert_eq!(told(), healed);
    assert_eq!(room.client().get(bag).expect("the client has it").items[0].target, other);
    room.server.object(other).set_visible(id, false);
    room.settle();
    assert_eq!(told(), healed);
    assert_eq!(room.client().get(bag).expect("the client has it").items[0].target, ObjectRef::NULL);
}

#[test]
fn s184_an_item_that_goes_takes_its_references_along() {
    let (mut room, bag) = room_with([10, 11]);
    let other = room.server.spawn(Bag { number: 1, ..Bag::default() });
    let id = room.guests[0].id;
    room.server.object(other).set_visible(id, false);
    room.server[bag].items[0].target = other;
    room.settle();
    room.server[bag].items.remove(0);
    room.settle();
    calls();
    let notified = room.client().get(bag).expect("the client has it").notified;
    room.server.object(other).set_visible(id, true);
    room.settle();
    // Only the object that appears runs its callbacks for a received packet.
    assert_eq!(calls(), [Call::End(1)]);
    assert_eq!(room.client().get(bag).expect("the client has it").notified, notified);
}

#[test]
fn s184_an_item_whose_reference_is_filled_in_and_that_is_removed_in_one_packet_calls_nothing() {
    let (mut room, bag) = room_with([10]);
    let other = room.server.spawn(Bag { number: 1, ..Bag::default() });
    room.settle();
    calls();
    room.server[bag].items[0].target = other;
    room.server.despawn(other);
    let packets = sent(&mut room);
    assert_eq!(packets.len(), 1, "the update and the end in one packet");
    room.deliver(0, &packets);
    assert_eq!(told(), Vec::<String>::new());
}

#[test]
fn w04_an_inner_array_that_is_as_it_was_is_no_change_of_its_item() {
    let (mut room, bag) = room_with([10]);
    room.server[bag].items[0].sockets.push(Socket { gem: 3, ..Default::default() });
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    assert_eq!(told().get(2).map(String::as_str), Some("change 10 [\"sockets\"]"));
    // The ack is lost, so the data is sent again, together with a property that did change.
    room.replies(0);
    room.server[bag].items[0].name = "ten".into();
    room.settle();
    assert!(told().iter().all(|call| !call.contains("sockets")));
}

#[test]
fn s137_an_array_assigned_over_another_removes_the_old_items_and_adds_new_ones() {
    let (mut room, bag) = room_with([10, 11]);
    room.server[bag].items = [item(20), item(21), item(22)].into();
    let packets = sent(&mut room);
    room.deliver(0, &packets);
    assert_eq!(
        told(),
        [
            "remove 10",
            "remove 11",
            "removes [0, 1] of 5, 2 to 3",
            "add 20",
            "add 21",
            "add 22",
            "adds [2, 3, 4] of 5, 2 to 3",
            "changes [] of 5, 2 to 3",
            "receive [] of 3, 2 to 3",
        ]
    );
    let ids = |bag: &Bag| {
        let mut ids: Vec<u32> = bag.items.ids().iter().map(|id| id.number()).collect();
        ids.sort_unstable();
        ids
    };
    let shown = room.client().get(bag).expect("the client has it");
    assert_eq!((ids(&room.server[bag]), ids(shown)), (vec![4, 5, 6], vec![4, 5, 6]));
}

#[test]
fn s137_an_item_is_never_taken_for_that_of_an_array_whose_end_was_not_heard_of() {
    let (mut room, bag) = room_with([10, 11, 12]);
    room.server[bag].items = FastArray::new();
    // The packet with the removals is lost, so the client still has the first three items.
    sent(&mut room);
    room.server[bag].items.push(item(20));
    room.settle();
    assert_eq!(kinds(&room, bag), [20]);
    let told = told();
    assert!(told.contains(&"add 20".to_owned()) && told.contains(&"remove 10".to_owned()), "{told:?}");
    assert!(!told.iter().any(|told| told.starts_with("change ")), "{told:?}");
}

#[test]
fn s137_the_sockets_of_a_replaced_item_are_new() {
    let socketed = |gem| Item { sockets: [Socket { gem, ..Socket::default() }].into(), ..item(10) };
    let (mut room, bag) = room_of([socketed(1)].into());
    room.server[bag].items[0] = socketed(2);
    room.settle();
    let of_sockets = calls().into_iter().filter_map(|call| match call {
        Call::Socket(Step::Remove(socket)) => Some(("remove", socket.gem)),
        Call::Socket(Step::Add(socket)) => Some(("add", socket.gem)),
        Call::Socket(Step::Change(socket, _)) => Some(("change", socket.gem)),
        _ => None,
    });
    assert!(of_sockets.eq([("remove", 1), ("add", 2)]));
}

#[test]
fn s137_a_steady_array_takes_no_more_bytes_after_it_was_replaced() {
    let (mut room, bag) = Room::measuring(|| room_with([10, 11]));
    let write = |room: &mut Room, name: &str| {
        make_steady(room, bag);
        let told = room.received::<Bag>(0, "items").1;
        room.server[bag].items[1].name = name.to_owned();
        let packets = sent(room);
        room.deliver(0, &packets);
        let bytes = packets.iter().map(Vec::len).sum::<usize>();
        room.settle();
        (bytes, room.received::<Bag>(0, "items").1 - told)
    };
    let before = write(&mut room, "one");
    room.server[bag].items = [item(20), item(21)].into();
    room.settle();
    assert_eq!(write(&mut room, "two"), before);
}
