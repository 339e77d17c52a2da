//! The event `Synchronized` says that a client has joined: it has everything that existed when the server
//! accepted it, with all elements of its collections.
//!
//! *Invariant:* a client gets this event once, and not before it has everything.

use std::time::Duration;

use repl::prelude::*;

use crate::support::{Guest, Room, TICK};

#[derive(Replicated, Clone, Debug, Default)]
struct Player {
    #[replicated]
    health: u16,
    #[replicated]
    score: u16,
}

#[derive(Replicated, Clone, Debug, Default)]
struct Chest {
    #[replicated]
    gold: u32,
    #[replicated]
    items: FastArray<u32>,
}

fn register(client: &mut Client) {
    client.register::<Player>().register::<Chest>();
}

/// Returns the events of the client that have not been polled yet.
fn events(room: &mut Room) -> Vec<ClientEvent> {
    std::iter::from_fn(|| room.guests[0].client.poll_event()).collect()
}

#[test]
fn a_client_is_synchronized_when_it_has_everything_that_existed_and_not_before() {
    let mut room = Room::new(ServerConfig { max_bytes_per_tick: 3_000, ..ServerConfig::default() }, register);
    let players: Vec<_> =
        (0..400).map(|health| room.server.spawn(Player { health, ..Player::default() })).collect();
    let chest = room.server.spawn(Chest { gold: 1, items: (0..5_000).collect::<Vec<u32>>().into() });
    room.enter();
    let mut times = 0;
    for round in 0..2_000_u32 {
        room.server[players[0]].score = round as u16;
        // New items are not part of the opening.
        room.server[chest].items.push(round);
        if round < 500 {
            // An item that changes before it has arrived is sent whole again.
            room.server[chest].items[(round as usize * 37) % 5_000] = round;
        }
        let packets = room.tick_one();
        for (at, packet) in packets.into_iter().enumerate() {
            if !(round as usize + at).is_multiple_of(4) {
                room.deliver(0, &[packet]);
            }
        }
        let has_all = players.iter().all(|&player| room.client().contains(player));
        let items = room
            .client()
            .get(chest)
            .map_or(0, |chest| chest.items.iter().filter(|item| **item < 5_000).count());
        times += events(&mut room).iter().filter(|event| **event == ClientEvent::Synchronized).count();
        assert_eq!(room.client().is_synchronized(), times > 0);
        assert!(times == 0 || has_all && items >= 5_000, "round {round}: {items} items");
        room.acknowledge();
    }
    assert_eq!(times, 1);
}

#[test]
fn the_join_is_reported_until_the_client_has_acked_it() {
    for (objects, lost_ticks) in [(0, 1), (0, 100), (1, 1), (1, 3), (1, 100), (3, 400)] {
        // Keep-alive packets would report the join too. With a long timeout they are too rare to matter.
        let config = ServerConfig { timeout: Duration::from_secs(1 << 20), ..ServerConfig::default() };
        let mut room = Room::new(config.clone(), register);
        room.server.register::<Player>().register::<Chest>();
        let id = room.server.connect(room.now);
        let mut client = Client::new(
            ClientConfig { timeout: config.timeout, ..ClientConfig::default() },
            Session::for_tests(5),
        );
        register(&mut client);
        room.guests.push(Guest { client, id });
        (0..objects).for_each(|gold| _ = room.server.spawn(Chest { gold, ..Chest::default() }));
        while !room.client().is_connected() || room.client().objects::<Chest>().count() < objects as usize {
            room.acknowledge();
            let packets = room.tick_one();
            room.deliver(0, &packets);
        }
        // For a while after the ack of the last object, all packets are lost.
        for _ in 0..lost_ticks {
            room.acknowledge();
            room.tick_one();
        }
        room.wait(TICK);
        let asked = (0..100).find(|_| {
            room.step();
            room.client().is_synchronized()
        });
        assert!(asked.is_some(), "{objects} objects, after {lost_ticks} ticks");
        room.settle();
        let quiet = room.server.connection_info(id).stats().map(|stats| stats.bytes_sent);
        (0..500).for_each(|_| _ = room.step());
        assert_eq!(
            room.server.connection_info(id).stats().map(|stats| stats.bytes_sent),
            quiet,
            "it is told no more"
        );
    }
}

#[test]
fn a_client_is_not_synchronized_while_items_that_were_lost_are_sent_again() {
    // `lost` is how many packets with the items are lost. `changes` says whether the items change after that.
    for (lost, changes) in (0..4).flat_map(|lost| [(lost, false), (lost, true)]) {
        let mut room = Room::new(ServerConfig::default(), register);
        room.server.register::<Player>();
        let chest = room.server.spawn(Chest { gold: 1, items: (0..1_500).collect::<Vec<u32>>().into() });
        room.enter();
        let (mut long, mut lost_in) = (0, None);
        for tick in 0..200 {
            room.acknowledge();
            if changes && lost_in == Some(tick - 1) {
                room.server[chest].items.mark_all();
                room.server[chest].items.iter_mut().for_each(|mut item| *item += 1);
            }
            for packet in room.tick_one() {
                let is_long = packet.len() > 200;
                if is_long && lost_in.is_none() && long == lost {
                    lost_in = Some(tick);
                }
                long += u32::from(is_long);
                // After the loss, no long packet arrives.
                if !is_long || lost_in.is_none() {
                    room.deliver(0, &[packet]);
                }
            }
        }
        assert!(lost_in.is_some() && room.client()[chest].items.len() < 1_500);
        assert!(!events(&mut room).contains(&ClientEvent::Synchronized), "packet {lost}, {changes}");
        room.settle();
        assert_eq!(events(&mut room), [ClientEvent::Synchronized]);
        assert_eq!(room.client()[chest].items.len(), 1_500);
    }
}

#[test]
fn a_client_of_an_empty_world_is_synchronized_at_once() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Player>().register::<Chest>();
    room.enter();
    (0..4).for_each(|_| _ = room.step());
    assert!(room.client().is_synchronized());
}
