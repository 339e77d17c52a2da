//! Levels: a level is an object, or an element of an array or collection, that is read and written through
//! its table of commands.
//!
//! *Invariant:* the value behind a [`Level`]'s pointer has the type that its commands describe, so the value
//! of each command is at its offset. A level is made only from a reference to a whole object with the program
//! of its type, or from an array, collection or map in another level.
#![expect(unsafe_code, reason = "reads and writes objects through their layouts")]

use std::fmt;
use std::marker::PhantomData;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError};
use crate::ids::delta_base::DeltaBase;
use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::reference::ReferenceMap;
use crate::object::joined::{JoinedLeaves, JoinedLeavesMut};
use crate::object::leaf;
use crate::object::print;
use crate::object::read_recipe::{Read, ReadKind, ReadRecipe};
use crate::object::text;
use crate::schema::codec::Codec;
use crate::schema::command::{
    ArrayCommand, Collected, CollectionCommand, Command, CommandKind, EnumCommand, LeafCommand,
};
use crate::schema::erased::Collection;
use crate::schema::opaque::DeltaLeaf;
use crate::schema::program::{Program, TableEntry};

/// An object or an element of one of its arrays or collections, read-only.
#[derive(Clone, Copy)]
pub(crate) struct Level<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a [TableEntry],
    pub(super) base: *const u8,
    pub(super) object: PhantomData<&'a ()>,
}

/// An object or an element of one of its arrays or collections, mutable.
pub(crate) struct LevelMut<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a [TableEntry],
    pub(super) base: *mut u8,
    pub(super) object: PhantomData<&'a mut ()>,
}

/// A leaf (a value that is sent as a unit), read-only.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'a> {
    command: &'a LeafCommand,
    value: *const u8,
    object: PhantomData<&'a ()>,
}

/// A leaf (a value that is sent as a unit), mutable.
pub(crate) struct LeafMut<'a> {
    command: &'a LeafCommand,
    value: *mut u8,
    object: PhantomData<&'a mut ()>,
}

/// An array of variable length, read-only. An enum is an array, too: its only element has the fields of the
/// active variant.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    pub(super) program: &'a Program,
    pub(super) command: &'a ArrayCommand,
    pub(super) first: *const u8,
    pub(super) len: usize,
    object: PhantomData<&'a ()>,
}

/// The property at one handle of an object or element: a leaf, an array or enum, a fast array or a map.
#[derive(Clone, Copy)]
pub(crate) enum Slot<'a> {
    Leaf(Leaf<'a>),
    Array(Array<'a>),
    Items(Elements<'a, ItemId>),
    Entries(Elements<'a, KeyBits>),
}

/// The property at one handle of a level, or several properties with consecutive handles if their leaves are
/// joined.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// The handle of the first joined leaf, and the joined leaves.
    Joined(u32, JoinedLeaves<'a>),
    Slot(u32, Slot<'a>),
}

/// A collection (a fast array or a map), read-only.
pub(crate) struct Elements<'a, I: Identity> {
    pub(super) program: &'a Program,
    pub(super) command: &'a CollectionCommand<I>,
    pub(crate) collection: &'a dyn Collection<I>,
}

impl<I: Identity> Clone for Elements<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Identity> Copy for Elements<'_, I> {}

/// A collection (a fast array or a map), mutable.
pub(crate) struct ElementsMut<'a, I: Identity> {
    pub(super) program: &'a Program,
    pub(super) command: &'a CollectionCommand<I>,
    pub(crate) collection: &'a mut dyn Collection<I>,
}

impl<I: Identity> ElementsMut<'_, I> {
    pub(crate) fn as_elements(&self) -> Elements<'_, I> {
        Elements { program: self.program, command: self.command, collection: self.collection }
    }
}

impl<'a> Level<'a> {
    /// # Safety
    /// `program` is the program of the type `T`.
    #[inline]
    pub(crate) unsafe fn of<T>(object: &'a T, program: &'a Program) -> Self {
        // SAFETY: the caller guarantees the type, and the object is borrowed for `'a`.
        unsafe { Self::at(std::ptr::from_ref(object).cast(), program) }
    }

    /// # Safety
    /// `base` points to an object of the type of `program`, which is borrowed for `'a`.
    #[inline]
    pub(super) unsafe fn at(base: *const u8, program: &'a Program) -> Self {
        Self { program, table: program.own_table(), base, object: PhantomData }
    }

