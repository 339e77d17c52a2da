//! Prints the table of the calls of a class.
//!
//! *Invariant:* the text depends only on the source, and shows everything that the options of the calls say.

use std::fmt;

use super::table::{CallEntry, CallTable};

/// A row: a call, or one of its parameters.
struct Row {
    number: String,
    name: String,
    type_name: String,
    bits: String,
    remarks: String,
}

impl Row {
    fn of_call(number: usize, call: &CallEntry) -> Self {
        Self {
            number: number.to_string(),
            name: call.name.to_owned(),
            type_name: call.kind_text(),
            bits: String::new(),
            remarks: remarks(call),
        }
    }
}

/// Returns the options of a call, without its kind and reliability.
fn remarks(call: &CallEntry) -> String {
    let flags = [(call.is_validated, "validated"), (call.waits, "waits"), (call.is_polled, "polled")];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_owned());
    call.rate_text().into_iter().chain(flags).collect::<Vec<_>>().join(", ")
}

/// Returns the rows of the parameters of a call.
fn parameters(call: &CallEntry) -> impl Iterator<Item = Row> {
    call.parameters.iter().map(|parameter| Row {
        number: String::new(),
        name: format!("  {}", parameter.name),
        type_name: parameter.field.type_name(),
        bits: parameter.field.bits_text(),
        remarks: String::new(),
    })
}

impl fmt::Display for CallTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![Row {
            number: "call".to_owned(),
            name: "name".to_owned(),
            type_name: "type".to_owned(),
            bits: "bits".to_owned(),
            remarks: "remarks".to_owned(),
        }];
        for (number, call) in self.calls().iter().enumerate() {
            rows.push(Row::of_call(number, call));
            rows.extend(parameters(call));
        }
        let width = |column: fn(&Row) -> &String| {
            rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
        };
        let (numbers, names) = (width(|row| &row.number), width(|row| &row.name));
        let (types, bits) = (width(|row| &row.type_name), width(|row| &row.bits));
        let calls = if self.len() == 1 { "call" } else { "calls" };
        writeln!(f, "{}: {} {calls}", self.class(), self.len())?;
        for Row { number, name, type_name, bits: row_bits, remarks } in &rows {
            let line = format!(
                "{number:<numbers$}  {name:<names$}  {type_name:<types$}  {row_bits:>bits$}  {remarks}"
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl fmt::Debug for CallTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
