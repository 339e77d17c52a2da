//! Tears an object off: its replication ends, clients keep its last state, and each client then controls its
//! own copy (S210).
//!
//! *Invariant:* after the tick that compares the last state, the shadow of the object never changes.

use super::ObjectHandle;
use crate::server::Server;
use crate::server::cells::Relevancy;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Tears the object off: its clients keep it, and simulate it from now on by themselves. An example is
    /// the body of a player who has died.
    ///
    /// Clients that see the object at the moment of the call receive its state of the next comparison, even
    /// if packets are lost or if they have received nothing of the object before. The reliable calls that
    /// were made on the object before arrive too. About a round trip later, the server tells the client of
    /// the tear-off: the user of the client polls [`TornOff`](crate::UpdateKind::TornOff), and the client has
    /// the role [`Authority`](crate::Role::Authority).
    /// [`ClientObjectInfo::is_torn_off`](crate::ClientObjectInfo::is_torn_off) describes the object on the
    /// client. Later changes of the object are not sent, and clients that do not see it now never receive it.
    /// If it is [hidden](Self::set_visible) from a client, or the session ends, before the client is told,
    /// the client removes it.
    ///
    /// On the server the object exists until you despawn it, and its relevancy is always
    /// [`Nobody`](Relevancy::Nobody). The server ignores calls of clients on it. Calls for clients on it
    /// return [`Gone`](crate::CallError::Gone), so make the last calls before you tear it off. Objects that
    /// were [attached](Relevancy::AttachedTo) to it are shown only to their owners, as if the object were
    /// removed. You may despawn it at once: the clients that have it then keep it with its last state. But a
    /// client that has not received the object yet never receives it. To avoid this, wait until
    /// [`is_tear_off_known`](crate::ObjectInfo::is_tear_off_known) before you despawn it.
    ///
    /// Its [subobjects](Self::spawn_subobject) are torn off with it. A client learns of the tear-off of
    /// subobjects first. Does nothing if the object is torn off already.
    pub fn tear_off(&mut self) -> &mut Self {
        let Some(slot) = self.slot() else { return self };
        if self.server.world.store.objects[slot as usize].is_torn_off() {
            return self;
        }
        let mut family = self.server.world.with_subobjects(slot);
        // A subobject that was torn off before keeps its last state.
        family.retain(|slot| !self.server.world.store.objects[*slot as usize].is_torn_off());
        // A client may not see a subobject while an object above it is paused.
        family.iter().for_each(|slot| self.server.end_pauses(*slot));
        family.iter().rev().for_each(|slot| self.server.tear_off_one(*slot));
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
        self.world.update_function_user(slot);
        self.world.tear_off(slot);
        self.reconsider(&affected);
    }
}
