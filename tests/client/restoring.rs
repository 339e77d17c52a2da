//! `restore`: a client sets an object back to the values that the server sent last. The file `local_edits.rs`
//! tests which edits of collections this undoes.
//!
//! *Invariant:* `restore` reports nothing and changes no field that is not replicated.

use std::collections::{BTreeMap, HashMap};

use crate::support::{Room, property};
use repl::Callbacks;
use repl::prelude::*;

#[derive(Replicated, Default)]
struct Hero {
    #[replicated(notify = on_change)]
    health: u16,
    #[replicated(notify = on_change)]
    name: String,
    #[replicated]
    spots: [u8; 3],
    #[replicated(condition = OwnerOnly)]
    secret: u16,
    #[replicated]
    friend: ObjectRef<Self>,
    calls: u32,
    mesh: u32,
}

impl Hero {
    fn on_change(&mut self) {
        self.calls += 1;
    }
}

fn hero() -> Hero {
    Hero { health: 100, name: "Ada".into(), spots: [1, 2, 3], secret: 7, ..Hero::default() }
}

fn room_with_hero() -> (Room, ObjectRef<Hero>) {
    let (mut room, hero) = Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Hero>();
        },
        1,
        |server| server.spawn(hero()),
    );
    room.polled(0);
    (room, hero)
}

fn edit(hero: &mut Hero) {
    hero.health = 1;
    hero.name.push('x');
    hero.spots[1] = 77;
    hero.secret = 8;
    hero.mesh = 5;
}

#[test]
fn plain_values_come_back_and_nothing_is_reported() {
    let (mut room, object) = room_with_hero();
    let calls = room.client()[object].calls;
    edit(&mut room.guests[0].client[object]);
    assert!(room.guests[0].client.object(object).restore());
    let hero = &room.client()[object];
    assert_eq!((hero.health, &*hero.name, hero.spots), (100, "Ada", [1, 2, 3]));
    assert_eq!(hero.secret, 0, "the client never received it");
    assert_eq!((hero.mesh, hero.calls), (5, calls), "fields that are not replicated stay, no notify runs");
    assert_eq!(room.polled(0), [], "nothing arrived");
}

#[test]
fn a_value_that_arrived_after_the_edit_is_the_one_that_comes_back() {
    let (mut room, object) = room_with_hero();
    edit(&mut room.guests[0].client[object]);
    room.server[object].health = 90;
    room.settle();
    let hero = &room.client()[object];
    assert_eq!((hero.health, &*hero.name), (90, "Adax"), "the name was not updated");
    edit(&mut room.guests[0].client[object]);
    room.server[object].spots[2] = 30;
    room.settle();
    assert!(room.guests[0].client.object(object).restore());
    let hero = &room.client()[object];
    assert_eq!((hero.health, &*hero.name, hero.spots), (90, "Ada", [1, 2, 30]));
    // The client predicts again, by another edit.
    room.guests[0].client[object].health = 2;
    assert!(room.guests[0].client.object(object).restore());
    assert_eq!(room.client()[object].health, 90);
}

#[test]
fn one_property_of_an_array_of_fixed_length_comes_back_whole() {
    let (mut room, object) = room_with_hero();
    edit(&mut room.guests[0].client[object]);
    room.guests[0].client[object].spots = [9, 9, 9];
    assert!(room.guests[0].client.object(object).restore_property(property("spots")));
    let hero = &room.client()[object];
    assert_eq!((hero.spots, hero.health, &*hero.name), ([1, 2, 3], 1, "Adax"));
    assert!(room.guests[0].client.object(object).restore_property(property("health")));
    assert_eq!((room.client()[object].health, &*room.client()[object].name), (100, "Adax"));
}

#[test]
#[should_panic(expected = "`Hero` has no property number 9")]
fn a_property_that_the_class_does_not_have_is_reported() {
    let (mut room, object) = room_with_hero();
    room.guests[0].client.object(object).restore_property(PropertyIndex::new(9));
}

#[test]
fn s49_a_notify_compares_with_the_restored_value() {
    let (mut room, object) = room_with_hero();
    let calls = room.client()[object].calls;
    room.guests[0].client[object].health = 50;
    assert!(room.guests[0].client.object(object).restore());
    room.server[object].health = 50;
    room.settle();
    assert_eq!(room.client()[object].calls, calls + 1, "it was 100");
    room.guests[0].client[object].health = 40;
    room.server[object].health = 40;
    room.settle();
    assert_eq!(room.client()[object].calls, calls + 1, "the client had predicted it");
}

#[test]
fn objects_that_are_torn_off_or_gone_are_not_restored() {
    let (mut room, object) = room_with_hero();
    room.guests[0].client[object].health = 3;
    room.server.object(object).tear_off();
    room.settle();
    let client = &mut room.guests[0].client;
    assert!(client.object_info(object).is_torn_off());
    assert_eq!(client[object].health, 3);
    client[object].health = 4;
    assert!(!client.object(object).restore() && !client.object(object).restore_property(property("health")));
    assert_eq!(client[object].health, 4, "it belongs to the client");
    assert!(!client.object(ObjectRef::<Hero>::NULL).restore());
    let other = room.server.spawn(hero());
    room.settle();
    room.guests[0].client[other].health = 3;
    room.server.despawn(other);
    room.settle();
    assert!(!room.guests[0].client.object(other).restore());
}

