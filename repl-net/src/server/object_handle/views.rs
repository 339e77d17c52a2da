//! How connections see an object: its role, its physics, and the conditions that are set at run time.
//!
//! *Invariant:* a view is changed only by `change_view` or by a method of the connection, so no connection is
//! sent values that its client may no longer see.

use repl_core::{Condition, PropertyIndex, Replicated};
use repl_link::ConnectionId;

use super::ObjectHandle;
use crate::body::role::Role;
use crate::session::property::assert_property;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets the role that clients have for the object. It is [`Role::SimulatedProxy`] until this is called.
    /// [`Role::AutonomousProxy`] applies only to the owner of the object: on all other clients, the object
    /// remains a simulated proxy. Costs O(connections).
    pub fn set_remote_role(&mut self, role: Role) -> &mut Self {
        let object = self.object.erase();
        self.server.change_view(object, |world, slot| world.store.objects[slot as usize].role = role);
        self
    }

    /// Sets whether the object replicates physics. Costs O(connections).
    pub fn set_replicates_physics(&mut self, replicates: bool) -> &mut Self {
        let object = self.object.erase();
        self.server
            .change_view(object, |world, slot| world.store.objects[slot as usize].physics = replicates);
        self
    }
}

impl<T: Replicated> ObjectHandle<'_, T> {
    /// Returns the slot of the object and the index of the property. Returns `None` if the object does not
    /// exist or is not a `T`.
    ///
    /// # Panics
    /// Panics if `T` has no property with this index.
    #[track_caller]
    fn slot_and_property(&self, property: PropertyIndex<T>) -> Option<(u32, PropertyIndex)> {
        assert_property(property);
        let slot = self.slot()?;
        let world = &self.server.world;
        world.store.has_class::<T>(world.store.occupant(slot).class).then_some((slot, property.erase()))
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for all connections,
    /// including connections that are added later. At first the switch of a property for all connections is
    /// on. A connection receives the property while the switch for all connections is on and [its own
    /// switch](Self::set_custom_active_for) is on, too.
    ///
    /// After the property is switched off, the server no longer sends it to any connection: not as a change,
    /// not again after a loss, and not when a client creates its copy. A copy that is created while the
    /// property is off has the value of the archetype. While a property is switched off for all connections,
    /// it is not compared. When a property is switched on again for all connections, the next tick compares
    /// it, even if it is a `push` property without a mark, and each connection that lacks the value receives
    /// it.
    ///
    /// Clients keep the values that they have received. Costs O(connections) if the switch changes. While a
    /// property is switched off for all connections, the server stores a few hundred bytes for each
    /// connection that received the property before.
    ///
    /// # Panics
    /// Panics if the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active(&mut self, property: PropertyIndex<T>, active: bool) -> &mut Self {
        let Some((slot, property)) = self.slot_and_property(property) else { return self };
        self.assert_condition(slot, property, Condition::Custom);
        let world = &self.server.world;
        let handles = world.store.conditions(slot).handles_of(property).clone();
        if world.store.objects[slot as usize].is_custom_on(&handles) == active {
            return self;
        }
        self.server.change_view(self.object.erase(), |world, slot| {
            world.store.objects[slot as usize].switch_custom(&handles, active);
            if active {
                world.store.mark_property::<T>(slot, property);
            }
            world.force_update(slot);
        });
        self
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for one connection. At
    /// first the switch of a property for a connection is on, or off if the field has `#[replicated(condition
    /// = Custom, starts_off)]`. With `starts_off` no client receives the property before this method switches
    /// it on, even if the client joins later or its events are polled late. The switch of the
    /// [object](Self::set_custom_active) must also be on. For example, to send a property only to the clients
    /// of a team, declare it `starts_off`. Switch it on for each pair of a client and an object of its team,
    /// when the client joins and when the object is spawned.
    ///
    /// After the property is switched off, the server no longer sends it to this connection. A property that
    /// is switched off for one connection is still compared. When a property is switched on again for a
    /// connection, the connection receives the current value if it lacks this value. The switch of an object
    /// for one connection is dropped when the object is despawned or the connection ends, and not when the
    /// object goes out of sight.
    ///
    /// A connection whose switch differs from the declaration has its own view of the object, so the encoded
    /// changes of the object cannot be shared with other connections. To share with most connections, declare
    /// the setting that most connections have.
    ///
    /// # Panics
    /// Panics if the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active_for(
        &mut self,
        connection: ConnectionId,
        property: PropertyIndex<T>,
        active: bool,
    ) -> &mut Self {
        let Some((slot, property)) = self.slot_and_property(property) else { return self };
        self.assert_condition(slot, property, Condition::Custom);
        if let Some(peer) = self.server.sessions.peers.get_mut(connection) {
            peer.connection.copies.switch_custom(&mut self.server.world, slot, property, active);
        }
        self
    }

    /// Sets the condition of a property declared as [`Dynamic`](Condition::Dynamic), for this object. Costs
    /// O(connections) if the condition changes.
    ///
    /// # Panics
    /// Panics if the property was declared with another condition.
    #[track_caller]
    pub fn set_dynamic_condition(&mut self, property: PropertyIndex<T>, condition: Condition) -> &mut Self {
        let Some((slot, property)) = self.slot_and_property(property) else { return self };
        self.assert_condition(slot, property, Condition::Dynamic);
        if self.server.world.store.objects[slot as usize].condition(property) == condition {
            return self;
        }
        self.server.change_view(self.object.erase(), |world, slot| {
            let state = &mut world.store.objects[slot as usize];
            let was_never = state.condition(property) == Condition::Never;
            state.set_condition(property, condition);
            if was_never {
                // While its condition was `Never`, the property was not compared (S45).
                world.store.mark_property::<T>(slot, property);
            }
            world.force_update(slot);
        });
        self
    }

    #[track_caller]
    fn assert_condition(&self, slot: u32, property: PropertyIndex, wanted: Condition) {
        let declared = self.server.world.store.conditions(slot).condition_of(property);
        assert!(
            declared == wanted,
            "`{}.{}` has the condition `{}`: declare it with `condition = {}` to set it at run time",
            T::LAYOUT.name(),
            T::LAYOUT.property_name(property),
            declared.name(),
            wanted.name(),
        );
    }
}
