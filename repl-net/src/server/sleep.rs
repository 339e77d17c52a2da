//! The methods of the server that let objects sleep while they do not change.
//!
//! *Invariant:* an object wakes by itself when a comparison finds a change, so no method must be called
//! before or after an object is written to (W15).

use repl_core::ObjectRef;

use super::Server;
use super::dormancy::Dormancy;
use repl_link::session::connection_id::ConnectionId;

impl Server {
    /// Sets whether an object falls asleep while it does not change (S206, S207). Does nothing if the object
    /// does not exist. Costs O(connections).
    ///
    /// An object falls asleep for a connection when everything of it was acknowledged. Its client is told so
    /// with a few bits, which wait behind the changes of other objects if the budget is exhausted. A change
    /// wakes it for all connections and is sent as always. Then it falls asleep again. You need not wake an
    /// object before you write to it, and cannot forget to (W15): whatever the tick finds has changed wakes
    /// its object, whether it was written by `server[object]`, by [`objects_mut`](Self::objects_mut), or as
    /// an [external](crate::External) object. A `push` property wakes its object when it is
    /// [marked](Self::mark_dirty). An access that changes nothing wakes nothing.
    ///
    /// An object that sleeps costs nothing in a tick, and a connection stores one bit for it. A sleeping
    /// object can be destroyed (S212), hidden and called like any other. Clients that join receive it.
    pub fn set_dormancy<T: ?Sized>(&mut self, object: ObjectRef<T>, dormancy: Dormancy) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let before = self.world.dormancies.get(slot);
        if before == dormancy {
            return;
        }
        self.world.dormancies.set(slot, dormancy);
        if dormancy == Dormancy::Initial {
            // From now on the shadow has all values, so only later changes differ from it.
            self.world.compare_for_open(slot);
            self.world.schedule.force(slot);
        }
        self.review_dormancy(slot, before == Dormancy::Initial || dormancy == Dormancy::Initial);
    }

    /// Returns the [dormancy](Self::set_dormancy) of an object, or `None` if the object does not exist.
    #[must_use]
    pub fn dormancy<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Dormancy> {
        Some(self.world.dormancies.get(self.world.slot_of(object)?))
    }

    /// Sets whether an object with [partial](Dormancy::Partial) dormancy may sleep for a connection. At first
    /// it may not. Does nothing if the connection or the object does not exist.
    pub fn set_dormant_for<T: ?Sized>(
        &mut self,
        connection: ConnectionId,
        object: ObjectRef<T>,
        may_sleep: bool,
    ) {
        let Some(slot) = self.world.slot_of(object) else { return };
        if let Some(peer) = self.connections.get_mut(connection) {
            peer.connection.copies.set_may_sleep(&self.world, slot, may_sleep);
        }
    }

    /// Wakes an object although it has not changed: clients are told that it is awake, and an object with
    /// [initial](Dormancy::Initial) dormancy is sent. It falls asleep again when everything was acknowledged.
    /// Does nothing if the object does not exist.
    pub fn wake<T: ?Sized>(&mut self, object: ObjectRef<T>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let was_initial = self.world.dormancies.is_initial(slot);
        if was_initial {
            self.world.dormancies.set(slot, Dormancy::All);
        }
        self.review_dormancy(slot, was_initial);
    }

    /// Returns whether an object sleeps for a connection: its client has acknowledged everything of the
    /// object, and was told that the object sleeps. Returns `false` if one of them does not exist.
    #[must_use]
    pub fn is_asleep<T: ?Sized>(&self, connection: ConnectionId, object: ObjectRef<T>) -> bool {
        let (Some(peer), Some(slot)) = (self.connections.get(connection), self.world.slot_of(object)) else {
            return false;
        };
        peer.connection.copies.is_asleep(slot)
    }

    fn review_dormancy(&mut self, slot: u32, changes_sight: bool) {
        for peer in self.connections.values_mut() {
            peer.connection.copies.wake(slot);
        }
        if changes_sight {
            let affected = self.world.cells.with_attached(slot);
            self.reconsider(&affected);
        }
    }
}
