//! The token by which a client shows that it receives the packets sent to its address (R26).
//!
//! *Invariant:* without the server's secret, a token can be learned only from the welcome.

use super::connection_id::ConnectionId;

/// Computes the token: the hash SipHash-2-4 of the connection and its session. The server's secret is the key
/// of the hash. Of all packets, only the welcome contains the token.
#[expect(
    deprecated,
    reason = "the only keyed hash of the standard library that is the same in every version of it"
)]
pub(super) fn token(secret: u64, connection: ConnectionId, session: u64) -> u64 {
    use std::hash::{Hasher, SipHasher};
    let mut hasher = SipHasher::new_with_keys(secret, 0);
    hasher.write_u64(connection.0.into());
    hasher.write_u64(session);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_a_token_is_of_one_secret_connection_and_session() {
        let token = |secret, connection, session| token(secret, ConnectionId(connection), session);
        let tokens = [token(1, 2, 3), token(0, 2, 3), token(1, 3, 3), token(1, 2, 2), token(1, 3, 2)];
        for (at, one) in tokens.iter().enumerate() {
            assert!(tokens[..at].iter().all(|other| other != one));
        }
    }
}
