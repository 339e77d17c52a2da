//! The rules for the input of the derives, each with its reason.
//!
//! *Invariant:* code can be generated without errors for an input that breaks no rule. Each mistake is
//! reported at the smallest span, with what to write instead. The compiler and the traits of `repl-core` find
//! the other mistakes, which are in types and constants.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use proc_macro2::Span;
use quote::ToTokens;
use syn::{GenericArgument, GenericParam, Ident, Path, PathArguments, Type};

use crate::ast::{Body, Container, Field, Variant};
use crate::attr::{Bounds, Number, OBJECT_ONLY_ATTRIBUTES, QuantizeForm};
use crate::derive::Derive;
use crate::error::Errors;

/// How many bits a component may take with `smallest_three`. This number repeats a constant of `repl-core`,
/// so that the error can point at the number in the attribute. A test compares the two constants.
pub(crate) const SMALLEST_THREE_BITS: RangeInclusive<u8> = 3..=20;

/// How many bits a coordinate may take with `unit_vector`. It also repeats a constant of `repl-core`.
pub(crate) const UNIT_VECTOR_BITS: RangeInclusive<u8> = 2..=22;

pub(crate) fn check(container: &Container<'_>, errors: &mut Errors) {
    kind(container, errors);
    packed(container, errors);
    lifetimes(container, errors);
    container_attributes(container, errors);
    something_is_sent(container, errors);
    match &container.body {
        Body::Struct(fields) => distinct_names(container, fields, errors),
        Body::Enum(variants) => {
            distinct_variants(container, variants, errors);
            variants.iter().for_each(|variant| distinct_names(container, &variant.fields, errors));
        }
        Body::Union => {}
    }
    one_location(container, errors);
    for field in container.fields() {
        if field.attrs.faulty {
            continue;
        }
        parameters_are_sent(container, field, errors);
        skip_stands_alone(field, errors);
        locations_are_compared(field, errors);
        objects_only(container, field, errors);
        notifies(container, field, errors);
        starts_off_can_be_switched(container, field, errors);
        one_form(field, errors);
        conversions_define_the_form(field, errors);
        whole_values_have_their_own_form(field, errors);
        differences_have_their_own_form(field, errors);
        saturates_something(field, errors);
        numbers(field, errors);
        if container.sends(field) {
            recursion(container, field, errors);
        }
    }
}

/// Items must be structs. An enum is a part of an object or a value, and must have at least one variant. An
/// enum without variants has no values. A union is refused, because the library cannot know which of its
/// fields is active.
fn kind(container: &Container<'_>, errors: &mut Errors) {
    let ident = container.ident();
    match (&container.body, container.derive) {
        (Body::Union, _) => errors.at(
            union_span(container),
            "a union cannot be replicated, because its active field is unknown: make it an enum and derive `NetSerialize`",
        ),
        (Body::Enum(_), Derive::FastArrayItem) => errors.at(
            enum_span(container),
            format!(
                "an item must be a struct: derive `Replicated` or `NetSerialize` for `{ident}`, and use it as a field of an item"
            ),
        ),
        (Body::Enum(variants), Derive::Replicated | Derive::NetSerialize) if variants.is_empty() => {
            errors.at(ident.span(), format!("`{ident}` has no variants, so it has no values to send: add a variant"));
        }
        _ => {}
    }
}

/// The names of the parts of a type in error messages.
struct Words {
    fields: &'static str,
    variants: &'static str,
}

fn words(container: &Container<'_>) -> Words {
    match container.derive {
        Derive::Rpcs => Words { fields: "parameters", variants: "calls" },
        Derive::Replicated | Derive::FastArrayItem | Derive::NetSerialize => {
            Words { fields: "fields", variants: "variants" }
        }
    }
}

fn enum_span(container: &Container<'_>) -> Span {
    match &container.input.data {
        syn::Data::Enum(data) => data.enum_token.span,
        _ => container.ident().span(),
    }
}

