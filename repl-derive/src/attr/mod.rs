//! Attributes: what is written in `#[replicated(…)]`, read into one slot per attribute.
//!
//! *Invariant:* each attribute fills its slot at most once. `check` decides whether attributes may be
//! combined.

mod condition;
mod item;
mod number;
mod place;
mod quantize;
mod unknown;

use proc_macro2::Span;
use syn::{Attribute, Ident, LitStr, Path};

use crate::derive::Derive;
use crate::error::Errors;

pub(crate) use item::{At, Flag};
pub(crate) use number::{Bounds, Number};
pub(crate) use quantize::Quantize;

use item::{Item, each};
use place::Place;

/// The attributes of a type.
#[derive(Default)]
pub(crate) struct ContainerAttrs {
    pub(crate) all: Flag,
    pub(crate) krate: Option<At<Path>>,
    pub(crate) name: Option<At<LitStr>>,
    pub(crate) callbacks: Flag,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttrs {
    /// The span of `replicated`, if the field has the attribute, with or without a list.
    pub(crate) marked: Option<Span>,
    /// Whether an attribute of the field could not be read.
    pub(crate) faulty: bool,
    pub(crate) skip: Flag,
    pub(crate) condition: Option<At<Ident>>,
    pub(crate) starts_off: Flag,
    pub(crate) notify: Option<At<Path>>,
    pub(crate) notify_always: Flag,
    pub(crate) push: Flag,
    pub(crate) quantize: Option<At<Quantize>>,
    pub(crate) bits: Option<At<Number>>,
    pub(crate) range: Option<At<Bounds>>,
    pub(crate) saturate: Flag,
    pub(crate) max_len: Option<At<Number>>,
    pub(crate) with: Option<At<Path>>,
    pub(crate) atomic: Flag,
    pub(crate) name: Option<At<LitStr>>,
}

/// The attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttrs {
    pub(crate) name: Option<At<LitStr>>,
}

impl ContainerAttrs {
    pub(crate) fn parse(derive: Derive, attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, Place::of_type(derive), errors, |item| match item.key.as_str() {
            "all" => item.put(&mut attrs.all, Item::flag),
            "name" => item.put(&mut attrs.name, Item::text),
            "callbacks" => item.put(&mut attrs.callbacks, Item::flag),
            _ => item.put(&mut attrs.krate, Item::path_or_text),
        });
        attrs
    }
}

impl FieldAttrs {
    pub(crate) fn parse(derive: Derive, attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self { marked: item::mark(attributes), ..Self::default() };
        attrs.faulty = each(attributes, Place::of_field(derive), errors, |item| match item.key.as_str() {
            "skip" => item.put(&mut attrs.skip, Item::flag),
            "condition" => item.put(&mut attrs.condition, Item::condition),
            "starts_off" => item.put(&mut attrs.starts_off, Item::flag),
            "notify" => item.put(&mut attrs.notify, Item::path),
            "notify_always" => item.put(&mut attrs.notify_always, Item::flag),
            "push" => item.put(&mut attrs.push, Item::flag),
            "quantize" => item.put(&mut attrs.quantize, Quantize::parse),
            "bits" => item.put(&mut attrs.bits, Item::number),
            "range" => item.put(&mut attrs.range, Item::bounds),
            "saturate" => item.put(&mut attrs.saturate, Item::flag),
            "max_len" => item.put(&mut attrs.max_len, Item::number),
            "with" => item.put(&mut attrs.with, Item::path),
            "atomic" => item.put(&mut attrs.atomic, Item::flag),
            _ => item.put(&mut attrs.name, Item::text),
        });
        attrs
    }

    /// Returns the name and span of each attribute that the field has, in a fixed order.
    pub(crate) fn given(&self) -> Vec<(&'static str, Span)> {
        fn of<T>(slot: &Option<At<T>>) -> Option<Span> {
            slot.as_ref().map(|at| at.span)
        }
        let slots = [
            ("skip", of(&self.skip)),
            ("condition", of(&self.condition)),
            ("starts_off", of(&self.starts_off)),
            ("notify", of(&self.notify)),
            ("notify_always", of(&self.notify_always)),
            ("push", of(&self.push)),
            ("quantize", of(&self.quantize)),
            ("bits", of(&self.bits)),
            ("range", of(&self.range)),
            ("saturate", of(&self.saturate)),
            ("max_len", of(&self.max_len)),
            ("with", of(&self.with)),
            ("atomic", of(&self.atomic)),
            ("name", of(&self.name)),
        ];
        slots.into_iter().filter_map(|(name, span)| Some((name, span?))).collect()
    }
}

impl VariantAttrs {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, &place::VARIANT, errors, |item| item.put(&mut attrs.name, Item::text));
        attrs
    }
}
