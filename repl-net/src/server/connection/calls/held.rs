//! Remote calls that wait until the client has the object on which they are called (R22), and messages that
//! wait for an object.
//!
//! *Invariant:* the calls on one object in one channel leave this queue in the order in which they were made,
//! and a call is dropped if the client may no longer receive it.

use std::collections::{BTreeMap, BTreeSet};

use repl_core::{BitSlice, BitWriter, Guid};
use repl_link::SendError;
use repl_link::parts::{Recipient, held_bytes};

use super::super::copies::call_rights::CallVerdict;

/// The greatest number of remote calls that wait on a connection.
const MAX_HELD: usize = 4_096;

/// The greatest number of bytes of the remote calls that wait on a connection.
const MAX_HELD_BYTES: usize = 1 << 20;

/// The waiting remote calls.
#[derive(Debug, Default)]
pub(crate) struct HeldCalls {
    /// The calls by their numbers, in the order in which they were made.
    calls: BTreeMap<u64, HeldCall>,
    /// The slot of the object of each call, with the number of the call.
    by_slot: BTreeSet<(u32, u64)>,
    /// The number of the next call.
    next: u64,
    bytes: usize,
    /// The channels in which the last [`settle`](HeldCalls::settle) found no room, and the channels that were
    /// found full since then. `None` if `settle` must examine the calls again, for example because a packet
    /// of the client has arrived.
    full: Option<Vec<u16>>,
}

/// The object and the recipient of a remote call, and the channel of its class. For a message that waits for
/// an object, the recipient is [`Recipient::Anyone`], and the channel is the channel of the message's type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallRoute {
    pub(crate) object: Guid,
    pub(crate) recipient: Recipient,
    pub(crate) channel: u16,
}

#[derive(Debug)]
struct HeldCall {
    route: CallRoute,
    bytes: Vec<u8>,
    bits: usize,
}

impl HeldCalls {
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns whether a new call in a channel, on an object that the client has, may be sent before the
    /// calls that wait. This is `true` after [`settle`](Self::settle) if the channel has room.
    pub(crate) fn lets_pass(&self, channel: u16) -> bool {
        self.full.as_ref().is_some_and(|full| !full.contains(&channel))
    }

    pub(crate) fn found_full(&mut self, channel: u16) {
        self.full.iter_mut().for_each(|full| full.push(channel));
    }

    /// Records that the next [`settle`](Self::settle) may send more calls, because the client may have other
    /// objects, or the channels may have more room.
    pub(crate) fn unsettle(&mut self) {
        self.full = None;
    }

    /// Adds a call that was written in its wire form.
    ///
    /// # Errors
    /// Returns an error if too many calls wait.
    pub(crate) fn push(&mut self, route: CallRoute, writer: &mut BitWriter) -> Result<(), SendError> {
        let bits = writer.bit_len();
        let held = held_bytes(bits.div_ceil(8));
        if self.calls.len() >= MAX_HELD || self.bytes.saturating_add(held) > MAX_HELD_BYTES {
            return Err(SendError::Full);
        }
        self.bytes = self.bytes.saturating_add(held);
        let call = HeldCall { route, bytes: writer.finish().to_vec(), bits };
        self.by_slot.insert((route.object.slot(), self.next));
        self.calls.insert(self.next, call);
        self.next += 1;
        Ok(())
    }

    /// Returns whether a call on the object in a slot waits. Costs O(log(calls)).
    pub(crate) fn has(&self, slot: u32) -> bool {
        self.by_slot.range((slot, 0)..=(slot, u64::MAX)).next().is_some()
    }

    /// Drops the calls on the object in a slot. Costs O(log(calls)) for each of them.
    pub(crate) fn drop_on(&mut self, slot: u32) {
        let Self { calls, by_slot, bytes, .. } = self;
        let numbers: Vec<u64> =
            by_slot.range((slot, 0)..=(slot, u64::MAX)).map(|(_, number)| *number).collect();
        for number in numbers {
            by_slot.remove(&(slot, number));
            let dropped = calls.remove(&number).map_or(0, |call| call.held_bytes());
            *bytes = bytes.saturating_sub(dropped);
        }
    }

