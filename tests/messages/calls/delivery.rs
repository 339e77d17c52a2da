//! Calls over bad links: reliable ones run once and in order, unreliable ones at most once (S215, S216).

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Loss, Network, PeerId};

use super::{Hero, Shot, register, room, spawn_for_first, take_jotted};
use crate::support::{Room, TICK};

fn numbers(ran: &[String], what: &str) -> Vec<u32> {
    ran.iter().filter_map(|ran| ran.strip_prefix(what)?.trim().parse().ok()).collect()
}

#[test]
fn s215_reliable_calls_run_once_and_in_order_and_unreliable_ones_at_most_once() {
    for seed in 1..12 {
        let (home, away) = (PeerId(0), PeerId(1));
        let mut network = Network::new(seed);
        let link = LinkConditions {
            latency: Duration::from_millis(40),
            jitter: Duration::from_millis(60),
            loss: Loss::Independent(0.3),
            duplicate: 0.1,
            ..LinkConditions::default()
        };
        network.connect(home, away, link);
        let mut server = Server::new(ServerConfig::default());
        server.register::<Shot>().register_calls::<Hero>();
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        register(&mut client);
        let id = server.connect(Duration::ZERO);
        let hero = server.spawn(Hero { health: 1, ..Hero::default() });
        server.object(hero).set_owner(Some(id));
        let (mut now, mut sent) = (Duration::ZERO, 0_u16);
        loop {
            while let Some(delivery) = network.deliver(now) {
                if delivery.to == home {
                    server.receive(id, now, delivery.bytes);
                } else {
                    client.receive(now, delivery.bytes).expect("a packet of the server");
                }
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, away, home, packet);
            }
            server.tick(now);
            while let Some(packet) = server.poll_transmit(id) {
                network.send(now, home, away, packet);
            }
            now += TICK;
            if sent < 300 && client.object_info(hero).is_owner() {
                sent += 1;
                client.call(hero).fire(sent).unwrap();
                client.call(hero).wave((sent % 250) as u8).unwrap();
                server.call(hero).hit(sent).unwrap();
                server.call(hero).announce(sent).unwrap();
                server.call(hero).explode(sent).unwrap();
            }
            let there = client.get(hero).map_or(&[][..], |hero| &hero.ran);
            let all = [numbers(&server[hero].ran, "fire"), numbers(there, "hit"), numbers(there, "announce")];
            if sent == 300 && all.iter().all(|numbers| numbers.len() >= 300) && now > Duration::from_secs(15)
            {
                all.iter().for_each(|numbers| assert!(numbers.iter().copied().eq(1..=300), "{numbers:?}"));
                let mut exploded = numbers(there, "explode");
                exploded.sort_unstable();
                assert!(exploded.windows(2).all(|pair| pair[0] < pair[1]), "at most once");
                assert!(exploded.len() > 100, "{}", exploded.len());
                break;
            }
            assert!(now < Duration::from_secs(60), "seed {seed}: {all:?}");
        }
    }
}

#[test]
fn s216_reliable_calls_on_different_objects_of_a_class_keep_their_order() {
    let (mut room, heroes) = room(1);
    let other = spawn_for_first(&mut room);
    room.settle();
    for number in 0..40 {
        let hero = if number % 2 == 0 { heroes[0] } else { other };
        room.server.call(hero).jot(number).unwrap();
        // The packets of every third tick are lost, so later calls arrive before the lost call is sent again.
        let packets = room.tick_one();
        if number % 3 > 0 {
            room.deliver(0, &packets);
        }
    }
    room.settle();
    let ran: Vec<_> = take_jotted();
    assert!(ran.iter().copied().eq(0..40), "{ran:?}");
}

#[test]
fn s215_a_reliable_call_runs_before_its_object_is_removed() {
    for lost in 0..3 {
        let (mut room, heroes) = room(1);
        let hero = spawn_for_first(&mut room);
        room.settle();
        // The call on the hero waits for an earlier call of the class. Each call is in a packet of its own,
        // and none, one or both of the packets are lost.
        for (at, object) in [heroes[0], hero].into_iter().enumerate() {
            room.server.call(object).jot(at as u16).unwrap();
            if lost > at {
                drop(room.tick());
            } else if at == 0 {
                room.step();
            }
        }
        room.server.despawn(hero);
        for _ in 0..100 {
            room.step();
        }
        assert_eq!(take_jotted(), [0, 1], "{lost} packets are lost");
        assert!(!room.guests[0].client.contains(hero), "{lost} packets are lost");
    }
}

#[test]
fn s215_a_call_that_waited_for_its_object_runs_before_the_object_is_removed() {
    let (mut room, _) = room(1);
    let hero = spawn_for_first(&mut room);
    room.server.call(hero).jot(7).unwrap();
    // The object arrives, and then the packet with the call is lost.
    room.step();
    room.acknowledge();
    drop(room.tick());
    room.server.despawn(hero);
    for _ in 0..100 {
        room.step();
    }
    assert_eq!(take_jotted(), [7]);
    assert!(!room.guests[0].client.contains(hero));
}

