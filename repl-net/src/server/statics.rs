//! The methods of the server for static objects: objects of a level that both sides know by a path (S198 to
//! S201, S212).
//!
//! *Invariant:* a path belongs to at most one existing object.

use std::sync::Arc;

use repl_core::{ObjectRef, Replicated};

use super::rows::OwnRows;
use super::{Server, SpawnKind};
use crate::session::archetype::ArchetypeId;
use crate::session::events::StaticSpawnError;
use repl_link::outbox::{SEGMENT_BITS, frame_bits};
use crate::body::path::{LENGTH_BITS, MAX_PATH_BYTES};
use crate::body::removal::REASON_BITS;
use crate::body::State;
use crate::body::segment::ENTRY_BITS;

impl Server {
    /// Adds an object that clients know by a path, because it belongs to a level that they have too, for
    /// example a door (S199). Each client [places](crate::Client::place_static) its own object under the same
    /// path, and this object is bound to it. A client that has placed nothing under the path gets the object
    /// as it gets any other, and is told the path.
    ///
    /// A static object is an object like any other in all other ways: owners, relevancy, conditions,
    /// dormancy, tear-off and [`despawn`](Self::despawn) work as always. With
    /// [`Dormancy::Initial`](crate::Dormancy::Initial), a client shows its placed object and receives nothing
    /// until the object changes here.
    ///
    /// The opening of a static object contains all properties that the client may see, so client and server
    /// have the same values afterwards, also if their levels differ. The path is in each opening until the
    /// client has acknowledged one (S200). Then an opening takes 1 bit in its place.
    ///
    /// If you despawn a static object, every client is told that the path is destroyed, also clients that
    /// have never seen the object, and clients that join later (S212). For this, its slot stays taken until
    /// you spawn an object under the path again, or call
    /// [`forget_destroyed_paths`](Self::forget_destroyed_paths). A path is no secret: clients learn that it
    /// is destroyed even if the object was hidden from them.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Server;
    /// fn load<Door: Replicated + Default>(server: &mut Server) {
    ///     let door = server.spawn_static("level1/door_7", Door::default());
    ///     assert_eq!(server.path(door), Some("level1/door_7"));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`spawn`](Self::spawn), if another object has the path, and if the path is
    /// empty, longer than 255 bytes, or too long for a packet.
    /// [`try_spawn_static`](Self::try_spawn_static) returns an error instead.
    #[track_caller]
    pub fn spawn_static<T: Replicated>(&mut self, path: &str, object: T) -> ObjectRef<T> {
        match self.try_spawn_static(path, object) {
            Ok(reference) => reference,
            Err(error) => panic!("`{path}`: {error}"),
        }
    }

    /// Adds an object that clients know by a path, as [`spawn_static`](Self::spawn_static) does, if the path
    /// and a slot are free.
    ///
    /// # Errors
    /// Returns an error if no slot is free, if another object has the path, or if the length of the path is
    /// not allowed. Then the object is dropped, and nothing else changes.
    ///
    /// # Panics
    /// Panics in the same cases as [`try_spawn`](Self::try_spawn).
    #[track_caller]
    pub fn try_spawn_static<T: Replicated>(
        &mut self,
        path: &str,
        object: T,
    ) -> Result<ObjectRef<T>, StaticSpawnError> {
        let kind = self.static_kind(path)?;
        let archetype = ArchetypeId::default();
        Ok(self.add(archetype, kind, |shadows, rows: &mut OwnRows<T>| rows.push(object, shadows))?)
    }

    /// Returns how a static object with this path is spawned, if it may have the path.
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

    /// Returns the greatest length of a path, so that a packet has room for a closing with a path.
    fn max_path_bytes(&self) -> usize {
        let other_bits = frame_bits::<State>() + SEGMENT_BITS + ENTRY_BITS + REASON_BITS + LENGTH_BITS as usize;
        MAX_PATH_BYTES.min((self.config.mtu_bytes * 8).saturating_sub(other_bits) / 8)
    }

    /// Returns the object with a path, if it exists and is a `T`.
    #[must_use]
    pub fn find_static<T: Replicated>(&self, path: &str) -> Option<ObjectRef<T>> {
        let slot = self.world.slot_with_path(path)?;
        let occupant = self.world.occupant(slot);
        self.world.has_class::<T>(occupant.class).then(|| ObjectRef::new(occupant.guid(slot)))
    }

    /// Returns the path of an object, if it exists and is [static](Self::spawn_static).
    #[must_use]
    pub fn path<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&str> {
        self.world.paths.path(self.world.slot_of(object)?).map(|path| &**path)
    }

    /// Returns the paths of the [static objects](Self::spawn_static) that were despawned, which clients that
    /// join are told (S212). Each takes a slot of [`max_objects`](crate::ServerConfig::max_objects).
    pub fn destroyed_paths(&self) -> impl Iterator<Item = &str> {
        self.world.paths.destroyed().filter_map(|slot| self.world.paths.path(slot)).map(|path| &**path)
    }

    /// Forgets which static objects were despawned, for example because their level is unloaded: clients that
    /// join from now on are not told that their paths are destroyed. The slots become free when all connected
    /// clients were told. Clients forget with a
    /// [call of their own](crate::Client::forget_destroyed_paths).
    pub fn forget_destroyed_paths(&mut self) {
        for slot in self.world.paths.forget_destroyed().iter() {
            self.world.release(slot);
        }
    }
}
