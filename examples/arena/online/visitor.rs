//! The process of a client: joins the match of a server in another process, and plays by a pilot.
//!
//! *Invariant:* the client connects again by itself after any failure of the server or the network.
#![expect(clippy::print_stdout, reason = "the example's output")]

use std::error::Error;
use std::io;
use std::time::Duration;

use repl::prelude::*;
use repl::quic::{CertificateHash, QuicClient, Trust};

use super::CERTIFICATE;
use crate::args::Join;
use arena_game::census::{self, Agreement};
use arena_game::game::TICKS_PER_SECOND;
use arena_game::guest::Guest;
use arena_game::model::Player;
use arena_game::pace::Pace;
use arena_game::pilot::Pilot;

/// How many ticks a client continues after it has left, so that the server learns that it has left.
const FAREWELL: u32 = TICKS_PER_SECOND / 4;

/// The results of comparing the client with the server's census (its hash of what the client may see).
#[derive(Default)]
struct Tally {
    /// The number of sessions in which the client has agreed with the server.
    sessions: u32,
    /// Whether the client has agreed with the server in the present session.
    has_session: bool,
    /// The time from the start until the client agreed with the server for the first time.
    converged_after: Option<Duration>,
    /// The longest time from the loss of a session until the client agreed with the server again.
    longest_gap: Duration,
    lost_at: Option<Duration>,
    agreement: Agreement,
    /// Whether the client agreed with the last census.
    agrees: bool,
    bytes_told: u64,
}

/// A client of a server in another process.
pub(super) struct Visitor {
    guest: Guest,
    quic: QuicClient,
    pace: Pace,
    tally: Tally,
}

impl Visitor {
    pub(super) fn new(args: &Join) -> Result<Self, Box<dyn Error>> {
        let trust = match &args.pin {
            Some(hash) => Trust::pinned([hash.parse::<CertificateHash>()?]),
            None => Trust::development(CERTIFICATE)?,
        };
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let seed = u64::from_le_bytes(*bits.first_chunk().expect("16 bytes are more than 8"));
        let mut guest = Guest::new(1, Pilot::new(1, seed, false), Session::from_random(bits));
        census::register(&mut guest.client);
        Ok(Self {
            guest,
            quic: QuicClient::new(args.address, &trust)?,
            pace: Pace::real(),
            tally: Tally::default(),
        })
    }

    /// Plays until the match or the time of the client is over. Returns whether the client had the state of
    /// the server at the end.
    pub(super) fn run(mut self, args: &Join) -> Result<bool, Box<dyn Error>> {
        for tick in 1..=args.ticks {
            self.tick()?;
            if tick.is_multiple_of(TICKS_PER_SECOND) && !args.json {
                self.tell();
            }
            if self.guest.client.connection_info().is_over() {
                break;
            }
        }
        let converged = self.tally.agrees;
        self.guest.client.disconnect();
        (0..FAREWELL).try_for_each(|_| self.tick())?;
        if args.json {
            self.print_json(converged);
        }
        Ok(converged)
    }

    fn tick(&mut self) -> io::Result<()> {
        let now = self.pace.tick();
        self.quic.receive(&mut self.guest.client, now)?;
        self.compare(now);
        self.guest.tick(now);
        self.quic.transmit(&mut self.guest.client, now)
    }

    /// Compares the objects of the client with the last census of the server.
    fn compare(&mut self, now: Duration) {
        let Self { guest, tally, .. } = self;
        if let Some(agrees) = tally.agreement.compare(&mut guest.client) {
            tally.compared(agrees, now);
        }
        if let Some(reason) = guest.ended.take() {
            eprintln!("arena: {reason}");
            if !guest.client.connection_info().is_over() {
                tally.lost(now);
            }
        }
    }

    fn tell(&mut self) {
        let Self { guest, tally, .. } = self;
        let Guest { client, .. } = guest;
        let stats = client.connection_info().stats();
        let me = client.connection_info().owned_objects::<Player>().next();
        let name = me.map_or("nobody", |(_, player)| player.name.as_str());
        println!(
            "tick {}: {name}, {} players in sight, {} bytes/s, {} lost, session {}, {}",
            client.server_tick().unwrap_or_default(),
            client.objects::<Player>().count(),
            stats.bytes_received.saturating_sub(tally.bytes_told),
            stats.packets_lost,
            tally.sessions,
            if tally.agrees { "up to date" } else { "NOT up to date" },
        );
        tally.bytes_told = stats.bytes_received;
    }

    fn print_json(&self, converged: bool) {
        let stats = self.guest.client.connection_info().stats();
        let Tally { sessions, agreement: Agreement { agreed, differed }, .. } = &self.tally;
        println!(
            "{{\"converged\":{converged},\"sessions\":{sessions},\"converged_after_ms\":{},\"longest_gap_ms\":{},\
             \"agreed\":{agreed},\"differed\":{differed},\"bytes_received\":{},\"packets_lost\":{}}}",
            self.tally.converged_after.map_or(-1, |time| time.as_millis() as i64),
            self.tally.longest_gap.as_millis(),
            stats.bytes_received,
            stats.packets_lost,
        );
    }
}

impl Tally {
    /// Records whether the client agreed with a census.
    fn compared(&mut self, agrees: bool, now: Duration) {
        self.agrees = agrees;
        if !agrees {
            return;
        }
        self.converged_after.get_or_insert(now);
        if let Some(lost_at) = self.lost_at.take() {
            self.longest_gap = self.longest_gap.max(now - lost_at);
        }
        if !self.has_session {
            (self.has_session, self.sessions) = (true, self.sessions + 1);
        }
    }

    /// Records that the session was lost.
    fn lost(&mut self, now: Duration) {
        self.lost_at.get_or_insert(now);
        (self.agrees, self.has_session) = (false, false);
    }
}
