//! S210, S211: objects that are torn off.

use repl::Relevancy;

use super::*;
use crate::support::TICK;

#[test]
fn s210_clients_keep_the_last_state_and_take_authority() {
    let (mut room, corpse) = one_pawn(2);
    let owner = room.guests[0].id;
    room.server.object(corpse).set_owner(Some(owner));
    room.settle();
    (0..2).for_each(|guest| _ = room.polled(guest));
    room.server[corpse].health = 7;
    room.server[corpse].secret = 8;
    room.server.object(corpse).tear_off();
    room.settle();
    for guest in 0..2 {
        assert_eq!(health(&room, guest, corpse), Some(7));
        let told = [UpdateKind::Changed, UpdateKind::TornOff].map(|what| (corpse.erase(), what));
        assert_eq!(room.polled(guest), told);
        let client = &room.guests[guest].client;
        assert!(
            client.object_info(corpse).is_torn_off()
                && client.contains(corpse)
                && !client.object_info(corpse).is_owner()
        );
        assert_eq!(client.object_info(corpse).role(), Some(Role::Authority));
        assert_eq!(client.object_info(corpse).class_name(), Some("Pawn"));
        assert_eq!(client.objects::<Pawn>().map(|(object, _)| object).collect::<Vec<_>>(), [corpse]);
    }
    assert_eq!(room.client()[corpse].secret, 8, "the owner has the last state for owners");
    assert!(
        room.server.object_info(corpse).is_torn_off() && room.server.contains(corpse),
        "it lives on on the server"
    );
    assert_eq!(room.server.object_info(corpse).relevancy(), Some(Relevancy::Nobody));
}

#[test]
fn s210_nothing_is_sent_of_what_was_torn_off() {
    let (mut room, corpse) = one_pawn(1);
    room.server.object(corpse).tear_off();
    // The state at the next tick is the last one.
    room.server[corpse].health = 5;
    room.settle();
    let bytes = |room: &Room| {
        room.server.connection_info(room.guests[0].id).stats().expect("it is connected").bytes_sent
    };
    let before = bytes(&room);
    for round in 0..50 {
        room.server[corpse].health = 100 + round;
        room.server[corpse].pose.push(1);
        room.server.object(corpse).tear_off();
        room.server.object(corpse).set_relevancy(Relevancy::Always);
        room.step();
    }
    assert!(bytes(&room) - before < 50 * 20, "only keep-alive packets are sent");
    assert_eq!(health(&room, 0, corpse), Some(5));
    // The copy belongs to the client, which may change it.
    room.guests[0].client[corpse].health = 6;
    room.settle();
    assert_eq!(health(&room, 0, corpse), Some(6));
    room.server.despawn(corpse);
    room.settle();
    assert_eq!(health(&room, 0, corpse), Some(6), "the end of the object does not concern the client");
}

#[test]
fn s210_the_last_state_arrives_before_the_tear_off_whatever_is_lost() {
    let (mut room, corpse) = one_pawn(1);
    room.polled(0);
    room.server[corpse].health = 7;
    room.server[corpse].pose = vec![1, 2, 3];
    room.server.object(corpse).tear_off();
    room.lose_until_noticed(0);
    room.server[corpse].health = 8;
    for _ in 0..200 {
        room.step();
        let client = room.client();
        assert!(!client.object_info(corpse).is_torn_off() || client[corpse].pose == [1, 2, 3]);
    }
    assert_eq!(health(&room, 0, corpse), Some(7));
    let told = [UpdateKind::Changed, UpdateKind::TornOff].map(|what| (corpse.erase(), what));
    assert_eq!(room.polled(0), told);
}

