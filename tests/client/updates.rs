//! The stream of updates: what a client reports about its objects, in the order of the packets.
//!
//! *Invariant:* a user who polls all updates knows the objects of the client, even if he begins to poll late.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::Placed;
use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Knight {
    #[replicated]
    health: u16,
    #[replicated(condition = OwnerOnly)]
    secret: u16,
    #[replicated]
    name: String,
    mesh: u8,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Gate {
    #[replicated]
    is_open: bool,
    #[replicated]
    marks: Vec<u8>,
}

fn knight(health: u16) -> Knight {
    Knight { health, name: "Bors".to_owned(), ..Knight::default() }
}

fn register(client: &mut Client) {
    client.register::<Knight>().register::<Gate>();
}

fn register_server(server: &mut Server) {
    server.register::<Knight>().register::<Gate>();
}

/// Returns a room with one client that polls from the beginning on.
fn room() -> Room {
    Room::furnished(ServerConfig::default(), register, 1, register_server).0
}

/// Returns a client that nobody has polled, and the id of its connection.
fn silent(room: &mut Room) -> (Client, ConnectionId) {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(77));
    register(&mut client);
    (client, room.server.connect(room.now))
}

/// Runs ticks in which all packets of a client arrive. The client is not a guest of the room.
fn serve(room: &mut Room, client: &mut Client, id: ConnectionId, ticks: usize) {
    for _ in 0..ticks {
        client.tick(room.now);
        while let Some(packet) = client.poll_transmit() {
            room.server.receive(id, room.now, packet);
        }
        for (guest, packets) in room.tick().into_iter().enumerate() {
            room.deliver(guest, &packets);
        }
        room.acknowledge();
        for packet in crate::support::collect(&mut room.server, id) {
            client.receive(room.now, &packet).expect("a packet of the server");
        }
    }
}

fn updates(client: &mut Client) -> Vec<Update> {
    std::iter::from_fn(|| client.poll_update()).collect()
}

fn told(client: &mut Client) -> Vec<(ObjectRef<()>, UpdateKind)> {
    updates(client).into_iter().map(|update| (update.object, update.what)).collect()
}

const GONE: UpdateKind = UpdateKind::Despawned(CloseReason::Destroyed);

#[test]
fn the_updates_of_all_classes_come_in_the_order_of_the_packets() {
    let mut room = room();
    let gate = room.server.spawn(Gate::default());
    room.settle();
    let bors = room.server.spawn(knight(1));
    room.settle();
    room.server[gate].is_open = true;
    room.settle();
    room.server[bors].health = 2;
    room.settle();
    room.server[gate].marks.push(1);
    room.settle();
    room.server.despawn(bors);
    room.settle();
    room.server.despawn(gate);
    room.settle();
    let expected = [
        (gate.erase(), UpdateKind::Spawned),
        (bors.erase(), UpdateKind::Spawned),
        (gate.erase(), UpdateKind::Changed),
        (bors.erase(), UpdateKind::Changed),
        (gate.erase(), UpdateKind::Changed),
        (bors.erase(), GONE),
        (gate.erase(), GONE),
    ];
    assert_eq!(room.polled(0), expected);
}

