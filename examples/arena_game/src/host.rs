//! The host: a pilot that plays in the process of the server.
//!
//! *Invariant:* the pilot of the host does what the pilots of clients do, by the same code.

use std::time::Duration;

use repl::prelude::*;

use crate::model::Player;
use crate::pilot::Pilot;

/// The player in the process of the server.
pub struct HostPlayer {
    pub pilot: Pilot,
    pub connection: ConnectionId,
    pub spawned: u64,
    pub despawned: u64,
}

impl HostPlayer {
    /// Returns a host that gets events and notifies, as clients get them.
    pub fn new(server: &mut Server, pilot: Pilot) -> Self {
        let connection = server.connect_host(HostOptions { events: true, notifies: true });
        Self { pilot, connection, spawned: 0, despawned: 0 }
    }

    /// Runs a tick of the host: handles its updates, and lets its pilot act.
    pub fn tick(&mut self, server: &mut Server, now: Duration) {
        let Some(mut host) = server.host() else { return };
        while let Some(update) = host.poll_update() {
            match update.what {
                UpdateKind::Spawned => self.spawned += 1,
                UpdateKind::Despawned(_) => self.despawned += 1,
                _ => {}
            }
        }
        self.pilot.act(&mut host, now);
    }

    /// Returns how much health the host saw players lose.
    pub fn damage_seen(server: &Server) -> u32 {
        server.objects::<Player>().map(|(_, player)| player.damage_seen).sum()
    }
}
