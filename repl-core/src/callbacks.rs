//! What an object may be told while it receives.
//!
//! Invariant: callbacks run on clients only, in the order of S54, after the packet has been accepted as a whole.

/// Calls on an object around what it receives (S54). All do nothing unless overridden: say `#[replicated(callbacks)]` on the struct and
/// write `impl Callbacks for` it. A callback may change the object, as a client may at any time: what arrives later replaces the change.
///
/// For one packet: `pre_net_receive`, values, `post_net_receive`, notifies in ascending order of handles, `post_rep_notifies`, and for an
/// object that has just come into being `post_net_init`.
pub trait Callbacks {
    /// Whether there is anything to call; the derive's own implementation says no.
    #[doc(hidden)]
    const HAS_CALLBACKS: bool = true;

    /// Before the first value of a packet is applied.
    fn pre_net_receive(&mut self) {}
    /// When all values of a packet are applied, before any notify.
    fn post_net_receive(&mut self) {}
    /// When all notifies have run; called even if there were none.
    fn post_rep_notifies(&mut self) {}
    /// Last of all for a new object.
    fn post_net_init(&mut self) {}
}
