//! The server: all ships move in each tick.
//!
//! *Invariant:* the operating system drops no datagram of the server before it is on the network.
#![expect(clippy::print_stdout, reason = "the outcome")]

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use repl::prelude::*;
use repl_quic::{Identity, QuicConfig, QuicServer};

use crate::HZ;
use crate::fleet::{self, Course, Ship, Stage};
use crate::metronome::Metronome;

/// How long clients may take to join, and to leave.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long ships move before the clients measure.
const WARM_UP: Duration = Duration::from_secs(5);

/// The arguments of a server.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    address: SocketAddr,
    /// The folder of the certificate.
    certificate: PathBuf,
    #[arg(long)]
    ships: u64,
    #[arg(long)]
    clients: usize,
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Runs until all clients have left.
pub(crate) fn run(args: &Serve) -> Result<(), Box<dyn Error>> {
    let quic =
        QuicServer::bind(args.address, &Identity::development(&args.certificate)?, QuicConfig::default())?;
    let mut server = Server::new(ServerConfig { mtu_bytes: 1_414, ..ServerConfig::default() });
    server.register::<Ship>();
    server.register::<Course>();
    let ships = (0..args.ships).map(|_| server.spawn(Ship::default())).collect();
    let course = server.spawn(Course::default());
    let mut harbour = Harbour { server, quic, ships, metronome: Metronome::at_hz(HZ), clients: 0, left: 0 };
    harbour.run_until("clients joined", PATIENCE, |harbour| harbour.clients == args.clients)?;
    harbour.sail(WARM_UP)?;
    harbour.server[course].stage = Stage::Measuring;
    harbour.sail(Duration::from_secs(args.seconds))?;
    let sum = fleet::sum(harbour.ships.iter().map(|ship| &harbour.server[*ship]));
    harbour.server[course] = Course { stage: Stage::Anchored, sum };
    harbour.run_until("clients left", PATIENCE, |harbour| harbour.left == args.clients)?;
    let dropped = harbour.quic.counters().dropped;
    println!("{{\"dropped\":{dropped}}}");
    if dropped > 0 {
        return Err(format!("{dropped} packets were dropped before they were sent").into());
    }
    Ok(())
}

struct Harbour {
    server: Server,
    quic: QuicServer,
    ships: Vec<ObjectRef<Ship>>,
    metronome: Metronome,
    clients: usize,
    left: usize,
}

impl Harbour {
    fn tick(&mut self, is_sailing: bool) -> Result<(), Box<dyn Error>> {
        let now = self.metronome.tick();
        self.quic.receive(&mut self.server, now)?;
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Connected(_) => self.clients += 1,
                ServerEvent::Disconnected(_, DisconnectReason::Closed) => self.left += 1,
                ServerEvent::Disconnected(_, reason) => return Err(format!("a client: {reason}").into()),
                _ => {}
            }
        }
        if is_sailing {
            let written_ms = fleet::clock_ms();
            for (number, ship) in (0..).zip(&self.ships) {
                self.server[*ship] = Ship::new(number, written_ms);
            }
        }
        self.server.tick(now);
        self.quic.transmit(&mut self.server, now)?;
        Ok(())
    }

    fn sail(&mut self, time: Duration) -> Result<(), Box<dyn Error>> {
        let end = self.metronome.now() + time;
        while self.metronome.now() < end {
            self.tick(true)?;
        }
        Ok(())
    }

    fn run_until(
        &mut self,
        what: &str,
        patience: Duration,
        is_done: impl Fn(&Self) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        let end = self.metronome.now() + patience;
        while !is_done(self) {
            if self.metronome.now() > end {
                return Err(
                    format!("too few {what}: {} have joined, {} have left", self.clients, self.left).into()
                );
            }
            self.tick(false)?;
        }
        Ok(())
    }
}
