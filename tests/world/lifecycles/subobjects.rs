//! S202, S203, S133, R22: subobjects, which live and die with another object.

use repl::{Audience, CloseReason, Group, Relevancy};

use super::*;
use crate::support::{Packets, leaks, size};

/// Returns a room with clients that have a tank with two turrets.
fn tank(guests: usize) -> (Room, ObjectRef<Pawn>, [ObjectRef<Pawn>; 2]) {
    let furnish = |server: &mut Server| {
        let tank = server.spawn(pawn(1));
        let turrets = [2, 3].map(|health| server.object(tank).spawn_subobject(pawn(health)).expect("a tank"));
        (tank, turrets)
    };
    let (room, (tank, turrets)) = Room::furnished(ServerConfig::default(), pawns, guests, furnish);
    (room, tank, turrets)
}

fn has(room: &Room, guest: usize, pawn: ObjectRef<Pawn>) -> bool {
    room.guests[guest].client.contains(pawn)
}

#[test]
fn s202_subobjects_are_seen_and_owned_and_removed_with_their_object() {
    let (mut room, tank, turrets) = tank(2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    assert!(turrets.iter().all(|&turret| has(&room, 0, turret) && has(&room, 1, turret)));
    assert!(turrets.iter().all(|&turret| room.server.object_info(turret).parent() == Some(tank.erase())));
    room.server.object(tank).set_owner(Some(one));
    room.server.object(tank).set_visible(other, false);
    room.settle();
    for turret in turrets {
        assert!(room.client().object_info(turret).is_owner() && !has(&room, 1, turret));
        assert_eq!(room.client()[turret].secret, room.server[turret].secret);
    }
    let scope = room.server.object(turrets[0]).spawn_subobject(pawn(4)).expect("a turret");
    room.server.object(tank).set_visible(other, true);
    room.settle();
    assert!(has(&room, 0, scope) && has(&room, 1, scope) && room.client().object_info(scope).is_owner());
    // Subobjects are added and removed at run time.
    room.server.despawn(turrets[0]);
    room.settle();
    assert!(!room.server.contains(scope) && !has(&room, 0, turrets[0]) && !has(&room, 0, scope));
    assert!(has(&room, 0, tank) && has(&room, 0, turrets[1]));
    room.server.despawn(tank);
    room.settle();
    assert!(!room.server.contains(turrets[1]) && !has(&room, 0, turrets[1]) && !has(&room, 1, turrets[1]));
    assert_eq!(room.server.object(tank).spawn_subobject(pawn(5)), None, "the parent is gone");
    let next = room.server.spawn(pawn(6));
    assert_eq!(room.server.object_info(next).parent(), None);
}

#[test]
fn s202_a_subobject_for_which_no_slot_is_free_is_an_error_and_changes_nothing() {
    let mut server = Server::new(ServerConfig { max_objects: 2, ..ServerConfig::default() });
    let tank = server.spawn(pawn(1));
    let turret = server.object(tank).try_spawn_subobject(pawn(2)).expect("a slot is free").expect("a tank");
    let error = server.object(tank).try_spawn_subobject(pawn(3)).expect_err("no slot is free");
    assert_eq!(error.max_objects, 2);
    assert_eq!((server.all_objects().count(), server.object_info(turret).parent()), (2, Some(tank.erase())));
    server.despawn(tank);
    assert_eq!(server.object(tank).try_spawn_subobject(pawn(4)), Ok(None), "the parent is gone");
    assert_eq!(server.all_objects().count(), 0);
}

#[test]
fn r22_an_object_and_its_subobjects_come_in_one_packet() {
    let (mut room, first, turrets) = tank(1);
    let subobjects = |room: &Room, pawn| room.client().object_info(pawn).subobjects().collect::<Vec<_>>();
    assert_eq!(subobjects(&room, first), turrets.map(ObjectRef::erase));
    assert_eq!(room.client().object_info(turrets[1]).parent(), Some(first.erase()));
    assert_eq!(room.client().object_info(first).parent(), None);
    let tank = room.server.spawn(pawn(4));
    let turret = room.server.object(tank).spawn_subobject(pawn(5)).expect("a tank");
    let scope = room.server.object(turret).spawn_subobject(pawn(6)).expect("a turret");
    let opening = room.tick_one();
    assert_eq!(opening.len(), 1);
    room.deliver(0, &opening);
    assert!([tank, turret, scope].iter().all(|pawn| has(&room, 0, *pawn)));
    assert_eq!(room.client().object_info(scope).parent(), Some(turret.erase()));
    room.server.despawn(turret);
    room.settle();
    assert!(subobjects(&room, tank).is_empty() && subobjects(&room, turret).is_empty());
    assert_eq!(room.client().object_info(scope).parent(), Some(turret.erase()), "it can still be read");
    room.polled(0);
    room.polled(0);
    assert_eq!(room.client().object_info(scope).parent(), None, "it does not exist");
    // New objects use the slots of the removed objects.
    let slots = [turret, scope].map(|pawn| pawn.guid().map(|guid| guid.slot()));
    let next: Vec<_> = (0..4).map(|health| room.server.spawn(pawn(health))).collect();
    room.settle();
    let taken = next.iter().filter(|pawn| slots.contains(&pawn.guid().map(|guid| guid.slot())));
    assert_eq!(taken.count(), 2);
    assert!(next.iter().all(|pawn| room.client().object_info(*pawn).parent().is_none()));
    assert!(subobjects(&room, tank).is_empty());
}

/// A part of a machine. All clients see the same properties of it, so its opening is encoded once for all
/// clients.
#[derive(Replicated, Debug, Default, Clone, PartialEq)]
struct Part {
    #[replicated]
    wear: u32,
    #[replicated]
    labels: Vec<u32>,
}

fn parts(client: &mut Client) {
    client.register::<Part>();
}

fn part(wear: u32) -> Part {
    Part { wear, labels: vec![wear; 3] }
}

/// Spawns a machine with two parts. One of the parts has a part too.
fn machine(server: &mut Server, wear: u32) -> [ObjectRef<Part>; 4] {
    let root = server.spawn(part(wear));
    let [wheel, engine] =
        [1, 2].map(|more| server.object(root).spawn_subobject(part(wear + more)).expect("a root"));
    let valve = server.object(engine).spawn_subobject(part(wear + 3)).expect("an engine");
    [root, wheel, engine, valve]
}

/// Returns which parts a client has. Asserts that their values equal the server's.
fn held(room: &Room, guest: usize, parts: &[ObjectRef<Part>]) -> Vec<bool> {
    let client = &room.guests[guest].client;
    let is_held = |&part: &ObjectRef<Part>| {
        let copy = client.get(part);
        assert!(copy.is_none_or(|copy| *copy == room.server[part]), "{part:?}");
        copy.is_some()
    };
    parts.iter().map(is_held).collect()
}

#[test]
fn r22_families_that_fill_many_packets_come_whole_to_all_who_see_them_alike() {
    for seed in 0..10 {
        let mut rng = repl::sim::Rng::new(seed);
        let (mut room, first) =
            Room::furnished(ServerConfig::default(), parts, 2, |server| machine(server, 1));
        assert_eq!(held(&room, 1, &first), [true; 4]);
        // There are other objects between the families, and some families have lost a part.
        let mut families = Vec::new();
        let mut others = Vec::new();
        for number in 0..200 {
            if number % 3 == 0 {
                others.push(room.server.spawn(part(number)));
            }
            families.push(machine(&mut room.server, number * 10));
            if number % 50 == 7 {
                let [_, wheel, ..] = families[number as usize / 2];
                room.server.despawn(wheel);
            }
        }
        room.enter();
        for _ in 0..30 {
            for (guest, packets) in room.tick().into_iter().enumerate() {
                let arriving: Vec<_> = packets.into_iter().filter(|_| !rng.chance(0.3)).collect();
                for packet in &arriving {
                    room.deliver(guest, std::slice::from_ref(packet));
                    for family in &families {
                        let existing: Vec<_> =
                            family.iter().copied().filter(|part| room.server.contains(*part)).collect();
                        let held = held(&room, guest, &existing);
                        assert!(held.iter().all(|is_held| *is_held == held[0]), "{seed}: a whole family");
                    }
                }
            }
            room.acknowledge();
        }
        room.settle();
        for guest in 0..3 {
            let client = &room.guests[guest].client;
            for [root, wheel, engine, valve] in &families {
                let parent = |part: &ObjectRef<Part>| client.object_info(*part).parent();
                assert_eq!([engine, valve].map(parent), [root, engine].map(|part| Some(part.erase())));
                assert_eq!(client.contains(*wheel), room.server.contains(*wheel));
            }
            assert!(others.iter().all(|other| client.contains(*other)));
        }
    }
}

#[test]
fn s202_a_new_subobject_of_what_a_client_may_not_see_is_not_seen() {
    let (mut room, [root, _, engine, _]) =
        Room::furnished(ServerConfig::default(), parts, 3, |server| machine(server, 1));
    let ids = [0, 1, 2].map(|guest| room.guests[guest].id);
    room.server.object(root).set_visible(ids[0], false);
    room.settle();
    let pipe = room.server.object(engine).spawn_subobject(part(7)).expect("an engine");
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| held(&room, guest, &[root, pipe])), [[false; 2], [true; 2], [true; 2]]);
    room.server.object(root).set_visible(ids[0], true).set_audience(Audience::Group(Group(3)));
    room.server.connection(ids[1]).join_group(Group(3));
    room.settle();
    let cable = room.server.object(engine).spawn_subobject(part(8)).expect("an engine");
    room.settle();
    let seen = [0, 1, 2].map(|guest| held(&room, guest, &[root, pipe, cable]));
    assert_eq!(seen, [[false; 3], [true; 3], [false; 3]]);
}

