//! The context of a running call: its object, its caller, and the server or client that runs it.
//!
//! *Invariant:* a call borrows the whole server or client that runs it, so the function can access every
//! object there.

use std::fmt;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use repl_core::{ObjectRef, Replicated};
use repl_link::ConnectionId;

use crate::client::Client;
use crate::server::Server;

/// A call that runs on a server. See [`Call`].
pub type ServerCall<'a, T> = Call<'a, T, Server>;

/// A call that runs on a client. See [`Call`].
pub type ClientCall<'a, T> = Call<'a, T, Client>;

/// A running call. `Side` is [`Server`] or [`Client`]. The call dereferences to its object.
///
/// ```
/// # use repl_core::Replicated;
/// # use repl_net::{ServerCall};
/// # struct Shot;
/// fn fire<T: Replicated>(call: &mut ServerCall<'_, T>, shot: T) {
///     let shooter = call.object();
///     let shot = call.server().spawn(shot);
///     # let _ = (shooter, shot);
/// }
/// ```
///
/// # Panics
/// Dereferencing panics if the function has despawned its own object, or if the object is
/// [external](crate::External).
pub struct Call<'a, T, Side> {
    side: &'a mut Side,
    object: ObjectRef<T>,
    caller: Option<ConnectionId>,
}

impl<'a, T, Side> Call<'a, T, Side> {
    pub(super) fn new(side: &'a mut Side, object: ObjectRef<T>, caller: Option<ConnectionId>) -> Self {
        Self { side, object, caller }
    }

    /// Returns the object of the function that was called.
    #[must_use]
    pub fn object(&self) -> ObjectRef<T> {
        self.object
    }
}

impl<T> Call<'_, T, Server> {
    /// Returns the server. Use it to read and change other objects, to spawn objects, to send messages and to
    /// make calls.
    pub fn server(&mut self) -> &mut Server {
        self.side
    }

    /// Returns the client or [host](crate::Server::connect_host) that made the call, or `None` if the server
    /// made it.
    #[must_use]
    pub fn caller(&self) -> Option<ConnectionId> {
        self.caller
    }
}

impl<T> Call<'_, T, Client> {
    /// Returns the client. Use it to read other objects, to send messages and to make calls.
    pub fn client(&mut self) -> &mut Client {
        self.side
    }
}

impl<T: Replicated, Side: Index<ObjectRef<T>, Output = T>> Deref for Call<'_, T, Side> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.side[self.object]
    }
}

impl<T: Replicated, Side: IndexMut<ObjectRef<T>, Output = T>> DerefMut for Call<'_, T, Side> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.side[self.object]
    }
}

/// The server or the client on which a [`MulticastCall`] is running. A multicast call runs once on the
/// server, and once on each client.
pub enum CallSide<'a> {
    /// A server runs the call.
    Server(&'a mut Server),
    /// A client runs the call.
    Client(&'a mut Client),
}

/// A running multicast call, on the server or on a client. It dereferences to its object, as [`Call`] does.
pub struct MulticastCall<'a, T> {
    side: CallSide<'a>,
    object: ObjectRef<T>,
}

impl<'a, T> MulticastCall<'a, T> {
    pub(super) fn new(side: CallSide<'a>, object: ObjectRef<T>) -> Self {
        Self { side, object }
    }

    /// Returns the object of the function that was called.
    #[must_use]
    pub fn object(&self) -> ObjectRef<T> {
        self.object
    }

    /// Returns the side that runs the call.
    pub fn side(&mut self) -> CallSide<'_> {
        match &mut self.side {
            CallSide::Server(server) => CallSide::Server(server),
            CallSide::Client(client) => CallSide::Client(client),
        }
    }

    /// Returns the client that runs the call, or `None` on the server.
    pub fn client(&mut self) -> Option<&mut Client> {
        match &mut self.side {
            CallSide::Server(_) => None,
            CallSide::Client(client) => Some(client),
        }
    }
}

impl<T: Replicated> Deref for MulticastCall<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.side {
            CallSide::Server(server) => &server[self.object],
            CallSide::Client(client) => &client[self.object],
        }
    }
}

impl<T: Replicated> DerefMut for MulticastCall<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.side {
            CallSide::Server(server) => &mut server[self.object],
            CallSide::Client(client) => &mut client[self.object],
        }
    }
}

/// A call that has arrived. The program has polled it, so it does not run by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedCall<T, C> {
    /// The object of the function that was called. The object exists.
    pub object: ObjectRef<T>,
    /// The client that made the call. `None` if this side made the call itself, and always `None` on clients.
    pub caller: Option<ConnectionId>,
    /// The call with its parameters.
    pub call: C,
}

impl<T, C: fmt::Debug> fmt::Debug for ReceivedCall<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, caller, call } = self;
        f.debug_struct("ReceivedCall")
            .field("object", object)
            .field("caller", caller)
            .field("call", call)
            .finish()
    }
}
