//! Static objects of a client: objects of a level that both sides know by a path (S198 to S201, S212).
//!
//! *Invariant:* nothing here is sent to the server.

use repl_core::{ObjectRef, Replicated};

use super::Client;
use super::replicas::Placed;
use crate::body::path::MAX_PATH_BYTES;

/// The objects of the client's own level, which the client places under paths. [`Client::statics`] returns a
/// `ClientStatics`. [`Client::placed`] and [`Client::find_static`] return objects with paths.
pub struct ClientStatics<'a> {
    client: &'a mut Client,
}

impl Client {
    /// Returns the objects of the client's own level. Use this to place objects under paths and to remove
    /// them.
    #[must_use]
    pub fn statics(&mut self) -> ClientStatics<'_> {
        ClientStatics { client: self }
    }

    /// Returns the object that was [placed](ClientStatics::place) under a path, both while it waits and while
    /// it is bound.
    #[must_use]
    pub fn placed<T: Replicated>(&self, path: &str) -> Option<&T> {
        self.replicas.placed(path)
    }

    /// Returns the object of the server with a path, if it has arrived and is a `T`. The client need not have
    /// placed an object under the path.
    #[must_use]
    pub fn find_static<T: Replicated>(&self, path: &str) -> Option<ObjectRef<T>> {
        self.replicas.find_static(path).map(|(object, _)| object)
    }
}

impl<'a> ClientStatics<'a> {
    /// Places an object of the client's own level under a path, for example a door. The server
    /// [spawns](crate::Statics::spawn) its object under the same path. When the object of the server arrives,
    /// it is bound to the placed object. The placed object keeps its fields that are not replicated, and gets
    /// the values of the server in its replicated fields, even if the two levels differ. Properties that
    /// conditions hide from this client keep their values. References in these properties are not read again
    /// when objects are created or removed, until the server sends the properties.
    ///
    /// Objects can be placed before or after the client connects, and before or after the objects of the
    /// server arrive, in any order. The returned [`Placed`] says whether the object of the server has already
    /// arrived or was destroyed.
    ///
    /// The client keeps the object until you [remove](Self::remove) it. When the object goes out of sight,
    /// when the server destroys it, or when another session begins, [`Unbound`](crate::UpdateKind::Unbound)
    /// reports this. The object then waits again, with its last state. Only [tearing
    /// off](crate::ObjectHandle::tear_off) removes the object from its path.
    ///
    /// A path is bound only to an object of the same class. [`get`](Client::get),
    /// [`contains`](Client::contains) and [`objects`](Client::objects) do not find an object that waits, and
    /// no reference leads to it.
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
    /// Panics if the path is empty or longer than 255 bytes, if an object of this class is already placed
    /// under it, or if the class is new and the client has [ticked](Client::tick) already.
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

    /// Removes an object that was [placed](Self::place) under a path and waits, for example because the level
    /// is unloaded, and returns it. Returns `None` if there is no such object, and also if the object is
    /// bound. A bound object stays, and is from then on like an object of the server that was never placed.
    pub fn remove<T: Replicated>(&mut self, path: &str) -> Option<T> {
        self.client.replicas.remove_placed(path)
    }

    /// Returns a mutable reference to the object that was [placed](Self::place) under a path, to change it
    /// only on this client. For a bound object, this is the same as [`Client::get_mut`]. While the object
    /// waits, edits are not recorded, and the first update after it is bound overwrites all its properties.
    pub fn get_mut<T: Replicated>(self, path: &str) -> Option<&'a mut T> {
        self.client.replicas.placed_mut(path)
    }

    /// Forgets which static objects the server has destroyed. New objects can then be [placed](Self::place)
    /// under their paths as usual. Call this when the level is unloaded, as on the server
    /// ([`Statics::forget_destroyed`](crate::Statics::forget_destroyed)).
    pub fn forget_destroyed(&mut self) {
        self.client.replicas.paths.forget_destroyed();
    }
}
