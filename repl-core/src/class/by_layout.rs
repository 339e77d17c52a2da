//! [`ByLayout`] prints an object as text, with the layout of its class.
//!
//! *Invariant:* only replicated values are printed, each with its path in the printed layout.

use std::fmt;

use super::Class;
use crate::ids::identity::Identity;
use crate::object::level::{Elements, Level, Slot};
use crate::schema::display::path;
use crate::schema::layout::Layout;
use crate::schema::replicated::Replicated;

/// Prints the replicated values of an object with its layout, for logs and debugging. The class need not
/// implement `Debug`. Each value follows its path in the printed layout, for example `bag{3}.count`. The keys
/// of maps, `None` and empty collections are left out. For a value that is sent as a unit, only the number of
/// its bits is printed. Costs O(size of the object). Printing an object of a generic class also makes the
/// program of the class.
///
/// ```
/// # use repl_core as repl;
/// # use repl_core::Replicated;
/// use repl::ByLayout;
/// fn log<T: Replicated>(object: &T) {
///     println!("{:?}", ByLayout(object)); // Player { health: 3, position[0]: 1.5, position[1]: 0.0 }
/// }
/// ```
pub struct ByLayout<'a, T>(
    /// The object.
    pub &'a T,
);

impl<T: Replicated> fmt::Debug for ByLayout<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = Class::<T>::new();
        let layout = class.program().layout();
        let mut fields = f.debug_struct(layout.name());
        let mut print = Print { layout, steps: Vec::new(), fields: &mut fields };
        print.level(class.level(self.0), 1);
        fields.finish()
    }
}

/// Prints the values of an object, and then the values of its elements.
struct Print<'p, 'a, 'b> {
    layout: &'p Layout,
    /// The handles on the path to the current value.
    steps: Vec<u32>,
    fields: &'p mut fmt::DebugStruct<'a, 'b>,
}

impl Print<'_, '_, '_> {
    /// Prints the values of a level (the handles of an object, or of one element). `first` is the number of
    /// the first handle of this level in the path.
    fn level(&mut self, level: Level<'_>, first: u32) {
        for (slot, handle) in level.slots().zip(first..) {
            self.steps.push(handle);
            self.slot(slot);
            self.steps.pop();
        }
    }

    fn slot(&mut self, slot: Slot<'_>) {
        match slot {
            Slot::Leaf(leaf) => _ = self.fields.field(&path(self.layout, &self.steps), &leaf),
            Slot::Array(array) => {
                for index in 0..array.len() {
                    if let Some(element) = array.element(index) {
                        self.level(element, array.step(index, 1));
                    }
                }
            }
            Slot::Items(items) => self.elements(items),
            Slot::Entries(entries) => self.elements(entries),
        }
    }

    fn elements<I: Identity>(&mut self, elements: Elements<'_, I>) {
        for id in elements.collection.ids() {
            let before = self.steps.len();
            self.steps.extend(id.steps());
            if let Some(element) = elements.element(&id) {
                self.level(element, 1);
            }
            self.steps.truncate(before);
        }
    }
}
