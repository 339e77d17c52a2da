//! Static objects of a server: objects of a level that both sides know by a path (S198 to S201, S212).
//!
//! *Invariant:* a path belongs to at most one existing object.

use std::sync::Arc;

use repl_core::{ObjectRef, Replicated};
use repl_link::parts::{SEGMENT_BITS, frame_bits};

use super::rows::OwnRows;
use super::{Server, SpawnKind};
use crate::body::State;
use crate::body::path::{LENGTH_BITS, MAX_PATH_BYTES};
use crate::body::removal::REASON_BITS;
use crate::body::segment::ENTRY_BITS;
use crate::session::archetype::ArchetypeId;
use crate::session::events::StaticSpawnError;

/// The static objects of a server: objects of a level that clients know by a path. [`Server::statics`]
/// returns a `Statics`, which spawns them. [`Server::find_static`] returns the object with a path.
pub struct Statics<'a> {
    server: &'a mut Server,
}

impl Server {
    /// Returns the static objects of the server. Use the result to spawn static objects, and to forget which
    /// ones were destroyed.
    #[must_use]
    pub fn statics(&mut self) -> Statics<'_> {
        Statics { server: self }
    }

    /// Returns the object with a path, if it exists and is a `T`.
    #[must_use]
    pub fn find_static<T: Replicated>(&self, path: &str) -> Option<ObjectRef<T>> {
        let slot = self.world.slot_with_path(path)?;
        let occupant = self.world.store.occupant(slot);
        self.world.store.has_class::<T>(occupant.class).then(|| ObjectRef::new(occupant.guid(slot)))
    }

    /// Returns the paths of the [static objects](Statics) that were despawned. Clients that join are told
    /// that these paths are destroyed. Each such path occupies one of the slots that count towards
    /// [`max_objects`](crate::ServerConfig::max_objects).
    pub fn destroyed_paths(&self) -> impl Iterator<Item = &str> {
        self.world.paths.destroyed().filter_map(|slot| self.world.paths.path(slot)).map(|path| &**path)
    }

    /// Returns the spawn kind of a static object with this path, or an error if the path cannot be used.
    pub(super) fn static_kind(&self, path: &str) -> Result<SpawnKind, StaticSpawnError> {
        let (bytes, max_bytes) = (path.len(), self.max_path_bytes());
        if !(1..=max_bytes).contains(&bytes) {
            return Err(StaticSpawnError::PathLength { bytes, max_bytes });
        }
        if self.world.slot_with_path(path).is_some() {
            return Err(StaticSpawnError::PathTaken);
        }
        Ok(SpawnKind::Static(Arc::from(path)))
    }

    /// Returns the greatest length of a path. A packet must have room for a closing with the path.
    fn max_path_bytes(&self) -> usize {
        let other_bits =
            frame_bits::<State>() + SEGMENT_BITS + ENTRY_BITS + REASON_BITS + LENGTH_BITS as usize;
        MAX_PATH_BYTES.min((self.config.mtu_bytes * 8).saturating_sub(other_bits) / 8)
    }
}

impl Statics<'_> {
    /// Adds an object that clients know by a path, because the object belongs to a level that the clients
    /// have too, for example a door. Each client [places](crate::ClientStatics::place) its own object under
    /// the same path. The object of the server is then bound to the placed object. If a client has placed
    /// nothing under the path, it receives the object like any other object, together with the path.
    ///
    /// In all other ways, a static object is an object like any other: owners, relevancy, conditions,
    /// dormancy, tear-off and [`despawn`](Server::despawn) work as always. With
    /// [`Dormancy::Initial`](crate::Dormancy::Initial), a client shows its placed object and receives nothing
    /// until the object changes on the server.
    ///
    /// The opening (the first update) of a static object contains all properties that the client may see.
    /// Afterwards client and server have the same values, even if their levels differ. Openings contain the
    /// path until the client has acknowledged an opening with it. Later openings take 1 bit instead of the
    /// path.
    ///
    /// If you despawn a static object, every client is told that the path is destroyed, including clients
    /// that have never seen the object and clients that join later. Therefore the slot of the object stays
    /// taken until you spawn an object under the path again, or call
    /// [`forget_destroyed`](Self::forget_destroyed). A path is not secret: clients learn that it is destroyed
    /// even if the object was hidden from them.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Server;
    /// fn load<Door: Replicated + Default>(server: &mut Server) {
    ///     let door = server.statics().spawn("level1/door_7", Door::default());
    ///     assert_eq!(server.object_info(door).path(), Some("level1/door_7"));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`Server::spawn`], if another object has the path, and if the path is
    /// empty, longer than 255 bytes, or too long for a packet.
    /// [`try_spawn`](Self::try_spawn) returns an error instead.
    #[track_caller]
    pub fn spawn<T: Replicated>(&mut self, path: &str, object: T) -> ObjectRef<T> {
        match self.try_spawn(path, object) {
            Ok(reference) => reference,
            Err(error) => panic!("`{path}`: {error}"),
        }
    }

    /// Adds an object that clients know by a path, in the same way as [`spawn`](Self::spawn), if the path and
    /// a slot are free.
    ///
    /// # Errors
    /// Returns an error if no slot is free, if another object has the path, or if the length of the path is
    /// not allowed. In this case the object is dropped, and nothing else changes.
    ///
    /// # Panics
    /// Panics in the same cases as [`Server::try_spawn`].
    #[track_caller]
    pub fn try_spawn<T: Replicated>(
        &mut self,
        path: &str,
        object: T,
    ) -> Result<ObjectRef<T>, StaticSpawnError> {
        let kind = self.server.static_kind(path)?;
        let archetype = ArchetypeId::default();
        Ok(self.server.add(archetype, kind, |shadows, rows: &mut OwnRows<T>| rows.push(object, shadows))?)
    }

    /// Forgets which static objects were despawned, for example because their level is unloaded. Clients that
    /// join from now on are not told that these paths are destroyed. The slots become free after all
    /// connected clients were told. Clients forget destroyed paths with their own
    /// [`forget_destroyed`](crate::ClientStatics::forget_destroyed).
    pub fn forget_destroyed(&mut self) {
        for slot in self.server.world.paths.forget_destroyed().iter() {
            self.server.world.release(slot);
        }
    }
}
