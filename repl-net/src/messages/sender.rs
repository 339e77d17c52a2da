//! What a side knows of the sender of a message.

use std::hash::Hash;

/// What identifies the sender of a message: a connection of a server, or nothing on a client.
pub(crate) trait Sender: Copy + Eq + Hash + Send + Sync + 'static {}

impl<F: Copy + Eq + Hash + Send + Sync + 'static> Sender for F {}
