//! References to assets, which have a path and are not objects (S93 to S101, S116 to S122, S199 to S201,
//! R19).
//!
//! *Invariant:* each reference that a client shows is null or leads to an asset that the client has. This
//! asset has the same path as the server's asset.

use std::collections::{BTreeMap, HashMap};

use crate::support::{Packets, Room};
use repl::prelude::*;
use repl::{
    BitReader, BitWriter, DisconnectReason, Group, HostOptions, MessageOptions, ReadError, ReferenceMap,
    Register, Relevancy, WriteError,
};

struct Mesh;

#[derive(Replicated, Default)]
struct Prop {
    #[replicated(notify = on_mesh)]
    mesh: AssetRef<Mesh>,
    #[replicated]
    parts: Vec<AssetRef<Mesh>>,
    #[replicated]
    worn: HashMap<AssetRef<Mesh>, u8>,
    #[replicated]
    look: Look,
    #[replicated(condition = OwnerOnly)]
    secret: AssetRef<Mesh>,
    #[replicated]
    height: u32,
    heard: Vec<(AssetRef<Mesh>, AssetRef<Mesh>)>,
}

/// A value that is sent whole, with two references.
#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq)]
enum Look {
    #[default]
    Plain,
    Painted(AssetRef<Mesh>, AssetRef<Mesh>),
}

/// A message with a reference.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chosen(AssetRef<Mesh>);

#[rpcs]
impl Prop {
    #[rpc(server, reliable)]
    fn choose(call: &mut ServerCall<'_, Self>, mesh: AssetRef<Mesh>) {
        call.mesh = mesh;
    }

    #[rpc(multicast, reliable, waits)]
    fn wear(&mut self, mesh: AssetRef<Mesh>) {
        self.heard.push((mesh, mesh));
    }

    #[rpc(multicast, reliable)]
    fn shatter(&mut self, into: AssetRef<Mesh>) {
        self.heard.push((into, into));
    }
}

impl Prop {
    fn on_mesh(&mut self, old: &AssetRef<Mesh>) {
        self.heard.push((*old, self.mesh));
    }
}

fn register(side: &mut impl Register) {
    side.register_assets().register_calls::<Prop>().register_message::<Chosen>(Channel::Ordered);
}

/// Returns a room whose server has one prop. No client has entered.
fn empty_room() -> (Room, ObjectRef<Prop>) {
    let mut room = Room::new(ServerConfig::default(), register);
    register(&mut room.server);
    let prop = room.server.spawn(Prop::default());
    (room, prop)
}

/// Returns a room with one client that has the prop, and the assets with these paths.
fn room_with(paths: &[&str]) -> (Room, ObjectRef<Prop>) {
    let (mut room, prop) = empty_room();
    room.enter();
    paths.iter().for_each(|path| room.guests[0].client.assets().add(path));
    room.settle();
    drop(events(&mut room, 0));
    (room, prop)
}

fn add(room: &mut Room, path: &str) -> AssetRef<Mesh> {
    room.server.assets().add(path)
}

fn seen(room: &Room, guest: usize, prop: ObjectRef<Prop>) -> &Prop {
    room.guests[guest].client.get(prop).expect("the client has it")
}

fn path(room: &Room, guest: usize, asset: AssetRef<Mesh>) -> Option<&str> {
    room.guests[guest].client.asset_path(asset)
}

fn events(room: &mut Room, guest: usize) -> Vec<ClientEvent> {
    std::iter::from_fn(|| room.guests[guest].client.poll_event()).collect()
}

fn contain(packets: &[Packets], text: &str) -> bool {
    // In a packet, the bytes of a path can begin at any bit.
    let bits = |bytes: &[u8]| -> Vec<bool> {
        bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
    };
    let wanted = bits(text.as_bytes());
    packets.iter().flatten().any(|packet| bits(packet).windows(wanted.len()).any(|part| part == wanted))
}

#[test]
fn s199_a_reference_leads_to_the_path_that_the_server_has_given() {
    let (mut room, prop) = room_with(&["meshes/rock", "meshes/tree"]);
    let (rock, tree) = (add(&mut room, "meshes/rock"), add(&mut room, "meshes/tree"));
    let live = &mut room.server[prop];
    (live.mesh, live.parts, live.look) = (rock, vec![tree, rock], Look::Painted(tree, AssetRef::NULL));
    live.worn.insert(tree, 7);
    room.settle();
    let prop = seen(&room, 0, prop);
    assert_eq!((path(&room, 0, prop.mesh), prop.mesh), (Some("meshes/rock"), rock));
    assert_eq!((&prop.parts, prop.look), (&vec![tree, rock], Look::Painted(tree, AssetRef::NULL)));
    assert_eq!(prop.worn, HashMap::from([(tree, 7)]));
    let client = &mut room.guests[0].client;
    assert_eq!(client.assets().find::<Mesh>("meshes/tree"), Some(tree));
    assert_eq!(client.assets().find::<Mesh>("meshes/bush"), None);
}