    /// Sends or drops the calls that need not wait. `verdict` says what can be done with a call, and `send`
    /// sends a call and returns whether there was room. After a call without room, the later calls of its
    /// channel wait too. Costs O(calls), or O(1) if `unsettle` was not called since the last `settle`.
    pub(crate) fn settle(
        &mut self,
        verdict: impl Fn(CallRoute) -> CallVerdict,
        mut send: impl FnMut(CallRoute, &mut BitWriter) -> bool,
    ) {
        if self.full.is_some() {
            return;
        }
        let mut writer = BitWriter::new();
        let mut full = Vec::new();
        let Self { calls, by_slot, bytes, .. } = self;
        calls.retain(|number, call| {
            let channel = call.route.channel;
            let waits = match verdict(call.route) {
                CallVerdict::Wait => true,
                CallVerdict::Drop => false,
                CallVerdict::Send if full.contains(&channel) => true,
                CallVerdict::Send => {
                    writer.clear();
                    writer.append(BitSlice::new(&call.bytes, 0, call.bits).unwrap_or_default());
                    let has_room = send(call.route, &mut writer);
                    full.extend((!has_room).then_some(channel));
                    !has_room
                }
            };
            if !waits {
                by_slot.remove(&(call.route.object.slot(), *number));
                *bytes = bytes.saturating_sub(call.held_bytes());
            }
            waits
        });
        self.full = Some(full);
    }
}

impl HeldCall {
    fn held_bytes(&self) -> usize {
        held_bytes(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::num::NonZeroU32;

    use super::*;

    fn route(object: Guid, channel: u16) -> CallRoute {
        CallRoute { object, recipient: Recipient::Viewer, channel }
    }

    #[test]
    fn r22_no_call_overtakes_another_of_its_channel_that_finds_no_room() {
        let mut held = HeldCalls::default();
        let object = Guid::new(3, NonZeroU32::MIN);
        for (channel, bits) in [(0, 9), (1, 9), (0, 1), (1, 1)] {
            let mut writer = BitWriter::new();
            writer.write_bits(0, bits);
            held.push(route(object, channel), &mut writer).expect("there is room");
        }
        let mut sent = Vec::new();
        held.settle(
            |_| CallVerdict::Send,
            |CallRoute { channel, .. }, writer| {
                let has_room = writer.bit_len() == 1;
                sent.extend(has_room.then_some(channel));
                has_room
            },
        );
        assert_eq!((sent, held.calls.len()), (vec![], 4));
        held.unsettle();
        held.settle(|_| CallVerdict::Send, |_, _| true);
        assert!(held.is_empty() && held.held_bytes() == 0);
    }

    #[test]
    fn each_waiting_call_is_looked_at_once_until_more_calls_may_leave() {
        let mut held = HeldCalls::default();
        let objects = [3, 4].map(|slot| Guid::new(slot, NonZeroU32::MIN));
        for _ in 0..100 {
            held.push(route(objects[0], 0), &mut BitWriter::new()).expect("there is room");
        }
        let looked_at = Cell::new(0);
        let settle = |held: &mut HeldCalls| {
            let verdict = |CallRoute { object, .. }| {
                looked_at.set(looked_at.get() + 1);
                if object == objects[0] { CallVerdict::Wait } else { CallVerdict::Send }
            };
            held.settle(verdict, |_, _| false);
            looked_at.take()
        };
        assert_eq!([settle(&mut held), settle(&mut held)], [100, 0]);
        assert!(held.lets_pass(0) && held.lets_pass(1), "only calls on objects that have not arrived wait");
        held.found_full(1);
        held.push(route(objects[1], 1), &mut BitWriter::new()).expect("there is room");
        assert!(held.lets_pass(0) && !held.lets_pass(1));
        assert_eq!(settle(&mut held), 0);
        held.unsettle();
        assert!(!held.lets_pass(0));
        assert_eq!([settle(&mut held), settle(&mut held)], [101, 0]);
        assert!(held.lets_pass(0) && !held.lets_pass(1));
        held.drop_on(objects[0].slot());
        held.unsettle();
        assert_eq!(settle(&mut held), 1, "only the calls on the removed object are dropped");
        held.drop_on(objects[1].slot());
        assert!(held.is_empty() && held.held_bytes() == 0 && held.by_slot.is_empty());
    }
}
