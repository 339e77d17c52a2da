//! Connections that are not served in each tick: pauses, and connections that take turns.

use std::time::Duration;

use repl::NotSent;
use repl::prelude::*;
use repl::sim::Rng;

use crate::support::Room;

use super::budget::{Chat, Creature, room, shown, step};

#[test]
fn r10_a_paused_connection_receives_messages_and_after_the_pause_what_it_lacks() {
    let (mut room, creatures) = room(ServerConfig::default(), 2, 100);
    let (id, mut rng) = (room.guests[0].id, Rng::new(4));
    room.server.connection(id).pause();
    assert!(room.server.connection_info(id).is_paused());
    let born = room.server.spawn(Creature { health: 7, ..Creature::default() });
    let (gone, kept) = (creatures[0], &creatures[1..]);
    room.server.despawn(gone);
    let mut memory = Vec::new();
    for value in 1..=1_000 {
        room.server.connection(id).send(&Chat { line: value }).expect("there is room");
        step(&mut room, kept, value, 0.0, &mut rng);
        assert_eq!(room.guests[0].client.poll_message::<Chat>(), Some(Chat { line: value }));
        memory.push(room.server.connection_info(id).stats().expect("it is connected").memory_bytes);
    }
    assert!(
        kept.iter().all(|&creature| shown(&room, 0, creature) == 0 && shown(&room, 1, creature) == 1_000)
    );
    assert!(room.guests[0].client.contains(gone) && !room.guests[0].client.contains(born));
    assert!(memory[999] <= memory[100] * 2, "{} bytes, then {}", memory[100], memory[999]);
    assert_eq!(room.server.object_info(kept[0]).why_not_sent_to(id), Some(NotSent::Paused));
    let waiting = |room: &Room| room.server.connection_info(id).stats().map(|stats| stats.waiting_objects);
    assert_eq!(waiting(&room), Some(101), "those that changed, the new one, and the removed one");
    room.server.connection(id).resume();
    let bytes: usize = (0..8).map(|_| step(&mut room, &[], 0, 0.0, &mut rng)[0]).sum();
    assert!(bytes < 99 * 16 + 400, "each creature is sent once, not {bytes} bytes");
    room.settle();
    assert!(kept.iter().all(|&creature| shown(&room, 0, creature) == 1_000));
    assert!(!room.guests[0].client.contains(gone) && shown(&room, 0, born) == 7);
    assert_eq!(waiting(&room), Some(0));
}

#[test]
fn r10_a_client_may_be_paused_from_the_start_and_for_longer_than_closings_may_take() {
    let config = ServerConfig { timeout: Duration::from_secs(1), ..ServerConfig::default() };
    let (mut room, creatures) = room(config, 1, 100);
    let id = room.guests[0].id;
    room.server.despawn(creatures[0]);
    room.tick();
    room.server.connection(id).pause();
    let late = room.enter();
    room.server.connection(late).pause();
    let mut rng = Rng::new(6);
    for value in 1..1_000 {
        step(&mut room, &creatures[1..], value, 0.0, &mut rng);
    }
    assert_eq!(room.guests[1].client.objects::<Creature>().count(), 0);
    room.server.connection(id).resume();
    room.server.connection(late).resume();
    room.settle();
    for guest in 0..2 {
        assert_eq!(room.closed(guest), None);
        assert_eq!(room.guests[guest].client.objects::<Creature>().count(), 99);
        assert!(creatures[1..].iter().all(|&creature| shown(&room, guest, creature) == 999));
    }
}

#[test]
fn s193_connections_take_turns_and_each_receives_what_it_missed() {
    let config = ServerConfig { connections_per_tick: 2, ..ServerConfig::default() };
    let (mut room, creatures) = room(config, 7, 50);
    let mut rng = Rng::new(7);
    let mut last = [0_u32; 7];
    for value in 1..=100 {
        let touched: Vec<_> = creatures.iter().copied().filter(|_| rng.chance(0.2)).collect();
        let bytes = step(&mut room, &touched, value, 0.0, &mut rng);
        // Keep-alive packets are shorter, and do not wait for a turn.
        let served: Vec<usize> = (0..7).filter(|&guest| bytes[guest] > 20).collect();
        assert!(served.len() <= 2, "{served:?}");
        for guest in served {
            last[guest] = value;
            assert!(
                creatures
                    .iter()
                    .all(|&creature| shown(&room, guest, creature) == room.server[creature].health)
            );
        }
        // A round of seven connections takes three and a half ticks, so two rounds take 7 ticks.
        assert!(value < 10 || last.iter().all(|last| value - last <= 7), "{last:?}");
    }
    room.server.connection(room.guests[3].id).disconnect();
    room.guests.remove(3);
    room.settle();
    for (guest, creature) in (0..6).flat_map(|guest| creatures.iter().map(move |&creature| (guest, creature)))
    {
        assert_eq!(shown(&room, guest, creature), room.server[creature].health);
    }
}

#[test]
fn s193_connections_that_take_turns_receive_new_objects_while_changes_fill_their_packets() {
    for (guests, connections_per_tick) in [(1, usize::MAX), (2, 1), (4, 1), (4, 2)] {
        let config =
            ServerConfig { connections_per_tick, max_bytes_per_tick: 300, ..ServerConfig::default() };
        let (mut room, creatures) = room(config, guests, 300);
        let mut rng = Rng::new(8);
        let mut play = |room: &mut Room, values: std::ops::Range<u32>| {
            values.for_each(|value| _ = step(room, &creatures, value, 0.0, &mut rng));
        };
        play(&mut room, 0..50);
        let new = room.server.spawn(Creature::default());
        play(&mut room, 50..70);
        let have: Vec<_> = room.guests.iter().map(|guest| guest.client.contains(new)).collect();
        assert!(have.iter().all(|&has| has), "{have:?}, {connections_per_tick} turns in a tick");
    }
}
