//! The connections that are served in a tick, if the configuration or the user's limit for the work of a tick
//! does not allow to serve all of them in each tick.
//!
//! Being served is called a turn. The turns come in rounds. In each round, every connection has one turn. A
//! keyed hash chooses a new order for each round. With the same order in every round, a link that loses the
//! packets of every second tick could lose all packets of one connection.
//!
//! *Invariant:* a connection that exists during a whole round has exactly one turn in it, so less than two
//! rounds pass between two of its turns.

use repl_link::parts::Peers as AnyPeers;

use super::connection::Connection;

type Peers = AnyPeers<Connection>;
use repl_link::ConnectionId;
use repl_link::parts::Secret;

/// Which connections have a turn in a tick.
#[derive(Debug)]
pub(super) struct Served {
    /// The connections that have a turn in this tick, in ascending order. Not used if all connections have a
    /// turn.
    chosen: Vec<ConnectionId>,
    all_have_turns: bool,
    /// The connections that have not had their turns in this round yet.
    waiting: Vec<ConnectionId>,
    /// If a round began in this tick: how many connections of `chosen` belong to the round before.
    of_last_round: Option<usize>,
    /// The number of random choices so far, each of which selects one connection.
    draws: u64,
}

impl Served {
    pub(super) const fn new() -> Self {
        Self { chosen: Vec::new(), all_have_turns: true, waiting: Vec::new(), of_last_round: None, draws: 0 }
    }

    /// Chooses the next `count` connections that have a session, in an order that depends on `secret`. If the
    /// round ends in this tick, the remaining connections are chosen from the next round. Costs
    /// O(turns × log turns), and once in a round O(connections × log turns).
    pub(super) fn choose(&mut self, peers: &Peers, count: usize, secret: Secret) {
        self.begin();
        if count >= peers.count() {
            self.all_have_turns = true;
            self.waiting.clear();
            return;
        }
        while self.chosen.len() < count && self.choose_next(peers, secret).is_some() {}
        self.end();
    }

    /// Begins a tick in which no connection is chosen yet.
    pub(super) fn begin(&mut self) {
        self.chosen.clear();
        self.of_last_round = None;
        self.all_have_turns = false;
    }

    /// Returns how many connections were chosen in this tick.
    pub(super) fn count(&self) -> usize {
        self.chosen.len()
    }

    /// Chooses the next connection. If the round is over, another begins, once in a tick. Returns `None` if
    /// all connections that have a session were chosen.
    pub(super) fn choose_next(&mut self, peers: &Peers, secret: Secret) -> Option<ConnectionId> {
        let next = self.draw(peers, secret);
        if next.is_some() || self.of_last_round.is_some() {
            return next;
        }
        // A new round begins. Connections that are chosen already are left out, so that none has two turns in
        // a tick.
        self.of_last_round = Some(self.chosen.len());
        self.chosen.sort_unstable();
        let others = peers.ids().filter(|id| self.chosen.binary_search(id).is_err());
        self.waiting.extend(others);
        self.draw(peers, secret)
    }

    /// Ends the choice of this tick.
    pub(super) fn end(&mut self) {
        if let Some(of_last_round) = self.of_last_round {
            self.waiting.extend_from_slice(&self.chosen[..of_last_round]);
        }
        self.chosen.sort_unstable();
    }

    /// Moves a connection that has a session from `waiting` to `chosen`.
    fn draw(&mut self, peers: &Peers, secret: Secret) -> Option<ConnectionId> {
        while !self.waiting.is_empty() {
            let id = self.waiting.swap_remove(secret.choice(self.draws, self.waiting.len()));
            self.draws = self.draws.wrapping_add(1);
            if peers.get(id).is_some_and(|peer| peer.handshake.is_connected()) {
                self.chosen.push(id);
                return Some(id);
            }
        }
        None
    }

    /// Returns whether a connection has a turn in this tick.
    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.all_have_turns || self.chosen.binary_search(&id).is_ok()
    }
}
