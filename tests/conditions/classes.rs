//! Conditions: which connections may receive a property, as far as the class of an object decides this (S34
//! to S41). Tests with a live server and clients are in other files, except the tests of roles.

use crate::pair::{Pair, handles};
use crate::support::{Room, size};
use repl::Condition;
use repl::prelude::*;
use repl::tools::{Class, ViewFlags};

/// Returns whether a property is sent. The argument has the flags as bits.
type Allows = fn(u8) -> bool;

/// The conditions, ascending by number (S34), each with its row of the truth table S35. I, O, S, P, R and F
/// are the bits of the flags initial, owner, simulated, physics, replay and far.
const TABLE: [(Condition, &str, Allows); 17] = {
    const I: u8 = 1;
    const O: u8 = 2;
    const S: u8 = 4;
    const P: u8 = 8;
    const R: u8 = 16;
    const F: u8 = 32;
    [
        (Condition::None, "None", |_| true),
        (Condition::InitialOnly, "InitialOnly", |flags| flags & I != 0),
        (Condition::OwnerOnly, "OwnerOnly", |flags| flags & O != 0),
        (Condition::SkipOwner, "SkipOwner", |flags| flags & O == 0),
        (Condition::SimulatedOnly, "SimulatedOnly", |flags| flags & S != 0),
        (Condition::AutonomousOnly, "AutonomousOnly", |flags| flags & S == 0),
        (Condition::SimulatedOrPhysics, "SimulatedOrPhysics", |flags| flags & (S | P) != 0),
        (Condition::InitialOrOwner, "InitialOrOwner", |flags| flags & (I | O) != 0),
        (Condition::Custom, "Custom", |_| true),
        (Condition::ReplayOrOwner, "ReplayOrOwner", |flags| flags & (R | O) != 0),
        (Condition::ReplayOnly, "ReplayOnly", |flags| flags & R != 0),
        (Condition::SimulatedOnlyNoReplay, "SimulatedOnlyNoReplay", |flags| flags & (S | R) == S),
        (Condition::SimulatedOrPhysicsNoReplay, "SimulatedOrPhysicsNoReplay", |flags| {
            flags & R == 0 && flags & (S | P) != 0
        }),
        (Condition::SkipReplay, "SkipReplay", |flags| flags & R == 0),
        (Condition::Dynamic, "Dynamic", |_| true),
        (Condition::Never, "Never", |_| false),
        (Condition::NearOnly, "NearOnly", |flags| flags & F == 0 || flags & O != 0),
    ]
};

fn flags(bits: u8) -> ViewFlags {
    let named = [
        ViewFlags::INITIAL,
        ViewFlags::OWNER,
        ViewFlags::SIMULATED,
        ViewFlags::PHYSICS,
        ViewFlags::REPLAY,
        ViewFlags::FAR,
    ];
    let given = named.iter().enumerate();
    given.fold(ViewFlags::default(), |flags, (bit, &flag)| flags.with_if(flag, bits >> bit & 1 == 1))
}

#[test]
fn s34_conditions_have_unreals_names_and_numbers() {
    for (number, (condition, name, _)) in TABLE.into_iter().enumerate() {
        assert_eq!(condition as usize, number);
        assert_eq!(condition.name(), name);
        assert_eq!(Condition::ALL[number], condition);
    }
}

#[test]
fn s35_the_truth_table_holds_for_all_flags_and_conditions() {
    for bits in 0..64 {
        for (condition, name, allows) in TABLE {
            assert_eq!(condition.allows(flags(bits)), allows(bits), "{name} with {bits:06b}");
        }
    }
}

#[test]
fn s36_flags_are_set_and_taken_singly() {
    let both = ViewFlags::OWNER.with(ViewFlags::REPLAY);
    assert!(both.has(ViewFlags::OWNER) && both.has(ViewFlags::REPLAY) && both.has(both));
    assert!(!ViewFlags::OWNER.has(both));
    assert_eq!(both.with_if(ViewFlags::INITIAL, false), both);
}

#[derive(Replicated, Default)]
struct Soldier {
    #[replicated]
    health: u16,
    #[replicated(condition = OwnerOnly)]
    ammo: [u8; 2],
    #[replicated(condition = InitialOnly)]
    name: String,
    #[replicated(condition = Never)]
    secret: u32,
    #[replicated(condition = SkipOwner)]
    pose: (u8, u8),
    #[replicated(condition = Custom)]
    cheat: bool,
    #[replicated(condition = SimulatedOnly, push)]
    stance: u8,
    #[replicated(condition = InitialOnly, push)]
    born: u32,
}

#[test]
fn s35_s73_each_outcome_of_flags_is_a_set_of_whole_properties() {
    let class = Class::<Soldier>::new();
    let own = |property| handles_of(&class, property);
    for bits in 0..64 {
        for (index, (condition, name, allows)) in TABLE.into_iter().enumerate() {
            let properties = (0..Soldier::LAYOUT.properties()).map(PropertyIndex::new);
            for property in
                properties.filter(|&property| class.conditions().condition_of(property) == condition)
            {
                let active = class.conditions().active(flags(bits));
                let members = class.conditions().handles_of(property);
                assert_eq!(members.is_subset(active), allows(bits), "{index} {name} with {bits:06b}");
                assert_eq!(members.intersects(active), allows(bits), "{index} {name} with {bits:06b}");
            }
        }
    }
    assert_eq!(own("ammo"), [2, 3]);
    assert_eq!(own("pose"), [6, 7]);
    assert!(class.conditions().is_conditional());
}

fn handles_of(class: &Class<Soldier>, property: &str) -> Vec<u32> {
    class.conditions().handles_of(Soldier::LAYOUT.property(property).erase()).iter().collect()
}