#[test]
fn s116_s118_a_missing_asset_reads_as_null_is_reported_and_heals_when_it_is_added_late() {
    let (mut room, prop) = room_with(&["a"]);
    let (a, b) = (add(&mut room, "a"), add(&mut room, "b"));
    let live = &mut room.server[prop];
    (live.mesh, live.parts, live.look) = (b, vec![a, b], Look::Painted(b, b));
    live.worn.extend([(a, 1), (b, 2)]);
    room.settle();
    let copy = seen(&room, 0, prop);
    assert_eq!((copy.mesh, &copy.parts), (AssetRef::NULL, &vec![a, AssetRef::NULL]));
    assert_eq!(copy.look, Look::Painted(AssetRef::NULL, AssetRef::NULL));
    assert_eq!(copy.worn, HashMap::from([(a, 1)]), "an entry with an unknown key is hidden");
    assert_eq!(events(&mut room, 0), [ClientEvent::UnknownAsset("b".into())]);
    room.guests[0].client.assets().add("b");
    let copy = seen(&room, 0, prop);
    assert_eq!((copy.mesh, &copy.parts, copy.look), (b, &vec![a, b], Look::Painted(b, b)));
    assert_eq!(copy.worn, HashMap::from([(a, 1), (b, 2)]));
    assert_eq!(copy.heard.last(), Some(&(AssetRef::NULL, b)), "its notify has run");
    room.guests[0].client.assets().add("b");
    room.settle();
    assert_eq!(events(&mut room, 0), [], "it is added only once");
}

#[test]
fn s119_a_newer_value_replaces_a_reference_that_waits_for_its_asset() {
    let (mut room, prop) = room_with(&["a"]);
    let (a, b) = (add(&mut room, "a"), add(&mut room, "b"));
    room.server[prop].mesh = b;
    room.server[prop].parts = vec![b, b];
    room.settle();
    room.server[prop].mesh = a;
    room.server[prop].parts = vec![b, a];
    room.settle();
    room.guests[0].client.assets().add("b");
    assert_eq!((seen(&room, 0, prop).mesh, &seen(&room, 0, prop).parts), (a, &vec![b, a]));
}

#[test]
fn s200_a_path_is_sent_once_to_each_client_and_before_what_refers_to_it() {
    let (mut room, prop) = room_with(&["meshes/rocks/big", "meshes/rocks/small"]);
    let (big, small) = (add(&mut room, "meshes/rocks/big"), add(&mut room, "meshes/rocks/small"));
    room.server[prop].mesh = big;
    let packets = room.tick();
    assert!(contain(&packets, "meshes/rocks/big"));
    assert!(!contain(&packets, "small"), "nothing refers to it");
    room.deliver(0, &packets[0]);
    assert_eq!(seen(&room, 0, prop).heard, [(AssetRef::NULL, big)], "never null, nothing heals");
    room.settle();
    for (mesh, said) in [(small, "small"), (AssetRef::NULL, ""), (big, ""), (small, "")] {
        let before = seen(&room, 0, prop).mesh;
        room.server[prop].mesh = mesh;
        let packets = room.tick();
        assert!(!contain(&packets, "rocks/"), "it knows the folder");
        for name in ["big", "small"] {
            assert_eq!(contain(&packets, name), name == said, "{name} with {mesh:?}");
        }
        room.deliver(0, &packets[0]);
        assert_eq!(seen(&room, 0, prop).heard.last(), Some(&(before, mesh)), "never null in between");
        room.settle();
        assert_eq!(seen(&room, 0, prop).mesh, mesh);
    }
}

#[test]
fn s200_a_path_that_was_lost_is_sent_again() {
    for lost in 1..=3 {
        let (mut room, prop) = room_with(&["meshes/rock"]);
        let rock = add(&mut room, "meshes/rock");
        room.server[prop].mesh = rock;
        for _ in 0..lost {
            drop(room.tick());
        }
        room.settle();
        assert_eq!(seen(&room, 0, prop).mesh, rock);
    }
}

