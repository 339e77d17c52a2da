//! Conditions between a live server and its clients: who gets what, and what happens when it changes (S34 to S48, S204, S205, R16).
//!
//! *Invariant:* what a client may not see never stands in a packet made for it.

mod support;

use repl::Condition;
use repl::prelude::*;
use support::{Room, leaks, property};

/// One property for each condition, in the order of their numbers.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
#[replicated(all)]
struct Every {
    none: u8,
    #[replicated(condition = InitialOnly)]
    initial_only: u8,
    #[replicated(condition = OwnerOnly)]
    owner_only: u8,
    #[replicated(condition = SkipOwner)]
    skip_owner: u8,
    #[replicated(condition = SimulatedOnly)]
    simulated_only: u8,
    #[replicated(condition = AutonomousOnly)]
    autonomous_only: u8,
    #[replicated(condition = SimulatedOrPhysics)]
    simulated_or_physics: u8,
    #[replicated(condition = InitialOrOwner)]
    initial_or_owner: u8,
    #[replicated(condition = Custom)]
    custom: u8,
    #[replicated(condition = ReplayOrOwner)]
    replay_or_owner: u8,
    #[replicated(condition = ReplayOnly)]
    replay_only: u8,
    #[replicated(condition = SimulatedOnlyNoReplay)]
    simulated_only_no_replay: u8,
    #[replicated(condition = SimulatedOrPhysicsNoReplay)]
    simulated_or_physics_no_replay: u8,
    #[replicated(condition = SkipReplay)]
    skip_replay: u8,
    #[replicated(condition = Dynamic)]
    dynamic: u8,
    #[replicated(condition = Never)]
    never: u8,
}

impl Every {
    fn set_all(&mut self, value: u8) {
        *self = Self::of([value; 16]);
    }

    fn of(values: [u8; 16]) -> Self {
        let [
            none,
            initial_only,
            owner_only,
            skip_owner,
            simulated_only,
            autonomous_only,
            simulated_or_physics,
            initial_or_owner,
            custom,
            replay_or_owner,
            replay_only,
            simulated_only_no_replay,
            simulated_or_physics_no_replay,
            skip_replay,
            dynamic,
            never,
        ] = values;
        Self {
            none,
            initial_only,
            owner_only,
            skip_owner,
            simulated_only,
            autonomous_only,
            simulated_or_physics,
            initial_or_owner,
            custom,
            replay_or_owner,
            replay_only,
            simulated_only_no_replay,
            simulated_or_physics_no_replay,
            skip_replay,
            dynamic,
            never,
        }
    }
}

/// How one connection sees the object.
#[derive(Clone, Copy, Debug, Default)]
struct View {
    owner: bool,
    simulated: bool,
    physics: bool,
    replay: bool,
}

impl View {
    /// What such a connection shows after the opening and after a change of everything (S35).
    fn expect(self, initial: bool) -> Every {
        let Self { owner, simulated, physics, replay } = self;
        let body = simulated || physics;
        let allowed = [
            true,
            initial,
            owner,
            !owner,
            simulated,
            !simulated,
            body,
            initial || owner,
            true,
            replay || owner,
            replay,
            simulated && !replay,
            body && !replay,
            !replay,
            true,
            false,
        ];
        Every::of(allowed.map(u8::from))
    }
}

fn room(guests: usize) -> (Room, ObjectRef<Every>) {
    let register = |client: &mut Client| {
        client.register::<Every>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| server.spawn(Every::default()))
}

fn seen(room: &Room, guest: usize, object: ObjectRef<Every>) -> Every {
    room.guests[guest].client.get(object).expect("the client has it").clone()
}

