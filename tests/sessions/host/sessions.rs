//! How a host joins and leaves.

use repl::prelude::*;
use repl::{DisconnectReason, HostOptions};

use super::{Chat, Hero, host, register, room, server_events, spawn};
use crate::support::Room;

#[test]
fn a_host_is_connected_at_once_without_a_login() {
    let mut server = Server::new(ServerConfig { login: Login::Ask, ..ServerConfig::default() });
    register(&mut server);
    assert!(server.host().is_none());
    let id = server.connect_host(HostOptions::default());
    assert_eq!(server.poll_event(), Some(ServerEvent::Connected(id)));
    assert_eq!(server.poll_event(), None);
    assert_eq!(server.host().map(|host| host.id()), Some(id));
    assert!(!server.connection(id).accept(b"") && !server.connection(id).refuse("no"));
    assert!(server.connection_info(id).is_host());
}

#[test]
fn a_host_is_among_the_connections_and_has_no_packets() {
    let (mut room, id, _) = room(HostOptions::default(), 1);
    let guest = room.guests[0].id;
    assert_eq!(room.server.connections().collect::<Vec<_>>(), [id, guest]);
    assert!(!room.server.connection_info(guest).is_host());
    room.server.send_to_all(&Chat("hello".to_owned())).unwrap();
    room.server.tick(room.now);
    assert_eq!(room.server.poll_transmit(id), None);
    room.server.receive(id, room.now, b"a packet");
    assert!(room.server.host().is_some(), "a packet for a host is no packet of its session");
}

#[test]
fn a_host_that_is_disconnected_is_gone_at_once() {
    let (mut room, id, heroes) = room(HostOptions { events: true, notifies: true }, 1);
    server_events(&mut room);
    host(&mut room).send(&Chat("bye".to_owned())).unwrap();
    host(&mut room).call(heroes[0]).wave(1).unwrap();
    room.server.connection(id).disconnect();
    assert!(room.server.host().is_none() && !room.server.connection_info(id).is_host());
    assert_eq!(server_events(&mut room), [ServerEvent::Disconnected(id, DisconnectReason::Closed)]);
    assert_eq!(room.server.connections().collect::<Vec<_>>(), [room.guests[0].id]);
    // A host that has left is like a client that has left: its messages can still be polled, its calls do not
    // run, and it remains the owner.
    assert_eq!(room.server.poll_message(), Some((id, Chat("bye".to_owned()))));
    room.settle();
    assert_eq!(super::ran(&room, heroes[0]), [""; 0]);
    assert_eq!(room.server.object_info(heroes[0]).owner(), Some(id));
    room.server.connection(id).disconnect_with("again");
    assert_eq!(server_events(&mut room), []);
}

#[test]
fn another_host_can_come_and_has_another_id() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    room.server.connection(id).send(&Chat("for the first".to_owned())).unwrap();
    room.server.connection(id).disconnect_with("a friend wants to play");
    let next = room.server.connect_host(HostOptions::default());
    assert!(next > id);
    assert_eq!(host(&mut room).poll_message::<Chat>(), None);
    assert!(!host(&mut room).is_owner(heroes[0]));
    let late = room.enter();
    assert!(late > next);
    room.settle();
    spawn(&mut room.server, next);
    room.settle();
    assert_eq!(room.guests[1].client.objects::<Hero>().count(), 3);
}

#[test]
#[should_panic(expected = "a server has at most one host")]
fn a_second_host_is_a_mistake() {
    let mut server = Server::new(ServerConfig::default());
    server.connect_host(HostOptions::default());
    server.connect_host(HostOptions::default());
}

#[test]
#[should_panic(expected = "are new, but a client or a host has connected already")]
fn nothing_can_be_registered_after_the_host_is_connected() {
    let mut server = Server::new(ServerConfig::default());
    server.connect_host(HostOptions::default());
    register(&mut server);
}

#[test]
fn guests_join_a_server_that_began_with_its_host() {
    let mut room = Room::new(ServerConfig::default(), register);
    register(&mut room.server);
    let id = room.server.connect_host(HostOptions::default());
    let hero = spawn(&mut room.server, id);
    for _ in 0..3 {
        room.enter();
        room.settle();
    }
    assert!(room.guests.iter().all(|guest| guest.client.contains(hero)));
}

#[test]
fn a_host_takes_no_place_of_an_endpoint() {
    let config = EndpointConfig { max_connections: 1, ..EndpointConfig::default() };
    let mut endpoint = Endpoint::<u8>::new(config, 7);
    let mut server = Server::new(ServerConfig::default());
    register(&mut server);
    server.connect_host(HostOptions::default());
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    register(&mut client);
    let mut now = std::time::Duration::ZERO;
    for _ in 0..100 {
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            endpoint.receive(&mut server, now, 1, packet);
        }
        server.tick(now);
        while let Some((_, packet)) = endpoint.poll_transmit(&mut server) {
            client.receive(now, packet).ok();
        }
        now += crate::support::TICK;
    }
    assert!(client.is_connected());
}
