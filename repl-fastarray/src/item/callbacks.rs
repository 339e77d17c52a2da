//! Item callbacks: functions that a client calls when items of an array arrive, change or are removed.
//!
//! *Invariant:* callbacks run only on clients, only after the whole packet was validated, and only for items
//! that the update changes.

use repl_core::__private::{NoCallbacks, OwnCallbacks};

use super::changed::ChangedProperties;
use super::update::ArrayUpdate;

/// Callbacks that a client calls for the items of an array, and for the array itself, when an update from the
/// server arrives. Every function of `ItemCallbacks` does nothing by default. To use item callbacks, write
/// `#[replicated(callbacks)]` on the item and `impl ItemCallbacks for` it.
///
/// The callbacks report items that are added to, changed in or removed from an array, as long as the array
/// itself remains. **No callback of an item runs**
///
/// - when the array is removed together with all its items. The following cases remove a whole array: its
///   object is despawned or becomes irrelevant; an `Option` around the array becomes `None`; the map entry,
///   the `Vec` element or the item of another array that contains the array is removed. In these cases, your
///   code must undo the effects of the items itself: in the notify or the callbacks of the value that
///   contains the array, or when the client reports that the object no longer exists;
/// - for an array that is sent as part of a unit: in an enum, in a struct that derives only `NetSerialize`,
///   in a field with `atomic` or `with`. Every update of the unit replaces all items of the array;
/// - for changes that the client's own code makes.
///
/// One update calls these functions in this order:
///
/// - [`pre_replicated_remove`](Self::pre_replicated_remove) for each item that will be removed. The items
///   that the update lists come first, in the order of the update. After these come the items that the update
///   removes without listing them, in the order of their indices. After all these callbacks,
///   [`pre_replicated_removes`](Self::pre_replicated_removes) runs once;
/// - [`post_replicated_add`](Self::post_replicated_add) for each new item, and then
///   [`post_replicated_adds`](Self::post_replicated_adds) once;
/// - [`post_replicated_change`](Self::post_replicated_change) for each changed item, and then
///   [`post_replicated_changes`](Self::post_replicated_changes) once;
/// - at this point the items are removed. In a [`FastArray`](crate::FastArray) the removal begins at the
///   highest index, and each removed item is replaced by the last item;
/// - [`post_replicated_receive`](Self::post_replicated_receive) once, at the end of the update;
/// - the notify of the field.
///
/// For items that are values of a map, only the three functions for single items are called.
/// [`Map`](repl_core::Map) describes these callbacks.
///
/// Until items are removed, all indices stay the same, and items that will be removed are still in the array.
/// If any item is added, changed or removed, all functions for the whole array are called, even if there are
/// no items for some of them. For an update that does not change the array, no function is called.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the attribute `callbacks`, but no `impl ItemCallbacks`",
    label = "the trait with the callbacks is not implemented",
    note = "write `impl ItemCallbacks for {Self} {{}}` with the functions that you need, or remove `callbacks`",
    note = "`Callbacks` is for objects, `ItemCallbacks` for items"
)]
pub trait ItemCallbacks: SaysItemCallbacks + Sized {
    /// Called when the item is about to be removed.
    fn pre_replicated_remove(&mut self) {}
    /// Called after the item was added and its properties were set.
    fn post_replicated_add(&mut self) {}
    /// Called after an update has changed some properties of the item.
    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        let _ = changed;
    }

    /// Called when the items at `update.indices()` are about to be removed. After the removal,
    /// `update.final_len()` items will remain.
    fn pre_replicated_removes(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// Called after the items at `update.indices()` were added.
    fn post_replicated_adds(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// Called after the items at `update.indices()` were changed.
    fn post_replicated_changes(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
    /// Called when the update is complete. Before the update, the array had `update.old_len()` items.
    /// `update.indices()` is empty here.
    fn post_replicated_receive(update: &mut ArrayUpdate<'_, Self>) {
        let _ = update;
    }
}

/// The marker of an item with the attribute `callbacks`. Only the derive macro implements the marker trait.
/// So `impl ItemCallbacks` without the attribute `callbacks` does not compile.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the callbacks of `{Self}` are never called, because it lacks the attribute `callbacks`",
    label = "not an item with the attribute `callbacks`",
    note = "write `#[replicated(callbacks)]` above `{Self}`, below `#[derive(FastArrayItem)]`",
    note = "a type that derives `Replicated` implements `Callbacks` instead of `ItemCallbacks`"
)]
pub trait SaysItemCallbacks {}

/// The callbacks that an array calls for its items: [`OwnCallbacks`] or [`NoCallbacks`].
#[doc(hidden)]
pub trait ItemCallbackPolicy<T> {
    /// Whether the items have callbacks.
    const HAS_CALLBACKS: bool;

    /// Calls [`ItemCallbacks::pre_replicated_remove`], if the items have callbacks.
    fn removing(item: &mut T);
    /// Calls [`ItemCallbacks::post_replicated_add`], if the items have callbacks.
    fn added(item: &mut T);
    /// Calls [`ItemCallbacks::post_replicated_change`], if the items have callbacks.
    fn changed(item: &mut T, changed: &ChangedProperties<'_>);
    /// Calls [`ItemCallbacks::pre_replicated_removes`], if the items have callbacks.
    fn all_removing(update: &mut ArrayUpdate<'_, T>);
    /// Calls [`ItemCallbacks::post_replicated_adds`], if the items have callbacks.
    fn all_added(update: &mut ArrayUpdate<'_, T>);
    /// Calls [`ItemCallbacks::post_replicated_changes`], if the items have callbacks.
    fn all_changed(update: &mut ArrayUpdate<'_, T>);
    /// Calls [`ItemCallbacks::post_replicated_receive`], if the items have callbacks.
    fn received(update: &mut ArrayUpdate<'_, T>);
}

impl<T: ItemCallbacks> ItemCallbackPolicy<T> for OwnCallbacks {
    const HAS_CALLBACKS: bool = true;

    fn removing(item: &mut T) {
        item.pre_replicated_remove();
    }
    fn added(item: &mut T) {
        item.post_replicated_add();
    }
    fn changed(item: &mut T, changed: &ChangedProperties<'_>) {
        item.post_replicated_change(changed);
    }
    fn all_removing(update: &mut ArrayUpdate<'_, T>) {
        T::pre_replicated_removes(update);
    }
    fn all_added(update: &mut ArrayUpdate<'_, T>) {
        T::post_replicated_adds(update);
    }
    fn all_changed(update: &mut ArrayUpdate<'_, T>) {
        T::post_replicated_changes(update);
    }
    fn received(update: &mut ArrayUpdate<'_, T>) {
        T::post_replicated_receive(update);
    }
}

impl<T> ItemCallbackPolicy<T> for NoCallbacks {
    const HAS_CALLBACKS: bool = false;

    fn removing(_: &mut T) {}
    fn added(_: &mut T) {}
    fn changed(_: &mut T, _: &ChangedProperties<'_>) {}
    fn all_removing(_: &mut ArrayUpdate<'_, T>) {}
    fn all_added(_: &mut ArrayUpdate<'_, T>) {}
    fn all_changed(_: &mut ArrayUpdate<'_, T>) {}
    fn received(_: &mut ArrayUpdate<'_, T>) {}
}