#[test]
fn who_polls_late_is_told_the_same_world() {
    let mut room = room();
    let (mut client, id) = silent(&mut room);
    register_statics(&mut client);
    let root = room.server.spawn(knight(1));
    let part = room.server.object(root).spawn_subobject(Gate::default()).expect("the root exists");
    let old = room.server.spawn(knight(2));
    let corpse = room.server.spawn(knight(3));
    let door = room.server.statics().spawn("door", Gate::default());
    let unknown = room.server.statics().spawn("unknown", Gate::default());
    let gone = room.server.statics().spawn("gone", Gate::default());
    room.server.object(root).set_owner(Some(id));
    serve(&mut room, &mut client, id, 20);
    room.server[root].health = 9;
    room.server.object(corpse).tear_off();
    room.server.despawn(old);
    room.server.despawn(gone);
    serve(&mut room, &mut client, id, 20);
    let updates = updates(&mut client);
    let tick = client.server_tick().expect("packets have arrived");
    assert!(updates.iter().all(|update| update.tick == tick), "that of the newest packet");
    let mut told: Vec<_> = updates.iter().map(|update| (update.object, update.what.clone())).collect();
    let at = |wanted: &(ObjectRef<()>, UpdateKind)| told.iter().position(|told| told == wanted);
    let (root_at, part_at) =
        (at(&(root.erase(), UpdateKind::Spawned)), at(&(part.erase(), UpdateKind::Spawned)));
    assert!(root_at.is_some() && root_at < part_at, "{told:?}");
    let mut expected = vec![
        (root.erase(), UpdateKind::Spawned),
        (root.erase(), UpdateKind::Owner),
        (part.erase(), UpdateKind::Spawned),
        (part.erase(), UpdateKind::Owner),
        (corpse.erase(), UpdateKind::Spawned),
        (corpse.erase(), UpdateKind::TornOff),
        (door.erase(), UpdateKind::Bound("door".into())),
        (unknown.erase(), UpdateKind::Spawned),
        (unknown.erase(), UpdateKind::UnknownPath("unknown".into())),
        (ObjectRef::NULL, UpdateKind::PathDestroyed("gone".into())),
    ];
    // Updates about the same object keep their order.
    let of_one =
        |(one, _): &(ObjectRef<()>, UpdateKind), (other, _): &(ObjectRef<()>, UpdateKind)| one.cmp(other);
    told.sort_by(of_one);
    expected.sort_by(of_one);
    assert_eq!(told, expected);
    let root_update = &updates[root_at.expect("it was told")];
    assert_eq!(root_update.properties().iter().collect::<Vec<_>>(), ["health", "secret", "name"]);
    let mut copy = Knight::default();
    assert!(root_update.copy_to(&client, &mut copy));
    assert_eq!(copy, client[root]);
    assert!(client.poll_update().is_none());
}

fn register_statics(client: &mut Client) {
    for path in ["door", "gone"] {
        assert_eq!(client.statics().place(path, Gate::default()), Placed::Waiting);
    }
}

#[test]
fn s204_the_owner_of_a_new_object_is_told_and_nobody_else() {
    let mut room = room();
    room.enter();
    room.settle();
    let (owner, other) = (room.guests[0].id, room.guests[1].id);
    let bors = room.server.spawn(knight(1));
    room.server.object(bors).set_owner(Some(owner));
    room.settle();
    let [spawned, owned] = [UpdateKind::Spawned, UpdateKind::Owner].map(|what| (bors.erase(), what));
    assert_eq!(
        (room.polled(0), room.polled(1)),
        (vec![spawned.clone(), owned.clone()], vec![spawned.clone()])
    );
    // These objects are opened together, in one run.
    let many: Vec<_> = (0..3).map(|health| room.server.spawn(knight(health))).collect();
    many.iter().for_each(|&knight| _ = room.server.object(knight).set_owner(Some(owner)));
    room.settle();
    let mut told = room.polled(0);
    for knight in many {
        let place = |what: UpdateKind| {
            let wanted = (knight.erase(), what);
            told.iter().position(|told| *told == wanted)
        };
        let (spawned, owned) = (place(UpdateKind::Spawned), place(UpdateKind::Owner));
        assert!(spawned.is_some() && spawned < owned, "{told:?}");
        told.retain(|(object, _)| *object != knight.erase());
    }
    assert_eq!(told, []);
    room.polled(1);
    room.server.object(bors).set_owner(Some(other));
    room.settle();
    let changed = (bors.erase(), UpdateKind::Changed);
    assert_eq!(room.polled(0), std::slice::from_ref(&owned));
    assert_eq!(room.polled(1).into_iter().filter(|told| *told != changed).collect::<Vec<_>>(), [owned]);
}

#[test]
fn an_update_names_the_properties_to_which_it_gave_values() {
    let mut room = room();
    let bors = room.server.spawn(knight(1));
    room.settle();
    (room.server[bors].health, room.server[bors].secret) = (2, 3);
    room.settle();
    room.server.object(bors).set_owner(Some(room.guests[0].id));
    room.settle();
    room.server.despawn(bors);
    room.settle();
    let updates = updates(&mut room.guests[0].client);
    let names = |what: &UpdateKind| -> Vec<Vec<&str>> {
        let found = updates.iter().filter(|update| update.what == *what);
        found.map(|update| update.properties().iter().collect()).collect()
    };
    assert_eq!(names(&UpdateKind::Spawned), [["health", "secret", "name"]]);
    assert_eq!(names(&UpdateKind::Changed), [["health"], ["secret"]]);
    assert_eq!([names(&UpdateKind::Owner), names(&GONE)], [[[""; 0]], [[""; 0]]]);
    let change = updates.iter().find(|update| update.what == UpdateKind::Changed).expect("it changed");
    let contained = ["health", "secret", "name"].map(|name| change.properties().contains(name));
    assert_eq!(contained, [true, false, false]);
}

