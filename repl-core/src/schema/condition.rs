//! Replication conditions: to which connections a property is sent.
//!
//! How to add a condition:
//!
//! 1. The condition needs a variant, an entry in [`Condition::ALL`] (a test of this file counts both), a
//!    result in [`Condition::allows`], a name in [`Condition::name`], and the same name in the derive
//!    (`attr/condition`). `TABLE` in `tests/conditions/classes.rs` needs a row with the results of the
//!    condition, and `tests/conditions/live/mod.rs` needs a field in `Every` and a result in `View::expect`.
//!    S34 in `docs/semantics.md` states the number of conditions. Some tests fail until their lists of
//!    conditions contain the new condition: `forms/s34_every_condition.rs` and the `.stderr` files of
//!    `mistakes` in `tests/derive`, and the snapshots in `tests/api`.
//! 2. If the properties with the condition are not compared in each tick, the condition needs a line in
//!    [`Condition::is_compared_each_tick`], and code that decides when these properties are compared instead.
//!    For the condition `InitialOnly` this code is in `ConditionMasks::new`, which makes a set of handles
//!    that `server/world` (`asks_at_open`), `Object::scope` and `server/handed_over` of `repl-net` read. For
//!    the condition `Never` this code is in `Object::scope` and `Object::set_condition` of `repl-net`, in
//!    `class/begin` (`begin_sum`), and in `check` of the derive. S39 in `docs/semantics.md` lists these
//!    exceptions.
//! 3. If the condition depends on a new fact about objects or connections, the fact needs a flag in
//!    [`ViewFlags`]. Each flag doubles [`ViewFlags::COUNT`] (a test of this file checks the number).
//!    `Object::flags` of `repl-net` sets the flag. If the flag depends on the place from which the connection
//!    sees the object, `View::flags` sets it. S35 and S36 in `docs/semantics.md` describe the flags. Three
//!    test models use the flags: `tests/conditions/classes.rs`, `View` in `tests/conditions/live/mod.rs`, and
//!    `is_active` in `tests/simulations/swarm/world.rs`.
//! 4. If the fact is about a connection, `View::flags` of `repl-net` (`connection/objects/view`) passes it to
//!    `Object::flags`, and `Object::common_flags` passes the value that most connections have. Connections
//!    for which the fact is different do not receive shared openings (the encoded first updates of objects):
//!    `View::shares_openings` must be false for them. If the fact is set through `Connection::review`,
//!    `shares_openings` can stay as it is. A fact about one object and one connection together, such as the
//!    owner and the switches, may be stored in `View`. Then `View::forget` must drop the fact, because it
//!    would otherwise apply to the next object in the slot. Neither the compiler nor a test notices if you
//!    forget a part of this step.
//! 5. If the fact can change while the server runs, the function that sets the fact calls
//!    `Server::change_view` (`server/mod`), or `Connection::review` if only one connection is concerned. Both
//!    `change_view` and `review` compare what a client sees before and after the change. If the fact concerns
//!    all objects of a connection, call `review` for each object.
//! 6. If the condition has a switch, as `Custom` has, these places name `Custom` and must also name the new
//!    condition: `set_custom_active` and `set_custom_active_for` of `ObjectHandle` in `repl-net`, which call
//!    `assert_condition`; `starts_off_can_be_switched` in `check` of the derive; and the model in
//!    `tests/simulations/swarm/switches.rs`.
//!
//! `NearOnly` is an exception to step 4: its fact (`FAR`) is about one object and one connection, but all
//! connections that are far from the object receive the same bits. `broadcast/tables` and the two caches of
//! openings in `broadcast` store bits for near and for far connections. [`Condition::depends_on_distance`]
//! tells whether the conditions of a class may depend on the fact, so other classes have no cost.
//! `Connection::review_distance` finds out whether the fact has changed.
//!
//! *Invariant:* the result of a condition depends only on its [`ViewFlags`], and conditions keep no state.

