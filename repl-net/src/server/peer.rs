//! Functions for the clients of a server in a tick: until when each client rests, and how its memory is
//! preloaded.
//!
//! *Invariant:* preloading changes no state.

use std::time::Duration;

use repl_core::__private::preload_all;
use repl_link::parts::Peer as AnyPeer;

use super::connection::Connection;

pub(super) type Peer = AnyPeer<Connection>;

/// Returns the time until which the server can skip the client, unless a packet arrives or state changes.
/// `timeout` is the timeout of the server.
pub(super) fn rests_until(peer: &Peer, timeout: Duration) -> Option<Duration> {
    let connection = peer.connection.rests_until(peer.handshake.shorter_timeout(timeout))?;
    Some(connection.min(peer.handshake.rests_until(timeout)?))
}

/// Prefetches the memory that a pass reads and writes, without memory behind pointers.
fn preload_pass(peer: &Peer) {
    preload_all(&peer.handshake);
    peer.connection.preload_pass();
}

/// Which memory of a connection is preloaded for its pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preload {
    /// Nothing, because the pass reads only a few cache lines.
    Nothing,
    /// The memory that is read to send changes of objects in cells.
    Changes,
    /// Also the memory that is read to send changes of objects that every client sees.
    All,
}

/// Returns the same peers, each with its key, and preloads the memory of the peers that follow. Between two
/// ticks, most of this memory is evicted from the caches. Without preloading, each pass would wait for each
/// cache line. Preloading has three steps, and each step reads memory that the previous step has preloaded.
pub(super) fn preloaded<'p, K>(
    mut peers: impl Iterator<Item = (K, &'p mut Peer)>,
    preload: Preload,
) -> impl Iterator<Item = (K, &'p mut Peer)> {
    let is_wanted = preload != Preload::Nothing;
    // The next three peers. The last of them comes first in the array.
    let mut ahead: [Option<(K, &mut Peer)>; 3] = [None, None, None];
    let mut step = move || {
        let new = peers.next();
        new.iter().filter(|_| is_wanted).for_each(|(_, peer)| preload_pass(peer));
        let [last, second, first] = &mut ahead;
        let next = std::mem::replace(first, std::mem::replace(second, std::mem::replace(last, new)));
        second
            .iter()
            .filter(|_| is_wanted)
            .for_each(|(_, peer)| peer.connection.preload_lists(preload == Preload::All));
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

/// Returns the same peers, and preloads the memory of each peer that `Connection::declare_lost` reads.
pub(super) fn preloaded_for_losses<'p>(
    mut peers: impl Iterator<Item = &'p mut Peer>,
) -> impl Iterator<Item = &'p mut Peer> {
    let mut ahead: [Option<&mut Peer>; 4] = std::array::from_fn(|_| peers.next());
    let mut next = 0;
    std::iter::from_fn(move || {
        let new = peers.next();
        new.iter().for_each(|peer| peer.connection.preload_losses());
        let peer = std::mem::replace(&mut ahead[next], new);
        next = (next + 1) % ahead.len();
        peer
    })
}
