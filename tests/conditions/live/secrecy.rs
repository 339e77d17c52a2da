//! R16: a client receives no bit of a value that it may not see, even if data is shared or sent again.
//!
//! *Invariant:* secrets are texts that occur nowhere else. The tests search packets for these secrets at
//! every bit offset.

use repl::prelude::*;

use crate::support::{Room, leaks, property};

#[derive(Replicated, Default)]
struct Spy {
    #[replicated(condition = OwnerOnly)]
    orders: String,
    #[replicated(condition = SkipOwner)]
    rumours: String,
    #[replicated(condition = InitialOnly)]
    cover: String,
    #[replicated]
    place: [f32; 3],
}

#[test]
fn r16_no_packet_contains_hidden_values() {
    let register = |client: &mut Client| {
        client.register::<Spy>();
    };
    let (mut room, spies) = Room::furnished(ServerConfig::default(), register, 3, |server| {
        (0..4).map(|_| server.spawn(Spy::default())).collect::<Vec<_>>()
    });
    for tick in 0..240_usize {
        let spy = spies[tick % 4];
        let on_server = &mut room.server[spy];
        on_server.orders = format!("orders-canary-{tick:04}");
        on_server.rumours = format!("rumour-canary-{tick:04}");
        on_server.cover = format!("cover--canary-{tick:04}");
        on_server.place[tick % 3] += 0.5;
        if tick % 7 == 0 {
            let owner = [None, Some(0), Some(1), Some(2)][tick / 7 % 4];
            let owner = owner.map(|guest: usize| room.guests[guest].id);
            room.server.object(spies[tick / 7 % 3]).set_owner(owner);
        }
        room.acknowledge();
        let owners = spies.iter().map(|&spy| room.server.object_info(spy).owner()).collect::<Vec<_>>();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            let bytes: Vec<u8> = packets.concat();
            let owns = |owner: &Option<ConnectionId>| *owner == Some(room.guests[guest].id);
            assert!(!leaks(&bytes, b"cover--canary"), "initial only, to an open object");
            assert!(
                owners.iter().any(owns) || !leaks(&bytes, b"orders-canary"),
                "tick {tick}, guest {guest}"
            );
            assert!(
                !owners.iter().all(owns) || !leaks(&bytes, b"rumour-canary"),
                "tick {tick}, guest {guest}"
            );
            // One packet in three is lost.
            if (tick + guest) % 3 > 0 {
                room.deliver(guest, &packets);
            }
        }
    }
    room.settle();
    for guest in &room.guests {
        for &spy in &spies {
            let (shown, truth) = (guest.client.get(spy).unwrap(), &room.server[spy]);
            let is_owner = room.server.object_info(spy).owner() == Some(guest.id);
            assert_eq!(shown.place, truth.place);
            assert_eq!(
                if is_owner { &shown.orders } else { &shown.rumours },
                if is_owner { &truth.orders } else { &truth.rumours }
            );
        }
    }
}

#[test]
fn r16_a_resend_is_filtered_by_the_conditions_of_its_own_moment() {
    let register = |client: &mut Client| {
        client.register::<Spy>();
    };
    let (mut room, spy) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Spy::default()));
    room.server.object(spy).set_owner(Some(room.guests[0].id));
    room.settle();
    room.server[spy].orders = "orders-canary".into();
    room.server[spy].place = [1.0; 3];
    assert!(leaks(&room.tick_one().concat(), b"orders-canary"));
    room.server.object(spy).set_owner(None);
    for _ in 0..60 {
        room.acknowledge();
        let packets = room.tick_one();
        assert!(!leaks(&packets.concat(), b"orders-canary"));
        room.deliver(0, &packets);
    }
    assert_eq!(room.client().get(spy).unwrap().place, [1.0; 3]);
}

#[derive(Replicated, Default)]
struct Dossier {
    #[replicated(condition = Dynamic, max_len = 40_000)]
    pages: String,
    #[replicated]
    title: u16,
}

#[test]
fn r15_the_fragments_of_an_opening_are_given_up_when_what_goes_with_openings_alone_is_hidden() {
    let register = |client: &mut Client| {
        client.register::<Dossier>();
    };
    for initial in [Condition::InitialOnly, Condition::InitialOrOwner] {
        let pages = property::<Dossier>("pages");
        let config = ServerConfig { max_bytes_per_tick: 2_000, ..ServerConfig::default() };
        let (mut room, dossier) = Room::furnished(config, register, 0, |server| {
            server.spawn(Dossier { pages: "canary-of-a-page ".repeat(1_000), title: 7 })
        });
        room.server.object(dossier).set_dynamic_condition(pages, initial);
        room.enter();
        (0..4).for_each(|_| _ = room.step());
        assert!(leaks(&room.tick_one().concat(), b"canary-of-a-page"), "under way");
        // A client that has the object sees the value neither before nor after the change.
        room.server.object(dossier).set_dynamic_condition(pages, Condition::Never);
        for _ in 0..60 {
            room.acknowledge();
            let packets = room.tick_one();
            assert!(!leaks(&packets.concat(), b"canary-of-a-page"), "{initial:?}");
            room.deliver(0, &packets);
        }
        let shown = room.client().get(dossier).unwrap();
        assert!(shown.pages.is_empty() && shown.title == 7);
    }
}
