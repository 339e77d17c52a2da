//! A limit on the bytes sent to an address until the client has shown that the address is its own (R26).
//!
//! Anyone can write the address of somebody else on a packet. So the server sends little to an address, as
//! QUIC does (RFC 9000, section 8.1), until the client has shown that it receives packets at this address.
//! The client shows this with a token that only the welcome contains. The token is part of the checksum of
//! every packet of state that the client sends.
//!
//! *Invariant:* until the client has shown this, the server sends an address at most three times the bytes
//! that it received from the address.

/// How many bytes may be sent for each received byte.
const FACTOR: usize = 3;

/// How many bytes may still be sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// The number of bytes. `None` if the client has shown that the address is its own.
    left: Option<usize>,
}

impl Default for Allowance {
    /// No limit.
    fn default() -> Self {
        Self { left: None }
    }
}

impl Allowance {
    /// Returns the allowance of an address from which nothing has arrived.
    pub(crate) const fn nothing() -> Self {
        Self { left: Some(0) }
    }

    /// Adds the allowance for a packet of `bytes` bytes that arrived from the address.
    pub(crate) fn earn(&mut self, bytes: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(bytes.saturating_mul(FACTOR));
        }
    }

    /// Removes the limit, because the client has shown that it receives packets at this address.
    pub(crate) fn lift(&mut self) {
        self.left = None;
    }

    /// Takes `bytes` from the allowance. Returns `false` and takes nothing if fewer bytes are left.
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

    /// Returns how many bytes may still be sent to the address. `None` if there is no limit.
    pub(crate) const fn left(self) -> Option<usize> {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_at_most_three_times_the_received_bytes_are_sent() {
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
