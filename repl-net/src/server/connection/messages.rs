//! Sends messages and remote calls.
//!
//! *Invariant:* before a call is put into a packet, the connection checks whether the client may receive the
//! call.

use std::time::Duration;

use repl_core::BitWriter;
use repl_link::SendError;

use super::Connection;
use super::calls::CallRoute;
use super::copies::call_rights::{CallRights, CallVerdict};
use crate::server::world::World;

impl Connection {
    /// Sends a remote call that was written in its wire form, as soon as the client has the object on which
    /// it is called. Sends a message as soon as the client has the object for which the message waits. Does
    /// nothing if the client may not receive the call.
    ///
    /// # Errors
    /// Returns an error if the remote call is too large, or if too many remote calls wait.
    pub(crate) fn send_call(
        &mut self,
        world: &World,
        route: CallRoute,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let Self { link, copies, calls, assets, .. } = self;
        let max_bits = link.outbox.capacity();
        let rights = CallRights { copies, world };
        if !writer.named_assets().is_empty()
            && rights.verdict(route.object, route.recipient) != CallVerdict::Drop
        {
            assets.need(writer.named_assets(), &world.store.assets);
        }
        calls.send(&rights, &mut link.exchange.outgoing, route, writer, max_bits)
    }

    /// Moves waiting remote calls to the outgoing messages if the client has the objects of the calls now.
    pub(super) fn settle_calls(&mut self, world: &World) {
        let Self { link, copies, calls, .. } = self;
        let max_bits = link.outbox.capacity();
        calls.settle(&CallRights { copies, world }, &mut link.exchange.outgoing, max_bits);
    }

    pub(crate) fn end_calls(&mut self, world: &World, slot: u32) {
        let Self { link, copies, calls, .. } = self;
        let max_bits = link.outbox.capacity();
        calls.end_on(slot, copies, world, &mut link.exchange.outgoing, max_bits);
    }

    /// Sends the waiting messages and calls, as
    /// [`Link::send_messages`](repl_link::parts::Link::send_messages) describes. Returns how many bits they
    /// take.
    pub(super) fn send_messages(&mut self, world: &World, budget_bits: usize, now: Duration) -> usize {
        let Self { link, copies, .. } = self;
        let rights = CallRights { copies, world };
        link.send_messages(budget_bits, &|recipient, call| rights.allow(recipient, call), now)
    }

    /// Returns whether the client must keep an object that was removed from the server for now, because a
    /// call on it waits for room, or a reliable call on it is not acknowledged.
    pub(super) fn waits_for_calls(&self, slot: u32, world: &World) -> bool {
        !world.store.occupant(slot).alive && self.calls.are_left(slot, &self.link.exchange.outgoing)
    }
}