fn union_span(container: &Container<'_>) -> Span {
    match &container.input.data {
        syn::Data::Union(data) => data.union_token.span,
        _ => container.ident().span(),
    }
}

/// Refuses a packed struct. Generated code uses references to fields, and Rust does not allow references to
/// the fields of a packed struct.
fn packed(container: &Container<'_>, errors: &mut Errors) {
    for attribute in container.input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("packed") {
                errors.over(
                    &meta.path,
                    "a packed struct cannot be replicated, because Rust forbids references to its fields: remove `packed`; packets contain no padding in any case",
                );
            }
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        });
        // The compiler reports mistakes inside a `repr`.
        drop(parsed);
    }
}

/// Refuses lifetimes. Replicated types must own their values, because a client creates the values from a
/// packet and keeps them longer than the packet.
fn lifetimes(container: &Container<'_>, errors: &mut Errors) {
    for parameter in &container.generics().params {
        if let GenericParam::Lifetime(parameter) = parameter {
            errors.at(
                parameter.lifetime.span(),
                "a replicated type cannot have lifetimes: replace `&str` by `String`, a slice by `Vec`, and a reference to an object by `ObjectRef`",
            );
        }
    }
}

/// Refuses `all` on items and values, because they always send all fields. Refuses `callbacks` on values and
/// enums, because no callback is ever called for them alone.
fn container_attributes(container: &Container<'_>, errors: &mut Errors) {
    let is_part = container.derive == Derive::Replicated && container.is_enum();
    if let (Some(callbacks), true) =
        (&container.attrs.callbacks, is_part || container.derive == Derive::NetSerialize)
    {
        let remedy = if is_part {
            "write it on the object that holds the enum"
        } else {
            "derive `Replicated` or `FastArrayItem`"
        };
        errors.at(
            callbacks.span,
            format!("only objects and items have callbacks: remove `callbacks`, or {remedy}"),
        );
    }
    let what = match container.derive {
        Derive::Replicated => return,
        Derive::FastArrayItem => "an item",
        Derive::NetSerialize | Derive::Rpcs => "a value",
    };
    if let Some(all) = &container.attrs.all {
        errors.at(
            all.span,
            format!("{what} always sends all its fields: remove `all`, and write `skip` on a field that must not be sent"),
        );
    }
}

/// Refuses a struct or enum that has fields but replicates none of them. Its author probably expects that all
/// fields are replicated.
fn something_is_sent(container: &Container<'_>, errors: &mut Errors) {
    let fields = container.fields();
    if container.derive != Derive::Replicated || container.attrs.all.is_some() || fields.is_empty() {
        return;
    }
    let (ident, kind) = (container.ident(), if container.is_enum() { "enum" } else { "struct" });
    if fields.iter().all(|field| field.attrs.marked.is_none()) {
        errors.at(
            ident.span(),
            format!(
                "no field of `{ident}` is replicated: write `#[replicated]` above each field to replicate, or `#[replicated(all)]` above the {kind}"
            ),
        );
        return;
    }
    // A field with `skip` and other attributes is reported separately.
    let alone = fields.iter().filter(|field| field.attrs.names_and_spans().len() == 1);
    if let (true, Some(skip)) =
        (container.sent().is_empty(), alone.filter_map(|field| field.attrs.skip.as_ref()).next())
    {
        errors.at(
            skip.span,
            format!(
                "`skip` has no effect here: only fields with `#[replicated]` are replicated, and `{ident}` has no such field. Write `#[replicated(all)]` above the {kind} to replicate all other fields, or `#[replicated]` above each field to replicate"
            ),
        );
    }
}

/// Refuses two fields with the same name on the wire, because checksums, layouts and errors identify fields
/// by these names.
fn distinct_names(container: &Container<'_>, fields: &[Field<'_>], errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for field in fields.iter().filter(|field| container.sends(field)) {
        let name = field.wire_name();
        if seen.contains(&name) {
            let span = field.attrs.name.as_ref().map_or_else(|| span_of(field), |given| given.value.span());
            errors.at(
                span,
                format!(
                    "two {} are called `{name}` on the wire: give one of them another name",
                    words(container).fields
                ),
            );
        }
        seen.push(name);
    }
}

