//! The packets to clients are the same whether another player is the host or a client.

use repl::HostOptions;
use repl::prelude::*;

use super::{Hero, register};
use crate::support::{Packets, Room, collect};

/// Plays with one guest and a second player. The second player is the host, or a connection whose client
/// never appears. Returns all packets to the guest.
fn packets(is_host: bool) -> Packets {
    let mut room = Room::new(ServerConfig::default(), register);
    register(&mut room.server);
    let options = HostOptions { events: true, notifies: false };
    let other = if is_host { room.server.connect_host(options) } else { room.server.connect(room.now) };
    let guest = room.enter();
    let heroes = [other, guest].map(|owner| super::spawn(&mut room.server, owner));
    let mut all = Packets::new();
    for tick in 0..200_u16 {
        for (hero, at) in heroes.into_iter().zip(0..) {
            if (tick + at) % 7 == 0
                && let Some(object) = room.server.get_mut(hero)
            {
                (object.health, object.ammo, object.aim, object.pose) = (tick, tick + 1, tick + 2, tick + 3);
            }
        }
        match tick {
            50 => _ = room.server.object(heroes[0]).set_owner(Some(guest)),
            100 => _ = room.server.object(heroes[0]).set_owner(Some(other)),
            150 => room.server.despawn(heroes[0]),
            _ => {}
        }
        let replies = room.replies(0);
        room.hear(0, &replies);
        room.server.tick(room.now);
        let new = collect(&mut room.server, guest);
        room.wait(crate::support::TICK);
        room.deliver(0, &new);
        all.extend(new);
    }
    assert_eq!(room.client().objects::<Hero>().count(), 1);
    all
}

#[test]
fn packets_to_a_guest_are_the_same_whether_the_other_player_is_the_host() {
    let (host, client) = (packets(true), packets(false));
    assert!(host == client && host.len() > 60, "{} packets", host.len());
}
