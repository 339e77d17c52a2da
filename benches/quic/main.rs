//! The cost of QUIC for a server with 200 clients that see 1,000 objects. A tenth of the objects changes in
//! each tick, at 30 ticks a second.
//!
//! Measures the processor time of the server's thread in a tick, for three servers. The first is a server of
//! `repl` over QUIC, with sockets of this machine. The second is the same server without sockets, which shows
//! the cost of the replication alone. The third is a program that uses `quinn` as its documentation says, and
//! sends the same number of datagrams of the same size. The clients of a server run on another thread.
//!
//! *Invariant:* each server sends and receives the same number of datagrams in a tick, in both directions.
#![expect(clippy::print_stdout, reason = "the figures")]

#[path = "../support/cpu.rs"]
mod cpu;
mod encrypted;
mod memory;
mod plain;
mod world;

use std::error::Error;
use std::time::Duration;

/// How many clients there are.
const CLIENTS: usize = 200;

/// The time between two ticks, on the servers and on the clients.
const TICK: Duration = Duration::from_nanos(33_333_333);

/// The greatest number of ticks until all clients have joined, and the number of measured ticks.
const JOINING: u32 = 300;
const MEASURED: u32 = 300;

/// The measured figures of a server in a tick.
struct Figures {
    cpu: Duration,
    datagrams: f64,
    bytes: f64,
}

impl Figures {
    fn show(&self, name: &str) {
        let Self { cpu, datagrams, bytes } = self;
        println!(
            "{name:<24} {:>8.1} µs a tick, {datagrams:.1} datagrams out, {bytes:.0} bytes each",
            cpu.as_secs_f64() * 1e6
        );
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test` runs benches too, and then without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let alone = memory::measure();
    alone.show("replication alone");
    for round in 1..=3 {
        println!("round {round}");
        let encrypted = encrypted::measure()?;
        encrypted.show("repl over QUIC");
        let each = (encrypted.datagrams / CLIENTS as f64).round().max(1.0) as u32;
        let plain = plain::measure(each, encrypted.bytes as usize)?;
        plain.show("quinn");
        let transport = encrypted.cpu.saturating_sub(alone.cpu);
        println!(
            "{:<24} {:>8.1} µs a tick, {:.2} times as much as quinn",
            "the difference",
            transport.as_secs_f64() * 1e6,
            transport.as_secs_f64() / plain.cpu.as_secs_f64()
        );
    }
    Ok(())
}