/// Refuses two variants with the same name on the wire, for the same reason as two fields.
fn distinct_variants(container: &Container<'_>, variants: &[Variant<'_>], errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for variant in variants {
        let name = variant.wire_name();
        if seen.contains(&name) {
            let span =
                variant.attrs.name.as_ref().map_or_else(|| variant.ident.span(), |given| given.value.span());
            errors.at(
                span,
                format!(
                    "two {} are called `{name}` on the wire: give one of them another name",
                    words(container).variants
                ),
            );
        }
        seen.push(name);
    }
}

/// Refuses `skip` on a parameter, because the function that runs needs a value for the parameter.
fn parameters_are_sent(container: &Container<'_>, field: &Field<'_>, errors: &mut Errors) {
    if let (Some(skip), Derive::Rpcs) = (&field.attrs.skip, container.derive) {
        errors.at(
            skip.span,
            "each parameter is sent, because the function needs a value for it: remove `skip`, or remove the parameter",
        );
    }
}

/// Refuses other attributes on a field with `skip`, because a field that is never sent has no wire form,
/// name, condition or notify.
fn skip_stands_alone(field: &Field<'_>, errors: &mut Errors) {
    if field.attrs.skip.is_none() {
        return;
    }
    // `location` is reported by `locations_are_compared`, with another reason.
    let others = field.attrs.names_and_spans().into_iter();
    for (name, span) in others.filter(|&(name, _)| name != "skip" && name != "location") {
        errors
            .at(span, format!("the field is skipped, so `{name}` has no effect: remove it or remove `skip`"));
    }
}

/// Refuses two `location` fields in one object, because an object has only one position.
fn one_location(container: &Container<'_>, errors: &mut Errors) {
    let fields = container.fields();
    let mut located = fields.iter().filter(|field| field.attrs.location.is_some());
    let is_object = container.derive == Derive::Replicated && !container.is_enum();
    let (Some(first), true) = (located.next(), is_object) else { return };
    let first = first.member.to_token_stream();
    for second in located.filter_map(|field| field.attrs.location.as_ref()) {
        errors.at(
            second.span,
            format!(
                "an object is at one place, and `{first}` has `location` already: remove one of them, or remove both and pass a function to `ClassHandle::locate`, which computes the position"
            ),
        );
    }
}

/// Refuses `location` on a field that is never compared. The server reads positions from the shadow of the
/// object. There, a field that is never compared always has its initial value.
fn locations_are_compared(field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    let Some(location) = &attrs.location else { return };
    let never = attrs.condition.as_ref().is_some_and(|condition| condition.value == "Never");
    let remedy = match &attrs.skip {
        Some(_) => "remove `skip`",
        None if never => "write another condition",
        None => return,
    };
    errors.at(
        location.span,
        format!("the server does not compare this field, so it would not see objects move: {remedy}, or write `location` on another field"),
    );
}

/// Refuses conditions, notifies, `push` and positions on fields of variants, items, values and calls. A
/// variant is a part of a property of an object. A value is sent whole. An item has no owner and no own
/// position, and its fields have no dirty marks.
fn objects_only(container: &Container<'_>, field: &Field<'_>, errors: &mut Errors) {
    for (name, span) in field.attrs.names_and_spans() {
        if !OBJECT_ONLY_ATTRIBUTES.contains(&name) {
            continue;
        }
        let message = match container.derive {
            Derive::Replicated if !container.is_enum() => return,
            Derive::Replicated => format!(
                "a variant is a part of a property: write `{name}` on the field of the object that holds the enum"
            ),
            Derive::FastArrayItem => misplaced_in_an_item(name),
            Derive::NetSerialize => format!(
                "a value is sent as a whole: write `{name}` on the field of the object that holds it, in a struct that derives `Replicated`"
            ),
            Derive::Rpcs => format!(
                "a parameter is sent once, with its call: remove `{name}`, or write it on a field of the object to send a property"
            ),
        };
        errors.at(span, message);
    }
}