    pub(crate) fn handles(&self) -> u32 {
        self.table.len() as u32
    }

    /// Returns the slot at `handle`, which is counted from one. Returns `None` if the level has no such
    /// handle.
    #[inline]
    pub(crate) fn slot(&self, handle: u32) -> Option<Slot<'a>> {
        self.slot_of(self.program.command(self.table, handle)?)
    }

    /// Returns the leaf at `handle` together with the leaves after it with which the program has joined it,
    /// at most `max` leaves. Joined leaves are neighbours in memory that are compared and copied together.
    /// Returns `None` if there is no leaf, or if its bytes are not its wire form.
    #[inline]
    pub(crate) fn joined(&self, handle: u32, max: u32) -> Option<JoinedLeaves<'a>> {
        self.joined_of(entries_from(self.table, handle, max))
    }

    /// Does the same as [`joined`](Self::joined) for the leaf of the first of `entries`, which are
    /// consecutive entries of this level's table.
    #[inline]
    fn joined_of(&self, entries: &'a [TableEntry]) -> Option<JoinedLeaves<'a>> {
        let joined = Program::joined(entries)?;
        // SAFETY: the table belongs to the type at `base`, so the offset lies inside that value.
        let first = unsafe { self.base.add(entries.first()?.offset as usize) };
        // SAFETY: the program joins leaves of this value that lie without gaps and have no padding. The value
        // is borrowed for `'a`.
        let memory = unsafe { std::slice::from_raw_parts(first, joined.bytes.into()) };
        Some(JoinedLeaves { joined, entries, memory })
    }

    /// Returns the collection at `handle`, or `None` if the property there is not a collection of this kind.
    pub(crate) fn elements<I: Collected>(&self, handle: u32) -> Option<Elements<'a, I>> {
        let found = self.program.command(self.table, handle)?;
        let command = I::command(&found.kind)?;
        // SAFETY: the command belongs to the type at `base`, so its offset lies inside that value.
        let at = unsafe { self.base.add(found.offset as usize) };
        // SAFETY: as for the previous `unsafe` block.
        Some(unsafe { self.elements_at(command, at) })
    }

    /// Returns the part at `handle`, and moves `handle` past this part. Skips handles that the level does not
    /// have. Returns `None` if no part is left before the handle `end`.
    #[inline(always)]
    pub(crate) fn next_part(&self, handle: &mut u32, end: u32) -> Option<Part<'a>> {
        while *handle < end {
            let at = *handle;
            if let Some(leaves) = self.joined(at, end - at) {
                *handle += leaves.leaves();
                return Some(Part::Joined(at, leaves));
            }
            *handle += 1;
            if let Some(slot) = self.slot(at) {
                return Some(Part::Slot(at, slot));
            }
        }
        None
    }

    /// Writes the values of joined leaves with the handles from `first` on, up to the handle `end` or the
    /// first property that is not joined. Returns the next handle.
    // This function is inlined, because a call for each change would take a seventh of the time of encoding.
    #[inline(always)]
    pub(crate) fn write_joined(&self, first: u32, end: u32, writer: &mut BitWriter) -> u32 {
        let mut entries = entries_from(self.table, first, end - first);
        let count = entries.len();
        while let Some(leaves) = self.joined_of(entries) {
            leaves.write(writer);
            entries = entries.get(leaves.leaves() as usize..).unwrap_or_default();
        }
        first + (count - entries.len()) as u32
    }

    /// Returns all slots in the order of their handles.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot<'a>> + use<'a> {
        let level = *self;
        self.program.commands_of(self.table).filter_map(move |command| level.slot_of(command))
    }

    #[inline]
    fn slot_of(&self, command: &'a Command) -> Option<Slot<'a>> {
        // SAFETY: the command belongs to the type at `base`, so its offset lies inside that value.
        let at = unsafe { self.base.add(command.offset as usize) };
        match &command.kind {
            CommandKind::Leaf(leaf) => {
                Some(Slot::Leaf(Leaf { command: leaf, value: at, object: PhantomData }))
            }
            // SAFETY: as for the previous `unsafe` block.
            _ => unsafe { self.slot_with_elements(command, at) },
        }
    }

    /// Does the same as [`slot_of`](Self::slot_of) for all commands except commands of leaves. This is a
    /// separate function, so that the code for leaves, the common case, stays short.
    ///
    /// # Safety
    /// `at` points to a value of the type that `command` describes, and this value is borrowed for `'a`.
    #[inline(never)]
    unsafe fn slot_with_elements(&self, command: &'a Command, at: *const u8) -> Option<Slot<'a>> {
        match &command.kind {
            // SAFETY: the caller guarantees this.
            CommandKind::Array(array) => Some(Slot::Array(unsafe { Array::at(self.program, array, at) })),
            CommandKind::Enum(command) => {
                // SAFETY: the caller guarantees this.
                unsafe { Array::of_enum(self.program, command, at) }.map(Slot::Array)
            }
            // SAFETY: the caller guarantees this.
            CommandKind::Items(items) => Some(Slot::Items(unsafe { self.elements_at(items, at) })),
            // SAFETY: the caller guarantees this.
            CommandKind::Entries(entries) => Some(Slot::Entries(unsafe { self.elements_at(entries, at) })),
            CommandKind::Leaf(_) | CommandKind::Variant(_) | CommandKind::Return => None,
        }
    }

    /// # Safety
    /// `at` points to a value of the type that `command` describes, and this value is borrowed for `'a`.
    unsafe fn elements_at<I: Identity>(
        &self,
        command: &'a CollectionCommand<I>,
        at: *const u8,
    ) -> Elements<'a, I> {
        // SAFETY: the command guarantees that `at` points to a collection of this shape, which is borrowed
        // for `'a`.
        let collection = unsafe { &*(command.shape.as_ref)(at) };
        Elements { program: self.program, command, collection }
    }
}

