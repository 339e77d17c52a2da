//! Flattening: fills the tables of a program from a layout, at compile time if the type has no generic
//! parameters.
//!
//! *Invariant:* the tables have exactly the lengths that the layout states as counts.

use crate::ids::identity::Identity;
use crate::ids::property_index::PropertyIndex;
use crate::schema::command::{
    ArrayCommand, BLANK, CollectionCommand, Command, CommandKind, EnumCommand, LeafCommand, Parent,
};
use crate::schema::contents::travels;
use crate::schema::layout::{Layout, count, count_fields, least_bits, parents_of};
use crate::schema::shape::{CollectionShape, EnumShape, Field, Formatted, Kind, Notify};

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

/// Fills the tables of the program of `layout`.
pub(super) const fn flatten(
    layout: &Layout,
    commands: &mut [Command],
    parents: &mut [Parent],
    tables: &mut [u32],
) {
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
        Kind::Struct(fields) => level = emit_fields(property, fields, offset, level, cursor),
        Kind::FixedArray { element, len } => {
            let (repeated, mut i) = (Repeated::of(property.element(element)), 0);
            while i < len {
                level = repeated.emit(offset, i, level, cursor);
                i += 1;
            }
        }
        Kind::Array(_) | Kind::Enum(_) if !travels(property) => {}
        Kind::Enum(shape) => level = emit_enum(property, shape, offset, level, cursor),
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
                variant: None,
                first_step: 0,
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

/// Appends the commands of the fields of a struct or of a variant that begins at `offset`.
const fn emit_fields(
    property: Formatted,
    fields: &'static [Field],
    offset: usize,
    level: Level,
    cursor: &mut Cursor<'_>,
) -> Level {
    let (mut level, mut i) = (level, 0);
    while i < fields.len() {
        level = emit(property.field(&fields[i]), offset + fields[i].offset, level, cursor);
        i += 1;
    }
    level
}

/// Appends the commands of an enum that begins at `offset`. The offsets of the fields of its variants are not
/// known at compile time. [`place_variants`](crate::schema::placing::place_variants) sets them later.
const fn emit_enum(
    property: Formatted,
    shape: &'static EnumShape,
    offset: usize,
    level: Level,
    cursor: &mut Cursor<'_>,
) -> Level {
    let (at, table) = (cursor.command, cursor.free);
    cursor.free += shape.variants.len();
    let command = EnumCommand { shape, end: 0, table: table as u32 };
    let level = push(offset, CommandKind::Enum(command), level, cursor);
    let (mut variants, mut first_step, mut i) = (Level { table, handles: 0 }, 0, 0);
    while i < shape.variants.len() {
        let handles = count_fields(property, shape.variants[i].fields).handles;
        let (variant, inner) = (cursor.command, cursor.free);
        cursor.free += handles;
        let command = ArrayCommand {
            shape: &shape.array,
            end: 0,
            table: inner as u32,
            handles: handles as u32,
            max_len: shape.last(),
            least_bits: 0,
            variant: Some(i as u32),
            first_step,
        };
        variants = push(0, CommandKind::Variant(command), variants, cursor);
        let inner = Level { table: inner, handles: 0 };
        emit_fields(property, shape.variants[i].fields, 0, inner, cursor);
        let end = push_return(cursor);
        cursor.commands[variant].kind = CommandKind::Variant(ArrayCommand { end, ..command });
        first_step += handles as u32;
        i += 1;
    }
    let end = push_return(cursor);
    cursor.commands[at].kind = CommandKind::Enum(EnumCommand { end, ..command });
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
    push_return(cursor)
}

/// Appends a return command. Returns the index after it.
const fn push_return(cursor: &mut Cursor<'_>) -> u32 {
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
