//! The QUIC connection ids that a server issues.
//!
//! *Invariant:* a restarted process recognises the ids that the earlier process has issued. It almost never
//! issues one of them again. (Each id has a reset token, with which anyone who knows it can end the
//! connection. The earlier user of the id knows this token.)

use std::time::Duration;

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid, RandomConnectionIdGenerator};
use ring::hmac::{HMAC_SHA256, Key, sign};

/// The number of random bytes at the beginning of an id. They distinguish more connections than a server ever
/// has.
const RANDOM_BYTES: usize = 5;

/// The number of bytes of the mark that follows. The mark shows that this server has issued the id. Because
/// of the mark, the server ignores almost all packets that are for other servers.
const MARK_BYTES: usize = 3;

/// Makes connection ids, and recognises ids that were made with the same key.
pub(crate) struct MarkedIds(Key);

impl MarkedIds {
    pub(crate) fn new(key: &[u8]) -> Self {
        Self(Key::new(HMAC_SHA256, key))
    }

    /// Returns the id that begins with the bytes `random`.
    fn marked(&self, random: &[u8]) -> ConnectionId {
        let mark = sign(&self.0, random);
        let mark = mark.as_ref().iter().take(MARK_BYTES);
        let id: Vec<_> = random.iter().chain(mark).copied().collect();
        ConnectionId::new(&id)
    }
}

impl ConnectionIdGenerator for MarkedIds {
    fn generate_cid(&mut self) -> ConnectionId {
        self.marked(&RandomConnectionIdGenerator::new(RANDOM_BYTES).generate_cid())
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        let random = id.get(..RANDOM_BYTES).unwrap_or_default();
        if self.marked(random) == *id { Ok(()) } else { Err(InvalidCid) }
    }

    fn cid_len(&self) -> usize {
        RANDOM_BYTES.saturating_add(MARK_BYTES)
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_id_is_known_to_all_with_its_key_and_never_given_twice() {
        let (mut first, again, other) = (MarkedIds::new(b"a"), MarkedIds::new(b"a"), MarkedIds::new(b"b"));
        let ids: Vec<_> = (0..20_000).map(|_| first.generate_cid()).collect();
        assert!(ids.iter().all(|id| id.len() == 8 && again.validate(id).is_ok()));
        assert!(ids.iter().filter(|id| other.validate(id).is_ok()).count() <= 1);
        let given: BTreeSet<_> = ids.iter().map(|id| id.to_vec()).collect();
        assert_eq!(given.len(), ids.len());
    }
}
