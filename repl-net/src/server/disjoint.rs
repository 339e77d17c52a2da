//! Several objects lent at once, to be changed together.
//!
//! *Invariant:* no object is lent twice, and what is lent is compared at the next tick.

use repl_core::{ObjectRef, Replicated};

use super::Server;

impl Server {
    /// Two objects to be changed at once, of one class or of two, as [`get_mut`](Self::get_mut) lends one. `None` if either is gone or
    /// both are the same object.
    ///
    /// ```
    /// # use repl_net::Server;
    /// # use repl_core::{ObjectRef, Replicated};
    /// fn swap<T: Replicated>(server: &mut Server, one: ObjectRef<T>, other: ObjectRef<T>) {
    ///     if let Some((one, other)) = server.get_pair_mut(one, other) {
    ///         std::mem::swap(one, other);
    ///     }
    /// }
    /// ```
    pub fn get_pair_mut<A: Replicated, B: Replicated>(
        &mut self,
        first: ObjectRef<A>,
        second: ObjectRef<B>,
    ) -> Option<(&mut A, &mut B)> {
        self.world.get_pair_mut(first, second)
    }

    /// Several objects of one class to be changed at once, as [`get_mut`](Self::get_mut) lends one. `None` if any of them is gone or
    /// stands twice among them. O(N²), so for a few; [`objects_mut`](Self::objects_mut) lends all.
    pub fn get_disjoint_mut<T: Replicated, const N: usize>(
        &mut self,
        objects: [ObjectRef<T>; N],
    ) -> Option<[&mut T; N]> {
        self.world.get_disjoint_mut(objects)
    }
}
