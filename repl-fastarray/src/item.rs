//! Items: what may stand in a fast array, and what an item is told on clients.
//!
//! Invariant: callbacks run on clients only, after an update has been accepted as a whole; what was not touched is told nothing.

use std::fmt;

use repl_core::__private::ValueCallbacks;
use repl_core::{HandleSet, Layout, ObjectRef, Property};

use crate::update::ArrayUpdate;

/// A type whose values may be items of a [`FastArray`](crate::FastArray). Derive it; bool, numbers, char, `String` and `ObjectRef` are items as
/// they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a fast array",
    label = "not an item",
    note = "say `#[derive(FastArrayItem)]` on it"
)]
pub trait FastArrayItem: Property + ItemCallbacks {
    /// The table of one item: handles, paths, types, widths. Prints as a reviewer reads it.
    const LAYOUT: &'static Layout;
}

/// Calls on the items of a client's array, and on the array, around what it receives. All do nothing unless overridden: say
/// `#[replicated(callbacks)]` on the item and write `impl ItemCallbacks for` it.
///
/// For one update (S178): [`pre_replicated_remove`](Self::pre_replicated_remove) for each item that goes, first those whose removal was
/// told, in the order of the telling, then those that an update implied, by index; [`pre_replicated_removes`](Self::pre_replicated_removes);
/// [`post_replicated_add`](Self::post_replicated_add) for each that came, and [`post_replicated_adds`](Self::post_replicated_adds);
/// [`post_replicated_change`](Self::post_replicated_change) for each that changed, and
/// [`post_replicated_changes`](Self::post_replicated_changes). Only then are items taken out, each replaced by the last, from the highest index
/// down (S180), and [`post_replicated_receive`](Self::post_replicated_receive) closes. Afterwards the notify of the field runs (S181).
///
/// Items that are values of a map are told by the three functions for items alone, as [`Map`](repl_core::Map) says.
///
/// Until items are taken out all indices stay what they are, and items that go are still there (S179). The functions for the array are called in
/// every update in which any item came, changed or went, even if their own list is empty; an update that leaves the array as it was calls
/// nothing.
pub trait ItemCallbacks: Sized {
    /// Whether there is anything to call; the derive's own implementation says no.
    #[doc(hidden)]
    const HAS_CALLBACKS: bool = true;

    /// The item is about to go.
    fn pre_replicated_remove(&mut self) {}
    /// The item came, and has its values.
    fn post_replicated_add(&mut self) {}
    /// Some properties of the item have other values than before.
    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        let _ = changed;
    }

    /// The items at `update.indices()` are about to go; `update.final_len()` will be left.
    fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// The items at `update.indices()` came.
    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// The items at `update.indices()` changed.
    fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// All is done. `update.old_len()` items were there before, and `update.indices()` is empty.
    fn post_replicated_receive(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
}

/// What the core calls on values of maps that are items.
#[doc(hidden)]
#[must_use]
pub const fn value_callbacks<T: FastArrayItem>() -> Option<ValueCallbacks<T>> {
    if !T::HAS_CALLBACKS {
        return None;
    }
    Some(ValueCallbacks {
        removing: T::pre_replicated_remove,
        added: T::post_replicated_add,
        changed: |value, handles| {
            value.post_replicated_change(&ChangedProperties { layout: T::LAYOUT, handles });
        },
    })
}

/// Which properties of an item an update gave other values.
#[derive(Clone, Copy)]
pub struct ChangedProperties<'a> {
    layout: &'static Layout,
    handles: &'a HandleSet,
}

impl<'a> ChangedProperties<'a> {
    /// Those with a handle in `handles`, which are those of an item with this layout.
    #[must_use]
    pub fn new(layout: &'static Layout, handles: &'a HandleSet) -> Self {
        Self { layout, handles }
    }

    /// Whether the property called `name` changed, or anything in it.
    ///
    /// # Panics
    /// If the item has no such property.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        let property = self.layout.property(name);
        self.layout.handles_of(property).any(|handle| self.handles.contains(handle))
    }

    /// The names of those that changed, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        let all = (0..self.layout.properties()).map(repl_core::PropertyIndex::new);
        all.map(|property| self.layout.property_name(property)).filter(|name| self.contains(name))
    }

    /// The handles of those that changed, counted from one.
    #[must_use]
    pub fn handles(&self) -> &'a HandleSet {
        self.handles
    }
}

impl fmt::Debug for ChangedProperties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Makes types that are one leaf items without callbacks, whose only property is called `0`.
macro_rules! leaves {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        impl<$($generics)*> ItemCallbacks for $type {
            const HAS_CALLBACKS: bool = false;
        }

        impl<$($generics)*> FastArrayItem for $type {
            const LAYOUT: &'static Layout = &Layout::of::<(Self,)>();
        }
    )*};
}

leaves! {
    [] bool, [] char, [] String,
    [] u8, [] u16, [] u32, [] u64, [] u128, [] usize,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize,
    [] f32, [] f64,
    [T: ?Sized + 'static] ObjectRef<T>,
}
