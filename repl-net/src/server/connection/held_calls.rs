//! Remote calls that wait until the client has the object on which they are called (R22).
//!
//! *Invariant:* a remote call on an object leaves this queue after all earlier calls on the same object in
//! the same channel, and is dropped if the object is removed from the client.

use std::collections::VecDeque;

use repl_core::{BitSlice, BitWriter, Guid};

use crate::messages::channel::{SendError, held_bytes};

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
pub(super) enum Turn {
    /// The client has the object.
    Send,
    /// The call must wait, because the client does not have the object yet, but will receive it.
    Wait,
    /// The call must be dropped, because the client will not receive the object, or must remove it.
    Drop,
}

impl HeldCalls {
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds a call that was written in its wire form.
    ///
    /// # Errors
    /// Returns an error if too many calls wait.
    pub(super) fn push(
        &mut self,
        object: Guid,
        channel: u16,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let bits = writer.bit_len();
        let held = held_bytes(bits.div_ceil(8));
        if self.calls.len() >= MAX_HELD || self.bytes.saturating_add(held) > MAX_HELD_BYTES {
            return Err(SendError::Full);
        }
        self.bytes = self.bytes.saturating_add(held);
        self.calls.push_back(HeldCall { object, channel, bytes: writer.finish().to_vec(), bits });
        Ok(())
    }

    /// Removes the calls that no longer wait. `turn` says what can be done with the calls on an object, and
    /// `send` sends a call on an object in a channel and returns whether there was room. After a call without
    /// room, the later calls of its channel wait too.
    pub(super) fn release(
        &mut self,
        turn: impl Fn(Guid) -> Turn,
        mut send: impl FnMut(Guid, u16, &mut BitWriter) -> bool,
    ) {
        let mut writer = BitWriter::new();
        let mut full = Vec::new();
        let Self { calls, bytes } = self;
        calls.retain(|call| {
            let waits = match turn(call.object) {
                Turn::Wait => true,
                Turn::Drop => false,
                Turn::Send if full.contains(&call.channel) => true,
                Turn::Send => {
                    writer.clear();
                    writer.append(BitSlice::new(&call.bytes, 0, call.bits).unwrap_or_default());
                    let has_room = send(call.object, call.channel, &mut writer);
                    full.extend((!has_room).then_some(call.channel));
                    !has_room
                }
            };
            if !waits {
                *bytes = bytes.saturating_sub(held_bytes(call.bytes.len()));
            }
            waits
        });
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn r22_no_call_overtakes_another_of_its_channel_that_finds_no_room() {
        let mut held = HeldCalls::default();
        let object = Guid::new(3, NonZeroU32::MIN);
        for (channel, bits) in [(0, 9), (1, 9), (0, 1), (1, 1)] {
            let mut writer = BitWriter::new();
            writer.write_bits(0, bits);
            held.push(object, channel, &mut writer).expect("there is room");
        }
        // Both channels have room for calls of one bit only.
        let mut sent = Vec::new();
        held.release(
            |_| Turn::Send,
            |_, channel, writer| {
                let has_room = writer.bit_len() == 1;
                sent.extend(has_room.then_some(channel));
                has_room
            },
        );
        assert_eq!((sent, held.calls.len()), (vec![], 4));
        held.release(|_| Turn::Send, |_, _, _| true);
        assert!(held.is_empty() && held.held_bytes() == 0);
    }
}