#[test]
fn r22_a_subobject_of_an_object_that_is_on_its_way_comes_with_it_again() {
    let (mut room, _, _) = tank(1);
    let tank = room.server.spawn(pawn(4));
    room.tick_one();
    let turret = room.server.object(tank).spawn_subobject(pawn(5)).expect("a tank");
    let both = room.tick_one();
    room.deliver(0, &both);
    assert!(has(&room, 0, tank) && has(&room, 0, turret), "the first packet was lost");
    assert_eq!(room.client().object_info(turret).parent(), Some(tank.erase()));
    // A change of one of the two objects sends both again until an ack arrives.
    room.server[turret].health = 9;
    let again = room.tick_one();
    room.deliver(0, &again);
    assert_eq!(room.client()[turret].health, 9);
    room.settle();
    assert_eq!(room.tick_one().len(), 0);
}

#[test]
fn r22_s193_a_family_that_does_not_fit_into_a_packet_comes_in_its_order() {
    let (mut room, _, _) = tank(1);
    let id = room.guests[0].id;
    let tank = room.server.spawn(pawn(4));
    let turrets: Vec<_> = (0..200)
        .map(|health| room.server.object(tank).spawn_subobject(pawn(health)).expect("a tank"))
        .collect();
    let opening = room.tick_one();
    assert_eq!(room.server.object_info(turrets[0]).why_not_sent_to(id), Some(NotSent::Unacknowledged));
    room.deliver(0, &opening);
    assert!(has(&room, 0, tank) && turrets.iter().all(|turret| !has(&room, 0, *turret)));
    room.settle();
    assert!(turrets.iter().all(|turret| has(&room, 0, *turret)));
    assert_eq!(room.client().object_info(tank).subobjects().count(), 200);
    assert_eq!(
        room.server.object_info(turrets[0]).why_not_sent_to(id),
        Some(NotSent::NoOwner),
        "it has a secret"
    );
}

