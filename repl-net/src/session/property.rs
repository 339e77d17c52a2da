//! Checks of property indices that the user passes.
//!
//! *Invariant:* an index is checked before it is used.

use repl_core::{PropertyIndex, Replicated};

/// # Panics
/// Panics if `T` has no property with this index.
#[track_caller]
#[inline]
pub(crate) fn assert_property<T: Replicated>(property: PropertyIndex<T>) {
    let (name, index) = (T::LAYOUT.name(), property.index());
    assert!(
        index < T::LAYOUT.properties(),
        "`{name}` has no property number {index}: ask for one by its name with `{name}::LAYOUT.property`",
    );
}