#[test]
fn s201_a_reference_that_arrives_before_the_path_heals_when_the_path_arrives() {
    let (mut room, prop) = room_with(&["meshes/rock"]);
    let rock = add(&mut room, "meshes/rock");
    room.server[prop].mesh = rock;
    drop(room.tick());
    // The packet with the path was lost, and the path is sent again only later.
    room.server[prop].height = 1;
    room.server[prop].mesh = AssetRef::NULL;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    room.server[prop].mesh = rock;
    let packets = room.tick_one();
    assert!(!contain(std::slice::from_ref(&packets), "rock"));
    room.deliver(0, &packets);
    assert_eq!(seen(&room, 0, prop).mesh, AssetRef::NULL);
    room.settle();
    assert_eq!(seen(&room, 0, prop).mesh, rock);
}

#[test]
fn r19_the_bits_of_a_value_are_shared_and_each_client_gets_its_own_paths() {
    let (mut room, prop) = empty_room();
    let ids = [room.enter(), room.enter()];
    let hidden = room.server.spawn(Prop::default());
    room.server.object(hidden).set_visible(ids[1], false);
    for guest in &mut room.guests {
        ["open", "hidden"].iter().for_each(|path| guest.client.assets().add(path));
    }
    room.settle();
    let (open, secret) = (add(&mut room, "open"), add(&mut room, "hidden"));
    (room.server[prop].mesh, room.server[hidden].mesh) = (open, secret);
    let packets = room.tick();
    for (guest, packets) in packets.iter().enumerate() {
        assert!(contain(std::slice::from_ref(packets), "open"));
        assert_eq!(contain(std::slice::from_ref(packets), "hidden"), guest == 0, "of what it does not have");
        room.deliver(guest, packets);
    }
    room.server[hidden].mesh = AssetRef::NULL;
    room.settle();
    // Both clients know the path of the first asset, so their packets are equal.
    room.server[prop].mesh = AssetRef::NULL;
    room.settle();
    room.server[prop].mesh = open;
    let sizes: Vec<usize> = room.tick().iter().map(|packets| packets.iter().map(Vec::len).sum()).collect();
    assert_eq!(sizes[0], sizes[1]);
}