#[test]
fn r17_a_tear_off_is_sent_again_until_it_is_acked() {
    let (mut room, corpse) = one_pawn(1);
    room.server.object(corpse).tear_off();
    // The client has everything, so the next packet is the tear-off, and it is lost.
    assert_eq!(room.tick_one().len(), 1);
    room.lose_until_noticed(0);
    assert!(!room.client().object_info(corpse).is_torn_off());
    while !room.client().object_info(corpse).is_torn_off() {
        assert!(!room.server.object_info(corpse).is_tear_off_known(), "the client was not told");
        room.step();
    }
    assert!(!room.server.object_info(corpse).is_tear_off_known(), "the server does not know it yet");
    room.settle();
    assert!(room.server.object_info(corpse).is_tear_off_known());
    room.server.despawn(corpse);
    assert!(!room.server.object_info(corpse).is_tear_off_known());
}

#[test]
fn s210_late_joiners_never_get_what_was_torn_off() {
    let (mut room, corpse) = one_pawn(1);
    let late = room.enter();
    room.server.object(corpse).set_owner(Some(late));
    room.server.object(corpse).tear_off();
    room.settle();
    assert!(room.client().object_info(corpse).is_torn_off());
    assert!(!room.guests[1].client.contains(corpse), "not even its owner gets it");
    assert!(!room.server.object_info(corpse).is_relevant_to(late));
}

#[test]
fn s210_who_does_not_see_it_never_gets_it() {
    let (mut room, corpse) = one_pawn(3);
    let [hidden, hidden_later] = [1, 2].map(|guest| room.guests[guest].id);
    room.server.object(corpse).set_visible(hidden, false);
    room.settle();
    room.server.object(corpse).tear_off();
    room.server.object(corpse).set_visible(hidden_later, false);
    room.settle();
    for (guest, has) in [(0, true), (1, false), (2, false)] {
        assert_eq!(room.guests[guest].client.contains(corpse), has, "guest {guest}");
    }
    [hidden, hidden_later].into_iter().for_each(|id| _ = room.server.object(corpse).set_visible(id, true));
    room.settle();
    assert!(!room.guests[1].client.contains(corpse) && !room.guests[2].client.contains(corpse));
}

#[test]
fn s210_what_was_never_sent_is_sent_whole_and_then_torn_off() {
    for loses in [false, true] {
        let (mut room, _) = one_pawn(1);
        room.polled(0);
        let effect = room.server.spawn(pawn(9));
        if loses {
            room.tick();
        }
        room.server.object(effect).tear_off();
        if loses {
            room.lose_until_noticed(0);
        }
        room.settle();
        assert_eq!(health(&room, 0, effect), Some(9), "loses {loses}");
        let expected = [UpdateKind::Spawned, UpdateKind::TornOff].map(|what| (effect.erase(), what));
        assert_eq!(room.polled(0), expected, "loses {loses}");
    }
}

#[test]
fn s210_an_object_that_comes_back_into_sight_is_torn_off_too() {
    let (mut room, corpse) = one_pawn(1);
    let id = room.guests[0].id;
    room.server.object(corpse).set_visible(id, false);
    room.step();
    room.server.object(corpse).set_visible(id, true);
    room.server[corpse].health = 3;
    room.server.object(corpse).tear_off();
    room.settle();
    assert!(room.client().object_info(corpse).is_torn_off());
    assert_eq!(health(&room, 0, corpse), Some(3));
}

#[test]
fn s210_packets_from_before_the_tear_off_change_nothing() {
    let (mut room, corpse) = one_pawn(1);
    room.server[corpse].health = 2;
    let late = room.tick_one();
    room.server[corpse].health = 3;
    room.server.object(corpse).tear_off();
    room.settle();
    assert!(room.client().object_info(corpse).is_torn_off());
    room.guests[0].client[corpse].health = 50;
    room.deliver(0, &late);
    assert_eq!(health(&room, 0, corpse), Some(50));
}

