//! Copying objects out of a client: only properties that arrived are copied to an object outside the client.

use std::collections::HashMap;

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Default, Debug, PartialEq)]
struct Door {
    #[replicated]
    angle: u32,
    #[replicated]
    label: String,
    #[replicated]
    keys: FastArray<u32>,
    #[replicated]
    marks: HashMap<u8, u8>,
    glow: u32,
}

fn oak() -> Door {
    Door { label: "oak".to_owned(), ..Door::default() }
}

fn room() -> (Room, ObjectRef<Door>) {
    let register = |client: &mut Client| {
        client.register_archetype(oak);
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        let archetype = server.register_archetype(oak);
        server.spawn_from(archetype, Door { angle: 3, ..oak() })
    })
}

#[test]
fn a_new_object_is_copied_whole_and_a_known_one_in_part() {
    let (mut room, door) = room();
    let mut component = Door { glow: 5, ..Door::default() };
    let client = &mut room.guests[0].client;
    let updates: Vec<_> = std::iter::from_fn(|| client.poll_update()).collect();
    assert_eq!(updates.iter().map(|update| &update.what).collect::<Vec<_>>(), [&UpdateKind::Spawned]);
    assert!(updates[0].copy_to(client, &mut component));
    assert_eq!(component, Door { angle: 3, glow: 5, ..oak() });

    component.label = "ours".to_owned();
    room.server[door].angle = 4;
    room.server[door].keys.extend([10, 20, 30]);
    room.server[door].marks.insert(1, 2);
    room.settle();
    let client = &mut room.guests[0].client;
    let updates: Vec<_> = std::iter::from_fn(|| client.poll_update()).collect();
    assert_eq!(updates.iter().map(|update| &update.what).collect::<Vec<_>>(), [&UpdateKind::Changed]);
    assert!(updates[0].copy_to(client, &mut component));
    assert_eq!((component.angle, component.label.as_str(), component.glow), (4, "ours", 5));
    assert_eq!(component.keys, client[door].keys);
    assert_eq!(component.marks, client[door].marks);

    let removed = room.server[door].keys.swap_remove(1);
    assert_eq!(removed, 20);
    room.server[door].keys.sort_unstable_by(|one, other| other.cmp(one));
    room.settle();
    let client = &mut room.guests[0].client;
    while let Some(update) = client.poll_update() {
        assert!(update.copy_to(client, &mut component));
    }
    assert_eq!(component.keys.len(), 2);
    for (at, key) in component.keys.iter().enumerate() {
        assert_eq!(client[door].keys.by_id(component.keys.id(at).expect("it is there")), Some(key));
    }
}

#[test]
fn a_property_that_a_reference_waited_for_is_copied_when_it_heals() {
    #[derive(Replicated, Default)]
    struct Link {
        #[replicated]
        to: ObjectRef<Self>,
    }
    let register = |client: &mut Client| {
        client.register::<Link>();
    };
    let (mut room, link) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Link::default()));
    let to = room.server.spawn(Link::default());
    room.server.object(to).set_visible(room.guests[0].id, false);
    room.server[link].to = to;
    room.settle();
    let mut component = Link::default();
    let copy = |client: &mut Client, component: &mut Link| {
        while let Some(update) = client.poll_update() {
            if update.cast() == Some(link) {
                assert!(update.copy_to(client, component));
            }
        }
    };
    copy(&mut room.guests[0].client, &mut component);
    assert!(component.to.is_null());
    room.server.object(to).set_visible(room.guests[0].id, true);
    room.settle();
    copy(&mut room.guests[0].client, &mut component);
    assert_eq!(component.to, to);
}

#[test]
fn nothing_is_copied_of_a_missing_object() {
    let (mut room, door) = room();
    let updates: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_update()).collect();
    room.server.despawn(door);
    room.settle();
    let mut component = Door::default();
    assert!(!updates[0].copy_to(room.client(), &mut component));
    assert_eq!(component, Door::default());
}
