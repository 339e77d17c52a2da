//! A client, its pilot (the code that plays in place of a human), and the state of its connection.
//!
//! *Invariant:* in each tick, the pilot acts after the events of its client and before the client makes its
//! packets.

use std::time::Duration;

use repl::prelude::*;

use crate::pilot::Pilot;
use crate::{calls, model};

/// The login of a client that only watches.
pub const SPECTATOR: &[u8] = b"spectator";

/// A client with its pilot, and the server's id for its connection.
pub struct Guest {
    pub client: Client,
    pub pilot: Pilot,
    /// `None` until the server knows the client.
    pub connection: Option<ConnectionId>,
    pub spawned: u64,
    pub despawned: u64,
    /// The reason for which the connection ended, if it has ended.
    pub ended: Option<String>,
    /// Whether the server ended the connection because it rejected a call.
    pub is_rejected: bool,
    pub number: u32,
}

impl Guest {
    /// Returns a client that says hello in the next tick. Clients of one process are counted from 1.
    pub fn new(number: u32, pilot: Pilot, session: Session) -> Self {
        Self::with_login(number, pilot, session, &[])
    }

    /// Returns a client that sees everything that is not hidden from all clients, and has no player. The
    /// server must have the setting `has_spectators`.
    pub fn spectator(session: Session) -> Self {
        Self::with_login(1, Pilot::new(1, 0, false), session, SPECTATOR)
    }

    fn with_login(number: u32, pilot: Pilot, session: Session, login: &[u8]) -> Self {
        let config = ClientConfig { measure: true, login: login.to_vec(), ..ClientConfig::default() };
        let mut client = Client::new(config, session);
        model::register(&mut client);
        calls::register(&mut client);
        Self {
            client,
            pilot,
            connection: None,
            spawned: 0,
            despawned: 0,
            ended: None,
            is_rejected: false,
            number,
        }
    }

    /// Runs a tick of the client: handles its events and updates, lets its pilot act and makes its packets.
    pub fn tick(&mut self, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                self.ended.get_or_insert(reason.to_string());
            }
        }
        while let Some(update) = self.client.poll_update() {
            match update.what {
                UpdateKind::Spawned => self.spawned += 1,
                UpdateKind::Despawned(_) => self.despawned += 1,
                _ => {}
            }
        }
        self.pilot.act(&mut self.client, now);
        self.client.tick(now);
    }
}
