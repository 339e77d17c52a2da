//! S204: objects that are owned by other objects.

use repl::Relevancy;

use super::*;
use crate::support::leaks;

/// Returns a room with clients and a chain of pawns. Each pawn owns the next.
fn chain(guests: usize) -> (Room, [ObjectRef<Pawn>; 3]) {
    let (mut room, top) = one_pawn(guests);
    let below = [2, 3].map(|health| room.server.spawn(pawn(health)));
    let chain = [top, below[0], below[1]];
    room.server.object(chain[1]).set_owner_object(chain[0]);
    room.server.object(chain[2]).set_owner_object(chain[1]);
    room.settle();
    (room, chain)
}

/// Returns for each pawn whether a guest owns it, its role, and the secret that the guest knows.
fn seen(room: &Room, guest: usize, pawns: &[ObjectRef<Pawn>]) -> Vec<(bool, Option<Role>, u32)> {
    let client = &room.guests[guest].client;
    let of = |&pawn: &ObjectRef<Pawn>| {
        let secret = client.get(pawn).map_or(0, |pawn| pawn.secret);
        (client.object_info(pawn).is_owner(), client.object_info(pawn).role(), secret)
    };
    pawns.iter().map(of).collect()
}

#[test]
fn s204_the_connection_at_the_top_of_a_chain_owns_all_objects_in_it() {
    let (mut room, chain) = chain(2);
    chain.iter().for_each(|&pawn| _ = room.server.object(pawn).set_remote_role(Role::AutonomousProxy));
    room.settle();
    let stranger = vec![(false, Some(Role::SimulatedProxy), 0); 3];
    assert_eq!(seen(&room, 0, &chain), stranger);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    room.server.object(chain[0]).set_owner(Some(one));
    room.settle();
    let owner: Vec<_> =
        [1, 2, 3].map(|health| (true, Some(Role::AutonomousProxy), health + 1_000)).into_iter().collect();
    assert_eq!((seen(&room, 0, &chain), seen(&room, 1, &chain)), (owner.clone(), stranger));
    assert!(chain.iter().all(|&pawn| room.server.object_info(pawn).owner() == Some(one)));
    room.server.object(chain[0]).set_owner(Some(other));
    room.settle();
    assert_eq!(seen(&room, 1, &chain), owner);
    let owners = chain.map(|pawn| room.server.object_info(pawn).owner_object());
    assert_eq!(owners, [None, Some(chain[0].erase()), Some(chain[1].erase())]);
}

