//! Programs: a program is a layout as a flat list of commands. Objects are compared, written and read with
//! the program of their type.
//!
//! *Invariant:* commands are in the order of declaration. The commands for an element of an array are between
//! the array command and its return command. The commands for an element have offsets from the start of the
//! element, and handles from one (S9, S19).

use std::borrow::Cow;

use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::property_index::PropertyIndex;
use crate::schema::codec::{Codec, Direct};
use crate::schema::condition::Condition;
use crate::schema::joined::{Form, Joined};
use crate::schema::layout::{Layout, count, least_bits, parents_of, travels};
use crate::schema::shape::{ArrayShape, CollectionShape, Formatted, Kind, Notify};

/// A layout as a flat list of commands.
#[derive(Clone)]
pub struct Program {
    layout: &'static Layout,
    commands: Cow<'static, [Command]>,
    parents: Cow<'static, [Parent]>,
    /// The index of the command of each handle, in one table for the object and one for each kind of element
    /// in it. The table of the object itself is the first (S22).
    tables: Cow<'static, [u32]>,
    /// The same tables, with the most used values of each command. They are empty until
    /// [`join_leaves`](Self::join_leaves) is called.
    entries: Vec<TableEntry>,
}

/// One handle in the handle table of an object or element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableEntry {
    command: u32,
    /// The offset of the value in bytes from the start of the object or element.
    pub(crate) offset: u32,
    /// How many leaves are joined (compared, copied and sent together), beginning with the leaf at the
    /// handle.
    joined: Joined,
    /// The number of consecutive direct properties, beginning with the property of this handle. A property is
    /// direct if it is a leaf whose bytes in memory are its wire form.
    direct: u32,
    /// The number of bits on the wire of all direct properties from the first handle of the table to this
    /// handle, inclusive.
    direct_bits: u32,
    /// The number of bits of the value on the wire if the property is direct.
    bits: u32,
}

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

const BLANK: Command = Command { offset: 0, handle: 0, kind: CommandKind::Return };
const BLANK_PARENT: Parent = Parent {
    property: PropertyIndex::new(0),
    condition: Condition::None,
    notify: Notify::None,
    push: false,
    starts_off: false,
    commands: (0, 0),
    handles: (0, 0),
};

/// Static tables with exact lengths, for a type without generic parameters.
/// [`static_program!`](crate::__private::static_program) makes static tables.
pub struct Tables<const COMMANDS: usize, const PARENTS: usize, const TABLES: usize> {
    layout: &'static Layout,
    commands: [Command; COMMANDS],
    parents: [Parent; PARENTS],
    tables: [u32; TABLES],
}

impl<const COMMANDS: usize, const PARENTS: usize, const TABLES: usize> Tables<COMMANDS, PARENTS, TABLES> {
    /// Makes the tables of the program from `layout`. The tables have the lengths that the layout states as
    /// counts.
    #[must_use]
    pub const fn of(layout: &'static Layout) -> Self {
        let mut made = Self {
            layout,
            commands: [BLANK; COMMANDS],
            parents: [BLANK_PARENT; PARENTS],
            tables: [0; TABLES],
        };
        flatten(layout, &mut made.commands, &mut made.parents, &mut made.tables);
        made
    }

    /// Returns the program that uses these tables.
    #[must_use]
    pub const fn program(&'static self) -> Program {
        Program {
            layout: self.layout,
            commands: Cow::Borrowed(&self.commands),
            parents: Cow::Borrowed(&self.parents),
            tables: Cow::Borrowed(&self.tables),
            entries: Vec::new(),
        }
    }
}

impl Program {
    /// Makes the program of `layout` at run time. Generic types need this function, because the lengths of
    /// their tables cannot be constants.
    #[must_use]
    pub fn build(layout: &'static Layout) -> Self {
        let counts = layout.counts;
        let mut commands = vec![BLANK; counts.commands];
        let mut parents = vec![BLANK_PARENT; counts.parents];
        let mut tables = vec![0; counts.tables];
        flatten(layout, &mut commands, &mut parents, &mut tables);
        Self {
            layout,
            commands: Cow::Owned(commands),
            parents: Cow::Owned(parents),
            tables: Cow::Owned(tables),
            entries: Vec::new(),
        }
    }

    /// Returns the layout from which this program was made.
    #[must_use]
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Returns whether this program was made from `layout`, and so describes the same type. Only compares the
    /// addresses of the layouts. This is enough, because a layout contains the identity of its type: the
    /// layouts of two types never have the same address.
    #[inline]
    pub(crate) fn is_of(&self, layout: &'static Layout) -> bool {
        std::ptr::eq(self.layout, layout)
    }

