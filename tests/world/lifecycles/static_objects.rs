//! S198 to S201, S212: static objects, which both sides know by a path.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use repl::{Audience, Placed, Relevancy, StaticSpawnError};

use super::*;
use crate::support::Packets;

const PATH: &str = "level1/door_7";

/// An object of a level. Each side fills in `mesh` for itself.
#[derive(Replicated, Debug, Default, Clone, PartialEq)]
pub(super) struct Door {
    #[replicated]
    pub(super) open: bool,
    #[replicated]
    pub(super) code: u32,
    #[replicated(condition = OwnerOnly)]
    pub(super) key: u32,
    #[replicated]
    pub(super) dents: Vec<u8>,
    #[replicated]
    pub(super) bolts: FastArray<u16>,
    #[replicated]
    pub(super) names: BTreeMap<u8, String>,
    #[replicated(notify = on_next)]
    pub(super) next: ObjectRef<Self>,
    pub(super) mesh: u32,
    pub(super) notified: u32,
}

impl Door {
    fn on_next(&mut self) {
        self.notified += 1;
    }
}

fn door(code: u32) -> Door {
    Door { code, bolts: FastArray::from([1, 2, 3]), dents: vec![7, 8], ..Door::default() }
}

/// Returns the door of a client's own level. All its values differ from the server's door.
fn other_door(mesh: u32) -> Door {
    Door {
        mesh,
        open: true,
        code: 99,
        key: 5,
        dents: vec![1, 2, 3, 4],
        bolts: FastArray::from([9, 9, 9, 9, 9]),
        names: BTreeMap::from([(1, "one".to_owned())]),
        ..Door::default()
    }
}

fn classes(client: &mut Client) {
    client.register::<Door>().register::<Pawn>();
}

/// Registers the classes, and places a door under [`PATH`].
fn with_door(client: &mut Client) {
    classes(client);
    assert_eq!(client.statics().place(PATH, other_door(1)), Placed::Waiting);
}

fn spawn(server: &mut Server) -> ObjectRef<Door> {
    server.register::<Pawn>();
    server.statics().spawn(PATH, door(4))
}

fn room_with(register: fn(&mut Client), guests: usize) -> (Room, ObjectRef<Door>) {
    Room::furnished(ServerConfig::default(), register, guests, spawn)
}

/// Asserts that a guest has the server's values of a door, except the key if the guest does not own it.
fn assert_equal(room: &Room, guest: usize, object: ObjectRef<Door>) {
    let (server, client) = (&room.server[object], &room.guests[guest].client[object]);
    assert_eq!((client.open, client.code, &client.dents), (server.open, server.code, &server.dents));
    // A client does not keep the order of items.
    let [ours, theirs] = [server, client].map(|door| BTreeSet::from_iter(door.bolts.to_vec()));
    assert_eq!((theirs, &client.names), (ours, &server.names));
    if room.guests[guest].client.object_info(object).is_owner() {
        assert_eq!(client.key, server.key);
    }
}

fn path() -> Arc<str> {
    Arc::from(PATH)
}

/// The update of a placed object whose path is destroyed. The client may never have had the server's object.
fn destroyed(path: Arc<str>) -> (ObjectRef<()>, UpdateKind) {
    (ObjectRef::NULL, UpdateKind::PathDestroyed(path))
}

/// Returns the events of a guest that were not polled yet.
fn events(room: &mut Room, guest: usize) -> Vec<ClientEvent> {
    std::iter::from_fn(|| room.guests[guest].client.poll_event()).collect()
}

/// Returns whether a path is written in a packet, at any bit.
fn has_path(packet: &[u8], path: &str) -> bool {
    let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
    let path = path.as_bytes();
    let last = (packet.len() * 8).saturating_sub(path.len() * 8);
    (0..=last).any(|start| (0..path.len() * 8).all(|at| bit(packet, start + at) == bit(path, at)))
}

fn have_path(packets: &[Vec<u8>]) -> usize {
    packets.iter().filter(|packet| has_path(packet, PATH)).count()
}

