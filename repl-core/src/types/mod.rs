//! Which types can be fields: those of the standard library and of other crates.
//!
//! *Invariant:* no other module names one of these types.

pub(crate) mod foreign;
pub(crate) mod maps;
pub(crate) mod std;
pub(crate) mod unit;
pub(crate) mod units;
pub(crate) mod within;
