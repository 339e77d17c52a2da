//! The trait of types that identify the sender of a message.

use std::hash::Hash;

/// Identifies the sender of a message: on a server its connection, on a client nothing.
pub(crate) trait Sender: Copy + Eq + Hash + Send + Sync + 'static {}

impl<F: Copy + Eq + Hash + Send + Sync + 'static> Sender for F {}
