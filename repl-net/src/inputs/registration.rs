//! Registers a type of inputs on both sides.
//!
//! *Invariant:* both sides register the same channels for a type.

use std::any::TypeId;
use std::marker::PhantomData;

use repl_core::{Checksum, NetSerialize, WithoutFastArrays};
use repl_link::parts::{ChannelConfig, Inbox, MESSAGE, Mailbox, Sender};
use repl_link::{Channel, MessageOptions};

use super::bundle;
use super::coding::{ByField, Coding, Whole};
use super::report::InputReport;

/// The name of an input type's channel begins with this.
const INPUTS: &str = "inputs ";

/// The limits of a type of inputs.
const OPTIONS: MessageOptions = MessageOptions { max_bytes: 1_024, weight: u8::MAX, per_second: 1_000 };

/// The greatest number of bits of an input. A bundle has room for at least the newest input.
pub(super) const MOST_BITS: usize = OPTIONS.max_bytes * 8 - bundle::TICK_BITS as usize;

/// A type that stands for the channel of the input type `T`.
pub(super) struct InputsOf<T>(PhantomData<T>);

impl<T: 'static> InputsOf<T> {
    pub(super) fn key() -> TypeId {
        TypeId::of::<Self>()
    }

    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub(super) fn assert_registered<F: Sender>(mailbox: &Mailbox<F>) {
        assert!(
            mailbox.channel(Self::key()).is_some(),
            "inputs of the type `{}` are not registered: call `register_inputs` or `register_inputs_by_field` on both sides \
             before they connect",
            std::any::type_name::<T>(),
        );
    }
}

/// The data that is registered for an input type.
pub(super) struct Registration<T: 'static> {
    name: &'static str,
    checksum: u64,
    coding: Box<dyn Coding<T>>,
}

impl<T: NetSerialize + Clone + Send + Sync> Registration<T> {
    #[track_caller]
    pub(super) fn whole() -> Self {
        assert_unconditional::<T>();
        Self { name: T::WIRE_NAME, checksum: T::WIRE_FORM.checksum(), coding: Box::new(Whole) }
    }
}

impl<T: WithoutFastArrays + Clone> Registration<T> {
    #[track_caller]
    pub(super) fn by_field() -> Self {
        assert_unconditional::<T>();
        let layout = T::LAYOUT.table();
        let checksum = Checksum::new().number(layout.checksum()).number(1).finish();
        Self { name: layout.name(), checksum, coding: Box::new(ByField::new()) }
    }
}

impl<T: 'static> Registration<T> {
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Adds the channel of the type to a mailbox. `make` makes the inbox of the channel.
    #[track_caller]
    pub(super) fn add<F: Sender, I: Inbox<F>>(
        self,
        mailbox: &mut Mailbox<F>,
        make: impl FnOnce(Box<dyn Coding<T>>) -> I,
    ) {
        let Self { name, checksum, coding } = self;
        let config = ChannelConfig { channel: Channel::Inputs, options: OPTIONS };
        let inbox = make(coding);
        mailbox.register_inbox(format!("{INPUTS}{name}"), InputsOf::<T>::key(), checksum, config, inbox);
    }

    /// Adds the channel for the server's reports to a mailbox. All input types share it.
    #[track_caller]
    pub(super) fn add_reports<F: Sender>(&self, mailbox: &mut Mailbox<F>, inbox: impl Inbox<F>) {
        let config = ChannelConfig { channel: Channel::Sequenced { copies: 1 }, options: OPTIONS };
        let (name, checksum) =
            (format!("{MESSAGE}{}", InputReport::WIRE_NAME), InputReport::WIRE_FORM.checksum());
        mailbox.register_inbox(name, TypeId::of::<InputReport>(), checksum, config, inbox);
    }
}

/// # Panics
/// Panics if a field of the type has a condition.
#[track_caller]
fn assert_unconditional<T: NetSerialize>() {
    if let Some(field) = T::WIRE_FORM.conditional_field() {
        panic!(
            "`{}` cannot be an input, because its field `{field}` has a condition, and the server gets an input whole",
            T::WIRE_NAME,
        );
    }
}