#[test]
fn an_update_of_another_class_is_not_copied() {
    let mut room = room();
    let bors = room.server.spawn(knight(1));
    room.settle();
    let update = updates(&mut room.guests[0].client).swap_remove(0);
    assert_eq!((update.cast::<Knight>(), update.cast::<Gate>()), (Some(bors), None));
    let mut gate = Gate { is_open: true, marks: vec![1] };
    assert!(!update.differs_from(room.client(), &gate));
    assert!(!update.copy_to(room.client(), &mut gate));
    assert_eq!(gate, Gate { is_open: true, marks: vec![1] });
    let mut copy = Knight { mesh: 4, ..Knight::default() };
    assert!(update.differs_from(room.client(), &copy));
    assert!(update.copy_to(room.client(), &mut copy));
    assert!(!update.differs_from(room.client(), &copy), "the mesh is the client's own");
    assert_eq!(copy, Knight { mesh: 4, ..knight(1) });
}

#[test]
fn a_departed_object_is_readable_until_the_next_poll() {
    let mut room = room();
    let heroes = [1, 2].map(|health| room.server.spawn(knight(health)));
    room.settle();
    room.polled(0);
    heroes.into_iter().for_each(|hero| room.server.despawn(hero));
    room.settle();
    let client = &mut room.guests[0].client;
    let health = |client: &Client, hero| client.object_info(hero).departed().map(|hero: &Knight| hero.health);
    assert_eq!(heroes.map(|hero| health(client, hero)), [Some(1), Some(2)], "both wait to be told");
    let first = client.poll_update().and_then(|update| update.cast::<Knight>()).expect("one is gone");
    assert_eq!(heroes.map(|hero| health(client, hero)), [Some(1), Some(2)], "the first was told just now");
    let second = client.poll_update().and_then(|update| update.cast::<Knight>()).expect("both are gone");
    assert_eq!((health(client, first), health(client, second).is_some()), (None, true));
    // Polling events does not matter: the removed object can still be read.
    while client.poll_event().is_some() {}
    assert!(health(client, second).is_some());
    assert!(client.poll_update().is_none());
    assert_eq!(health(client, second), None);
}

#[test]
fn the_tick_of_an_update_is_that_of_the_server_in_which_its_packet_was_made() {
    let mut room = room();
    let bors = room.server.spawn(knight(0));
    room.settle();
    room.polled(0);
    let mut expected = BTreeMap::new();
    for health in 1..600_u16 {
        if health % 7 == 0 {
            // A byte cannot count this many ticks.
            (0..health % 300).for_each(|_| _ = room.step());
        }
        room.server[bors].health = health;
        let packets = room.tick();
        expected.insert(health, room.server.ticks());
        room.deliver(0, &packets[0]);
        let updates = updates(&mut room.guests[0].client);
        let ticks: Vec<_> = updates.iter().map(|update| (update.what.clone(), update.tick)).collect();
        assert_eq!(ticks, [(UpdateKind::Changed, expected[&health])]);
        assert_eq!(room.client().server_tick(), Some(expected[&health]));
        room.acknowledge();
    }
}

#[test]
fn r18_a_packet_that_was_overtaken_has_the_tick_of_the_newest_one() {
    let mut room = room();
    let [bors, kay] = [1, 2].map(|health| room.server.spawn(knight(health)));
    room.settle();
    room.polled(0);
    room.server[bors].health = 3;
    let late = room.tick_one();
    room.server[kay].health = 4;
    let early = room.tick_one();
    let newest = room.server.ticks();
    room.deliver(0, &early);
    room.deliver(0, &late);
    let updates = updates(&mut room.guests[0].client);
    let told: Vec<_> = updates.iter().map(|update| (update.cast(), update.tick)).collect();
    assert_eq!(told, [(Some(kay), newest), (Some(bors), newest)]);
    assert_eq!(room.client().server_tick(), Some(newest));
}

