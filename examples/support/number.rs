//! Numbers on a command line.
//!
//! *Invariant:* a number that was read lies within its bounds.

/// A number from `least` to `most`.
///
/// # Errors
/// In words that say what to write instead.
pub(crate) fn number<T>(option: &str, text: &str, least: T, most: T) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    match text.parse() {
        Ok(value) if value >= least && value <= most => Ok(value),
        _ => Err(format!("{option} takes a number from {least} to {most}, not {text:?}")),
    }
}
