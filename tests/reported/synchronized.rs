//! Reported: <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/issues/275>, and
//! <https://github.com/GameNetworking/NetworkSynchronizer/pull/148>.
//!
//! A client that joins is never told that it has everything, or it lacks objects that were spawned while it
//! joined. Users expect one event, soon, whatever happens in the world.

use repl::prelude::*;
use repl::sim::Rng;

use crate::support::Room;
use crate::{events, step_losing};

#[derive(Replicated, Default)]
struct Thing {
    #[replicated]
    text: String,
}

fn thing() -> Thing {
    Thing { text: "x".repeat(300) }
}

/// A client that joins a world with changes in each tick.
struct Joining {
    name: &'static str,
    /// How many objects exist before the client joins.
    things: usize,
    each_tick: fn(&mut Room, &mut Vec<ObjectRef<Thing>>, usize),
    /// The most ticks until the client gets the event.
    most_ticks: usize,
    /// Whether objects that existed before are hidden and shown again. For the client these are new objects,
    /// so the event may come before them.
    flickers: bool,
}

impl Joining {
    fn run(&self, loses: bool) {
        let name = self.name;
        let mut room = Room::paced(ServerConfig::default(), |client| _ = client.register::<Thing>());
        room.server.register::<Thing>();
        let mut things: Vec<_> = (0..self.things).map(|_| room.server.spawn(thing())).collect();
        (0..3).for_each(|_| _ = room.step());
        let first = things.clone();
        let id = room.enter();
        let (mut told, mut rng) = (None, Rng::new(7));
        for tick in 0..900 {
            (self.each_tick)(&mut room, &mut things, tick);
            step_losing(&mut room, loses && rng.chance(0.25), false);
            if !events(&mut room, 0).contains(&ClientEvent::Synchronized) {
                continue;
            }
            assert_eq!(told.replace(tick), None, "{name}: the client is told twice");
            let lacks = |thing: &ObjectRef<Thing>| {
                room.server.contains(*thing)
                    && room.server.object_info(*thing).is_relevant_to(id)
                    && !room.client().contains(*thing)
            };
            assert!(self.flickers || !first.iter().any(lacks), "{name}: the client is told too early");
        }
        assert!(told.is_some_and(|tick| tick <= self.most_ticks), "{name}: told after {told:?} ticks");
        assert!(room.client().is_synchronized());
    }
}

/// Runs a case without losses, and one in which a quarter of the packets is lost.
fn join(
    name: &'static str,
    things: usize,
    most_ticks: usize,
    each_tick: fn(&mut Room, &mut Vec<ObjectRef<Thing>>, usize),
) {
    for loses in [false, true] {
        Joining { name, things, each_tick, most_ticks, flickers: name == "flicker" }.run(loses);
    }
}

#[test]
fn a_client_is_told_once_and_soon_in_a_quiet_world() {
    join("empty", 0, 60, |_, _, _| {});
    join("many", 300, 300, |_, _, _| {});
}

#[test]
fn a_client_is_told_although_it_may_see_nothing() {
    join("hidden", 50, 60, |room, things, tick| {
        let id = room.guests[0].id;
        if tick == 0 {
            things.iter().for_each(|thing| _ = room.server.object(*thing).set_visible(id, false));
        }
    });
    join("nobody", 50, 60, |room, things, tick| {
        if tick == 0 {
            things.iter().for_each(|thing| _ = room.server.object(*thing).set_relevancy(Relevancy::Nobody));
        }
    });
}

#[test]
fn a_client_is_told_although_objects_come_and_go_in_each_tick() {
    join("churn", 100, 300, |room, things, _| {
        things.push(room.server.spawn(thing()));
        room.server.despawn(things.remove(0));
    });
    join("all replaced", 20, 300, |room, things, _| {
        things.drain(..).for_each(|thing| room.server.despawn(thing));
        things.extend((0..20).map(|_| room.server.spawn(thing())));
    });
}

#[test]
fn a_client_is_told_although_objects_are_hidden_on_the_way() {
    join("hidden on the way", 300, 300, |room, things, tick| {
        let id = room.guests[0].id;
        things
            .iter()
            .skip(tick % 3)
            .step_by(3)
            .for_each(|thing| _ = room.server.object(*thing).set_visible(id, false));
    });
    join("flicker", 40, 300, |room, things, tick| {
        let id = room.guests[0].id;
        things.iter().for_each(|thing| _ = room.server.object(*thing).set_visible(id, tick % 2 == 0));
    });
}

#[test]
fn a_client_is_told_although_it_has_a_small_budget_or_was_paused() {
    join("budget", 60, 500, |room, _, tick| {
        if tick == 0 {
            let id = room.guests[0].id;
            room.server.connection(id).set_budget(8_000);
        }
    });
    join("paused for two seconds", 30, 300, |room, _, tick| {
        let id = room.guests[0].id;
        match tick {
            0 => _ = room.server.connection(id).pause(),
            120 => _ = room.server.connection(id).resume(),
            _ => {}
        }
    });
}
