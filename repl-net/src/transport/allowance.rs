//! How much may be sent to an address of which nobody knows yet whether it is the client's own (R26).
//!
//! Anyone can write another's address on a packet. So until the client has shown that it receives what is
//! sent to it, it is sent little, as QUIC does (RFC 9000, section 8.1). It shows that by a token which only
//! the welcome tells, and which is part of the checksum of every packet of state that it sends.
//!
//! *Invariant:* before that, no more than three times the bytes that came from the address are lent out.

/// How many bytes go out for each that came in.
const FACTOR: usize = 3;

/// What may still be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Bytes; `None` once the address is known to be the client's.
    left: Option<usize>,
}

impl Default for Allowance {
    /// Without limit.
    fn default() -> Self {
        Self { left: None }
    }
}

impl Allowance {
    /// For an address from which nothing has come.
    pub(crate) const fn nothing() -> Self {
        Self { left: Some(0) }
    }

    /// A packet of so many bytes came from the address.
    pub(crate) fn earn(&mut self, bytes: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(bytes.saturating_mul(FACTOR));
        }
    }

    /// The client receives what is sent to it.
    pub(crate) fn lift(&mut self) {
        self.left = None;
    }

    /// Takes the bytes of a packet that goes out, if they may.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        let Some(left) = &mut self.left else { return true };
        match left.checked_sub(bytes) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        }
    }

    /// Bytes that may still be sent, unless there is no limit.
    pub(crate) const fn left(self) -> Option<usize> {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_three_times_what_came_goes_out_and_not_a_byte_more() {
        let mut allowance = Allowance::nothing();
        assert!(!allowance.spend(1));
        allowance.earn(35);
        assert!(allowance.spend(100) && !allowance.spend(6) && allowance.spend(5) && !allowance.spend(1));
        allowance.earn(usize::MAX);
        assert!(allowance.spend(usize::MAX));
        allowance.lift();
        assert!(allowance.spend(usize::MAX) && allowance.spend(usize::MAX));
    }
}
