//! Sends remote calls to a client, each after the client has the object on which it is called (R22).
//!
//! *Invariant:* the calls on one object in one channel are sent in the order in which they were made, and the
//! reliable ones arrive before the removal of the object from the server reaches the client, and before the
//! client is told that the object is torn off.

use std::time::Duration;

use repl_core::BitWriter;

use super::Connection;
use super::call_rights::{CallRights, CallVerdict};
use super::held_calls::{CallRoute, HeldCalls};
use super::unacked_calls::UnackedCalls;
use crate::messages::channel::SendError;
use crate::messages::outgoing::Outgoing;
use crate::messages::recipient::Recipient;
use crate::server::world::World;

impl Connection {
    /// Sends a remote call that was written in its wire form, as soon as the client has the object on which
    /// it is called. Does nothing if the client may not get the call. Before each packet with the call, the
    /// connection asks again whether it may.
    ///
    /// # Errors
    /// Returns an error if the remote call is too large, or if too many remote calls wait.
    pub(crate) fn send_call(
        &mut self,
        world: &World,
        route: CallRoute,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let CallRoute { object, recipient, channel } = route;
        let max_bits = self.outbox.capacity();
        self.exchange.outgoing.check_size(channel, writer.bit_len())?;
        let may_pass = self.held_calls.as_ref().is_none_or(|held| held.lets_pass(channel));
        match self.call_rights(world).verdict(object, recipient) {
            CallVerdict::Send if may_pass => {
                match self.exchange.outgoing.add_for(recipient, channel, writer, max_bits) {
                    Err(SendError::Full) => {
                        self.held_calls.iter_mut().for_each(|held| held.found_full(channel));
                        self.hold_call(route, writer)
                    }
                    Err(error) => Err(error),
                    Ok(()) => {
                        let unacked = self.unacked_calls.get_or_insert_default();
                        unacked.sent(object.slot(), channel, &self.exchange.outgoing);
                        Ok(())
                    }
                }
            }
            CallVerdict::Send | CallVerdict::Wait => self.hold_call(route, writer),
            CallVerdict::Drop => Ok(()),
        }
    }

    fn call_rights<'a>(&'a self, world: &'a World) -> CallRights<'a> {
        CallRights { id: self.id, objects: &self.objects, last: &self.last_rights, world }
    }

    /// Adds a remote call to those that wait.
    fn hold_call(&mut self, route: CallRoute, writer: &mut BitWriter) -> Result<(), SendError> {
        let mut held = self.held_calls.take().unwrap_or_default();
        let result = held.push(route, writer);
        self.held_calls = Some(held).filter(|held| !held.is_empty());
        result
    }

    /// Moves waiting remote calls to the outgoing messages if the client has the objects of the calls now.
    /// Does nothing if no more calls can leave than at the last time.
    pub(super) fn settle_calls(&mut self, world: &World) {
        let Some(mut held) = self.held_calls.take() else { return };
        let max_bits = self.outbox.capacity();
        let mut outgoing = std::mem::take(&mut self.exchange.outgoing);
        let mut unacked = self.unacked_calls.take().unwrap_or_default();
        let rights = self.call_rights(world);
        held.settle(
            |route| rights.verdict(route.object, route.recipient),
            |CallRoute { object, recipient, channel }, writer| {
                let is_sent = outgoing.add_for(recipient, channel, writer, max_bits).is_ok();
                if is_sent {
                    unacked.sent(object.slot(), channel, &outgoing);
                }
                is_sent
            },
        );
        self.unacked_calls = Some(unacked);
        self.held_calls = Some(held).filter(|held| !held.is_empty());
        self.exchange.outgoing = outgoing;
    }

    /// Sends the waiting calls on an object that is about to be removed if the client has the object. Those
    /// that find no room in their channel go on waiting, and the others are dropped. Records which calls on
    /// the object the client may still get afterwards: those that it might get now. The object must still
    /// exist.
    pub(crate) fn end_calls(&mut self, world: &World, slot: u32) {
        // A call on this object may wait only for an earlier call on another one.
        self.settle_calls(world);
        let may_have_calls = self.held_calls.is_some() || self.unacked_calls.is_some();
        if !may_have_calls {
            return;
        }
        let (rights, object) = (self.call_rights(world), world.occupant(slot).guid(slot));
        let may_receive = |recipient| rights.verdict(object, recipient) == CallVerdict::Send;
        if may_receive(Recipient::Viewer) {
            let is_owner = may_receive(Recipient::Owner);
            self.last_rights.keep(object, is_owner);
        } else {
            self.unacked_calls.iter_mut().for_each(|unacked| unacked.withdrawn(slot));
            self.held_calls.iter_mut().for_each(|held| held.drop_on(slot));
            self.held_calls.take_if(|held| held.is_empty());
        }
    }

    /// Records that more of the waiting calls may leave at the next time.
    pub(super) fn unsettle_calls(&mut self) {
        self.held_calls.iter_mut().for_each(|held| held.unsettle());
    }

    /// Sends the waiting messages and calls, as [`Outgoing::send`](crate::messages::outgoing::Outgoing::send)
    /// describes. Returns how many bits they take.
    pub(super) fn send_messages(&mut self, world: &World, budget_bits: usize, now: Duration) -> usize {
        let Self { id, ref objects, ref last_rights, ref mut exchange, ref mut outbox, .. } = *self;
        let rights = CallRights { id, objects, last: last_rights, world };
        exchange.outgoing.send(outbox, budget_bits, &|recipient, call| rights.allow(recipient, call), now)
    }

    /// Returns whether an object that was removed from the server may not be removed from the client yet,
    /// because a call on it waits for room, or a reliable call on it is not acknowledged.
    pub(super) fn waits_for_calls(&self, slot: u32, world: &World) -> bool {
        let (held, unacked) = (self.held_calls.as_deref(), self.unacked_calls.as_deref());
        !world.occupant(slot).alive && are_left(held, unacked, &self.exchange.outgoing, slot)
    }
}

/// Returns whether a call on the object in a slot waits, or a reliable call on it is not acknowledged. Costs
/// O(log(calls)).
pub(super) fn are_left(
    held: Option<&HeldCalls>,
    unacked: Option<&UnackedCalls>,
    outgoing: &Outgoing,
    slot: u32,
) -> bool {
    held.is_some_and(|held| held.has(slot)) || unacked.is_some_and(|unacked| unacked.has(slot, outgoing))
}