#[test]
fn s200_every_way_in_which_values_are_sent_names_their_assets() {
    type Way = fn(&mut Room, ObjectRef<Prop>, AssetRef<Mesh>) -> ObjectRef<Prop>;
    let ways: [Way; 8] = [
        // Two cases: shared changes, and changes of an object that is out of step (that the client lacks
        // other changes of).
        |room, prop, mesh| {
            room.server[prop].mesh = mesh;
            prop
        },
        |room, prop, mesh| {
            room.server[prop].height = 7;
            drop(room.tick());
            room.server[prop].mesh = mesh;
            prop
        },
        // Openings (first updates): of new objects, of an object that is hidden from other clients, and of a
        // large object.
        |room, _, mesh| room.server.spawn(Prop { mesh, ..Prop::default() }),
        |room, _, mesh| {
            let prop = room.server.spawn(Prop { mesh, ..Prop::default() });
            room.server.object(prop).set_relevancy(Relevancy::Group(Group(4)));
            room.settle();
            let id = room.guests[0].id;
            room.server.connection(id).join_group(Group(4));
            prop
        },
        |room, _, mesh| room.server.spawn(Prop { mesh, parts: vec![mesh; 2_000], ..Prop::default() }),
        // Changes that are larger than a packet, in an array and in a map.
        |room, prop, mesh| {
            (room.server[prop].mesh, room.server[prop].parts) = (mesh, vec![mesh; 2_000]);
            prop
        },
        // A property that becomes visible.
        |room, prop, mesh| {
            room.server[prop].secret = mesh;
            room.settle();
            let id = room.guests[0].id;
            room.server.object(prop).set_owner(Some(id));
            room.settle();
            room.server[prop].mesh = room.server[prop].secret;
            prop
        },
        // With limits.
        |room, prop, mesh| {
            let id = room.guests[0].id;
            room.server.connection(id).set_budget(20_000);
            room.server[prop].mesh = mesh;
            prop
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (mut room, prop) = room_with(&["meshes/rock"]);
        let rock = add(&mut room, "meshes/rock");
        let prop = way(&mut room, prop, rock);
        room.settle();
        assert_eq!(path(&room, 0, seen(&room, 0, prop).mesh), Some("meshes/rock"), "way {number}");
        if !seen(&room, 0, prop).secret.is_null() {
            assert_eq!(seen(&room, 0, prop).secret, rock);
        }
        room.enter();
        room.guests[1].client.assets().add("meshes/rock");
        let group_id = room.guests[1].id;
        room.server.connection(group_id).join_group(Group(4));
        room.settle();
        assert_eq!(seen(&room, 1, prop).mesh, rock, "way {number} for one that joins");
        for guest in 0..2 {
            let are_alike = seen(&room, guest, prop).parts == room.server[prop].parts;
            assert!(are_alike, "way {number}, guest {guest}");
        }
    }
}

#[test]
fn s200_a_last_state_names_its_assets() {
    let (mut room, prop) = room_with(&["wreck"]);
    let wreck = add(&mut room, "wreck");
    room.server[prop].mesh = wreck;
    room.server.despawn(prop);
    for _ in 0..40 {
        room.step();
    }
    let mut updates = std::iter::from_fn(|| room.guests[0].client.poll_update());
    assert!(updates.any(|update| matches!(update.what, UpdateKind::Despawned(_))));
    let info = room.client().object_info(prop);
    assert_eq!(info.departed().map(|prop| prop.mesh), Some(wreck));
}

#[test]
fn s199_messages_and_calls_refer_to_assets_in_both_directions() {
    let (mut room, prop) = room_with(&["a", "b", "c"]);
    let (a, b, c) = (add(&mut room, "a"), add(&mut room, "b"), add(&mut room, "c"));
    let id = room.guests[0].id;
    room.server.object(prop).set_owner(Some(id));
    room.server.send_to_all(&Chosen(a)).expect("a message");
    room.server.call(prop).shatter(b).expect("a call");
    room.settle();
    let client = &mut room.guests[0].client;
    assert_eq!(client.poll_message::<Chosen>(), Some(Chosen(a)));
    assert_eq!(seen(&room, 0, prop).heard, [(b, b)]);
    let client = &mut room.guests[0].client;
    assert_eq!(client.assets().find::<Mesh>("c"), None, "the server has not named it");
    client.call(prop).choose(a).expect("a call");
    client.send(&Chosen(b)).expect("a message");
    room.settle();
    assert_eq!((room.server[prop].mesh, room.server.poll_message::<Chosen>()), (a, Some((id, Chosen(b)))));
    // A number that the server has not assigned to an asset reads as null.
    let client = &mut room.guests[0].client;
    client.send(&Chosen(AssetRef::new(u32::MAX.try_into().expect("not zero")))).expect("a message");
    room.settle();
    assert_eq!(room.server.poll_message::<Chosen>(), Some((id, Chosen(AssetRef::NULL))));
    assert!(room.client().is_connected(), "and does no harm");
    room.server.connection(id).send(&Chosen(c)).expect("a message");
    room.settle();
    assert_eq!(room.guests[0].client.poll_message::<Chosen>(), Some(Chosen(c)));
}

#[test]
fn s200_a_new_session_is_told_the_paths_again() {
    let (mut room, prop) = room_with(&["a"]);
    let a = add(&mut room, "a");
    room.server[prop].mesh = a;
    room.settle();
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 1, prop).mesh, AssetRef::NULL);
    assert!(events(&mut room, 1).contains(&ClientEvent::UnknownAsset("a".into())));
    room.guests[1].client.assets().add("a");
    assert_eq!(seen(&room, 1, prop).mesh, a);
}

#[test]
fn s199_a_server_that_names_too_many_assets_is_left() {
    let (mut room, prop) = empty_room();
    let config = ClientConfig { max_assets: 1, reconnects: false, ..ClientConfig::default() };
    let id = room.server.connect(room.now);
    let mut client = Client::new(config, Session::for_tests(9));
    register(&mut client);
    room.guests.push(crate::support::Guest { client, id });
    room.settle();
    let one = add(&mut room, "one/two/three");
    room.server[prop].mesh = one;
    room.settle();
    assert!(room.client().is_connected());
    let two = add(&mut room, "two");
    room.server[prop].mesh = two;
    let packets = room.tick_one();
    let received = room.guests[0].client.receive(room.now, &packets[0]);
    assert!(format!("{received:?}").contains("more assets than `max_assets`"), "{received:?}");
    assert!(!room.client().is_connected());
}

