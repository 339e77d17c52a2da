//! A limit on the bytes sent to an address until the client at this address has shown that it receives
//! packets there (R26).
//!
//! Anyone can write the address of somebody else on a packet. To prevent misuse, the server sends little to
//! an address, as QUIC does (RFC 9000, section 8.1), until the client has shown that it receives packets at
//! this address. The client shows that it receives packets with a token that it can only know from the
//! welcome, a packet that the server sends to the address. The token of the welcome is part of the checksum
//! of every packet of state that the client sends.
//!
//! *Invariant:* until a client has shown that it receives packets at an address, the server sends to this
//! address at most three times as many bytes as it received from it.

/// The number of bytes that may be sent to an address for each byte received from it.
const FACTOR: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Allowance {
    /// The number of bytes that may still be sent. `left` is `None` if the client has shown that it receives
    /// packets at this address.
    left: Option<usize>,
}

impl Allowance {
    /// Returns the allowance of an address from which no bytes were received yet.
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

    /// Subtracts `bytes` bytes from the allowance. If fewer bytes remain, subtracts nothing and returns
    /// `false`.
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
