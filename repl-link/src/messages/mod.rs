//! Messages: values that belong to no object. Either side can send them.
//!
//! Each type of message is a channel of its own, with its own numbers. [`outgoing`] stores what a side sends
//! until it is acknowledged, each channel in [`sending`], and a message that was [`written`] for many
//! connections only once; the [`parts`] of a large one are sent piece by piece, and a [`lane`] of its own has
//! the largest ones; a [`recipient`] says who may get it. [`incoming`] puts the messages that arrive into order, and [`assembly`] waits for all parts of large messages.
//! [`exchange`] has both directions of one connection. The [`mailbox`] knows the types and stores messages
//! until the user polls them. [`read_ahead`] keeps values between the check of a packet and the delivery of
//! its messages.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod assembly;
mod bulk_content;
pub(crate) mod channel;
mod content_buffer;
pub(crate) mod exchange;
pub(crate) mod incoming;
mod lane;
pub(crate) mod mailbox;
pub(crate) mod outgoing;
mod parts;
pub(crate) mod progress;
pub(crate) mod read_ahead;
pub(crate) mod recipient;
pub(crate) mod sender;
mod sending;
pub(crate) mod written;
