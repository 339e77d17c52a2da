//! What a client reports about its objects and its connection in addition to values: owner, role, class and
//! changes.
//!
//! *Invariant:* after packets have arrived, the owner and the role on a client are the same as on the server,
//! whatever packets were lost before.

use std::collections::BTreeSet;
use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, Guid};

use crate::support::{Room, TICK};

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Player {
    #[replicated]
    health: u16,
    #[replicated(condition = OwnerOnly)]
    ammo: u16,
    #[replicated]
    score: u16,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Chest {
    #[replicated]
    gold: u32,
    #[replicated]
    items: FastArray<u32>,
}

fn register(client: &mut Client) {
    client.register::<Player>().register::<Chest>();
}

fn room(guests: usize) -> (Room, ObjectRef<Player>, ObjectRef<Chest>) {
    let (room, (player, chest)) = Room::furnished(ServerConfig::default(), register, guests, |server| {
        let player = server.spawn(Player { health: 100, ammo: 7, score: 1 });
        (player, server.spawn(Chest { gold: 5, items: FastArray::new() }))
    });
    (room, player, chest)
}

fn events(room: &mut Room, guest: usize) -> Vec<ClientEvent> {
    std::iter::from_fn(|| room.guests[guest].client.poll_event()).collect()
}

/// Returns, for each client, whether it owns the object, and the object's role on the client.
fn views<T>(room: &Room, object: ObjectRef<T>) -> Vec<(bool, Role)> {
    let view = |client: &Client| {
        (client.object_info(object).is_owner(), client.object_info(object).role().expect("it is there"))
    };
    room.guests.iter().map(|guest| view(&guest.client)).collect()
}

#[test]
fn s204_owner_and_role_come_with_the_opening_whatever_the_class() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Player>().register::<Chest>();
    room.enter();
    room.enter();
    let (chest, player) = (room.server.spawn(Chest::default()), room.server.spawn(Player::default()));
    let owner = room.guests[1].id;
    room.server.object(chest).set_owner(Some(owner));
    room.server.object(player).set_owner(Some(owner));
    room.server.object(player).set_remote_role(Role::AutonomousProxy);
    room.settle();
    assert_eq!(views(&room, chest), [(false, Role::SimulatedProxy), (true, Role::SimulatedProxy)]);
    assert_eq!(views(&room, player), [(false, Role::SimulatedProxy), (true, Role::AutonomousProxy)]);
    let client = &room.guests[1].client;
    assert_eq!(
        client.connection_info().owned_objects::<Chest>().map(|(object, _)| object).collect::<Vec<_>>(),
        [chest]
    );
    assert_eq!(room.client().connection_info().owned_objects::<Chest>().count(), 0);
    let mut all: Vec<_> =
        room.server.all_objects().map(|object| room.server.object_info(object).class_name()).collect();
    all.sort_unstable();
    assert_eq!(all, [Some("Chest"), Some("Player")]);
    assert_eq!(room.server.object_info(chest.erase()).cast::<Chest>(), Some(chest));
    assert_eq!(room.server.object_info(chest.erase()).cast::<Player>(), None);
    let of_server = |id| {
        room.server.connection_info(id).owned_objects::<Chest>().map(|(object, _)| object).collect::<Vec<_>>()
    };
    assert_eq!((of_server(owner), of_server(room.guests[0].id)), (vec![chest], vec![]));
    let told = room.polled(1);
    let of_each = |object: ObjectRef<()>| told.iter().filter(move |(told, _)| *told == object);
    for object in [chest.erase(), player.erase()] {
        let kinds: Vec<_> = of_each(object).map(|(_, what)| what.clone()).collect();
        assert_eq!(kinds, [UpdateKind::Spawned, UpdateKind::Owner], "it is the owner from the start");
    }
    assert!(!room.polled(0).iter().any(|(_, what)| *what == UpdateKind::Owner));
}

