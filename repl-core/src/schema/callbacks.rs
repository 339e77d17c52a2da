//! Callbacks: what a client calls on an object while it receives an update.
//!
//! *Invariant:* callbacks run on clients only, in the order of S54, after the packet has been accepted as a
//! whole.

use crate::ids::handles::HandleSet;
/// Functions that a client calls on an object around an update (S54). All do nothing unless overridden: write
/// `#[replicated(callbacks)]` on the struct, and `impl Callbacks for` it. A callback may change the object,
/// as a client may at any time. What arrives later replaces the change.
///
/// The order for one packet: `pre_net_receive`, the values, `post_net_receive`, notifies in ascending order
/// of handles, `post_rep_notifies`, and for a new object `post_net_init`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says `callbacks`, but has no `impl Callbacks`",
    label = "nothing says what is called",
    note = "write `impl Callbacks for {Self} {{}}`, and in it those functions that are to be called; or remove `callbacks`",
    note = "`Callbacks` is for objects, `ItemCallbacks` for items"
)]
pub trait Callbacks: SaysCallbacks {
    /// Called before the first value of a packet is applied.
    fn pre_net_receive(&mut self) {}
    /// Called after all values of a packet are applied, before any notify.
    fn post_net_receive(&mut self) {}
    /// Called after all notifies have run, even if there were none.
    fn post_rep_notifies(&mut self) {}
    /// Called last, for a new object only.
    fn post_net_init(&mut self) {}
}

/// An object whose derive knows that it has callbacks. Only the derive implements it, so that an
/// `impl Callbacks` that would never be called is an error.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has callbacks that nobody would call, for it does not say `callbacks`",
    label = "not an object that says `callbacks`",
    note = "write `#[replicated(callbacks)]` above `{Self}`, below `#[derive(Replicated)]`",
    note = "an item, which derives `FastArrayItem`, has `ItemCallbacks` in place of `Callbacks`"
)]
pub trait SaysCallbacks {}

/// Which callbacks of an object run. By default none.
#[doc(hidden)]
pub trait ObjectCallbackPolicy<T> {
    /// Whether there is any callback to call.
    const HAS_CALLBACKS: bool;

    /// See [`Callbacks::pre_net_receive`].
    fn receiving(_: &mut T) {}
    /// See [`Callbacks::post_net_receive`].
    fn received(_: &mut T) {}
    /// See [`Callbacks::post_rep_notifies`].
    fn notified(_: &mut T) {}
    /// See [`Callbacks::post_net_init`].
    fn begun(_: &mut T) {}
}

/// The type says `callbacks`: the user's functions are called.
#[doc(hidden)]
#[derive(Debug)]
pub enum OwnCallbacks {}

impl<T: Callbacks> ObjectCallbackPolicy<T> for OwnCallbacks {
    const HAS_CALLBACKS: bool = true;

    fn receiving(object: &mut T) {
        object.pre_net_receive();
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

/// The type does not say `callbacks`: nothing is called.
#[doc(hidden)]
#[derive(Debug)]
pub enum NoCallbacks {}

impl<T> ObjectCallbackPolicy<T> for NoCallbacks {
    const HAS_CALLBACKS: bool = false;
}

/// The callbacks of a value on clients. Set by the derive of items.
#[derive(Clone, Copy)]
pub struct ValueCallbacks<T> {
    /// Called before the value is removed.
    pub removing: fn(&mut T),
    /// Called after the value was added and has its values.
    pub added: fn(&mut T),
    /// Called after the properties with these handles have changed.
    pub changed: fn(&mut T, &HandleSet),
}
