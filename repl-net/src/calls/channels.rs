//! The two message channels of a class with calls.
//!
//! *Invariant:* both sides register the same two channels for a class.

use std::any::TypeId;
use std::marker::PhantomData;

use repl_core::{Checksum, NetSerialize};
use repl_link::Channel;
use repl_link::parts::{CALLS, Mailbox, Sender, UNRELIABLE_CALLS};

use super::inbox::CallInbox;
use super::rpcs::Rpcs;

/// A type that stands for the channel of the reliable calls of the class `T`.
struct ReliableCalls<T>(PhantomData<T>);

/// A type that stands for the channel of the unreliable calls of the class `T`.
struct UnreliableCalls<T>(PhantomData<T>);

/// Returns the key of a channel in a mailbox: of the reliable or of the unreliable calls of a class.
pub(super) fn key<T: Rpcs>(is_reliable: bool) -> TypeId {
    if is_reliable { TypeId::of::<ReliableCalls<T>>() } else { TypeId::of::<UnreliableCalls<T>>() }
}

/// Registers both channels of a class.
///
/// # Panics
/// Panics if the channels are registered already.
#[track_caller]
pub(super) fn register<F: Sender, T: Rpcs>(mailbox: &mut Mailbox<F>) {
    let checksum = Checksum::new().number(T::CALLS.checksum()).number(T::Call::WIRE_FORM.checksum()).finish();
    let class = T::CALLS.class();
    for (is_reliable, name, channel) in [
        (true, format!("{CALLS}{class}"), Channel::Ordered),
        (false, format!("{UNRELIABLE_CALLS}{class}"), Channel::Unreliable),
    ] {
        mailbox.register_inbox(
            name,
            key::<T>(is_reliable),
            checksum,
            channel,
            CallInbox::<F, T>::new(is_reliable),
        );
    }
}

/// # Panics
/// Panics if the calls of the class are not registered.
#[track_caller]
pub(super) fn assert_registered<F: Sender, T: Rpcs>(mailbox: &Mailbox<F>) {
    assert!(
        mailbox.channel(key::<T>(true)).is_some(),
        "the calls of `{class}` are not registered: call `register_calls::<{class}>` on both sides before they connect",
        class = T::CALLS.class(),
    );
}