/// Returns why an item's field cannot have the attribute `name`, and what to write instead.
fn misplaced_in_an_item(name: &str) -> String {
    match name {
        "condition" | "starts_off" => "conditions do not apply to single items: write `condition` on the object's field that holds the array; put items that only some clients may see into a separate array"
            .to_owned(),
        "delta" => "an item is sent by its properties, each of them whole: remove `delta`, or write it on a field of the object"
            .to_owned(),
        "location" => "an item is where its object is: write `location` on a field of the object, in a struct that derives `Replicated`"
            .to_owned(),
        "push" => "items are marked automatically when they are written to: remove `push`, or write it on the object's field that holds the array"
            .to_owned(),
        _ => format!(
            "an item has callbacks instead of notifies: write `#[replicated(callbacks)]` above it and implement `ItemCallbacks`, or write `{name}` on the object's field that holds the array"
        ),
    }
}

/// Refuses `notify_always` without a notify. Also refuses a notify or `push` on a property with the condition
/// `Never`, because the property is never compared or sent (S37).
fn notifies(container: &Container<'_>, field: &Field<'_>, errors: &mut Errors) {
    if container.derive != Derive::Replicated || container.is_enum() {
        return;
    }
    let attrs = &field.attrs;
    if let (Some(always), None, None) = (&attrs.notify_always, &attrs.notify, &attrs.skip) {
        errors.at(always.span, "`notify_always` needs a method: write `notify = method, notify_always`");
    }
    let never = attrs.condition.as_ref().is_some_and(|condition| condition.value == "Never");
    for (what, why) in [("notify", "is never called"), ("push", "has no effect")] {
        if let Some((_, span)) = attrs.names_and_spans().into_iter().find(|&(name, _)| never && name == what)
        {
            errors.at(
                span,
                format!("with `condition = Never` the property is never sent, so `{what}` {why}: remove one of them"),
            );
        }
    }
}

/// Refuses `starts_off` without the condition `Custom`, because only this condition can be switched off and
/// on (S45).
fn starts_off_can_be_switched(container: &Container<'_>, field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    let is_object = container.derive == Derive::Replicated && !container.is_enum();
    let (Some(starts_off), true, None) = (&attrs.starts_off, is_object, &attrs.skip) else { return };
    match &attrs.condition {
        Some(condition) if condition.value == "Custom" => {}
        Some(condition) => errors.at(
            starts_off.span,
            format!(
                "only a `Custom` condition can be switched on: write `condition = Custom, starts_off`, or remove `starts_off` to keep \
                 `condition = {}`",
                condition.value
            ),
        ),
        None => errors.at(
            starts_off.span,
            "only a `Custom` condition can be switched on: write `condition = Custom, starts_off`",
        ),
    }
}

/// Refuses a field with more than one of `bits`, `range` and `quantize`, because each of them defines the
/// whole wire form of a number.
fn one_form(field: &Field<'_>, errors: &mut Errors) {
    let forms = ["quantize", "bits", "range"];
    let given: Vec<_> =
        field.attrs.names_and_spans().into_iter().filter(|(name, _)| forms.contains(name)).collect();
    let Some((first, rest)) = given.split_first() else { return };
    for (name, span) in rest {
        errors.at(
            *span,
            format!("`{}` and `{name}` each define the wire format of a number: remove one of them", first.0),
        );
    }
}

/// Refuses `as` together with another attribute that defines the whole wire form.
fn conversions_define_the_form(field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    if attrs.form.is_none() {
        return;
    }
    if let Some(with) = &attrs.with {
        errors.at(with.span, "`as` and `with` each define the wire format: remove one of them");
    }
    if let Some(atomic) = &attrs.atomic {
        errors.at(atomic.span, "`as` already sends the value as a whole: remove `atomic`");
    }
}

