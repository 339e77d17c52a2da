//! Turns the call `client.spawn(…)` into a compile error that says who can spawn objects.
//!
//! *Invariant:* the method in this file cannot be called.

use super::Client;

/// A trait that no type implements.
#[diagnostic::on_unimplemented(
    message = "a client cannot spawn objects",
    label = "only a server spawns objects",
    note = "call a function of the server (`#[rpc(server, reliable)]`) or send it a message, and spawn the object there: `server.spawn(…)`",
    note = "to show the object before the server has spawned it, keep it in `PredictedSpawns`"
)]
pub trait SpawnedByAClient {}

impl Client {
    /// Never compiles. The error text says what to write instead.
    #[doc(hidden)]
    pub fn spawn<T: SpawnedByAClient>(&mut self, _: T) {}
}