#[test]
fn s199_assets_must_be_registered_by_both_sides_or_by_neither() {
    let mut room = Room::new(ServerConfig::default(), |_| {});
    room.server.register_assets().register_assets();
    room.enter();
    for _ in 0..20 {
        room.step();
    }
    let refused = events(&mut room, 0).into_iter().find_map(|event| match event {
        ClientEvent::Disconnected(reason) => Some(reason.to_string()),
        _ => None,
    });
    assert!(refused.as_ref().is_some_and(|why| why.contains("repl::register_assets")), "{refused:?}");
}

#[test]
fn s223_a_call_waits_for_the_path_of_an_asset_and_not_for_the_asset() {
    let (mut room, prop) = room_with(&["a"]);
    let (known, lacking) = (add(&mut room, "a"), add(&mut room, "b"));
    room.server.call(prop).wear(known).expect("a call");
    room.server.call(prop).wear(lacking).expect("a call");
    room.settle();
    let heard = [(known, known), (AssetRef::NULL, AssetRef::NULL)];
    assert_eq!(seen(&room, 0, prop).heard, heard);
    room.guests[0].client.assets().add("b");
    room.settle();
    assert_eq!(seen(&room, 0, prop).heard, heard, "a null in a call stays null");
}

#[test]
#[should_panic = "assets are not registered: call `register_assets` on both sides before they connect"]
fn s199_assets_that_are_not_registered_cannot_be_added() {
    Server::new(ServerConfig::default()).assets().add::<Mesh>("a");
}

#[test]
#[should_panic = "assets are new, but a client or a host has connected already: call `register_assets` before"]
fn s199_assets_are_registered_before_the_first_connection() {
    let mut server = Server::new(ServerConfig::default());
    server.connect_host(HostOptions::default());
    server.register_assets();
}

#[test]
#[should_panic = "a path of 256 bytes: a path has from 1 to 255 bytes"]
fn s199_a_path_has_at_most_255_bytes() {
    let mut server = Server::new(ServerConfig::default());
    server.register_assets().assets().add::<Mesh>(&"x".repeat(256));
}

/// A message with names of assets, as a hostile server sends it.
struct Forged(Vec<(u64, u64, Vec<u8>)>);

impl NetSerialize for Forged {
    const WIRE_NAME: &'static str = "repl::register_assets";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_exp_golomb(self.0.len() as u64, 6);
        for (number, of, name) in &self.0 {
            writer.write_exp_golomb(*number, 6);
            writer.write_exp_golomb(*of, 6);
            if *of > 0 {
                // The first number is how many bytes the path shares with the other path.
                writer.write_bits(1, 8);
            }
            writer.write_bits(name.len() as u64, 8);
            name.iter().for_each(|byte| writer.write_bits((*byte).into(), 8));
        }
        Ok(())
    }

    fn read(_: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Err(ReadError::OutOfRange)
    }
}

#[test]
fn r20_names_that_no_server_sends_end_the_connection() {
    let name = |number, outer, name: &str| (number, outer, name.as_bytes().to_vec());
    for (names, why) in [
        (vec![name(0, 0, "a")], "outside its range"),
        (vec![name(1 << 32, 0, "a")], "outside its range"),
        (vec![name(1, 0, "")], "outside its range"),
        (vec![(1, 0, vec![0xc3, 0x28])], "UTF-8"),
        (vec![name(1, 0, "a"), name(1, 0, "b")], "named before"),
        (vec![name(1, 0, "a"), name(2, 0, "a")], "named before"),
        (vec![name(1, 0, "ax"), name(2, 1, "b"), name(3, 0, "ab")], "named before"),
        (vec![name(1, 2, "a")], "without a name"),
        (vec![name(1, 0, "a"), name(2, 1, &"b".repeat(255))], "too long"),
        (vec![name(1, 0, "ä"), name(2, 1, "b")], "shares more"),
    ] {
        let mut room = Room::new(ServerConfig::default(), |client| _ = client.register_assets());
        room.server.register_message::<Forged>(Channel::Ordered);
        room.enter();
        room.settle();
        room.server.send_to_all(&Forged(names)).expect("a message");
        let packets = room.tick_one();
        let received =
            room.guests[0].client.receive(room.now, &packets[0]).map_err(|error| error.to_string());
        assert!(received.as_ref().is_err_and(|error| error.contains(why)), "{received:?}, not {why}");
        assert!(!room.client().is_connected());
    }
}

/// A message with references as keys of maps, to assets and to objects.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Votes {
    by_asset: BTreeMap<AssetRef<Mesh>, u8>,
    #[replicated(max_len = 200000)]
    text: String,
}

