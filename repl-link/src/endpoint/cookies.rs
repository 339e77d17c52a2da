//! Cookies: numbers that the server sends to an address. A client that sends its cookie back has shown that
//! it receives packets at this address. Until then, the server stores nothing about the client.
//!
//! *Invariant:* making and checking a cookie stores nothing, and a cookie is valid for one address, one
//! session and a limited time (R26).

use std::hash::Hash;
use std::time::Duration;

use crate::session::secret::Secret;

/// Makes and checks cookies. A cookie is valid in the period in which it was made, and in the next period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cookies {
    pub(super) secret: Secret,
    /// The length of a period. A client has at least this time to send a cookie back.
    pub(super) period: Duration,
}

impl Cookies {
    /// Returns the longest time for which a cookie is valid.
    pub(super) const fn lifetime(self) -> Duration {
        self.period.saturating_mul(2)
    }

    /// Returns the cookie of a session at an address. The endpoint passes a pair as `address`: the address,
    /// and how many times the session has moved.
    pub(super) fn make(self, address: &impl Hash, session: u64, now: Duration) -> u64 {
        self.secret.cookie(address, session, self.period_at(now))
    }

    /// Returns whether the cookie is valid. The comparison takes constant time: it compares all 64 bits in
    /// one step, and always tries both the current and the previous period.
    pub(super) fn check(self, cookie: u64, address: &impl Hash, session: u64, now: Duration) -> bool {
        let present = self.period_at(now);
        let differs = |period: u64| (self.secret.cookie(address, session, period) ^ cookie) != 0;
        !(differs(present) & differs(present.wrapping_sub(1)))
    }

    fn period_at(self, now: Duration) -> u64 {
        now.as_nanos().checked_div(self.period.as_nanos()).unwrap_or(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_a_cookie_is_right_for_one_to_two_periods_and_for_its_session_and_address_only() {
        let ms = Duration::from_millis;
        let cookies = Cookies { secret: Secret::from(7_u128), period: ms(5_000) };
        assert_eq!(cookies.lifetime(), ms(10_000));
        for made in [0, 1, 4_999, 5_000, 123_456_789] {
            let cookie = cookies.make(&3_u8, 4, ms(made));
            let right_for =
                (0..20_000).step_by(50).filter(|&age| cookies.check(cookie, &3_u8, 4, ms(made + age)));
            let right_for: Vec<u64> = right_for.collect();
            let longest = right_for.last().copied().unwrap_or_default();
            assert!((5_000..10_000).contains(&longest), "{longest} ms");
            assert_eq!(right_for.len() as u64, longest / 50 + 1, "without a gap");
            assert!(!cookies.check(cookie, &4_u8, 4, ms(made)) && !cookies.check(cookie, &3_u8, 5, ms(made)));
            assert!((0..64).all(|bit| !cookies.check(cookie ^ 1 << bit, &3_u8, 4, ms(made))));
        }
    }
}
