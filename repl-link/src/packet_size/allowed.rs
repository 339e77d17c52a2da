//! The greatest size of the packets that one side of a connection sends.
//!
//! *Invariant:* the size is never more than either side receives.

use crate::frame::packet::LEAST_PACKET_BYTES;

#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowedSize {
    /// The largest packet that both sides receive. Before the handshake, the largest packet that this side
    /// receives.
    agreed: usize,
    /// The size that the user has set, which may be larger than `agreed`. `MAX` if the user has not set a
    /// size.
    wanted: usize,
    /// The largest packet that the path carries, according to probes. `MAX` if no probe has found a limit.
    carried: usize,
}

impl AllowedSize {
    /// Returns the values for a side that receives packets of at most `own` bytes.
    pub(crate) const fn new(own: usize) -> Self {
        Self { agreed: own, wanted: usize::MAX, carried: usize::MAX }
    }

    /// Takes into account that the other side receives packets of at most `bytes` bytes.
    pub(crate) fn agree(&mut self, bytes: usize) {
        self.agreed = self.agreed.min(bytes);
    }

    /// Sets the size that the user wants. The results of earlier probes are forgotten.
    pub(crate) fn want(&mut self, bytes: usize) {
        (self.wanted, self.carried) = (bytes, usize::MAX);
    }

    pub(crate) const fn wanted(&self) -> usize {
        self.wanted
    }

    /// Sets the largest packet that the path carries, according to probes.
    pub(crate) fn set_carried(&mut self, bytes: usize) {
        self.carried = bytes;
    }

    /// Returns the smallest size of packets, in bytes, with which the connection can continue.
    pub(crate) fn least(&self) -> usize {
        self.agreed.min(LEAST_PACKET_BYTES)
    }

    /// Returns the greatest size that packets could have if the path had no limit.
    pub(crate) fn of_any_path(&self) -> usize {
        self.agreed.min(self.wanted.max(self.least()))
    }

    /// Returns the greatest size of packets now.
    pub(crate) fn bytes(&self) -> usize {
        self.of_any_path().min(self.carried)
    }
}
