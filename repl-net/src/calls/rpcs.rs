//! [`Rpcs`]: the trait of classes with calls, and [`CallSender`], which sends the calls.
//!
//! *Invariant:* only `#[rpcs]` implements the trait, so the numbers of calls are their indices in
//! [`Rpcs::CALLS`].

use std::fmt::Debug;

use repl_core::{NetSerialize, ObjectRef, Replicated};
use repl_link::ConnectionId;

use super::error::CallError;
use super::invocation::Invocation;
use super::table::CallTable;
use crate::client::Client;
use crate::server::Server;

/// A class with remote calls. The attribute `#[rpcs]` on an `impl` block implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no remote calls",
    label = "no `#[rpcs]`",
    note = "write `#[rpcs] impl {Self} {{ #[rpc(server, reliable)] fn fire(call: &mut ServerCall<'_, Self>) {{ … }} }}`",
    note = "a class has no calls of a struct inside it: declare them again, with bodies that forward to the field: `self.pawn.fire()`"
)]
pub trait Rpcs: Replicated {
    /// An enum with a variant for each call, which has a field for each parameter. `Debug` prints the variant
    /// and its fields. It prints `_` for a field whose type does not implement `Debug`.
    type Call: NetSerialize + Debug + Send + Sync;

    /// The caller, which [`Server::call`](crate::Server::call) and [`Client::call`](crate::Client::call)
    /// return. It has one method for each call.
    type Caller<'a>;

    /// The table of the calls. Print it in a snapshot test, like [`Replicated::LAYOUT`].
    const CALLS: &'static CallTable;

    /// Returns the caller that sends calls through `sender`.
    #[doc(hidden)]
    fn caller(sender: CallSender<'_, Self>) -> Self::Caller<'_>;

    /// Returns the index of a call in [`CALLS`](Self::CALLS).
    #[doc(hidden)]
    fn number(call: &Self::Call) -> usize;

    /// Returns whether the validator of a call accepts the call. Returns `true` if the call has no validator.
    #[doc(hidden)]
    fn allows(&self, caller: ConnectionId, call: &Self::Call) -> bool;

    /// Runs a call.
    #[doc(hidden)]
    fn run(invocation: Invocation<'_, Self>, call: Self::Call);
}

/// The side that makes a call.
pub(super) enum CallMaker<'a> {
    Server(&'a mut Server),
    Client(&'a mut Client),
    /// The host of a server (a player in its process).
    Host(&'a mut Server),
}

/// Sends the calls of one object. Only generated code uses this type.
pub struct CallSender<'a, T> {
    maker: CallMaker<'a>,
    object: ObjectRef<T>,
}

impl<'a, T: Rpcs> CallSender<'a, T> {
    pub(super) fn new(maker: CallMaker<'a>, object: ObjectRef<T>) -> Self {
        Self { maker, object }
    }

    /// Queues a call for the side or the sides that will run it.
    ///
    /// # Errors
    /// Returns an error if the call cannot be queued. If so, nothing was changed.
    pub fn send(&mut self, call: T::Call) -> Result<(), CallError> {
        match &mut self.maker {
            CallMaker::Server(server) => server.send_call(self.object, call),
            CallMaker::Client(client) => client.send_call(self.object, call),
            CallMaker::Host(server) => server.send_call_of_host(self.object, call),
        }
    }
}