/// Refuses `delta` together with an attribute that defines the wire form of the field, too.
fn differences_have_their_own_form(field: &Field<'_>, errors: &mut Errors) {
    let Some(delta) = &field.attrs.delta else { return };
    let is_module = delta.value.is_some();
    for (name, span) in field.attrs.names_and_spans() {
        match name {
            "quantize" | "bits" | "range" | "saturate" => errors.at(
                span,
                format!("`delta` sends the elements in the format of their type: remove `{name}`, or write it on a field of a struct that derives `NetSerialize`, and use this struct as the element"),
            ),
            "max_len" if is_module => errors.at(
                span,
                "the module of `delta` defines the wire format: remove `max_len`, and limit the length where you change the value",
            ),
            "with" | "as" | "atomic" => {
                errors.at(span, format!("`delta` and `{name}` each define the wire format: remove one of them"));
            }
            _ => {}
        }
    }
}

/// Refuses attributes that change how the library writes a field, if the field is `atomic` or has its own
/// serialiser.
fn whole_values_have_their_own_form(field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    if attrs.form.is_some() {
        return;
    }
    let (owner, why) = match (&attrs.with, &attrs.atomic) {
        (Some(_), _) => ("with", "the module of `with` defines the wire format"),
        (None, Some(_)) => ("atomic", "an `atomic` value is sent in the format of its type"),
        (None, None) => return,
    };
    for (name, span) in attrs.names_and_spans() {
        let ours = matches!(name, "quantize" | "bits" | "range" | "saturate" | "max_len");
        if ours {
            let remedy = match owner {
                "atomic" => format!(
                    "remove one of them, or write `{name}` on a field of a struct that derives only `NetSerialize`, and use this struct here: it is sent as a whole without `atomic`"
                ),
                _ => "remove one of them".to_owned(),
            };
            errors.at(span, format!("{why}, so `{name}` has no effect: {remedy}"));
        } else if name == "atomic" && owner == "with" {
            errors.at(span, "`with` already sends the value as a whole: remove `atomic`");
        }
    }
}

fn quantize_form<'a>(field: &'a Field<'_>) -> Option<&'a QuantizeForm> {
    field.attrs.quantize.as_ref().map(|quantize| &quantize.value.form)
}

/// Refuses `saturate` on a field without bounds, because `saturate` moves a value to the nearest bound.
fn saturates_something(field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    let Some(saturate) = &attrs.saturate else { return };
    let bounded = attrs.bits.is_some()
        || attrs.range.is_some()
        || matches!(quantize_form(field), Some(QuantizeForm::Steps { .. }));
    if !bounded && attrs.with.is_none() && attrs.atomic.is_none() && attrs.skip.is_none() {
        errors.at(
            saturate.span,
            "`saturate` needs bounds: write `range = …` or `bits = …` for an integer, or `quantize(step = …, range = …)` for a float",
        );
    }
}

/// Checks numbers that are literals. The derive checks them because it knows their spans. Constants are
/// checked when the compiler evaluates the table.
fn numbers(field: &Field<'_>, errors: &mut Errors) {
    let attrs = &field.attrs;
    if let Some(bits) = &attrs.bits {
        within(&bits.value, 1, 64, "bits", errors);
    }
    if let Some(max_len) = &attrs.max_len {
        within(&max_len.value, 1, i128::from(u32::MAX), "max_len", errors);
    }
    if let Some(range) = &attrs.range {
        ascending(&range.value, errors);
        for bound in [&range.value.min, &range.value.max] {
            if bound.literal().is_some() && bound.whole().is_none() {
                errors.over(
                    &bound.0,
                    "`range` is for integers: for a float write `quantize(step = 0.01, range = …)`",
                );
            }
        }
    }
    match quantize_form(field) {
        Some(QuantizeForm::Steps { step, range }) => {
            if step.literal().is_some_and(|step| step <= 0.0) {
                errors.over(
                    &step.0,
                    "a step must be greater than zero: it is the distance between two neighbouring values",
                );
            }
            ascending(range, errors);
        }
        Some(QuantizeForm::SmallestThree(bits)) => {
            width(bits, &SMALLEST_THREE_BITS, "smallest_three", errors)
        }
        Some(QuantizeForm::UnitVector(bits)) => width(bits, &UNIT_VECTOR_BITS, "unit_vector", errors),
        None => {}
    }
}

