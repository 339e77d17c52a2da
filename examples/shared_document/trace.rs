//! Recorded keystrokes.
//!
//! *Invariant:* positions and counts are in Unicode code points, as in the file.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::bufread::GzDecoder;
use repl::OrderedFastArray;
use serde_json::Value;

/// An editing session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) transactions: Vec<Vec<Patch>>,
}

/// One keystroke, or one cut or paste.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    position: usize,
    deleted: usize,
    inserted: String,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is not a trace.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let json: Value = serde_json::from_reader(BufReader::new(GzDecoder::new(BufReader::new(file))))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&json).ok_or_else(|| format!("{} is not an editing trace", path.display()).into())
    }

    fn parse(json: &Value) -> Option<Self> {
        let text = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
        let transactions = json.get("txns")?.as_array()?.iter();
        let patches = |transaction: &Value| {
            transaction.get("patches")?.as_array()?.iter().map(Patch::parse).collect::<Option<Vec<_>>>()
        };
        Some(Self {
            start: text("startContent")?,
            end: text("endContent")?,
            transactions: transactions.map(patches).collect::<Option<_>>()?,
        })
    }

    /// Returns how many patches all transactions have.
    pub(crate) fn patches(&self) -> usize {
        self.transactions.iter().map(Vec::len).sum()
    }
}

impl Patch {
    fn parse(json: &Value) -> Option<Self> {
        let number = |at: usize| usize::try_from(json.get(at)?.as_u64()?).ok();
        Some(Self { position: number(0)?, deleted: number(1)?, inserted: json.get(2)?.as_str()?.to_owned() })
    }

    /// Applies the patch to a text.
    pub(crate) fn apply(&self, text: &mut OrderedFastArray<char>) {
        text.drain(self.position..self.position + self.deleted);
        for (position, character) in (self.position..).zip(self.inserted.chars()) {
            text.insert(position, character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_count_code_points() {
        let json = serde_json::json!({
            "startContent": "aéz",
            "endContent": "a☃yz",
            "txns": [{ "patches": [[1, 1, "☃"], [2, 0, "y"]] }],
        });
        let trace = Trace::parse(&json).expect("it is one");
        let mut text: OrderedFastArray<char> = trace.start.chars().collect();
        trace.transactions.iter().flatten().for_each(|patch| patch.apply(&mut text));
        assert!(text.into_iter().eq(trace.end.chars()));
        assert_eq!(trace.patches(), 2);
    }

    #[test]
    fn a_file_that_is_not_a_trace_is_refused() {
        for txns in [serde_json::json!([[1]]), serde_json::json!([{ "patches": [[-1, 0, ""]] }])] {
            let json = serde_json::json!({ "startContent": "", "endContent": "", "txns": txns });
            assert_eq!(Trace::parse(&json), None);
        }
    }
}
