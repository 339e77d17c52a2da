//! The inquiry: how a server finds the first difference between a client's classes and its own. The server
//! asks for the classes, and then for the parts of one class. The client answers with lists of names and
//! checksums (R21).
//!
//! *Invariant:* the server stores one answer of limited size at a time, whatever the client sends.

use std::collections::BTreeMap;

use repl_core::{BitReader, BitWriter, ReadError};

use crate::session::name::{MAX_NAME_BYTES, cut, read_name, write_name};

/// The greatest number of entries in an answer.
pub(crate) const MAX_ENTRIES: usize = 4_096;
/// The greatest number of packets that an answer may take.
const MAX_PARTS: u64 = 1_024;
/// The greatest number of bytes of memory that an answer may occupy on the server.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// A question that the server asks about the client's classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Question {
    /// Asks for the names and checksums of all classes.
    #[default]
    Classes,
    /// Asks for the parts of a class: their paths, wire forms and checksums, in the order of declaration.
    Forms { class: String },
    /// Asks for the archetypes (sets of initial values) of a class: one checksum for each archetype. The
    /// archetype of `Default` is the first.
    Archetypes { class: String },
    /// Asks for the initial values in an archetype: the names of the properties and the checksums of their
    /// values, in the order of declaration.
    Values { class: String, archetype: u32 },
}

impl Question {
    pub(crate) fn write(&self, writer: &mut BitWriter) {
        let (tag, class) = match self {
            Self::Classes => (0, None),
            Self::Forms { class } => (1, Some(class)),
            Self::Archetypes { class } => (2, Some(class)),
            Self::Values { class, .. } => (3, Some(class)),
        };
        writer.write_bits(tag, 2);
        if let Some(class) = class {
            write_name(class, MAX_NAME_BYTES, writer);
        }
        if let Self::Values { archetype, .. } = self {
            writer.write_bits((*archetype).into(), 32);
        }
    }

    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Ok(match reader.read_bits(2)? {
            0 => Self::Classes,
            1 => Self::Forms { class: read_name(reader)? },
            2 => Self::Archetypes { class: read_name(reader)? },
            _ => Self::Values { class: read_name(reader)?, archetype: reader.read_bits(32)? as u32 },
        })
    }
}

/// One entry of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerEntry {
    /// The name of a class or property, or the path of a part. Empty for an archetype (a set of initial
    /// values).
    pub name: String,
    /// The form on the wire. Empty if the question does not ask for forms.
    pub form: String,
    pub sum: u64,
}

impl AnswerEntry {
    /// Creates an entry. The texts of the entry are cut to the greatest length that is sent.
    pub(crate) fn new(name: &str, form: &str, sum: u64) -> Self {
        let cut = |text| cut(text, MAX_NAME_BYTES).to_owned();
        Self { name: cut(name), form: cut(form), sum }
    }

    /// Returns about how many bytes the entry occupies in a packet.
    fn packet_bytes(&self) -> usize {
        self.name.len().saturating_add(self.form.len()).saturating_add(14)
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>().saturating_add(self.name.len()).saturating_add(self.form.len())
    }
}

/// One packet of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub question: Question,
    pub part: u64,
    pub parts: u64,
    pub entries: Vec<AnswerEntry>,
}

impl Part {
    pub(crate) fn write(&self, writer: &mut BitWriter) {
        self.question.write(writer);
        writer.write_exp_golomb(self.part, 0);
        writer.write_exp_golomb(self.parts, 0);
        for entry in &self.entries {
            writer.write_flag(true);
            write_name(&entry.name, MAX_NAME_BYTES, writer);
            write_name(&entry.form, MAX_NAME_BYTES, writer);
            writer.write_bits(entry.sum, 64);
        }
        writer.write_flag(false);
    }

    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let question = Question::read(reader)?;
        let (part, parts) = (reader.read_exp_golomb(0)?, reader.read_exp_golomb(0)?);
        if part >= parts || parts > MAX_PARTS {
            return Err(ReadError::OutOfRange);
        }
        let mut entries = Vec::new();
        while reader.read_flag()? {
            entries.push(AnswerEntry {
                name: read_name(reader)?,
                form: read_name(reader)?,
                sum: reader.read_bits(64)?,
            });
        }
        Ok(Self { question, part, parts, entries })
    }
}

/// Splits an answer into packets of at most `mtu_bytes`.
pub(crate) fn parts_of(question: &Question, mut entries: Vec<AnswerEntry>, mtu_bytes: usize) -> Vec<Part> {
    entries.truncate(MAX_ENTRIES);
    let class_bytes = match question {
        Question::Classes => 0,
        Question::Forms { class } | Question::Archetypes { class } | Question::Values { class, .. } => {
            cut(class, MAX_NAME_BYTES).len()
        }
    };
    let room = mtu_bytes.saturating_sub(class_bytes).saturating_sub(24);
    let mut parts: Vec<Vec<AnswerEntry>> = vec![Vec::new()];
    let mut used = 0_usize;
    for entry in entries {
        let bytes = entry.packet_bytes();
        if used > 0 && used.saturating_add(bytes) > room {
            parts.push(Vec::new());
            used = 0;
        }
        used = used.saturating_add(bytes);
        if let Some(part) = parts.last_mut() {
            part.push(entry);
        }
    }
    parts.truncate(MAX_PARTS as usize);
    let count = parts.len() as u64;
    let question =
        |entries: Vec<AnswerEntry>, part| Part { question: question.clone(), part, parts: count, entries };
    (0..).zip(parts).map(|(part, entries)| question(entries, part)).collect()
}

