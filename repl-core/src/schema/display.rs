//! Prints layouts as tables, and turns handles into paths such as `items[3].count`.
//!
//! *Invariant:* text that is formatted without `#` depends only on the source. Text that is formatted with
//! `#` also depends on the compiler's layout.

use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::ids::key::KeyBits;
use crate::schema::columns::Columns;
use crate::schema::condition::Condition;
use crate::schema::contents::travels;
use crate::schema::layout::{Layout, count, count_fields};
use crate::schema::plan::Plan;
use crate::schema::shape::{EnumShape, Field, Formatted, Kind, Notify};
use crate::schema::type_text::{bits_text, brackets, type_name};
use crate::schema::unit_tables::UnitTables;

/// One handle of a level (the handles of the object itself, or of one element), as it is printed.
struct PrintedHandle {
    path: String,
    type_name: String,
    bits: String,
    offset: usize,
    size: usize,
    /// The handles of one element, if this handle is an array, an enum or a collection.
    inner: Option<Vec<Self>>,
    /// Whether this is the name of a variant, which has no handle.
    is_variant: bool,
    /// The text that comes after this path in the paths of elements, such as `[]`. See [`brackets`].
    brackets: &'static str,
}

impl PrintedHandle {
    /// Returns the handle of a property without its elements.
    fn of(property: Formatted, path: &str, offset: usize) -> Self {
        let (type_name, bits) = (type_name(property), bits_text(property));
        let (size, brackets) = (property.shape.size, brackets(property));
        Self {
            path: path.to_owned(),
            type_name,
            bits,
            offset,
            size,
            inner: None,
            is_variant: false,
            brackets,
        }
    }
}

/// Appends the handles of a property, without those inside its elements, in ascending order.
fn entries(property: Formatted, path: &str, offset: usize, into: &mut Vec<PrintedHandle>) {
    match property.kind() {
        Kind::Struct(fields) => {
            for field in fields {
                let path =
                    if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
                entries(property.field(field), &path, offset + field.offset, into);
            }
        }
        Kind::FixedArray { element, len } => {
            for index in 0..len {
                let (path, offset) = (format!("{path}[{index}]"), offset + index * element.size);
                entries(property.element(element), &path, offset, into);
            }
        }
        _ if !travels(property) => {}
        Kind::Leaf(_) => into.push(PrintedHandle::of(property, path, offset)),
        Kind::Enum(shape) => {
            let inner = Some(variants(property, shape));
            into.push(PrintedHandle { inner, ..PrintedHandle::of(property, path, offset) });
        }
        Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => {
            let mut inner = Vec::new();
            property.elements().into_iter().for_each(|(element, _)| entries(element, "", 0, &mut inner));
            into.push(PrintedHandle { inner: Some(inner), ..PrintedHandle::of(property, path, offset) });
        }
    }
}

/// Returns the name and the handles of each variant of an enum.
fn variants(property: Formatted, shape: &EnumShape) -> Vec<PrintedHandle> {
    let mut all = Vec::new();
    for (number, variant) in shape.variants.iter().enumerate() {
        let (type_name, bits) = (format!("variant {number}"), String::new());
        let named = PrintedHandle::of(property, variant.name, 0);
        all.push(PrintedHandle { type_name, bits, is_variant: true, ..named });
        for (field, offset) in variant.fields.iter().zip((shape.offsets)(number)) {
            entries(property.field(field), &format!("{}.{}", variant.name, field.name), offset, &mut all);
        }
    }
    all
}

/// Returns the last column of a field's row: its condition, its notify, and whether it is `push`.
fn remarks(field: &Field) -> String {
    let mut words = Vec::new();
    if field.condition != Condition::None {
        words.push(field.condition.name());
    }
    if field.starts_off {
        words.push("starts off");
    }
    match field.notify {
        Notify::None => {}
        Notify::OnChanged => words.push("notify"),
        Notify::Always => words.push("notify always"),
    }
    if field.push {
        words.push("push");
    }
    words.join(", ")
}

struct Row {
    handle: String,
    entry: PrintedHandle,
    remarks: String,
}

/// Appends a table row for each handle in `level`, and for the handles of its elements.
fn rows(
    level: Vec<PrintedHandle>,
    prefix: &str,
    path: &str,
    remarks: &str,
    first: usize,
    into: &mut Vec<Row>,
) {
    let mut next = first;
    for mut entry in level {
        let handle = if entry.is_variant { String::new() } else { format!("{prefix}{next}") };
        next += usize::from(!entry.is_variant);
        let joint =
            if path.is_empty() || entry.path.is_empty() || entry.path.starts_with('[') { "" } else { "." };
        entry.path = format!("{path}{joint}{}", entry.path);
        let inner = entry.inner.take();
        let inner_path = format!("{}{}", entry.path, entry.brackets);
        into.push(Row { handle: handle.clone(), entry, remarks: remarks.to_owned() });
        if let Some(inner) = inner {
            rows(inner, &format!("{handle}."), &inner_path, "", 1, into);
        }
    }
}

impl Layout {
    /// Returns the path of each handle of the object itself (not of its elements), in the order of the
    /// handles.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut level = Vec::new();
        entries(self.shape.native(), "", 0, &mut level);
        level.into_iter().map(|entry| entry.path).collect()
    }

    /// Returns the handles of the property at `path`. The path can also lead to a part of a property. The
    /// path begins at the object or item, and has the same form as in the printed table, for example
    /// `pose.position[2]`. Returns `None` if the type has no such path, or if the path leads inside a `Vec`,
    /// an `Option`, an enum or a collection. Costs O(fields on the way).
    #[must_use]
    pub fn handles_at(&self, path: &str) -> Option<Range<u32>> {
        if path.is_empty() || path.starts_with('.') {
            return None;
        }
        handles_at(self.shape.native(), path, 1)
    }
}

