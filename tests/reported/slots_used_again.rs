//! Reported: <https://github.com/FirstGearGames/FishNet/issues/961> (and issue 439 there), and
//! <https://github.com/simgine/bevy_replicon/issues/757>.
//!
//! An object is despawned, and another one takes its place: its pooled object, its id or its slot. The client
//! shows values of the old object, because default values of the new object are not sent. Or the end of the
//! old object removes the new one. Users expect the values of the new object, one end and one beginning.

use repl::Placed;
use repl::prelude::*;

use crate::step_losing;
use crate::support::Room;

#[derive(Replicated, Default, Debug, PartialEq)]
struct Weapon {
    #[replicated]
    damage: u32,
    #[replicated]
    name: String,
    #[replicated]
    parts: FastArray<u8>,
    local: u32,
}

#[derive(Replicated, Default)]
struct Other {
    #[replicated]
    damage: u32,
}

fn axe() -> Weapon {
    Weapon { damage: 40, name: "axe".into(), parts: [3].into(), local: 0 }
}

/// Returns a room with one client.
fn room() -> Room {
    let register = |client: &mut Client| _ = client.register::<Weapon>().register::<Other>();
    let (room, ()) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Weapon>().register::<Other>();
    });
    room
}

/// Replaces an object by one with default values. If `loses` is true, all packets of five ticks are lost. If
/// `is_twice` is true, an object that lives for one tick is between the two.
fn replace(loses: bool, is_twice: bool) {
    let mut room = room();
    let old = room.server.spawn(axe());
    room.settle();
    room.polled(0);
    room.server.despawn(old);
    let mut new = room.server.spawn(Weapon::default());
    if is_twice {
        step_losing(&mut room, loses, false);
        room.server.despawn(new);
        new = room.server.spawn(Weapon::default());
    }
    (0..5).for_each(|_| step_losing(&mut room, loses, false));
    room.settle();
    assert!(!room.client().contains(old));
    assert_eq!(room.client().get(new), Some(&Weapon::default()));
    let updates = room.polled(0);
    let count = |object: ObjectRef<Weapon>, is_it: fn(&UpdateKind) -> bool| {
        updates.iter().filter(|(told, what)| *told == object.erase() && is_it(what)).count()
    };
    let ends = count(old, |what| matches!(what, UpdateKind::Despawned(_)));
    let begins = count(new, |what| *what == UpdateKind::Spawned);
    assert_eq!((ends, begins), (1, 1), "{updates:?}");
}

#[test]
fn a_new_object_has_nothing_of_the_old_one_and_the_old_one_ends_once() {
    for loses in [false, true] {
        for is_twice in [false, true] {
            replace(loses, is_twice);
        }
    }
}

#[test]
fn objects_of_two_classes_follow_each_other_and_the_last_one_stays() {
    let mut room = room();
    let mut object = room.server.spawn(axe()).erase();
    for round in 0..40 {
        room.server.despawn(object);
        object = if round % 2 == 0 {
            room.server.spawn(Other { damage: round }).erase()
        } else {
            room.server.spawn(axe()).erase()
        };
        step_losing(&mut room, round % 3 == 1, false);
    }
    room.settle();
    let client = room.client();
    assert_eq!(client.objects::<Weapon>().count() + client.objects::<Other>().count(), 1);
    assert!(client.contains(object));
}

/// The client's object of a level keeps its last values while it is not bound. So when it is bound again,
/// values of the server that are default values must be sent too.
#[test]
fn a_placed_object_gets_the_default_values_of_the_server_each_time_it_is_bound() {
    let mut room = room();
    let dirty = Weapon { damage: 77, name: "rust".into(), local: 5, ..Weapon::default() };
    assert_eq!(room.guests[0].client.statics().place("rack", dirty), Placed::Waiting);
    let rack = room.server.statics().spawn("rack", Weapon::default());
    room.settle();
    let clean = Weapon { local: 5, ..Weapon::default() };
    assert_eq!(room.client().get(rack), Some(&clean), "only the client's own field stays");

    let id = room.guests[0].id;
    room.server[rack] = axe();
    room.settle();
    room.server.object(rack).set_visible(id, false);
    room.settle();
    let Weapon { damage, name, parts, .. } = &mut room.server[rack];
    *damage = 0;
    name.clear();
    parts.clear();
    room.settle();
    room.server.object(rack).set_visible(id, true);
    room.settle();
    assert_eq!(room.client().get(rack), Some(&clean));
}