impl<'a> LevelMut<'a> {
    /// # Safety
    /// `program` is the program of the type `T`.
    #[inline]
    pub(crate) unsafe fn of<T>(object: &'a mut T, program: &'a Program) -> Self {
        let base = std::ptr::from_mut(object).cast();
        Self { program, table: program.own_table(), base, object: PhantomData }
    }

    pub(crate) fn reborrow(&mut self) -> LevelMut<'_> {
        LevelMut { program: self.program, table: self.table, base: self.base, object: PhantomData }
    }

    #[inline]
    pub(crate) fn as_level(&self) -> Level<'_> {
        Level { program: self.program, table: self.table, base: self.base, object: PhantomData }
    }

    /// Returns the command of `handle` and a pointer to its value.
    #[inline]
    pub(super) fn at(&self, handle: u32) -> Option<(&'a CommandKind, *mut u8)> {
        let command = self.program.command(self.table, handle)?;
        // SAFETY: the command belongs to the type at `base`, so its offset lies inside that value.
        Some((&command.kind, unsafe { self.base.add(command.offset as usize) }))
    }

    /// Returns the leaf at `handle`. Returns `None` if the property at `handle` is not a leaf.
    #[inline]
    pub(crate) fn leaf(&mut self, handle: u32) -> Option<LeafMut<'_>> {
        let (CommandKind::Leaf(command), value) = self.at(handle)? else { return None };
        Some(LeafMut { command, value, object: PhantomData })
    }

    /// Returns the leaf at `handle` together with the leaves after it with which the program has joined it,
    /// at most `max` leaves. Returns `None` if there is no leaf, or if its bytes are not its wire form.
    #[inline]
    pub(crate) fn joined(&mut self, handle: u32, max: u32) -> Option<JoinedLeavesMut<'_>> {
        self.joined_of(entries_from(self.table, handle, max))
    }

    /// Does the same as [`joined`](Self::joined) for the leaf of the first of `entries`, which are
    /// consecutive entries of this level's table.
    #[inline]
    fn joined_of<'s>(&'s mut self, entries: &'s [TableEntry]) -> Option<JoinedLeavesMut<'s>> {
        let joined = Program::joined(entries)?;
        // SAFETY: the table belongs to the type at `base`, so the offset lies inside that value.
        let first = unsafe { self.base.add(entries.first()?.offset as usize) };
        Some(JoinedLeavesMut { joined, entries, first, object: PhantomData })
    }

    /// Reads the values of `count` properties from the handle `first` on, all of them leaves that can be
    /// joined. The values begin at bit `at` of `bits`. Returns the position of the bit after the values.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    #[inline]
    pub(crate) fn read_direct(&mut self, first: u32, count: u32, bits: BitSlice<'_>, at: usize) -> usize {
        let (mut entries, mut at) = (entries_from(self.table, first, count), at);
        while let Some(mut leaves) = self.joined_of(entries) {
            at = leaves.read(bits, at);
            entries = entries.get(leaves.joined.leaves.into()..).unwrap_or_default();
        }
        debug_assert!(entries.is_empty() && at <= bits.len(), "a property that is not direct");
        at
    }

    pub(crate) fn elements<I: Collected>(&mut self, handle: u32) -> Option<ElementsMut<'_, I>> {
        let (kind, at) = self.at(handle)?;
        let command = I::command(kind)?;
        // SAFETY: the command guarantees that `at` points to a collection of this shape, which is borrowed
        // mutably.
        let collection = unsafe { &mut *(command.shape.as_mut)(at) };
        Some(ElementsMut { program: self.program, command, collection })
    }

    /// Reads a value from `reader` into the leaf at `handle`. If reading returns an error, the value of the
    /// leaf is unchanged.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    pub(crate) fn read_leaf(
        &mut self,
        handle: u32,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        let leaf = self.leaf(handle).ok_or(ReadError::UnknownVariant)?;
        // SAFETY: the pointer points to a value of the command's type, which is borrowed mutably.
        unsafe { leaf::read_value(&leaf.command.codec, reader, references, leaf.value) }
    }
}