#[test]
fn s210_references_to_it_stay_valid_until_the_client_removes_it() {
    let (mut room, corpse) = one_pawn(1);
    let killer = room.server.spawn(Pawn { target: corpse, ..Pawn::default() });
    room.settle();
    let notified = room.client()[killer].notified;
    room.server.object(corpse).tear_off();
    room.settle();
    let witness = room.server.spawn(Pawn { target: corpse, ..Pawn::default() });
    room.settle();
    assert_eq!((room.client()[killer].target, room.client()[witness].target), (corpse, corpse));
    assert_eq!(room.client()[killer].notified, notified);
    // The server uses the slot for another object, and the client keeps both.
    room.server.despawn(corpse);
    room.settle();
    let next = room.server.spawn(pawn(4));
    room.settle();
    let slot = |object: ObjectRef<Pawn>| object.guid().expect("an object").slot();
    assert_eq!(slot(next), slot(corpse));
    assert_eq!((health(&room, 0, next), health(&room, 0, corpse)), (Some(4), Some(1)));
    let client = &mut room.guests[0].client;
    assert!(client.object(corpse).remove_torn_off());
    assert_eq!((client[killer].target, client[killer].notified), (ObjectRef::NULL, notified + 1));
    assert_eq!(client[witness].target, ObjectRef::NULL);
    assert!(!client.contains(corpse) && client.get(corpse).is_none() && client.contains(next));
    assert!(!client.object(corpse).remove_torn_off() && !client.object(next).remove_torn_off());
}

#[test]
fn s210_a_client_keeps_what_is_despawned_before_it_was_told() {
    let (mut room, corpse) = one_pawn(1);
    room.server[corpse].health = 2;
    room.server.object(corpse).tear_off();
    room.step();
    assert!(
        !room.client().object_info(corpse).is_torn_off(),
        "the server does not know yet that the client has the state"
    );
    room.server.despawn(corpse);
    room.settle();
    assert_eq!(health(&room, 0, corpse), Some(2));
    assert_eq!(room.polled(0).last(), Some(&(corpse.erase(), UpdateKind::TornOff)));
}

#[test]
fn s211_a_tear_off_that_may_have_arrived_stays_one_when_the_object_is_destroyed() {
    for arrives in [false, true] {
        let (mut room, corpse) = one_pawn(1);
        room.server.object(corpse).tear_off();
        let closing = room.tick_one();
        assert_eq!(closing.len(), 1);
        if arrives {
            room.deliver(0, &closing);
        }
        room.server.despawn(corpse);
        let next = room.server.spawn(pawn(4));
        room.lose_until_noticed(0);
        room.settle();
        assert!(room.client().object_info(corpse).is_torn_off(), "arrives {arrives}");
        assert_eq!((health(&room, 0, corpse), health(&room, 0, next)), (Some(1), Some(4)));
    }
}

#[test]
fn s210_what_arrived_last_is_told_before_the_tear_off_and_can_be_copied_after_it() {
    let (mut room, corpse) = one_pawn(1);
    assert_eq!(room.polled(0), [(corpse.erase(), UpdateKind::Spawned)]);
    room.server[corpse].health = 7;
    room.server.object(corpse).tear_off();
    room.settle();
    let client = &mut room.guests[0].client;
    let updates: Vec<_> = std::iter::from_fn(|| client.poll_update()).collect();
    let told: Vec<_> = updates.iter().map(|update| (update.cast::<Pawn>(), &update.what)).collect();
    assert_eq!(told, [(Some(corpse), &UpdateKind::Changed), (Some(corpse), &UpdateKind::TornOff)]);
    assert_eq!(updates[0].properties().iter().collect::<Vec<_>>(), ["health"]);
    let mut copy = Pawn::default();
    assert!(updates[0].copy_to(client, &mut copy));
    assert_eq!(copy.health, 7);
    assert!(client.poll_update().is_none());
}

