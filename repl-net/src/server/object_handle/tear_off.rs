//! Tears an object off: clients keep the last state, and take authority (S210).
//!
//! *Invariant:* after the tick that compares the last state, the shadow of the object never changes.

use super::ObjectHandle;
use crate::server::Server;
use crate::server::cells::Relevancy;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Tears the object off: its clients keep it, and simulate it from now on by themselves, for example the
    /// body of a player who has died.
    ///
    /// The clients that see the object now receive its state as the next tick compares it, whatever is lost
    /// on the way, also if nothing of the object was sent to them before. About a round trip after a client
    /// has this state and the reliable calls that were made on the object before, it is told: its user polls
    /// [`TornOff`](crate::UpdateKind::TornOff), and has the role [`Authority`](crate::Role::Authority).
    /// [`ClientObjectInfo::is_torn_off`](crate::ClientObjectInfo::is_torn_off) describes the object on the
    /// client. Later changes of the object are not sent, and clients that do not see it now never get it. If
    /// it is [hidden](Self::set_visible) from a client, or the session ends, before the client is told, the
    /// client removes it.
    ///
    /// On the server the object lives on, with relevancy [`Nobody`](Relevancy::Nobody) for good, until you
    /// despawn it. Calls of clients on it are ignored. Calls for clients on it return
    /// [`Gone`](crate::CallError::Gone), so make the last ones before you tear it off. What was
    /// [attached](Relevancy::AttachedTo) to it is shown to its owner only, as if the object were removed.
    /// You may despawn it at once: the clients that have it then keep it with its last state. But a client
    /// that has not received the object yet never gets it, so better despawn it when
    /// [`is_tear_off_known`](crate::ObjectInfo::is_tear_off_known).
    ///
    /// Its [subobjects](Self::spawn_subobject) are torn off with it. A client learns of the tear-off of
    /// subobjects first. Does nothing if the object is torn off already.
    pub fn tear_off(&mut self) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        if self.server.world.store.objects[slot as usize].is_torn_off() {
            return self;
        }
        for slot in self.server.world.with_subobjects(slot).into_iter().rev() {
            // A subobject that was torn off before keeps its last state.
            if !self.server.world.store.objects[slot as usize].is_torn_off() {
                self.server.tear_off_one(slot);
            }
        }
        self
    }
}

impl Server {
    fn tear_off_one(&mut self, slot: u32) {
        if let Some(host) = &mut self.host {
            host.torn_off(&self.world, slot);
        }
        for peer in self.sessions.peers.values_mut() {
            peer.connection.copies.begin_tear_off(&self.world, slot);
        }
        let mut affected = self.world.cells.release_attached(slot);
        affected.extend(self.world.cells.set_relevancy(slot, Relevancy::Nobody));
        self.world.tear_off(slot);
        self.reconsider(&affected);
    }
}