/// An owner, another, and a recorder, and how they see an object of this role.
fn spectators(role: Role, physics: bool) -> (Room, ObjectRef<Every>, [View; 3]) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Every>();
    });
    let object = room.server.spawn(Every::of([1; 16]));
    room.server.set_remote_role(object, role);
    room.server.set_replicates_physics(object, physics);
    let owner = room.enter();
    room.server.set_owner(object, Some(owner));
    room.enter();
    room.enter_replay();
    let simulated = |is_owner: bool| match role {
        Role::SimulatedProxy => true,
        Role::AutonomousProxy => !is_owner,
        _ => false,
    };
    let view = |owner, replay| View { owner, simulated: simulated(owner), physics, replay };
    (room, object, [view(true, false), view(false, false), view(false, true)])
}

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
fn s40_initial_only_is_compared_at_every_open() {
    let (mut room, object) = room(1);
    room.server[object].initial_only = 5;
    room.settle();
    assert_eq!(seen(&room, 0, object).initial_only, 0);
    room.enter();
    room.settle();
    assert_eq!((seen(&room, 0, object).initial_only, seen(&room, 1, object).initial_only), (0, 5));
    room.server[object].initial_only = 6;
    room.enter();
    room.settle();
    let shown: Vec<u8> = (0..3).map(|guest| seen(&room, guest, object).initial_only).collect();
    assert_eq!(shown, [0, 5, 6], "S43: who is open already gets none of it");
}

#[test]
fn s42_a_new_owner_gets_the_current_value_once() {
    let (mut room, object) = room(2);
    for value in 1..=5 {
        room.server[object].owner_only = value;
        room.step();
    }
    room.settle();
    assert_eq!(room.updates::<Every>(0, "owner_only"), 0);
    let owner = room.guests[0].id;
    room.server.set_owner(object, Some(owner));
    room.settle();
    assert_eq!((seen(&room, 0, object).owner_only, room.updates::<Every>(0, "owner_only")), (5, 1));
    assert_eq!(seen(&room, 1, object).owner_only, 0);
    room.server.set_owner(object, None);
    room.settle();
    room.server.set_owner(object, Some(owner));
    room.settle();
    assert_eq!(room.updates::<Every>(0, "owner_only"), 1, "it has that value already");
}

#[test]
fn s42_a_loss_while_inactive_is_made_good_when_active_again() {
    let (mut room, object) = room(1);
    let owner = room.guests[0].id;
    room.server.set_owner(object, Some(owner));
    room.settle();
    room.server[object].owner_only = 7;
    room.tick_one();
    room.server.set_owner(object, None);
    room.settle();
    assert_eq!(seen(&room, 0, object).owner_only, 0, "the lost value is not sent to whom may not see it");
    room.server.set_owner(object, Some(owner));
    room.settle();
    assert_eq!(seen(&room, 0, object).owner_only, 7);
}

#[test]
fn s44_if_filtering_leaves_nothing_nothing_is_written() {
    let (mut room, object) = room(2);
    room.server.set_owner(object, Some(room.guests[0].id));
    room.settle();
    room.server[object].owner_only = 1;
    let packets = room.tick();
    assert_eq!((packets[0].len(), packets[1].len()), (1, 0));
}

#[test]
fn s45_custom_switched_off_is_not_compared_and_a_difference_goes_to_all_when_on_again() {
    let (mut room, object) = room(2);
    let custom = property::<Every>("custom");
    room.server.set_custom_active(object, custom, false);
    room.server[object].custom = 4;
    room.settle();
    room.enter();
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| seen(&room, guest, object).custom), [0; 3]);
    room.server.set_custom_active(object, custom, true);
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| seen(&room, guest, object).custom), [4; 3]);
    room.server.set_custom_active(object, custom, false);
    room.server[object].custom = 9;
    room.step();
    room.server[object].custom = 4;
    room.server.set_custom_active(object, custom, true);
    assert!(room.tick().iter().all(Vec::is_empty), "no difference, nothing sent");
}

