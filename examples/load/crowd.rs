//! The process of the clients. Each client has a socket of its own.
//!
//! *Invariant:* the clients do not tick at the same time: their ticks are spread over the tick of the server.
#![expect(clippy::print_stdout, reason = "what the process of the server reads")]

use std::error::Error;
use std::fmt::Write;
use std::io::{self, BufRead};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use repl::prelude::*;
use repl::quic::{QuicClient, Trust};

use crate::args::Crowd;
use crate::metronome::Metronome;
use crate::model::{Sum, Thing};
use crate::times;

/// The tick of the server is divided into this number of slices. In each slice, another part of the clients
/// ticks.
const SLICES: u32 = 10;

/// A client with its connection.
struct Guest {
    client: Client,
    quic: QuicClient,
    ends: u64,
}

impl Guest {
    fn new(crowd: &Crowd, number: u32, trust: &Trust) -> Result<Self, Box<dyn Error>> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let login = number.to_le_bytes().to_vec();
        let config = ClientConfig { login, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::from_random(bits));
        client.register::<Thing>();
        Ok(Self { client, quic: QuicClient::new(crowd.server, trust)?, ends: 0 })
    }

    fn tick(&mut self, now: Duration) -> io::Result<()> {
        self.quic.receive(&mut self.client, now)?;
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                self.ends += 1;
                eprintln!("load: a client: {reason}");
            }
        }
        self.client.tick(now);
        self.quic.transmit(&mut self.client, now)
    }
}

/// Runs the clients until the input ends.
pub(crate) fn run(crowd: &Crowd) -> Result<(), Box<dyn Error>> {
    let trust = Trust::pinned([crowd.pin]);
    let guests = (0..crowd.clients).map(|number| Guest::new(crowd, number, &trust));
    let mut guests: Vec<Guest> = guests.collect::<Result<_, _>>()?;
    let (questions, mut metronome) = (questions(), Metronome::at_hz(crowd.hz * SLICES));
    let (start, busy) = (Instant::now(), times::of_process());
    for slice in (0..SLICES as usize).cycle() {
        let now = metronome.tick();
        guests.iter_mut().skip(slice).step_by(SLICES as usize).try_for_each(|guest| guest.tick(now))?;
        match questions.try_recv().as_deref() {
            Ok("sums") => println!("{}", sums(&guests)),
            Ok(_) => {
                let busy = (times::of_process() - busy).as_secs_f64() / start.elapsed().as_secs_f64();
                let stats = guests.iter().map(|guest| guest.client.connection_info().stats());
                let lost: u64 = stats.map(|stats| stats.packets_lost).sum();
                println!("{busy:.3} {} {lost}", guests.iter().map(|guest| guest.ends).sum::<u64>());
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => break,
        }
    }
    Ok(())
}

/// Returns a channel with the lines of the standard input.
fn questions() -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let lines = io::stdin().lock().lines();
        lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

/// Returns the sum of each client's objects, as text.
fn sums(guests: &[Guest]) -> String {
    guests.iter().fold(String::new(), |mut text, guest| {
        let Sum { objects, hash } = Sum::of(guest.client.objects::<Thing>());
        _ = write!(text, "{objects}:{hash} ");
        text
    })
}