#[test]
fn s204_a_change_at_the_top_shows_and_removes_what_only_owners_see() {
    let (mut room, chain) = chain(2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    chain.iter().for_each(|&pawn| _ = room.server.object(pawn).set_relevancy(Relevancy::OwnerOnly));
    for (owner, guest) in [(one, Some(0)), (other, Some(1))] {
        room.server.object(chain[0]).set_owner(Some(owner));
        room.settle();
        for at in 0..2 {
            let has = chain.map(|pawn| room.guests[at].client.contains(pawn));
            assert_eq!(has, [guest == Some(at); 3]);
        }
    }
    room.server.object(chain[0]).set_owner(None);
    room.settle();
    assert!(chain.iter().all(|&pawn| !room.guests[1].client.contains(pawn)));
}

#[test]
fn s204_no_byte_for_the_owner_goes_to_who_was_the_owner_of_a_chain() {
    const SECRET: u32 = 0xdead_b1e5;
    let (mut room, chain) = chain(2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    room.server.object(chain[0]).set_owner(Some(one));
    room.settle();
    // The secrets of the old owner are in flight and lost. They must not be sent again with new values.
    for &pawn in &chain {
        room.server[pawn].secret = 1;
    }
    room.tick();
    for &pawn in &chain {
        room.server[pawn].secret = SECRET;
    }
    room.server.object(chain[0]).set_owner(Some(other));
    let mut arrived = false;
    for _ in 0..100 {
        let packets = room.tick();
        assert!(!packets[0].iter().any(|packet| leaks(packet, &SECRET.to_le_bytes())));
        arrived |= packets[1].iter().any(|packet| leaks(packet, &SECRET.to_le_bytes()));
        (0..2).for_each(|guest| room.deliver(guest, &packets[guest]));
        room.acknowledge();
    }
    assert!(arrived, "the new owner gets the secrets");
    assert!(seen(&room, 1, &chain).iter().all(|(_, _, secret)| *secret == SECRET));
}

#[test]
fn s204_what_a_removed_object_owned_has_no_owner() {
    let (mut room, chain) = chain(1);
    let id = room.guests[0].id;
    room.server.object(chain[0]).set_owner(Some(id));
    room.settle();
    room.server.despawn(chain[1]);
    room.settle();
    assert_eq!(
        (room.server.object_info(chain[0]).owner(), room.server.object_info(chain[2]).owner()),
        (Some(id), None)
    );
    assert_eq!(room.server.object_info(chain[2]).owner_object(), None);
    assert!(
        !room.client().object_info(chain[2]).is_owner() && room.client().object_info(chain[0]).is_owner()
    );
    // The next object in the slot owns nothing.
    let next = room.server.spawn(pawn(9));
    assert_eq!(next.guid().map(|guid| guid.slot()), chain[1].guid().map(|guid| guid.slot()));
    room.server.object(next).set_owner(Some(id));
    assert_eq!(
        (room.server.object_info(chain[2]).owner(), room.server.object_info(next).owner_object()),
        (None, None)
    );
}

/// Returns a room with two clients, and a chain of five pawns that the first client owns. All are autonomous
/// proxies.
fn long_chain() -> (Room, Vec<ObjectRef<Pawn>>) {
    let (mut room, top) = chain(2);
    let mut chain = top.to_vec();
    for health in [4, 5] {
        let (last, next) = (chain[chain.len() - 1], room.server.spawn(pawn(health)));
        room.server.object(next).set_owner_object(last);
        chain.push(next);
    }
    chain.iter().for_each(|&pawn| _ = room.server.object(pawn).set_remote_role(Role::AutonomousProxy));
    room.server.object(chain[0]).set_owner(Some(room.guests[0].id));
    room.settle();
    (room, chain)
}

/// Writes new secrets to pawns, and asserts that no client owns the pawns or gets these secrets. `secrets`
/// are the old secrets that the first client still has.
fn assert_without_owner(room: &mut Room, pawns: &[ObjectRef<Pawn>], secrets: &[u32]) {
    pawns.iter().for_each(|&pawn| room.server[pawn].secret = 7);
    room.settle();
    let owners = pawns.iter().map(|&pawn| room.server.object_info(pawn).owner());
    assert!(owners.clone().all(|owner| owner.is_none()), "{owners:?}");
    let of_stranger = |secret: &u32| (false, Some(Role::SimulatedProxy), *secret);
    assert_eq!(seen(room, 0, pawns), secrets.iter().map(of_stranger).collect::<Vec<_>>());
    assert_eq!(seen(room, 1, pawns), vec![of_stranger(&0); pawns.len()]);
}

#[test]
fn s204_the_connection_at_the_top_owns_what_is_three_and_four_objects_below() {
    let (mut room, chain) = long_chain();
    let owner: Vec<_> = (1..=5).map(|health| (true, Some(Role::AutonomousProxy), health + 1_000)).collect();
    assert_eq!(seen(&room, 0, &chain), owner);
    assert_eq!(seen(&room, 1, &chain), vec![(false, Some(Role::SimulatedProxy), 0); 5]);
    room.server.object(chain[0]).set_owner(None);
    assert_without_owner(&mut room, &chain, &[1_001, 1_002, 1_003, 1_004, 1_005]);
}

#[test]
fn s204_nothing_below_a_removed_top_has_an_owner_though_the_rest_of_the_chain_stays() {
    let (mut room, chain) = long_chain();
    room.server.despawn(chain[0]);
    room.settle();
    assert_without_owner(&mut room, &chain[1..], &[1_002, 1_003, 1_004, 1_005]);
    let owners: Vec<_> =
        chain[1..].iter().map(|&pawn| room.server.object_info(pawn).owner_object()).collect();
    assert_eq!(owners, [None, Some(chain[1].erase()), Some(chain[2].erase()), Some(chain[3].erase())]);
    // The client that gets the new top of the chain also gets all objects below it.
    let other = room.guests[1].id;
    room.server.object(chain[1]).set_owner(Some(other));
    room.settle();
    assert_eq!(seen(&room, 1, &chain[1..]), vec![(true, Some(Role::AutonomousProxy), 7); 4]);
}

#[test]
fn s204_an_owner_of_its_own_takes_an_object_out_of_the_chain() {
    let (mut room, chain) = chain(2);
    let [one, other] = [0, 1].map(|guest| room.guests[guest].id);
    room.server.object(chain[1]).set_owner(Some(other));
    room.server.object(chain[0]).set_owner(Some(one));
    assert_eq!(
        chain.map(|pawn| room.server.object_info(pawn).owner()),
        [Some(one), Some(other), Some(other)]
    );
    room.server.object(chain[1]).set_owner_object(chain[0]);
    assert_eq!(chain.map(|pawn| room.server.object_info(pawn).owner()), [Some(one); 3]);
    room.server.object(chain[1]).set_owner(None);
    assert_eq!(chain.map(|pawn| room.server.object_info(pawn).owner()), [Some(one), None, None]);
    let gone = room.server.spawn(pawn(4));
    room.server.despawn(gone);
    room.server.object(chain[2]).set_owner_object(gone);
    room.server.object(gone).set_owner_object(chain[0]);
    assert_eq!(
        (room.server.object_info(chain[2]).owner(), room.server.object_info(chain[2]).owner_object()),
        (None, None)
    );
}

#[test]
#[should_panic(expected = "an object cannot own itself, nor what owns it")]
fn s204_circles_of_owners_are_refused() {
    let (mut room, chain) = chain(0);
    room.server.object(chain[0]).set_owner_object(chain[2]);
}
