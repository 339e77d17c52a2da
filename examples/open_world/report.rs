//! The output: progress during the run, and tables or a line of JSON at the end.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object; progress goes to the standard error.
#![expect(clippy::print_stdout, reason = "the example's output")]

use crate::args::Args;
use crate::session::Session;
use crate::world::TICKS_PER_SECOND;

/// The outcome of a run.
pub(crate) struct Outcome {
    objects: u32,
    connections: u32,
    ticks: u32,
    tick_us_p50: f64,
    tick_us_p99: f64,
    bytes_per_client_per_second: f64,
    over_budget: u64,
    starved: usize,
    oldest_wait: u32,
    leaks: u64,
    pub(crate) converged: bool,
}

impl Outcome {
    /// Returns the outcome when everything has come to rest, before the clients have converged.
    pub(crate) fn of_walk(session: &Session, args: &Args) -> Self {
        let seconds = f64::from(args.ticks) / f64::from(TICKS_PER_SECOND);
        let watch = &session.watch;
        Self {
            objects: args.objects,
            connections: args.connections,
            ticks: args.ticks,
            tick_us_p50: watch.percentile_us(1, 50),
            tick_us_p99: watch.percentile_us(1, 99),
            bytes_per_client_per_second: session.bytes_sent() as f64 / f64::from(args.connections) / seconds,
            over_budget: watch.over_budget,
            starved: watch.starved(),
            oldest_wait: watch.oldest_wait,
            leaks: 0,
            converged: false,
        }
    }

    /// Adds the part that is known at the end.
    pub(crate) fn finish(&mut self, session: &Session) {
        self.leaks = session.watch.leaks;
    }

    /// Returns whether every client converged, and no canary leaked.
    pub(crate) fn is_good(&self) -> bool {
        self.converged && self.leaks == 0
    }

    pub(crate) fn print_json(&self) {
        println!(
            "{{\"objects\":{},\"connections\":{},\"ticks\":{},\"tick_us_p50\":{:.0},\"tick_us_p99\":{:.0},\
             \"bytes_per_client_per_second\":{:.0},\"over_budget\":{},\"starved\":{},\"leaks\":{},\"converged\":{},\
             \"oldest_wait\":{}}}",
            self.objects,
            self.connections,
            self.ticks,
            self.tick_us_p50,
            self.tick_us_p99,
            self.bytes_per_client_per_second,
            self.over_budget,
            self.starved,
            self.leaks,
            self.converged,
            self.oldest_wait,
        );
    }

    pub(crate) fn print(&self, session: &Session) {
        let watch = &session.watch;
        let kind = if session.cpu_clock.measures_processor_time { "processor time" } else { "time" };
        println!("\n{:<24} {:>9} {:>9} {:>9}", format!("{kind}, in µs"), "half", "99 %", "longest");
        for (which, name) in ["receiving", "tick", "returning packets"].into_iter().enumerate() {
            let [half, most, longest] = [50, 99, 100].map(|percent| watch.percentile_us(which, percent));
            println!("{name:<24} {half:>9.0} {most:>9.0} {longest:>9.0}");
        }
        let second = watch.seconds.last().copied().unwrap_or_default();
        println!(
            "\n{} objects, {} connections, {} ticks; {:.0} bytes a second to each client, with {:.0} objects in sight",
            self.objects,
            self.connections,
            self.ticks,
            self.bytes_per_client_per_second,
            second.mean_in_sight
        );
        println!(
            "{} seconds of connections over the budget; the oldest change waited for {} ticks; {} starved",
            self.over_budget, self.oldest_wait, self.starved
        );
        for (reason, times) in &watch.reasons {
            println!("a change waited, and the reason was {times} times: {reason}");
        }
        println!("{} % of the objects on the clients sleep", session.percent_asleep());
        println!("canaries found in packets: {} where they may be, {} leaks", watch.rightly_sent, self.leaks);
        let differences =
            (0..session.guests.len()).filter_map(|number| Some((number, session.difference(number)?)));
        for (number, difference) in differences.take(10) {
            println!("client {number}: {difference}");
        }
        println!("{}", if self.converged { "every client converged" } else { "NOT every client converged" });
    }
}

/// Returns how many bytes all clients together received for each class, with the name of the class. The class
/// with the most bytes comes first.
fn traffic(session: &Session) -> Vec<(u64, &'static str)> {
    let mut classes: Vec<(u64, &str)> = Vec::new();
    for traffic in session.guests.iter().flat_map(|guest| guest.client.connection_info().traffic()) {
        let bits = traffic.head_bits + traffic.properties.iter().map(|property| property.bits).sum::<u64>();
        match classes.iter_mut().find(|(_, name)| *name == traffic.class) {
            Some((sum, _)) => *sum += bits,
            None => classes.push((bits, traffic.class)),
        }
    }
    classes.iter_mut().for_each(|(bits, _)| *bits /= 8);
    classes.sort_unstable_by(|one, other| other.cmp(one));
    classes
}

/// Prints the bytes that all clients received for each class.
pub(crate) fn print_traffic(session: &Session) {
    println!("\n{:<24} {:>9}", "received by all", "bytes");
    for (bytes, class) in traffic(session) {
        println!("{class:<24} {bytes:>9}");
    }
}

/// Returns the text of the progress after `tick` ticks.
pub(crate) fn progress(session: &Session, tick: u32) -> String {
    let watch = &session.watch;
    let second = watch.seconds.last().copied().unwrap_or_default();
    let traffic = traffic(session);
    let all = traffic.iter().map(|(bytes, _)| bytes).sum::<u64>().max(1);
    let shares = traffic.iter().take(4).map(|(bytes, class)| format!(", {class} {} %", bytes * 100 / all));
    let shares: String = shares.collect();
    let reason = watch.reasons.iter().max_by_key(|(_, times)| **times);
    let reason = reason.map(|(reason, _)| format!(" ({reason})")).unwrap_or_default();
    format!(
        "{:>5.1} s  tick {:.0} µs, {} clients, {:.0} bytes/s and {:.0} objects each{shares}, oldest wait {} ticks{reason}",
        f64::from(tick) / f64::from(TICKS_PER_SECOND),
        watch.percentile_us(1, 50),
        session.guests.len(),
        second.mean_bytes,
        second.mean_in_sight,
        watch.oldest_wait,
    )
}
