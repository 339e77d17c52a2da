//! What replication is, for one object at a time: bits, layouts, comparison, changelists, conditions, encoding and decoding.
//!
//! ```
//! use repl_core::{BitReader, BitWriter, NetSerialize, NoObjects, ReferenceMap};
//!
//! type Order = (u16, Vec<bool>, Option<String>);
//! let order: Order = (7, vec![true, false], Some("now".to_owned()));
//!
//! let mut writer = BitWriter::new();
//! order.write(&mut writer)?;
//! assert_eq!(writer.bit_len(), 16 + (4 + 2) + (1 + 4 + 24));
//!
//! let bytes = writer.into_bytes();
//! let back = Order::read(&mut BitReader::new(&bytes), &mut ReferenceMap::new(&NoObjects));
//! assert_eq!(back.as_ref(), Ok(&order));
//! # Ok::<(), repl_core::WriteError>(())
//! ```
//!
//! Users go through `repl`, which re-exports this crate beside the derives, server and client; its front page says what the numbers S1, R1 and W1
//! of descriptions mean.
//!
//! # What this crate does not do
//!
//! It knows no connection, packet, socket, clock or thread, and not who owns the objects; `repl-net` knows the first two, and nobody here
//! the others. It decides what may be sent to whom only in so far as [`Condition`] is a pure function of [`ViewFlags`].
//!
//! # The three types to know
//!
//! - [`Layout`] is the table of one object type, made at compile time from [`Property::SHAPE`]; it prints as a reviewer reads it.
//! - [`Class`] is the type at run time: compares an object with its shadow, writes what changed, reads it into a replica.
//! - [`Changelist`] says what changed, with nested lists for arrays; it is merged, subtracted, filtered and pruned.
//!
//! # Guarantees
//!
//! - What one end writes the other reads, and every value has one form in bits.
//! - Decoding validates before it applies. Bytes from a peer never panic, and a claimed length takes no memory.
//! - What bits a type takes depends on its source alone: not on the compiler, the target or the order of fields in memory.
//!
//! Not guaranteed: [`write_values`](Class::write_values) does not say which values follow. Who sends them writes the handles beside them, for
//! which [`wire`] has the form.
//!
//! *Invariant:* `unsafe` stands in the module `access`, which reads and writes objects through their layouts, in the implementations of
//! [`Property`], in the calls that vouch for a layout being the object's own, and before the one instruction of `preload`; nowhere else.
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod access;
mod age_queue;
mod attributes;
mod begin;
pub mod bits;
mod callbacks;
mod changelist;
mod checked;
mod checksum;
mod class;
mod codec;
mod compare;
mod condition;
mod decode;
mod display;
mod encode;
mod entries;
mod flat;
mod foreign;
mod forms;
mod handles;
mod history;
mod id_list;
mod items;
mod key;
mod keyed;
pub mod label;
mod layout;
mod lifetime;
pub mod limits;
mod listing;
mod map;
mod message;
mod misfit;
mod opaque;
mod places;
mod plan;
mod portions;
mod preload;
mod program;
mod property;
mod property_index;
mod prune;
mod quantize;
mod ranges;
mod reach;
mod reference;
mod shape;
mod size;
mod units;
mod value;
pub mod wire;

pub use bits::{BitReader, BitSlice, BitWriter};
pub use bitstream_io;
pub use callbacks::Callbacks;
pub use changelist::Changelist;
pub use checked::{Checked, CheckedMark, CheckedUpdate};
pub use checksum::Checksum;
pub use class::{Class, DecodeError};
pub use compare::{Refusal, Scratch};
pub use condition::{Condition, ViewFlags};
pub use decode::Observer;
pub use forms::Form;
pub use handles::HandleSet;
pub use history::History;
pub use keyed::{ItemId, Keyed, Step};
pub use layout::{Counts, Layout};
pub use lifetime::Lifetime;
pub use map::Map;
pub use portions::Portions;
pub use program::Program;
pub use property::{Property, Replicated};
pub use property_index::{LayoutOf, PropertyIndex};
pub use reference::{Guid, NoObjects, ObjectRef, Objects, ReferenceMap};
pub use shape::Notify;
pub use value::{NetSerialize, ReadError, With, WriteError};

/// For code made by the derives and by [`leaf!`]; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::access::whole::{identical, identical_with, read as read_field, write as write_field};
    pub use crate::attributes::*;
    pub use crate::callbacks::{NoCallbacks, ObjectTold, OwnCallbacks, SaysCallbacks};
    pub use crate::codec::Format;
    pub use crate::map::{HashKey, SortKey, ValueCallbacks};
    pub use crate::preload::preload;
    pub use crate::program::{Parent, Tables};
    pub use crate::property::{EveryFieldIsSend, EveryFieldIsSync};
    pub use crate::quantize::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};
    pub use crate::reach::{ReadsField, WritesField, around, read_with, write_with};
    pub use crate::shape::{Field, Shape};
    pub use crate::static_program;
    pub use crate::value::{assert_named, unsaid};
    pub use crate::*;

    /// Writes all replicated fields of an object in order (the derives' `NetSerialize`).
    ///
    /// # Errors
    /// When a part of the object has no form.
    pub fn write_whole<T: Property>(object: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        write_field(object, &Field::new("", 0, T::SHAPE), writer)
    }

    /// Reads what [`write_whole`] wrote.
    ///
    /// # Errors
    /// When the bits are no such object.
    pub fn read_whole<T: Property>(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError> {
        read_field(&Field::new("", 0, T::SHAPE), reader, references)
    }
}
