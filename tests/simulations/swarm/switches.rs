//! The switches of one object: properties that are off for all connections, and conditions that were set at
//! run time.
//!
//! *Invariant:* each change of the model is also made on the server, and the model never asks the server
//! about switches.

use std::collections::{BTreeMap, BTreeSet};

use repl::sim::Rng;
use repl::{Condition, ConnectionId, Guid, ObjectRef, PropertyIndex, Server};

use crate::classes::Creature;

/// The server's functions for the properties of one class.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    /// Properties that are compared only when they are marked.
    push: &'static [usize],
    /// Properties that are off for each connection until they are switched on for it.
    starts_off: &'static [usize],
    conditions: &'static [Condition],
    mark: fn(&mut Server, Guid, usize),
    for_all: fn(&mut Server, Guid, usize, bool),
    for_one: fn(&mut Server, ConnectionId, Guid, usize, bool),
    dynamic: fn(&mut Server, Guid, usize, Condition),
}

impl Calls {
    pub(crate) fn of<T: Creature>() -> Self {
        Self {
            push: T::PUSH,
            starts_off: T::STARTS_OFF,
            conditions: T::CONDITIONS,
            mark: |server, guid, property| {
                server.object(ObjectRef::<T>::new(guid)).mark_dirty(PropertyIndex::new(property));
            },
            for_all: |server, guid, property, on| {
                server.object(ObjectRef::<T>::new(guid)).set_custom_active(PropertyIndex::new(property), on);
            },
            for_one: |server, connection, guid, property, on| {
                let (object, property) = (ObjectRef::<T>::new(guid), PropertyIndex::new(property));
                server.object(object).set_custom_active_for(connection, property, on);
            },
            dynamic: |server, guid, property, condition| {
                server
                    .object(ObjectRef::<T>::new(guid))
                    .set_dynamic_condition(PropertyIndex::new(property), condition);
            },
        }
    }

    /// Marks a changed property, if it needs a mark.
    pub(crate) fn changed(&self, server: &mut Server, guid: Guid, property: usize) {
        if self.push.contains(&property) {
            (self.mark)(server, guid, property);
        }
    }

    /// Returns whether a class has properties with this condition.
    pub(crate) fn has(&self, condition: Condition) -> bool {
        self.conditions.contains(&condition)
    }

    /// Returns one of the properties with this condition. Draws a random number only if there are several
    /// such properties.
    fn pick(&self, condition: Condition, rng: &mut Rng) -> usize {
        let all = self.conditions.iter().zip(0..).filter(|(declared, _)| **declared == condition);
        let all: Vec<usize> = all.map(|(_, property)| property).collect();
        match all[..] {
            [one] => one,
            _ => *rng.pick(&all).expect("a property with the condition"),
        }
    }
}

#[derive(Default)]
pub(crate) struct Switches {
    /// Properties that are switched off for all connections.
    off: BTreeSet<usize>,
    dynamic: BTreeMap<usize, Condition>,
}

impl Switches {
    /// Switches a property for all connections.
    pub(crate) fn flip_for_all(&mut self, calls: &Calls, server: &mut Server, guid: Guid, rng: &mut Rng) {
        let property = calls.pick(Condition::Custom, rng);
        let on = self.off.remove(&property);
        if !on {
            self.off.insert(property);
        }
        (calls.for_all)(server, guid, property, on);
    }

    /// Sets the condition of a property.
    pub(crate) fn set_dynamic(&mut self, calls: &Calls, server: &mut Server, guid: Guid, rng: &mut Rng) {
        let property = calls.pick(Condition::Dynamic, rng);
        let condition = *rng.pick(&Condition::ALL).expect("conditions");
        self.dynamic.insert(property, condition);
        (calls.dynamic)(server, guid, property, condition);
    }

    /// Returns the condition that a property has for a connection now. It depends on the switches for all
    /// connections, and on those for this connection: `flipped` has the latter, if they differ from their
    /// start.
    pub(crate) fn condition(&self, calls: &Calls, property: usize, flipped: &Flipped, uid: u32) -> Condition {
        match calls.conditions[property] {
            Condition::Custom => {
                let is_on = flipped.contains(&(uid, property)) == calls.starts_off.contains(&property);
                if is_on && !self.off.contains(&property) { Condition::Custom } else { Condition::Never }
            }
            Condition::Dynamic => self.dynamic.get(&property).copied().unwrap_or(Condition::Dynamic),
            declared => declared,
        }
    }

    /// Returns whether a property is compared in ticks in which no client opens the object.
    pub(crate) fn is_compared(&self, property: usize) -> bool {
        !self.off.contains(&property) && self.dynamic.get(&property) != Some(&Condition::Never)
    }
}

/// The switches of a connection that differ from their start, by object and property.
pub(crate) type Flipped = BTreeSet<(u32, usize)>;

/// Switches a property of an object for one connection.
pub(crate) fn flip_for_one(
    calls: &Calls,
    server: &mut Server,
    (connection, flipped): (ConnectionId, &mut Flipped),
    (guid, uid): (Guid, u32),
    rng: &mut Rng,
) {
    let property = calls.pick(Condition::Custom, rng);
    let was_flipped = flipped.remove(&(uid, property));
    if !was_flipped {
        flipped.insert((uid, property));
    }
    (calls.for_one)(server, connection, guid, property, was_flipped != calls.starts_off.contains(&property));
}