#[test]
fn r22_s203_a_subobject_is_never_there_before_its_object_whatever_is_lost_and_late() {
    for seed in 0..40 {
        let mut rng = repl::sim::Rng::new(seed);
        let (mut room, _, _) = tank(1);
        let id = room.guests[0].id;
        let mut families: Vec<Vec<ObjectRef<Pawn>>> = Vec::new();
        let mut late = Packets::new();
        for tick in 0..200 {
            let is_end = tick >= 120;
            if !is_end && rng.chance(0.2) {
                // The slots of the last object and its subobjects are used in any order.
                let parent = room.server.spawn(pawn(tick));
                let mut family = vec![parent];
                for _ in 0..rng.range(1..4) {
                    let above = *rng.pick(&family).expect("a parent");
                    family.push(room.server.object(above).spawn_subobject(pawn(tick)).expect("it exists"));
                }
                families.push(family);
            }
            if !is_end && rng.chance(0.1) && !families.is_empty() {
                let family = families.swap_remove(rng.below(families.len() as u64) as usize);
                room.server.despawn(family[0]);
            }
            if let Some(family) = rng.pick(&families).filter(|_| !is_end) {
                room.server.object(family[0]).set_visible(id, rng.chance(0.7));
                let changed = *rng.pick(family).expect("one");
                room.server[changed].health += 1;
            }
            let loss = if is_end { 0.0 } else { 0.3 };
            late.extend(room.tick_one().into_iter().filter(|_| !rng.chance(loss)));
            let mut at = 0;
            while at < late.len() {
                if !is_end && rng.chance(0.4) {
                    at += 1;
                    continue;
                }
                let before: Vec<Vec<bool>> = families
                    .iter()
                    .map(|family| family.iter().map(|&pawn| has(&room, 0, pawn)).collect())
                    .collect();
                let packet = late.remove(at);
                room.deliver(0, &[packet]);
                for (family, before) in families.iter().zip(before) {
                    let is_new = has(&room, 0, family[0]) && !before[0];
                    let is_whole = family.iter().all(|pawn| has(&room, 0, *pawn));
                    assert!(!is_new || is_whole, "seed {seed}: a part of a family");
                    for (child, &pawn) in family.iter().enumerate().skip(1) {
                        let Some(above) = room.server.object_info(pawn).parent() else { continue };
                        let came = has(&room, 0, pawn) && !before[child];
                        assert!(!came || room.client().contains(above), "seed {seed}: a subobject alone");
                        let info = room.client().object_info(pawn);
                        let is_known = has(&room, 0, pawn) || info.departed().is_some();
                        assert_eq!(info.parent(), is_known.then_some(above), "seed {seed}");
                    }
                }
            }
            let replies: Packets = room.replies(0).into_iter().filter(|_| !rng.chance(loss)).collect();
            room.hear(0, &replies);
        }
        room.settle();
        for family in &families {
            for &pawn in family {
                assert_eq!(
                    has(&room, 0, pawn),
                    room.server.object_info(pawn).is_relevant_to(id),
                    "seed {seed}"
                );
            }
        }
    }
}

