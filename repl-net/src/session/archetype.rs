//! Archetypes: numbered sets of initial values of a class, which both sides know.
//!
//! *Invariant:* an archetype number of one class cannot be used for another class, because the class is a
//! type parameter of [`ArchetypeId`].

use std::fmt;
use std::marker::PhantomData;

/// Returns the initial values of an object.
pub(crate) type Archetype<T> = Box<dyn Fn() -> T + Send + Sync>;

/// Identifies a set of initial values of the class `T`, known to both sides. See
/// [`Server::register_archetype`](crate::Server::register_archetype).
///
/// The default is the archetype that every class has. Its initial values are the values of `T::default()`.
pub struct ArchetypeId<T> {
    number: u32,
    class: PhantomData<fn() -> T>,
}

impl<T> ArchetypeId<T> {
    pub(crate) const fn new(number: u32) -> Self {
        Self { number, class: PhantomData }
    }

    /// Returns the number of the archetype: the archetypes of a class are numbered from 1 in the order of
    /// registration, and 0 means `T::default()`.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }
}

impl<T> Default for ArchetypeId<T> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<T> Clone for ArchetypeId<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ArchetypeId<T> {}

impl<T> PartialEq for ArchetypeId<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for ArchetypeId<T> {}

impl<T> fmt::Debug for ArchetypeId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArchetypeId").field(&self.number).finish()
    }
}