#[test]
fn s210_what_is_attached_is_left_to_its_owner() {
    let (mut room, corpse) = one_pawn(2);
    let [sword, shield] = [2, 3].map(|health| room.server.spawn(pawn(health)));
    let owner = room.guests[0].id;
    room.server.object(shield).set_owner(Some(owner));
    for thing in [sword, shield] {
        room.server.object(thing).set_relevancy(Relevancy::AttachedTo(corpse.erase()));
    }
    room.settle();
    room.server.object(corpse).tear_off();
    room.settle();
    let has = |guest: usize, thing| room.guests[guest].client.contains(thing);
    assert_eq!((has(0, sword), has(0, shield)), (false, true));
    assert_eq!((has(1, sword), has(1, shield)), (false, false));
    assert!(has(0, corpse) && has(1, corpse));
}

#[test]
fn s210_it_survives_the_end_of_the_session() {
    let (mut room, corpse) = one_pawn(1);
    room.server.object(corpse).tear_off();
    room.settle();
    room.server.connection(room.guests[0].id).disconnect();
    room.step();
    assert!(room.client().object_info(corpse).is_torn_off());
}

#[test]
fn s210_an_object_outside_the_server_is_torn_off_with_what_was_handed_over_last() {
    let mut room = Room::new(ServerConfig::default(), pawns);
    room.server.register_external::<Pawn>();
    let mut live = pawn(1);
    let corpse = room.server.external().spawn(&live);
    room.enter();
    room.settle();
    room.server.object(corpse).tear_off();
    live.health = 2;
    room.server.external().compare(corpse, &live).expect("it exists");
    room.lose_until_noticed(0);
    live.health = 3;
    room.server.external().compare(corpse, &live).expect("it exists");
    room.settle();
    assert_eq!(health(&room, 0, corpse), Some(2));
}

/// A hostile server could tear off any number of objects. The client keeps at most as many torn-off objects
/// as it has slots.
#[test]
fn s210_a_client_keeps_at_most_as_many_as_it_has_slots() {
    const SLOTS: usize = 8;
    let mut server = Server::new(ServerConfig { max_objects: SLOTS, ..ServerConfig::default() });
    server.register::<Pawn>();
    let mut client =
        Client::new(ClientConfig { max_objects: SLOTS, ..ClientConfig::default() }, Session::for_tests(1));
    client.register::<Pawn>();
    assert!(client.poll_update().is_none(), "updates are recorded from now on");
    let (id, mut now) = (server.connect(TICK), TICK);
    let mut torn_off = Vec::new();
    for round in 0..SLOTS as u32 * 3 * 12 + 20 {
        if round >= SLOTS as u32 * 3 * 12 {
            // In the last 20 rounds only packets that are in flight arrive.
        } else if round % 12 == 11 {
            let corpse = server.spawn(pawn(round));
            server.object(corpse).tear_off();
            torn_off.push(corpse);
        } else if round % 12 == 10
            && let Some(corpse) = torn_off.last()
        {
            server.despawn(*corpse);
        }
        now += TICK;
        server.tick(now);
        for packet in crate::support::collect(&mut server, id) {
            client.receive(now, &packet).expect("a packet of the server");
        }
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            let packet = packet.to_vec();
            server.receive(id, now, &packet);
        }
    }
    let kept: Vec<_> = client.objects::<Pawn>().map(|(object, _)| object).collect();
    assert_eq!(kept.len(), SLOTS);
    assert!(kept.iter().all(|object| client.object_info(*object).is_torn_off()));
    assert!(!client.contains(torn_off[0]), "the oldest go first");
    let mut despawned = 0;
    while let Some(update) = client.poll_update() {
        if let UpdateKind::Despawned(reason) = update.what {
            assert_eq!(reason, CloseReason::Destroyed);
            let pawn = client.object_info(update.object).cast::<Pawn>().expect("it departed");
            assert_eq!(update.cast(), Some(pawn));
            assert!(client.object_info(pawn).departed().is_some());
            despawned += 1;
        }
    }
    assert!(despawned > SLOTS, "{despawned}");
}
