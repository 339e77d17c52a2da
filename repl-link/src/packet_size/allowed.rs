//! The greatest size of the packets that one side of a connection sends.
//!
//! *Invariant:* it is never more than either side receives.

use crate::frame::packet::LEAST_PACKET_BYTES;

/// What the size of the packets depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowedSize {
    /// The largest packet that both sides receive, or that this side receives while it does not know the
    /// other side's.
    agreed: usize,
    /// The size that the user has set, which may be more than is agreed. `MAX` if there is none.
    wanted: usize,
    /// The largest packet that the path was found to carry. `MAX` if the path was never found to carry less
    /// than it should.
    carried: usize,
}

impl AllowedSize {
    /// Returns the size for a side that receives packets of at most `own` bytes.
    pub(crate) const fn new(own: usize) -> Self {
        Self { agreed: own, wanted: usize::MAX, carried: usize::MAX }
    }

    /// Takes into account that the other side receives packets of at most `bytes` bytes.
    pub(crate) fn agree(&mut self, bytes: usize) {
        self.agreed = self.agreed.min(bytes);
    }

    /// Sets the size that the user wants. What was found of the path is forgotten.
    pub(crate) fn want(&mut self, bytes: usize) {
        (self.wanted, self.carried) = (bytes, usize::MAX);
    }

    /// Returns the size that the user has set last.
    pub(crate) const fn wanted(&self) -> usize {
        self.wanted
    }

    /// Sets what the path was found to carry.
    pub(crate) fn set_carried(&mut self, bytes: usize) {
        self.carried = bytes;
    }

    /// Returns the least size that a connection goes on with.
    pub(crate) fn least(&self) -> usize {
        self.agreed.min(LEAST_PACKET_BYTES)
    }

    /// Returns the greatest size of packets, whatever was found of the path.
    pub(crate) fn of_any_path(&self) -> usize {
        self.agreed.min(self.wanted.max(self.least()))
    }

    /// Returns the greatest size of packets now.
    pub(crate) fn bytes(&self) -> usize {
        self.of_any_path().min(self.carried)
    }
}
