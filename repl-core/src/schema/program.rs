//! Programs: a program is a layout as a flat list of commands. Objects are compared, written and read with
//! the program of their type.
//!
//! *Invariant:* commands are in the order of declaration. The commands for an element of an array are between
//! the array command and its return command. The commands for an element have offsets from the start of the
//! element, and handles from one (S9, S19).

use std::borrow::Cow;

use crate::ids::property_index::PropertyIndex;
use crate::schema::codec::Codec;
use crate::schema::command::{
    ArrayCommand, BLANK, Collected, CollectionCommand, Command, CommandKind, EnumCommand, Parent,
};
use crate::schema::condition::Condition;
use crate::schema::flatten::flatten;
use crate::schema::joined::{Form, Joined};
use crate::schema::layout::Layout;
use crate::schema::placing::place_variants;
use crate::schema::shape::Notify;

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

    /// Sets the offsets of the fields of variants. Joins the leaves that have consecutive handles and lie in
    /// memory without gaps, so that they are compared, copied, written and read together. Costs O(commands).
    // The leaves are joined at run time. At compile time, this would take a part of the limited evaluation
    // steps for constants.
    pub(crate) fn join_leaves(&mut self) {
        if self.commands.iter().any(|command| matches!(command.kind, CommandKind::Enum(_))) {
            place_variants(self.layout, self.commands.to_mut());
        }
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

    /// Returns the command of a variant of an enum. Returns `None` if there is no such variant.
    pub(crate) fn variant(&self, command: &EnumCommand, variant: usize) -> Option<&ArrayCommand> {
        let variants = self.table(command.table, command.shape.variants.len() as u32);
        let at = variants.get(variant)?.command;
        match &self.commands.get(at as usize)?.kind {
            CommandKind::Variant(variant) => Some(variant),
            _ => None,
        }
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

    /// Returns whether the property at `handle` of the object itself is an array, or an enum whose variants
    /// are sent field by field.
    pub(crate) fn is_array(&self, handle: u32) -> bool {
        matches!(self.kind(handle), Some(CommandKind::Array(_) | CommandKind::Enum(_)))
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
            Some(CommandKind::Leaf(leaf)) => leaf.bytes > 0 || leaf.codec.is_string(),
            _ => false,
        }
    }
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