#[test]
fn s45_custom_can_be_switched_for_one_connection() {
    let (mut room, object) = room(2);
    let (custom, first) = (property::<Every>("custom"), room.guests[0].id);
    room.server.set_custom_active_for(first, object, custom, false);
    room.server[object].custom = 4;
    room.settle();
    assert_eq!([0, 1].map(|guest| seen(&room, guest, object).custom), [0, 4]);
    room.server.set_custom_active_for(first, object, custom, true);
    room.settle();
    assert_eq!((seen(&room, 0, object).custom, room.updates::<Every>(0, "custom")), (4, 1));
    room.server.set_custom_active_for(first, object, custom, false);
    room.settle();
    room.server.set_custom_active_for(first, object, custom, true);
    room.settle();
    assert_eq!(room.updates::<Every>(0, "custom"), 1, "it lacked nothing");
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

#[derive(Replicated, Default)]
struct Spy {
    #[replicated(condition = OwnerOnly)]
    orders: String,
    #[replicated(condition = SkipOwner)]
    rumours: String,
    #[replicated(condition = InitialOnly)]
    cover: String,
    #[replicated]
    place: [f32; 3],
}

#[test]
fn r16_no_packet_holds_what_its_receiver_may_not_see() {
    let register = |client: &mut Client| {
        client.register::<Spy>();
    };
    let (mut room, spies) = Room::furnished(ServerConfig::default(), register, 3, |server| {
        (0..4).map(|_| server.spawn(Spy::default())).collect::<Vec<_>>()
    });
    for tick in 0..240_usize {
        let spy = spies[tick % 4];
        let on_server = &mut room.server[spy];
        on_server.orders = format!("orders-canary-{tick:04}");
        on_server.rumours = format!("rumour-canary-{tick:04}");
        on_server.cover = format!("cover--canary-{tick:04}");
        on_server.place[tick % 3] += 0.5;
        if tick % 7 == 0 {
            let owner = [None, Some(0), Some(1), Some(2)][tick / 7 % 4];
            let owner = owner.map(|guest: usize| room.guests[guest].id);
            room.server.set_owner(spies[tick / 7 % 3], owner);
        }
        room.acknowledge();
        let owners = spies.iter().map(|&spy| room.server.owner(spy)).collect::<Vec<_>>();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            let bytes: Vec<u8> = packets.concat();
            let owns = |owner: &Option<ConnectionId>| *owner == Some(room.guests[guest].id);
            assert!(!leaks(&bytes, b"cover--canary"), "initial only, to an open object");
            assert!(
                owners.iter().any(owns) || !leaks(&bytes, b"orders-canary"),
                "tick {tick}, guest {guest}"
            );
            assert!(
                !owners.iter().all(owns) || !leaks(&bytes, b"rumour-canary"),
                "tick {tick}, guest {guest}"
            );
            // One packet in three is lost.
            if (tick + guest) % 3 > 0 {
                room.deliver(guest, &packets);
            }
        }
    }
    room.settle();
    for guest in &room.guests {
        for &spy in &spies {
            let (shown, truth) = (guest.client.get(spy).unwrap(), &room.server[spy]);
            let is_owner = room.server.owner(spy) == Some(guest.id);
            assert_eq!(shown.place, truth.place);
            assert_eq!(
                if is_owner { &shown.orders } else { &shown.rumours },
                if is_owner { &truth.orders } else { &truth.rumours }
            );
        }
    }
}

#[test]
fn r16_a_resend_is_filtered_by_the_conditions_of_its_own_moment() {
    let register = |client: &mut Client| {
        client.register::<Spy>();
    };
    let (mut room, spy) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Spy::default()));
    room.server.set_owner(spy, Some(room.guests[0].id));
    room.settle();
    room.server[spy].orders = "orders-canary".into();
    room.server[spy].place = [1.0; 3];
    assert!(leaks(&room.tick_one().concat(), b"orders-canary"));
    room.server.set_owner(spy, None);
    for _ in 0..60 {
        room.acknowledge();
        let packets = room.tick_one();
        assert!(!leaks(&packets.concat(), b"orders-canary"));
        room.deliver(0, &packets);
    }
    assert_eq!(room.client().get(spy).unwrap().place, [1.0; 3]);
}

#[test]
#[should_panic(
    expected = "`Every.owner_only` has the condition `OwnerOnly`: declare it with `condition = Custom` to set it at run time"
)]
fn a_custom_switch_of_another_condition_is_refused() {
    let (mut room, object) = room(0);
    room.server.set_custom_active(object, property::<Every>("owner_only"), false);
}

#[test]
#[should_panic(
    expected = "`Every.none` has the condition `None`: declare it with `condition = Custom` to set it at run time"
)]
fn a_custom_switch_for_one_connection_is_refused_too() {
    let (mut room, object) = room(1);
    let id = room.guests[0].id;
    room.server.set_custom_active_for(id, object, property::<Every>("none"), false);
}

#[test]
#[should_panic(
    expected = "`Every.custom` has the condition `Custom`: declare it with `condition = Dynamic` to set it at run time"
)]
fn a_dynamic_condition_of_another_property_is_refused() {
    let (mut room, object) = room(0);
    room.server.set_dynamic_condition(object, property::<Every>("custom"), Condition::OwnerOnly);
}