#[test]
fn s204_a_change_of_owner_reaches_the_old_and_the_new_one_and_costs_nobody_else_a_bit() {
    let (mut room, player, chest) = room(3);
    (0..3).for_each(|guest| drop(room.polled(guest)));
    for new in [1, 2, 0] {
        for object in [player.erase(), chest.erase()] {
            let owner = room.guests[new].id;
            let old = room.server.object_info(object).owner();
            room.server.object(object).set_owner(Some(owner));
            let packets = room.tick();
            for (guest, packets) in packets.iter().enumerate() {
                let id = room.guests[guest].id;
                let is_told = Some(id) == old || id == owner;
                assert!(
                    is_told
                        || packets.iter().all(|packet| packet.len() <= crate::support::SIGN_OF_LIFE_BYTES)
                );
                room.deliver(guest, packets);
                assert_eq!(room.polled(guest).contains(&(object, UpdateKind::Owner)), is_told);
            }
            room.settle();
            let owners: Vec<_> = views(&room, object).iter().map(|(is_owner, _)| *is_owner).collect();
            assert_eq!(owners, [0, 1, 2].map(|guest| guest == new));
        }
    }
}

#[test]
fn s205_a_change_of_role_reaches_everyone() {
    let (mut room, player, chest) = room(2);
    let owner = room.guests[0].id;
    room.server.object(player).set_owner(Some(owner));
    for role in [Role::AutonomousProxy, Role::Authority, Role::None, Role::SimulatedProxy] {
        room.server.object(player).set_remote_role(role);
        room.server.object(chest).set_remote_role(role);
        room.settle();
        let other = if role == Role::AutonomousProxy { Role::SimulatedProxy } else { role };
        assert_eq!(views(&room, player), [(true, role), (false, other)]);
        assert_eq!(views(&room, chest), [(false, other); 2]);
    }
    room.enter();
    room.server.object(chest).set_remote_role(Role::Authority);
    room.settle();
    assert_eq!(views(&room, chest)[2], (false, Role::Authority), "a late joiner");
}

#[test]
fn s204_owner_and_role_converge_whatever_is_lost_and_acked_late() {
    let (mut room, player, chest) = room(2);
    let ids = [room.guests[0].id, room.guests[1].id];
    let mut random = 9_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let roles = [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority];
    let mut late: [Vec<Vec<u8>>; 2] = Default::default();
    let mut acks: [Vec<Vec<u8>>; 2] = Default::default();
    for round in 0..3_000 {
        if draw(6) == 0 {
            let owner = ids.get(draw(3) as usize).copied();
            room.server.object(player).set_owner(owner);
            room.server.object(chest).set_owner(owner);
        }
        if draw(6) == 0 {
            room.server.object(player).set_remote_role(roles[draw(4) as usize]);
            room.server.object(chest).set_remote_role(roles[draw(4) as usize]);
        }
        if draw(4) == 0 {
            room.server[chest].gold = round;
        }
        if draw(9) == 0 {
            let visible = draw(2) == 0;
            room.server.object(chest).set_visible(ids[draw(2) as usize], visible);
        }
        for (guest, packets) in room.tick().into_iter().enumerate() {
            for packet in packets {
                match draw(4) {
                    0 => {}
                    1 => late[guest].push(packet),
                    _ => room.deliver(guest, &[packet]),
                }
            }
            if draw(5) == 0 {
                let packets = std::mem::take(&mut late[guest]);
                room.deliver(guest, &packets);
            }
            acks[guest].extend(room.replies(guest));
            if draw(4) == 0 {
                let packets = std::mem::take(&mut acks[guest]);
                room.hear(guest, &packets);
            }
        }
    }
    ids.iter().for_each(|&id| _ = room.server.object(chest).set_visible(id, true));
    (0..200).for_each(|_| _ = room.step());
    for object in [player.erase(), chest.erase()] {
        let owner = room.server.object_info(object).owner();
        for (guest, id) in ids.into_iter().enumerate() {
            assert_eq!(views(&room, object)[guest].0, owner == Some(id), "guest {guest}");
        }
    }
    for role in [Role::AutonomousProxy, Role::SimulatedProxy] {
        room.server.object(player).set_owner(Some(ids[1]));
        room.server.object(player).set_remote_role(role);
        (0..50).for_each(|_| _ = room.step());
        assert_eq!(views(&room, player), [(false, Role::SimulatedProxy), (true, role)]);
    }
    assert_eq!(room.client()[chest], room.server[chest]);
}

