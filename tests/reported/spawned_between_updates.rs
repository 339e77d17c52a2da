//! Reported: <https://github.com/cBournhonesque/lightyear/issues/1000>, and
//! <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/issues/2814>.
//!
//! With an interval between two sends, objects that are spawned between them are never replicated. Clients
//! that load for a long time lose values. Users expect that each object arrives, with its newest values.

use std::time::Duration;

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Npc {
    #[replicated]
    number: u32,
    #[replicated(push)]
    pushed: u32,
    #[replicated]
    list: FastArray<u32>,
}

const PUSHED: PropertyIndex<Npc> = Npc::LAYOUT.property("pushed");

/// The settings that delay updates. `budget` and `is_paused` are for the first of three clients.
#[derive(Clone, Copy, Debug)]
struct Case {
    rate: Option<UpdateRate>,
    connections_per_tick: usize,
    budget: Option<usize>,
    is_paused: bool,
    is_dormant: bool,
}

/// Spawns an object in each tick, and changes and despawns some. Asserts that all clients have the objects of
/// the server.
fn run(case: Case) {
    let config = ServerConfig { connections_per_tick: case.connections_per_tick, ..ServerConfig::default() };
    let mut room = Room::paced(config, |client| _ = client.register::<Npc>());
    room.server.register::<Npc>();
    if let Some(rate) = case.rate {
        room.server.class::<Npc>().set_update_rate(rate);
    }
    let [id, ..] = [(); 3].map(|()| room.enter());
    room.settle();
    if let Some(budget) = case.budget {
        room.server.connection(id).set_budget(budget);
    }
    if case.is_paused {
        room.server.connection(id).pause();
    }
    let mut npcs: Vec<ObjectRef<Npc>> = Vec::new();
    for tick in 0..150 {
        let npc = room.server.spawn(Npc { number: tick, ..Npc::default() });
        room.server[npc].pushed = tick + 1; // not marked, but before the first comparison
        if case.is_dormant {
            room.server.object(npc).set_dormancy(Dormancy::All);
        }
        npcs.push(npc);
        if tick % 3 == 0 && npcs.len() > 4 {
            room.server.despawn(npcs.remove(1));
        }
        room.server[npcs[0]].list.push(tick);
        room.server[npcs[0]].pushed += 1;
        room.server.object(npcs[0]).mark_dirty(PUSHED);
        room.step();
        if tick == 100 {
            room.server.connection(id).resume();
        }
    }
    (0..600).for_each(|_| _ = room.step());
    for (guest, client) in room.guests.iter().map(|guest| &guest.client).enumerate() {
        assert_eq!(client.objects::<Npc>().count(), npcs.len(), "{case:?}, client {guest}");
        for &npc in &npcs {
            assert_eq!(client.get(npc), room.server.get(npc), "{case:?}, client {guest}");
        }
    }
}

#[test]
fn each_object_arrives_with_its_newest_values_whatever_holds_updates_back() {
    let slows_down = UpdateRate::every(Duration::from_millis(700)).slowing_to(Duration::from_secs(2));
    for rate in [None, Some(UpdateRate::per_second(3.0)), Some(slows_down)] {
        for connections_per_tick in [usize::MAX, 1] {
            for budget in [None, Some(6_000)] {
                for is_paused in [false, true] {
                    for is_dormant in [false, true] {
                        run(Case { rate, connections_per_tick, budget, is_paused, is_dormant });
                    }
                }
            }
        }
    }
}
