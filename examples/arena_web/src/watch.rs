//! A native client that watches, to compare it with the page's client.
//!
//! *Invariant:* it prints a tick at most once, and only whole ticks.

use std::error::Error;
use std::io::Write;

use arena_game::census::{self, Census};
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
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let mut guest = Guest::spectator(Session::from_random(random));
    census::register(&mut guest.client);
    let mut quic = QuicClient::new(args.address, &Trust::pinned([args.pin.parse::<CertificateHash>()?]))?;
    let (mut pace, mut printed) = (Pace::real(), None);
    let mut out = std::io::stdout().lock();
    for _ in 0..args.seconds.saturating_mul(TICKS_PER_SECOND) {
        let now = pace.tick();
        quic.receive(&mut guest.client, now)?;
        while guest.client.poll_message::<Census>().is_some() {}
        guest.tick(now);
        quic.transmit(&mut guest.client, now)?;
        if let Some(ended) = guest.ended.take() {
            return Err(ended.into());
        }
        let tick = guest.client.server_tick();
        if guest.client.is_synchronized() && tick != printed {
            printed = tick;
            writeln!(out, "{}", snapshot::of(&guest.client))?;
            out.flush()?;
        }
    }
    Ok(())
}