#[test]
fn a_client_whose_updates_nobody_polls_keeps_nothing_of_what_is_gone() {
    let mut room = room();
    let (mut client, id) = silent(&mut room);
    let corpse = room.server.spawn(knight(5));
    serve(&mut room, &mut client, id, 10);
    room.server.object(corpse).tear_off();
    for health in 0..20 {
        let brief = room.server.spawn(knight(health));
        serve(&mut room, &mut client, id, 4);
        assert!(client.contains(brief));
        room.server.despawn(brief);
        serve(&mut room, &mut client, id, 4);
        assert!(!client.contains(brief));
        assert_eq!(client.object_info(brief).departed(), None);
        assert_eq!(room.client().object_info(brief).departed().map(|knight| knight.health), Some(health));
    }
    let expected = [UpdateKind::Spawned, UpdateKind::TornOff].map(|what| (corpse.erase(), what));
    assert_eq!(told(&mut client), expected, "nothing is told of what went before the first poll");
}

#[test]
fn s210_nothing_is_told_of_a_torn_off_object_that_the_user_removed() {
    let mut room = room();
    let [bors, corpse] = [1, 2].map(|health| room.server.spawn(knight(health)));
    room.settle();
    room.server.object(corpse).tear_off();
    room.settle();
    assert!(room.guests[0].client.object(corpse).remove_torn_off());
    assert_eq!(room.polled(0), [(bors.erase(), UpdateKind::Spawned)]);
}

#[test]
fn s210_an_end_before_the_tear_off_is_told_although_the_user_removed_the_object() {
    let mut room = room();
    let corpse = room.server.spawn(knight(1));
    room.settle();
    room.polled(0);
    let id = room.guests[0].id;
    for is_visible in [false, true] {
        room.server.object(corpse).set_visible(id, is_visible);
        room.settle();
    }
    room.server.object(corpse).tear_off();
    room.settle();
    let client = &mut room.guests[0].client;
    assert!(client.object_info(corpse).departed().is_some());
    assert!(client.object(corpse).remove_torn_off());
    let out_of_sight = UpdateKind::Despawned(CloseReason::Relevancy);
    assert_eq!(told(client), [(corpse.erase(), out_of_sight)]);
    assert_eq!(client.object_info(corpse).departed(), None, "nothing of it is kept");
}

#[test]
fn in_another_session_all_objects_go_and_come_again() {
    let mut room = room();
    let root = room.server.spawn(knight(1));
    let part = room.server.object(root).spawn_subobject(Gate::default()).expect("the root exists");
    room.settle();
    let family = [root.erase(), part.erase()];
    assert_eq!(room.polled(0), family.map(|object| (object, UpdateKind::Spawned)));
    // Nothing arrives until both sides end the session. Then the client connects again by itself.
    for _ in 0..150 {
        room.wait(Duration::from_millis(84));
        room.tick();
        room.replies(0);
    }
    assert_eq!(room.polled(0), [], "the client keeps its objects until then");
    room.guests[0].id = room.server.connect(room.now);
    let mut told = Vec::new();
    while told.len() < 4 {
        room.wait(Duration::from_millis(84));
        let replies = room.replies(0);
        room.hear(0, &replies);
        for packet in room.tick_one() {
            drop(room.guests[0].client.receive(room.now, &packet));
        }
        told.extend(room.polled(0));
    }
    let came = told.split_off(2);
    let out_of_sight = UpdateKind::Despawned(CloseReason::Relevancy);
    assert!(family.iter().all(|&object| told.contains(&(object, out_of_sight.clone()))), "{told:?}");
    assert_eq!(came, family.map(|object| (object, UpdateKind::Spawned)));
    room.settle();
    assert_eq!(room.polled(0), []);
}

#[test]
fn s202_the_root_of_a_family_is_told_before_its_parts_whatever_their_slots() {
    for loses in [false, true] {
        let mut room = room();
        // The slots of these objects become free for the family, the slot of the last object first.
        let before: Vec<_> = (0..4).map(|health| room.server.spawn(knight(health))).collect();
        room.settle();
        before.into_iter().for_each(|knight| room.server.despawn(knight));
        room.settle();
        room.polled(0);
        let root = room.server.spawn(knight(1));
        let mut family = vec![root.erase()];
        for _ in 0..6 {
            let above = *family.last().expect("a root");
            let part = room.server.object(above).spawn_subobject(Gate::default()).expect("it exists");
            family.push(part.erase());
        }
        if loses {
            room.lose_until_noticed(0);
        }
        room.settle();
        let expected: Vec<_> = family.iter().map(|&object| (object, UpdateKind::Spawned)).collect();
        assert_eq!(room.polled(0), expected);
        room.server.despawn(root);
        room.settle();
        let expected: Vec<_> = family.into_iter().rev().map(|object| (object, GONE)).collect();
        assert_eq!(room.polled(0), expected, "and ends with the parts first");
    }
}
