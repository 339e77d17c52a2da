//! The output: progress during the run, and a table or a line of JSON at the end.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object; progress goes to the standard error.
#![expect(clippy::print_stdout, reason = "the example's output")]

use std::time::Duration;

use crate::session::Session;
use crate::trace::Trace;

/// The outcome of a run.
pub(crate) struct Outcome {
    pub(crate) converged: bool,
    transactions: usize,
    patches: usize,
    final_length: usize,
    bytes_per_patch: f64,
    elapsed: Duration,
}

impl Outcome {
    pub(crate) fn new(session: &Session, trace: &Trace, converged: bool, elapsed: Duration) -> Self {
        let bytes: u64 = session.sent().map(|stats| stats.bytes_sent).sum();
        let (clients, patches) = (session.sent().count(), trace.patches());
        Self {
            converged,
            transactions: trace.transactions.len(),
            patches,
            final_length: session.len(),
            bytes_per_patch: bytes as f64 / (clients * patches).max(1) as f64,
            elapsed,
        }
    }

    /// Prints a line for each client, and a line with the totals.
    pub(crate) fn print(&self, session: &Session, trace: &Trace) {
        println!("\n{:<8} {:>9} {:>8} {:>6} {:>7}  state", "client", "bytes", "packets", "lost", "rtt ms");
        for (reader, stats) in session.sent().enumerate() {
            println!(
                "{:<8} {:>9} {:>8} {:>6} {:>7}  {}",
                reader + 1,
                stats.bytes_sent,
                stats.packets_sent,
                stats.packets_lost,
                stats.round_trip.as_millis(),
                session.difference(reader, &trace.end).unwrap_or_else(|| "the same text".to_owned()),
            );
        }
        println!(
            "\n{} patches in {} transactions, {} characters at the end; {:.1} bytes a patch to each client, {:.1} s",
            self.patches,
            self.transactions,
            self.final_length,
            self.bytes_per_patch,
            self.elapsed.as_secs_f64()
        );
    }

    /// Prints the outcome as one line for scripts.
    pub(crate) fn print_json(&self) {
        println!(
            "{{\"transactions\":{},\"patches\":{},\"final_length\":{},\"converged\":{},\"bytes_per_patch\":{:.1},\
             \"seconds\":{:.1}}}",
            self.transactions,
            self.patches,
            self.final_length,
            self.converged,
            self.bytes_per_patch,
            self.elapsed.as_secs_f64()
        );
    }
}

/// Returns the text next to the progress bar.
pub(crate) fn progress(session: &Session) -> String {
    let len = session.len();
    let bytes: u64 = session.sent().map(|stats| stats.bytes_sent).sum();
    let behind = (0..session.sent().count()).map(|reader| session.lag(reader)).max().unwrap_or(0);
    format!("{len} characters, {} KB sent, up to {behind} behind", bytes / 1_000)
}