#[test]
fn s204_s205_an_ack_of_an_earlier_owner_or_role_does_not_acknowledge_a_later_one() {
    type Change = fn(&mut Server, ObjectRef<Player>, Option<ConnectionId>);
    let changes: [Change; 2] = [
        |server, player, owner| _ = server.object(player).set_owner(owner),
        |server, player, owner| {
            server.object(player).set_remote_role(owner.map_or(Role::SimulatedProxy, |_| Role::Authority));
        },
    ];
    for change in changes {
        for is_new in [false, true] {
            let (mut room, known, _) = room(1);
            let id = room.guests[0].id;
            let player = if is_new { room.server.spawn(Player::default()) } else { known };
            change(&mut room.server, player, Some(id));
            let first = room.tick_one();
            room.deliver(0, &first);
            let acks = room.replies(0);
            change(&mut room.server, player, None);
            assert_eq!(room.tick_one().len(), 1, "the later one, which is lost");
            room.hear(0, &acks);
            room.settle();
            assert_eq!(views(&room, player), [(false, Role::SimulatedProxy)], "of a new player: {is_new}");
        }
    }
}

#[derive(Replicated, Clone, Debug, Default)]
struct Note {
    #[replicated]
    text: String,
}

/// Returns the role on a client that receives the opening of a chest immediately, but sends its acks late.
/// The role is set `changed` ticks after the opening was sent, and the acks arrive `acked` ticks after the
/// opening. All other packets that are sent before the acks arrive are lost.
fn role_after_late_acks(changed: u32, acked: u32) -> Option<Role> {
    let config = ServerConfig { mtu_bytes: 200, max_bytes_per_tick: 1, ..ServerConfig::default() };
    let register = |client: &mut Client| _ = client.register::<Note>().register::<Chest>();
    let (mut room, notes) = Room::furnished(config, register, 1, |server| {
        server.register::<Chest>();
        [(); 20].map(|()| server.spawn(Note::default()))
    });
    let chest = room.server.spawn(Chest::default());
    while !room.client().contains(chest) {
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    let acks = room.replies(0);
    for tick in 0..acked {
        // One note fills most of a packet, and the budget is one packet. So lost data waits until a tick has
        // room for it.
        notes.iter().for_each(|&note| room.server[note].text = format!("{tick:0120}"));
        if tick == changed {
            room.server.object(chest).set_remote_role(Role::Authority);
        }
        room.tick();
    }
    room.hear(0, &acks);
    room.settle();
    room.client().object_info(chest).role()
}

#[test]
fn s205_a_role_set_before_a_lost_opening_is_repeated_is_sent_although_the_first_opening_arrived() {
    for changed in 0..40 {
        for acked in (changed + 1)..60 {
            let role = role_after_late_acks(changed, acked);
            assert_eq!(
                role,
                Some(Role::Authority),
                "set {changed} and acked {acked} ticks after the opening"
            );
        }
    }
}

#[test]
fn s205_a_role_is_sent_after_its_openings_were_lost_and_an_earlier_opening_arrived() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Letter {
        text: String,
        #[replicated(condition = Custom)]
        seal: u8,
    }
    let config = ServerConfig { mtu_bytes: 200, ..ServerConfig::default() };
    let register = |client: &mut Client| _ = client.register::<Letter>();
    let (mut room, _) =
        Room::furnished(config, register, 1, |server| server.spawn(Letter { seal: 1, ..Letter::default() }));
    let id = room.guests[0].id;
    let letter = room.server.spawn(Letter { seal: 1, ..Letter::default() });
    let opening = room.tick_one();
    room.deliver(0, &opening);
    let late_ack = room.replies(0);
    room.server.object(letter).set_remote_role(Role::Authority);
    assert_eq!(room.tick_one().len(), 1, "an opening with the role, which is lost");
    room.server[letter].text = "x".repeat(1_000);
    assert!(room.tick_one().len() > 1, "an opening in fragments, which are lost");
    let lost = |room: &Room| room.server.connection_info(id).stats().map_or(0, |stats| stats.packets_lost);
    let before = lost(&room);
    while lost(&room) < before + 2 {
        room.tick_one();
    }
    room.hear(0, &late_ack);
    // The server stops sending data that the client may no longer see.
    room.server.object(letter).set_custom_active_for(id, crate::support::property::<Letter>("seal"), false);
    room.settle();
    assert_eq!(room.client().object_info(letter).role(), Some(Role::Authority));
    assert_eq!(room.client().get(letter).map(|letter| letter.text.len()), Some(1_000));
}