#[test]
fn s202_s211_a_lost_end_of_an_object_removes_its_subobjects_too() {
    let (mut room, tank, turrets) = tank(1);
    room.polled(0);
    room.server.despawn(tank);
    room.lose_until_noticed(0);
    room.settle();
    let mut removed = room.polled(0);
    removed.sort_by_key(|event| format!("{event:?}"));
    let destroyed = |pawn: ObjectRef<Pawn>| (pawn.erase(), UpdateKind::Despawned(CloseReason::Destroyed));
    let mut expected = [tank, turrets[0], turrets[1]].map(destroyed);
    expected.sort_by_key(|event| format!("{event:?}"));
    assert_eq!(removed, expected);
}

#[test]
fn s202_an_audience_narrows_who_sees_a_subobject() {
    let (mut room, tank, [gunsight, hatch]) = tank(3);
    let ids = [0, 1, 2].map(|guest| room.guests[guest].id);
    let crew = Group(7);
    room.server.object(tank).set_owner(Some(ids[0]));
    let radio = room.server.object(tank).spawn_subobject(pawn(9)).expect("a tank");
    room.server.object(gunsight).set_audience(Audience::Owner);
    room.server.object(hatch).set_audience(Audience::NotOwner);
    room.server.object(radio).set_audience(Audience::Group(crew));
    room.server.connection(ids[1]).join_group(crew);
    room.settle();
    let seen =
        |room: &Room| [0, 1, 2].map(|guest| [gunsight, hatch, radio].map(|pawn| has(room, guest, pawn)));
    assert_eq!(seen(&room), [[true, false, false], [false, true, true], [false, true, false]]);
    room.server.object(tank).set_owner(Some(ids[1]));
    room.server.connection(ids[1]).leave_group(crew);
    room.server.connection(ids[2]).join_group(crew);
    room.settle();
    assert_eq!(seen(&room), [[false, true, false], [true, false, false], [false, true, true]]);
    // A client that joins later sees only the subobjects whose audience it is in.
    let late = room.enter();
    room.server.connection(late).join_group(crew);
    room.settle();
    assert_eq!([gunsight, hatch, radio].map(|pawn| has(&room, 3, pawn)), [false, true, true]);
    // An audience shows nothing of an object that is not in sight.
    room.server.object(tank).set_visible(late, false);
    room.settle();
    assert_eq!([gunsight, hatch, radio].map(|pawn| has(&room, 3, pawn)), [false; 3]);
    room.server.object(gunsight).set_audience(Audience::Everyone);
    room.settle();
    assert!((0..3).all(|guest| has(&room, guest, gunsight)));
}

