//! Sends remote calls to a client, each after the client has the object on which it is called (R22).
//!
//! *Invariant:* the calls on one object in one channel are sent in the order in which they were made, and the
//! reliable ones arrive before the removal of the object.

use repl_core::{BitWriter, Guid, ObjectRef};

use super::Connection;
use super::held_calls::CallVerdict;
use super::unacked_calls::UnackedCalls;
use crate::messages::channel::SendError;
use crate::server::world::World;

impl Connection {
    /// Sends a remote call that was written in its wire form, as soon as the client has the object on which
    /// it is called. Does nothing if the client does not receive the object.
    ///
    /// # Errors
    /// Returns an error if the remote call is too large, or if too many remote calls wait.
    pub(crate) fn send_call(
        &mut self,
        world: &World,
        object: Guid,
        channel: u16,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let max_bits = self.outbox.capacity();
        self.exchange.outgoing.check_size(channel, writer.bit_len())?;
        let may_pass = self.held_calls.as_ref().is_none_or(|held| held.lets_pass(channel));
        match self.verdict(world, object) {
            CallVerdict::Send if may_pass => match self.exchange.outgoing.add(channel, writer, max_bits) {
                Err(SendError::Full) => {
                    self.held_calls.iter_mut().for_each(|held| held.found_full(channel));
                    self.hold_call(object, channel, writer)
                }
                Err(error) => Err(error),
                Ok(()) => {
                    let unacked = self.unacked_calls.get_or_insert_default();
                    unacked.sent(object.slot(), channel, &self.exchange.outgoing);
                    Ok(())
                }
            },
            CallVerdict::Send | CallVerdict::Wait => self.hold_call(object, channel, writer),
            CallVerdict::Drop => Ok(()),
        }
    }

    /// Adds a remote call to those that wait.
    fn hold_call(&mut self, object: Guid, channel: u16, writer: &mut BitWriter) -> Result<(), SendError> {
        let mut held = self.held_calls.take().unwrap_or_default();
        let result = held.push(object, channel, writer);
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
        held.settle(
            |object| self.verdict(world, object),
            |object, channel, writer| {
                let is_sent = outgoing.add(channel, writer, max_bits).is_ok();
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

    /// Sends the waiting calls on an object that is about to be removed if the client has the object, and
    /// drops the others. The object must still exist.
    pub(crate) fn end_calls(&mut self, world: &World, slot: u32) {
        // A call on this object may wait only for an earlier call on another one.
        self.settle_calls(world);
        self.held_calls.iter_mut().for_each(|held| held.drop_on(slot));
        self.held_calls.take_if(|held| held.is_empty());
    }

    /// Records that more of the waiting calls may leave at the next time.
    pub(super) fn unsettle_calls(&mut self) {
        self.held_calls.iter_mut().for_each(|held| held.unsettle());
    }

    /// Returns whether an object that was removed from the server may not be removed from the client yet,
    /// because a reliable call on it is not acknowledged.
    pub(super) fn waits_for_calls(&self, slot: u32, world: &World) -> bool {
        let has_call = |calls: &UnackedCalls| calls.has(slot, &self.exchange.outgoing);
        !world.occupant(slot).alive && self.unacked_calls.as_deref().is_some_and(has_call)
    }

    /// Returns what can be done now with the remote calls on an object.
    fn verdict(&self, world: &World, object: Guid) -> CallVerdict {
        if world.slot_of(ObjectRef::<()>::new(object)).is_none() {
            return CallVerdict::Drop;
        }
        if self.objects.has_arrived(object.slot()) {
            CallVerdict::Send
        } else if self.objects.is_expected(object.slot()) {
            CallVerdict::Wait
        } else {
            CallVerdict::Drop
        }
    }
}
