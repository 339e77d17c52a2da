//! The reliable remote calls that a client has not acknowledged yet. The removal of an object from the client
//! waits for them.
//!
//! *Invariant:* an object that was removed from the server is removed from the client after the client has
//! acknowledged the last reliable call that was sent for the object. So the call arrives before the removal.

use std::collections::BTreeMap;

use repl_link::parts::Outgoing;

/// Acknowledged calls are forgotten when more calls than this are stored, and more than twice as many as
/// after the last time.
const MIN_FORGOTTEN: usize = 64;

/// For each object, the last reliable call that was sent for it.
#[derive(Debug, Default)]
pub(crate) struct UnackedCalls {
    /// The calls by the slots of their objects. Some of them may be acknowledged already.
    last: BTreeMap<u32, SentCall>,
    /// How many calls remained when acknowledged calls were last forgotten.
    kept: usize,
}

#[derive(Clone, Copy, Debug)]
struct SentCall {
    channel: u16,
    number: u64,
}

impl UnackedCalls {
    /// Records that the newest message of a channel is a call on the object in `slot`, if the channel is
    /// reliable. Takes O(log(calls)) on average.
    pub(crate) fn sent(&mut self, slot: u32, channel: u16, outgoing: &Outgoing) {
        let Some(number) = outgoing.newest_reliable(channel) else { return };
        self.last.insert(slot, SentCall { channel, number });
        if self.last.len() > MIN_FORGOTTEN.max(2 * self.kept) {
            self.last.retain(|_, call| !outgoing.has_arrived(call.channel, call.number));
            self.kept = self.last.len();
        }
    }

    /// Returns whether a call on the object in `slot` is not acknowledged.
    pub(crate) fn has(&self, slot: u32, outgoing: &Outgoing) -> bool {
        self.last.get(&slot).is_some_and(|call| !outgoing.has_arrived(call.channel, call.number))
    }

    /// Forgets the calls on the object in `slot`, which the client does not see any more, so that its removal
    /// need not wait for them.
    pub(crate) fn withdrawn(&mut self, slot: u32) {
        self.last.remove(&slot);
    }

    /// Returns about how many bytes the calls take on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.last.len() * size_of::<(u32, SentCall)>()
    }
}

#[cfg(test)]
mod tests {
    use repl_core::BitWriter;
    use repl_link::parts::{ChannelConfig, SentMessage};
    use repl_link::{Channel, MessageOptions};

    use super::*;

    #[test]
    fn calls_are_forgotten_after_they_were_acknowledged() {
        let config = |channel| ChannelConfig { channel, options: MessageOptions::DEFAULT };
        let (mut calls, mut outgoing) = (UnackedCalls::default(), Outgoing::default());
        outgoing.begin([Channel::Unreliable, Channel::Ordered].into_iter().map(config));
        for slot in 0..1_000 {
            for channel in 0..2 {
                outgoing.add(channel, &mut BitWriter::new(), 1_000).expect("room");
                calls.sent(slot, channel, &outgoing);
            }
            let arrived = |number: u32| SentMessage { channel: 1, number: number.into(), part: 0 };
            outgoing.arrived(&slot.checked_sub(10).map(arrived).into_iter().collect::<Vec<_>>());
            let unacked = (0..=slot).filter(|&slot| calls.has(slot, &outgoing));
            assert!(unacked.eq(slot.saturating_sub(9)..=slot), "only reliable calls count");
            assert!(calls.last.len() <= MIN_FORGOTTEN, "{} calls are stored", calls.last.len());
        }
    }
}
