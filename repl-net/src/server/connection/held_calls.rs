//! Remote calls that wait until the client has the object on which they are called (R22).
//!
//! *Invariant:* a remote call on an object leaves this queue after all earlier calls on the same object in
//! the same channel, and is dropped if the object is removed from the client.

use std::collections::VecDeque;

use repl_core::{BitSlice, BitWriter, Guid, ObjectRef};

use super::Connection;
use crate::messages::channel::{SendError, held_bytes};
use crate::server::world::World;

/// The greatest number of remote calls that wait on a connection.
const MAX_HELD: usize = 4_096;

/// The greatest number of bytes of the remote calls that wait on a connection.
const MAX_HELD_BYTES: usize = 1 << 20;

/// The waiting remote calls, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct HeldCalls {
    calls: VecDeque<HeldCall>,
    bytes: usize,
}

/// A remote call that was written in its wire form.
#[derive(Debug)]
struct HeldCall {
    object: Guid,
    channel: u16,
    bytes: Vec<u8>,
    bits: usize,
}

/// What a connection can do with a remote call now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The client has the object.
    Send,
    /// The call must wait, because the client does not have the object yet, but will receive it.
    Wait,
    /// The call must be dropped, because the client does not receive the object, or must remove it.
    Drop,
}

impl HeldCalls {
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn push(&mut self, object: Guid, channel: u16, writer: &mut BitWriter) -> Result<(), SendError> {
        let bits = writer.bit_len();
        let held = held_bytes(bits.div_ceil(8));
        if self.calls.len() >= MAX_HELD || self.bytes.saturating_add(held) > MAX_HELD_BYTES {
            return Err(SendError::Full);
        }
        self.bytes = self.bytes.saturating_add(held);
        self.calls.push_back(HeldCall { object, channel, bytes: writer.finish().to_vec(), bits });
        Ok(())
    }
}

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
        match self.turn(world, object) {
            Turn::Send if self.held_calls.calls.is_empty() => {
                match self.exchange.outgoing.add(channel, writer, max_bits) {
                    Err(SendError::Full) => self.held_calls.push(object, channel, writer),
                    result => result,
                }
            }
            Turn::Send | Turn::Wait => self.held_calls.push(object, channel, writer),
            Turn::Drop => Ok(()),
        }
    }

    /// Moves those waiting remote calls whose objects the client has by now to the outgoing messages.
    pub(super) fn release_calls(&mut self, world: &World) {
        if self.held_calls.calls.is_empty() {
            return;
        }
        let max_bits = self.outbox.capacity();
        let mut held = std::mem::take(&mut self.held_calls);
        let mut full = None;
        let mut writer = BitWriter::new();
        held.calls.retain(|call| {
            let turn = self.turn(world, call.object);
            if turn == Turn::Wait || turn == Turn::Send && full == Some(call.channel) {
                return true;
            }
            if turn == Turn::Send {
                writer.clear();
                let content = BitSlice::new(&call.bytes, 0, call.bits).unwrap_or_default();
                writer.append(content);
                if self.exchange.outgoing.add(call.channel, &mut writer, max_bits).is_err() {
                    full = Some(call.channel);
                    return true;
                }
            }
            held.bytes = held.bytes.saturating_sub(held_bytes(call.bytes.len()));
            false
        });
        self.held_calls = held;
    }

    fn turn(&self, world: &World, object: Guid) -> Turn {
        if world.slot_of(ObjectRef::<()>::new(object)).is_none() {
            return Turn::Drop;
        }
        if self.objects.has_arrived(object.slot()) {
            Turn::Send
        } else if self.objects.is_expected(object.slot()) {
            Turn::Wait
        } else {
            Turn::Drop
        }
    }
}
