//! [`Invocation`]: a call that is about to run, before generated code chooses the function.
//!
//! *Invariant:* a function runs only on a side that its kind allows.

use repl_core::{ObjectRef, Replicated};
use repl_link::ConnectionId;

use super::call::{Call, CallSide, ClientCall, MulticastCall, ServerCall};

/// A call that is about to run. Only generated code uses this type.
pub struct Invocation<'a, T> {
    side: CallSide<'a>,
    object: ObjectRef<T>,
    caller: Option<ConnectionId>,
}

impl<'a, T: Replicated> Invocation<'a, T> {
    pub(super) fn new(side: CallSide<'a>, object: ObjectRef<T>, caller: Option<ConnectionId>) -> Self {
        Self { side, object, caller }
    }

    /// Returns the first argument of a function that runs on the server, or `None` on a client.
    #[must_use]
    pub fn on_server(self) -> Option<ServerCall<'a, T>> {
        match self.side {
            CallSide::Server(server) => Some(Call::new(server, self.object, self.caller)),
            CallSide::Client(_) => None,
        }
    }

    /// Returns the first argument of a function that runs on the client of the owner, or `None` on a server.
    #[must_use]
    pub fn on_client(self) -> Option<ClientCall<'a, T>> {
        match self.side {
            CallSide::Server(_) => None,
            CallSide::Client(client) => Some(Call::new(client, self.object, None)),
        }
    }

    /// Returns the first argument of a function that runs on the server and on clients.
    #[must_use]
    pub fn on_either(self) -> Option<MulticastCall<'a, T>> {
        Some(MulticastCall::new(self.side, self.object))
    }

    /// Returns the object for a function with `&self`, or `None` if this side does not have the object.
    #[must_use]
    pub fn object(self) -> Option<&'a T> {
        match self.side {
            CallSide::Server(server) => server.get(self.object),
            CallSide::Client(client) => client.get(self.object),
        }
    }

    /// Returns the object for a function with `&mut self`, or `None` if this side does not have the object.
    #[must_use]
    pub fn object_mut(self) -> Option<&'a mut T> {
        match self.side {
            CallSide::Server(server) => server.get_mut(self.object),
            CallSide::Client(client) => client.get_mut(self.object),
        }
    }
}
