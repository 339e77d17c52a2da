//! Which data of fast arrays is sent, to which clients and when: conditions, clients that join late,
//! archetypes, replays, limits, losses.
//!
//! *Invariant:* the size of an update is measured on the client, in bits of the property.

use repl::prelude::*;
use repl::{Condition, ItemId};

use super::classes::{Bag, Call, Hand, Item, Socket, Step, by_id, calls, list};
use super::told::{item, room_with};
use crate::support::{Room, collect, property};

#[derive(Replicated, Debug, Default)]
#[replicated(all, callbacks)]
struct Shop {
    #[replicated(condition = Custom)]
    stock: FastArray<u16>,
    #[replicated(condition = OwnerOnly)]
    till: FastArray<u32>,
    queue: FastArray<u8>,
}

impl Callbacks for Shop {}

fn shop(guests: usize) -> (Room, ObjectRef<Shop>) {
    let register = |client: &mut Client| {
        client.register::<Shop>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| server.spawn(Shop::default()))
}

fn seen(room: &Room, guest: usize, shop: ObjectRef<Shop>) -> &Shop {
    room.guests[guest].client.get(shop).expect("the client has it")
}

fn seen_bag(room: &Room, guest: usize, bag: ObjectRef<Bag>) -> &Bag {
    room.guests[guest].client.get(bag).expect("the client has it")
}

/// Asserts that a guest and the server hold the same items, as a set by id.
pub(crate) fn assert_same(room: &Room, guest: usize, bag: ObjectRef<Bag>) {
    let found = by_id(list(&seen_bag(room, guest, bag).items));
    assert_eq!(found, by_id(list(&room.server[bag].items)));
}

#[test]
fn s47_w19_an_array_switched_off_is_not_sent() {
    let (mut room, shop) = shop(1);
    room.server.object(shop).set_custom_active(property::<Shop>("stock"), false);
    room.server[shop].stock.extend([1, 2, 3]);
    room.settle();
    assert!(seen(&room, 0, shop).stock.is_empty());
    room.server[shop].stock.remove(1);
    room.server.object(shop).set_custom_active(property::<Shop>("stock"), true);
    room.settle();
    assert_eq!(seen(&room, 0, shop).stock, [1, 3]);
}

#[test]
fn w19_an_array_that_nobody_marked_is_sent() {
    let (mut room, _) = shop(1);
    let stock: FastArray<u16> = [1, 2, 3].into_iter().collect();
    let shop = room.server.spawn(Shop { stock, ..Shop::default() });
    room.settle();
    assert_eq!(seen(&room, 0, shop).stock, [1, 2, 3]);
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 1, shop).stock, [1, 2, 3], "a client that joins later");
}

#[test]
fn w19_each_way_to_write_an_item_marks_it() {
    let (mut room, shop) = shop(1);
    room.server[shop].stock.extend([1, 2, 3, 4, 5]);
    room.settle();
    room.server[shop].stock[0] = 10;
    room.settle();
    *room.server[shop].stock.get_mut(1).unwrap() = 20;
    room.settle();
    room.server[shop].stock.iter_mut().skip(2).take(1).for_each(|mut item| *item = 30);
    room.settle();
    *room.server[shop].stock.last_mut().unwrap() = 50;
    room.settle();
    room.server[shop].stock.retain_mut(|item| {
        if **item == 4 {
            **item = 5;
        }
        true
    });
    room.settle();
    assert_eq!(by_id(list(&seen(&room, 0, shop).stock)), [(1, 10), (2, 20), (3, 30), (4, 5), (5, 50)]);
}

#[test]
fn s48_an_owner_gets_all_that_it_missed() {
    let (mut room, shop) = shop(2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    room.server.object(shop).set_owner(Some(one));
    room.server[shop].till.extend([1, 2, 3, 4]);
    room.settle();
    assert_eq!((&seen(&room, 0, shop).till[..], seen(&room, 1, shop).till.len()), (&[1, 2, 3, 4][..], 0));
    room.server.object(shop).set_owner(Some(other));
    room.settle();
    room.server[shop].till.remove(0);
    room.server[shop].till[0] = 20;
    room.server[shop].till.push(5);
    room.settle();
    assert_eq!(seen(&room, 0, shop).till, [1, 2, 3, 4], "what it saw stays");
    assert_eq!(by_id(list(&seen(&room, 1, shop).till)), [(2, 20), (3, 3), (4, 4), (5, 5)]);
    room.server.object(shop).set_owner(Some(one));
    room.settle();
    assert_eq!(by_id(list(&seen(&room, 0, shop).till)), [(2, 20), (3, 3), (4, 4), (5, 5)]);
}

#[test]
fn s39_the_dynamic_condition_of_an_array_is_obeyed() {
    #[derive(Replicated, Default)]
    struct Safe {
        #[replicated(condition = Dynamic)]
        coins: FastArray<u8>,
    }
    let register = |client: &mut Client| {
        client.register::<Safe>();
    };
    let (mut room, safe) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Safe::default()));
    let coins = property::<Safe>("coins");
    room.server.object(safe).set_dynamic_condition(coins, Condition::OwnerOnly);
    room.server[safe].coins.extend([1, 2]);
    room.settle();
    assert!(room.client().get(safe).is_some_and(|safe| safe.coins.is_empty()));
    room.server.object(safe).set_dynamic_condition(coins, Condition::None);
    room.settle();
    assert_eq!(room.client().get(safe).map(|safe| &safe.coins[..]), Some(&[1, 2][..]));
}

