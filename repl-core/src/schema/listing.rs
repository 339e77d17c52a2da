//! Prints programs for debugging: their parents, and their commands one after another.
//!
//! *Invariant:* text that is formatted without `#` depends only on the source. Text that is formatted with
//! `#` also depends on the compiler's layout.

use std::fmt;

use crate::schema::command::{Command, CommandKind};
use crate::schema::program::Program;

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.layout();
        let (parents, commands) = (self.parents(), self.commands());
        writeln!(f, "{}: {} parents, {} commands", layout.name(), parents.len(), commands.len())?;
        writeln!(f, "parent  commands  handles   property")?;
        for (index, parent) in parents.iter().enumerate() {
            let commands = format!("{}..{}", parent.commands.0, parent.commands.1);
            let handles = format!("{}..{}", parent.handles.0, parent.handles.1);
            let name = layout.property_name(parent.property);
            writeln!(f, "{index:>6}  {commands:<8}  {handles:<8}  {name}")?;
        }
        writeln!(f, "command  handle    what")?;
        let mut depth = 0;
        for (index, command) in commands.iter().enumerate() {
            if matches!(command.kind, CommandKind::Return) {
                depth = usize::saturating_sub(depth, 1);
            }
            write!(f, "{index:>7}  ")?;
            fmt_command(command, depth, f)?;
            depth += usize::from(!matches!(command.kind, CommandKind::Leaf(_) | CommandKind::Return));
        }
        Ok(())
    }
}

/// Returns a description of a command that has inner commands. `end` is the index after the last inner
/// command.
fn inner(what: &str, end: u32, handles: u32, of: &str) -> String {
    format!("{what} to {end}, {handles} {} {of}", if handles == 1 { "handle" } else { "handles" })
}

fn fmt_command(command: &Command, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let handle = if command.handle == 0 { String::new() } else { command.handle.to_string() };
    let what = match &command.kind {
        CommandKind::Leaf(_) => "leaf".to_owned(),
        CommandKind::Array(array) => inner("array", array.end, array.handles, "an element"),
        CommandKind::Enum(command) => {
            let variants = command.shape.variants.len();
            let words = if variants == 1 { "variant" } else { "variants" };
            format!("enum to {}, {variants} {words}", command.end)
        }
        CommandKind::Variant(variant) => inner("variant", variant.end, variant.handles, "in it"),
        CommandKind::Items(items) => inner("items", items.end, items.handles, "an item"),
        CommandKind::Entries(entries) => inner("entries", entries.end, entries.handles, "a value"),
        CommandKind::Return => "return".to_owned(),
    };
    let offset = if f.alternate() { format!(" at {}", command.offset) } else { String::new() };
    writeln!(f, "{:<8}  {what}{offset}", format!("{}{handle}", "  ".repeat(depth)))
}