/// Reads the values of an update of an object with a recipe (a list of the places and types of the values).
/// The values begin at bit `at` of `bits`, and were validated. Returns the position of the bit after the
/// values.
///
/// # Safety
/// `program` is the program of the type `T`.
///
/// # Panics
/// Panics if the recipe is for objects of another type.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#[inline(always)]
pub(crate) unsafe fn read_by<T>(
    (object, program): (&mut T, &Program),
    recipe: &ReadRecipe,
    bits: BitSlice<'_>,
    at: usize,
) -> usize {
    assert!(recipe.is_for(program), "a recipe for objects of another type");
    let base = std::ptr::from_mut(object).cast::<u8>();
    if let [Read { offset, what: ReadKind::Word(joined) }] = *recipe.reads() {
        // This is a fast path, because most updates change only one number. SAFETY: the recipe is for objects
        // of this type, so the offset lies inside the object.
        let place = unsafe { base.add(offset as usize) };
        // SAFETY: the program of the object joins these leaves, which are borrowed mutably with the object.
        return unsafe { JoinedLeavesMut::at(place, joined) }.read_word(bits, at);
    }
    // SAFETY: the recipe is for objects of this type, and the object is borrowed mutably.
    unsafe { read_each(base, recipe, bits, at) }
}

/// Does the same as [`read_by`] for any recipe.
///
/// # Safety
/// `base` points to an object of the type for which the recipe was made. The object is borrowed mutably.
#[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#[inline(never)]
unsafe fn read_each(base: *mut u8, recipe: &ReadRecipe, bits: BitSlice<'_>, at: usize) -> usize {
    let mut at = at;
    for Read { offset, what } in recipe.reads() {
        // SAFETY: the recipe was made from the program of this object, so the offset lies inside it.
        let place = unsafe { base.add(*offset as usize) };
        at = match *what {
            ReadKind::Word(joined) => {
                // SAFETY: the program joins these leaves, which are borrowed mutably with the object.
                unsafe { JoinedLeavesMut::at(place, joined) }.read_word(bits, at)
            }
            ReadKind::Words(joined) => {
                // SAFETY: as for the previous `unsafe` block.
                unsafe { JoinedLeavesMut::at(place, joined) }.read(bits, at)
            }
            ReadKind::Leaf(codec) => {
                let Some(codec) = recipe.codec(codec) else { continue };
                // SAFETY: the program has a value of the codec's type at the offset, which is borrowed
                // mutably.
                unsafe { leaf::read_plain(codec, bits, at, place) }
            }
        };
    }
    at
}

impl<'a> Array<'a> {
    /// # Safety
    /// `at` points to an array that `command` describes, which is borrowed for `'a`.
    unsafe fn at(program: &'a Program, command: &'a ArrayCommand, at: *const u8) -> Self {
        // SAFETY: the caller guarantees this.
        let (first, len) = unsafe { (command.shape.parts)(at) };
        Self { program, command, first, len, object: PhantomData }
    }

