//! The results, as a table or as a line of JSON.
//!
//! *Invariant:* shares are from 0 to 1, and a share of an empty total is 0.
#![expect(clippy::print_stdout, reason = "the example's output")]

use crate::session::{LINKS, Session};

/// The results of one bot, or of all bots.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    pub(crate) missing: f64,
    pub(crate) ahead_ticks: f64,
    pub(crate) rollbacks: f64,
    pub(crate) hits: f64,
    pub(crate) hits_uncompensated: f64,
    /// The share of the shots at a state that is older than the cap (`--cap-ms`).
    pub(crate) beyond: f64,
}

/// The results of a match.
pub(crate) struct Outcome {
    pub(crate) bots: Vec<Line>,
    pub(crate) all: Line,
    pub(crate) converged: bool,
}

/// The counters of one bot, or of all bots.
#[derive(Clone, Copy, Default)]
struct Counts {
    inputs: u64,
    missing: u64,
    confirmed: u64,
    rollbacks: u64,
    shots: u64,
    hits: u64,
    uncompensated: u64,
    beyond: u64,
}

fn share(of: u64, all: u64) -> f64 {
    of as f64 / all.max(1) as f64
}

impl Counts {
    fn line(self, ahead_ticks: f64) -> Line {
        Line {
            missing: share(self.missing, self.inputs),
            ahead_ticks,
            rollbacks: share(self.rollbacks, self.confirmed),
            hits: share(self.hits, self.shots),
            hits_uncompensated: share(self.uncompensated, self.shots),
            beyond: share(self.beyond, self.shots),
        }
    }
}

impl Outcome {
    /// Ends a match, and returns its results.
    pub(crate) fn of(session: &mut Session) -> Self {
        let (mut bots, mut all, mut ahead) = (Vec::new(), Counts::default(), 0.0);
        for at in 0..session.players.len() {
            let inputs = session.referee.counts(at);
            let (stats, score) = (session.players[at].stats(), session.referee.players[at].score);
            let counts = Counts {
                inputs: inputs.arrived + inputs.missing,
                missing: inputs.missing,
                confirmed: stats.confirmed + stats.rollbacks,
                rollbacks: stats.rollbacks,
                shots: score.shots,
                hits: score.hits,
                uncompensated: score.uncompensated,
                beyond: score.beyond,
            };
            bots.push(counts.line(session.players[at].ahead_ticks()));
            ahead += session.players[at].ahead_ticks();
            all.add(counts);
        }
        let all = all.line(ahead / bots.len() as f64);
        session.rest();
        Self { bots, all, converged: session.has_converged() }
    }

    /// Returns whether nearly all inputs arrived in time, and nearly all shots hit.
    pub(crate) fn is_good(&self) -> bool {
        self.converged && self.all.missing < 0.01 && self.bots.iter().take(3).all(|bot| bot.hits >= 0.99)
    }

    pub(crate) fn print(&self) {
        println!("round trip  jitter  loss  missing  ahead    wrong    hits  uncompensated  beyond the cap");
        for ((round_trip, jitter, loss), line) in LINKS.iter().zip(&self.bots) {
            println!(
                "{round_trip:>7} ms {jitter:>4} ms {:>4.0} % {:>6.2} % {:>6.1} {:>6.2} % {:>5.1} % {:>12.1} % {:>13.1} %",
                loss * 100.0,
                line.missing * 100.0,
                line.ahead_ticks,
                line.rollbacks * 100.0,
                line.hits * 100.0,
                line.hits_uncompensated * 100.0,
                line.beyond * 100.0,
            );
        }
        println!("at the end all have everything as the server has it: {}", self.converged);
    }

    pub(crate) fn print_json(&self) {
        let Line { missing, ahead_ticks, rollbacks, hits, hits_uncompensated, .. } = self.all;
        println!(
            "{{\"converged\":{},\"missing\":{missing:.5},\"ahead_ticks\":{ahead_ticks:.2},\"rollbacks\":{rollbacks:.5},\
             \"hits\":{hits:.4},\"hits_uncompensated\":{hits_uncompensated:.4}}}",
            self.converged
        );
    }
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.missing += other.missing;
        self.confirmed += other.confirmed;
        self.rollbacks += other.rollbacks;
        self.shots += other.shots;
        self.hits += other.hits;
        self.uncompensated += other.uncompensated;
        self.beyond += other.beyond;
    }
}
