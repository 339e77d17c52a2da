//! Placed static objects with maps and sets. Their keys refer to objects that appear and disappear (S116,
//! S199).
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
        client.statics().place(PATH, Lock::default());
    };
    let (mut room, (lock, pawns)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let pawns = [server.spawn(pawn(1)), server.spawn(pawn(2))];
        let keys = pawns.into_iter().zip(1..).collect();
        (
            server.statics().spawn(PATH, Lock { keys, holders: BTreeSet::from(pawns), ..Lock::default() }),
            pawns,
        )
    });
    let id = room.guests[0].id;
    room.server.object(lock).set_visible(id, false);
    room.settle();
    room.server.object(pawns[1]).set_visible(id, false);
    room.settle();
    room.server.object(lock).set_visible(id, true);
    room.settle();
    let shown = &room.client()[lock];
    assert_eq!((&shown.keys, &shown.holders), (&[(pawns[0], 1)].into(), &[pawns[0]].into()));
    room.server.object(pawns[1]).set_visible(id, true);
    room.settle();
    let shown = &room.client()[lock];
    assert_eq!((&shown.keys, &shown.holders), (&[(pawns[0], 1), (pawns[1], 2)].into(), &pawns.into()));
}

#[test]
fn s116_s199_a_bound_object_shows_no_entries_of_what_went_while_a_condition_hid_them() {
    let register = |client: &mut Client| {
        client.register::<Pawn>().register::<Lock>();
        client.statics().place(PATH, Lock::default());
    };
    let (mut room, (lock, pawn)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let pawn = server.spawn(pawn(1));
        (server.statics().spawn(PATH, Lock { makers: BTreeSet::from([pawn]), ..Lock::default() }), pawn)
    });
    let id = room.guests[0].id;
    room.server.object(lock).set_owner(Some(id));
    room.settle();
    assert_eq!(room.client()[lock].makers, [pawn].into());
    // The client binds the lock again, and does not own it any more.
    room.server.object(lock).set_visible(id, false);
    room.server.object(lock).set_owner(None);
    room.settle();
    room.server.object(lock).set_visible(id, true);
    room.settle();
    room.server.object(pawn).set_visible(id, false);
    room.settle();
    room.server.object(lock).set_owner(Some(id));
    room.settle();
    assert_eq!(room.client()[lock].makers, [].into());
    room.server.object(pawn).set_visible(id, true);
    room.settle();
    assert_eq!(room.client()[lock].makers, [pawn].into());
}
