//! What the server stores about one client: its handshake and its connection.
//!
//! *Invariant:* the connection sends state if and only if the handshake is in the connected state.

use repl_core::__private::preload_all;
use repl_core::ObjectRef;

use super::connection::Connection;
use crate::session::server_handshake::ServerHandshake;

/// What the server stores about one client: its session and its connection.
pub(super) struct Peer {
    pub(super) handshake: ServerHandshake,
    pub(super) connection: Connection,
    /// The packet that was last returned to the user.
    pub(super) lent: Vec<u8>,
    /// The object from whose position the client sees.
    pub(super) followed: Option<ObjectRef<()>>,
}

/// Returns the same peers, each with its key, and preloads the memory of the peers that come later. Between
/// two ticks the memory of most peers leaves the caches, and without preloading each pass would wait for it
/// line by line. Preloading has three steps, and each step reads memory that the previous step has preloaded.
/// If `is_wanted` is false, nothing is preloaded.
pub(super) fn preloaded<'p, K>(
    mut peers: impl Iterator<Item = (K, &'p mut Box<Peer>)>,
    is_wanted: bool,
) -> impl Iterator<Item = (K, &'p mut Peer)> {
    // The peers that come next, the last of them first.
    let mut ahead: [Option<(K, &mut Peer)>; 3] = [None, None, None];
    let mut step = move || {
        let new = peers.next().map(|(key, peer)| (key, &mut **peer));
        new.iter().filter(|_| is_wanted).for_each(|(_, peer)| preload_all(&**peer));
        let [last, second, first] = &mut ahead;
        let next = std::mem::replace(first, std::mem::replace(second, std::mem::replace(last, new)));
        second.iter().filter(|_| is_wanted).for_each(|(_, peer)| peer.connection.preload_lists());
        first.iter().filter(|_| is_wanted).for_each(|(_, peer)| peer.connection.preload_next());
        let is_over = last.is_none() && second.is_none() && first.is_none();
        (next, is_over)
    };
    std::iter::from_fn(move || {
        loop {
            match step() {
                (None, false) => {}
                (next, _) => return next,
            }
        }
    })
}
