//! Prints programs for debugging: parents, and commands step by step.
//!
//! *Invariant:* without `#` the text depends on the source alone. With `#` it depends on the compiler's
//! layout too.

use std::fmt;

use crate::schema::program::{Command, CommandKind, Program};

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = self.layout();
        writeln!(
            f,
            "{}: {} parents, {} commands",
            layout.name(),
            self.parents().len(),
            self.commands().len()
        )?;
        writeln!(f, "parent  commands  handles   property")?;
        for (index, parent) in self.parents().iter().enumerate() {
            let commands = format!("{}..{}", parent.commands.0, parent.commands.1);
            let handles = format!("{}..{}", parent.handles.0, parent.handles.1);
            writeln!(
                f,
                "{index:>6}  {commands:<8}  {handles:<8}  {}",
                layout.property_name(parent.property)
            )?;
        }
        writeln!(f, "command  handle    what")?;
        let mut depth = 0;
        for (index, command) in self.commands().iter().enumerate() {
            if matches!(command.kind, CommandKind::Return) {
                depth = usize::saturating_sub(depth, 1);
            }
            write!(f, "{index:>7}  ")?;
            fmt_command(command, depth, f)?;
            if let CommandKind::Array(_) | CommandKind::Items(_) | CommandKind::Entries(_) = command.kind {
                depth += 1;
            }
        }
        Ok(())
    }
}

fn fmt_command(command: &Command, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let handle = if command.handle == 0 { String::new() } else { command.handle.to_string() };
    let what = match &command.kind {
        CommandKind::Leaf(_) => "leaf".to_owned(),
        CommandKind::Array(array) => {
            let (end, handles) = (array.end, array.handles);
            format!(
                "array to {end}, {handles} {} an element",
                if handles == 1 { "handle" } else { "handles" }
            )
        }
        CommandKind::Items(items) => {
            let (end, handles) = (items.end, items.handles);
            format!("items to {end}, {handles} {} an item", if handles == 1 { "handle" } else { "handles" })
        }
        CommandKind::Entries(entries) => {
            let (end, handles) = (entries.end, entries.handles);
            format!("entries to {end}, {handles} {} a value", if handles == 1 { "handle" } else { "handles" })
        }
        CommandKind::Return => "return".to_owned(),
    };
    let offset = if f.alternate() { format!(" at {}", command.offset) } else { String::new() };
    writeln!(f, "{:<8}  {what}{offset}", format!("{}{handle}", "  ".repeat(depth)))
}