#[test]
fn s118_a_restored_reference_is_null_if_its_object_is_gone_and_comes_back_with_it() {
    let (mut room, object) = room_with_hero();
    let id = room.guests[0].id;
    let friend = room.server.spawn(hero());
    room.server[object].friend = friend;
    room.settle();
    room.guests[0].client[object].friend = object;
    room.server.object(friend).set_visible(id, false);
    room.settle();
    room.guests[0].client[object].friend = object;
    assert!(room.guests[0].client.object(object).restore());
    assert!(room.client()[object].friend.is_null());
    room.server.object(friend).set_visible(id, true);
    room.settle();
    assert_eq!(room.client()[object].friend, friend);
}

/// A class that writes to itself in its callbacks.
#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Clamped {
    #[replicated(notify = on_value)]
    value: u16,
    #[replicated]
    others: Vec<u16>,
}

impl Clamped {
    fn on_value(&mut self) {
        self.value = self.value.min(10);
    }
}

impl Callbacks for Clamped {
    fn post_rep_notifies(&mut self) {
        self.others.push(9);
    }
}

#[test]
fn what_callbacks_of_an_object_with_arrays_wrote_is_undone_too() {
    let (mut room, object) = Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Clamped>();
        },
        1,
        |server| server.spawn(Clamped { value: 50, others: vec![3] }),
    );
    assert_eq!((room.client()[object].value, &*room.client()[object].others), (10, &[3, 9][..]));
    assert!(room.guests[0].client.object(object).restore());
    assert_eq!((room.client()[object].value, &*room.client()[object].others), (50, &[3][..]));
    room.server[object].value = 60;
    room.settle();
    assert_eq!((room.client()[object].value, &*room.client()[object].others), (10, &[3, 9][..]));
    assert!(room.guests[0].client.object(object).restore());
    assert_eq!((room.client()[object].value, &*room.client()[object].others), (60, &[3][..]));
}

#[derive(FastArrayItem, Clone, Default)]
struct Tool {
    uses: u16,
    #[replicated(skip)]
    mesh: u32,
}

#[derive(Replicated, Default)]
struct Shed {
    #[replicated]
    tools: FastArray<Tool>,
    #[replicated]
    shelf: OrderedFastArray<Tool>,
    #[replicated]
    keys: HashMap<ObjectRef<Hero>, Tool>,
    #[replicated]
    boxes: BTreeMap<u8, Vec<Tool>>,
}

fn tool(uses: u16) -> Tool {
    Tool { uses, mesh: 0 }
}

fn room_with_shed() -> (Room, ObjectRef<Shed>, [ObjectRef<Hero>; 2]) {
    let (room, (shed, heroes)) = Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<Shed>().register::<Hero>();
        },
        1,
        |server| {
            let heroes = [server.spawn(hero()), server.spawn(hero())];
            let shed = Shed {
                tools: (0..4).map(tool).collect(),
                shelf: (0..4).map(tool).collect(),
                keys: heroes.map(|hero| (hero, tool(1))).into(),
                boxes: [(1, vec![tool(1), tool(2)])].into(),
            };
            (server.spawn(shed), heroes)
        },
    );
    (room, shed, heroes)
}

#[test]
fn elements_keep_what_is_not_replicated() {
    let (mut room, shed, _) = room_with_shed();
    let client = &mut room.guests[0].client;
    client[shed].tools[2] = Tool { uses: 99, mesh: 7 };
    client[shed].tools.remove(0);
    client[shed].shelf[1] = Tool { uses: 99, mesh: 8 };
    client[shed].shelf.rotate_left(2);
    client[shed].tools.unmarked_slice_mut()[0].uses = 55;
    client[shed].boxes.get_mut(&1).unwrap()[1] = Tool { uses: 99, mesh: 9 };
    assert!(client.object(shed).restore());
    let (held, there) = (&room.client()[shed], &room.server[shed]);
    for (id, tool) in there.tools.ids().iter().zip(&there.tools) {
        assert_eq!(held.tools.by_id(*id).map(|tool| tool.uses), Some(tool.uses));
    }
    assert!(held.tools.iter().any(|tool| (tool.uses, tool.mesh) == (2, 7)));
    let shelf: Vec<_> = held.shelf.iter().map(|tool| (tool.uses, tool.mesh)).collect();
    assert_eq!(shelf, [(0, 0), (1, 8), (2, 0), (3, 0)]);
    assert!(held.shelf.ids().eq(there.shelf.ids()));
    assert_eq!((held.boxes[&1][1].uses, held.boxes[&1][1].mesh), (2, 9));
}

#[test]
fn entries_of_objects_that_the_client_does_not_have_stay_hidden() {
    let (mut room, shed, [first, second]) = room_with_shed();
    let id = room.guests[0].id;
    room.server.object(second).set_visible(id, false);
    room.settle();
    let client = &mut room.guests[0].client;
    client[shed].keys.clear();
    assert!(client.object(shed).restore());
    assert_eq!(client[shed].keys.keys().copied().collect::<Vec<_>>(), [first]);
    client[shed].keys.clear();
    room.server.object(second).set_visible(id, true);
    room.settle();
    assert_eq!(room.client()[shed].keys.len(), 2, "a key that reads anew is an update of the map");
}

#[test]
fn a_static_object_comes_back_to_the_servers_state() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Hero>();
        client.statics().place("hero", Hero { health: 1, mesh: 4, ..Hero::default() });
    });
    let object = room.server.statics().spawn("hero", hero());
    room.enter();
    room.settle();
    edit(room.guests[0].client.statics().get_mut("hero").unwrap());
    assert!(room.guests[0].client.object(object).restore());
    let hero = room.client().placed::<Hero>("hero").unwrap();
    assert_eq!((hero.health, &*hero.name, hero.mesh), (100, "Ada", 5));
}
