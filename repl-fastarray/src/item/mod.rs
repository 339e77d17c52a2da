//! Items: the types that a fast array can hold, and their callbacks on clients.
//!
//! *Invariant:* only the derive macro decides whether an item has callbacks, so an update calls no functions
//! for items without callbacks.

mod callbacks;
mod changed;
mod leaf;
mod update;

use repl_core::__private::ValueCallbacks;
use repl_core::{Layout, Property};

pub use callbacks::{ItemCallbackPolicy, ItemCallbacks, SaysItemCallbacks};
pub use changed::ChangedProperties;
pub use leaf::LeafItem;
pub use update::ArrayUpdate;
pub(crate) use update::ItemAccess;

/// A type that can be an item of a [`FastArray`](crate::FastArray) or an
/// [`OrderedFastArray`](crate::OrderedFastArray). A struct becomes an item type with
/// `#[derive(FastArrayItem)]`. `bool`, numbers, `char`, `String` and `ObjectRef` can be items without a
/// derive.
///
/// Every field of an item is replicated, unless it is marked `skip`. A changed field of an item is sent
/// without the other fields. The fields may have all types that fields of objects may have, for example
/// structs, `Vec`s, maps and other fast arrays. An item type can also be the type of a field of an object or
/// of another item, of an element of a `Vec`, or of a value of a map.
///
/// The following types cannot be items: enums, tuples, and structs that derive only `NetSerialize` (which are
/// sent as a unit) or only `Replicated`. To use a value of such a type, put it into a field of an item.
///
/// The module `fast_array` of `repl` has an example with callbacks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a fast array",
    label = "not an item",
    note = "on a struct of your own, write `#[derive(FastArrayItem)]` instead of `Replicated` or `NetSerialize`; such a struct can also be a field",
    note = "any other type, such as an enum, a `Vec`, a tuple or another fast array, is wrapped in a struct: `#[derive(FastArrayItem, \
            Clone, Default)] struct Entry({Self});`"
)]
pub trait FastArrayItem: Property {
    /// The layout of one item: the handles (numbers), paths, types and widths of its values. The layout of an
    /// item can be printed as a readable table.
    const LAYOUT: &'static Layout;

    /// Whether the item has callbacks: [`OwnCallbacks`] or [`NoCallbacks`].
    #[doc(hidden)]
    type CallbackPolicy: ItemCallbackPolicy<Self>;
}

/// Returns the callbacks that `repl-core` calls for items that are values of maps.
#[doc(hidden)]
#[must_use]
pub const fn value_callbacks<T: FastArrayItem>() -> Option<ValueCallbacks<T>> {
    if !T::CallbackPolicy::HAS_CALLBACKS {
        return None;
    }
    Some(ValueCallbacks {
        removing: T::CallbackPolicy::removing,
        added: T::CallbackPolicy::added,
        changed: |value, handles| {
            T::CallbackPolicy::changed(value, &ChangedProperties::new(T::LAYOUT, handles));
        },
    })
}
