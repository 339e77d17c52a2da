//! The body of a server packet, which contains the state of objects.
//!
//! *Invariant:* code in this module knows an object only as a slot number and bits, and does not depend on a
//! connection.

pub(crate) mod asset_names;
pub(crate) mod blob;
pub(crate) mod by_property;
pub(crate) mod contents;
pub(crate) mod copied;
pub(crate) mod entry_lists;
pub(crate) mod entry_writer;
pub(crate) mod forest;
pub(crate) mod fragment;
pub(crate) mod growth;
pub(crate) mod losses;
pub(crate) mod parent;
pub(crate) mod path;
pub(crate) mod rate;
pub(crate) mod reassembly;
pub(crate) mod recycled;
pub(crate) mod removal;
pub(crate) mod role;
pub(crate) mod segment;
pub(crate) mod slot_set;
pub(crate) mod sparse_slots;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod walk;
pub(crate) mod writing;

use repl_link::parts::Payload;

use contents::Contents;
use entry_writer::EntryWriter;
use rate::Rate;
use status::StatusSource;

/// The state of objects in server packets. Packets of a client have no body.
#[derive(Debug, Default)]
pub(crate) struct State;

impl Payload for State {
    type Record = Contents;
    type Writer = EntryWriter;
    type Extension = StatusSource;
    type Rate = Rate;
}
