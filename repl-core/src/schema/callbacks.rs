//! Callbacks: methods that a client calls on an object while the object receives an update.
//!
//! *Invariant:* callbacks run only on clients, in the order of S54, after the client has validated the whole
//! packet.

use crate::ids::handles::HandleSet;

/// Functions that a client calls on an object before and after it applies an update. By default the callbacks
/// do nothing. To use callbacks, write `#[replicated(callbacks)]` on the struct, and `impl Callbacks for` it.
/// A callback may change the object, as the client's own code may at any other time. The next value that the
/// server sends replaces the change.
///
/// For each packet, the client does the following in this order: `pre_net_receive`, the values are applied,
/// for a new object `opened`, the callbacks of items, `post_net_receive`, notifies in ascending order of
/// handles, `post_rep_notifies`, and for a new object `post_net_init`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the attribute `callbacks`, but no `impl Callbacks`",
    label = "the trait with the callbacks is not implemented",
    note = "write `impl Callbacks for {Self} {{}}` with the functions that you need, or remove `callbacks`",
    note = "`Callbacks` is for objects, `ItemCallbacks` for items"
)]
pub trait Callbacks: SaysCallbacks {
    /// The client calls this function before it applies the first value of a packet.
    fn pre_net_receive(&mut self) {}
    /// The client calls this function once for each copy of an object, when it has created the copy with the
    /// values of its opening (the first update of an object). No notify of the copy and no callback of its
    /// items has run before.
    ///
    /// This is the place to read [`InitialOnly`](crate::Condition::InitialOnly) properties, which only
    /// openings contain. All values of the opening are set, and their references are resolved if the client
    /// has the objects. Items of collections that are too large for an opening arrive later. When an object
    /// becomes relevant again, the client makes a new copy and calls this function again.
    fn opened(&mut self) {}
    /// The client calls this function after it has applied all values of a packet, before any notify.
    fn post_net_receive(&mut self) {}
    /// The client calls this function after all notifies, even if no notify was called.
    fn post_rep_notifies(&mut self) {}
    /// The client calls this function last, and only for a new object.
    fn post_net_init(&mut self) {}
}

/// A marker of objects with `#[replicated(callbacks)]`. Only the derive implements this trait, so that an
/// `impl Callbacks` that would never be called is an error.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the callbacks of `{Self}` are never called, because it lacks the attribute `callbacks`",
    label = "not an object with the attribute `callbacks`",
    note = "write `#[replicated(callbacks)]` above `{Self}`, below `#[derive(Replicated)]`",
    note = "a type that derives `FastArrayItem` implements `ItemCallbacks` instead of `Callbacks`"
)]
pub trait SaysCallbacks {}

/// Decides which callbacks run for an object. By default no callbacks of an object run.
#[doc(hidden)]
pub trait ObjectCallbackPolicy<T> {
    /// Whether the object type has callbacks.
    const HAS_CALLBACKS: bool;

    /// Called when the client would call [`Callbacks::pre_net_receive`].
    fn receiving(_: &mut T) {}
    /// Called when the client would call [`Callbacks::opened`].
    fn opened(_: &mut T) {}
    /// Called when the client would call [`Callbacks::post_net_receive`].
    fn received(_: &mut T) {}
    /// Called when the client would call [`Callbacks::post_rep_notifies`].
    fn notified(_: &mut T) {}
    /// Called when the client would call [`Callbacks::post_net_init`].
    fn begun(_: &mut T) {}
}

/// The callback policy of a type with the attribute `callbacks`: the user's functions are called.
#[doc(hidden)]
#[derive(Debug)]
pub enum OwnCallbacks {}

impl<T: Callbacks> ObjectCallbackPolicy<T> for OwnCallbacks {
    const HAS_CALLBACKS: bool = true;

    fn receiving(object: &mut T) {
        object.pre_net_receive();
    }
    fn opened(object: &mut T) {
        object.opened();
    }
    fn received(object: &mut T) {
        object.post_net_receive();
    }
    fn notified(object: &mut T) {
        object.post_rep_notifies();
    }
    fn begun(object: &mut T) {
        object.post_net_init();
    }
}

/// The callback policy of a type without the attribute `callbacks`: no function is called.
#[doc(hidden)]
#[derive(Debug)]
pub enum NoCallbacks {}

impl<T> ObjectCallbackPolicy<T> for NoCallbacks {
    const HAS_CALLBACKS: bool = false;
}

/// The callbacks that a client runs for the values of a map. `derive(FastArrayItem)` sets the callbacks of a
/// value.
#[derive(Clone, Copy)]
pub struct ValueCallbacks<T> {
    /// The function that is called before a value is removed from the map.
    pub removing: fn(&mut T),
    /// The function that is called after a value was added to the map and its properties were set.
    pub added: fn(&mut T),
    /// The function that is called after some properties of a value have changed. It receives the handles of
    /// these properties.
    pub changed: fn(&mut T, &HandleSet),
}
