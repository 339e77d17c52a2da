//! A match for clients in other processes, in real time.
//!
//! *Invariant:* each client is told why its session ends.

use std::io;

use super::loopback::Loopback;
use crate::census;
use crate::game::TICKS_PER_SECOND;
use crate::pace::Pace;
use crate::session::{Session, Settings};

/// For this many ticks after the match, clients receive the end of their sessions.
const FAREWELL: u32 = TICKS_PER_SECOND / 2;

/// A match that clients can join, and whose server sends them its census.
pub struct OpenMatch {
    pub session: Session,
}

impl OpenMatch {
    /// Opens a match. It has an even number of players.
    pub fn new(settings: Settings, socket: Loopback) -> Self {
        let settings = Settings { players: settings.players.next_multiple_of(2), ..settings };
        let mut session = Session::new(settings, Box::new(socket), Pace::real());
        census::register(&mut session.server);
        Self { session }
    }

    /// Waits for the next tick, and runs it.
    pub fn tick(&mut self) -> io::Result<()> {
        let now = self.session.begin_tick()?;
        self.session.move_players();
        census::send(&mut self.session);
        self.session.send(now)
    }

    /// Ends the sessions of all clients.
    pub fn end(&mut self) -> io::Result<()> {
        let server = &mut self.session.server;
        let connections: Vec<_> = server.connections().collect();
        for connection in connections {
            server.connection(connection).disconnect_with("the match is over");
        }
        (0..FAREWELL).try_for_each(|_| self.session.rest())
    }
}
