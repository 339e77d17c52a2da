//! The remote calls to a client. Each call is sent after the client has the object on which it is called
//! (R22). A message that waits for an object is handled like a call on this object, but its recipient is
//! [`Recipient::Anyone`], so it is not withdrawn after it was sent.
//!
//! *Invariant:* the calls on one object in one channel are sent in the order in which they were made, and the
//! reliable ones arrive before the removal of the object from the server reaches the client, and before the
//! client is told that the object is torn off.

mod held;
mod unacked;

use repl_core::BitWriter;
use repl_link::SendError;
use repl_link::parts::{Outgoing, Recipient};

use super::copies::Copies;
use super::copies::call_rights::{CallRights, CallVerdict};
use crate::server::world::World;
use crate::session::time_budget::TimeBudget;
pub(crate) use held::CallRoute;
use held::HeldCalls;
use unacked::UnackedCalls;

#[derive(Default)]
pub(crate) struct Calls {
    /// The calls that wait for their objects. `None` if no call waits.
    held: Option<Box<HeldCalls>>,
    /// The reliable calls that are not acknowledged yet. The removals of their objects wait for them. `None`
    /// before the first call.
    unacked: Option<Box<UnackedCalls>>,
    /// The counters for the client's calls.
    pub(crate) meter: CallMeter,
}

/// What the server counts of the calls from a client or from the host.
#[derive(Clone, Copy, Default)]
pub(crate) struct CallMeter {
    /// The number of calls that were ignored.
    pub(crate) ignored: u32,
    /// The time for which calls of this client may still run, which limits its use of the server's processor.
    pub(crate) time: TimeBudget,
}

impl Calls {
    /// Sends a call that was written in its wire form, as soon as the client has the object on which it is
    /// called. Does nothing if the client may not receive the call. Before each packet with the call, the
    /// connection checks again whether the client may receive it. `max_bits` is the room of a packet, in
    /// bits.
    ///
    /// # Errors
    /// Returns an error if the call is too large, or if too many calls wait.
    pub(super) fn send(
        &mut self,
        rights: &CallRights<'_>,
        outgoing: &mut Outgoing,
        route: CallRoute,
        writer: &mut BitWriter,
        max_bits: usize,
    ) -> Result<(), SendError> {
        let CallRoute { object, recipient, channel } = route;
        outgoing.check_size(channel, writer.bit_len())?;
        let may_pass = self.held.as_ref().is_none_or(|held| held.lets_pass(channel));
        match rights.verdict(object, recipient) {
            CallVerdict::Send if may_pass => match outgoing.add_for(recipient, channel, writer, max_bits) {
                Err(SendError::Full) => {
                    self.held.iter_mut().for_each(|held| held.found_full(channel));
                    self.hold(route, writer)
                }
                Err(error) => Err(error),
                Ok(()) => {
                    self.unacked.get_or_insert_default().sent(object.slot(), channel, outgoing);
                    Ok(())
                }
            },
            CallVerdict::Send | CallVerdict::Wait => self.hold(route, writer),
            CallVerdict::Drop => Ok(()),
        }
    }

    fn hold(&mut self, route: CallRoute, writer: &mut BitWriter) -> Result<(), SendError> {
        let mut held = self.held.take().unwrap_or_default();
        let result = held.push(route, writer);
        self.held = Some(held).filter(|held| !held.is_empty());
        result
    }

    /// Moves waiting calls to the outgoing messages if the client has the objects of the calls now. Does
    /// nothing if [`unsettle`](Self::unsettle) was not called since the last time.
    pub(super) fn settle(&mut self, rights: &CallRights<'_>, outgoing: &mut Outgoing, max_bits: usize) {
        let Some(mut held) = self.held.take() else { return };
        let unacked = self.unacked.get_or_insert_default();
        held.settle(
            |route| rights.verdict(route.object, route.recipient),
            |CallRoute { object, recipient, channel }, writer| {
                let is_sent = outgoing.add_for(recipient, channel, writer, max_bits).is_ok();
                if is_sent {
                    unacked.sent(object.slot(), channel, outgoing);
                }
                is_sent
            },
        );
        self.held = Some(held).filter(|held| !held.is_empty());
    }

    /// Called before an object is removed. Sends the waiting calls on the object if the client has the
    /// object. Calls without room in their channel still wait. If the client may not receive calls on the
    /// object, they are dropped. Records which calls on the object the client may receive now, because these
    /// calls may still arrive after the removal. The object must still exist.
    pub(super) fn end_on(
        &mut self,
        slot: u32,
        copies: &mut Copies,
        world: &World,
        outgoing: &mut Outgoing,
        max_bits: usize,
    ) {
        let rights = CallRights { copies, world };
        // `settle` handles all objects: an earlier call on another object may be the only reason why a call
        // on this object waits.
        self.settle(&rights, outgoing, max_bits);
        if self.held.is_none() && self.unacked.is_none() {
            return;
        }
        let object = world.store.occupant(slot).guid(slot);
        let may_receive = |recipient| rights.verdict(object, recipient) == CallVerdict::Send;
        if may_receive(Recipient::Viewer) {
            let is_owner = may_receive(Recipient::Owner);
            copies.last_rights.keep(object, is_owner);
        } else {
            self.unacked.iter_mut().for_each(|unacked| unacked.withdrawn(slot));
            self.held.iter_mut().for_each(|held| held.drop_on(slot));
            self.held.take_if(|held| held.is_empty());
        }
    }

    /// Records that the next [`settle`](Self::settle) may send more of the waiting calls.
    pub(super) fn unsettle(&mut self) {
        self.held.iter_mut().for_each(|held| held.unsettle());
    }

    /// Returns whether a call on the object in a slot waits, or a reliable call on it is not acknowledged.
    /// Then the removal of the object waits. Costs O(log(calls)).
    pub(super) fn are_left(&self, slot: u32, outgoing: &Outgoing) -> bool {
        self.held.as_ref().is_some_and(|held| held.has(slot))
            || self.unacked.as_ref().is_some_and(|unacked| unacked.has(slot, outgoing))
    }

    pub(super) fn clear(&mut self) {
        (self.held, self.unacked) = (None, None);
    }

    /// Returns about how many bytes the calls take on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.held_bytes())
            + self.unacked.as_ref().map_or(0, |unacked| unacked.heap_bytes())
    }
}
