//! What items and arrays are told on clients.
//!
//! Invariant: callbacks run on clients only, after an update has been accepted as a whole; what was not
//! touched is told nothing.

use repl_core::__private::{NoCallbacks, OwnCallbacks};

use super::changed::ChangedProperties;
use super::update::ArrayUpdate;

/// Calls on the items of a client's array, and on the array, around what it receives. All do nothing unless
/// overridden: say `#[replicated(callbacks)]` on the item and write `impl ItemCallbacks for` it.
///
/// They are about what comes into an array that stays, changes in it or goes from it. **Nothing is called**
///
/// - when the array goes with all its items: when its object is despawned or goes out of sight, an `Option` around it becomes `None`, the entry
///   of a map or the element of a `Vec` that holds it goes, or the item of another array of which it is a field is removed. What is to be undone with
///   its items is then for what holds the array to undo: in its notify, its callbacks, or when the client tells that the object went;
/// - for an array that travels inside a unit: in an enum, in a struct that derives only `NetSerialize`, in a field that is `atomic` or
///   has a `with`. Its items come anew with every update of the unit;
/// - for what the user of the client itself adds, writes or takes out.
///
/// For one update (S178): [`pre_replicated_remove`](Self::pre_replicated_remove) for each item that goes,
/// first those whose removal was told, in the order of the telling, then those that an update implied, by
/// index; [`pre_replicated_removes`](Self::pre_replicated_removes);
/// [`post_replicated_add`](Self::post_replicated_add) for each that came, and
/// [`post_replicated_adds`](Self::post_replicated_adds);
/// [`post_replicated_change`](Self::post_replicated_change) for each that changed, and
/// [`post_replicated_changes`](Self::post_replicated_changes). Only then are items taken out, each replaced
/// by the last, from the highest index down (S180), and
/// [`post_replicated_receive`](Self::post_replicated_receive) closes. Afterwards the notify of the field runs
/// (S181).
///
/// Items that are values of a map are told by the three functions for items alone, as [`Map`](repl_core::Map)
/// says.
///
/// Until items are taken out all indices stay what they are, and items that go are still there (S179). The
/// functions for the array are called in every update in which any item came, changed or went, even if their
/// own list is empty; an update that leaves the array as it was calls nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `callbacks`, but has no `impl ItemCallbacks`",
    label = "nothing says what is called",
    note = "write `impl ItemCallbacks for {Self} {{}}`, and in it those functions that are to be called; or remove `callbacks`",
    note = "`Callbacks` is for objects, `ItemCallbacks` for items"
)]
pub trait ItemCallbacks: SaysItemCallbacks + Sized {
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

/// An item whose derive knows that it has callbacks. Made by the derive alone, so that an implementation that
/// nobody would call is an error.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has callbacks that nobody would call, for it does not say `callbacks`",
    label = "not an item that says `callbacks`",
    note = "write `#[replicated(callbacks)]` above `{Self}`, below `#[derive(FastArrayItem)]`",
    note = "an object, which derives `Replicated`, has `Callbacks` in place of `ItemCallbacks`"
)]
pub trait SaysItemCallbacks {}

/// How an array tells its items what becomes of them.
#[doc(hidden)]
pub trait ItemsTold<T> {
    /// Whether there is anything to call.
    const HAS_CALLBACKS: bool;

    /// See [`ItemCallbacks::pre_replicated_remove`].
    fn removing(item: &mut T);
    /// See [`ItemCallbacks::post_replicated_add`].
    fn added(item: &mut T);
    /// See [`ItemCallbacks::post_replicated_change`].
    fn changed(item: &mut T, changed: &ChangedProperties<'_>);
    /// See [`ItemCallbacks::pre_replicated_removes`].
    fn all_removing(update: &mut ArrayUpdate<'_, T>);
    /// See [`ItemCallbacks::post_replicated_adds`].
    fn all_added(update: &mut ArrayUpdate<'_, T>);
    /// See [`ItemCallbacks::post_replicated_changes`].
    fn all_changed(update: &mut ArrayUpdate<'_, T>);
    /// See [`ItemCallbacks::post_replicated_receive`].
    fn received(update: &mut ArrayUpdate<'_, T>);
}

impl<T: ItemCallbacks> ItemsTold<T> for OwnCallbacks {
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

impl<T> ItemsTold<T> for NoCallbacks {
    const HAS_CALLBACKS: bool = false;

    fn removing(_: &mut T) {}
    fn added(_: &mut T) {}
    fn changed(_: &mut T, _: &ChangedProperties<'_>) {}
    fn all_removing(_: &mut ArrayUpdate<'_, T>) {}
    fn all_added(_: &mut ArrayUpdate<'_, T>) {}
    fn all_changed(_: &mut ArrayUpdate<'_, T>) {}
    fn received(_: &mut ArrayUpdate<'_, T>) {}
}