#[test]
fn s37_s39_s40_never_is_never_compared_and_initial_only_only_at_an_opening() {
    let class = Class::<Soldier>::new();
    assert_eq!(*class.conditions().ordinary(), handles([1, 2, 3, 6, 7, 8]));
    assert_eq!(*class.conditions().initial_only(), handles([4, 10]));
    assert_eq!(*class.conditions().push(), handles([9]));
    let (mut live, shadow) = (Soldier::default(), class.shadow_of(&Soldier::default()));
    (live.name, live.secret, live.stance, live.born) = ("Ann".into(), 7, 7, 7);
    assert!(!class.differs(&live, &shadow, &[]));
}

/// One property for clients with a simulated proxy, one for all other clients, and one for all clients
/// together.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Pawn {
    health: u8,
    #[replicated(condition = SimulatedOnly)]
    pose: u8,
    #[replicated(condition = AutonomousOnly)]
    aim: u8,
}

/// Returns a server with a pawn of this role, and a client that will own it. The pawn has not been sent yet.
fn room_with_a_pawn(role: Role) -> (Room, ObjectRef<Pawn>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Pawn>();
    });
    room.server.register::<Pawn>();
    let owner = room.enter();
    room.settle();
    let pawn = room.server.spawn(Pawn::default());
    room.server.object(pawn).set_owner(Some(owner));
    room.server.object(pawn).set_remote_role(role);
    (room, pawn)
}

#[test]
fn s38_the_role_decides_conditions() {
    let (mut room, pawn) = room_with_a_pawn(Role::SimulatedProxy);
    let shown = |room: &Room| (room.client()[pawn].pose, room.client()[pawn].aim);
    (room.server[pawn].pose, room.server[pawn].aim) = (1, 2);
    room.settle();
    assert_eq!(shown(&room), (1, 0));
    room.server.object(pawn).set_remote_role(Role::AutonomousProxy);
    room.settle();
    assert_eq!(shown(&room), (1, 2));
    (room.server[pawn].pose, room.server[pawn].aim) = (3, 4);
    room.settle();
    assert_eq!(shown(&room), (1, 4));
}

#[test]
fn s38_the_role_is_no_property_and_is_sent_to_each_connection_beside_shared_data() {
    let layout = Pawn::LAYOUT;
    let names: Vec<_> =
        (0..layout.properties()).map(|at| layout.property_name(PropertyIndex::new(at))).collect();
    assert_eq!(names, ["health", "pose", "aim"]);
    assert_eq!(layout.counts().handles, 3);

    let roles = [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority];
    let openings = roles.map(|role| room_with_a_pawn(role).0.tick_one());
    let sizes = openings.each_ref().map(|opening| size(opening));
    assert!(sizes.iter().all(|&size| size == sizes[1] || size == sizes[1] + 1), "{sizes:?}");

    let (mut room, pawn) = room_with_a_pawn(Role::None);
    room.settle();
    for role in roles {
        room.server.object(pawn).set_remote_role(role);
        let told = room.tick_one();
        assert!(size(&told) <= 16, "{role:?} changes no value");
        room.deliver(0, &told);
        room.settle();
        assert_eq!(room.client().object_info(pawn).role(), Some(role), "its owner's role");
    }
}

#[test]
fn s39_conditions_do_not_affect_comparing() {
    let mut pair = Pair::<Soldier>::new();
    pair.live.health = 9;
    pair.live.ammo = [1, 0];
    pair.live.pose.1 = 3;
    pair.live.cheat = true;
    let ordinary = pair.class.conditions().ordinary().clone();
    let changes = pair.compare_some(&ordinary);
    assert_eq!(pair.flat(&changes), [1, 2, 7, 8, 0]);
}

#[test]
fn s73_filtering_keeps_whole_properties_and_the_rest_is_put_aside() {
    #[derive(Replicated, Default)]
    struct Bag {
        #[replicated(condition = OwnerOnly)]
        items: Vec<(u8, u8)>,
        #[replicated]
        open: bool,
    }
    let mut pair = Pair::<Bag>::from(|| Bag { items: vec![(0, 0); 3], open: false });
    let changes = pair.edit(|bag| {
        bag.items[1].1 = 5;
        bag.items.push((7, 7));
        bag.open = true;
    });
    let whole = [1, 3, 4, 7, 8, 0, 2, 0];
    assert_eq!(pair.flat(&changes), whole);

    let (mut kept, mut inactive) = (changes.clone(), repl::tools::Changelist::new());
    kept.split(pair.class.conditions().active(ViewFlags::default()), &mut inactive);
    assert_eq!(pair.flat(&kept), [2, 0]);
    assert_eq!(pair.flat(&inactive), [1, 3, 4, 7, 8, 0, 0]);
    kept.merge(&inactive);
    assert_eq!(kept, changes);

    let mut removed = changes.clone();
    removed.remove(&handles([2]));
    assert_eq!(pair.flat(&removed), [1, 3, 4, 7, 8, 0, 0]);
    removed.remove(&handles([1]));
    assert!(removed.is_empty());
}

#[test]
fn properties_are_found_by_their_handles() {
    let class = Class::<Soldier>::new();
    let name = |handle| {
        class.conditions().property_of(handle).map(|property| Soldier::LAYOUT.property_name(property))
    };
    let names = [0, 1, 2, 3, 4, 6, 7, 10, 11].map(name);
    let expected = [
        None,
        Some("health"),
        Some("ammo"),
        Some("ammo"),
        Some("name"),
        Some("pose"),
        Some("pose"),
        Some("born"),
        None,
    ];
    assert_eq!(names, expected);
}
