//! The names of objects in logs.

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Door {
    #[replicated]
    is_open: bool,
}

fn register(client: &mut Client) {
    client.register::<Door>();
}

#[test]
fn an_object_is_called_by_its_class_its_reference_and_its_name_or_path() {
    let (mut room, (plain, gate)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let plain = server.spawn(Door::default());
        (plain, server.statics().spawn("castle/gate", Door::default()))
    });
    let called = |room: &Room, door| room.server.object_info(door).to_string();
    let seen = |room: &Room, door| room.client().object_info(door).to_string();
    assert_eq!(called(&room, plain), "Door 0v1");
    assert_eq!(called(&room, gate), r#"Door 1v1 "castle/gate""#);
    room.server.object(plain).set_name("back door");
    room.server.object(gate).set_name("front door");
    assert_eq!(room.server.object_info(plain).name(), Some("back door"));
    assert_eq!(called(&room, plain), r#"Door 0v1 "back door""#);
    assert_eq!(called(&room, gate), r#"Door 1v1 "front door""#);
    room.server[plain].is_open = true;
    room.settle();
    // A name is not sent, but a path is.
    assert_eq!(seen(&room, plain), "Door 0v1");
    assert_eq!(seen(&room, gate), r#"Door 1v1 "castle/gate""#);
    room.server.object(gate).set_name("");
    assert_eq!(called(&room, gate), r#"Door 1v1 "castle/gate""#);
    assert_eq!(called(&room, ObjectRef::NULL), "null");
}

#[test]
fn names_go_with_their_objects() {
    let (mut room, door) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Door::default()));
    room.server.object(door).set_name("old");
    room.server.despawn(door);
    assert_eq!(room.server.object_info(door).to_string(), "no object 0v1");
    assert_eq!(room.server.object_info(door).name(), None);
    room.server.object(door).set_name("nobody");
    room.settle();
    let next = room.server.spawn(Door::default());
    assert_eq!(next.guid().map(|guid| guid.slot()), Some(0), "the slot is used again");
    assert_eq!(room.server.object_info(next).to_string(), "Door 0v2");
}