#[test]
fn s199_a_placed_object_gets_the_values_of_the_server_and_keeps_its_own_fields() {
    let (mut room, object) = room_with(with_door, 2);
    for guest in 0..2 {
        assert!(room.polled(guest).contains(&(object.erase(), UpdateKind::Bound(path()))));
        assert_equal(&room, guest, object);
        let client = &room.guests[guest].client;
        assert_eq!((client[object].mesh, client[object].key), (1, 5), "what is not sent stays");
        assert_eq!(client.find_static::<Door>(PATH), Some(object));
        assert_eq!(client.placed::<Door>(PATH), client.get(object));
        assert_eq!((client.object_info(object).path(), client.objects::<Door>().count()), (Some(PATH), 1));
    }
    assert_eq!(room.server.find_static::<Door>(PATH), Some(object));
    assert_eq!(
        (room.server.find_static::<Pawn>(PATH), room.server.object_info(object).path()),
        (None, Some(PATH))
    );
    let door = &mut room.server[object];
    (door.open, door.code) = (true, 9);
    door.bolts.remove(1);
    door.bolts.push(40);
    door.dents.push(3);
    door.names.insert(2, "two".to_owned());
    room.settle();
    assert_equal(&room, 0, object);
    assert_equal(&room, 1, object);
    // When the client becomes the owner, it gets the properties that only the owner sees, even if they never
    // changed.
    let id = room.guests[1].id;
    room.server.object(object).set_owner(Some(id));
    room.settle();
    assert!(room.guests[1].client.object_info(object).is_owner());
    assert_eq!((room.guests[1].client[object].key, room.guests[0].client[object].key), (0, 5));
}

#[test]
fn s199_a_path_nobody_placed_is_an_object_like_any_other_until_it_is_placed() {
    let (mut room, object) = room_with(classes, 1);
    let happened = room.polled(0);
    let spawned = happened.iter().position(|update| *update == (object.erase(), UpdateKind::Spawned));
    let unknown =
        happened.iter().position(|update| *update == (object.erase(), UpdateKind::UnknownPath(path())));
    assert!(spawned.is_some() && spawned.map(|at| at + 1) == unknown, "{happened:?}");
    assert_equal(&room, 0, object);
    let client = &mut room.guests[0].client;
    assert_eq!((client.object_info(object).path(), client.placed::<Door>(PATH)), (Some(PATH), None));
    let Placed::Bound(found, given) = client.statics().place(PATH, other_door(6)) else {
        panic!("it is there")
    };
    assert_eq!((found, given.mesh), (object, 6));
    client[found].mesh = given.mesh;
    assert!(client.placed::<Door>(PATH).is_some());
    // Now the object is placed, so the client keeps it when the object is hidden.
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    room.settle();
    assert_eq!(room.polled(0), [(object.erase(), UpdateKind::Unbound(path()))]);
    let client = &room.guests[0].client;
    let kept = client.placed::<Door>(PATH).expect("it waits");
    assert_eq!((kept.mesh, kept.code, client.contains(object)), (6, 4, false));
}

#[test]
fn s199_a_path_with_an_object_of_another_class_is_unknown() {
    let register = |client: &mut Client| {
        classes(client);
        assert_eq!(client.statics().place(PATH, pawn(3)), Placed::Waiting);
    };
    let (mut room, object) = room_with(register, 1);
    assert!(room.polled(0).contains(&(object.erase(), UpdateKind::UnknownPath(path()))));
    let client = &mut room.guests[0].client;
    assert_eq!(client.placed::<Pawn>(PATH).map(|pawn| pawn.health), Some(3));
    assert_eq!((client.find_static::<Pawn>(PATH), client.find_static::<Door>(PATH)), (None, Some(object)));
    assert_eq!(client.statics().remove::<Pawn>(PATH).map(|pawn| pawn.health), Some(3));
    assert_eq!(client.statics().remove::<Pawn>(PATH), None);
    assert!(client.statics().get_mut::<Door>(PATH).is_none(), "no door is placed");
}

