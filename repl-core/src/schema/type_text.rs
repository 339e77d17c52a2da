//! The types and the widths of properties as text.
//!
//! *Invariant:* the text depends only on the source. The full name of a type shows everything that decides
//! its bits, except the inside of types with names, and the limit and the width of the outermost type.

use crate::bits::width_bits as below_bits;
use crate::schema::codec::Codec;
use crate::schema::shape::{Around, ArrayShape, CollectionShape, Content, Field, Formatted, Kind, WireForm};

/// Returns the text that follows the path of a property in the paths of its elements: `?` for an option, `[]`
/// for an array, `{}` for a collection or map, nothing for an enum.
pub(crate) fn brackets(property: Formatted) -> &'static str {
    match property.kind() {
        Kind::Array(array) if array.optional => "?",
        Kind::Items(_) | Kind::Entries(_) => "{}",
        Kind::Enum(_) => "",
        _ => "[]",
    }
}

/// Returns the type of a property, without the limits of its parts.
pub(crate) fn type_name(property: Formatted) -> String {
    name_around(property, type_name)
}

/// Returns the type of a property, with all limits of its parts that the types of the parts do not imply.
pub(crate) fn full_name(property: Formatted) -> String {
    name_around(property, inner_name)
}

/// Returns the type of a property. `inner_name` returns the types of its parts.
fn name_around(property: Formatted, inner_name: fn(Formatted) -> String) -> String {
    match property.kind() {
        Kind::FixedArray { element, len } => format!("[{}; {len}]", inner_name(property.element(element))),
        Kind::Array(ArrayShape { element, .. }) | Kind::Items(CollectionShape { element, .. }) => {
            format!("{}<{}>", property.shape.name, inner_name(property.element(element)))
        }
        Kind::Entries(map) => {
            let key = full_name(map.key.native());
            let value = inner_name(property.element(map.elements.element));
            let value = if map.is_set { String::new() } else { format!(", {value}") };
            format!("{}<{key}{value}>", property.shape.name)
        }
        Kind::Leaf(codec) => match codec {
            Codec::QuantizedF32(quantizer) | Codec::QuantizedF64(quantizer) => {
                let (min, max, step) = quantizer.parameters();
                format!("{} {min}..={max} by {step}{}", property.shape.name, exact(&codec))
            }
            Codec::Int(int) if !int.is_native() => {
                let (min, max) = int.bounds();
                format!("{} {min}..={max}", property.shape.name)
            }
            Codec::SmallestThree { .. } => format!("quaternion{}", exact(&codec)),
            Codec::UnitVector { .. } => format!("unit vector{}", exact(&codec)),
            Codec::Opaque(_) => property.shape.form.map_or_else(String::new, WireForm::type_name),
            Codec::Bool
            | Codec::Int(_)
            | Codec::Wide
            | Codec::F32
            | Codec::F64
            | Codec::Char
            | Codec::String { .. }
            | Codec::Reference
            | Codec::Asset => property.shape.name.to_owned(),
        },
        Kind::Struct(fields) if property.shape.is_tuple() => {
            let inner: Vec<_> = fields.iter().map(|field| inner_name(property.field(field))).collect();
            format!("({})", inner.join(", "))
        }
        Kind::Struct(_) | Kind::Enum(_) => with_arguments(property.shape.name, (property.shape.rust_name)()),
    }
}

/// Returns `, exact` for a quantised value without a margin: clients always show its nearest step.
fn exact(codec: &Codec) -> &'static str {
    if codec.has_margin() { "" } else { ", exact" }
}

/// Returns the type of a part of another type, with its limit or its width if the type does not imply it.
fn inner_name(property: Formatted) -> String {
    let name = full_name(property);
    match (property.kind(), property.shape.native().kind()) {
        (Kind::Leaf(codec @ (Codec::SmallestThree { .. } | Codec::UnitVector { .. })), _) => {
            format!("{name} in {} bits", bits(&codec))
        }
        (
            Kind::Leaf(codec @ Codec::String { max_bytes, .. }),
            Kind::Leaf(Codec::String { max_bytes: usual, .. }),
        ) if max_bytes != usual => {
            format!("{name} {}", bits(&codec))
        }
        _ if brackets(property) != "?" && most(property) != most(property.shape.native()) => {
            format!("{name} {}", most_elements(property))
        }
        _ => name,
    }
}

