//! A limit on the bytes sent to an address until the client has shown that the address is its own (R26).
//!
//! Anyone can write another's address on a packet. So until the client has shown that it receives what is
//! sent to it, the server sends little, as QUIC does (RFC 9000, section 8.1). The client shows it with a
//! token that only the welcome contains. The token is part of the checksum of every packet of state that the
//! client sends.
//!
//! *Invariant:* until then at most three times the bytes that came from the address are sent to it.

/// Bytes that may be sent for each byte received.
const FACTOR: usize = 3;

/// The bytes that may still be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Bytes; `None` once the address is known to be the client's.
    left: Option<usize>,
}

impl Default for Allowance {
    /// No limit.
    fn default() -> Self {
        Self { left: None }
    }
}

impl Allowance {
    /// For an address from which nothing has come.
    pub(crate) const fn nothing() -> Self {
        Self { left: Some(0) }
    }

    /// Adds the allowance for a packet of `bytes` bytes that came from the address.
    pub(crate) fn earn(&mut self, bytes: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(bytes.saturating_mul(FACTOR));
        }
    }

    /// Removes the limit: the client has shown that it receives what is sent to it.
    pub(crate) fn lift(&mut self) {
        self.left = None;
    }

    /// Takes `bytes` from the allowance. Returns `false` and takes nothing if fewer are left.
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

    /// The bytes that may still be sent; `None` if there is no limit.
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