#[test]
fn s202_no_byte_of_a_subobject_goes_to_who_is_not_in_its_audience() {
    const SECRET: u32 = 0xdead_b1e5;
    let (mut room, tank, [gunsight, _]) = tank(2);
    let ids = [0, 1].map(|guest| room.guests[guest].id);
    room.server.object(gunsight).set_audience(Audience::Owner);
    room.server.object(tank).set_owner(Some(ids[0]));
    room.settle();
    room.server[gunsight].health = 1;
    room.tick();
    room.server[gunsight].health = SECRET;
    room.server.object(tank).set_owner(Some(ids[1]));
    let mut arrived = false;
    for _ in 0..60 {
        let packets = room.tick();
        assert!(!packets[0].iter().any(|packet| leaks(packet, &SECRET.to_le_bytes())));
        arrived |= packets[1].iter().any(|packet| leaks(packet, &SECRET.to_le_bytes()));
        (0..2).for_each(|guest| room.deliver(guest, &packets[guest]));
        room.acknowledge();
    }
    assert!(arrived && health(&room, 1, gunsight) == Some(SECRET));
}

#[test]
fn s133_each_connection_gets_what_changed_in_subobjects_alone() {
    // The first connection has everything, the second has lost a change of the subobject only, the third has
    // just joined.
    let (mut room, tank, [turret, other]) = Room::measuring(|| tank(2));
    room.server[turret].health = 50;
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    room.acknowledge();
    // Later changes of the tank arrive at both clients, and do not hide that the change of the turret was
    // lost.
    for round in 0..3 {
        room.server[tank].health = 60 + round;
        let packets = room.tick();
        (0..2).for_each(|guest| room.deliver(guest, &packets[guest]));
        room.acknowledge();
    }
    room.enter();
    let updates = room.updates::<Pawn>(0, "health");
    room.settle();
    for guest in 0..3 {
        assert_eq!(
            [tank, turret, other].map(|pawn| health(&room, guest, pawn)),
            [Some(62), Some(50), Some(3)]
        );
    }
    assert_eq!(room.updates::<Pawn>(0, "health"), updates, "who has everything gets nothing again");
}

#[test]
fn s210_subobjects_are_torn_off_with_their_object_and_told_first() {
    let (mut room, tank, turrets) = tank(1);
    room.polled(0);
    for pawn in [tank, turrets[0], turrets[1]] {
        room.server[pawn].health += 10;
    }
    let new = room.server.object(tank).spawn_subobject(pawn(30)).expect("a tank");
    room.server.object(tank).tear_off();
    room.lose_until_noticed(0);
    room.settle();
    let all = [tank, turrets[0], turrets[1], new];
    assert_eq!(all.map(|pawn| health(&room, 0, pawn)), [Some(11), Some(12), Some(13), Some(30)]);
    assert!(all.iter().all(|&pawn| room.client().object_info(pawn).is_torn_off()));
    assert_eq!(room.polled(0).last(), Some(&(tank.erase(), UpdateKind::TornOff)));
    assert_eq!(room.server.object(tank).spawn_subobject(pawn(5)), None);
}

#[test]
#[should_panic(expected = "a subobject is seen with its parent: use `set_audience`")]
fn s202_the_relevancy_of_a_subobject_is_its_parents() {
    let (mut room, _, [turret, _]) = tank(0);
    room.server.object(turret).set_relevancy(Relevancy::Always);
}

#[test]
#[should_panic(expected = "the parent of a subobject owns it: set the owner of the parent")]
fn s202_the_owner_of_a_subobject_is_its_parents() {
    let (mut room, _, [turret, _]) = tank(0);
    room.server.object(turret).set_owner(None);
}

/// Returns a room for this many objects, with one client that has a machine.
fn machine_room(max_objects: usize) -> (Room, [ObjectRef<Part>; 4]) {
    let config = ServerConfig { max_objects, ..ServerConfig::default() };
    Room::furnished(config, parts, 1, |server| machine(server, 1))
}

/// Asserts that the client has no objects, and that the server can use their slots again.
fn assert_all_are_gone(room: &mut Room, max_objects: usize) {
    room.settle();
    assert_eq!(room.client().objects::<Part>().count(), 0);
    for _ in 0..max_objects {
        room.server.try_spawn(Part::default()).expect("the slots are free");
    }
    room.settle();
    assert_eq!(room.client().objects::<Part>().count(), max_objects);
}

