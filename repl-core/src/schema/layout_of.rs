//! The layout of an object type `T`, which makes property indices for `T`.
//!
//! *Invariant:* code that uses an index of one class where an index of another class is needed does not
//! compile.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::ids::property_index::PropertyIndex;
use crate::schema::layout::Layout;

/// The [`Layout`] of the object type `T`. The property indices that this layout returns are valid only for
/// `T`. `LayoutOf` is printed in the same way as the layout.
pub struct LayoutOf<T> {
    table: &'static Layout,
    class: PhantomData<fn() -> T>,
}

impl<T> LayoutOf<T> {
    /// Wraps a layout as the layout of `T`. Only code that the derive generates calls this function.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(table: &'static Layout) -> Self {
        Self { table, class: PhantomData }
    }

    /// Returns the layout without its type parameter.
    #[must_use]
    pub const fn table(&self) -> &'static Layout {
        self.table
    }

    /// Returns the index of the property called `name`, to mark the property or to set its condition at run
    /// time.
    ///
    /// # Panics
    /// Panics if there is no such property. In a constant, this panic is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn property(&self, name: &str) -> PropertyIndex<T> {
        PropertyIndex::new(self.table.property(name).index())
    }
}

impl<T> Deref for LayoutOf<T> {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        self.table
    }
}

impl<T> fmt::Display for LayoutOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.table, f)
    }
}

impl<T> fmt::Debug for LayoutOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.table, f)
    }
}
