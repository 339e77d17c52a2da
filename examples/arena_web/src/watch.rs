//! A native client that watches, to compare it with the page's client.
//!
//! *Invariant:* it prints a tick at most once, and only whole ticks.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use arena_game::census::{self, Agreement};
use arena_game::game::TICKS_PER_SECOND;
use arena_game::guest::Guest;
use arena_game::pace::Pace;
use arena_game::snapshot;
use repl::Session;
use repl::quic::{CertificateHash, QuicClient, Trust};

use crate::args::Watch;

/// Watches for some seconds, and prints the snapshot of each tick that arrives, as soon as the initial state
/// is complete.
pub(crate) fn run(args: &Watch) -> Result<(), Box<dyn Error>> {
    let mut watcher = Watcher::new(args)?;
    let (mut pace, mut printed) = (Pace::real(), None);
    let mut out = std::io::stdout().lock();
    for _ in 0..args.seconds.saturating_mul(TICKS_PER_SECOND) {
        watcher.tick(pace.tick())?;
        let client = &watcher.guest.client;
        let tick = client.server_tick();
        if !args.stats && client.is_synchronized() && tick != printed {
            printed = tick;
            writeln!(out, "{}", snapshot::of(client))?;
            out.flush()?;
        }
    }
    if args.stats {
        writeln!(out, "{}", watcher.stats())?;
    }
    Ok(())
}

/// The client, and what it has measured.
struct Watcher {
    guest: Guest,
    quic: QuicClient,
    /// How long the client has received packets and compared its objects with the census.
    receiving: Duration,
    agreement: Agreement,
}

impl Watcher {
    fn new(args: &Watch) -> Result<Self, Box<dyn Error>> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let mut guest = Guest::spectator(Session::from_random(random));
        census::register(&mut guest.client);
        let quic = QuicClient::new(args.address, &Trust::pinned([args.pin.parse::<CertificateHash>()?]))?;
        Ok(Self { guest, quic, receiving: Duration::ZERO, agreement: Agreement::default() })
    }

    fn tick(&mut self, now: Duration) -> Result<(), Box<dyn Error>> {
        let before = Instant::now();
        self.receive(now)?;
        self.receiving += before.elapsed();
        self.guest.tick(now);
        self.quic.transmit(&mut self.guest.client, now)?;
        match self.guest.ended.take() {
            Some(ended) => Err(ended.into()),
            None => Ok(()),
        }
    }

    /// Does the same as the client of the page, so that the times can be compared.
    fn receive(&mut self, now: Duration) -> Result<(), Box<dyn Error>> {
        let client = &mut self.guest.client;
        self.quic.receive(client, now)?;
        self.agreement.compare(client);
        Ok(())
    }

    fn stats(&self) -> String {
        let Self { guest, receiving, agreement: Agreement { agreed, differed }, .. } = self;
        let stats = guest.client.connection_info().stats();
        let mean = receiving.as_secs_f64() * 1e6 / stats.packets_received.max(1) as f64;
        format!(
            "{{\"packets\":{},\"packets_lost\":{},\"agreed\":{agreed},\"differed\":{differed},\"microseconds_per_packet\":{mean:.1}}}",
            stats.packets_received, stats.packets_lost,
        )
    }
}
