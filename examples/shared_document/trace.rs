//! Recorded keystrokes.
//!
//! *Invariant:* positions and counts are in Unicode code points, as in the file.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::bufread::GzDecoder;
use serde_json::Value;

/// An editing session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) start: String,
    pub(crate) end: String,
    pub(crate) transactions: Vec<Vec<Patch>>,
}

/// One keystroke, cut or paste.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The first character that is deleted, or before which the new ones are inserted.
    pub(crate) position: usize,
    /// How many characters are deleted.
    pub(crate) deleted: usize,
    pub(crate) inserted: String,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// Returns an error that says why the file cannot be read, or why it is not a trace that can be replayed.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let named = |error: String| format!("cannot replay {}: {error}", path.display());
        let file = File::open(path).map_err(|error| named(error.to_string()))?;
        let json: Value = serde_json::from_reader(BufReader::new(GzDecoder::new(BufReader::new(file))))
            .map_err(|error| named(format!("it is not JSON, compressed by gzip: {error}")))?;
        Ok(Self::parse(&json).map_err(named)?)
    }

    fn parse(json: &Value) -> Result<Self, String> {
        let transactions = json.get("txns").and_then(Value::as_array);
        let transactions = transactions.ok_or("it is not an editing trace: it has no list `txns`")?;
        refuse_concurrent(json, transactions)?;
        let text = |name: &str| {
            let text = json.get(name).and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| format!("it is not an editing trace: it has no text `{name}`"))
        };
        let (start, end) = (text("startContent")?, text("endContent")?);
        let mut length = start.chars().count();
        let mut read = Vec::with_capacity(transactions.len());
        for (at, transaction) in transactions.iter().enumerate() {
            let patches = transaction.get("patches").and_then(Value::as_array);
            let patches = patches.ok_or_else(|| format!("transaction {at} has no list `patches`"))?;
            let patches = patches.iter().map(|patch| {
                let patch = Patch::parse(patch)?;
                length = patch.length_after(length)?;
                Ok(patch)
            });
            let patches: Result<_, String> = patches.collect();
            read.push(patches.map_err(|error| format!("transaction {at}: {error}"))?);
        }
        Ok(Self { start, end, transactions: read })
    }

    /// Returns the number of patches in all transactions together.
    pub(crate) fn patches(&self) -> usize {
        self.transactions.iter().map(Vec::len).sum()
    }
}

/// Refuses a recording of people who edited at the same time: there a transaction begins with the merged
/// texts of several transactions, and not with the text after the previous transaction.
fn refuse_concurrent(json: &Value, transactions: &[Value]) -> Result<(), String> {
    let parents = |at: usize| transactions[at].get("parents").and_then(Value::as_array);
    let is_concurrent = json.get("kind").and_then(Value::as_str) == Some("concurrent");
    if !is_concurrent && (0..transactions.len()).all(|at| parents(at).is_none()) {
        return Ok(());
    }
    let follows = |at: usize, parents: &[Value]| match parents {
        [] => at == 0,
        [parent] => at > 0 && parent.as_u64() == Some(at as u64 - 1),
        _ => false,
    };
    let apart = (0..transactions.len()).find(|&at| !parents(at).is_some_and(|parents| follows(at, parents)));
    let example = apart.map_or(String::new(), |at| {
        let list = parents(at).map_or("none".to_owned(), |parents| serde_json::json!(parents).to_string());
        format!("; for example, the parents of transaction {at} are {list}")
    });
    let agents =
        json.get("numAgents").and_then(Value::as_u64).map_or("several".to_owned(), |n| n.to_string());
    Err(format!(
        "it is a concurrent trace, in which {agents} agents edit at the same time. Each transaction begins with the \
         merged texts of its parents{example}. This example has one document, to which edits are applied one after \
         the other, and it does not merge texts. Use a sequential trace, such as one that is called flat"
    ))
}

impl Patch {
    fn parse(json: &Value) -> Result<Self, String> {
        let number = |at: usize| usize::try_from(json.get(at)?.as_u64()?).ok();
        let inserted = json.get(2).and_then(Value::as_str);
        match (number(0), number(1), inserted) {
            (Some(position), Some(deleted), Some(inserted)) => {
                Ok(Self { position, deleted, inserted: inserted.to_owned() })
            }
            _ => Err(format!("{json} is no patch [position, deleted, inserted]")),
        }
    }

    /// Returns the length of a text after this patch. `length` is its length before.
    fn length_after(&self, length: usize) -> Result<usize, String> {
        let Self { position, deleted, inserted } = self;
        let rest = length.checked_sub(*position).and_then(|behind| behind.checked_sub(*deleted));
        match rest {
            Some(rest) => Ok(position + inserted.chars().count() + rest),
            None => Err(format!("it deletes {deleted} characters at {position} of a text of {length}")),
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
        assert_eq!((trace.start.as_str(), trace.end.as_str(), trace.patches()), ("aéz", "a☃yz", 2));
    }

    /// Returns the error text for a trace with these transactions and these other fields.
    fn refusal(transactions: &Value, others: &Value) -> String {
        let mut json = serde_json::json!({ "startContent": "abc", "endContent": "", "txns": transactions });
        for (name, value) in others.as_object().into_iter().flatten() {
            json[name] = value.clone();
        }
        Trace::parse(&json).expect_err("it is no trace")
    }

    #[test]
    fn a_file_that_is_not_a_trace_is_refused_with_the_reason() {
        let none = serde_json::json!({});
        for (transactions, reason) in [
            (serde_json::json!(7), "no list `txns`"),
            (serde_json::json!([[1]]), "transaction 0 has no list `patches`"),
            (serde_json::json!([{ "patches": [[-1, 0, ""]] }]), "transaction 0: [-1,0,\"\"] is no patch"),
            (
                serde_json::json!([{ "patches": [[3, 0, "de"]] }, { "patches": [[4, 2, ""]] }]),
                "transaction 1: it deletes 2 characters at 4 of a text of 5",
            ),
        ] {
            let refusal = refusal(&transactions, &none);
            assert!(refusal.contains(reason), "{refusal}");
        }
        let refusal = refusal(&serde_json::json!([]), &serde_json::json!({ "endContent": null }));
        assert!(refusal.contains("no text `endContent`"), "{refusal}");
    }

    #[test]
    fn a_trace_of_people_who_edit_at_the_same_time_is_refused_with_the_reason() {
        let transactions = serde_json::json!([
            { "parents": [], "agent": 0, "patches": [[0, 0, "hi"]] },
            { "parents": [0], "agent": 0, "patches": [[2, 0, "!"]] },
            { "parents": [0], "agent": 1, "patches": [[0, 0, "oh "]] },
        ]);
        let others = serde_json::json!({ "kind": "concurrent", "numAgents": 2, "startContent": null });
        let refusal = refusal(&transactions, &others);
        for part in
            ["2 agents edit at the same time", "the parents of transaction 2 are [0]", "sequential trace"]
        {
            assert!(refusal.contains(part), "{refusal}");
        }
    }
}
