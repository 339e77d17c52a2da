//! Which connections receive which property: the truth table, and connections whose view of an object changes
//! (S34 to S37, S204, S205).
//!
//! *Invariant:* expected values are computed from S35, and not from the library's own table.

use std::time::Duration;

use repl::Condition;
use repl::prelude::*;

use super::{Every, View, room, seen, spectators};
use crate::support::{SIGN_OF_LIFE_BYTES, property, size};

#[test]
fn s35_each_connection_opens_an_object_by_the_truth_table() {
    for role in [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority] {
        for physics in [false, true] {
            let (mut room, object, views) = spectators(role, physics);
            room.settle();
            for (guest, view) in views.into_iter().enumerate() {
                assert_eq!(seen(&room, guest, object), view.expect(true), "{role:?} {view:?}");
            }
        }
    }
}

#[test]
fn s35_each_connection_is_updated_by_the_truth_table() {
    for role in [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority] {
        for physics in [false, true] {
            let (mut room, object, views) = spectators(role, physics);
            room.server[object] = Every::default();
            room.settle();
            room.server[object].set_all(1);
            room.settle();
            for (guest, view) in views.into_iter().enumerate() {
                assert_eq!(seen(&room, guest, object), view.expect(false), "{role:?} {view:?}");
            }
        }
    }
}

#[test]
fn s36_a_view_follows_owner_role_and_physics_of_each_connection_at_run_time() {
    let (mut room, object, _) = spectators(Role::None, false);
    room.settle();
    let ids: Vec<ConnectionId> = room.guests.iter().map(|guest| guest.id).collect();
    let mut value = 1;
    for owner in [None, Some(0), Some(1), Some(2), Some(0), None] {
        for role in [Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority, Role::None] {
            for physics in [false, true] {
                room.server.object(object).set_owner(owner.map(|guest| ids[guest]));
                room.server.object(object).set_remote_role(role);
                room.server.object(object).set_replicates_physics(physics);
                value += 1;
                room.server[object].set_all(value);
                let before = [0, 1, 2].map(|guest| seen(&room, guest, object).values());
                room.settle();
                for (guest, before) in before.into_iter().enumerate() {
                    let is_owner = owner == Some(guest);
                    // An autonomous proxy counts as simulated for all clients except its owner (S204).
                    let simulated =
                        role == Role::SimulatedProxy || role == Role::AutonomousProxy && !is_owner;
                    let view = View { owner: is_owner, simulated, physics, replay: guest == 2 };
                    let allowed = view.expect(false).values();
                    let after = seen(&room, guest, object).values();
                    for (at, &allowed) in allowed.iter().enumerate() {
                        let expected = if allowed == 1 { value } else { before[at] };
                        assert_eq!(
                            after[at],
                            expected,
                            "{} at guest {guest}: {role:?} {view:?}",
                            Condition::ALL[at].name()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn s36_an_object_is_initial_until_its_opening_is_acknowledged() {
    let (mut room, _) = room(1);
    let late = room.server.spawn(Every::of([1; 17]));
    // The first opening is lost. The next packet is an opening too, and has the values of its own tick (S40).
    assert!(size(&room.tick_one()) > 0);
    room.server[late].initial_only = 2;
    room.wait(Duration::from_secs(1));
    room.settle();
    let opened = seen(&room, 0, late);
    assert_eq!((opened.none, opened.initial_only, opened.initial_or_owner), (1, 2, 1));
    room.server[late].set_all(3);
    room.settle();
    let updated = seen(&room, 0, late);
    assert_eq!((updated.none, updated.initial_only, updated.initial_or_owner), (3, 2, 1));
    // The object is hidden and shown again, so the server opens it again.
    let id = room.guests[0].id;
    room.server.object(late).set_visible(id, false);
    room.settle();
    room.server.object(late).set_visible(id, true);
    room.settle();
    let again = seen(&room, 0, late);
    assert_eq!((again.none, again.initial_only, again.initial_or_owner), (3, 3, 3));
}

#[test]
fn s37_never_is_never_sent() {
    let (mut room, object) = room(2);
    room.server[object].never = 9;
    assert!(room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 2, object).never, 0);
}

#[test]
fn s34_a_dynamic_condition_is_any_other_at_run_time() {
    let (mut room, object) = room(2);
    let dynamic = property::<Every>("dynamic");
    room.server.object(object).set_owner(Some(room.guests[0].id));
    let mut shown = [0, 0];
    for (condition, reaches) in [
        (Condition::OwnerOnly, [true, false]),
        (Condition::Never, [false, false]),
        (Condition::SkipOwner, [false, true]),
        (Condition::None, [true, true]),
        (Condition::ReplayOnly, [false, false]),
        (Condition::SkipReplay, [true, true]),
    ] {
        room.server.object(object).set_dynamic_condition(dynamic, condition);
        let value = room.server[object].dynamic + 1;
        room.server[object].dynamic = value;
        room.settle();
        for guest in 0..2 {
            shown[guest] = if reaches[guest] { value } else { shown[guest] };
            assert_eq!(seen(&room, guest, object).dynamic, shown[guest], "{condition:?}, guest {guest}");
        }
    }
}

#[test]
fn s204_only_its_owner_sees_an_autonomous_proxy() {
    let (mut room, object, _) = spectators(Role::AutonomousProxy, false);
    room.settle();
    assert_eq!((seen(&room, 0, object).autonomous_only, seen(&room, 0, object).simulated_only), (1, 0));
    assert_eq!((seen(&room, 1, object).autonomous_only, seen(&room, 1, object).simulated_only), (0, 1));
    assert_eq!(room.server.object_info(object).owner(), Some(room.guests[0].id));
    room.server.object(object).set_owner(Some(room.guests[1].id));
    room.server[object].autonomous_only = 2;
    room.server[object].simulated_only = 2;
    room.settle();
    assert_eq!((seen(&room, 0, object).autonomous_only, seen(&room, 0, object).simulated_only), (1, 2));
    assert_eq!(seen(&room, 1, object).autonomous_only, 2);
}

#[test]
fn s205_the_remote_role_decides_who_simulates() {
    let (mut room, object) = room(1);
    for (value, role, simulated) in [
        (1, Role::SimulatedProxy, true),
        (2, Role::Authority, false),
        (3, Role::SimulatedProxy, true),
        (4, Role::None, false),
    ] {
        room.server.object(object).set_remote_role(role);
        room.server[object].simulated_only = value;
        room.settle();
        let shown = seen(&room, 0, object).simulated_only;
        assert_eq!(shown == value, simulated, "{role:?}");
    }
}
