//! Decoding: the reverse of [`encode`](crate::wire::encode). Each update is read twice: first to validate it,
//! then to apply it.
//!
//! *Invariant:* an update is applied only after it was validated (R20), and applying cannot fail. Both passes
//! read the same bits in the same way, and the first pass records the ends of the values that user code
//! reads.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod collection;
mod edits;
mod pass;
mod recipient;
mod target;
mod values;
mod walk;

pub(crate) use pass::{Applying, Validating};
pub(crate) use recipient::{Hide, Lent, Recipient};
pub(crate) use target::{ElementTarget, ReadElement, Target, Validation};
pub use walk::Observer;
pub(crate) use walk::{Path, Walk};
