//! Formats tables as text with aligned columns.
//!
//! *Invariant:* a line never ends with a space.

use std::fmt;

/// The title of the column that is aligned to the right.
const ALIGNED_RIGHT: &str = "bits";

/// A table as text: a line with titles, and a line for each row. Each column is as wide as its widest cell.
pub struct Columns {
    /// The first row has the titles.
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Makes a table without rows.
    #[must_use]
    pub fn new(titles: &[&str]) -> Self {
        Self { rows: vec![titles.iter().map(|&title| title.to_owned()).collect()] }
    }

    /// Adds a row, with a cell for each column.
    pub fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = self.rows.first().into_iter().flatten();
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row: &Vec<String>| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let columns: Vec<_> =
            titles.enumerate().map(|(column, title)| (widest(column), title == ALIGNED_RIGHT)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, &(width, is_right)) in row.iter().zip(&columns) {
                let cell = if is_right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
                line.push_str(&cell);
                line.push_str("  ");
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
