//! Prints layouts as tables, and turns handles into paths such as `items[3].count`.
//!
//! *Invariant:* text that is formatted without `#` depends only on the source. Text that is formatted with
//! `#` also depends on the compiler's layout.

use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::ids::key::KeyBits;
use crate::schema::codec::Codec;
use crate::schema::condition::Condition;
use crate::schema::layout::{Layout, count, travels};
use crate::schema::plan::Plan;
use crate::schema::shape::{ArrayShape, CollectionShape, Field, Formatted, Kind, Notify};

/// One handle of a level, as it is printed.
struct Entry {
    path: String,
    type_name: String,
    bits: String,
    offset: usize,
    size: usize,
    /// The handles of one element, if this handle is an array or collection.
    inner: Option<Vec<Self>>,
    /// The text that follows the path in the paths of elements; see [`brackets`].
    brackets: &'static str,
}

/// Appends the handles that a property has at its level, in their order.
fn entries(property: Formatted, path: &str, offset: usize, into: &mut Vec<Entry>) {
    match property.kind() {
        Kind::Leaf(codec) => {
            if travels(property) {
                into.push(Entry {
                    path: path.to_owned(),
                    type_name: type_name(property),
                    bits: bits(&codec),
                    offset,
                    size: property.shape.size,
                    inner: None,
                    brackets: "",
                });
            }
        }
        Kind::Struct(fields) => {
            for field in fields {
                let path =
                    if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
                entries(property.field(field), &path, offset + field.offset, into);
            }
        }
        Kind::FixedArray { element, len } => {
            for index in 0..len {
                entries(
                    property.element(element),
                    &format!("{path}[{index}]"),
                    offset + index * element.size,
                    into,
                );
            }
        }
        Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => {
            let Some((element, _)) = property.elements().filter(|_| travels(property)) else { return };
            let (mut inner, brackets) = (Vec::new(), brackets(property));
            entries(element, "", 0, &mut inner);
            into.push(Entry {
                path: path.to_owned(),
                type_name: type_name(property),
                bits: most_elements(property),
                offset,
                size: property.shape.size,
                inner: Some(inner),
                brackets,
            });
        }
    }
}

/// Returns the text that follows the path of a property in the paths of its elements: `?` for an option, `[]`
/// for an array, `{}` for a collection or map.
pub(crate) fn brackets(property: Formatted) -> &'static str {
    match property.kind() {
        Kind::Array(array) if array.optional => "?",
        Kind::Items(_) | Kind::Entries(_) => "{}",
        _ => "[]",
    }
}

pub(crate) fn type_name(property: Formatted) -> String {
    match property.kind() {
        Kind::FixedArray { element, len } => format!("[{}; {len}]", type_name(property.element(element))),
        Kind::Array(ArrayShape { element, .. }) | Kind::Items(CollectionShape { element, .. }) => {
            format!("{}<{}>", property.shape.name, type_name(property.element(element)))
        }
        Kind::Entries(map) => {
            let key = type_name(map.key.native());
            let value = type_name(property.element(map.elements.element));
            let value = if map.is_set { String::new() } else { format!(", {value}") };
            format!("{}<{key}{value}>", property.shape.name)
        }
        Kind::Leaf(codec) => match codec {
            Codec::QuantizedF32(quantizer) | Codec::QuantizedF64(quantizer) => {
                let (min, max, step) = quantizer.parameters();
                format!("{} {min}..={max} by {step}", property.shape.name)
            }
            Codec::Int(int) if !int.is_native() => {
                let (min, max) = int.bounds();
                format!("{} {min}..={max}", property.shape.name)
            }
            Codec::SmallestThree { .. } => "quaternion".to_owned(),
            Codec::UnitVector { .. } => "unit vector".to_owned(),
            Codec::Opaque(leaf) => {
                let version = if leaf.version == 1 { String::new() } else { format!(" v{}", leaf.version) };
                let (name, rust_name) = (property.shape.name, (property.shape.rust_name)());
                // Arrays and tuples that are sent as a whole have no name of their own.
                match name.starts_with(['[', '(']) {
                    true => format!("{}{version}", without_paths(rust_name)),
                    false => format!("{name}{}{version}", arguments(unboxed(rust_name))),
                }
            }
            Codec::Bool
            | Codec::Int(_)
            | Codec::Wide
            | Codec::F32
            | Codec::F64
            | Codec::Char
            | Codec::String { .. }
            | Codec::Reference => property.shape.name.to_owned(),
        },
        Kind::Struct(fields) if property.shape.name == "()" => {
            let inner: Vec<_> = fields.iter().map(|field| type_name(property.field(field))).collect();
            format!("({})", inner.join(", "))
        }
        Kind::Struct(_) => format!("{}{}", property.shape.name, arguments((property.shape.rust_name)())),
    }
}