    /// # Safety
    /// `at` points to an enum that `command` describes, which is borrowed for `'a`.
    unsafe fn of_enum(program: &'a Program, command: &'a EnumCommand, at: *const u8) -> Option<Self> {
        // SAFETY: the caller guarantees this.
        let variant = unsafe { active_variant(program, command, at) }?;
        // SAFETY: an enum is described by the command of its active variant.
        Some(unsafe { Self::at(program, variant, at) })
    }
}

/// Returns the command of the active variant of an enum.
///
/// # Safety
/// `at` points to an enum that `command` describes.
pub(super) unsafe fn active_variant<'p>(
    program: &'p Program,
    command: &EnumCommand,
    at: *const u8,
) -> Option<&'p ArrayCommand> {
    // SAFETY: the caller guarantees this.
    program.variant(command, unsafe { (command.shape.active)(at) })
}

impl LeafMut<'_> {
    #[inline]
    pub(crate) fn as_leaf(&self) -> Leaf<'_> {
        Leaf { command: self.command, value: self.value, object: PhantomData }
    }

    /// Copies the value of `from` to this leaf. `from` is the same property of another object.
    #[inline]
    pub(crate) fn copy(&mut self, from: Leaf<'_>) {
        assert!(std::ptr::eq(self.command, from.command), "leaves of different properties");
        // SAFETY: both pointers point to a value of the command's type. The two pointers lead to different
        // values, because this level is borrowed mutably.
        unsafe { leaf::copy_value(self.command, from.value, self.value) };
    }
}

impl fmt::Debug for Leaf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the value has the type of its command, and is borrowed as long as the leaf.
        unsafe { print::value(&self.command.codec, self.value, f) }
    }
}

impl Leaf<'_> {
    /// Returns whether `other` has the same value. `other` is the same property of another object.
    #[inline]
    pub(crate) fn identical(&self, other: &Leaf<'_>) -> bool {
        assert!(std::ptr::eq(self.command, other.command), "leaves of different properties");
        // SAFETY: both pointers point to a value of the command's type.
        unsafe { leaf::identical(self.command, self.value, other.value) }
    }

    /// Writes the value. If the value has no wire form, writes the nearest value with a wire form.
    ///
    /// # Errors
    /// Returns an error if the value serialises itself and has no wire form.
    #[inline]
    pub(crate) fn write_nearest(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if let Some(direct) = &self.command.direct {
            // SAFETY: the pointer points to a value of the command's type.
            unsafe { leaf::write_direct(direct, self.value, writer) };
            return Ok(());
        }
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { leaf::write_nearest(&self.command.codec, self.value, writer) }
    }

    /// Returns the functions of a leaf that is sent as differences.
    fn delta(&self) -> Option<&'static DeltaLeaf> {
        match &self.command.codec {
            Codec::Opaque(opaque) => opaque.delta,
            _ => None,
        }
    }

    /// Writes the value as a connection needs it, if it can be sent as a difference. Otherwise writes the
    /// nearest value, like [`write_nearest`](Self::write_nearest).
    pub(crate) fn write_rendition(&self, handle: u32, writer: &mut BitWriter) -> Result<(), WriteError> {
        let Some(delta) = self.delta() else { return self.write_nearest(writer) };
        let rendition = writer.rendition(handle);
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { (delta.write)(self.value, &rendition, writer) }
    }

    /// Returns what is stored of the value to make differences to it, if it is sent as differences.
    pub(crate) fn base(&self) -> Option<DeltaBase> {
        // SAFETY: the pointer points to a value of the command's type.
        self.delta().map(|delta| unsafe { (delta.base)(self.value) })
    }

    /// Writes how the value differs from a base.
    ///
    /// # Errors
    /// Returns an error if the difference cannot be written.
    pub(crate) fn write_difference(
        &self,
        base: &DeltaBase,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        let delta = self.delta().ok_or(WriteError::Other("a property without differences"))?;
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { (delta.difference)(base, self.value, writer) }
    }

    pub(crate) fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { leaf::write_value(&self.command.codec, self.value, writer) }
    }

    /// Returns the wire form of an integer or a quantised float as a number. Returns `None` for other leaves.
    ///
    /// # Errors
    /// Returns an error if the value has no wire form.
    #[inline]
    pub(crate) fn number(&self) -> Result<Option<u64>, WriteError> {
        // SAFETY: the pointer points to a value of the command's type.
        let number = unsafe { leaf::number(&self.command.codec, self.value) }?;
        Ok(number.map(|(number, _)| number))
    }

    /// Returns the number of bits that every value of this leaf takes. Returns `None` if this number depends
    /// on the value.
    pub(crate) fn width_bits(&self) -> Option<u32> {
        self.command.codec.width_bits()
    }

    /// Returns whether some values of the leaf's type have no wire form, or have the same wire form as other
    /// values.
    #[inline]
    pub(crate) fn must_be_tried(&self) -> bool {
        self.command.codec.must_be_tried()
    }

    #[inline]
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.command.codec, Codec::String { .. })
    }

    /// Returns the error that writing the text would return. Costs less than writing the text.
    #[inline]
    pub(crate) fn check_text(&self) -> Result<(), WriteError> {
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { text::check_text(&self.command.codec, self.value) }
    }

    /// Returns how many bytes the text takes outside of the object. Returns zero for other values, and for
    /// texts in other types than `String`.
    pub(crate) fn text_bytes(&self) -> usize {
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { text::text_bytes(&self.command.codec, self.value) }
    }

    /// Returns whether two values that differ in memory may have the same wire form.
    pub(crate) fn is_lossy(&self) -> bool {
        self.command.codec.is_lossy()
    }

    /// Returns whether clients keep the number `sent`, because the value has changed only within the margin
    /// since it was sent. The value has a wire form.
    #[inline]
    pub(crate) fn keeps_number(&self, sent: u64) -> bool {
        // SAFETY: the pointer points to a value of the command's type.
        unsafe { leaf::keeps_number(&self.command.codec, sent, self.value) }
    }

    /// Returns whether clients keep the value `sent`, because the value has changed only within the margin
    /// since it was sent. Both values have a wire form that is not a number.
    #[inline]
    pub(crate) fn is_kept_as(&self, sent: &Leaf<'_>) -> bool {
        assert!(std::ptr::eq(self.command, sent.command), "leaves of different properties");
        // SAFETY: both pointers point to a value of the command's type.
        unsafe { leaf::keeps(&self.command.codec, sent.value, self.value) }
    }
}

