//! Attributes: reads the content of `#[replicated(…)]`, `#[rpc(…)]` and `#[rpcs(…)]` into structs with one
//! slot for each attribute.
//!
//! *Invariant:* each attribute fills its slot at most once. `check` decides whether attributes may be
//! combined.

mod argument;
mod condition;
mod number;
mod place;
mod quantize;
mod rpc;
mod unknown;

use proc_macro2::Span;
use syn::{Attribute, Ident, LitStr, Path, Type};

use crate::derive::Derive;
use crate::error::Errors;

pub(crate) use argument::{At, Flag};
pub(crate) use number::{Bounds, Number};
pub(crate) use place::OBJECT_ONLY_ATTRIBUTES;
pub(crate) use quantize::{Quantize, QuantizeForm};
pub(crate) use rpc::{Kind, RpcAttrs, RpcsAttrs, is_replicated, is_rpc};

use argument::{Argument, each};
use place::Place;

#[derive(Default)]
pub(crate) struct ContainerAttrs {
    pub(crate) all: Flag,
    pub(crate) krate: Option<At<Path>>,
    pub(crate) name: Option<At<LitStr>>,
    pub(crate) callbacks: Flag,
}

#[derive(Default)]
pub(crate) struct FieldAttrs {
    /// The span of `replicated`, if the field has this attribute, with or without a list.
    pub(crate) marked: Option<Span>,
    /// Whether an attribute of the field could not be read.
    pub(crate) faulty: bool,
    pub(crate) skip: Flag,
    pub(crate) condition: Option<At<Ident>>,
    pub(crate) starts_off: Flag,
    pub(crate) notify: Option<At<Path>>,
    pub(crate) notify_always: Flag,
    pub(crate) push: Flag,
    pub(crate) location: Flag,
    pub(crate) quantize: Option<At<Quantize>>,
    pub(crate) bits: Option<At<Number>>,
    pub(crate) range: Option<At<Bounds>>,
    pub(crate) saturate: Flag,
    pub(crate) max_len: Option<At<Number>>,
    pub(crate) with: Option<At<Path>>,
    /// The type of the attribute `as`.
    pub(crate) form: Option<At<Type>>,
    pub(crate) atomic: Flag,
    /// The attribute `delta`, with the module that it names.
    pub(crate) delta: Option<At<Option<Path>>>,
    pub(crate) name: Option<At<LitStr>>,
}

#[derive(Default)]
pub(crate) struct VariantAttrs {
    pub(crate) name: Option<At<LitStr>>,
}

impl ContainerAttrs {
    pub(crate) fn parse(derive: Derive, attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, Place::of_type(derive), errors, |arg| match arg.key.as_str() {
            "all" => arg.put(&mut attrs.all, Argument::flag),
            "name" => arg.put(&mut attrs.name, Argument::text),
            "callbacks" => arg.put(&mut attrs.callbacks, Argument::flag),
            _ => arg.put(&mut attrs.krate, Argument::path_or_text),
        });
        attrs
    }
}

impl FieldAttrs {
    pub(crate) fn parse(derive: Derive, attributes: &[Attribute], errors: &mut Errors) -> Self {
        let place = Place::of_field(derive);
        let mut attrs = Self { marked: argument::mark(attributes, place), ..Self::default() };
        attrs.faulty = each(attributes, place, errors, |arg| match arg.key.as_str() {
            "skip" => arg.put(&mut attrs.skip, Argument::flag),
            "condition" => arg.put(&mut attrs.condition, Argument::condition),
            "starts_off" => arg.put(&mut attrs.starts_off, Argument::flag),
            "notify" => arg.put(&mut attrs.notify, Argument::path),
            "notify_always" => arg.put(&mut attrs.notify_always, Argument::flag),
            "push" => arg.put(&mut attrs.push, Argument::flag),
            "location" => arg.put(&mut attrs.location, Argument::flag),
            "quantize" => arg.put(&mut attrs.quantize, Quantize::parse),
            "bits" => arg.put(&mut attrs.bits, Argument::number),
            "range" => arg.put(&mut attrs.range, Argument::bounds),
            "saturate" => arg.put(&mut attrs.saturate, Argument::flag),
            "max_len" => arg.put(&mut attrs.max_len, Argument::number),
            "with" => arg.put(&mut attrs.with, Argument::path),
            "as" => arg.put(&mut attrs.form, Argument::ty),
            "atomic" => arg.put(&mut attrs.atomic, Argument::flag),
            "delta" => arg.put(&mut attrs.delta, Argument::path_or_nothing),
            _ => arg.put(&mut attrs.name, Argument::text),
        });
        attrs
    }

    /// Returns whether the field has its own serialiser, which is used instead of the serialiser of its type.
    pub(crate) fn has_serializer(&self) -> bool {
        self.with.is_some() || self.form.is_some()
    }

    /// Returns the name and span of each attribute that the field has, in a fixed order.
    pub(crate) fn names_and_spans(&self) -> Vec<(&'static str, Span)> {
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
            ("location", of(&self.location)),
            ("quantize", of(&self.quantize)),
            ("bits", of(&self.bits)),
            ("range", of(&self.range)),
            ("saturate", of(&self.saturate)),
            ("max_len", of(&self.max_len)),
            ("with", of(&self.with)),
            ("as", of(&self.form)),
            ("atomic", of(&self.atomic)),
            ("delta", of(&self.delta)),
            ("name", of(&self.name)),
        ];
        slots.into_iter().filter_map(|(name, span)| Some((name, span?))).collect()
    }
}

impl VariantAttrs {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, &place::VARIANT, errors, |arg| arg.put(&mut attrs.name, Argument::text));
        attrs
    }
}