/// The server's state of an inquiry: the last question, and the packets of its answer that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Inquiry {
    question: Question,
    parts: BTreeMap<u64, Vec<AnswerEntry>>,
    entries: usize,
    bytes: usize,
}

/// The state of an answer after one more part of it has arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Other parts of the answer are still missing.
    Incomplete,
    /// The part belongs to the answer of an earlier question. Perhaps the packet with the current question
    /// was lost.
    Outdated,
    /// The answer is complete.
    Answered(Vec<AnswerEntry>),
}

impl Inquiry {
    pub(crate) fn asking(question: Question) -> Self {
        Self { question, ..Self::default() }
    }

    pub(crate) fn question(&self) -> &Question {
        &self.question
    }

    /// Adds a part of an answer that has arrived.
    ///
    /// # Errors
    /// Returns an error if the answer has more entries or takes more memory than the answer of any correct
    /// client.
    pub(crate) fn take(&mut self, part: Part) -> Result<Progress, ReadError> {
        if part.question != self.question {
            return Ok(Progress::Outdated);
        }
        if !self.parts.contains_key(&part.part) {
            self.entries = self.entries.saturating_add(part.entries.len());
            let bytes = part.entries.iter().map(AnswerEntry::memory_bytes);
            self.bytes = bytes.fold(self.bytes, usize::saturating_add);
            for (len, max) in [(self.entries, MAX_ENTRIES), (self.bytes, MAX_ANSWER_BYTES)] {
                if len > max {
                    return Err(ReadError::TooLong { len, max });
                }
            }
            self.parts.insert(part.part, part.entries);
        }
        if (self.parts.len() as u64) < part.parts {
            return Ok(Progress::Incomplete);
        }
        let parts = std::mem::take(&mut self.parts);
        (self.entries, self.bytes) = (0, 0);
        Ok(Progress::Answered(parts.into_values().flatten().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize, bytes: usize) -> Vec<AnswerEntry> {
        (0..count).map(|at| AnswerEntry::new(&format!("{at:0>bytes$}"), "form", at as u64)).collect()
    }

    #[test]
    fn r21_an_answer_arrives_whole_in_any_order_and_however_often() {
        let question = Question::Forms { class: "Ship".into() };
        let parts = parts_of(&question, entries(40, 12), 128);
        assert!(parts.len() > 5);
        let mut inquiry = Inquiry::asking(question);
        for part in parts.iter().skip(1).rev().chain(parts.iter().skip(1)) {
            assert_eq!(inquiry.take(part.clone()), Ok(Progress::Incomplete));
        }
        assert_eq!(inquiry.take(parts[0].clone()), Ok(Progress::Answered(entries(40, 12))));
    }

    #[test]
    fn r21_parts_fit_the_packet_whatever_the_names() {
        for (bytes, mtu_bytes) in [(1, 128), (40, 128), (128, 400), (300, 1_200)] {
            let question = Question::Values { class: "Ship".into(), archetype: 7 };
            for part in parts_of(&question, entries(50, bytes), mtu_bytes) {
                let mut writer = BitWriter::new();
                part.write(&mut writer);
                let len = writer.finish().len() + 5;
                assert!(len <= mtu_bytes, "{len} bytes of {mtu_bytes}");
            }
        }
    }

    #[test]
    fn r21_an_answer_that_no_honest_client_gives_is_refused() {
        let take = |inquiry: &mut Inquiry, part, entries| {
            inquiry.take(Part { question: Question::Classes, part, parts: MAX_PARTS, entries })
        };
        let mut inquiry = Inquiry::default();
        assert_eq!(take(&mut inquiry, 0, entries(MAX_ENTRIES, 8)), Ok(Progress::Incomplete));
        let error = ReadError::TooLong { len: MAX_ENTRIES + 1, max: MAX_ENTRIES };
        assert_eq!(take(&mut inquiry, 1, entries(1, 8)), Err(error));
        let mut inquiry = Inquiry::default();
        let longest = AnswerEntry::new(&"n".repeat(MAX_NAME_BYTES), &"f".repeat(MAX_NAME_BYTES), 0);
        let large = take(&mut inquiry, 0, vec![longest; MAX_ENTRIES]);
        assert!(matches!(large, Err(ReadError::TooLong { max: MAX_ANSWER_BYTES, .. })), "{large:?}");
    }

    #[test]
    fn r21_an_answer_to_an_earlier_question_is_recognised() {
        let mut inquiry = Inquiry::asking(Question::Archetypes { class: "Ship".into() });
        let part = Part { question: Question::Classes, part: 0, parts: 1, entries: Vec::new() };
        assert_eq!(inquiry.take(part), Ok(Progress::Outdated));
    }
}