#[test]
fn s198_s199_lengths_of_paths_and_second_objects_are_refused() {
    let mut server = Server::new(ServerConfig::default());
    let length = |bytes| Err(StaticSpawnError::PathLength { bytes, max_bytes: 255 });
    assert_eq!(server.statics().try_spawn("", door(1)).map(|_| ()), length(0));
    assert_eq!(server.statics().try_spawn(&"x".repeat(256), door(1)).map(|_| ()), length(256));
    let long = "ä".repeat(127);
    let first = server.statics().spawn(&long, door(1));
    assert_eq!(server.statics().try_spawn(&long, pawn(1)).map(|_| ()), Err(StaticSpawnError::PathTaken));
    assert!(catch_unwind(AssertUnwindSafe(|| server.statics().spawn(&long, door(2)))).is_err());
    server.despawn(first);
    let second = server.statics().spawn(&long, door(2));
    assert!(
        second != first
            && server.object_info(second).path() == Some(&*long)
            && server.object_info(first).path().is_none()
    );
    let mut small = Server::new(ServerConfig { mtu_bytes: 128, ..ServerConfig::default() });
    let Err(StaticSpawnError::PathLength { max_bytes, .. }) = small.statics().try_spawn(&long, door(1))
    else {
        panic!("it has no room in a packet")
    };
    assert!((20..128).contains(&max_bytes), "{max_bytes}");
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.statics().place(PATH, door(1));
    for path in ["", PATH, &"x".repeat(256)] {
        assert!(catch_unwind(AssertUnwindSafe(|| client.statics().place(path, door(1)))).is_err(), "{path}");
    }
}

#[test]
fn s200_a_path_is_repeated_after_a_loss_until_an_opening_is_acknowledged() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    room.server.object(object).set_relevancy(Relevancy::OwnerOnly);
    let id = room.enter();
    room.settle();
    room.server.object(object).set_owner(Some(id));
    assert_eq!(have_path(&room.tick_one()), 1);
    for _ in 0..3 {
        // All packets of these ticks are lost.
        let again = (0..200).find(|_| have_path(&room.tick_one()) == 1);
        assert!(again.is_some(), "the lost path comes again");
    }
    room.settle();
    assert_equal(&room, 0, object);
    // A change of the owner's role is an opening too, and the client knows the path by now.
    room.server.object(object).set_remote_role(Role::AutonomousProxy);
    assert_eq!(have_path(&room.tick_one()), 0);
    room.settle();
    for shown in [false, true, false, true] {
        room.server.object(object).set_owner(shown.then_some(id));
        for _ in 0..10 {
            let packets = room.tick_one();
            assert_eq!(have_path(&packets), 0, "the client knows the path");
            room.deliver(0, &packets);
            room.acknowledge();
        }
        room.settle();
        assert_eq!(room.client().contains(object), shown);
        assert_eq!(room.client().object_info(object).path(), shown.then_some(PATH));
    }
    assert_equal(&room, 0, object);
    assert_eq!(room.client()[object].mesh, 1);
}

#[test]
fn s200_an_ack_of_an_opening_counts_also_after_its_object_is_hidden() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    let id = room.enter();
    let mut packets = Packets::new();
    while have_path(&packets) == 0 {
        room.acknowledge();
        packets = room.tick_one();
        room.deliver(0, &packets);
    }
    room.server.object(object).set_visible(id, false);
    room.tick();
    room.acknowledge();
    room.server.object(object).set_visible(id, true);
    for _ in 0..100 {
        let packets = room.tick_one();
        assert_eq!(have_path(&packets), 0, "the path was acknowledged");
        room.deliver(0, &packets);
        room.acknowledge();
    }
    assert_equal(&room, 0, object);
}

#[test]
fn s200_each_connection_and_each_session_learns_the_path_for_itself() {
    let (mut room, object) = room_with(with_door, 1);
    room.enter();
    let mut sent = [0, 0];
    for _ in 0..20 {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            sent[guest] += have_path(&packets);
            room.deliver(guest, &packets);
        }
    }
    assert_eq!(sent[0], 0, "it knows the path");
    assert!(sent[1] >= 1);
    assert_equal(&room, 1, object);
}

