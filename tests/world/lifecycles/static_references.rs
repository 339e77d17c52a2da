//! Placed static objects with maps and sets whose keys refer to objects that come and go (S116, S199).
//!
//! *Invariant:* a client sees exactly the entries whose objects it has.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

const PATH: &str = "level1/lock_3";

/// An object of a level with references as keys.
#[derive(Replicated, Debug, Default)]
struct Lock {
    #[replicated]
    keys: BTreeMap<ObjectRef<Pawn>, u32>,
    #[replicated]
    holders: BTreeSet<ObjectRef<Pawn>>,
    #[replicated(condition = OwnerOnly)]
    makers: BTreeSet<ObjectRef<Pawn>>,
}

#[test]
fn s116_s199_an_object_that_is_bound_again_shows_no_entries_of_what_went_while_it_waited() {
    let register = |client: &mut Client| {
        client.register::<Pawn>().register::<Lock>();
        client.place_static(PATH, Lock::default());
    };
    let (mut room, (lock, pawns)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let pawns = [server.spawn(pawn(1)), server.spawn(pawn(2))];
        let keys = pawns.into_iter().zip(1..).collect();
        (server.spawn_static(PATH, Lock { keys, holders: BTreeSet::from(pawns), ..Lock::default() }), pawns)
    });
    let id = room.guests[0].id;
    room.server.set_visible(id, lock, false);
    room.settle();
    room.server.set_visible(id, pawns[1], false);
    room.settle();
    room.server.set_visible(id, lock, true);
    room.settle();
    let shown = &room.client()[lock];
    assert_eq!((&shown.keys, &shown.holders), (&[(pawns[0], 1)].into(), &[pawns[0]].into()));
    room.server.set_visible(id, pawns[1], true);
    room.settle();
    let shown = &room.client()[lock];
    assert_eq!((&shown.keys, &shown.holders), (&[(pawns[0], 1), (pawns[1], 2)].into(), &pawns.into()));
}

#[test]
fn s116_s199_a_bound_object_shows_no_entries_of_what_went_while_a_condition_hid_them() {
    let register = |client: &mut Client| {
        client.register::<Pawn>().register::<Lock>();
        client.place_static(PATH, Lock::default());
    };
    let (mut room, (lock, pawn)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let pawn = server.spawn(pawn(1));
        (server.spawn_static(PATH, Lock { makers: BTreeSet::from([pawn]), ..Lock::default() }), pawn)
    });
    let id = room.guests[0].id;
    room.server.set_owner(lock, Some(id));
    room.settle();
    assert_eq!(room.client()[lock].makers, [pawn].into());
    // The client binds the lock again, and does not own it any more.
    room.server.set_visible(id, lock, false);
    room.server.set_owner(lock, None);
    room.settle();
    room.server.set_visible(id, lock, true);
    room.settle();
    room.server.set_visible(id, pawn, false);
    room.settle();
    room.server.set_owner(lock, Some(id));
    room.settle();
    assert_eq!(room.client()[lock].makers, [].into());
    room.server.set_visible(id, pawn, true);
    room.settle();
    assert_eq!(room.client()[lock].makers, [pawn].into());
}
