//! Pauses of single objects: while an object is paused, nothing of it is sent.
//!
//! *Invariant:* a pause delays the state of an object and nothing else. After the pause, each client receives
//! the newest values that it lacks, once.

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::ObjectHandle;
use crate::server::Server;
use crate::server::world::World;

impl<T: ?Sized> ObjectHandle<'_, T> {
    /// Pauses the object for all connections, or ends this pause. While the object is paused, the server does
    /// not compare it and sends nothing of it: no changes, no owner, no role, and nothing again that was
    /// lost. The object may change in the meantime, which costs nothing. The next tick after the pause sends
    /// the newest values that each client lacks, even if the update time of the object is not reached. Unlike
    /// an object that [sleeps](Self::set_dormancy), a paused object is not up to date on clients, and they
    /// are not told.
    ///
    /// Clients that have the object keep it with its old values. References to it stay valid, and
    /// [calls](crate::Server::call) on it arrive in both directions. A client that was sent nothing of the
    /// object yet, for example because it joins or because the object comes into its sight, does not see it
    /// before the end of the pause: it has joined without the object, and references to it read as null. The
    /// same applies to objects that are [attached](crate::Relevancy::AttachedTo) to the object.
    ///
    /// Clients still lose a paused object: if it goes out of sight, is hidden, or is
    /// [despawned](Server::despawn), then with its last values. [`tear_off`](Self::tear_off) ends the pause.
    /// An update that is too large for one packet, and is partly sent when the pause begins, is sent to its
    /// end.
    ///
    /// The pause includes the [subobjects](Self::spawn_subobject) of the object, also those that are spawned
    /// during the pause. The [host](Server::connect_host) uses the objects of the server, and is told of the
    /// changes after the pause. Costs O(connections) for each object that was not paused before.
    pub fn set_paused(&mut self, paused: bool) -> &mut Self {
        let world = &mut self.server.world;
        let mut family = Self::family(world, self.object);
        family.retain(|&slot| world.set_paused(slot, paused));
        for peer in self.server.sessions.peers.values_mut() {
            for &slot in &family {
                peer.connection.copies.review_pause(&mut self.server.world, slot);
            }
        }
        self
    }

    /// Pauses the object for one connection, or ends this pause, as [`set_paused`](Self::set_paused) does for
    /// all connections. The object is still compared, because other connections receive it. Nothing is sent
    /// while any of the two pauses lasts. The pause for a connection is dropped when the object is despawned
    /// or the connection ends, and not when the object goes out of sight.
    ///
    /// A paused object shares no encoded bytes with other connections. While it is paused and changes, the
    /// connection stores which properties its client lacks, at most once for each property. Does nothing for
    /// the host, and if the connection does not exist.
    pub fn set_paused_for(&mut self, connection: ConnectionId, paused: bool) -> &mut Self {
        let world = &mut self.server.world;
        if let Some(peer) = self.server.sessions.peers.get_mut(connection) {
            for slot in Self::family(world, self.object) {
                peer.connection.copies.set_paused(world, slot, paused);
            }
        }
        self
    }

    /// Returns the slots of an object and its subobjects. Returns none if the object does not exist or is
    /// torn off.
    fn family(world: &World, object: ObjectRef<T>) -> Vec<u32> {
        let slot = world.store.slot_of(object);
        let slot = slot.filter(|&slot| !world.store.objects[slot as usize].is_torn_off());
        slot.map_or_else(Vec::new, |slot| world.with_subobjects(slot))
    }
}

impl Server {
    /// Ends the pauses of an object, for all connections and for single ones.
    pub(super) fn end_pauses(&mut self, slot: u32) {
        let was_paused = self.world.set_paused(slot, false);
        for peer in self.sessions.peers.values_mut() {
            peer.connection.copies.set_paused(&mut self.world, slot, false);
            if was_paused {
                peer.connection.copies.review_pause(&mut self.world, slot);
            }
        }
    }
}
