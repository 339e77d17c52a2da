//! The derive macro accepts the names of all conditions.

use repl::{Condition, Replicated};

#[derive(Replicated, Default)]
struct All {
    #[replicated(condition = None)]
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

#[test]
fn s34_every_condition_has_its_name() {
    assert_eq!(All::LAYOUT.properties(), Condition::ALL.len());
}
