//! Placing: sets the offsets of the fields of variants in a program.
//!
//! Rust guarantees that a field of a variant has the same offset in all values of its type, but does not tell
//! the offset at compile time. So each variant is made once, and the offsets are taken from its value.
//!
//! *Invariant:* the commands are visited in the order in which `flatten` appends them.

use crate::schema::command::Command;
use crate::schema::contents::travels;
use crate::schema::layout::Layout;
use crate::schema::shape::{EnumShape, Field, Formatted, Kind};

/// Adds to the command of each field of a variant the offset of the field from the start of its enum. All
/// commands of the program of `layout` must have the offsets that `flatten` gives them. Costs O(commands),
/// and makes each variant once.
pub(super) fn place_variants(layout: &Layout, commands: &mut [Command]) {
    let mut rest = Rest { commands };
    rest.fields(layout.shape.native(), layout.fields, 0);
}

/// The commands that were not visited yet.
struct Rest<'c> {
    commands: &'c mut [Command],
}

impl Rest<'_> {
    /// Visits the next command, and adds `offset` to its offset.
    fn take(&mut self, offset: usize) {
        if let Some((command, rest)) = std::mem::take(&mut self.commands).split_first_mut() {
            command.offset += offset as u32;
            self.commands = rest;
        }
    }

    /// Visits the commands of fields that belong to the same level.
    fn fields(&mut self, owner: Formatted, fields: &[Field], offset: usize) {
        fields.iter().for_each(|field| self.property(owner.field(field), offset));
    }

    fn property(&mut self, property: Formatted, offset: usize) {
        match property.kind() {
            Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) if !travels(property) => {}
            Kind::Leaf(_) => self.take(offset),
            Kind::Struct(fields) => self.fields(property, fields, offset),
            Kind::FixedArray { element, len } => {
                (0..len).for_each(|_| self.property(property.element(element), offset));
            }
            Kind::Enum(shape) => self.variants(property, shape, offset),
            Kind::Array(_) | Kind::Items(_) | Kind::Entries(_) => {
                self.take(offset);
                property.elements().into_iter().for_each(|(element, _)| self.property(element, 0));
                self.take(0);
            }
        }
    }

    /// Visits the commands of an enum, of its variants, and of their fields.
    fn variants(&mut self, property: Formatted, shape: &EnumShape, offset: usize) {
        self.take(offset);
        for (index, variant) in shape.variants.iter().enumerate() {
            self.take(0);
            let offsets = (shape.offsets)(index);
            assert_eq!(offsets.len(), variant.fields.len(), "each field of a variant has an offset");
            for (field, offset) in variant.fields.iter().zip(offsets) {
                self.property(property.field(field), offset);
            }
            self.take(0);
        }
        self.take(0);
    }
}