/// Returns the content of a box, whose name on the wire is the name of its content, or the type itself.
fn unboxed(rust_name: &str) -> &str {
    let content = rust_name.strip_prefix("alloc::boxed::Box<").and_then(|name| name.strip_suffix('>'));
    content.map_or(rust_name, unboxed)
}

/// Returns the generic arguments of a type, with their angle brackets and without module paths. The function
/// returns an empty text if the type is not generic.
fn arguments(rust_name: &str) -> String {
    let (mut open, mut start) = (0_usize, None);
    // The search starts at the end, because types inside functions have angle brackets in their paths.
    for (at, c) in rust_name.char_indices().rev().take_while(|_| rust_name.ends_with('>')) {
        match c {
            '>' if !rust_name[..at].ends_with('-') => open += 1,
            '<' => open -= 1,
            _ => {}
        }
        if open == 0 {
            start = Some(at);
            break;
        }
    }
    without_paths(start.map_or("", |start| &rust_name[start..]))
}

/// Returns a type without module paths.
fn without_paths(rust_name: &str) -> String {
    let (mut text, mut word) = (String::new(), 0);
    let mut rest = rust_name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            text.truncate(word);
            rest = after;
            continue;
        }
        text.push(c);
        rest = &rest[c.len_utf8()..];
        if !c.is_alphanumeric() && c != '_' {
            word = text.len();
        }
    }
    text
}

