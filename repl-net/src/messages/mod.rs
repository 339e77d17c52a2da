//! Messages: values that belong to no object, sent once, in both directions.
//!
//! Each type of message is a channel of its own, with its own numbers. [`outgoing`] stores what a side sends
//! until it is acknowledged, each channel in [`sending`]. [`incoming`] puts what arrives into order, and
//! [`assembly`] waits for all parts of large messages. [`exchange`] is both directions of one connection. The
//! [`mailbox`] knows the types and stores what waits until the user polls it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod assembly;
pub(crate) mod channel;
mod declared_lost;
pub(crate) mod exchange;
pub(crate) mod incoming;
pub(crate) mod mailbox;
pub(crate) mod outgoing;
pub(crate) mod sender;
mod sending;
