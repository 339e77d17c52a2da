//! What a pass needs beside its connection.
//!
//! *Invariant:* nothing here outlives the pass but memory that the next one uses again.

use std::time::Duration;

use repl_core::BitWriter;

use crate::server::broadcast::Broadcast;
use crate::server::world::World;
use crate::session::classes::ClassList;
use crate::transport::segment::PROXY_BITS;

/// What an opening takes beside its handles and values: what tells where it comes from, and how many such follow.
pub(super) const OPEN_BITS: usize = 64 + 32 + 64 + 3 + PROXY_BITS;

/// What a pass needs of the server.
pub(crate) struct PassContext<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) broadcast: &'a mut Broadcast,
    pub(crate) classes: &'a ClassList,
    pub(crate) scratch: &'a mut PassScratch,
    pub(crate) now: Duration,
    /// How long the connection may be silent (R9).
    pub(crate) keep_alive: Duration,
}

/// Memory that passes use again, one after another.
#[derive(Debug, Default)]
pub(crate) struct PassScratch {
    pub(super) values: BitWriter,
    pub(super) slots: Vec<u32>,
    /// Objects that may be in step once the pass is over.
    pub(super) settling: Vec<u32>,
}
