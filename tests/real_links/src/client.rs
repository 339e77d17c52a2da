//! A client that measures how long changes take and how many bytes arrive.
//!
//! *Invariant:* only packets that arrive in the measuring stage of the server are measured.
#![expect(clippy::print_stdout, reason = "the outcome")]

use std::collections::BTreeSet;
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use repl::prelude::*;
use repl_quic::{QuicClient, Trust};

use crate::HZ;
use crate::fleet::{self, Course, Ship, Stage};
use crate::metronome::Metronome;

/// The longest time of a whole run, and of the wait at the end for missing values.
const PATIENCE: Duration = Duration::from_secs(90);
const REST: Duration = Duration::from_secs(10);

/// How long a client that leaves continues to run, so that its last packets reach the server.
const FAREWELL: Duration = Duration::from_secs(1);

/// The arguments of a client.
#[derive(Debug, clap::Args)]
pub(crate) struct Join {
    server: SocketAddr,
    /// The folder of the server's certificate.
    certificate: PathBuf,
    /// The longest time in which 95 of 100 changes must be reported after they were written.
    #[arg(long)]
    max_delay_ms: Option<u32>,
}

/// Runs until the server says that the time is over, and this client has the values of the server.
pub(crate) fn run(args: &Join) -> Result<(), Box<dyn Error>> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    let config = ClientConfig { mtu_bytes: 1_414, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::from_random(bits));
    client.register::<Ship>();
    client.register::<Course>();
    let quic = QuicClient::new(args.server, &Trust::development(&args.certificate)?)?;
    let mut sailor = Sailor { client, quic, metronome: Metronome::at_hz(HZ), delays_ms: Vec::new() };
    sailor.wait_for(Stage::Measuring, PATIENCE)?;
    let (bytes, start) = (sailor.stats().bytes_received, sailor.metronome.now());
    sailor.delays_ms.clear();
    sailor.wait_for(Stage::Anchored, PATIENCE)?;
    let ticks = (sailor.metronome.now() - start).as_secs_f64() * f64::from(HZ);
    let bytes = ((sailor.stats().bytes_received - bytes) as f64 / ticks) as u64;
    let delay_ms = sailor.slowest_delay();
    let round_trip_ms = sailor.stats().round_trip.unwrap_or_default().as_millis();
    let has_converged = sailor.converge()?;
    sailor.leave()?;
    println!(
        "{{\"p95_delay_ms\":{delay_ms},\"bytes_per_tick\":{bytes},\"round_trip_ms\":{round_trip_ms},\
         \"converged\":{has_converged}}}"
    );
    if !has_converged {
        return Err("it lacks what the server has".into());
    }
    if args.max_delay_ms.is_some_and(|most| delay_ms > most) {
        return Err(format!("changes took {delay_ms} ms").into());
    }
    Ok(())
}

struct Sailor {
    client: Client,
    quic: QuicClient,
    metronome: Metronome,
    /// The time of each change from the write on the server to the update on this client.
    delays_ms: Vec<u32>,
}

impl Sailor {
    fn tick(&mut self) -> Result<(), Box<dyn Error>> {
        let now = self.metronome.tick();
        self.quic.receive(&mut self.client, now)?;
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                return Err(format!("the connection has ended: {reason}").into());
            }
        }
        let clock_ms = fleet::clock_ms();
        let updates = std::iter::from_fn(|| self.client.poll_update());
        let changed: BTreeSet<_> = updates.filter_map(|update| update.cast::<Ship>()).collect();
        let written = changed.into_iter().filter_map(|ship| Some(self.client.get(ship)?.written_ms));
        self.delays_ms.extend(written.map(|written| clock_ms.wrapping_sub(written)));
        self.client.tick(now);
        self.quic.transmit(&mut self.client, now)?;
        Ok(())
    }

    fn course(&self) -> Option<&Course> {
        self.client.objects::<Course>().next().map(|(_, course)| course)
    }

    fn wait_for(&mut self, stage: Stage, patience: Duration) -> Result<(), Box<dyn Error>> {
        let end = self.metronome.now() + patience;
        while self.course().is_none_or(|course| course.stage != stage) {
            if self.metronome.now() > end {
                return Err(format!("waited in vain for {stage:?}").into());
            }
            self.tick()?;
        }
        Ok(())
    }

    /// Waits for the last values. Returns whether this client has all ships with the values of the server.
    fn converge(&mut self) -> Result<bool, Box<dyn Error>> {
        let end = self.metronome.now() + REST;
        loop {
            let sum = fleet::sum(self.client.objects::<Ship>().map(|(_, ship)| ship));
            let is_same = self.course().is_some_and(|course| course.sum == sum);
            if is_same || self.metronome.now() > end {
                return Ok(is_same);
            }
            self.tick()?;
        }
    }

    fn leave(&mut self) -> Result<(), Box<dyn Error>> {
        self.client.disconnect();
        let end = self.metronome.now() + FAREWELL;
        while self.metronome.now() < end {
            let now = self.metronome.tick();
            self.quic.receive(&mut self.client, now)?;
            self.client.tick(now);
            self.quic.transmit(&mut self.client, now)?;
        }
        Ok(())
    }

    fn stats(&self) -> repl::ClientStats {
        self.client.connection_info().stats()
    }

    /// Returns the delay in milliseconds that 95 of 100 changes did not exceed.
    fn slowest_delay(&mut self) -> u32 {
        self.delays_ms.sort_unstable();
        self.delays_ms.get(self.delays_ms.len() * 95 / 100).copied().unwrap_or(u32::MAX)
    }
}