/// Returns at most `max` entries of a table, from the entry of `handle` on.
#[inline]
pub(super) fn entries_from(table: &[TableEntry], handle: u32, max: u32) -> &[TableEntry] {
    let rest = table.get(handle.wrapping_sub(1) as usize..).unwrap_or_default();
    rest.get(..max as usize).unwrap_or(rest)
}

/// Returns whether the elements with this handle table contain arrays, collections or maps.
pub(super) fn nests(program: &Program, table: u32, handles: u32) -> bool {
    let mut commands = program.commands_of(program.table(table, handles));
    commands.any(|command| !matches!(command.kind, CommandKind::Leaf(_)))
}

/// Makes [`Level`]s of the items of one collection, or of the values of one map. Only pointers to elements of
/// its collection may be passed to an `ElementTable`.
#[derive(Clone, Copy)]
pub(super) struct ElementTable<'a> {
    program: &'a Program,
    table: &'a [TableEntry],
}

impl<'a> ElementTable<'a> {
    pub(super) fn of<I: Identity>(program: &'a Program, command: &CollectionCommand<I>) -> Self {
        Self { program, table: program.table(command.table, command.handles) }
    }

    /// Returns a [`Level`] of the item or value at `base`.
    ///
    /// # Safety
    /// `base` points to a value of the type that this table describes, and the value is borrowed for `'a`.
    pub(super) unsafe fn level(self, base: *const u8) -> Level<'a> {
        Level { program: self.program, table: self.table, base, object: PhantomData }
    }

    /// Returns a [`LevelMut`] of the item or value at `base`.
    ///
    /// # Safety
    /// The caller guarantees what [`level`](Self::level) requires. Nothing else accesses the value while the
    /// returned level exists.
    pub(super) unsafe fn level_mut(self, base: *mut u8) -> LevelMut<'a> {
        LevelMut { program: self.program, table: self.table, base, object: PhantomData }
    }
}