pub(crate) fn bits(codec: &Codec) -> String {
    match codec {
        Codec::String { max_bytes, .. } => format!("≤ {max_bytes} B"),
        Codec::Char => "8, 22".to_owned(),
        _ => codec.width_bits().map_or_else(|| "–".to_owned(), |bits| bits.to_string()),
    }
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

impl Field {
    /// Returns the type of the field with its wire form, as the printed tables show it.
    #[must_use]
    pub fn type_name(&self) -> String {
        type_name(self.formatted())
    }

    /// Returns how many bits the whole field takes, in the form in which printed tables show it.
    #[must_use]
    pub fn bits_text(&self) -> String {
        let property = self.formatted();
        match (width_bits(property), property.kind()) {
            (Some(bits), _) => bits.to_string(),
            (None, Kind::Leaf(codec)) => bits(&codec),
            (None, Kind::Struct(_) | Kind::FixedArray { .. }) => "–".to_owned(),
            (None, Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => most_elements(property),
        }
    }
}

/// Returns how many bits a property takes, if this number is the same for all values.
fn width_bits(property: Formatted) -> Option<usize> {
    match property.kind() {
        Kind::Leaf(codec) => codec.width_bits().map(|bits| bits as usize),
        Kind::Struct(fields) => fields.iter().map(|field| width_bits(property.field(field))).sum(),
        Kind::FixedArray { element, len } => Some(len * width_bits(property.element(element))?),
        Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => None,
    }
}

/// Returns how many elements an array, an option, a collection or a map can have.
fn most_elements(property: Formatted) -> String {
    match property.elements() {
        Some((_, max_len)) if brackets(property) != "?" => format!("≤ {max_len}"),
        _ => "0..1".to_owned(),
    }
}

struct Row {
    handle: String,
    entry: Entry,
    remarks: String,
}

/// Appends a table row for each handle of a level, and for the handles of its elements.
fn rows(level: Vec<Entry>, prefix: &str, path: &str, remarks: &str, first: usize, into: &mut Vec<Row>) {
    for (mut entry, handle) in level.into_iter().zip(first..) {
        let handle = format!("{prefix}{handle}");
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
    /// Returns the path of each handle of the object's own level, in the order of the handles.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut level = Vec::new();
        entries(self.shape.native(), "", 0, &mut level);
        level.into_iter().map(|entry| entry.path).collect()
    }

    /// Returns the handles of the property at `path`. The argument `path` can also lead to a part of a
    /// property. The argument `path` begins at the object or item, and is written as in the printed table,
    /// for example `pose.position[2]`. Returns `None` if the type has no such path, or if the path leads
    /// inside a `Vec`, an `Option` or a collection. Costs O(fields on the way).
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
        let width = |column: &dyn Fn(&Row) -> usize, title: &str| {
            table.iter().map(column).max().unwrap_or(0).max(title.chars().count())
        };
        let handle_width = width(&|row| row.handle.chars().count(), "handle");
        let path_width = width(&|row| row.entry.path.chars().count(), "path");
        let type_width = width(&|row| row.entry.type_name.chars().count(), "type");
        let bits_width = width(&|row| row.entry.bits.chars().count(), "bits");
        let mut line = String::new();
        let mut print = |f: &mut fmt::Formatter<'_>, cells: [&str; 5], place: &str| {
            line.clear();
            let [handle, path, type_name, bits, remarks] = cells;
            write!(
                line,
                "{handle:<handle_width$}  {path:<path_width$}  {type_name:<type_width$}  {bits:>bits_width$}  {place}{remarks}"
            )?;
            writeln!(f, "{}", line.trim_end())
        };
        let alternate = f.alternate();
        let place = |text: String| if alternate { format!("{text:<12}  ") } else { String::new() };
        let title = place("offset, size".to_owned());
        let places: Vec<_> =
            table.iter().map(|row| place(format!("{}, {}", row.entry.offset, row.entry.size))).collect();
        print(f, ["handle", "path", "type", "bits", "remarks"], &title)?;
        for (row, place) in table.iter().zip(&places) {
            print(
                f,
                [&row.handle, &row.entry.path, &row.entry.type_name, &row.entry.bits, &row.remarks],
                place,
            )?;
        }
        if f.alternate() {
            for run in Plan::of(self.shape).runs() {
                writeln!(f, "run: {} bytes at {}", run.len, run.offset)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the path to which a sequence of handles leads as text, for example `items[3].count`. Visits only
/// the types along the path.
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
    let mut skip = skip;
    match property.kind() {
        Kind::Leaf(_) | Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => Some(property),
        Kind::Struct(fields) => {
            for field in fields {
                let handles = count(property.field(field)).handles;
                if skip < handles {
                    let dot = if text.is_empty() { "" } else { "." };
                    let _ = write!(text, "{dot}{}", field.name);
                    return locate(property.field(field), skip, text);
                }
                skip -= handles;
            }
            None
        }
        Kind::FixedArray { element, .. } => {
            let handles = count(property.element(element)).handles.max(1);
            let _ = write!(text, "[{}]", skip / handles);
            locate(property.element(element), skip % handles, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{arguments, unboxed};

    #[test]
    fn a_box_is_printed_as_its_content() {
        let arguments = |name| arguments(unboxed(name));
        assert_eq!(arguments("alloc::boxed::Box<game::Inner>"), "");
        assert_eq!(arguments("alloc::boxed::Box<alloc::boxed::Box<game::Outer<u8>>>"), "<u8>");
        assert_eq!(arguments("game::Outer<game::Inner>"), "<Inner>");
    }

    #[test]
    fn generic_arguments_are_printed_without_paths() {
        assert_eq!(arguments("game::bag::Stack"), "");
        assert_eq!(arguments("game::Stack<u16>"), "<u16>");
        assert_eq!(
            arguments("game::Stack<alloc::vec::Vec<game::gem::Gem>, 4, [u8; 2]>"),
            "<Vec<Gem>, 4, [u8; 2]>"
        );
        assert_eq!(
            arguments("<game::Bag as game::Make>::make::Stack<(u8, fn(u8) -> x::Y)>"),
            "<(u8, fn(u8) -> Y)>"
        );
        assert_eq!(arguments("<game::Bag as game::Make>::make::Stack"), "");
    }
}
