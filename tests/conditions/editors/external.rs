//! Setters of objects that live outside the server, in a store of the user.
//!
//! *Invariant:* only calls of `edit` pass an object to the server, except where a test says otherwise.

use repl::CompareError;
use repl::prelude::*;

use crate::support::Room;

#[derive(FastArrayItem, Clone, Default)]
struct Coin {
    worth: u16,
}

#[derive(Replicated, Default)]
struct Purse {
    #[replicated(push)]
    owner: u16,
    #[replicated]
    weight: u16,
    #[replicated(max_len = 4)]
    label: String,
    #[replicated(push, max_len = 4)]
    motto: String,
    #[replicated(push)]
    slots: [u8; 3],
    #[replicated]
    coins: FastArray<Coin>,
}

#[derive(Replicated, Default)]
struct Other;

fn room() -> (Room, ObjectRef<Purse>, Purse) {
    let register = |client: &mut Client| {
        client.register::<Purse>().register::<Other>();
    };
    let purse = Purse::default();
    let (room, object) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register_external::<Purse>().register::<Other>();
        server.external().spawn(&purse)
    });
    (room, object, purse)
}

fn shown(room: &Room, object: ObjectRef<Purse>) -> (u16, u16, &str, [u8; 3], usize) {
    let purse = room.client().get(object).expect("the client has it");
    (purse.owner, purse.weight, &purse.label, purse.slots, purse.coins.len())
}

#[test]
fn only_what_is_set_is_compared_and_sent() {
    let (mut room, object, mut purse) = room();
    (purse.weight, purse.slots) = (9, [5; 3]);
    let result = room.server.external().edit(object, &mut purse, |purse| {
        purse.owner(4).slots_at(1, 6);
        purse.coins_mut().push(Coin { worth: 1 });
        purse.owner
    });
    assert_eq!(result, Ok(4));
    room.settle();
    assert_eq!(shown(&room, object), (4, 0, "", [5, 6, 5], 1), "an array is compared as a whole");
    room.server.external().compare_mut(object, &mut purse).expect("it is there");
    room.settle();
    assert_eq!(shown(&room, object), (4, 9, "", [5, 6, 5], 1));
}

#[test]
fn properties_without_push_are_sent_as_well() {
    let (mut room, object, mut purse) = Room::measuring(room);
    let set = |purse: &mut repl::Edit<'_, Purse>| _ = purse.weight(7).label("old".to_owned());
    room.server.external().edit(object, &mut purse, set).expect("it is there");
    room.settle();
    assert_eq!(shown(&room, object), (0, 7, "old", [0; 3], 0));
    let before = room.updates::<Purse>(0, "weight");
    room.server.external().edit(object, &mut purse, set).expect("it is there");
    room.settle();
    assert_eq!(room.updates::<Purse>(0, "weight"), before);
}

#[test]
fn an_array_that_replaces_another_gets_the_ids_of_its_shadow() {
    let (mut room, object, mut purse) = room();
    let coins = || FastArray::from([Coin { worth: 1 }, Coin { worth: 2 }]);
    for _ in 0..2 {
        room.server.external().edit(object, &mut purse, |purse| _ = purse.coins(coins())).expect("there");
        room.settle();
        let seen = &room.client().get(object).expect("the client has it").coins;
        assert_eq!(seen.len(), 2);
        let ids = |coins: &FastArray<Coin>| [0, 1].map(|at| coins.id(at));
        let worth = |at| seen.by_id(purse.coins.id(at).expect("there")).map(|coin| coin.worth);
        assert_eq!([0, 1].map(worth), [Some(1), Some(2)], "{:?} {:?}", ids(seen), ids(&purse.coins));
    }
}

#[test]
fn a_refused_value_stays_refused_while_others_are_set() {
    let (mut room, object, mut purse) = room();
    let set = |room: &mut Room, purse: &mut Purse, change: fn(&mut repl::Edit<'_, Purse>)| {
        room.server.external().edit(object, purse, change).expect("it is there");
        room.settle();
    };
    set(&mut room, &mut purse, |purse| _ = purse.label("too long".to_owned()).motto("too long".to_owned()));
    assert_eq!(room.refused().len(), 2);
    set(&mut room, &mut purse, |purse| _ = purse.owner(3));
    assert_eq!(room.refused().len(), 0, "not reported again");
    assert_eq!(shown(&room, object).0, 3);
    set(&mut room, &mut purse, |purse| _ = purse.label("tiny".to_owned()));
    set(&mut room, &mut purse, |purse| _ = purse.motto("tiny".to_owned()));
    assert_eq!(shown(&room, object).2, "tiny");
    assert_eq!(room.client().get(object).map(|purse| purse.motto.as_str()), Some("tiny"));
}

#[test]
fn s45_a_mark_of_an_external_object_waits_for_its_switch() {
    #[derive(Replicated, Default)]
    struct Lamp {
        #[replicated(push, condition = Custom)]
        light: u8,
    }
    let (mut room, lamp) = Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Lamp>(),
        1,
        |server| server.external().spawn(&Lamp::default()),
    );
    let light = crate::support::property::<Lamp>("light");
    let mut live = Lamp::default();
    room.server.object(lamp).set_custom_active(light, false);
    room.server.external().edit(lamp, &mut live, |lamp| _ = lamp.light(3)).expect("it is there");
    room.settle();
    assert_eq!(room.client().get(lamp).map(|lamp| lamp.light), Some(0));
    room.server.object(lamp).set_custom_active(light, true);
    room.settle();
    assert_eq!(room.client().get(lamp).map(|lamp| lamp.light), Some(3));
}

#[test]
fn an_object_that_is_gone_is_not_written_to() {
    let (mut room, object, mut purse) = room();
    let other = room.server.spawn(Other);
    room.server.despawn(object);
    let result = room.server.external().edit(object, &mut purse, |purse| _ = purse.owner(4));
    assert_eq!((result, purse.owner), (Err(CompareError::Gone), 0));
    let other = ObjectRef::<Purse>::new(other.guid().expect("it was spawned"));
    let result = room.server.external().edit(other, &mut purse, |purse| _ = purse.owner(4));
    assert_eq!((result, purse.owner), (Err(CompareError::OtherClass), 0));
    assert!(room.server.try_edit(object).is_none(), "the server has no external object");
}
