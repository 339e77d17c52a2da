//! Messages: values that do not belong to an object. Either side can send them.
//!
//! Each type of message has its own channel, with its own numbers.
//!
//! - Sending: [`outgoing`] stores the sent messages of a connection until they are acknowledged, with one
//!   [`sending`] for each channel. [`written`] is a message that is stored once for many connections.
//!   [`parts`] are the parts of a message that is larger than a packet. Messages of more than 64 KiB (bulk
//!   messages) have a separate [`lane`]. A [`recipient`] says who may receive a message.
//! - Receiving: [`incoming`] puts messages in order. [`assembly`] collects the parts of large messages, and
//!   [`bulk_content`] those of bulk messages. [`read_ahead`] stores values that were read when a packet was
//!   checked, until its messages are delivered. The [`mailbox`] knows the types, and stores messages until
//!   the user polls them.
//! - Both: [`exchange`] contains both directions of one connection. [`progress`] says how much of a large
//!   message has been transferred. [`direct`] is for a connection inside one process, without packets.
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
