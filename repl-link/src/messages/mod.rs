//! Messages: values that belong to no object. Either side can send them.
//!
//! Each type of message is a channel of its own, with its own numbers. [`outgoing`] stores what a side sends
//! until it is acknowledged, each channel in [`sending`], and a message that was [`written`] for many
//! connections only once. The [`parts`] of a large message are sent piece by piece, and the largest messages
//! have a [`lane`] of their own. A [`recipient`] says who may get a message. [`incoming`] puts the messages
//! that arrive into order, [`assembly`] waits for all parts of large messages, and [`bulk_content`] puts the
//! largest ones together. [`progress`] says how much of a large message has been transferred. [`exchange`]
//! has both directions of one connection. The [`mailbox`] knows the types and stores messages until the user
//! polls them. A connection without packets is [`direct`]. [`read_ahead`] keeps values between the check of a
//! packet and the delivery of its messages.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod assembly;
mod bulk_content;
pub(crate) mod channel;
mod content_buffer;
pub(crate) mod direct;
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