#[test]
fn s146_the_archetypes_items_are_the_first_base() {
    fn archetype() -> Bag {
        Bag { items: [item(1), item(2)].into(), ..Bag::default() }
    }
    let mut room = Room::measuring(|| {
        Room::new(ServerConfig::default(), |client| {
            client.register::<Bag>();
            client.register_archetype(archetype);
        })
    });
    let kind = room.server.register_archetype(archetype);
    room.enter();
    room.settle();
    calls();
    let untouched = room.server.spawn_from(kind, Bag { number: 1, ..archetype() });
    room.settle();
    assert_same(&room, 0, untouched);
    assert_eq!(seen_bag(&room, 0, untouched).items.len(), 2);
    assert_eq!(room.received::<Bag>(0, "items"), (0, 0), "what the archetype has is not sent");
    assert_eq!(calls(), [Call::End(1)], "nor told");

    let mut bag = archetype();
    bag.items.remove(0);
    bag.items.push(item(3));
    let bag = room.server.spawn_from(kind, bag);
    room.settle();
    assert_same(&room, 0, bag);
    let told: Vec<String> = calls().iter().filter_map(outline).collect();
    assert_eq!(told, ["remove 1", "add 3"], "the second item is the archetype's and stays");

    // The archetype itself never changes. So the next object begins with the same items as the first.
    let next = room.server.spawn_from(kind, archetype());
    room.settle();
    assert_same(&room, 0, next);
    assert_eq!(seen_bag(&room, 0, next).items.len(), 2);
    assert_eq!(room.updates::<Bag>(0, "items"), 1);
}

fn outline(call: &Call) -> Option<String> {
    match call {
        Call::Item(Step::Remove(item)) => Some(format!("remove {}", item.kind)),
        Call::Item(Step::Add(item)) => Some(format!("add {}", item.kind)),
        Call::Item(Step::Change(item, _)) => Some(format!("change {}", item.kind)),
        _ => None,
    }
}

#[test]
fn s147_an_array_that_was_never_changed_since_its_spawn_is_sent() {
    let (room, bag) = room_with([7, 8]);
    assert_same(&room, 0, bag);
}

#[test]
fn s148_a_late_joiner_receives_the_existing_items_and_no_removals() {
    let (mut room, bag) = room_with(10..20);
    for _ in 0..6 {
        room.server[bag].items.remove(2);
        room.server[bag].items.push(item(99));
        room.settle();
    }
    calls();
    room.enter();
    room.settle();
    assert_same(&room, 1, bag);
    let told = calls();
    let count = |wanted: fn(&Call) -> bool| told.iter().filter(|call| wanted(call)).count();
    assert_eq!(count(|call| matches!(call, Call::Item(Step::Add(_)))), 10);
    assert_eq!(count(|call| matches!(call, Call::Item(Step::Remove(_) | Step::Change(..)))), 0);
}

/// Copies to `recorded` what a guest has received since the last call, as a client that records does.
fn record(room: &mut Room, guest: usize, recorded: &mut Bag) {
    let client = &mut room.guests[guest].client;
    while let Some(update) = client.poll_update() {
        assert!(update.copy_to(client, recorded));
    }
}

