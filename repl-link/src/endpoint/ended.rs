//! The ended connections of an endpoint, which are remembered so that their clients learn why they ended.
//!
//! *Invariant:* connections that ended half-open are forgotten before all others. A connection is half-open
//! until its client has sent back the token from the server's welcome.

use std::collections::VecDeque;

use crate::session::connection_id::ConnectionId;

/// The connections that have ended. The connection that ended first is at the front.
#[derive(Debug, Default)]
pub(super) struct Ended {
    half_open: VecDeque<ConnectionId>,
    others: VecDeque<ConnectionId>,
}

impl Ended {
    /// Adds a connection that has just ended. `was_half_open` says whether its client never sent back its
    /// token.
    pub(super) fn push(&mut self, id: ConnectionId, was_half_open: bool) {
        if was_half_open { &mut self.half_open } else { &mut self.others }.push_back(id);
    }

    /// Removes a connection. Does nothing if it is not in the list. O(connections that ended before it).
    pub(super) fn remove(&mut self, id: ConnectionId) {
        for list in [&mut self.half_open, &mut self.others] {
            if let Some(at) = list.iter().position(|&other| other == id) {
                list.remove(at);
            }
        }
    }

    /// Removes and returns the connection to forget first, if there are more than `most` connections in the
    /// list.
    pub(super) fn pop_beyond(&mut self, most: usize) -> Option<ConnectionId> {
        if self.half_open.len().saturating_add(self.others.len()) <= most {
            return None;
        }
        self.half_open.pop_front().or_else(|| self.others.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_open_connections_are_forgotten_first_and_then_those_that_ended_first() {
        let mut ended = Ended::default();
        (0..6).for_each(|number| ended.push(ConnectionId(number), number % 2 == 1));
        ended.remove(ConnectionId(0));
        ended.remove(ConnectionId(9));
        assert_eq!(ended.pop_beyond(5), None);
        let popped: Vec<u32> = std::iter::from_fn(|| ended.pop_beyond(1)).map(|id| id.0).collect();
        assert_eq!(popped, [1, 3, 5, 2]);
    }
}
