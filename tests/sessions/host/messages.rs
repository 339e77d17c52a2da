//! Messages from the host and to it.

use repl::prelude::*;
use repl::{DisconnectReason, Group, HostOptions, SendError};

use super::{Chat, Found, Step, host, room, server_events};
use crate::support::{Room, TICK};

const RED: Group = Group(1);

fn chat(text: &str) -> Chat {
    Chat(text.to_owned())
}

fn step(at: u8) -> Step {
    Step(at, Vec::new())
}

/// Returns the chat that waits for the host.
fn heard(room: &mut Room) -> Vec<String> {
    std::iter::from_fn(|| host(room).poll_message::<Chat>()).map(|Chat(text)| text).collect()
}

#[test]
fn messages_of_the_host_arrive_at_once_and_in_order_with_its_id() {
    let (mut room, id, _) = room(HostOptions::default(), 1);
    host(&mut room).send(&chat("one")).unwrap();
    host(&mut room).send(&chat("two")).unwrap();
    let got: Vec<_> = std::iter::from_fn(|| room.server.poll_message::<Chat>()).collect();
    assert_eq!(got, [(id, chat("one")), (id, chat("two"))]);
}

#[test]
fn messages_to_one_to_a_group_and_to_all_reach_the_host() {
    let (mut room, id, _) = room(HostOptions::default(), 1);
    let guest = room.guests[0].id;
    room.server.connection(id).send(&chat("to you")).unwrap();
    room.server.connection(guest).send(&chat("to the guest")).unwrap();
    assert_eq!(room.server.send_to_all(&chat("to all")), Ok(vec![]));
    assert_eq!(room.server.send_to_group(RED, &chat("to nobody")), Ok(vec![]));
    room.server.connection(id).join_group(RED);
    assert!(room.server.connection_info(id).is_in_group(RED));
    assert_eq!(room.server.send_to_group(RED, &chat("to the red")), Ok(vec![]));
    room.server.connection(id).leave_group(RED);
    assert!(!room.server.connection_info(id).is_in_group(RED));
    assert_eq!(room.server.send_to_group(RED, &chat("to nobody")), Ok(vec![]));
    assert_eq!(heard(&mut room), ["to you", "to all", "to the red"]);
    room.settle();
    let client = &mut room.guests[0].client;
    let got: Vec<_> = std::iter::from_fn(|| client.poll_message::<Chat>()).collect();
    assert_eq!(got, [chat("to the guest"), chat("to all")]);
}

#[test]
fn a_host_reads_what_a_client_reads() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let gone = room.server.spawn(super::Hero::default());
    room.server.despawn(gone);
    for hero in [heroes[1], gone, ObjectRef::NULL] {
        room.server.send_to_all(&Found { hero, far: 1.3 }).unwrap();
        host(&mut room).send(&Found { hero, far: 1.3 }).unwrap();
    }
    room.settle();
    let hosts: Vec<Found> = std::iter::from_fn(|| host(&mut room).poll_message()).collect();
    let guests: Vec<Found> = std::iter::from_fn(|| room.guests[0].client.poll_message()).collect();
    let servers: Vec<_> = std::iter::from_fn(|| room.server.poll_message::<Found>()).collect();
    assert_eq!(hosts, guests);
    assert_eq!(hosts[0], Found { hero: heroes[1], far: 1.5 });
    assert_eq!(servers, hosts.into_iter().map(|found| (id, found)).collect::<Vec<_>>());
}

#[test]
fn a_message_after_an_object_is_for_the_host_only_while_the_object_exists() {
    let (mut room, id, heroes) = room(HostOptions::default(), 0);
    room.server.connection(id).send_after(heroes[0], &chat("here")).unwrap();
    room.server.despawn(heroes[0]);
    room.server.connection(id).send_after(heroes[0], &chat("gone")).unwrap();
    assert_eq!(heard(&mut room), ["here"]);
}