/// Returns the handles at `path` in a property that begins at the handle `first`.
fn handles_at(property: Formatted, path: &str, first: usize) -> Option<Range<u32>> {
    let handles = |property| count(property).handles;
    if path.is_empty() {
        return Some(first as u32..(first + handles(property)) as u32);
    }
    match property.kind() {
        Kind::Struct(fields) => {
            let path = path.strip_prefix('.').unwrap_or(path);
            let mut first = first;
            for field in fields {
                let rest = path.strip_prefix(field.name);
                if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
                    return handles_at(property.field(field), rest, first);
                }
                first += handles(property.field(field));
            }
            None
        }
        Kind::FixedArray { element, len } => {
            let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
            let index = index.parse::<usize>().ok().filter(|index| *index < len)?;
            let element = property.element(element);
            handles_at(element, rest, first + index * handles(element))
        }
        _ => None,
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Vec::new();
        let mut handle = 1;
        for field in self.fields {
            let mut level = Vec::new();
            entries(field.formatted(), field.name, field.offset, &mut level);
            let count = level.len();
            rows(level, "", "", &remarks(field), handle, &mut table);
            handle += count;
        }
        let counts = self.counts;
        let handles = if counts.handles == 1 { "handle" } else { "handles" };
        let name = type_name(self.shape.native());
        writeln!(f, "{name}: {} {handles}, checksum {:016x}", counts.handles, self.checksum())?;
        let is_alternate = f.alternate();
        let mut columns = Columns::new(match is_alternate {
            true => &["handle", "path", "type", "bits", "offset, size", "remarks"],
            false => &["handle", "path", "type", "bits", "remarks"],
        });
        for Row { handle, entry, remarks } in table {
            let place = is_alternate.then(|| format!("{}, {}", entry.offset, entry.size));
            let cells = [handle, entry.path, entry.type_name, entry.bits];
            columns.push(cells.into_iter().chain(place).chain([remarks]));
        }
        write!(f, "{columns}")?;
        if f.alternate() {
            let plan = Plan::of(self.shape);
            let seen = plan.seen_runs().iter().map(|seen| &seen.run);
            for run in plan.runs().iter().chain(seen) {
                writeln!(f, "run: {} bytes at {}", run.len, run.offset)?;
            }
        }
        write!(f, "{}", UnitTables::of(self.fields))
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the place to which a sequence of handles leads, as text such as `items[3].count`. Visits only the
/// types along the path.
pub(crate) fn path(layout: &Layout, handles: &[u32]) -> String {
    let mut text = String::new();
    let Some((&own, steps)) = handles.split_first() else { return text };
    let mut place = locate(layout.shape.native(), own.wrapping_sub(1) as usize, &mut text);
    let mut steps = steps;
    while let Some((&step, rest)) = steps.split_first() {
        let (at, Some(property)) = (steps, place) else { break };
        steps = rest;
        // Writing to a `String` never fails.
        let (element, skip) = match property.kind() {
            Kind::Array(array) => {
                let element = property.element(array.element);
                let handles = count(element).handles.max(1);
                let index = step as usize / handles;
                let _ = if array.optional { write!(text, "?") } else { write!(text, "[{index}]") };
                (element, step as usize % handles)
            }
            Kind::Enum(shape) => {
                place = locate_in_variant(property, shape, step as usize, &mut text);
                continue;
            }
            Kind::Items(items) => {
                let _ = write!(text, "{{{step}}}");
                let Some((&handle, rest)) = steps.split_first() else { break };
                steps = rest;
                (property.element(items.element), handle.wrapping_sub(1) as usize)
            }
            Kind::Entries(map) => {
                text.push_str("{}");
                let Some((_, rest)) = KeyBits::from_steps(at) else { break };
                let Some((&handle, rest)) = rest.split_first() else { break };
                steps = rest;
                (property.element(map.elements.element), handle.wrapping_sub(1) as usize)
            }
            _ => break,
        };
        place = locate(element, skip, &mut text);
    }
    text
}

/// Returns the leaf or array at the handle with index `skip` within a property, counted from zero. The path
/// of the leaf or array is appended to `text`.
fn locate(property: Formatted, skip: usize, text: &mut String) -> Option<Formatted> {
    match property.kind() {
        Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Items(_) | Kind::Entries(_) => Some(property),
        Kind::Struct(fields) => locate_field(property, fields, skip, text),
        Kind::FixedArray { element, .. } => {
            let handles = count(property.element(element)).handles.max(1);
            let _ = write!(text, "[{}]", skip / handles);
            locate(property.element(element), skip % handles, text)
        }
    }
}

/// Does the same as [`locate`] among the fields of a struct or of a variant.
fn locate_field(
    owner: Formatted,
    fields: &'static [Field],
    skip: usize,
    text: &mut String,
) -> Option<Formatted> {
    let mut skip = skip;
    for field in fields {
        let handles = count(owner.field(field)).handles;
        if skip < handles {
            let dot = if text.is_empty() { "" } else { "." };
            let _ = write!(text, "{dot}{}", field.name);
            return locate(owner.field(field), skip, text);
        }
        skip -= handles;
    }
    None
}

/// Does the same as [`locate`] among the fields of all variants of an enum.
fn locate_in_variant(
    property: Formatted,
    shape: &'static EnumShape,
    skip: usize,
    text: &mut String,
) -> Option<Formatted> {
    let mut skip = skip;
    for variant in shape.variants {
        let handles = count_fields(property, variant.fields).handles;
        if skip < handles {
            let _ = write!(text, ".{}", variant.name);
            return locate_field(property, variant.fields, skip, text);
        }
        skip -= handles;
    }
    None
}