fn width(number: &Number, range: &RangeInclusive<u8>, name: &str, errors: &mut Errors) {
    within(number, (*range.start()).into(), (*range.end()).into(), name, errors);
}

/// Checks that a literal is a whole number in a range.
pub(crate) fn within(number: &Number, least: i128, most: i128, name: &str, errors: &mut Errors) {
    let inside = match (number.whole(), number.literal()) {
        (Some(value), _) => (least..=most).contains(&value),
        (None, literal) => literal.is_none(),
    };
    if !inside {
        errors.over(&number.0, format!("`{name}` must be a whole number from {least} to {most}"));
    }
}

fn ascending(range: &Bounds, errors: &mut Errors) {
    let whole = range.min.whole().zip(range.max.whole());
    let floats = range.min.literal().zip(range.max.literal());
    // Large integers are compared as integers, because two different large integers can be equal as floats.
    let order = match (whole, floats) {
        (Some((min, max)), _) => Some(min.cmp(&max)),
        (None, Some((min, max))) => min.partial_cmp(&max),
        (None, None) => None,
    };
    match order {
        Some(Ordering::Greater) => {
            errors.over(&range.whole, "the range is empty: write the lesser bound first");
        }
        Some(Ordering::Equal) => errors.over(
            &range.whole,
            "the range contains only one value, so there is nothing to send: widen it or write `skip`",
        ),
        Some(Ordering::Less) | None => {}
    }
}

/// Refuses a type that contains itself, because its table would have no end. This function finds only simple
/// cases. The compiler reports the other cases as a cycle.
fn recursion(container: &Container<'_>, field: &Field<'_>, errors: &mut Errors) {
    if !field.attrs.has_serializer() && holds(field.ty, container.ident()) {
        let ident = container.ident();
        let instead = match container.derive {
            Derive::FastArrayItem => {
                "store a number that identifies the other item, such as `parent: u32`".to_owned()
            }
            Derive::Replicated if container.is_enum() => {
                "keep the inner value in an object and refer to the object by `ObjectRef`".to_owned()
            }
            Derive::Replicated | Derive::NetSerialize | Derive::Rpcs => {
                format!("refer to another object by `ObjectRef<{ident}>`")
            }
        };
        errors.over(
            field.ty,
            format!("`{ident}` contains itself, and recursive types cannot be replicated: {instead}, or write `skip`"),
        );
    }
}

/// Returns whether `ty` is the type `name`, or a well-known container of it.
fn holds(ty: &Type, name: &Ident) -> bool {
    match ty {
        Type::Array(array) => holds(&array.elem, name),
        Type::Tuple(tuple) => tuple.elems.iter().any(|element| holds(element, name)),
        Type::Paren(paren) => holds(&paren.elem, name),
        Type::Group(group) => holds(&group.elem, name),
        Type::Path(path) if path.qself.is_none() => path_holds(&path.path, name),
        _ => false,
    }
}

fn path_holds(path: &Path, name: &Ident) -> bool {
    if path.is_ident("Self") || (path.segments.len() == 1 && path.segments[0].ident == *name) {
        return true;
    }
    let Some(last) = path.segments.last() else { return false };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    ["Vec", "Option", "Box", "FastArray", "OrderedFastArray", "HashMap", "BTreeMap"]
        .iter()
        .any(|container| last.ident == container)
        && arguments
            .args
            .iter()
            .any(|argument| matches!(argument, GenericArgument::Type(ty) if holds(ty, name)))
}

fn span_of(field: &Field<'_>) -> Span {
    field.member.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}