    /// Returns the number of handles of the object itself, without the handles inside elements.
    #[must_use]
    pub fn handles(&self) -> u32 {
        self.layout.counts.handles as u32
    }

    #[inline]
    pub(crate) fn commands(&self) -> &[Command] {
        &self.commands
    }

    pub(crate) fn parents(&self) -> &[Parent] {
        &self.parents
    }

    /// Returns the handle table of the object itself (not of its elements): for each handle in ascending
    /// order, the index of its command.
    #[inline]
    pub(crate) fn own_table(&self) -> &[TableEntry] {
        self.table(0, self.handles())
    }

    /// Returns the handle table that begins at `start` and has `handles` entries.
    #[inline]
    pub(crate) fn table(&self, start: u32, handles: u32) -> &[TableEntry] {
        self.entries.get(start as usize..start.saturating_add(handles) as usize).unwrap_or_default()
    }

    /// Returns the command of `handle` in a handle table. `handle` is counted from one.
    #[inline]
    pub(crate) fn command(&self, table: &[TableEntry], handle: u32) -> Option<&Command> {
        let entry = table.get(handle.wrapping_sub(1) as usize)?;
        self.commands.get(entry.command as usize)
    }

    /// Joins the leaves that have consecutive handles and lie in memory without gaps, so that they are
    /// compared, copied, written and read together. Costs O(commands).
    // The leaves are joined at run time. At compile time, this would take a part of the limited evaluation
    // steps for constants.
    pub(crate) fn join_leaves(&mut self) {
        let mut joined = vec![Joined::NONE; self.commands.len()];
        let mut next = (0, 0, Joined::NONE);
        for (command, joined) in self.commands.iter().zip(&mut joined).rev() {
            let CommandKind::Leaf(leaf) = &command.kind else {
                next.2 = Joined::NONE;
                continue;
            };
            let (handle, offset, rest) = next;
            *joined = Joined::of(leaf.direct);
            if command.handle + 1 == handle && command.offset + u32::from(joined.bytes) == offset {
                *joined = joined.with(rest);
            }
            next = (command.handle, command.offset, *joined);
        }
        let mut direct_bits = 0;
        let entry = |&index: &u32| {
            let (command, joined) = (&self.commands[index as usize], joined[index as usize]);
            let bits = command.kind.direct().map_or(0, |direct| direct.bits.into());
            direct_bits = bits + if command.handle == 1 { 0 } else { direct_bits };
            TableEntry { command: index, offset: command.offset, joined, direct: 0, direct_bits, bits }
        };
        self.entries = self.tables.iter().map(entry).collect();
        let (mut direct, mut next) = (0, 0);
        for entry in self.entries.iter_mut().rev() {
            let handle = self.commands[entry.command as usize].handle;
            let before = if handle + 1 == next { direct } else { 0 };
            (direct, next) = (if entry.joined.leaves == 0 { 0 } else { before + 1 }, handle);
            entry.direct = direct;
        }
    }

