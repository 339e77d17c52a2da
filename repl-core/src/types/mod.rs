//! Types that can be fields: types of the standard library and of other crates.
//!
//! *Invariant:* other folders, such as `object` and `schema`, access the types of fields only through their
//! shapes, and import nothing from this folder.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod confirmed;
pub(crate) mod converted;
pub(crate) mod delta_module;
pub(crate) mod differences;
pub(crate) mod foreign;
pub(crate) mod maps;
pub(crate) mod std;
pub(crate) mod unit;
pub(crate) mod units;
pub(crate) mod within;
