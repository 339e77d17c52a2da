//! What replication is: bits, layouts, comparison, changelists, conditions, encoding and decoding.
#![warn(missing_docs)]

mod access;
mod attributes;
pub mod bits;
mod callbacks;
mod changelist;
mod checksum;
mod class;
mod codec;
mod compare;
mod condition;
mod decode;
mod display;
mod encode;
mod handles;
mod history;
mod layout;
mod lifetime;
pub mod limits;
mod listing;
mod opaque;
mod plan;
mod program;
mod property;
mod quantize;
mod ranges;
mod reference;
mod shape;
mod value;
pub mod wire;

pub use bits::{BitReader, BitSlice, BitWriter};
pub use callbacks::Callbacks;
pub use changelist::Changelist;
pub use checksum::Checksum;
pub use class::{Class, DecodeError};
pub use compare::{Refusal, Scratch};
pub use condition::{Condition, ViewFlags};
pub use handles::HandleSet;
pub use history::History;
pub use layout::{Counts, Layout, PropertyIndex};
pub use lifetime::Lifetime;
pub use program::Program;
pub use property::{Property, Replicated};
pub use reference::{Guid, NoObjects, ObjectRef, Objects, ReferenceMap};
pub use shape::Notify;
pub use value::{NetSerialize, ReadError, With, WriteError};

/// For code made by the derives and by [`leaf!`]; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::access::whole::{identical, identical_with, read as read_field, write as write_field};
    pub use crate::attributes::*;
    pub use crate::codec::Format;
    pub use crate::program::{Parent, Tables};
    pub use crate::shape::{Field, Shape};
    pub use crate::static_program;
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
