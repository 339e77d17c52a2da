//! Replication of one object at a time: bits, layouts, comparison, changelists, conditions, encoding and
//! decoding.
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
//! Use it through `repl`, which re-exports this crate together with the derives, the server and the client.
//!
//! # What this crate does not do
//!
//! The crate has no connections, packets, sockets, clocks or threads, and no owners of objects. `repl-net`
//! has connections and packets. Only a [`Condition`] decides in this crate which clients may receive a
//! property. A condition is a pure function of [`ViewFlags`].
//!
//! # The three types to know
//!
//! - [`Layout`] is the table of one object type, made at compile time from [`Property::SHAPE`]. A layout can
//!   be printed as a table, which people can review.
//! - A [`Class`] is an object type at run time. A class compares an object with its shadow, writes changes,
//!   and reads them into a replica.
//! - [`Changelist`] lists the changed properties, with nested changes for arrays and collections. Changelists
//!   are merged, subtracted, filtered and pruned.
//!
//! # Guarantees
//!
//! - One side reads the values that the other side wrote, and every value has exactly one form in bits.
//! - Decoding validates an update before it applies it. Bytes from a peer never panic, and a claimed length
//!   does not decide how much memory is allocated.
//! - The bits of a type depend only on its source: not on the compiler, the target or the order of fields in
//!   memory.
//!
//! Not guaranteed: [`write_values`](Class::write_values) writes only values, so the bits do not contain which
//! properties follow. The caller must write the handles of the properties, too, in the form that [`wire`] has
//! for them.
//!
//! *Invariant:* `unsafe` is used only in the folder `object`, which reads and writes objects through their
//! tables, in the trait [`Property`] and its implementations, and in `class`, which checks that a layout
//! belongs to the object's type.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]
#![warn(missing_docs)]

pub mod bits;
mod changes;
mod class;
mod diff;
mod ids;
mod object;
mod schema;
mod types;
pub mod wire;

pub use bits::{
    BitReader, BitSlice, BitWriter, Difference, DifferenceBits, ReadError, Rendition, Revision, WriteError,
};
pub use bitstream_io;
pub use changes::changelist::Changelist;
pub use changes::history::History;
pub use changes::portions::Portions;
pub use class::{ByLayout, Class, DecodeError, Shadow};
pub use diff::compare::Scratch;
pub use diff::refusal::Refusal;
pub use ids::asset::AssetRef;
pub use ids::base::{Base, Bases, ReceivedRendition};
pub use ids::epoch::Epoch;
pub use ids::guid::Guid;
pub use ids::handles::HandleSet;
pub use ids::item_id::ItemId;
#[doc(inline)]
pub use ids::label;
pub use ids::property_index::PropertyIndex;
pub use ids::reference::{AnyObject, NoObjects, ObjectRef, Objects, ReferenceMap};
pub use object::read_recipe::ReadRecipe;
pub use object::rows::Rows;
pub use object::write_recipe::WriteRecipe;
pub use schema::callbacks::Callbacks;
pub use schema::checksum::Checksum;
pub use schema::condition::{Condition, ViewFlags};
pub use schema::condition_masks::ConditionMasks;
pub use schema::delta::Delta;
pub use schema::forms::Form;
pub use schema::keyed::{Keyed, KeyedReplica, KeyedShadow};
pub use schema::layout::{Counts, Layout};
pub use schema::layout_of::LayoutOf;
#[doc(inline)]
pub use schema::limits;
pub use schema::location::{Coordinates, Located};
pub use schema::map::Map;
pub use schema::program::Program;
pub use schema::property::Property;
pub use schema::replicated::{Edit, Replicated, WithoutFastArrays};
pub use schema::shape::{Notify, WireForm};
pub use schema::step::{ReceivedChange, Step};
pub use schema::value::{NetSerialize, With};
pub use types::confirmed::Confirmed;
pub use types::differences::{ByDifference, ListDelta, TextDelta};
pub use wire::checked::{Checked, CheckedMark, CheckedUpdate};
pub use wire::decode::Observer;

/// Contains what the code that the derives and [`leaf!`] generate needs. Do not use this module by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::object::preload::{preload, preload_all};
    pub use crate::object::setters::{Set, SetOfAny, set_with};
    pub use crate::object::whole::{identical, identical_with, read as read_field, write as write_field};
    pub use crate::schema::attributes::*;
    pub use crate::schema::callbacks::ValueCallbacks;
    pub use crate::schema::callbacks::{NoCallbacks, ObjectCallbackPolicy, OwnCallbacks, SaysCallbacks};
    pub use crate::schema::codec::Format;
    pub use crate::schema::columns::Columns;
    pub use crate::schema::editor::{EditedObjects, Editor, Marker};
    pub use crate::schema::keyed::Preload;
    pub use crate::schema::map::{HashKey, SortKey};
    pub use crate::schema::program::{Parent, Tables};
    pub use crate::schema::quantize::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};
    pub use crate::schema::replicated::{
        EveryFieldIsSend, EveryFieldIsSync, FastArrays, InAnObject, InAnObjectOf, initial_object,
    };
    pub use crate::schema::shape::{Around, Field, Shape};
    pub use crate::schema::unit_tables::UnitTables;
    pub use crate::schema::value::{assert_named, unsaid};
    pub use crate::schema::whole_number::{WholeNumber, whole_number, within};
    pub use crate::schema::wire_name::WireName;
    pub use crate::static_program;
    pub use crate::types::converted::*;
    pub use crate::types::unit::Value;
    pub use crate::types::within::*;
    pub use crate::*;

    /// Writes all replicated fields of an object in order (the derives' `NetSerialize`).
    ///
    /// # Errors
    /// Returns an error if a part of the object has no wire form.
    pub fn write_whole<T: Property>(object: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        write_field(object, &Field::new("", 0, T::SHAPE), writer)
    }

    /// Reads an object that [`write_whole`] wrote.
    ///
    /// # Errors
    /// Returns an error if the bits are not a valid object of type `T`.
    pub fn read_whole<T: Property>(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError> {
        read_field(&Field::new("", 0, T::SHAPE), reader, references)
    }
}