/// A condition decides to which connections a property is sent. The conditions have the names of Unreal's
/// `COND_*` values and the same results. Only `NearOnly` does not exist in Unreal.
///
/// Conditions affect only which properties are sent, never which are compared. The exceptions to this rule
/// are documented at [`InitialOnly`](Self::InitialOnly), [`Custom`](Self::Custom) and [`Never`](Self::Never).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Condition {
    /// The property is sent to every connection.
    #[default]
    None = 0,
    /// The property is sent only with the opening (the first update) of the object. A property with the
    /// condition `InitialOnly` is compared at every opening. If the opening takes more than half a packet,
    /// the elements of collections are sent after it, each with its value at that time.
    InitialOnly = 1,
    /// The property is sent only to the connection that owns the object.
    OwnerOnly = 2,
    /// The property is sent to every connection except the one that owns the object.
    SkipOwner = 3,
    /// The property is sent only to clients for which the object is a simulated proxy: an object that the
    /// client shows but does not control. By default the object is a simulated proxy for all clients,
    /// including the owner. The server can set another role with `set_remote_role`.
    SimulatedOnly = 4,
    /// The property is sent only to clients for which the object is not a simulated proxy.
    AutonomousOnly = 5,
    /// The property is sent to clients for which the object is a simulated proxy, and to all clients while
    /// the object replicates physics.
    SimulatedOrPhysics = 6,
    /// The property is sent to all connections with the opening of the object, and in every update to the
    /// connection that owns the object.
    InitialOrOwner = 7,
    /// The property is sent only to connections for which it is switched on. Each property with the condition
    /// `Custom` has two switches, and its value is sent only while both switches are on. One switch applies
    /// to all connections and is on at first. The other switch applies to one connection. It is on at first,
    /// or off if the field has `starts_off`.
    ///
    /// While the switch for all connections is off, the property is not compared, and a client that receives
    /// the object for the first time receives the value of the object's archetype (a set of initial values).
    /// When both switches of a property are on, a connection that lacks the current value receives it.
    Custom = 8,
    /// The property is sent to replay connections (connections that record a replay), and to the connection
    /// that owns the object.
    ReplayOrOwner = 9,
    /// The property is sent only to replay connections: connections that record a replay.
    ReplayOnly = 10,
    /// The property is sent in the same cases as with `SimulatedOnly`, but never to replay connections.
    SimulatedOnlyNoReplay = 11,
    /// The property is sent in the same cases as with `SimulatedOrPhysics`, but never to replay connections.
    SimulatedOrPhysicsNoReplay = 12,
    /// The property is sent to all connections except replay connections.
    SkipReplay = 13,
    /// The property is sent to all connections, until the server sets another condition for the object at run
    /// time.
    Dynamic = 14,
    /// The property is sent to no connection. A property with the condition `Never` has a handle, but is
    /// neither compared nor sent.
    Never = 15,
    /// The property is sent only to connections that are near the object, and to the connection that owns it.
    /// The setting `Area::near_within` of the object's class (in `repl-net`) decides which connections are
    /// near. Without this setting, and for objects without positions, each connection that sees the object is
    /// near. For an attached object, the distance of the object to which it is attached counts.
    ///
    /// A client that comes near the object receives the values that it lacks. A client that moves away keeps
    /// the values that it has, and receives no newer ones.
    NearOnly = 16,
}

/// The facts about one object on one connection that decide the results of conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ViewFlags(u8);

impl ViewFlags {
    /// The values are for an opening of the object.
    pub const INITIAL: Self = Self(1);
    /// The connection owns the object.
    pub const OWNER: Self = Self(2);
    /// The object is a simulated proxy for the connection. If the role of the object is autonomous proxy, the
    /// object is still a simulated proxy for all connections except its owner.
    pub const SIMULATED: Self = Self(4);
    /// The object replicates physics.
    pub const PHYSICS: Self = Self(8);
    /// The connection records a replay.
    pub const REPLAY: Self = Self(16);
    /// The connection sees the object from so far away that it does not receive properties with the condition
    /// [`NearOnly`](Condition::NearOnly).
    pub const FAR: Self = Self(32);
    /// The number of different values that `ViewFlags` can have.
    pub const COUNT: usize = 64;

    /// Returns these flags together with the flags of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns these flags, together with the flags of `other` if `on` is true.
    #[must_use]
    pub const fn with_if(self, other: Self, on: bool) -> Self {
        if on { self.with(other) } else { self }
    }