#[test]
fn s199_s200_another_session_binds_what_is_placed_again() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    let gone = room.server.statics().spawn("level1/gone", door(5));
    room.enter();
    assert_eq!(room.guests[0].client.statics().place("level1/gone", other_door(2)), Placed::Waiting);
    room.settle();
    room.polled(0);
    // Nothing arrives until both sides end the session. Then the client connects again by itself.
    for _ in 0..150 {
        room.wait(Duration::from_millis(84));
        room.tick();
        room.replies(0);
    }
    room.server.despawn(gone);
    room.guests[0].id = room.server.connect(room.now);
    let mut happened = Vec::new();
    for _ in 0..200 {
        room.wait(Duration::from_millis(84));
        let replies = room.replies(0);
        room.hear(0, &replies);
        let packets = room.tick_one();
        for packet in packets {
            drop(room.guests[0].client.receive(room.now, &packet));
        }
        happened.extend(room.polled(0));
        if happened.contains(&destroyed("level1/gone".into())) {
            break;
        }
    }
    let at = |wanted| happened.iter().rposition(|update| *update == wanted).expect("it happened");
    let (unbound, bound) =
        (at((object.erase(), UpdateKind::Unbound(path()))), at((object.erase(), UpdateKind::Bound(path()))));
    assert!(unbound < bound, "{happened:?}");
    at((gone.erase(), UpdateKind::Unbound("level1/gone".into())));
    room.settle();
    assert_equal(&room, 0, object);
    assert_eq!((room.client()[object].mesh, room.client().contains(gone)), (1, false));
    assert_eq!(room.client().placed::<Door>("level1/gone").map(|door| (door.mesh, door.code)), Some((2, 5)));
}

#[test]
fn s200_a_large_opening_carries_its_path() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    room.server[object].dents = (0..2_000_u32).map(|number| number as u8).collect();
    let id = room.enter();
    room.settle();
    assert_equal(&room, 0, object);
    assert_eq!(room.client()[object].mesh, 1);
    room.server.object(object).set_visible(id, false);
    room.settle();
    room.server[object].dents.rotate_left(3);
    room.server.object(object).set_visible(id, true);
    for _ in 0..20 {
        let packets = room.tick_one();
        assert_eq!(have_path(&packets), 0);
        room.deliver(0, &packets);
        room.acknowledge();
    }
    room.settle();
    assert_equal(&room, 0, object);
}

#[test]
fn s201_references_to_a_static_object_resolve_when_it_is_bound() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    let arrow = room.server.spawn(Door { next: object, ..Door::default() });
    let id = room.enter();
    room.server.object(object).set_visible(id, false);
    room.settle();
    let shown = |room: &Room| (room.client()[arrow].next, room.client()[arrow].notified);
    assert_eq!(shown(&room), (ObjectRef::NULL, 0), "what is placed and waits is not there for references");
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(shown(&room), (object, 1));
    assert_eq!(room.client()[shown(&room).0].mesh, 1);
    room.server.object(object).set_visible(id, false);
    room.settle();
    assert_eq!(shown(&room), (ObjectRef::NULL, 2));
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(shown(&room), (object, 3));
}

#[test]
fn s191_s199_a_client_keeps_what_it_placed_when_it_goes_out_of_sight_and_binds_it_again() {
    let (mut room, object) = room_with(with_door, 1);
    let id = room.guests[0].id;
    room.polled(0);
    room.server.object(object).set_visible(id, false);
    room.settle();
    assert_eq!(room.polled(0), [(object.erase(), UpdateKind::Unbound(path()))]);
    let client = &mut room.guests[0].client;
    assert!(!client.contains(object) && client.objects::<Door>().count() == 0);
    assert_eq!(client.object_info(object).departed(), None);
    let kept = client.statics().get_mut::<Door>(PATH).expect("it waits");
    assert_eq!((kept.code, kept.mesh), (4, 1));
    // The client changes its door while the door waits for the object of the server.
    (kept.mesh, kept.code) = (2, 1_000);
    kept.dents.clear();
    kept.bolts.push(77);
    room.server[object].code = 5;
    room.server[object].bolts.remove(0);
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(room.polled(0), [(object.erase(), UpdateKind::Bound(path()))]);
    assert_eq!((room.client()[object].mesh, room.client()[object].code), (2, 5));
    assert_eq!((&room.client()[object].dents, &room.server[object].dents), (&vec![7, 8], &vec![7, 8]));
}

