//! The output: words, or a line of JSON.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object.
#![expect(clippy::print_stdout, reason = "the example's output")]

use crate::args::Args;
use crate::figures::{PARTS, Quantiles, Tick};
use crate::helper::Farewell;
use crate::times;
use crate::venue::{Sent, Venue};

/// The outcome of a run.
pub(crate) struct Outcome {
    clients: u32,
    connected: usize,
    disconnects: u64,
    seconds: f64,
    sent: Sent,
    cpu: Quantiles,
    wall: Quantiles,
    converged: bool,
    farewell: Farewell,
}

impl Outcome {
    /// Returns the part of the outcome that is known when the load ends.
    pub(crate) fn of_load(venue: &Venue, args: &Args) -> Self {
        Self {
            clients: args.clients,
            connected: venue.connected(),
            disconnects: venue.disconnects,
            seconds: f64::from(args.seconds),
            sent: venue.sent(),
            cpu: Quantiles::of(&venue.ticks, Tick::cpu),
            wall: Quantiles::of(&venue.ticks, |tick| tick.wall),
            converged: false,
            farewell: Farewell::default(),
        }
    }

    /// Adds the part that is known when the world has come to rest.
    pub(crate) fn finish(&mut self, converged: bool, farewell: Farewell) {
        self.converged = converged;
        self.disconnects = self.disconnects.max(farewell.ends);
        self.farewell = farewell;
    }

    /// Returns whether all clients stayed connected, and had the state of the server at the end.
    pub(crate) fn is_good(&self) -> bool {
        self.converged && self.disconnects == 0 && self.connected == self.clients as usize
    }

    /// Prints the outcome in words.
    pub(crate) fn print(&self, venue: &Venue) {
        println!("{:<22} {:>8} {:>8} {:>8}", "ms of each tick", "p50", "p99", "max");
        let print = |name: &str, Quantiles { p50, p99, max }: Quantiles| {
            println!("{name:<22} {p50:>8.2} {p99:>8.2} {max:>8.2}");
        };
        print("processor", self.cpu);
        for (part, name) in PARTS.iter().enumerate() {
            print(&format!("  {name}"), Quantiles::of(&venue.ticks, |tick| tick.parts[part]));
        }
        print("wall", self.wall);
        print("processor, joining", Quantiles::of(&venue.joining, Tick::cpu));
        let Sent { bytes, packets, lost } = self.sent;
        let each_second = |count: u64| count as f64 / self.seconds;
        println!(
            "{} of {} clients, which joined in {} ticks, {} disconnects; {:.0} objects in sight of each",
            self.connected,
            self.clients,
            venue.joining.len(),
            self.disconnects,
            venue.mean_in_sight()
        );
        println!(
            "{:.0} bytes and {:.0} datagrams a second to all; {lost} count as lost, {} did not arrive, {} not sent",
            each_second(bytes),
            each_second(packets),
            self.farewell.lost,
            venue.dropped()
        );
        println!(
            "memory: {} KB by Server::memory, {} KB resident",
            venue.memory().total_bytes() / 1_000,
            times::resident_bytes().unwrap_or_default() / 1_000
        );
        println!("the process of the clients took {:.0} % of a processor", self.farewell.cpu_share * 100.0);
        println!("{}", if self.converged { "every client converged" } else { "NOT every client converged" });
    }

    /// Prints the outcome as one line of JSON.
    pub(crate) fn print_json(&self) {
        println!(
            "{{\"clients\":{},\"connected\":{},\"disconnects\":{},\"cpu_p99_ms\":{:.2},\"wall_p99_ms\":{:.2},\
             \"bytes_per_second\":{:.0},\"losses\":{},\"converged\":{}}}",
            self.clients,
            self.connected,
            self.disconnects,
            self.cpu.p99,
            self.wall.p99,
            self.sent.bytes as f64 / self.seconds,
            self.sent.lost,
            self.converged
        );
    }
}
