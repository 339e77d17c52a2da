//! Codecs: the exact and short forms of what the recorded matches hold.
//!
//! *Invariant:* whatever is written is read back bit for bit; a value that has no short form travels raw behind an escape.

pub(crate) mod body;
mod grid;
mod heading;
pub(crate) mod number;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod vector;
mod width;