#[test]
fn r22_a_family_of_which_nothing_else_is_to_be_said_is_removed_with_its_root() {
    let sizes = [1, 4].map(|members| {
        let (mut room, machine) = machine_room(4);
        let removed = machine[4 - members];
        room.server.despawn(removed);
        let removal = room.tick_one();
        room.deliver(0, &removal);
        assert_eq!(room.client().objects::<Part>().count(), 4 - members);
        size(&removal)
    });
    assert!(sizes[1] <= sizes[0] + 1, "one part: {}, the machine: {} bytes", sizes[0], sizes[1]);
    let (mut room, machine) = machine_room(4);
    room.polled(0);
    room.server.despawn(machine[0]);
    room.step();
    let told: Vec<_> = room.polled(0).into_iter().map(|(object, _)| object).collect();
    let position = |part: &ObjectRef<Part>| told.iter().position(|told| *told == part.erase());
    let positions = machine.each_ref().map(position);
    assert!(positions.iter().all(Option::is_some) && positions[1..].iter().all(|at| *at < positions[0]));
    assert_all_are_gone(&mut room, 4);
}

#[test]
fn r22_a_lost_removal_of_a_family_is_sent_again() {
    let (mut room, machine) = machine_room(4);
    room.server.despawn(machine[0]);
    room.lose_until_noticed(0);
    assert_eq!(room.client().objects::<Part>().count(), 4);
    assert_all_are_gone(&mut room, 4);
}

#[test]
fn r22_what_comes_late_of_a_family_that_is_gone_is_not_taken() {
    // A part or a whole machine is in flight when it is removed.
    for has_machine in [true, false] {
        let (mut room, machine) = machine_room(8);
        if !has_machine {
            room.server.despawn(machine[0]);
            room.settle();
        }
        let root = if has_machine { machine[0] } else { room.server.spawn(Part::default()) };
        room.server.object(root).spawn_subobject(Part::default()).expect("a machine");
        let opening = room.tick_one();
        room.server.despawn(root);
        let removal = room.tick_one();
        room.deliver(0, &removal);
        room.deliver(0, &opening);
        assert_eq!(room.client().objects::<Part>().count(), 0);
        assert_all_are_gone(&mut room, 8);
    }
}

#[test]
fn r22_a_subobject_and_then_its_object_are_removed_in_one_tick() {
    for part in 1..4 {
        let (mut room, machine) = machine_room(4);
        room.server.despawn(machine[part]);
        room.server.despawn(machine[0]);
        assert_all_are_gone(&mut room, 4);
        let (mut room, machine) = machine_room(4);
        room.server.despawn(machine[part]);
        room.tick_one();
        room.server.despawn(machine[0]);
        assert_all_are_gone(&mut room, 4);
        // With a budget, objects are sent in the order of their priorities. The machine changes before its
        // despawn, so it has a last state.
        let (mut room, machine) = machine_room(4);
        let id = room.guests[0].id;
        room.server.connection(id).set_budget(100_000);
        room.server.despawn(machine[part]);
        room.server[machine[0]].wear = 9;
        room.server.despawn(machine[0]);
        assert_all_are_gone(&mut room, 4);
    }
}

#[test]
fn r22_families_of_the_same_shape_cost_little_more_than_their_values() {
    const FAMILIES: usize = 200;
    let opened = |spawn: &dyn Fn(&mut Server)| {
        let (mut room, _) =
            Room::furnished(ServerConfig::default(), parts, 1, |server| server.spawn(part(0)));
        spawn(&mut room.server);
        let openings = room.tick_one();
        room.deliver(0, &openings);
        assert_eq!(room.client().objects::<Part>().count(), 1 + 4 * FAMILIES);
        assert!(room.client().objects::<Part>().all(|(part, copy)| *copy == room.server[part]));
        size(&openings)
    };
    let alone =
        opened(&|server| (0..FAMILIES).for_each(|_| (1..5).for_each(|wear| _ = server.spawn(part(wear)))));
    let one_by_one = opened(&|server| (0..FAMILIES).for_each(|_| _ = machine(server, 1)));
    // A plug-in for an ECS may spawn objects in this order.
    let roots_first = opened(&|server| {
        let roots: Vec<_> = (0..FAMILIES).map(|_| server.spawn(part(1))).collect();
        for wear in 2..5 {
            roots.iter().for_each(|&root| {
                server.object(root).spawn_subobject(part(wear)).expect("a root");
            });
        }
    });
    assert!(roots_first * 100 <= alone * 110, "{alone} bytes alone, {roots_first} in families");
    assert!(one_by_one * 100 <= alone * 130, "{alone} bytes alone, {one_by_one} in families");
}
