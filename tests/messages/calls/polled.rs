//! Calls that are polled instead of run.

use repl::{CallError, ConnectionId, DisconnectReason, ObjectRef, Server};

use super::{Hero, HeroCall, Mood, ran_on, ran_on_server, room};

#[test]
fn a_call_without_a_body_waits_until_it_is_polled() {
    let (mut room, heroes) = room(1);
    let id = room.guests[0].id;
    room.guests[0].client.call(heroes[0]).jump(3).unwrap();
    room.guests[0].client.call(heroes[0]).fire(90).unwrap();
    room.settle();
    assert_eq!(ran_on_server(&room, heroes[0]), ["fire 90"]);
    let received = room.server.poll_call::<Hero>().expect("a call");
    assert_eq!((received.object, received.caller), (heroes[0], Some(id)));
    assert!(matches!(received.call, HeroCall::Jump { height: 3 }));
    assert!(room.server.poll_call::<Hero>().is_none());
}

#[test]
fn a_polled_call_does_not_run_and_is_validated() {
    let (mut room, heroes) = room(1);
    let hero = heroes[0];
    for direction in [1, 2, 400, 3] {
        room.guests[0].client.call(hero).fire(direction).unwrap();
    }
    let packets = room.replies(0);
    room.hear(0, &packets);
    let mut polled = Vec::new();
    while let Some(received) = room.server.poll_call::<Hero>() {
        let HeroCall::Fire { direction } = received.call else { panic!("another call") };
        polled.push(direction);
    }
    assert_eq!(polled, [1, 2]);
    assert_eq!(room.closed(0), Some(DisconnectReason::Rejected("fire".to_owned())));
    assert_eq!(ran_on_server(&room, hero), [""; 0]);
}

#[test]
fn the_body_of_a_polled_call_runs_if_the_program_asks_for_it() {
    let (mut room, heroes) = room(2);
    for (guest, &hero) in heroes.iter().enumerate() {
        room.guests[guest].client.call(hero).fire(90).unwrap();
        room.guests[guest].client.call(hero).jump(3).unwrap();
        let packets = room.replies(guest);
        room.hear(guest, &packets);
    }
    let mut left = Vec::new();
    while let Some(received) = room.server.poll_call::<Hero>() {
        if received.object == heroes[1] && matches!(received.call, HeroCall::Fire { .. }) {
            // The object of the call is removed before the call runs.
            room.server.despawn(heroes[1]);
        }
        left.extend(room.server.run_call(received));
    }
    assert_eq!(ran_on_server(&room, heroes[0]), ["fire 90"]);
    let [received] = left.as_slice() else { panic!("{left:?}") };
    assert_eq!((received.object, received.caller), (heroes[0], Some(room.guests[0].id)));
    assert!(matches!(received.call, HeroCall::Jump { height: 3 }));
    // A client can poll its calls too.
    room.server.call(heroes[0]).hit(5).unwrap();
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    let client = &mut room.guests[0].client;
    let received = client.poll_call::<Hero>().expect("a call");
    assert!(client.run_call(received).is_none());
    assert_eq!(ran_on(&room, 0, heroes[0]), ["hit 5"]);
}

#[test]
fn s213_a_polled_call_runs_only_if_its_caller_still_owns_the_object() {
    type Event = fn(&mut Server, ConnectionId, ObjectRef<Hero>);
    let events: [Event; 3] = [
        |server, _, hero| _ = server.object(hero).set_owner(None),
        |server, _, hero| _ = server.object(hero).tear_off(),
        |server, caller, _| server.connection(caller).disconnect(),
    ];
    for (at, event) in events.into_iter().enumerate() {
        let (mut room, heroes) = room(1);
        room.guests[0].client.call(heroes[0]).fire(90).unwrap();
        let packets = room.replies(0);
        room.hear(0, &packets);
        let received = room.server.poll_call::<Hero>().expect("a call");
        event(&mut room.server, room.guests[0].id, heroes[0]);
        assert!(room.server.run_call(received).is_none());
        assert_eq!(ran_on_server(&room, heroes[0]), [""; 0], "event {at}");
    }
}

#[test]
fn calls_that_nobody_polls_end_the_connection_instead_of_taking_memory() {
    let (mut room, heroes) = room(1);
    let mut sent = 0;
    for _ in 0..3_000 {
        while room.guests[0].client.is_connected() && sent < 6_000 {
            match room.guests[0].client.call(heroes[0]).jump(1) {
                Ok(()) => sent += 1,
                Err(CallError::Full | CallError::TooFast { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
        room.step();
    }
    assert!(sent >= 4_096, "{sent}");
    assert_eq!(room.closed(0), Some(DisconnectReason::Unread("calls of Hero".to_owned())));
}

#[test]
fn a_call_prints_its_name_and_all_parameters_that_can_be_printed() {
    let (mut room, heroes) = room(1);
    let said = room.guests[0].client.call(heroes[0]).say("hello".to_owned(), vec![1, 2], Mood::Angry);
    said.expect("the client owns the hero");
    room.settle();
    let received = room.server.poll_call::<Hero>().expect("a call");
    let text = r#"Say { text: "hello", numbers: [1, 2], mood: _ }"#;
    assert_eq!(format!("{:?}", received.call), text);
    assert!(format!("{received:?}").ends_with(&format!("call: {text} }}")), "{received:?}");
}