/// Returns the kinds of all items, in ascending order.
fn kinds_of(array: &FastArray<Item>) -> Vec<u32> {
    let mut kinds: Vec<u32> = array.iter().map(|item| item.kind).collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn s153_what_a_client_copies_of_its_array_has_no_items_that_it_predicted() {
    let (mut room, bag) = room_with(10..14);
    let mut recorded = Bag::default();
    record(&mut room, 0, &mut recorded);
    assert_eq!(kinds_of(&recorded.items), [10, 11, 12, 13]);
    for round in 0..3 {
        let own = room.guests[0].client.get_mut(bag).expect("it has it").items.push(item(77 + round));
        room.server[bag].items.push(item(14 + round));
        room.server[bag].items.remove(0);
        room.settle();
        record(&mut room, 0, &mut recorded);
        assert_eq!(kinds_of(&recorded.items), kinds_of(&room.server[bag].items), "only the server's items");
        // The client still shows its own items. Their ids show that the client added them.
        let shown = &seen_bag(&room, 0, bag).items;
        let local: Vec<u32> =
            shown.ids().iter().filter(|id| id.is_local()).map(|&id| shown.by_id(id).unwrap().kind).collect();
        assert!(own.is_local());
        assert_eq!(local, (77..=77 + round).collect::<Vec<_>>());
    }
}

#[test]
fn s153_a_recording_of_the_server_has_no_items_that_clients_predicted() {
    let (mut room, bag) = room_with(10..14);
    room.enter_replay();
    room.settle();
    for guest in [0, 1] {
        room.guests[guest].client.get_mut(bag).expect("it has it").items.push(item(77 + guest as u32));
    }
    room.server[bag].items.push(item(14));
    room.server[bag].items.remove(0);
    room.settle();
    assert_eq!(kinds_of(&seen_bag(&room, 0, bag).items), [11, 12, 13, 14, 77]);
    assert_eq!(kinds_of(&seen_bag(&room, 1, bag).items), [11, 12, 13, 14, 78]);
}

#[test]
fn s157_w04_only_changes_are_sent_wherever_the_array_is() {
    let (mut room, bag) = Room::measuring(|| room_with([]));
    let many = || (0..500).collect::<FastArray<u16>>();
    let sockets: FastArray<Socket> = (0..200).map(|gem| Socket { gem, tags: [gem, 1, 2].into() }).collect();
    let server = &mut room.server[bag];
    server.items = (0..200).map(|kind| Item { sockets: FastArray::new(), ..item(kind) }).collect();
    server.items[150].sockets = sockets;
    server.hand = Hand { cards: (0..500).collect(), held: 1 };
    server.maybe = Some(many());
    server.rows = vec![FastArray::new(), (0..200).collect()];
    room.settle();
    type Change = (&'static str, fn(&mut Bag), u64);
    let changes: [Change; 4] = [
        ("items", |bag| bag.items[150].sockets[140].tags[1] = 77, 10),
        ("hand.cards", |bag| bag.hand.cards[300] = 9_000, 10),
        ("maybe", |bag| bag.maybe.as_mut().expect("some")[400] = 9_000, 8),
        ("rows", |bag| bag.rows[1][150] = 9, 8),
    ];
    for (path, change, bytes) in changes {
        let before = room.received::<Bag>(0, path).1;
        change(&mut room.server[bag]);
        room.settle();
        let bits = room.received::<Bag>(0, path).1 - before;
        assert!(bits > 0 && bits <= bytes * 8, "`{path}`: {bits} bits");
    }
    assert_same(&room, 0, bag);
}

#[test]
fn s162_only_the_changed_properties_of_an_item_are_sent() {
    let (mut room, bag) = Room::measuring(|| room_with(0..100));
    room.server[bag].items[50].name = "long ".repeat(100);
    room.settle();
    let before = room.received::<Bag>(0, "items").1;
    room.server[bag].items[50].kind = 70_000;
    room.settle();
    let bits = room.received::<Bag>(0, "items").1 - before;
    assert!(bits <= 72, "{bits} bits");
    // A field that is not replicated is never sent.
    room.server[bag].items[50].price = 9;
    assert_eq!(room.tick_one(), Vec::<Vec<u8>>::new());
}

#[test]
fn s164_a_new_item_arrives_whole_in_one_step() {
    let (mut room, bag) = room_with([1]);
    let mut new = Item { name: "new".into(), marks: vec![1, 2], target: bag, ..item(2) };
    new.sockets.push(Socket { gem: 4, tags: [5].into() });
    room.server[bag].items.push(new.clone());
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!(seen_bag(&room, 0, bag).items[1], new);
}

#[test]
fn s165_w02_bytes_are_the_same_shared_or_not() {
    let run = |share: bool| {
        let config = ServerConfig { share, ..ServerConfig::default() };
        let mut room = Room::new(config, |client| {
            client.register::<Bag>();
        });
        let bag = room.server.spawn(Bag { items: (0..9).map(item).collect(), ..Bag::default() });
        (0..3).for_each(|_| _ = room.enter());
        let mut all = Vec::new();
        for tick in 0..40_u32 {
            room.acknowledge();
            let items = &mut room.server[bag].items;
            match tick % 4 {
                0 => drop(items.remove(tick as usize % 3)),
                1 => _ = items.push(item(tick)),
                2 => items[1].marks.push(1),
                _ => items[0].sockets.extend([Socket::default()]),
            }
            let packets = room.tick();
            // One client misses some packets.
            for (guest, packets) in packets.iter().enumerate() {
                if guest > 0 || tick % 5 > 0 {
                    room.deliver(guest, packets);
                }
            }
            all.push(packets);
        }
        all
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn s170_w10_only_lost_changes_that_were_not_sent_since_are_sent_again() {
    let (mut room, bag) = Room::measuring(|| room_with(0..100));
    let mut sizes = Vec::new();
    for at in [10, 40, 70] {
        room.server[bag].items[at].name = format!("{at}").repeat(100);
        let packets = room.tick_one();
        sizes.push(packets.iter().map(Vec::len).sum::<usize>());
        if at != 40 {
            room.deliver(0, &packets);
        }
    }
    // Another item changes before the server sends the lost change again.
    room.server[bag].items[10].kind = 7;
    let before = room.received::<Bag>(0, "items").1;
    room.settle();
    assert_same(&room, 0, bag);
    let bytes = (room.received::<Bag>(0, "items").1 - before) / 8;
    assert!(bytes < sizes[1] as u64 + 30, "{bytes} bytes for a loss of {}", sizes[1]);
    // If an item whose change was lost changes again before it is sent again, it is sent only once.
    for text in ["04", "05"] {
        room.server[bag].items[40].name = text.repeat(100);
        room.tick_one();
    }
    let before = room.received::<Bag>(0, "items").1;
    room.settle();
    assert_same(&room, 0, bag);
    let bytes = (room.received::<Bag>(0, "items").1 - before) / 8;
    assert!(bytes < sizes[1] as u64 + 30, "{bytes} bytes for two losses of {}", sizes[1]);
}

#[test]
fn r11_w09_no_number_of_losses_costs_more_than_one_resend_of_what_changed() {
    for burst in [31, 33, 63, 65, 300] {
        let (mut room, bag) = Room::measuring(|| room_with(0..1_000));
        for tick in 0..burst {
            // One item changes in every tick. Another item changes only once.
            room.server[bag].items[5].kind = tick;
            if tick == 3 {
                room.server[bag].items[700].kind = 9;
            }
            room.tick();
        }
        let before = room.received::<Bag>(0, "items").1;
        room.settle();
        assert_same(&room, 0, bag);
        let bits = room.received::<Bag>(0, "items").1 - before;
        assert!(bits < 8 * 40, "{bits} bits after a burst of {burst}");
    }
}

#[test]
fn s175_each_item_converges_to_its_last_value() {
    let (mut room, bag) = room_with(0..10);
    for tick in 0..60_u32 {
        room.server[bag].items[tick as usize % 10].kind = 1_000 + tick;
        let packets = room.tick_one();
        if tick % 3 == 0 {
            room.deliver(0, &packets);
        }
        if tick % 4 == 0 {
            room.acknowledge();
        }
    }
    room.settle();
    assert_same(&room, 0, bag);
}

#[test]
fn s139_s174_ids_come_round_on_a_live_connection() {
    let start = ItemId::new(ItemId::LAST.number() - 2).expect("an id");
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Bag>();
    });
    let bag = room.server.spawn(Bag { items: FastArray::with_next_id(start), ..Bag::default() });
    room.enter();
    for kind in 0..9 {
        room.server[bag].items.push(item(kind));
        if kind % 2 == 0 {
            room.settle();
        }
    }
    room.server[bag].items.remove(1);
    room.settle();
    assert_same(&room, 0, bag);
    let ids = room.server[bag].items.ids();
    assert!(ids.contains(&ItemId::FIRST) && ids.iter().all(|id| !id.is_local()));
}

#[test]
fn r05_items_whose_removal_was_lost_go_in_the_end() {
    let (mut room, shop) = shop(1);
    room.server[shop].queue.extend([1, 2, 3, 4]);
    room.settle();
    let own = room.guests[0].client.get_mut(shop).expect("it has it").queue.push(90);
    for round in 0..5 {
        // The removal is lost, the addition arrives.
        room.server[shop].queue.clear();
        drop(room.tick());
        room.server[shop].queue.extend([round; 4]);
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    room.settle();
    let found = &seen(&room, 0, shop).queue;
    assert_eq!(by_id(list(found)), by_id(list(&room.server[shop].queue)));
    assert_eq!((found.len(), found.by_id(own)), (5, Some(&90)));
}

#[test]
fn s204_a_client_that_reconnects_starts_without_objects() {
    let (mut room, bag) = room_with(0..5);
    let id = room.guests[0].id;
    room.server.connection(id).disconnect();
    drop(collect(&mut room.server, id));
    room.guests.clear();
    room.server[bag].items.remove(1);
    room.enter();
    room.settle();
    assert_same(&room, 0, bag);
}
