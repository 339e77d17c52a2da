//! Items: what may stand in a fast array, and what an item is told on clients.
//!
//! Invariant: callbacks run on clients only, after an update has been accepted as a whole; what was not touched is told nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use repl_core::__private::{Lengthy, NoCallbacks, OwnCallbacks, Quantizable, Ranged, ValueCallbacks};
use repl_core::{HandleSet, Layout, ObjectRef, Property, PropertyIndex};

use crate::array::FastArray;
use crate::ordered::OrderedFastArray;
use crate::update::ArrayUpdate;

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

/// Calls on the items of a client's array, and on the array, around what it receives. All do nothing unless overridden: say
/// `#[replicated(callbacks)]` on the item and write `impl ItemCallbacks for` it.
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

/// An item whose derive knows that it has callbacks. Made by the derive alone, so that an implementation that nobody would call is an error.
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
            T::Told::changed(value, &ChangedProperties { layout: T::LAYOUT, handles });
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

    /// Whether what stands at `path` changed, or anything in it: a property, or a part of one that is a struct, a tuple or a fixed array, named as
    /// the item's [`LAYOUT`](FastArrayItem::LAYOUT) prints it (`"count"`, `"pose.position"`, `"slots[2]"`). What lies in a `Vec`, an `Option`, a
    /// map or another fast array has no path here: ask for the property that holds it.
    ///
    /// # Panics
    /// If the item has no such place: a misspelt name would else never be heard of. [`contains_property`](Self::contains_property) takes a
    /// name that was looked up at compile time.
    #[must_use]
    #[track_caller]
    pub fn contains(&self, path: &str) -> bool {
        match self.layout.handles_at(path) {
            Some(mut handles) => handles.any(|handle| self.handles.contains(handle)),
            None => self.contains_property(self.layout.property(path)),
        }
    }

    /// Whether a property changed, or anything in it. If it is looked up in a constant, as in
    /// `changed.contains_property(const { Stack::LAYOUT.property("count") })`, a misspelt name does not compile.
    #[must_use]
    pub fn contains_property(&self, property: PropertyIndex) -> bool {
        self.layout.handles_of(property).any(|handle| self.handles.contains(handle))
    }

    /// The names of those that changed, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        let all = (0..self.layout.properties()).map(PropertyIndex::new);
        let changed = all.filter(|&property| self.contains_property(property));
        changed.map(|property| self.layout.property_name(property))
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

/// An item that is one leaf, for which attributes on the field of an array can speak; those of other items stand on their own fields.
#[doc(hidden)]
pub trait LeafItem: FastArrayItem {}

/// Makes types that are one leaf items without callbacks, whose only property is called `0`.
macro_rules! leaves {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        impl<$($generics)*> FastArrayItem for $type {
            const LAYOUT: &'static Layout = &Layout::of::<(Self,)>();

            type Told = NoCallbacks;
        }

        impl<$($generics)*> LeafItem for $type {}
    )*};
}

leaves! {
    [] bool, [] char, [] String,
    [] u8, [] u16, [] u32, [] u64, [] u128, [] usize,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize,
    [] f32, [] f64,
    [T: ?Sized + 'static] ObjectRef<T>,
    [] Box<str>, [] Arc<str>, [] Duration,
    [] IpAddr, [] Ipv4Addr, [] Ipv6Addr, [] SocketAddr, [] SocketAddrV4, [] SocketAddrV6,
    [] NonZero<u8>, [] NonZero<u16>, [] NonZero<u32>, [] NonZero<u64>, [] NonZero<u128>, [] NonZero<usize>,
    [] NonZero<i8>, [] NonZero<i16>, [] NonZero<i32>, [] NonZero<i64>, [] NonZero<i128>, [] NonZero<isize>,
}

#[cfg(feature = "uuid")]
leaves!([] uuid::Uuid);

/// What attributes on the field of an array can say: how long it may be, and for items that are one leaf, how these travel.
macro_rules! attributes {
    ($($array:ident)*) => {$(
        impl<T> Lengthy for $array<T> {}

        #[diagnostic::do_not_recommend]
        impl<T: LeafItem + Quantizable> Quantizable for $array<T> {}

        #[diagnostic::do_not_recommend]
        impl<T: LeafItem + Ranged> Ranged for $array<T> {}
    )*};
}

attributes!(FastArray OrderedFastArray);
