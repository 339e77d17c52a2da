//! What a server knows of one object, for all connections together.
//!
//! Invariant: a slot is used again only when no connection holds its last object any more (R17), under the next generation (R18).

use std::num::NonZeroU32;

use repl_core::{Condition, Guid, HandleSet, History, Lifetime, PropertyIndex, ViewFlags};

use crate::ConnectionId;
use crate::role::Role;

/// One slot and the object in it.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) generation: NonZeroU32,
    /// Whether there is an object; one that is gone may still be known to connections.
    pub(crate) alive: bool,
    pub(crate) class: u16,
    pub(crate) archetype: u32,
    pub(crate) row: u32,
    pub(crate) owner: Option<ConnectionId>,
    pub(crate) role: Role,
    pub(crate) physics: bool,
    pub(crate) history: History,
    /// Connections that stand before the end of the history.
    pub(crate) laggards: u32,
    /// Connections that have the slot in use.
    pub(crate) holders: u32,
    /// Handles of custom conditions that are switched off for all (S45).
    pub(crate) custom_off: HandleSet,
    /// Conditions set at run time.
    pub(crate) dynamic: Vec<(PropertyIndex, Condition)>,
    /// Handles of push properties that were marked since the last comparison (S124).
    pub(crate) marked: HandleSet,
    /// For classes with conditions: the frame in which each property last changed, zero for never.
    pub(crate) changed_at: Vec<u64>,
}

impl Object {
    pub(crate) fn new(generation: NonZeroU32) -> Self {
        Self {
            generation,
            alive: true,
            class: 0,
            archetype: 0,
            row: 0,
            owner: None,
            role: Role::default(),
            physics: false,
            history: History::default(),
            laggards: 0,
            holders: 0,
            custom_off: HandleSet::new(),
            dynamic: Vec::new(),
            marked: HandleSet::new(),
            changed_at: Vec::new(),
        }
    }

    pub(crate) fn guid(&self, slot: u32) -> Guid {
        Guid::new(slot, self.generation)
    }

    /// How a connection sees the object (S36), its opening apart.
    pub(crate) fn flags(&self, is_owner: bool, is_replay: bool) -> ViewFlags {
        ViewFlags::default()
            .with_if(ViewFlags::OWNER, is_owner)
            .with_if(ViewFlags::SIMULATED, self.role.is_simulated(is_owner))
            .with_if(ViewFlags::PHYSICS, self.physics)
            .with_if(ViewFlags::REPLAY, is_replay)
    }

    /// How most connections see it: those that neither own it nor record.
    pub(crate) fn common_flags(&self) -> ViewFlags {
        self.flags(false, false)
    }

    /// The handles that go to a connection with these flags.
    pub(crate) fn mask(&self, lifetime: &Lifetime, flags: ViewFlags) -> HandleSet {
        let mut mask = lifetime.active(flags).clone();
        for (property, condition) in &self.dynamic {
            let handles = lifetime.handles_of(*property);
            if condition.allows(flags) { mask.union(&handles) } else { mask.difference(&handles) }
        }
        mask
    }

    /// The handles that are compared now (S39): marked ones of `push`, at an open those of `InitialOnly` and all of `push` too, none
    /// that are switched off.
    pub(crate) fn scope(&mut self, lifetime: &Lifetime, opening: bool) -> HandleSet {
        let mut scope = lifetime.ordinary().clone();
        if !self.marked.is_empty() {
            scope.union(&self.marked);
            self.marked.clear();
        }
        if opening {
            scope.union(lifetime.initial_only());
            scope.union(lifetime.push());
        }
        scope.difference(&self.custom_off);
        for (property, condition) in &self.dynamic {
            if *condition == Condition::Never {
                scope.difference(&lifetime.handles_of(*property));
            }
        }
        scope
    }
}
