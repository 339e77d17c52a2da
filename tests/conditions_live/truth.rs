//! Who gets what: the truth table, and views that change (S34 to S37, S204, S205).
//!
//! *Invariant:* what is expected follows from S35, not from the library's own table.

use repl::Condition;
use repl::prelude::*;

use super::support::property;
use super::{Every, View, room, seen, spectators};

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
fn s36_a_view_follows_owner_role_and_physics_at_run_time() {
    let (mut room, object) = room(1);
    let id = room.guests[0].id;
    let mut value = 0;
    for owner in [None, Some(id)] {
        for role in [Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority] {
            for physics in [false, true] {
                room.server.set_owner(object, owner);
                room.server.set_remote_role(object, role);
                room.server.set_replicates_physics(object, physics);
                room.settle();
                let before = seen(&room, 0, object);
                value += 1;
                room.server[object].set_all(value);
                room.settle();
                let simulated =
                    role == Role::SimulatedProxy || role == Role::AutonomousProxy && owner.is_none();
                let allowed =
                    View { owner: owner.is_some(), simulated, physics, replay: false }.expect(false);
                let after = seen(&room, 0, object);
                let changed = |old: u8, new: u8, allowed: u8| {
                    assert_eq!(new, if allowed == 1 { value } else { old }, "{owner:?} {role:?} {physics}");
                };
                changed(before.owner_only, after.owner_only, allowed.owner_only);
                changed(before.skip_owner, after.skip_owner, allowed.skip_owner);
                changed(before.simulated_only, after.simulated_only, allowed.simulated_only);
                changed(before.autonomous_only, after.autonomous_only, allowed.autonomous_only);
                changed(
                    before.simulated_or_physics,
                    after.simulated_or_physics,
                    allowed.simulated_or_physics,
                );
            }
        }
    }
}

#[test]
fn s37_never_is_never_sent() {
    let (mut room, object) = room(2);
    room.server[object].never = 9;
    assert!(room.tick().iter().all(Vec::is_empty));
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 2, object).never, 0);
}

#[test]
fn s34_a_dynamic_condition_is_any_other_at_run_time() {
    let (mut room, object) = room(2);
    let dynamic = property::<Every>("dynamic");
    room.server.set_owner(object, Some(room.guests[0].id));
    let mut shown = [0, 0];
    for (condition, reaches) in [
        (Condition::OwnerOnly, [true, false]),
        (Condition::Never, [false, false]),
        (Condition::SkipOwner, [false, true]),
        (Condition::None, [true, true]),
        (Condition::ReplayOnly, [false, false]),
        (Condition::SkipReplay, [true, true]),
    ] {
        room.server.set_dynamic_condition(object, dynamic, condition);
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
    assert_eq!(room.server.owner(object), Some(room.guests[0].id));
    room.server.set_owner(object, Some(room.guests[1].id));
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
        room.server.set_remote_role(object, role);
        room.server[object].simulated_only = value;
        room.settle();
        let shown = seen(&room, 0, object).simulated_only;
        assert_eq!(shown == value, simulated, "{role:?}");
    }
}
