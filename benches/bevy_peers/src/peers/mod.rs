//! The compared libraries.

mod lightyear;
mod nothing;
mod repl_bevy;
mod replicon;

use crate::measurement::{Measurement, measure};
use crate::row::Row;

/// The libraries that are compared.
pub(crate) const NAMES: [&str; 3] = ["repl-bevy", "bevy_replicon", "lightyear"];
/// The name of the candidate without a library.
pub(crate) const NOTHING: &str = "nothing";

/// Returns the function that measures a row with a library.
pub(crate) fn named(name: &str) -> Option<fn(Row, usize) -> Measurement> {
    match name {
        NOTHING => Some(measure::<nothing::Nothing>),
        "repl-bevy" => Some(measure::<repl_bevy::Repl>),
        "bevy_replicon" => Some(measure::<replicon::Replicon>),
        "lightyear" => Some(measure::<lightyear::Lightyear>),
        _ => None,
    }
}
