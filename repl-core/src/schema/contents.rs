//! Contents: what a property contains, at any depth.
//!
//! *Invariant:* the answers depend only on types and attributes, never on values.

use crate::schema::shape::{EnumShape, Field, Formatted, Kind};

/// Returns whether a property takes any bits on the wire. A property without bits has no command. Otherwise a
/// peer could cause much work with few bits, by a long list of values without bits. An array whose elements
/// take no bits is never sent (S16). An `Option` is always sent, because one bit tells whether it has a
/// value. An enum with several variants is always sent, too.
pub(crate) const fn travels(property: Formatted) -> bool {
    match property.kind() {
        Kind::Leaf(codec) => !matches!(codec.width_bits(), Some(0)),
        Kind::Struct(fields) => any_travels(property, fields),
        Kind::Enum(shape) => match shape.variants {
            [only] => any_travels(property, only.fields),
            _ => true,
        },
        Kind::FixedArray { element, len } => len > 0 && travels(property.element(element)),
        Kind::Array(array) => array.optional || travels(property.element(array.element)),
        Kind::Items(_) | Kind::Entries(_) => true,
    }
}

const fn any_travels(owner: Formatted, fields: &'static [Field]) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if travels(owner.field(&fields[i])) {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns whether a property is a fast array, or contains one at any depth.
pub(crate) const fn holds_items(property: Formatted) -> bool {
    match property.kind() {
        Kind::Leaf(_) => false,
        Kind::Struct(fields) => any_holds_items(property, fields),
        Kind::Enum(shape) => {
            let mut i = 0;
            while i < shape.variants.len() {
                if any_holds_items(property, shape.variants[i].fields) {
                    return true;
                }
                i += 1;
            }
            false
        }
        Kind::FixedArray { element, .. } => holds_items(property.element(element)),
        Kind::Array(array) => holds_items(property.element(array.element)),
        Kind::Items(_) => true,
        Kind::Entries(entries) => holds_items(property.element(entries.elements.element)),
    }
}

const fn any_holds_items(owner: Formatted, fields: &'static [Field]) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if holds_items(owner.field(&fields[i])) {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns whether a property contains a map, at any depth, whose keys may refer to objects.
pub(crate) fn has_referring_keys(property: Formatted) -> bool {
    let any = |fields: &[Field]| fields.iter().any(|field| has_referring_keys(property.field(field)));
    match property.kind() {
        Kind::Leaf(_) => false,
        Kind::Struct(fields) => any(fields),
        Kind::Enum(shape) => shape.variants.iter().any(|variant| any(variant.fields)),
        Kind::FixedArray { element, .. } => has_referring_keys(property.element(element)),
        Kind::Array(array) => has_referring_keys(property.element(array.element)),
        Kind::Items(items) => has_referring_keys(property.element(items.element)),
        Kind::Entries(map) => {
            may_refer(map.key.native()) || has_referring_keys(property.element(map.elements.element))
        }
    }
}

/// Returns whether a value may refer to an object.
pub(crate) const fn may_refer(property: Formatted) -> bool {
    match property.kind() {
        Kind::Leaf(codec) => codec.may_refer(),
        Kind::Struct(fields) => any_may_refer(property, fields),
        Kind::Enum(shape) => {
            let mut i = 0;
            while i < shape.variants.len() {
                if any_may_refer(property, shape.variants[i].fields) {
                    return true;
                }
                i += 1;
            }
            false
        }
        Kind::FixedArray { element, .. } => may_refer(property.element(element)),
        Kind::Array(array) => may_refer(property.element(array.element)),
        Kind::Items(items) => may_refer(property.element(items.element)),
        Kind::Entries(map) => {
            may_refer(map.key.native()) || may_refer(property.element(map.elements.element))
        }
    }
}

const fn any_may_refer(owner: Formatted, fields: &'static [Field]) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if may_refer(owner.field(&fields[i])) {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns the greatest depth to which arrays and enums are nested in a property. A collection or map counts
/// as two levels.
pub(crate) const fn depth(property: Formatted) -> usize {
    match property.kind() {
        Kind::Leaf(_) => 0,
        Kind::Struct(fields) => depth_of_fields(property, fields),
        Kind::Enum(shape) => 1 + depth_of_variants(property, shape),
        Kind::FixedArray { element, .. } => depth(property.element(element)),
        Kind::Array(array) => 1 + depth(property.element(array.element)),
        // A collection takes two steps of a path: the item, and the property in the item.
        Kind::Items(items) => 2 + depth(property.element(items.element)),
        Kind::Entries(entries) => 2 + depth(property.element(entries.elements.element)),
    }
}

const fn depth_of_fields(owner: Formatted, fields: &'static [Field]) -> usize {
    let (mut deepest, mut i) = (0, 0);
    while i < fields.len() {
        let of_field = depth(owner.field(&fields[i]));
        deepest = if of_field > deepest { of_field } else { deepest };
        i += 1;
    }
    deepest
}

const fn depth_of_variants(property: Formatted, shape: &'static EnumShape) -> usize {
    let (mut deepest, mut i) = (0, 0);
    while i < shape.variants.len() {
        let of_variant = depth_of_fields(property, shape.variants[i].fields);
        deepest = if of_variant > deepest { of_variant } else { deepest };
        i += 1;
    }
    deepest
}
