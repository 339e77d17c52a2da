//! Conditions between a live server and its clients: which connection receives which property, and the
//! effects of changes (S34 to S48, S204, S205, R16).
//!
//! *Invariant:* no packet for a client contains a value that this client may not see.

mod changes;
mod collections;
mod openings;
mod push;
mod secrecy;
mod switches;
mod truth;

use crate::support::Room;
use repl::prelude::*;

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
    #[replicated(condition = NearOnly)]
    near_only: u8,
}

impl Every {
    fn set_all(&mut self, value: u8) {
        *self = Self::of([value; 17]);
    }

    /// Returns the values in the order of the conditions.
    fn values(&self) -> [u8; 17] {
        [
            self.none,
            self.initial_only,
            self.owner_only,
            self.skip_owner,
            self.simulated_only,
            self.autonomous_only,
            self.simulated_or_physics,
            self.initial_or_owner,
            self.custom,
            self.replay_or_owner,
            self.replay_only,
            self.simulated_only_no_replay,
            self.simulated_or_physics_no_replay,
            self.skip_replay,
            self.dynamic,
            self.never,
            self.near_only,
        ]
    }

    fn of(values: [u8; 17]) -> Self {
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
            near_only,
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
            near_only,
        }
    }
}

/// The facts that decide which properties of an object a connection may see.
#[derive(Clone, Copy, Debug, Default)]
struct View {
    owner: bool,
    simulated: bool,
    physics: bool,
    replay: bool,
}

impl View {
    /// Returns the values that a connection with this view shows: after the opening if `initial`, otherwise
    /// after every property has changed (S35).
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
            true,
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

/// Returns a room with an owner, another client and a recording, an object with this role, and the view that
/// each of the three has of it.
fn spectators(role: Role, physics: bool) -> (Room, ObjectRef<Every>, [View; 3]) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Every>();
    });
    let object = room.server.spawn(Every::of([1; 17]));
    room.server.object(object).set_remote_role(role);
    room.server.object(object).set_replicates_physics(physics);
    let owner = room.enter();
    room.server.object(object).set_owner(Some(owner));
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