#[test]
fn s215_a_call_behind_one_that_waits_for_another_object_runs_before_its_object_is_removed() {
    let (mut room, heroes) = room(1);
    let new = spawn_for_first(&mut room);
    room.server.call(new).jot(1).unwrap();
    room.server.call(heroes[0]).jot(7).unwrap();
    room.server.despawn(heroes[0]);
    room.settle();
    assert_eq!(take_jotted(), [7, 1]);
    assert!(!room.guests[0].client.contains(heroes[0]));
}

#[test]
fn s215_calls_that_wait_for_room_in_their_channel_run_before_their_object_is_removed() {
    let (mut room, heroes) = room(1);
    let removed: [_; 2] = std::array::from_fn(|_| spawn_for_first(&mut room));
    room.settle();
    for number in 0..3_000 {
        let hero = match number {
            // The first and the last call are on this object. The client acknowledges the first call long
            // before the channel has room for the last call.
            0 | 2_999 => removed[0],
            _ if number % 2 == 0 => removed[1],
            _ => heroes[0],
        };
        room.server.call(hero).jot(number).unwrap();
    }
    removed.into_iter().for_each(|hero| room.server.despawn(hero));
    room.server.call(heroes[0]).jot(3_000).unwrap();
    room.settle();
    assert!(take_jotted().into_iter().eq(0..=3_000));
    assert!(removed.into_iter().all(|hero| !room.guests[0].client.contains(hero)));
}

#[test]
fn s215_s216_calls_on_objects_that_are_removed_one_after_another_keep_their_order() {
    let (mut room, heroes) = room(1);
    let removed: [_; 3] = std::array::from_fn(|_| spawn_for_first(&mut room));
    room.settle();
    let new = spawn_for_first(&mut room);
    room.server.call(new).jot(99).unwrap();
    for (hero, number) in removed.into_iter().zip([0, 2, 4]) {
        room.server.call(heroes[0]).jot(number).unwrap();
        room.server.call(hero).jot(number + 1).unwrap();
        room.server.despawn(hero);
    }
    room.settle();
    assert_eq!(take_jotted(), [0, 1, 2, 3, 4, 5, 99]);
}

#[test]
fn s215_no_call_overtakes_one_that_waited_until_a_packet_came_after_a_removal() {
    let (mut room, _) = room(1);
    let other = spawn_for_first(&mut room);
    room.settle();
    let new = spawn_for_first(&mut room);
    room.server.call(new).jot(1).unwrap();
    room.step();
    // The despawn searches the waiting calls while the client has not acknowledged the new object yet.
    room.server.despawn(other);
    room.acknowledge();
    room.server.call(new).jot(2).unwrap();
    room.server.despawn(new);
    room.settle();
    assert_eq!(take_jotted(), [1, 2]);
}

#[test]
fn s215_calls_that_wait_for_objects_that_are_removed_leave_room_for_others() {
    let (mut room, heroes) = room(1);
    for _ in 0..10_000 {
        let new = spawn_for_first(&mut room);
        room.server.call(new).jot(1).unwrap();
        room.server.despawn(new);
    }
    room.server.call(heroes[0]).jot(2).unwrap();
    room.settle();
    assert_eq!((take_jotted(), room.closed(0)), (vec![2], None));
}

#[derive(Replicated, Default)]
struct Bomb {
    #[replicated]
    fuse: u8,
}

#[rpcs]
impl Bomb {
    #[rpc(multicast, reliable)]
    fn burst(&mut self, splinters: Vec<u8>) {
        self.fuse = splinters.len() as u8;
    }
}

#[test]
fn r17_s215_a_client_that_never_acks_a_call_does_not_keep_the_slot_of_a_removed_object() {
    let config = ServerConfig { timeout: Duration::from_secs(1), max_objects: 2, ..ServerConfig::default() };
    let register = |client: &mut Client| _ = client.register_calls::<Bomb>();
    let furnish = |server: &mut Server| {
        server.register_calls::<Bomb>();
        [server.spawn(Bomb::default()), server.spawn(Bomb::default())]
    };
    let (mut room, [kept, gone]) = Room::furnished(config, register, 1, furnish);
    room.server.call(gone).burst(vec![1; 80]).unwrap();
    room.server.despawn(gone);
    for tick in 0..600 {
        room.server[kept].fuse = tick as u8;
        // Packets with the call are lost: they have at least 80 bytes. But they are so short that the server
        // does not conclude that the path is too narrow for them.
        let packets: Vec<_> = room.tick_one().into_iter().filter(|packet| packet.len() < 80).collect();
        room.deliver(0, &packets);
        room.acknowledge();
        if let Some(reason) = room.closed(0) {
            assert_eq!(reason, DisconnectReason::Unacknowledged);
            assert!(tick > 200, "it has four timeouts");
            assert!(room.server.try_spawn(Bomb::default()).is_ok(), "the slot is free");
            return;
        }
    }
    panic!("the client keeps the slot");
}

#[test]
fn a_removal_waits_only_for_calls_on_its_own_object() {
    let (mut room, heroes) = room(1);
    let hero = room.server.spawn(Hero::default());
    room.settle();
    room.server.call(heroes[0]).hit(1).unwrap();
    room.server.despawn(hero);
    room.step();
    assert!(!room.guests[0].client.contains(hero), "removed in the tick of the call on another object");
}