fn votes(side: &mut impl Register) {
    register(side);
    side.register_message_with::<Votes>(
        Channel::Ordered,
        MessageOptions { max_bytes: 1 << 20, ..MessageOptions::default() },
    );
}

/// Returns a room with `guests` clients that can receive votes and have the assets `a` and `b`.
fn voters(guests: usize) -> (Room, ObjectRef<Prop>) {
    let mut room = Room::new(ServerConfig::default(), votes);
    votes(&mut room.server);
    let prop = room.server.spawn(Prop::default());
    for _ in 0..guests {
        room.enter();
    }
    for guest in &mut room.guests {
        ["a", "b"].iter().for_each(|path| guest.client.assets().add(path));
    }
    room.settle();
    (room, prop)
}

#[test]
fn s200_assets_that_stand_only_in_keys_are_named() {
    let (mut room, prop) = voters(1);
    let (a, b) = (add(&mut room, "a"), add(&mut room, "b"));
    room.server[prop].worn.insert(a, 1);
    room.settle();
    assert_eq!(seen(&room, 0, prop).worn, HashMap::from([(a, 1)]));
    let message = Votes { by_asset: BTreeMap::from([(b, 3)]), text: String::new() };
    room.server.send_to_all(&message).expect("a message");
    room.settle();
    assert_eq!(room.guests[0].client.poll_message::<Votes>(), Some(message));
    room.enter();
    room.guests[1].client.assets().add("a");
    room.settle();
    assert_eq!(seen(&room, 1, prop).worn, HashMap::from([(a, 1)]), "in an opening");
}

#[test]
fn s200_a_bulk_message_names_its_assets() {
    let (mut room, _) = voters(1);
    let a = add(&mut room, "a");
    let message = Votes { by_asset: BTreeMap::from([(a, 3)]), text: "long ".repeat(20_000) };
    room.server.send_to_all(&message).expect("a message");
    for _ in 0..600 {
        room.step();
    }
    assert!(room.guests[0].client.poll_message::<Votes>() == Some(message), "it refers to the asset");
}

#[test]
fn r19_a_client_is_not_told_the_paths_of_what_it_is_not_sent() {
    let (mut room, prop) = voters(2);
    let (a, b) = (add(&mut room, "asset of a call"), add(&mut room, "asset of before"));
    let hidden_from = room.guests[1].id;
    room.server.object(prop).set_visible(hidden_from, false);
    room.settle();
    room.server.call(prop).shatter(a).expect("a call");
    let packets = room.tick();
    assert!(contain(&packets[..1], "asset of a call") && !contain(&packets[1..], "asset of a call"));
    // A client that joins does not get the names of assets to which an object referred before.
    let other = room.server.spawn(Prop { mesh: b, ..Prop::default() });
    room.server.object(other).set_visible(hidden_from, false);
    room.settle();
    room.server[other].mesh = AssetRef::NULL;
    room.settle();
    // A client does not get the names of assets in messages that were sent to all clients before it joined.
    room.enter();
    let late = add(&mut room, "asset of a message");
    room.server.send_to_all(&Chosen(late)).expect("a message");
    let mut all: Vec<Packets> = Vec::new();
    for _ in 0..60 {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            room.deliver(guest, &packets);
            if guest == 2 {
                all.push(packets);
            }
        }
    }
    assert!(room.guests[2].client.contains(other));
    assert!(!contain(&all, "asset of before") && !contain(&all, "asset of a message"));
}

#[test]
fn r20_a_client_that_names_assets_is_disconnected() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register_message::<Forged>(Channel::Ordered);
    });
    room.server.register_assets();
    room.enter();
    room.settle();
    room.guests[0].client.send(&Forged(vec![(1, 0, b"a".to_vec())])).expect("a message");
    room.acknowledge();
    room.acknowledge();
    assert!(matches!(room.closed(0), Some(DisconnectReason::Protocol(_))), "{:?}", room.closed(0));
}

#[test]
fn s199_folders_are_no_assets() {
    let (mut room, prop) = room_with(&["a/b/c"]);
    let c = add(&mut room, "a/b/c");
    room.server[prop].mesh = c;
    room.settle();
    assert_eq!((seen(&room, 0, prop).mesh, events(&mut room, 0)), (c, vec![]), "the client lacks nothing");
    assert_eq!(room.server.assets().find::<Mesh>("a/b"), None);
    assert_eq!(room.guests[0].client.assets().find::<Mesh>("a/b"), None);
}
