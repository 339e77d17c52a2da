//! The process of a server: a match for clients in other processes, in real time.
//!
//! *Invariant:* the process ends by itself after the match, and tells the clients why.
#![expect(clippy::print_stdout, reason = "the example's output")]

use std::collections::BTreeMap;
use std::error::Error;

use repl::prelude::*;
use repl::quic::{Identity, QuicConfig};

use super::CERTIFICATE;
use crate::args::Serve;
use arena_game::game::TICKS_PER_SECOND;
use arena_game::online::loopback::Loopback;
use arena_game::online::open_match::OpenMatch;
use arena_game::session::{Session, Settings};

/// For this many ticks after the match, clients receive its last state.
const LAST_LOOK: u32 = TICKS_PER_SECOND;

/// A match that clients can join.
pub(super) struct Venue {
    open: OpenMatch,
    /// For each client, the bytes that were sent to it until the last printed line.
    bytes_told: BTreeMap<ConnectionId, u64>,
}

impl Venue {
    pub(super) fn open(args: &Serve) -> Result<Self, Box<dyn Error>> {
        let identity = Identity::development(CERTIFICATE)?;
        let socket = Loopback::listen(args.address, &identity, QuicConfig::default())?;
        println!("listening on {}", socket.address()?);
        println!("certificate in {CERTIFICATE}; clients on other machines: join --pin {}", identity.hash());
        let &Serve { players, ticks, seed, .. } = args;
        let open = OpenMatch::new(Settings { players, ticks, seed, ..Settings::default() }, socket);
        Ok(Self { open, bytes_told: BTreeMap::new() })
    }

    /// Plays the match. Returns whether no secret leaked.
    pub(super) fn run(mut self, args: &Serve) -> Result<bool, Box<dyn Error>> {
        for tick in 1..=args.ticks + LAST_LOOK {
            self.open.tick()?;
            if tick.is_multiple_of(TICKS_PER_SECOND) {
                self.tell(tick);
            }
        }
        self.open.end()?;
        let Session { rightly_sent, leaks, .. } = self.open.session;
        println!("secrets found in packets: {rightly_sent} where they may be, {leaks} leaks");
        Ok(leaks == 0)
    }

    /// Prints the line for one second.
    fn tell(&mut self, tick: u32) {
        let Session { server, arena, sight, leaks, .. } = &self.open.session;
        let [one, other] = arena.teams.map(|team| server[team].score);
        let bytes_of = |id| Some((id, server.connection_info(id).stats()?.bytes_sent));
        let bytes: BTreeMap<_, _> = server.connections().filter_map(bytes_of).collect();
        let told = |id| self.bytes_told.get(id).copied().unwrap_or_default();
        let of_second: u64 = bytes.iter().map(|(id, bytes)| bytes - told(id)).sum();
        println!(
            "tick {tick}: {} clients, {one}:{other}, {} objects, {of_second} bytes/s, {leaks} leaks",
            sight.seats.len(),
            self.open.session.objects(),
        );
        self.bytes_told = bytes;
    }
}
