//! How connections see objects: owners, roles, physics, conditions set at run time, visibility.
//!
//! *Invariant:* whatever changes how an object is seen goes through `change_view`, or through the connection that it concerns, so no connection
//! is sent what it may not see any more.

use repl_core::{Condition, HandleSet, ObjectRef, PropertyIndex, Replicated};

use super::Server;
use super::peer::Peer;
use super::world::World;
use crate::session::connection_id::ConnectionId;
use crate::transport::role::{Proxy, Role};

impl Server {
    /// Where the object is, and which property it is to its class. `None` if the object is gone, or is no `T`.
    ///
    /// # Panics
    /// If `T` has no such property.
    #[track_caller]
    pub(super) fn place_of<T: Replicated>(
        &self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
    ) -> Option<(u32, PropertyIndex)> {
        let (name, index) = (T::LAYOUT.name(), property.index());
        assert!(
            index < T::LAYOUT.properties(),
            "`{name}` has no property number {index}: ask for one by its name with `{name}::LAYOUT.property`",
        );
        let slot = self.world.slot_of(object)?;
        let is_of_class = self.world.class_of::<T>() == Some(self.world.objects[slot as usize].class);
        is_of_class.then_some((slot, property.erase()))
    }

    /// Calls `change` on an object's state, and lets every connection see by the conditions that follow.
    fn change_view(&mut self, object: ObjectRef<()>, change: impl FnOnce(&mut World, u32)) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let view = |peer: &Peer| {
            (
                peer.connection.mask(&self.world, slot),
                peer.connection.proxy(&self.world.objects[slot as usize]),
            )
        };
        let before: Vec<(HandleSet, Proxy)> = self.connections.values().map(|peer| view(peer)).collect();
        change(&mut self.world, slot);
        self.world.recast.insert(slot);
        for (peer, (mask, proxy)) in self.connections.values_mut().zip(before) {
            peer.connection.review(&mut self.world, slot, &mask);
            peer.connection.review_proxy(&self.world, slot, proxy);
        }
    }

    /// Gives the object to a connection, or to none (S204). From the next tick on the new owner is sent what goes to owners only.
    ///
    /// What goes to owners only is not taken back from the old owner: its client keeps the values that it saw last, and hears of no later ones.
    /// If it is not to show them, tell it by a property that everyone sees, and let its notify clear them. To take the whole object away there is
    /// [`set_visible`](Self::set_visible).
    pub fn set_owner<T: ?Sized>(&mut self, object: ObjectRef<T>, owner: Option<ConnectionId>) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].owner = owner);
    }

    /// The connection that owns an object.
    #[must_use]
    pub fn owner<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<ConnectionId> {
        self.world.objects[self.world.slot_of(object)? as usize].owner
    }

    /// Sets what the object is on clients (S205).
    pub fn set_remote_role<T: ?Sized>(&mut self, object: ObjectRef<T>, role: Role) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].role = role);
    }

    /// Sets whether the object replicates physics (S36).
    pub fn set_replicates_physics<T: ?Sized>(&mut self, object: ObjectRef<T>, replicates: bool) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].physics = replicates);
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for all connections, those to come included; at first it is on.
    /// A connection gets the property while this switch is on and [its own](Self::set_custom_active_for) is on too.
    ///
    /// From the moment it is off no packet is made with the property in it, for nobody: not for changes, for losses of earlier packets, or for
    /// objects that open, which begin with the value of their archetype. While it is off the property is not compared. Switched on again, it
    /// is compared with the next tick, marked or not if it is `push` (S45), and each connection gets the value if it lacks it.
    ///
    /// Clients keep what they have got before. O(connections) if it changes anything; while the property is off the server keeps a few hundred bytes
    /// for the object for each connection that has got the property before.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        active: bool,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Custom);
        let handles = self.world.lifetime(slot).handles_of(property);
        if self.world.objects[slot as usize].is_custom_on(&handles) == active {
            return;
        }
        self.change_view(object.erase(), |world, slot| {
            let (entry, lifetime) = world.object_mut(slot);
            entry.switch_custom(lifetime, &handles, active);
            world.mark_dirty(slot);
        });
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for one connection. At first it is on, or off if the field says
    /// `#[replicated(condition = Custom, starts_off)]`: then no client gets the property that was not named here, whenever it joins and whenever
    /// its events are polled. The switch of the [object](Self::set_custom_active) must be on too.
    ///
    /// From the moment it is off no packet is made for this connection with the property in it. The property is compared all the same; switched on
    /// again, the connection gets the current value if it lacks it. It is forgotten with the object and with the connection.
    ///
    /// A connection whose switch is not as the field declares it sees the object in a way of its own: what it is sent of the object is not shared with
    /// others. So declare the way that most connections have it.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active_for<T: Replicated>(
        &mut self,
        connection: ConnectionId,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        active: bool,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Custom);
        let Some(peer) = self.connections.get_mut(&connection) else { return };
        peer.connection.switch_custom(&mut self.world, slot, property, active);
    }

    /// Sets the condition of a property declared as [`Dynamic`](Condition::Dynamic), for this object.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_dynamic_condition<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        condition: Condition,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Dynamic);
        if self.world.objects[slot as usize].condition(property) == condition {
            return;
        }
        self.change_view(object.erase(), |world, slot| {
            let (entry, lifetime) = world.object_mut(slot);
            entry.set_condition(lifetime, property, condition);
            world.mark_dirty(slot);
        });
    }

    #[track_caller]
    fn assert_condition<T: Replicated>(&self, slot: u32, property: PropertyIndex, wanted: Condition) {
        let declared = self.world.lifetime(slot).condition_of(property);
        assert!(
            declared == wanted,
            "`{}.{}` has the condition `{}`: declare it with `condition = {}` to set it at run time",
            T::LAYOUT.name(),
            T::LAYOUT.property_name(property),
            declared.name(),
            wanted.name(),
        );
    }

    /// Sets whether a connection sees an object, at first `true`. One that loses sight of it loses the object.
    pub fn set_visible<T: ?Sized>(&mut self, connection: ConnectionId, object: ObjectRef<T>, visible: bool) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let Some(peer) = self.connections.get_mut(&connection) else { return };
        peer.connection.set_visible(&mut self.world, slot, visible);
    }
}
