//! The index of a property: identifies one replicated field of a class.
//!
//! *Invariant:* code that uses an index of one class where an index of another class is needed does not
//! compile.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The index of a replicated field of the object type `T`, in the order of declaration. `T` is `()` in code
/// that knows the class of the property in another way.
///
/// [`Replicated::LAYOUT`](crate::Replicated::LAYOUT) finds the index of a property by name:
/// `Player::LAYOUT.property("health")`. Store the index in a constant of the type `PropertyIndex<Player>`: in
/// a constant, a misspelt name is a compile error.
pub struct PropertyIndex<T = ()> {
    index: u16,
    class: PhantomData<fn() -> T>,
}

impl<T> PropertyIndex<T> {
    /// Makes the index of the property that is at `index` in the order of declaration.
    ///
    /// # Panics
    /// Panics if `index` is not below 65,536.
    #[must_use]
    pub const fn new(index: usize) -> Self {
        assert!(index <= u16::MAX as usize, "the index of a property is below 65,536");
        Self { index: index as u16, class: PhantomData }
    }

    /// Returns the index in the order of declaration, counted from zero.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the same index without the object type.
    #[must_use]
    pub const fn erase(self) -> PropertyIndex {
        PropertyIndex { index: self.index, class: PhantomData }
    }
}

impl<T> Clone for PropertyIndex<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PropertyIndex<T> {}

impl<T> PartialEq for PropertyIndex<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<T> Eq for PropertyIndex<T> {}

impl<T> PartialOrd for PropertyIndex<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for PropertyIndex<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.index.cmp(&other.index)
    }
}

impl<T> Hash for PropertyIndex<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

impl<T> fmt::Debug for PropertyIndex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PropertyIndex").field(&self.index).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "below 65,536")]
    fn an_index_that_is_too_large_is_not_another_property() {
        _ = PropertyIndex::<()>::new(0x1_0000);
    }
}