    /// Returns how many consecutive handles from `handle` on, at most `max`, have direct properties, and how
    /// many bits the values of these properties take.
    #[inline]
    pub(crate) fn direct(table: &[TableEntry], handle: u32, max: u32) -> (u32, u32) {
        let at = handle.wrapping_sub(1) as usize;
        let count = table.get(at).map_or(0, |entry| entry.direct.min(max));
        let entries = table.get(at..at.wrapping_add(count as usize)).unwrap_or_default();
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return (0, 0) };
        (count, last.direct_bits - first.direct_bits + first.bits)
    }

    /// Returns the leaf of the first of `entries` together with the leaves after it in `entries` with which
    /// it is joined. `entries` are consecutive entries of a table. Returns `None` if the first entry is not a
    /// leaf, or if the bytes of the leaf are not its wire form.
    #[inline]
    pub(crate) fn joined(entries: &[TableEntry]) -> Option<Joined> {
        let first = entries.first()?;
        let joined = first.joined;
        if usize::from(joined.leaves) <= entries.len() {
            return (joined.leaves > 0).then_some(joined);
        }
        // The leaves lie without gaps, so they end where the last one ends.
        let last = entries.last()?;
        let bytes = last.offset - first.offset + if joined.form == Form::Flags { 1 } else { last.bits / 8 };
        Some(Joined { leaves: entries.len() as u16, bytes: bytes as u16, ..joined })
    }

    /// Returns the commands of a handle table, in the order of their handles.
    pub(crate) fn commands_of(&self, table: &[TableEntry]) -> impl Iterator<Item = &Command> {
        let commands = self.commands();
        table.iter().filter_map(move |entry| commands.get(entry.command as usize))
    }

    /// Returns the commands of the collections of one kind, at any depth.
    pub(crate) fn collections<I: Collected>(&self) -> impl Iterator<Item = &CollectionCommand<I>> {
        self.commands.iter().filter_map(|command| I::command(&command.kind))
    }

    fn kind(&self, handle: u32) -> Option<&CommandKind> {
        let own = self.tables.get(..self.layout.counts.handles)?;
        let command = *own.get(handle.wrapping_sub(1) as usize)?;
        self.commands.get(command as usize).map(|command| &command.kind)
    }

    /// Returns whether the property at `handle` of the object itself is an array.
    pub(crate) fn is_array(&self, handle: u32) -> bool {
        matches!(self.kind(handle), Some(CommandKind::Array(_)))
    }

    /// Returns whether the property at `handle` of the object itself is sent as differences.
    pub(crate) fn has_deltas(&self, handle: u32) -> bool {
        let Some(CommandKind::Leaf(leaf)) = self.kind(handle) else { return false };
        matches!(leaf.codec, Codec::Opaque(opaque) if opaque.delta.is_some())
    }

    /// Returns whether the property at `handle` of the object itself is a collection of this kind.
    pub(crate) fn is_collection<I: Collected>(&self, handle: u32) -> bool {
        self.kind(handle).is_some_and(|kind| I::command(kind).is_some())
    }

    /// Returns whether a scan of plain memory and strings covers the property at `handle`.
    pub(crate) fn is_plain(&self, handle: u32) -> bool {
        match self.kind(handle) {
            Some(CommandKind::Leaf(leaf)) => {
                leaf.bytes > 0 || matches!(leaf.codec, Codec::String { text, .. } if text.is_string)
            }
            _ => false,
        }
    }
}

/// The position at which [`flatten`] writes next to the tables.
struct Cursor<'a> {
    commands: &'a mut [Command],
    tables: &'a mut [u32],
    command: usize,
    /// The index of the first entry that is not reserved for a handle table.
    free: usize,
    /// Whether the current property has a notify, or is inside a collection with callbacks.
    watched: bool,
}

/// An object or element while its handle table is being filled.
#[derive(Clone, Copy)]
struct Level {
    table: usize,
    handles: usize,
}

const fn flatten(layout: &Layout, commands: &mut [Command], parents: &mut [Parent], tables: &mut [u32]) {
    let mut cursor = Cursor { commands, tables, command: 0, free: layout.counts.handles, watched: false };
    let mut level = Level { table: 0, handles: 0 };
    let mut parent = 0;
    let mut i = 0;
    while i < layout.fields.len() {
        let field = &layout.fields[i];
        let elements = parents_of(field);
        cursor.watched = !matches!(field.notify, Notify::None);
        let repeated = Repeated::of(match field.formatted().kind() {
            Kind::FixedArray { element, .. } => field.formatted().element(element),
            _ => field.formatted(),
        });
        let mut element = 0;
        while element < elements {
            let (first_command, first_handle) = (cursor.command, level.handles);
            level = repeated.emit(field.offset, element, level, &mut cursor);
            parents[parent] = Parent {
                property: PropertyIndex::new(i),
                condition: field.condition,
                notify: field.notify,
                push: field.push,
                starts_off: field.starts_off,
                commands: (first_command as u32, cursor.command as u32),
                handles: (first_handle as u32 + 1, level.handles as u32 + 1),
            };
            parent += 1;
            element += 1;
        }
        i += 1;
    }
    cursor.commands[cursor.command] = BLANK;
}

/// A property that may be repeated, such as the elements of a fixed array. Its command is made once for all
/// elements, because the compiler makes commands slowly.
#[derive(Clone, Copy)]
struct Repeated {
    property: Formatted,
    /// The command, if the property is a leaf.
    leaf: Option<CommandKind>,
}

impl Repeated {
    const fn of(property: Formatted) -> Self {
        let leaf = match property.kind() {
            Kind::Leaf(codec) if travels(property) => {
                let bytes = if property.shape.bitwise { property.shape.size as u32 } else { 0 };
                Some(CommandKind::Leaf(LeafCommand { codec, bytes, direct: codec.direct() }))
            }
            _ => None,
        };
        Self { property, leaf }
    }

    /// Appends the commands of the element at an index, if the first element begins at `offset`.
    const fn emit(&self, offset: usize, index: usize, level: Level, cursor: &mut Cursor<'_>) -> Level {
        let offset = offset + index * self.property.shape.size;
        match self.leaf {
            Some(leaf) => push(offset, leaf, level, cursor),
            None => emit(self.property, offset, level, cursor),
        }
    }
}

