//! Prints the table of the calls of a class.
//!
//! *Invariant:* the text depends only on the source code, and shows all options of the calls.

use std::fmt;

use repl_core::__private::{Columns, UnitTables};

use super::table::{CallEntry, CallTable};

/// Returns the options of a call as text, without its kind and reliability.
fn remarks(call: &CallEntry) -> String {
    let flags = [(call.is_validated, "validated"), (call.waits, "waits"), (call.is_polled, "polled")];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name.to_owned());
    call.rate_text().into_iter().chain(flags).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for CallTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Columns::new(&["call", "name", "type", "bits", "remarks"]);
        for (number, call) in self.calls().iter().enumerate() {
            let name = call.name.to_owned();
            table.push([number.to_string(), name, call.kind_text(), String::new(), remarks(call)]);
            for [path, type_name, bits] in
                call.parameters.iter().flat_map(|parameter| parameter.field.rows(parameter.name))
            {
                table.push([String::new(), format!("  {path}"), type_name, bits, String::new()]);
            }
        }
        let units = UnitTables::of(self.calls().iter().flat_map(|call| call.parameters).map(|one| one.field));
        let calls = if self.len() == 1 { "call" } else { "calls" };
        write!(f, "{}: {} {calls}\n{table}{units}", self.class(), self.len())
    }
}

impl fmt::Debug for CallTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