    /// Returns whether all flags of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn from_index(index: usize) -> Self {
        Self((index % Self::COUNT) as u8)
    }

    /// Returns a number below [`COUNT`](Self::COUNT), as an index into tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Condition {
    /// All conditions, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::None,
        Self::InitialOnly,
        Self::OwnerOnly,
        Self::SkipOwner,
        Self::SimulatedOnly,
        Self::AutonomousOnly,
        Self::SimulatedOrPhysics,
        Self::InitialOrOwner,
        Self::Custom,
        Self::ReplayOrOwner,
        Self::ReplayOnly,
        Self::SimulatedOnlyNoReplay,
        Self::SimulatedOrPhysicsNoReplay,
        Self::SkipReplay,
        Self::Dynamic,
        Self::Never,
        Self::NearOnly,
    ];

    /// Returns whether each comparison of an object covers the properties with this condition (S39).
    pub(crate) const fn is_compared_each_tick(self) -> bool {
        !matches!(self, Self::InitialOnly | Self::Never)
    }

    /// Returns whether the result of this condition may depend on the distance of the object. This includes
    /// `Dynamic`, because the server may set another condition for such a property at any time.
    pub(crate) const fn depends_on_distance(self) -> bool {
        matches!(self, Self::NearOnly | Self::Dynamic)
    }

    /// Returns whether some connections may receive a property with this condition only with the opening of
    /// an object. This includes `Dynamic`, because the server may set another condition for such a property
    /// at any time.
    pub(crate) fn may_end_with_opening(self) -> bool {
        let mut views = (0..ViewFlags::COUNT).map(ViewFlags::from_index);
        self == Self::Dynamic
            || views.any(|flags| self.allows(flags.with(ViewFlags::INITIAL)) && !self.allows(flags))
    }

    /// Returns whether a property with this condition is sent to a connection that sees the object with
    /// `flags`.
    #[must_use]
    pub const fn allows(self, flags: ViewFlags) -> bool {
        let initial = flags.has(ViewFlags::INITIAL);
        let owner = flags.has(ViewFlags::OWNER);
        let simulated = flags.has(ViewFlags::SIMULATED);
        let physics = flags.has(ViewFlags::PHYSICS);
        let replay = flags.has(ViewFlags::REPLAY);
        match self {
            Self::None | Self::Custom | Self::Dynamic => true,
            Self::InitialOnly => initial,
            Self::OwnerOnly => owner,
            Self::SkipOwner => !owner,
            Self::SimulatedOnly => simulated,
            Self::AutonomousOnly => !simulated,
            Self::SimulatedOrPhysics => simulated || physics,
            Self::InitialOrOwner => initial || owner,
            Self::ReplayOrOwner => replay || owner,
            Self::ReplayOnly => replay,
            Self::SimulatedOnlyNoReplay => simulated && !replay,
            Self::SimulatedOrPhysicsNoReplay => (simulated || physics) && !replay,
            Self::SkipReplay => !replay,
            Self::Never => false,
            Self::NearOnly => !flags.has(ViewFlags::FAR) || owner,
        }
    }

    /// Returns the name of the condition, as it is written in attributes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::InitialOnly => "InitialOnly",
            Self::OwnerOnly => "OwnerOnly",
            Self::SkipOwner => "SkipOwner",
            Self::SimulatedOnly => "SimulatedOnly",
            Self::AutonomousOnly => "AutonomousOnly",
            Self::SimulatedOrPhysics => "SimulatedOrPhysics",
            Self::InitialOrOwner => "InitialOrOwner",
            Self::Custom => "Custom",
            Self::ReplayOrOwner => "ReplayOrOwner",
            Self::ReplayOnly => "ReplayOnly",
            Self::SimulatedOnlyNoReplay => "SimulatedOnlyNoReplay",
            Self::SimulatedOrPhysicsNoReplay => "SimulatedOrPhysicsNoReplay",
            Self::SkipReplay => "SkipReplay",
            Self::Dynamic => "Dynamic",
            Self::Never => "Never",
            Self::NearOnly => "NearOnly",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of this file after the line `start`, up to the next brace that is not indented.
    fn lines_after(start: &str) -> impl Iterator<Item = &'static str> {
        let lines = include_str!("condition.rs").lines();
        lines.skip_while(move |line| *line != start).skip(1).take_while(|line| *line != "}")
    }

    #[test]
    fn the_list_of_all_conditions_has_each_variant() {
        let is_variant = |line: &&str| line.ends_with(',') && !line.trim_start().starts_with("///");
        let variants = lines_after("pub enum Condition {").filter(is_variant).count();
        assert_eq!(Condition::ALL.len(), variants);
        for (number, condition) in Condition::ALL.into_iter().enumerate() {
            assert_eq!(condition as usize, number);
        }
    }

    #[test]
    fn each_flag_of_a_view_doubles_the_number_of_values() {
        let flags = lines_after("impl ViewFlags {").filter(|line| line.contains(": Self = Self(")).count();
        assert_eq!(ViewFlags::COUNT, 1 << flags);
    }
}
