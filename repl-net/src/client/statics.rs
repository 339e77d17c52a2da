//! Static objects of a client: objects of a level that both sides know by a path (S198 to S201, S212).
//!
//! *Invariant:* nothing here is sent to the server.

use repl_core::{ObjectRef, Replicated};

use super::Client;
use super::replicas::Placed;
use crate::body::path::MAX_PATH_BYTES;

/// The objects of a client's own level, which it places under paths. [`Client::statics`] returns a
/// `ClientStatics`. [`Client::placed`] and [`Client::find_static`] return objects with paths.
pub struct ClientStatics<'a> {
    client: &'a mut Client,
}

impl Client {
    /// Returns the objects of the client's own level, to place objects under paths and to remove them.
    #[must_use]
    pub fn statics(&mut self) -> ClientStatics<'_> {
        ClientStatics { client: self }
    }

    /// Returns the object that was [placed](ClientStatics::place) under a path, whether it is bound or waits.
    #[must_use]
    pub fn placed<T: Replicated>(&self, path: &str) -> Option<&T> {
        self.replicas.placed(path)
    }

    /// Returns the object of the server with a path, if it has arrived and is a `T`, whether the client has
    /// placed an object under the path or not.
    #[must_use]
    pub fn find_static<T: Replicated>(&self, path: &str) -> Option<ObjectRef<T>> {
        self.replicas.find_static(path).map(|(object, _)| object)
    }
}

impl<'a> ClientStatics<'a> {
    /// Places an object of the client's own level under a path, for example a door. When the object that the
    /// server has [spawned](crate::Statics::spawn) under the same path arrives, it is this object: it
    /// keeps the fields that are not replicated, and gets the values of the server in those that are, also if
    /// the two levels differ. Properties that conditions hide from this client keep their values. References
    /// in them are not read again when objects come or go, until the server sends these properties.
    ///
    /// Place objects before or after the client connects, and before or after the objects of the server
    /// arrive, in any order. [`Placed`] says whether the object of the server is there already or is
    /// destroyed.
    ///
    /// The client keeps the object in all cases until you [remove](Self::remove) it. When the object
    /// goes out of sight, or the server destroys it, or another session begins,
    /// [`Unbound`](crate::UpdateKind::Unbound) reports this, and the object waits again with its last state.
    /// Only [tearing off](crate::ObjectHandle::tear_off) takes it from its path.
    ///
    /// A path is bound only to an object of the same class. An object that waits does not exist for
    /// [`get`](Client::get), [`contains`](Client::contains) and [`objects`](Client::objects), and no
    /// reference leads to it.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::{Client, ClientEvent, Placed};
    /// # trait Door: Replicated { fn take_mesh(&mut self, from: Self); }
    /// fn load<D: Door>(client: &mut Client, path: &str, door: D) {
    ///     match client.statics().place(path, door) {
    ///         Placed::Waiting => {}
    ///         Placed::Bound(object, door) => client[object].take_mesh(door),
    ///         Placed::Destroyed => _ = client.statics().remove::<D>(path),
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics if the path is empty or longer than 255 bytes, if an object of this class is placed under it
    /// already, or if the class is new and the client has [ticked](Client::tick) already.
    #[track_caller]
    pub fn place<T: Replicated>(&mut self, path: &str, object: T) -> Placed<T> {
        let bytes = path.len();
        assert!(
            (1..=MAX_PATH_BYTES).contains(&bytes),
            "a path of {bytes} bytes: a path has from 1 to {MAX_PATH_BYTES} bytes"
        );
        if self.client.replicas.typed::<T>().is_none() {
            self.client.register::<T>();
        }
        let Some(placed) = self.client.replicas.place(path, object) else {
            panic!("a `{}` is placed under the path `{path}` already: remove it first", T::LAYOUT.name())
        };
        placed
    }

    /// Removes an object that was [placed](Self::place) under a path, for example because the level is
    /// unloaded, and returns it. Returns `None` if there is no such object. Also returns `None` if the object
    /// is bound: then it stays, as an object of the server that was never placed.
    pub fn remove<T: Replicated>(&mut self, path: &str) -> Option<T> {
        self.client.replicas.remove_placed(path)
    }

    /// Returns the object that was [placed](Self::place) under a path, for a change on this client
    /// alone. If it is bound, this is what [`Client::get_mut`] returns. While it waits, nothing is recorded of
    /// what you change, and the first update after it is bound brings all its properties.
    pub fn get_mut<T: Replicated>(self, path: &str) -> Option<&'a mut T> {
        self.client.replicas.placed_mut(path)
    }

    /// Forgets which static objects the server has destroyed, so that objects can be
    /// [placed](Self::place) under their paths as if nothing had happened. Call this when the level is
    /// unloaded, as on the server ([`Statics::forget_destroyed`](crate::Statics::forget_destroyed)).
    pub fn forget_destroyed(&mut self) {
        self.client.replicas.paths.forget_destroyed();
    }
}
