//! The chat: the server passes each line on to all clients, in the same order to all.
//!
//! *Invariant:* each client gets all lines since it joined, in the order of the log and without repetitions.

use std::collections::BTreeMap;

use repl::prelude::*;

use crate::calls::Chat;

/// All lines that the server passed on, oldest first.
#[derive(Default)]
pub struct Log {
    lines: Vec<Chat>,
    /// How many lines there were when each client joined.
    joined_at: BTreeMap<ConnectionId, usize>,
}

impl Log {
    pub fn join(&mut self, connection: ConnectionId) {
        self.joined_at.insert(connection, self.lines.len());
    }

    pub fn leave(&mut self, connection: ConnectionId) {
        self.joined_at.remove(&connection);
    }

    /// Passes a line on to all clients, also to its author.
    pub fn pass_on(&mut self, server: &mut Server, line: Chat) {
        for &connection in self.joined_at.keys() {
            if let Err(error) = server.connection(connection).send(&line) {
                eprintln!("arena: a line for {connection:?}: {error}");
            }
        }
        self.lines.push(line);
    }

    /// Returns the lines that a client must have got.
    pub fn since_joined(&self, connection: ConnectionId) -> &[Chat] {
        &self.lines[self.joined_at.get(&connection).copied().unwrap_or(self.lines.len())..]
    }

    pub fn line_count(&self) -> usize {
        self.lines.len()
    }
}
