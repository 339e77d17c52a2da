//! The output at the end of a run: a table or a line of JSON.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object.

use boxcars::Frame;

use crate::recording::{Change, Recording};
use crate::stage::{Class, Played, Stage};
use crate::unreal;

/// The outcome of a run.
pub(crate) struct Outcome {
    pub(crate) frames: usize,
    pub(crate) played: Played,
    pub(crate) unreal_bytes: u64,
    /// All bytes that the server sent to the client that received the most.
    pub(crate) repl_bytes: u64,
    pub(crate) packets: u64,
    pub(crate) packets_lost: u64,
    /// The values that the example's classes cannot hold, as text.
    pub(crate) lacks: Vec<String>,
    /// The first difference between a client's values and the recorded values that the classes can hold, as
    /// text.
    pub(crate) differs: Option<String>,
    pub(crate) converged: bool,
    pub(crate) clients: u32,
    pub(crate) loss: f64,
}

/// How many bits each class took: in the game's stream and in ours.
pub(crate) struct Ledger {
    rows: Vec<Row>,
}

/// The numbers of one class.
#[derive(Clone, Copy, Default)]
struct Row {
    updates: u64,
    unreal_bits: u64,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { rows: vec![Row::default(); Class::ALL.len()] }
    }

    /// Adds the bits that the game used for a frame. Call it after the stage has played the frame.
    pub(crate) fn add(
        &mut self,
        recording: &Recording,
        stage: &Stage,
        frame: &Frame,
        changes: &[Change<'_>],
    ) {
        let version = recording.net_version();
        for actor in &frame.new_actors {
            let row = self.row(Class::of(recording.name(actor.object_id)));
            row.unreal_bits += unreal::ACTOR_BITS + unreal::opening_bits(actor, version);
        }
        let mut last = None;
        for change in changes {
            let Some(handle) = stage.handle(change.actor) else { continue };
            let row = self.row(handle.class());
            if last.replace(change.actor) != Some(change.actor) {
                row.unreal_bits += unreal::ACTOR_BITS + unreal::UPDATE_BITS;
            }
            row.updates += change.values.len() as u64;
            for value in &change.values {
                row.unreal_bits += unreal::PROPERTY_BITS + unreal::value_bits(value, version);
            }
        }
    }

    fn row(&mut self, class: Class) -> &mut Row {
        &mut self.rows[class as usize]
    }

    /// Prints a line for each class: the game's bytes and ours.
    #[expect(clippy::print_stdout, reason = "the example's output")]
    pub(crate) fn print(&self, outcome: &Outcome, repl_bits: impl Fn(Class) -> u64) {
        println!(
            "{:<12} {:>9} {:>12} {:>12} {:>7}",
            "class", "updates", "Unreal bytes", "our bytes", "ratio"
        );
        let mut rows: Vec<_> =
            Class::ALL.iter().zip(&self.rows).filter(|(_, row)| row.unreal_bits > 0).collect();
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.unreal_bits));
        let (mut unreal_rest, mut repl_rest) = (outcome.unreal_bytes, outcome.repl_bytes);
        for (class, row) in rows {
            let (theirs, ours) = (row.unreal_bits / 8, repl_bits(*class) / 8);
            unreal_rest = unreal_rest.saturating_sub(theirs);
            repl_rest = repl_rest.saturating_sub(ours);
            print_row(class.name(), row.updates, theirs, ours);
        }
        print_row("frames, acks", outcome.frames as u64, unreal_rest, repl_rest);
        print_row("in all", outcome.played.updates, outcome.unreal_bytes, outcome.repl_bytes);
    }
}

#[expect(clippy::print_stdout, reason = "the example's output")]
fn print_row(name: &str, updates: u64, theirs: u64, ours: u64) {
    const BAR: usize = 30;
    let ratio = ours as f64 / theirs.max(1) as f64;
    let bar = "█".repeat(((ratio * BAR as f64) as usize).min(BAR));
    println!("{name:<12} {updates:>9} {theirs:>12} {ours:>12} {ratio:>7.3} {bar}");
}

impl Outcome {
    /// Returns our bytes divided by the game's bytes.
    pub(crate) fn ratio(&self) -> f64 {
        self.repl_bytes as f64 / self.unreal_bytes as f64
    }

    /// Returns the fraction of all updates, openings and closings of the recording that was replicated.
    pub(crate) fn coverage(&self) -> f64 {
        self.played.covered as f64 / self.played.events.max(1) as f64
    }

    /// Prints the outcome as sentences.
    #[expect(clippy::print_stdout, reason = "the example's output")]
    pub(crate) fn print(&self) {
        let Played { events, covered, spawned, despawned, .. } = self.played;
        println!(
            "{} frames, {} updates; {covered} of {events} updates, openings and closings replicated; {spawned} objects \
             spawned, {despawned} despawned",
            self.frames, self.played.updates
        );
        println!(
            "{} packets to each of {} clients, {} bytes a packet; {} packets lost",
            self.packets,
            self.clients,
            self.repl_bytes / self.packets.max(1),
            self.packets_lost
        );
        self.print_differences();
        println!("{} bytes where Unreal spent {}: {:.3}", self.repl_bytes, self.unreal_bytes, self.ratio());
    }

    /// Returns whether every client had every value bit for bit.
    pub(crate) fn is_exact(&self) -> bool {
        self.lacks.is_empty() && self.differs.is_none()
    }

    /// Prints whether everything arrived, and otherwise the differences.
    #[expect(clippy::print_stdout, reason = "the example's output")]
    fn print_differences(&self) {
        for lack in &self.lacks {
            println!("not replicated: {lack}");
        }
        let all = if self.lacks.is_empty() { "every value" } else { "every other value" };
        match &self.differs {
            None => println!("{all} bit for bit; converged: {}", yes(self.converged)),
            Some(what) => println!("not bit for bit, first: {what}; converged: {}", yes(self.converged)),
        }
    }

    /// Prints the outcome as one line of JSON.
    #[expect(clippy::print_stdout, reason = "the example's output")]
    pub(crate) fn print_json(&self) {
        println!(
            "{{\"frames\":{},\"updates\":{},\"coverage\":{:?},\"unreal_bytes\":{},\"repl_bytes\":{},\"ratio\":{:.3},\"exact\":{},\"lacks\":{},\"differs\":{},\
             \"converged\":{},\"clients\":{},\"loss\":{:?}}}",
            self.frames,
            self.played.updates,
            self.coverage(),
            self.unreal_bytes,
            self.repl_bytes,
            self.ratio(),
            self.is_exact(),
            serde_json::json!(self.lacks),
            serde_json::json!(self.differs),
            self.converged,
            self.clients,
            self.loss
        );
    }
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
