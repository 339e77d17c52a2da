//! Lets an object sleep while it does not change.
//!
//! *Invariant:* a comparison that finds a change wakes the object, so no method must be called before or
//! after an object is written to (W15).

use repl_link::ConnectionId;

use super::ObjectHandle;
use crate::server::Server;
use crate::server::dormancy::Dormancy;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Sets whether the object falls asleep while it does not change. Costs O(connections).
    ///
    /// An object falls asleep for a connection when the client has acknowledged everything of the object. The
    /// server tells the client with a few bits, which are sent after the changes of other objects if the
    /// budget is exhausted. A change wakes the object for all connections and is sent as always. Then the
    /// object falls asleep again. You need not wake an object before you write to it: if the tick finds a
    /// change, it wakes the object, whether you wrote by `server[object]`, by
    /// [`objects_mut`](Server::objects_mut), or as an [external](crate::External) object. A `push` property
    /// wakes its object when it is [marked](Self::mark_dirty). An access that changes nothing wakes nothing.
    ///
    /// An object that sleeps costs nothing in a tick, and a connection stores one bit for it. A sleeping
    /// object can be destroyed, hidden and called like any other object. Clients that join receive it.
    pub fn set_dormancy(&mut self, dormancy: Dormancy) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        let world = &mut self.server.world;
        let before = world.dormancies.get(slot);
        if before == dormancy {
            return self;
        }
        world.dormancies.set(slot, dormancy);
        if dormancy == Dormancy::Initial {
            // The next tick compares all properties and writes them to the shadow, so only later changes
            // differ from it.
            world.compare_for_open(slot);
            world.schedule.force(slot);
        }
        self.server.review_dormancy(slot, before == Dormancy::Initial || dormancy == Dormancy::Initial);
        self
    }

    /// For an object with [partial](Dormancy::Partial) dormancy, sets whether it may sleep for a connection.
    /// At first it may not. Does nothing if the connection does not exist.
    pub fn set_dormant_for(&mut self, connection: ConnectionId, may_sleep: bool) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        if let Some(peer) = self.server.sessions.peers.get_mut(connection) {
            peer.connection.copies.set_may_sleep(&self.server.world, slot, may_sleep);
        }
        self
    }

    /// Wakes the object although it has not changed: the server tells clients that it is awake, and sends an
    /// object with [initial](Dormancy::Initial) dormancy. The object falls asleep again when clients have
    /// acknowledged everything.
    pub fn wake(&mut self) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        let dormancies = &mut self.server.world.dormancies;
        let was_initial = dormancies.is_initial(slot);
        if was_initial {
            dormancies.set(slot, Dormancy::All);
        }
        self.server.review_dormancy(slot, was_initial);
        self
    }
}

impl Server {
    fn review_dormancy(&mut self, slot: u32, changes_sight: bool) {
        for peer in self.sessions.peers.values_mut() {
            peer.connection.copies.wake(slot);
        }
        if changes_sight {
            let affected = self.world.cells.with_attached(slot);
            self.reconsider(&affected);
        }
    }
}