/// Appends the commands of a property that begins at `offset`.
const fn emit(property: Formatted, offset: usize, level: Level, cursor: &mut Cursor<'_>) -> Level {
    let mut level = level;
    match property.kind() {
        Kind::Leaf(_) => {
            if let Some(leaf) = Repeated::of(property).leaf {
                level = push(offset, leaf, level, cursor);
            }
        }
        Kind::Struct(fields) => {
            let mut i = 0;
            while i < fields.len() {
                level = emit(property.field(&fields[i]), offset + fields[i].offset, level, cursor);
                i += 1;
            }
        }
        Kind::FixedArray { element, len } => {
            let (repeated, mut i) = (Repeated::of(property.element(element)), 0);
            while i < len {
                level = repeated.emit(offset, i, level, cursor);
                i += 1;
            }
        }
        Kind::Array(_) if !travels(property) => {}
        Kind::Array(shape) => {
            let element = property.element(shape.element);
            let (table, handles) = reserve(element, cursor);
            let command = ArrayCommand {
                shape,
                end: 0,
                table,
                handles,
                max_len: property.array_len(shape),
                least_bits: least_bits(shape, element),
            };
            let at = cursor.command;
            level = push(offset, CommandKind::Array(command), level, cursor);
            let end = emit_element(element, table, cursor);
            cursor.commands[at].kind = CommandKind::Array(ArrayCommand { end, ..command });
        }
        Kind::Items(shape) => {
            let (at, around) = (cursor.command, cursor.watched);
            cursor.watched |= shape.has_callbacks;
            let mut command = collection(property, shape, cursor.watched, cursor);
            level = push(offset, CommandKind::Items(command), level, cursor);
            command.end = emit_element(property.element(shape.element), command.table, cursor);
            cursor.commands[at].kind = CommandKind::Items(command);
            cursor.watched = around;
        }
        Kind::Entries(shape) => {
            let at = cursor.command;
            let elements = &shape.elements;
            let mut command = collection(property, elements, elements.has_callbacks, cursor);
            level = push(offset, CommandKind::Entries(command), level, cursor);
            command.end = emit_element(property.element(elements.element), command.table, cursor);
            cursor.commands[at].kind = CommandKind::Entries(command);
        }
    }
    level
}

/// Returns the command of a collection. Its field `end` is not set yet.
const fn collection<I: Identity>(
    property: Formatted,
    shape: &'static CollectionShape<I>,
    watched: bool,
    cursor: &mut Cursor<'_>,
) -> CollectionCommand<I> {
    let (table, handles) = reserve(property.element(shape.element), cursor);
    let (first, max_len) = (cursor.command as u32 + 1, property.collection_len(shape));
    CollectionCommand { shape, first, end: 0, table, handles, max_len, watched }
}

/// Reserves a handle table for the elements of an array or collection. Returns the start of the table and the
/// number of handles of an element.
const fn reserve(element: Formatted, cursor: &mut Cursor<'_>) -> (u32, u32) {
    let (table, handles) = (cursor.free, count(element).handles);
    cursor.free += handles;
    (table as u32, handles as u32)
}

/// Appends the commands for an element of an array or collection, and a return command. Returns the index
/// after the return command.
const fn emit_element(element: Formatted, table: u32, cursor: &mut Cursor<'_>) -> u32 {
    emit(element, 0, Level { table: table as usize, handles: 0 }, cursor);
    cursor.commands[cursor.command] = BLANK;
    cursor.command += 1;
    cursor.command as u32
}

const fn push(offset: usize, kind: CommandKind, level: Level, cursor: &mut Cursor<'_>) -> Level {
    assert!(offset <= u32::MAX as usize, "an object larger than 4 GiB cannot be replicated");
    cursor.tables[level.table + level.handles] = cursor.command as u32;
    cursor.commands[cursor.command] =
        Command { offset: offset as u32, handle: level.handles as u32 + 1, kind };
    cursor.command += 1;
    Level { table: level.table, handles: level.handles + 1 }
}

/// Makes the program of a type without generic parameters, which uses static tables of exact length.
/// `$layout` must be a constant.
#[doc(hidden)]
#[macro_export]
macro_rules! static_program {
    ($layout:ident) => {{
        const COUNTS: $crate::Counts = $layout.counts();
        static TABLES: $crate::__private::Tables<{ COUNTS.commands }, { COUNTS.parents }, { COUNTS.tables }> =
            $crate::__private::Tables::of($layout);
        TABLES.program()
    }};
}
