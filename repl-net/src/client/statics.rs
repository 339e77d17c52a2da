//! Static objects of a client: objects of a level that both sides know by a path (S198 to S201, S212).
//!
//! *Invariant:* nothing in this file is sent to the server.

use repl_core::{ObjectRef, Replicated};

use super::Client;
use super::replicas::Placed;
use crate::body::path::MAX_PATH_BYTES;

/// The objects of the client's own level. The client places them under paths. [`Client::statics`] returns a
/// `ClientStatics`. [`Client::placed`] and [`Client::find_static`] return objects by their paths.
pub struct ClientStatics<'a> {
    client: &'a mut Client,
}

impl Client {
    /// Returns the objects of the client's own level, to place objects under paths or to remove them.
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

    /// Returns the server's object with a path, if it has arrived and its class is `T`. This does not depend
    /// on whether the client has placed an object under the path.
    #[must_use]
    pub fn find_static<T: Replicated>(&self, path: &str) -> Option<ObjectRef<T>> {
        self.replicas.find_static(path).map(|(object, _)| object)
    }
}

impl<'a> ClientStatics<'a> {
    /// Places an object of the client's own level under a path, for example a door. The server
    /// [spawns](crate::Statics::spawn) its object under the same path. When the server's object arrives, it
    /// is bound to the placed object: the replicated fields of the placed object receive the values of the
    /// server, even if the two levels differ, and its other fields do not change. Properties that conditions
    /// hide from this client keep their values. References in these properties are not resolved again when
    /// objects are created or removed, until the server sends the properties.
    ///
    /// Objects can be placed before or after the client connects, and before or after the server's objects
    /// arrive, in any order. The returned [`Placed`] says whether the server's object has already arrived or
    /// was destroyed.
    ///
    /// The client keeps the object until you [remove](Self::remove) it. If the client may no longer see the
    /// object, if the server destroys it, or if another session begins, the update
    /// [`Unbound`](crate::UpdateKind::Unbound) reports this. The object then waits again, with its last
    /// state. Only [tearing off](crate::ObjectHandle::tear_off) removes the object from its path.
    ///
    /// A path is bound only to an object of the same class. [`get`](Client::get),
    /// [`contains`](Client::contains) and [`objects`](Client::objects) do not find an object that waits, and
    /// no reference refers to it.
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
    /// under it, or if the class was not registered and the client has already [ticked](Client::tick).
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

    /// Removes and returns an object that was [placed](Self::place) under a path and waits, for example
    /// because the level is unloaded. Returns `None` if there is no such object, and also if the object is
    /// bound. A bound object remains, and from then on is like an object of the server that was never placed.
    pub fn remove<T: Replicated>(&mut self, path: &str) -> Option<T> {
        self.client.replicas.remove_placed(path)
    }

    /// Returns a mutable reference to the object that was [placed](Self::place) under a path, to change it
    /// only on this client. For a bound object, this is the same as [`Client::get_mut`]. While the object
    /// waits, edits are not recorded: when the server's object arrives, its first update overwrites all
    /// properties.
    pub fn get_mut<T: Replicated>(self, path: &str) -> Option<&'a mut T> {
        self.client.replicas.placed_mut(path)
    }

    /// Forgets which static objects the server has destroyed. New objects can then be [placed](Self::place)
    /// under their paths again. Call this when the level is unloaded, as on the server
    /// ([`Statics::forget_destroyed`](crate::Statics::forget_destroyed)).
    pub fn forget_destroyed(&mut self) {
        self.client.replicas.paths.forget_destroyed();
    }
}