#[test]
fn s199_what_is_no_longer_placed_stays_as_an_object_of_the_server() {
    let (mut room, object) = room_with(with_door, 1);
    room.polled(0);
    let client = &mut room.guests[0].client;
    assert_eq!(client.statics().remove::<Door>(PATH), None);
    assert!(client.contains(object) && client.placed::<Door>(PATH).is_none());
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    room.settle();
    assert_eq!(room.polled(0), [(object.erase(), UpdateKind::Despawned(CloseReason::Relevancy))]);
}

#[test]
fn s206_an_initially_dormant_static_object_is_bound_when_it_changes() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    let object = spawn(&mut room.server);
    room.server.object(object).set_dormancy(Dormancy::Initial);
    room.enter();
    room.settle();
    assert!(!room.client().contains(object));
    assert_eq!(room.client().placed::<Door>(PATH), Some(&other_door(1)));
    room.server[object].open = true;
    room.settle();
    assert_equal(&room, 0, object);
}

#[test]
fn s210_a_static_object_that_is_torn_off_leaves_its_path() {
    let (mut room, object) = room_with(with_door, 1);
    room.server.object(object).tear_off();
    room.settle();
    let client = &mut room.guests[0].client;
    assert!(client.object_info(object).is_torn_off() && client.placed::<Door>(PATH).is_none());
    assert_eq!((client[object].mesh, client.object_info(object).path()), (1, None));
    room.server.despawn(object);
    room.settle();
    assert!(room.client().object_info(object).is_torn_off(), "it belongs to the client");
    // A client that joins later is told that the path is destroyed.
    room.enter();
    room.settle();
    assert!(room.polled(1).contains(&destroyed(path())));
}

#[test]
fn s210_s212_another_object_has_the_path_of_one_that_was_torn_off() {
    let (mut room, object) = room_with(with_door, 1);
    room.server.object(object).tear_off();
    while !room.client().object_info(object).is_torn_off() {
        let packets = room.tick_one();
        room.deliver(0, &packets);
        if !room.client().object_info(object).is_torn_off() {
            room.acknowledge();
        }
    }
    // The client has not acknowledged the tear-off when the object is despawned.
    room.server.despawn(object);
    let second = room.server.statics().spawn(PATH, door(12));
    assert_eq!(room.guests[0].client.statics().place(PATH, other_door(3)), Placed::Waiting);
    room.settle();
    assert!(room.client().object_info(object).is_torn_off() && room.client()[object].mesh == 1);
    assert_equal(&room, 0, second);
    assert_eq!(room.client()[second].mesh, 3);
}

#[test]
fn s212_whoever_has_it_and_whoever_does_not_is_told_that_a_path_is_destroyed() {
    let (mut room, object) = room_with(with_door, 3);
    let ids = [0, 1, 2].map(|guest| room.guests[guest].id);
    room.server.object(object).set_visible(ids[1], false);
    room.settle();
    (0..3).for_each(|guest| drop(room.polled(guest)));
    // The object is being removed from the third client when it is destroyed.
    room.server.object(object).set_visible(ids[2], false);
    let closing = room.tick();
    room.server.despawn(object);
    room.deliver(2, &closing[2]);
    room.settle();
    room.enter();
    room.settle();
    for guest in 0..4 {
        let happened = room.polled(guest);
        let (unbound, destroyed) = ((object.erase(), UpdateKind::Unbound(path())), destroyed(path()));
        let told = happened.iter().filter(|update| **update == destroyed).count();
        assert_eq!(told, 1, "guest {guest}: {happened:?}");
        assert_eq!(happened.contains(&unbound), matches!(guest, 0 | 2), "guest {guest}: {happened:?}");
        let client = &mut room.guests[guest].client;
        assert!(client.placed::<Door>(PATH).is_some(), "the client decides what becomes of it");
        assert_eq!(client.statics().remove::<Door>(PATH).map(|door| door.mesh), Some(1));
        assert_eq!(client.statics().place(PATH, other_door(3)), Placed::Destroyed);
        client.statics().forget_destroyed();
        drop(client.statics().remove::<Door>(PATH));
        assert_eq!(client.statics().place(PATH, other_door(4)), Placed::Waiting);
    }
    assert_eq!(room.server.destroyed_paths().collect::<Vec<_>>(), [PATH]);
}

