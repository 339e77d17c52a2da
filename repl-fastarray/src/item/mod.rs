//! Items: what may stand in a fast array, and what an item is told on clients.
//!
//! Invariant: what an item is told of is decided by its derive alone, so an item without callbacks costs no call.

mod callbacks;
mod changed;
mod leaf;
mod update;

use repl_core::__private::ValueCallbacks;
use repl_core::{Layout, Property};

pub use callbacks::{ItemCallbacks, ItemsTold, SaysItemCallbacks};
pub use changed::ChangedProperties;
pub use leaf::LeafItem;
pub use update::ArrayUpdate;
pub(crate) use update::Standing;

/// A type whose values may be items of a [`FastArray`](crate::FastArray) or an [`OrderedFastArray`](crate::OrderedFastArray): a struct that says
/// `#[derive(FastArrayItem)]`; `bool`, numbers, `char`, `String` and `ObjectRef` are items as they are.
///
/// Every field of an item that does not say `skip` is replicated, and one that changed is sent without the others. Fields may be whatever
/// fields of objects may be: structs, `Vec`s, maps, other fast arrays. An item can also stand as it is in a field of an object or of another item,
/// in a `Vec`, or as a value of a map.
///
/// No items are enums, tuples and structs that derive only `NetSerialize` (which travel as a unit) or only `Replicated`: let an item hold
/// them in a field.
///
/// `repl` has an example with callbacks at its module `fast_array`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a fast array",
    label = "not an item",
    note = "on a struct of your own say `#[derive(FastArrayItem)]`, in place of `Replicated` or `NetSerialize` if it says one of these: an \
            item can be a field, too",
    note = "any other type, such as an enum, a `Vec`, a tuple or another fast array, is wrapped in a struct: `#[derive(FastArrayItem, \
            Clone, Default)] struct Entry({Self});`"
)]
pub trait FastArrayItem: Property {
    /// The table of one item: handles, paths, types, widths. Prints as a reviewer reads it.
    const LAYOUT: &'static Layout;

    /// Whether anybody is told what becomes of items: [`OwnCallbacks`] or [`NoCallbacks`].
    #[doc(hidden)]
    type Told: ItemsTold<Self>;
}

/// What the core calls on values of maps that are items.
#[doc(hidden)]
#[must_use]
pub const fn value_callbacks<T: FastArrayItem>() -> Option<ValueCallbacks<T>> {
    if !T::Told::HAS_CALLBACKS {
        return None;
    }
    Some(ValueCallbacks {
        removing: T::Told::removing,
        added: T::Told::added,
        changed: |value, handles| {
            T::Told::changed(value, &ChangedProperties::new(T::LAYOUT, handles));
        },
    })
}