fn most(property: Formatted) -> Option<u32> {
    property.elements().map(|(_, most)| most)
}

impl WireForm {
    /// Returns the name of the type with its generic arguments, and the version if it is not 1.
    pub(crate) fn type_name(&self) -> String {
        let name = || with_arguments(self.name, (self.rust_name)());
        match self.content {
            Content::Derived { .. } | Content::ByHand { version: 1, .. } => name(),
            Content::ByHand { version, .. } => format!("{} v{version}", name()),
            Content::Shape(property) => inner_name(property),
            Content::Around(around, form) => around.type_name(form),
        }
    }

    /// Returns how many bits a value takes, if this number is the same for all values.
    pub(crate) fn width_bits(&self) -> Option<usize> {
        match self.content {
            Content::Derived { fields, variants: [] } => fields_width(fields),
            Content::Derived { variants, .. } => {
                let mut widths = self.variants().map(|(_, fields)| fields_width(fields));
                let first = widths.next()??;
                widths.all(|width| width == Some(first)).then_some(first + tag_bits(variants.len()))
            }
            Content::Shape(property) => width_bits(property),
            Content::ByHand { .. } | Content::Around(..) => None,
        }
    }

    /// Returns the name and the fields of each variant of an enum that derives `NetSerialize`.
    pub(crate) fn variants(&self) -> impl Iterator<Item = (&'static str, &'static [Field])> {
        let (fields, variants) = match self.content {
            Content::Derived { fields, variants } => (fields, variants),
            _ => (&[][..], &[][..]),
        };
        variants.iter().scan(fields, |rest, (name, count)| {
            let (own, others) = rest.split_at_checked(*count)?;
            *rest = others;
            Some((*name, own))
        })
    }
}

/// Returns how many bits the number of one of `count` variants takes.
pub(crate) const fn tag_bits(count: usize) -> usize {
    below_bits(count as u64) as usize
}

fn fields_width(fields: &[Field]) -> Option<usize> {
    fields.iter().map(|field| width_bits(field.formatted())).sum()
}

impl Around {
    fn type_name(&self, form: &WireForm) -> String {
        match self {
            Self::Nothing => form.type_name(),
            Self::Sequence(name, inner) => format!("{name}<{}>", inner.type_name(form)),
            Self::Array(len, inner) => format!("[{}; {len}]", inner.type_name(form)),
            Self::Map(key, inner) => format!("Map<{}, {}>", full_name(key.native()), inner.type_name(form)),
        }
    }
}

/// Returns the wire name of a type with its generic arguments. Most wire names already contain the arguments.
fn with_arguments(name: &str, rust_name: &str) -> String {
    if name.ends_with('>') { name.to_owned() } else { format!("{name}{}", arguments(rust_name)) }
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

/// Returns how many bits a property takes, or how many elements it can have. For an enum whose variants are
/// sent field by field, returns how many bits the number of the variant takes.
pub(crate) fn bits_text(property: Formatted) -> String {
    match (width_bits(property), property.kind()) {
        (Some(bits), _) => bits.to_string(),
        (None, Kind::Leaf(codec)) => bits(&codec),
        (None, Kind::Enum(shape)) => tag_bits(shape.variants.len()).to_string(),
        (None, Kind::Struct(_) | Kind::FixedArray { .. }) => "–".to_owned(),
        (None, Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => most_elements(property),
    }
}

/// Returns how many bits a property takes, if this number is the same for all values.
fn width_bits(property: Formatted) -> Option<usize> {
    match property.kind() {
        Kind::Leaf(Codec::Opaque(_)) => property.shape.form.and_then(WireForm::width_bits),
        Kind::Leaf(codec) => codec.width_bits().map(|bits| bits as usize),
        Kind::Struct(fields) => fields.iter().map(|field| width_bits(property.field(field))).sum(),
        Kind::FixedArray { element, len } => Some(len * width_bits(property.element(element))?),
        Kind::Array(_) | Kind::Enum(_) | Kind::Items(_) | Kind::Entries(_) => None,
    }
}

/// Returns how many elements an array, an option, a collection or a map can have.
pub(crate) fn most_elements(property: Formatted) -> String {
    match property.elements() {
        Some((_, max_len)) if brackets(property) != "?" => format!("≤ {max_len}"),
        _ => "0..1".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;

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
