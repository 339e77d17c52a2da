//! The client of the page: the guest of the arena, over the browser's own connection to the server.
//!
//! *Invariant:* this client sends nothing that a native client could not send: both run the same guest.

use std::fmt::Display;
use std::net::SocketAddr;
use std::time::Duration;

use arena_game::census::{self, Agreement};
use arena_game::game::TICKS_PER_SECOND;
use arena_game::guest::Guest;
use arena_game::keys::Keys;
use arena_game::pilot::Pilot;
use arena_game::snapshot;
use repl::Session;
use repl::quic::{CertificateHash, QuicClient, Trust};
use wasm_bindgen::prelude::*;

/// If a tick is later than this, for example because the page was hidden, the missed ticks are skipped.
const MOST_LATE: Duration = Duration::from_millis(250);

/// A client that watches or plays. Times are in milliseconds, as `performance.now()` returns them.
#[wasm_bindgen]
pub struct ArenaClient {
    guest: Guest,
    quic: QuicClient,
    next_tick: Duration,
    agreement: Agreement,
}

#[wasm_bindgen]
impl ArenaClient {
    /// Returns a client of the server at this address. It begins to connect with its first tick. `hash` is
    /// the hash of the server's certificate, and `random` has 16 random bytes.
    ///
    /// # Errors
    /// Returns an error if the address, the hash or the random bytes are malformed, or if this browser cannot
    /// connect.
    #[wasm_bindgen(constructor)]
    pub fn new(address: &str, hash: &str, random: &[u8], plays: bool) -> Result<Self, JsError> {
        let address: SocketAddr = address.parse().map_err(error)?;
        let hash: CertificateHash = hash.parse().map_err(error)?;
        let session = Session::from_random(random.try_into().map_err(error)?);
        let mut guest = if plays {
            let mut pilot = Pilot::new(1, 0, false);
            pilot.keys = Some(Keys::default());
            Guest::new(1, pilot, session)
        } else {
            Guest::spectator(session)
        };
        census::register(&mut guest.client);
        let quic = QuicClient::new(address, &Trust::pinned([hash])).map_err(error)?;
        Ok(Self { guest, quic, next_tick: Duration::ZERO, agreement: Agreement::default() })
    }

    /// Applies the packets that have arrived.
    ///
    /// # Errors
    /// Returns an error if the browser does not let this page receive any more.
    pub fn receive(&mut self, now_ms: f64) -> Result<(), JsError> {
        let client = &mut self.guest.client;
        self.quic.receive(client, time(now_ms)).map_err(error)?;
        self.agreement.compare(client);
        Ok(())
    }

    /// Runs a tick and sends its packets, if a tick is due. So the client has as many ticks a second on each
    /// screen.
    ///
    /// # Errors
    /// Returns an error if the browser does not let this page send any more.
    pub fn tick(&mut self, now_ms: f64) -> Result<(), JsError> {
        let now = time(now_ms);
        if now < self.next_tick {
            return Ok(());
        }
        if now > self.next_tick + MOST_LATE {
            self.next_tick = now;
        }
        self.next_tick += Duration::from_secs(1) / TICKS_PER_SECOND;
        self.guest.tick(now);
        self.quic.transmit(&mut self.guest.client, now).map_err(error)
    }

    /// Sets which keys are down. They do nothing on a client that only watches.
    pub fn press(&mut self, left: bool, right: bool, up: bool, down: bool, fire: bool) {
        if let Some(keys) = &mut self.guest.pilot.keys {
            *keys = Keys { left, right, up, down, fire };
        }
    }

    /// Returns all replicated values with their tick, as JSON.
    pub fn snapshot(&self) -> String {
        snapshot::of(&self.guest.client)
    }

    /// Returns why the last session has ended, once.
    pub fn ended(&mut self) -> Option<String> {
        self.guest.ended.take()
    }

    /// Leaves the server.
    pub fn leave(&mut self) {
        self.guest.client.disconnect();
    }

    /// Returns what the client knows about its connection, as JSON.
    pub fn stats(&self) -> String {
        let Self { guest, agreement: Agreement { agreed, differed }, .. } = self;
        let info = guest.client.connection_info();
        let stats = info.stats();
        format!(
            "{{\"connected\":{},\"over\":{},\"round_trip_ms\":{},\"packets\":{},\"packets_lost\":{},\"bytes\":{},\
             \"agreed\":{agreed},\"differed\":{differed}}}",
            guest.client.is_connected(),
            info.is_over(),
            stats.round_trip.map_or(-1, |time| time.as_millis() as i32),
            stats.packets_received,
            stats.packets_lost,
            stats.bytes_received,
        )
    }
}

fn time(now_ms: f64) -> Duration {
    Duration::from_micros((now_ms * 1_000.0) as u64)
}

fn error(error: impl Display) -> JsError {
    JsError::new(&error.to_string())
}