#[test]
fn s212_a_late_joiner_is_told_again_until_it_acknowledges_and_has_not_joined_before() {
    let (mut room, object) = room_with(with_door, 1);
    room.server.despawn(object);
    let pawn = room.server.spawn(Pawn::default());
    room.settle();
    room.enter();
    let (mut sent, mut happened) = (0, Vec::new());
    for _ in 0..100 {
        // Packets without the path still arrive, and would tell the client that it has joined.
        room.server[pawn].health += 1;
        room.acknowledge();
        let packets = room.tick().swap_remove(1);
        if have_path(&packets) == 0 {
            room.deliver(1, &packets);
        } else {
            sent += 1;
        }
        if sent == 3 {
            break;
        }
        happened.extend(events(&mut room, 1));
    }
    assert_eq!(sent, 3, "it is sent again after each loss");
    assert!(happened.contains(&ClientEvent::Connected) && !happened.contains(&ClientEvent::Synchronized));
    assert!(!room.polled(1).contains(&destroyed(path())), "its packets were lost");
    room.settle();
    assert_eq!(room.polled(1).iter().filter(|update| **update == destroyed(path())).count(), 1);
    assert!(events(&mut room, 1).contains(&ClientEvent::Synchronized));
    for _ in 0..100 {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            assert_eq!(have_path(&packets), 0, "everyone was told");
            room.deliver(guest, &packets);
        }
    }
}

#[test]
fn s212_who_places_an_object_after_the_news_learns_it_then() {
    let (mut room, object) = room_with(classes, 1);
    room.server.despawn(object);
    room.enter();
    room.settle();
    for guest in 0..2 {
        let client = &mut room.guests[guest].client;
        assert_eq!(client.statics().place(PATH, other_door(1)), Placed::Destroyed, "guest {guest}");
        let happened = room.polled(guest);
        assert!(!happened.contains(&destroyed(path())), "nothing was placed");
    }
    // Another object under the path is bound, and no client is told any more that the path is destroyed.
    let second = room.server.statics().spawn(PATH, door(6));
    assert_eq!(room.server.destroyed_paths().count(), 0);
    room.enter();
    room.settle();
    for guest in 0..2 {
        assert!(room.polled(guest).contains(&(second.erase(), UpdateKind::Bound(path()))));
        assert_equal(&room, guest, second);
    }
    assert!(room.polled(2).contains(&(second.erase(), UpdateKind::UnknownPath(path()))));
}

#[test]
fn s212_forgotten_paths_are_told_to_nobody_and_their_slots_are_used_again() {
    let config = ServerConfig { max_objects: 4, ..ServerConfig::default() };
    let mut room = Room::new(config, with_door);
    room.server.register::<Door>().register::<Pawn>();
    room.enter();
    for round in 0..10 {
        let doors: Vec<_> = (0..4)
            .map(|number| room.server.statics().spawn(&format!("{round}/{number}"), door(number)))
            .collect();
        room.settle();
        doors.iter().for_each(|&door| room.server.despawn(door));
        room.settle();
        assert_eq!(room.server.destroyed_paths().count(), 4);
        let full = room.server.statics().try_spawn("one more", door(1));
        assert!(matches!(full, Err(StaticSpawnError::NoSlot(error)) if error.max_objects == 4));
        assert!(full.is_err_and(|error| error.to_string().contains("no slot is free")));
        room.server.statics().forget_destroyed();
    }
    let late = room.server.statics().spawn(PATH, door(1));
    room.enter();
    room.settle();
    let happened = room.polled(1);
    assert!(happened.contains(&(late.erase(), UpdateKind::Bound(path()))));
    assert!(!happened.iter().any(|(_, what)| matches!(what, UpdateKind::PathDestroyed(_))));
}

