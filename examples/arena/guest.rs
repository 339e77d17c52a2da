//! A client, its pilot (the code that plays in place of a human), and the state of its connection.
//!
//! *Invariant:* in each tick, the pilot acts after the events of its client and before the client makes its
//! packets.

use std::time::Duration;

use repl::prelude::*;

use crate::pilot::Pilot;
use crate::{calls, model};

/// A client with its pilot, and the server's id for its connection.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) pilot: Pilot,
    /// `None` until the server knows the client.
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) spawned: u64,
    pub(crate) despawned: u64,
    /// The reason for which the connection ended, if it has ended.
    pub(crate) ended: Option<String>,
    /// Whether the server ended the connection because it rejected a call.
    pub(crate) is_rejected: bool,
    pub(crate) number: u32,
}

impl Guest {
    /// Returns a client that says hello in the next tick. Clients of one process are counted from 1.
    pub(crate) fn new(number: u32, pilot: Pilot, session: Session) -> Self {
        let config = ClientConfig { measure: true, ..ClientConfig::default() };
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
    pub(crate) fn tick(&mut self, now: Duration) {
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