#[test]
fn objects_are_cast_to_their_class_and_to_no_other() {
    let (mut room, player, chest) = room(1);
    let client = &mut room.guests[0].client;
    let updates: Vec<_> = std::iter::from_fn(|| client.poll_update()).collect();
    assert!(updates.iter().all(|update| update.what == UpdateKind::Spawned));
    assert_eq!(updates.iter().filter_map(Update::cast::<Player>).collect::<Vec<_>>(), [player]);
    assert_eq!(updates.iter().filter_map(Update::cast::<Chest>).collect::<Vec<_>>(), [chest]);
    let spawned: Vec<_> = updates.iter().map(|update| update.object).collect();
    let players: Vec<_> =
        spawned.iter().filter_map(|&object| client.object_info(object).cast::<Player>()).collect();
    let chests: Vec<_> =
        spawned.iter().filter_map(|&object| client.object_info(object).cast::<Chest>()).collect();
    assert_eq!((players, chests), (vec![player], vec![chest]));
    assert_eq!(client.object_info(player).class_name(), Some("Player"));
    assert_eq!(client.object_info(ObjectRef::<()>::NULL).class_name(), None);
}

#[test]
fn a_despawned_object_can_be_read_until_the_next_update_is_polled() {
    let (mut room, player, chest) = room(1);
    room.polled(0);
    room.guests[0].client.get_mut(player).expect("there").score = 99;
    room.server.despawn(player);
    room.server.despawn(chest);
    room.settle();
    let client = &mut room.guests[0].client;
    assert!(!client.contains(player) && client.get(player).is_none());
    let mut told = BTreeSet::new();
    while let Some(update) = client.poll_update() {
        assert_eq!(update.what, UpdateKind::Despawned(CloseReason::Destroyed));
        let object = update.object;
        assert_eq!(client.object_info(object).cast::<Player>(), update.cast::<Player>());
        if let Some(player) = client.object_info(object).cast::<Player>() {
            assert_eq!(
                client.object_info(player).departed(),
                Some(&Player { health: 100, ammo: 0, score: 99 })
            );
        }
        if let Some(chest) = client.object_info(object).cast::<Chest>() {
            assert_eq!(client.object_info(chest).departed().map(|chest| chest.gold), Some(5));
        }
        assert!(told.insert(client.object_info(object).class_name()));
    }
    assert_eq!(told, BTreeSet::from([Some("Player"), Some("Chest")]));
    assert_eq!(client.object_info(player).departed(), None);
    assert_eq!(client.object_info(player.erase()).cast::<Player>(), None);
}

#[test]
fn an_object_that_is_removed_twice_can_be_read_after_each_removal() {
    let (mut room, player, _) = room(1);
    let id = room.guests[0].id;
    room.polled(0);
    for health in [50, 60] {
        room.server[player].health = health;
        room.settle();
        room.server.object(player).set_visible(id, false);
        room.settle();
        room.server.object(player).set_visible(id, true);
        room.settle();
    }
    let client = &mut room.guests[0].client;
    let mut ends = 0;
    while let Some(update) = client.poll_update() {
        if update.what == UpdateKind::Despawned(CloseReason::Relevancy) {
            ends += 1;
            let player = update.cast::<Player>().expect("it is a player");
            assert!(client.object_info(player).departed().is_some());
        }
    }
    assert_eq!((ends, client.object_info(player).departed()), (2, None));
}

#[test]
fn updates_that_nobody_polls_are_bounded_on_clients_too() {
    let (mut room, player, _) = room(1);
    for health in 0..3_000_u16 {
        let fleeting = room.server.spawn(Player { health, ..Player::default() });
        room.step();
        room.step();
        room.server.despawn(fleeting);
        room.step();
    }
    room.settle();
    let waiting = room.polled(0);
    assert!(waiting.len() <= 1_025, "{} updates", waiting.len());
    assert!(waiting.contains(&(player.erase(), UpdateKind::Spawned)), "what is there is told");
}

