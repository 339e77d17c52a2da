//! Commands: the entries of a program. Each leaf, array, enum, collection and map has a command.
//!
//! *Invariant:* a command belongs to one level: to the object, or to the elements of the array or collection
//! around it. Its offset and its handle are those in this level.

use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::property_index::PropertyIndex;
use crate::schema::codec::{Codec, Direct};
use crate::schema::condition::Condition;
use crate::schema::shape::{ArrayShape, CollectionShape, EnumShape, Notify};

#[derive(Clone, Copy)]
pub(crate) struct Command {
    /// The offset of the value in bytes from the start of the object or element.
    pub(crate) offset: u32,
    /// The handle of the command in its object or element, counted from one. A return command has the handle
    /// zero.
    pub(crate) handle: u32,
    pub(crate) kind: CommandKind,
}

#[derive(Clone, Copy)]
pub(crate) enum CommandKind {
    Leaf(LeafCommand),
    Array(ArrayCommand),
    Enum(EnumCommand),
    /// One variant of the enum before it. This is the command of an array with one element, which has the
    /// fields of the variant.
    Variant(ArrayCommand),
    Items(CollectionCommand<ItemId>),
    Entries(CollectionCommand<KeyBits>),
    Return,
}

/// The command of a value that is always sent whole.
#[derive(Clone, Copy)]
pub(crate) struct LeafCommand {
    pub(crate) codec: Codec,
    /// The size of the value in bytes, if two values of the type are equal if and only if their bytes are
    /// equal. The stored size is zero for all other types.
    pub(crate) bytes: u32,
    /// The direct form of the codec, if the wire form of the value equals its form in memory, as for most
    /// types.
    pub(crate) direct: Option<Direct>,
}

/// The command of an array of variable length. The commands for an element and a return command follow the
/// command of the array.
#[derive(Clone, Copy)]
pub(crate) struct ArrayCommand {
    pub(crate) shape: &'static ArrayShape,
    /// The index after the return command of the array.
    pub(crate) end: u32,
    /// The index at which the handle table of an element begins.
    pub(crate) table: u32,
    /// The number of handles of one element.
    pub(crate) handles: u32,
    /// The greatest number of elements that are sent.
    pub(crate) max_len: u32,
    /// The minimum size of a new element in bits.
    pub(crate) least_bits: u32,
    /// The index of the variant, if this is the command of a variant of an enum.
    pub(crate) variant: Option<u32>,
    /// The [element handle](ArrayCommand::step) of the first property of the first element. It
    /// is zero for an array. The properties of all variants of an enum have different element handles.
    pub(crate) first_step: u32,
}

impl ArrayCommand {
    /// Returns the number that is sent before the changes of an array of `len` elements: the length, or the
    /// index of the variant of an enum.
    pub(crate) fn count(&self, len: usize) -> usize {
        self.variant.map_or(len, |variant| variant as usize)
    }

    /// Returns whether more than the count is sent for an array of `len` elements. Nothing follows the number
    /// of a variant without fields.
    pub(crate) fn has_values(&self, len: usize) -> bool {
        len > 0 && (self.variant.is_none() || self.handles > 0)
    }

    /// Returns the element handle of a property: its number among the properties of all elements, counted
    /// from zero. `handle` is its handle in its element, counted from one.
    pub(crate) fn step(&self, index: usize, handle: u32) -> u32 {
        let first = self.first_step.saturating_add(self.handles.saturating_mul(index as u32));
        first.saturating_add(handle.saturating_sub(1))
    }
}

/// The command of an enum whose variants are sent field by field. The commands of the variants and a return
/// command follow the command of the enum. The command of a variant is followed by the commands of its fields
/// and a return command.
#[derive(Clone, Copy)]
pub(crate) struct EnumCommand {
    pub(crate) shape: &'static EnumShape,
    /// The index after the return command of the enum.
    pub(crate) end: u32,
    /// The index at which the table of the variants begins. It has an entry for each variant.
    pub(crate) table: u32,
}

/// The command of a fast array or a map. The commands for an element and a return command follow the command
/// of the collection.
pub(crate) struct CollectionCommand<I: Identity> {
    pub(crate) shape: &'static CollectionShape<I>,
    /// The index of the first command of an element.
    pub(crate) first: u32,
    /// The index after the return command of the collection.
    pub(crate) end: u32,
    /// The index at which the handle table of an element begins.
    pub(crate) table: u32,
    /// The number of handles of one element.
    pub(crate) handles: u32,
    /// The greatest number of elements that a server sends.
    pub(crate) max_len: u32,
    /// Whether changes of elements are reported: to callbacks of the elements, to callbacks of a fast array
    /// that contains the collection, or to a notify.
    pub(crate) watched: bool,
}

impl CommandKind {
    /// Returns the direct form of the codec, if this is the command of a leaf whose codec has one.
    #[inline]
    pub(crate) fn direct(&self) -> Option<Direct> {
        if let Self::Leaf(leaf) = self { leaf.direct } else { None }
    }
}

impl<I: Identity> Clone for CollectionCommand<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Identity> Copy for CollectionCommand<I> {}

/// An [`Identity`] (the id or key of an element) with its own kind of collection command in a program.
pub(crate) trait Collected: Identity {
    /// Returns the collection command in `kind`, if the elements of the collection have identities of this
    /// type.
    fn command(kind: &CommandKind) -> Option<&CollectionCommand<Self>>;
}

impl Collected for ItemId {
    fn command(kind: &CommandKind) -> Option<&CollectionCommand<Self>> {
        if let CommandKind::Items(command) = kind { Some(command) } else { None }
    }
}

impl Collected for KeyBits {
    fn command(kind: &CommandKind) -> Option<&CollectionCommand<Self>> {
        if let CommandKind::Entries(command) = kind { Some(command) } else { None }
    }
}

/// One replicated field, or one element of a field that is a fixed array.
#[derive(Clone, Copy, Debug)]
pub struct Parent {
    pub(crate) property: PropertyIndex,
    pub(crate) condition: Condition,
    pub(crate) notify: Notify,
    pub(crate) push: bool,
    /// Whether the property has a custom condition that is switched off at first for each connection.
    pub(crate) starts_off: bool,
    /// The range of the parent's commands. The end of the range is exclusive (S7).
    pub(crate) commands: (u32, u32),
    /// The range of the parent's handles. The end of the range is exclusive.
    pub(crate) handles: (u32, u32),
}

/// The command that fills the tables of a program before they are made.
pub(super) const BLANK: Command = Command { offset: 0, handle: 0, kind: CommandKind::Return };
