//! References inside values that are sent as differences: null while the client lacks the object, and valid
//! as soon as it has it.

use repl::prelude::*;

use crate::support::{Room, size};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Unit {
    #[replicated(delta)]
    friends: Vec<ObjectRef<Self>>,
    #[replicated(delta)]
    names: Vec<Name>,
    number: u32,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Group {
    #[replicated(delta)]
    members: Vec<ObjectRef<Unit>>,
    leader: ObjectRef<Unit>,
}

struct Mesh;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Prop {
    #[replicated(delta)]
    meshes: Vec<AssetRef<Mesh>>,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Name {
    of: Option<ObjectRef<Unit>>,
    text: String,
}

fn seen(room: &Room, unit: ObjectRef<Unit>) -> &Unit {
    room.client().get(unit).expect("the client has it")
}

fn show(room: &mut Room, unit: ObjectRef<Unit>, is_visible: bool) {
    let id = room.guests[0].id;
    room.server.object(unit).set_visible(id, is_visible);
    room.settle();
}

/// Returns a room with one client, a unit that it sees, and one that it does not see but that is a friend of
/// the first.
fn friends() -> (Room, ObjectRef<Unit>, ObjectRef<Unit>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Unit>();
    });
    let one = room.server.spawn(Unit::default());
    let hidden = room.server.spawn(Unit { number: 2, ..Unit::default() });
    room.enter();
    show(&mut room, hidden, false);
    let list = (0..60).map(|at| if at == 30 { hidden } else { one });
    room.server[one].friends = list.collect();
    room.server[one].names = vec![Name { of: Some(hidden), text: "hidden".into() }];
    room.settle();
    (room, one, hidden)
}

#[test]
fn s227_references_in_a_base_become_valid_with_their_objects() {
    let (mut room, one, hidden) = friends();
    assert_eq!(seen(&room, one).friends[30], ObjectRef::NULL);
    show(&mut room, hidden, true);
    assert_eq!(seen(&room, one).friends[30], hidden);
    assert_eq!(seen(&room, one).names[0].of, Some(hidden));
}

#[test]
fn s227_a_difference_keeps_references_that_were_null_on_the_client() {
    let (mut room, one, hidden) = friends();
    // No reference is in the difference itself.
    room.server[one].friends.remove(10);
    let packets = room.tick_one();
    assert!(size(&packets) <= 24, "{} bytes are no difference", size(&packets));
    room.deliver(0, &packets);
    room.acknowledge();
    room.settle();
    assert_eq!(seen(&room, one).friends[29], ObjectRef::NULL);
    show(&mut room, hidden, true);
    assert_eq!(seen(&room, one).friends, room.server[one].friends);
    room.server[one].friends.remove(0);
    room.server[one].names.push(Name { of: None, text: "nobody".into() });
    room.settle();
    assert_eq!(seen(&room, one).friends, room.server[one].friends);
    assert_eq!(seen(&room, one).names, room.server[one].names);
}

#[test]
fn s227_references_become_null_and_valid_again_with_their_objects() {
    let (mut room, one, hidden) = friends();
    for _ in 0..3 {
        show(&mut room, hidden, true);
        assert_eq!(seen(&room, one).friends, room.server[one].friends);
        show(&mut room, hidden, false);
        assert_eq!(seen(&room, one).friends.iter().filter(|friend| friend.is_null()).count(), 1);
        room.server[one].friends.insert(0, one);
        room.settle();
    }
}

#[test]
fn s227_a_reference_after_a_value_that_lost_its_references_becomes_valid() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Unit>().register::<Group>();
    });
    let hidden = room.server.spawn(Unit::default());
    let group = room.server.spawn(Group::default());
    room.enter();
    show(&mut room, hidden, false);
    let members = (0..60).map(|at| if at == 30 { hidden } else { ObjectRef::NULL });
    room.server[group].members = members.collect();
    room.settle();
    // The difference makes a value without references of one with a reference. The next property has one.
    room.server[group].members[30] = ObjectRef::NULL;
    room.server[group].leader = hidden;
    room.settle();
    show(&mut room, hidden, true);
    assert_eq!(room.client()[group].leader, hidden);
    assert_eq!(room.client()[group].members, [ObjectRef::NULL; 60]);
}

#[test]
fn s227_s200_a_difference_names_its_assets() {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register_assets().register::<Prop>();
    });
    room.server.register_assets();
    let prop = room.server.spawn(Prop::default());
    room.enter();
    let paths: Vec<String> = (0..50).map(|number| format!("meshes/{number}")).collect();
    paths.iter().for_each(|path| room.guests[0].client.assets().add(path));
    let meshes: Vec<AssetRef<Mesh>> = paths.iter().map(|path| room.server.assets().add(path)).collect();
    room.server[prop].meshes = meshes[..40].to_vec();
    room.settle();
    room.server[prop].meshes.push(meshes[45]);
    let packets = room.tick_one();
    assert!(size(&packets) < 60, "{} bytes are no difference", size(&packets));
    room.deliver(0, &packets);
    assert_eq!(room.client()[prop].meshes, room.server[prop].meshes);
}