/// Returns the updates of a guest that were not polled yet. Each is its object, its kind and the names of the
/// changed properties.
fn told(room: &mut Room, guest: usize) -> Vec<(ObjectRef<()>, UpdateKind, Vec<&'static str>)> {
    let updates = std::iter::from_fn(|| room.guests[guest].client.poll_update());
    updates.map(|update| (update.object, update.what.clone(), update.properties().iter().collect())).collect()
}

#[test]
fn updates_are_told_once_with_the_properties_that_arrived() {
    let (mut room, player, chest) = room(1);
    let changed = |object, properties: &[&'static str]| (object, UpdateKind::Changed, properties.to_vec());
    let all = vec!["health", "ammo", "score"];
    let spawned = |player: ObjectRef<Player>| (player.erase(), UpdateKind::Spawned, all.clone());
    let chest_there = (chest.erase(), UpdateKind::Spawned, vec!["gold", "items"]);
    assert_eq!(told(&mut room, 0), [spawned(player), chest_there]);
    assert_eq!(told(&mut room, 0), []);
    room.server[player].health = 90;
    room.server[chest].gold = 6;
    room.settle();
    room.server[player].score = 2;
    room.settle();
    let changes = [
        changed(player.erase(), &["health"]),
        changed(chest.erase(), &["gold"]),
        changed(player.erase(), &["score"]),
    ];
    assert_eq!(told(&mut room, 0), changes);
    let second = room.server.spawn(Player { health: 3, ..Player::default() });
    room.settle();
    assert_eq!(told(&mut room, 0), [spawned(second)], "a new object has a value of each property");
    room.server[second].score = 4;
    room.settle();
    room.server.despawn(second);
    room.settle();
    let gone = (second.erase(), UpdateKind::Despawned(CloseReason::Destroyed), vec![]);
    assert_eq!(told(&mut room, 0), [changed(second.erase(), &["score"]), gone]);
}

#[test]
fn an_object_that_changes_before_the_next_poll_is_first_spawned_and_then_changed() {
    let (mut room, player, _) = room(1);
    told(&mut room, 0);
    let second = room.server.spawn(Player { health: 3, ..Player::default() });
    room.settle();
    room.server[second].score = 4;
    room.server[player].score = 4;
    room.settle();
    let mut updates = told(&mut room, 0);
    assert_eq!(updates.remove(0), (second.erase(), UpdateKind::Spawned, vec!["health", "ammo", "score"]));
    updates.sort_by_key(|(object, ..)| *object == second.erase());
    let changed = |player: ObjectRef<Player>| (player.erase(), UpdateKind::Changed, vec!["score"]);
    assert_eq!(updates, [changed(player), changed(second)]);
}

#[test]
fn a_client_knows_its_round_trip_and_what_was_lost() {
    let (mut room, player, _) = room(1);
    let mut lost = 0;
    for round in 0..400_u16 {
        room.server[player].health = round;
        let packets = room.tick_one();
        if round % 5 == 0 && round < 390 {
            lost += packets.len() as u64;
        } else {
            room.deliver(0, &packets);
        }
        room.acknowledge();
    }
    let (stats, id) = (room.client().connection_info().stats(), room.guests[0].id);
    assert_eq!(stats.packets_lost, lost);
    let measured = room.server.connection_info(id).stats().expect("connected").round_trip;
    let told = stats.round_trip.expect("it was told");
    assert!(told.abs_diff(measured) <= TICK && told > Duration::ZERO, "{told:?}, not {measured:?}");
    assert!(stats.bytes_received > 0 && stats.bytes_sent > 0);
}

#[test]
fn a_client_s_object_is_changed_by_index_until_the_server_sends_another_value() {
    let (mut room, player, _) = room(1);
    room.guests[0].client[player].health = 55;
    assert_eq!(room.client()[player].health, 55);
    assert_eq!(room.server[player].health, 100, "nothing of it is sent");
    room.server[player].health = 70;
    room.settle();
    assert_eq!(room.client()[player].health, 70);
}

#[test]
fn a_missing_object_has_no_owner_and_no_role() {
    let (room, player, _) = room(1);
    let next = player.guid().map(|guid| Guid::new(guid.slot(), guid.generation().saturating_add(1)));
    let stranger = ObjectRef::<Player>::new(next.expect("a guid"));
    assert_eq!(
        (room.client().object_info(stranger).is_owner(), room.client().object_info(stranger).role()),
        (false, None)
    );
}

#[test]
fn s204_an_object_that_is_given_to_a_client_before_it_was_sent_is_owned_from_the_start() {
    let (mut room, ..) = room(2);
    let owner = room.guests[0].id;
    let chest = room.server.spawn(Chest::default());
    room.server.object(chest).set_owner(Some(owner));
    room.settle();
    assert_eq!(views(&room, chest).iter().map(|(is_owner, _)| *is_owner).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn updates_of_a_removed_object_are_not_those_of_the_next_object_in_its_slot() {
    let (mut room, player, _) = room(1);
    assert_eq!(told(&mut room, 0).len(), 2);
    room.server[player].health = 3;
    room.settle();
    room.server.despawn(player);
    room.settle();
    let next = room.server.spawn(Player { score: 5, ..Player::default() });
    room.settle();
    assert_eq!(next.guid().map(|guid| guid.slot()), player.guid().map(|guid| guid.slot()));
    let expected = [
        (player.erase(), UpdateKind::Changed, vec!["health"]),
        (player.erase(), UpdateKind::Despawned(CloseReason::Destroyed), vec![]),
        (next.erase(), UpdateKind::Spawned, vec!["health", "ammo", "score"]),
    ];
    assert_eq!(told(&mut room, 0), expected);
}

#[test]
fn each_event_and_update_of_a_session_is_told_once_and_in_order() {
    for (copies, polls) in [(1, true), (1, false), (2, true), (2, false)] {
        let mut room = Room::new(ServerConfig::default(), register);
        let player = room.server.spawn(Player::default());
        let chest = room.server.spawn(Chest::default());
        let id = room.enter();
        let chest_there = (chest.erase(), UpdateKind::Spawned);
        let mut expected = vec![(player.erase(), UpdateKind::Spawned), chest_there.clone()];
        let (mut told, mut happened) = (Vec::new(), Vec::new());
        for step in 0..6 {
            match step {
                0 => {}
                1 => _ = room.server.object(player).set_owner(Some(id)),
                2 => _ = room.server.object(chest).set_visible(id, false),
                3 => _ = room.server.object(chest).set_visible(id, true),
                4 => room.server.despawn(player),
                _ => room.server.connection(id).disconnect(),
            }
            for _ in 0..20 {
                let replies = room.replies(0);
                (0..copies).for_each(|_| room.hear(0, &replies));
                for packet in room.tick_one() {
                    // After its session has ended, the client refuses all packets.
                    let now = room.now;
                    (0..copies).for_each(|_| _ = room.guests[0].client.receive(now, &packet));
                }
                if polls {
                    told.extend(room.polled(0));
                    happened.extend(events(&mut room, 0));
                }
            }
            expected.extend(match step {
                0 => None,
                1 => Some((player.erase(), UpdateKind::Owner)),
                2 => Some((chest.erase(), UpdateKind::Despawned(CloseReason::Relevancy))),
                3 => Some(chest_there.clone()),
                4 => Some((player.erase(), UpdateKind::Despawned(CloseReason::Destroyed))),
                _ => None,
            });
        }
        told.extend(room.polled(0));
        assert_eq!(told, expected, "{copies} copies of each packet");
        happened.extend(events(&mut room, 0));
        let closed = ClientEvent::Disconnected(DisconnectReason::Closed);
        assert_eq!(happened, [ClientEvent::Connected, ClientEvent::Synchronized, closed]);
        let told: Vec<_> = std::iter::from_fn(|| room.server.poll_event()).collect();
        let end = ServerEvent::Disconnected(id, DisconnectReason::Closed);
        assert_eq!(told, [ServerEvent::Connected(id), end]);
    }
}