#[test]
fn messages_of_the_host_have_the_limits_of_their_type() {
    let (mut room, _, _) = room(HostOptions::default(), 1);
    for at in 0..3 {
        host(&mut room).send(&step(at)).unwrap();
        room.guests[0].client.send(&step(at)).unwrap();
    }
    let too_fast = Err(SendError::TooFast { per_second: 3 });
    assert_eq!(host(&mut room).send(&step(4)), too_fast);
    assert_eq!(room.guests[0].client.send(&step(4)), too_fast);
    let large = Step(0, vec![0; 100]);
    room.wait(TICK * 64);
    room.step();
    assert!(matches!(host(&mut room).send(&large), Err(SendError::TooLarge { .. })));
    assert!((0..3).all(|at| host(&mut room).send(&step(at)).is_ok()), "what is refused does not count");
    let far = Found { hero: ObjectRef::NULL, far: f32::NAN };
    assert!(matches!(host(&mut room).send(&far), Err(SendError::Refused(_))));
    assert!(room.server.poll_message::<Found>().is_none());
    assert_eq!(std::iter::from_fn(|| room.server.poll_message::<Step>()).count(), 9);
}

#[test]
fn messages_to_the_host_have_the_limits_of_their_type() {
    let (mut room, id, _) = room(HostOptions::default(), 0);
    let large = Step(0, vec![0; 100]);
    assert!(matches!(room.server.connection(id).send(&large), Err(SendError::TooLarge { .. })));
    assert!(matches!(room.server.send_to_all(&large), Err(SendError::TooLarge { .. })));
    let far = Found { hero: ObjectRef::NULL, far: f32::NAN };
    assert!(matches!(room.server.connection(id).send(&far), Err(SendError::Refused(_))));
    assert!(
        host(&mut room).poll_message::<Step>().is_none() && host(&mut room).poll_message::<Found>().is_none()
    );
}

#[test]
fn a_host_that_does_not_poll_reliable_messages_ends_as_a_client_would() {
    let (mut room, id, _) = room(HostOptions::default(), 0);
    server_events(&mut room);
    for at in 0..4_097 {
        assert!(room.server.host().is_some(), "after {at} messages");
        room.server.connection(id).send(&chat("more")).unwrap();
    }
    let reason = DisconnectReason::Unread("message Chat".to_owned());
    assert_eq!(server_events(&mut room), [ServerEvent::Disconnected(id, reason)]);
    assert_eq!(room.server.connection(id).send(&chat("more")), Err(SendError::NotConnected));
}

#[test]
fn a_host_that_does_not_poll_unreliable_messages_loses_the_oldest() {
    let (mut room, id, _) = room(HostOptions::default(), 0);
    for at in 0..5_000_u32 {
        room.server.connection(id).send(&step(at as u8)).unwrap();
    }
    let got: Vec<Step> = std::iter::from_fn(|| host(&mut room).poll_message()).collect();
    let newest: Vec<Step> = (5_000 - 4_096..5_000).map(|at: u32| step(at as u8)).collect();
    assert!(got == newest, "{}", got.len());
}

#[test]
fn a_server_that_does_not_poll_the_messages_of_its_host_ends_its_connection() {
    let (mut room, id, _) = room(HostOptions::default(), 0);
    server_events(&mut room);
    let mut sent = 0;
    // The host sends a thousand messages in a second, as many as the type allows.
    while let Some(mut host) = room.server.host() {
        sent += u32::from(host.send(&chat("more")).is_ok());
        room.server.tick(room.now);
        room.wait(TICK);
    }
    assert_eq!(sent, 4_097);
    let reason = DisconnectReason::Unread("message Chat".to_owned());
    assert_eq!(server_events(&mut room), [ServerEvent::Disconnected(id, reason)]);
}

#[test]
#[should_panic(expected = "are not registered")]
fn messages_of_a_host_must_be_registered() {
    let mut server = Server::new(ServerConfig::default());
    server.connect_host(HostOptions::default());
    server.host().expect("a host").poll_message::<Chat>();
}
