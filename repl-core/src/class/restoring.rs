//! Restores an object that a client's user has edited to the values that the server sent.
//!
//! *Invariant:* the base of an object (a copy on the client) has exactly the values that the server sent. So
//! a restored object has the same values as an object without edits.

use super::Class;
use crate::ids::handles::HandleSet;
use crate::ids::reference::{Objects, ReferenceMap};
use crate::object::equality::{Answer, same_level};
use crate::object::restore::Restore;
use crate::schema::replicated::Replicated;

impl<T: Replicated> Class<T> {
    /// Returns a base for an object of a client: a copy with the current replicated values of the object.
    #[must_use]
    pub fn base_of(&self, object: &T) -> T {
        let mut base = self.shadow_of(object);
        self.make_replica(&mut base);
        self.follow_edits(object, &mut base, self.keyed());
        base
    }

    /// Returns whether an object has the same replicated values as its base. Costs O(size of the object).
    #[must_use]
    pub fn equals_base(&self, object: &T, base: &T) -> bool {
        same_level(self.level(base), self.level(object), Answer::Base)
    }

    /// Restores the properties of `handles`: values, elements, order and ids become the same as in `base`,
    /// and items that the user has added are removed. Map entries whose keys refer to objects that do not
    /// exist stay hidden. No callback runs. Costs O(size of the properties).
    pub fn restore(&self, (object, base): (&mut T, &mut T), handles: &HandleSet, objects: &dyn Objects) {
        let restore = Restore { objects, calls_back: false, is_thorough: true };
        self.restore_by(restore, (object, base), handles);
        self.conclude(object, false);
    }

    /// Restores the properties of `handles` during an update, before the update reads new values of these
    /// properties. Items that the user has added stay, and callbacks run when the update ends.
    pub fn restore_for_update(
        &self,
        (object, base): (&mut T, &mut T),
        handles: &HandleSet,
        references: &ReferenceMap<'_>,
    ) {
        let restore = Restore { objects: references.objects(), calls_back: true, is_thorough: false };
        self.restore_by(restore, (object, base), handles);
    }

    fn restore_by(&self, restore: Restore<'_>, (object, base): (&mut T, &mut T), handles: &HandleSet) {
        let (from, mut to) = (self.level(base), self.level_mut(object));
        handles.iter().for_each(|handle| restore.property(from, &mut to, handle));
        self.follow_edits(object, base, handles);
    }
}
