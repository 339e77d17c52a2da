//! Callbacks: methods that a client calls on an object while the object receives an update.
//!
//! *Invariant:* callbacks run on clients only, in the order of S54, after the packet has been accepted as a
//! whole.

use crate::ids::handles::HandleSet;
/// Functions that a client calls on an object around an update (S54). All functions do nothing by default. To
/// use them, write `#[replicated(callbacks)]` on the struct, and `impl Callbacks for` it. A callback may
/// change the object, like the client's own code at any other time. A value that arrives later replaces the
/// change.
///
/// The order for one packet: `pre_net_receive`, the values, `post_net_receive`, notifies in ascending order
/// of handles, `post_rep_notifies`, and for a new object `post_net_init`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has the attribute `callbacks`, but no `impl Callbacks`",
    label = "the trait with the callbacks is not implemented",
    note = "write `impl Callbacks for {Self} {{}}` with the functions that you need, or remove `callbacks`",
    note = "`Callbacks` is for objects, `ItemCallbacks` for items"
)]
pub trait Callbacks: SaysCallbacks {
    /// The client calls this before it applies the first value of a packet.
    fn pre_net_receive(&mut self) {}
    /// The client calls this after it has applied all values of a packet, before any notify.
    fn post_net_receive(&mut self) {}
    /// The client calls this after all notifies, even if there were none.
    fn post_rep_notifies(&mut self) {}
    /// The client calls this last, and only for a new object.
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

/// The callbacks that run for an object. By default no callbacks run.
#[doc(hidden)]
pub trait ObjectCallbackPolicy<T> {
    /// Whether the object has callbacks.
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

/// The policy of a type with the attribute `callbacks`: the user's functions are called.
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

/// The policy of a type without the attribute `callbacks`: nothing is called.
#[doc(hidden)]
#[derive(Debug)]
pub enum NoCallbacks {}

impl<T> ObjectCallbackPolicy<T> for NoCallbacks {
    const HAS_CALLBACKS: bool = false;
}

/// The callbacks of a map's values on clients. The derive of items sets these functions.
#[derive(Clone, Copy)]
pub struct ValueCallbacks<T> {
    /// Called before the value is removed.
    pub removing: fn(&mut T),
    /// Called after the value was added and has its values.
    pub added: fn(&mut T),
    /// Called after the properties with these handles have changed.
    pub changed: fn(&mut T, &HandleSet),
}
