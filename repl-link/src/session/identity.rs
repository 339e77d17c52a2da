//! The identity of a client, from which it derives the numbers of its sessions.
//!
//! *Invariant:* from the number of one session, the number of another session cannot be computed (R25).

use std::fmt;

use crate::session::secret::Secret;

/// The identity of a client, from which it derives the numbers of its sessions. Each packet belongs to one
/// session, and a client begins a new session whenever it connects again.
///
/// The library itself generates no random numbers. Take the bits from the operating system, or in a browser
/// from `crypto.getRandomValues`. The crate `getrandom` does both:
///
/// ```
/// # use repl_link as repl;
/// use repl::Session;
///
/// let mut bits = [0; 16];
/// getrandom::fill(&mut bits).expect("the operating system has random numbers");
/// let session = Session::from_random(bits);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Session(u128);

impl Session {
    /// Returns the identity with these bits. Use new random bits for each client. Anyone who can guess these
    /// bits can disturb the handshake of this client.
    #[must_use]
    pub const fn from_random(bits: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bits))
    }

    /// Returns an identity for a test or a simulation in which every run must be the same. The number of its
    /// first session is `number`. Use a different number for each client of a server. On a real network, use
    /// [`from_random`](Self::from_random).
    #[must_use]
    pub const fn for_tests(number: u64) -> Self {
        Self(number as u128)
    }

    /// Returns the number of the session that begins after `earlier` other sessions.
    pub fn number(self, earlier: u64) -> u64 {
        match earlier {
            // The first number reveals only half of the bits, so nobody can compute the later numbers from
            // it.
            0 => self.0 as u64,
            _ => Secret::from(self.0).session(earlier),
        }
    }
}

impl fmt::Debug for Session {
    /// Writes no bit of the identity.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn r25_no_two_sessions_of_near_identities_have_the_same_number() {
        let identities =
            (0..64).map(Session::for_tests).chain((0..64).map(|bit| Session(1 << 127 | 1 << bit)));
        let numbers: Vec<u64> =
            identities.flat_map(|identity| (0..200).map(move |earlier| identity.number(earlier))).collect();
        let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
        // The test identities 1, 2, 4, … have the same first numbers as the random bits with only bit 0, 1,
        // 2, … set.
        assert_eq!(numbers.len() - distinct.len(), 6);
    }

    #[test]
    fn r25_later_numbers_depend_on_all_random_bits() {
        let bits = |first: u8, last: u8| {
            let mut bits = [7; 16];
            (bits[0], bits[15]) = (first, last);
            Session::from_random(bits)
        };
        assert_eq!(bits(1, 2).number(0), bits(1, 3).number(0));
        assert_ne!(bits(1, 2).number(1), bits(1, 3).number(1));
        assert_ne!(bits(1, 2).number(1), bits(2, 2).number(1));
        assert_eq!(format!("{:?}", bits(1, 2)), "Session");
        assert_eq!(Session::for_tests(70).number(0), 70);
    }
}
