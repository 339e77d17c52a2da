//! Codecs: exact and short forms for the values of recorded matches.
//!
//! *Invariant:* every written value is read back bit for bit. A value without a short form is written raw (as
//! 32-bit floats) after a flag.

pub(crate) mod body;
mod grid;
mod heading;
pub(crate) mod number;
mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod vector;
mod width;