#[test]
fn s212_a_path_that_is_used_again_and_again_takes_one_slot_when_all_is_told() {
    let config = ServerConfig { max_objects: 3, ..ServerConfig::default() };
    let mut room = Room::new(config, with_door);
    room.server.register::<Door>().register::<Pawn>();
    room.enter();
    for code in 0..20 {
        let object = room.server.statics().spawn(PATH, door(code));
        room.settle();
        assert_equal(&room, 0, object);
        room.server.despawn(object);
        room.settle();
        assert_eq!(room.server.destroyed_paths().count(), 1);
    }
}

#[test]
fn r17_s212_an_object_under_a_path_comes_after_the_end_of_the_one_before() {
    for seed in 0..60 {
        let mut rng = repl::sim::Rng::new(seed);
        let (mut room, mut object) = room_with(with_door, 1);
        let id = room.guests[0].id;
        let mut late = Packets::new();
        for tick in 0..120 {
            let is_end = tick >= 80;
            if !is_end && rng.chance(0.15) {
                room.server.despawn(object);
                object = room.server.statics().spawn(PATH, door(tick));
            }
            if !is_end && rng.chance(0.2) {
                room.server.object(object).set_visible(id, rng.chance(0.6));
            }
            let loss = if is_end { 0.0 } else { 0.3 };
            late.extend(room.tick_one().into_iter().filter(|_| !rng.chance(loss)));
            while !late.is_empty() && (is_end || rng.chance(0.6)) {
                let packet = late.remove(rng.below(late.len() as u64) as usize);
                room.deliver(0, &[packet]);
                let unknown = |(_, what): &(_, UpdateKind)| matches!(what, UpdateKind::UnknownPath(_));
                assert!(!room.polled(0).iter().any(unknown), "seed {seed}: the path was taken");
                assert!(room.client().objects::<Door>().count() <= 1, "seed {seed}");
            }
            let replies: Packets = room.replies(0).into_iter().filter(|_| !rng.chance(loss)).collect();
            room.hear(0, &replies);
        }
        room.server.object(object).set_visible(id, true);
        room.settle();
        assert_equal(&room, 0, object);
        assert_eq!(room.client()[object].mesh, 1, "seed {seed}");
    }
}

#[test]
fn s202_static_objects_have_subobjects_and_audiences() {
    let (mut room, object) = room_with(with_door, 2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    let lock = room.server.object(object).spawn_subobject(door(8)).expect("a door");
    room.server.object(object).set_owner(Some(one));
    room.server.object(object).set_audience(Audience::Owner);
    room.settle();
    let has = |room: &Room, guest: usize| {
        (room.guests[guest].client.contains(object), room.guests[guest].client.contains(lock))
    };
    assert_eq!((has(&room, 0), has(&room, 1)), ((true, true), (false, false)));
    room.server.object(object).set_owner(Some(other));
    room.settle();
    assert_eq!((has(&room, 0), has(&room, 1)), ((false, false), (true, true)));
    assert_eq!(room.guests[0].client.placed::<Door>(PATH).map(|door| door.mesh), Some(1));
}

#[test]
fn s199_objects_outside_the_server_may_be_static() {
    let mut room = Room::new(ServerConfig::default(), with_door);
    room.server.register::<Pawn>().register_external::<Door>();
    let mut live = door(3);
    let object = room.server.external().try_spawn_static(PATH, &live).expect("the path is free");
    let again = room.server.external().try_spawn_static(PATH, &live);
    assert_eq!(again, Err(StaticSpawnError::PathTaken));
    room.enter();
    room.settle();
    assert_eq!((room.client()[object].code, room.client()[object].mesh), (3, 1));
    live.code = 4;
    room.server.external().compare_mut(object, &mut live).expect("a door");
    room.settle();
    assert_eq!(room.client()[object].code, 4);
}
