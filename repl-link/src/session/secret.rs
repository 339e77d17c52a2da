//! The secret of a server or of a client, and the numbers that are derived from it: tokens, cookies, the
//! instance number of a server, and the numbers of a client's sessions.
//!
//! *Invariant:* without the secret, none of these numbers can be computed. A token is sent only in the
//! welcome, and a cookie only in the retry packet (R26).

use std::hash::{Hash, Hasher};

use crate::session::connection_id::ConnectionId;

/// The key of all hashes of one side.
#[derive(Clone, Copy)]
pub struct Secret([u64; 2]);

/// The purpose of a hash. Hashes for different purposes are independent.
#[derive(Clone, Copy)]
enum Purpose {
    Token,
    Cookie,
    ConnectionCookie,
    Instance,
    Session,
    Origin,
    Choice,
}

impl std::fmt::Debug for Secret {
    /// Writes no bit of the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl From<u64> for Secret {
    fn from(secret: u64) -> Self {
        Self([secret, 0])
    }
}

impl From<u128> for Secret {
    fn from(secret: u128) -> Self {
        Self([secret as u64, (secret >> 64) as u64])
    }
}

impl Secret {
    /// Returns the token of a session. A client that knows this token has received the welcome of the
    /// session. The token is not zero, because zero stands for a client without a token.
    pub fn token(self, connection: ConnectionId, session: u64) -> u64 {
        self.hash(Purpose::Token, &(connection, session)).max(1)
    }

    /// Returns the cookie for an address. A client that sends this cookie in its hello has shown that it
    /// receives packets at this address.
    pub fn cookie(self, address: &impl Hash, session: u64, period: u64) -> u64 {
        self.hash(Purpose::Cookie, &(address, session, period))
    }

    /// Returns the cookie for a client without an endpoint. Its connection id is used in place of its
    /// address.
    pub fn connection_cookie(self, connection: ConnectionId, session: u64) -> u64 {
        self.hash(Purpose::ConnectionCookie, &(connection, session))
    }

    /// Returns the instance number of the server. By this number, clients distinguish this server from other
    /// servers, and from the same server before a restart.
    pub fn instance(self) -> u64 {
        self.hash(Purpose::Instance, &())
    }

    /// Returns the number of a client's session that begins after `earlier` other sessions.
    pub fn session(self, earlier: u64) -> u64 {
        self.hash(Purpose::Session, &earlier)
    }

    /// Returns a pseudorandom index below `count`. Without the secret, nobody can predict it. Each `number`
    /// leads to another choice.
    pub fn choice(self, number: u64, count: usize) -> usize {
        let index = self.hash(Purpose::Choice, &number).checked_rem(count as u64);
        index.unwrap_or(0) as usize
    }

    #[expect(
        deprecated,
        reason = "the only keyed hash of the standard library that is the same in every version of it"
    )]
    fn hash(self, purpose: Purpose, content: &impl Hash) -> u64 {
        let [first, second] = self.0;
        let mut hasher = std::hash::SipHasher::new_with_keys(first, second);
        hasher.write_u8(purpose as u8);
        content.hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns a hash without a secret, which anyone can compute. Equal contents have equal hashes.
pub(crate) fn unkeyed(content: &impl Hash) -> u64 {
    Secret([0, 0]).hash(Purpose::Origin, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all_differ(numbers: &[u64]) {
        for (at, one) in numbers.iter().enumerate() {
            assert!(numbers[..at].iter().all(|other| other != one));
        }
    }

    #[test]
    fn r26_a_token_is_of_one_secret_connection_and_session() {
        let token =
            |secret: u64, connection, session| Secret::from(secret).token(ConnectionId(connection), session);
        assert_all_differ(&[token(1, 2, 3), token(0, 2, 3), token(1, 3, 3), token(1, 2, 2), token(1, 3, 2)]);
    }

    #[test]
    fn r26_a_cookie_is_of_one_secret_address_session_and_time() {
        let cookie = |secret: u128, address: u32, session, period| {
            Secret::from(secret).cookie(&address, session, period)
        };
        let (one, high) = (cookie(1, 2, 3, 4), cookie(1 << 127 | 1, 2, 3, 4));
        assert_all_differ(&[
            one,
            high,
            cookie(2, 2, 3, 4),
            cookie(1, 3, 3, 4),
            cookie(1, 2, 4, 4),
            cookie(1, 2, 3, 5),
        ]);
        let secret = Secret::from(1_u64);
        let id = ConnectionId(2);
        assert_all_differ(&[secret.token(id, 3), secret.connection_cookie(id, 3), secret.instance()]);
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
