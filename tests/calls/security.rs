//! Calls of clients that do not keep the rules.

use repl::prelude::*;
use repl::{CallError, DisconnectReason};

use super::{Hero, ran_on_server, room};

#[test]
fn all_pairs_of_objects_and_calls_that_a_client_may_not_use_have_no_effect() {
    let (mut room, heroes) = room(2);
    let id = room.guests[0].id;
    let world: Vec<_> = (0..200)
        .map(|at| {
            let hero = room.server.spawn(Hero { health: 1, ..Hero::default() });
            room.server.set_owner(hero, if at % 2 == 0 { Some(room.guests[1].id) } else { None });
            hero
        })
        .collect();
    // The client believes that it owns everything, as a modified client would.
    room.guests.iter().for_each(|_| {});
    for &hero in &world {
        room.server.set_owner(hero, Some(id));
    }
    room.settle();
    let mut made = 0;
    for &hero in &world {
        let client = &mut room.guests[0].client;
        client.call(hero).fire(1).unwrap();
        client.call(hero).wave(1).unwrap();
        client.call(hero).jump(1).unwrap();
        made += 3;
    }
    for (at, &hero) in world.iter().enumerate() {
        match at % 3 {
            0 => room.server.set_owner(hero, None),
            1 => room.server.set_owner(hero, Some(room.guests[1].id)),
            _ => room.server.despawn(hero),
        }
    }
    room.settle();
    assert!(room.server.poll_call::<Hero>().is_none());
    assert_eq!(room.server.stats(id).map(|stats| stats.ignored_calls), Some(made));
    assert!(
        world
            .iter()
            .filter(|&&hero| room.server.contains(hero))
            .all(|&hero| ran_on_server(&room, hero).is_empty())
    );
    assert_eq!(room.closed(0), None);
    assert_eq!(room.guests[0].client.call(heroes[1]).fire(1), Err(CallError::NotOwner));
    assert!(!matches!(room.closed(1), Some(DisconnectReason::Protocol(_))));
}
