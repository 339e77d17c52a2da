//! The progress of a run.
//!
//! *Invariant:* the progress goes to the standard error, because scripts read JSON from the standard output.

use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

/// How many times the bar is drawn on a terminal in a whole run.
const DRAWS: u64 = 200;
/// How many lines are written in a whole run if there is no terminal.
const LINES: u64 = 10;

/// A bar on a terminal; otherwise one line for each tenth of the run.
pub(crate) struct Progress {
    bar: ProgressBar,
    length: u64,
    done: u64,
}

impl Progress {
    /// Returns the progress of a run of `length` steps.
    pub(crate) fn new(length: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: ProgressBar::new(length).with_style(style), length, done: 0 }
    }

    /// Shows that `done` steps are done. Calls `message` only if it draws or writes something.
    pub(crate) fn show(&mut self, done: u64, message: impl FnOnce() -> String) {
        let is_hidden = self.bar.is_hidden();
        let parts = if is_hidden { LINES } else { DRAWS };
        let part = |steps: u64| steps * parts / self.length.max(1);
        let before = std::mem::replace(&mut self.done, done);
        if part(before) == part(done) {
            return;
        }
        if is_hidden {
            // An output error is ignored, so that the example continues when nobody reads its output any
            // more.
            let _ = writeln!(std::io::stderr(), "{:>3} %  {}", done * 100 / self.length.max(1), message());
            return;
        }
        self.bar.set_message(message());
        self.bar.set_position(done);
        if done == self.length {
            self.bar.finish();
        }
    }
}
