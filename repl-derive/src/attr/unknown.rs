//! Unknown attributes and options: the error text for a name that is not allowed where it is written.
//!
//! *Invariant:* the error text contains the right attribute if it can be guessed. Otherwise the text lists
//! all attributes that are allowed at that place.

use super::condition;
use super::place::{FIELD, PARAMETER, Place, QUANTIZE, TYPE};
use crate::spelling::is_same_spelling;

/// Names that users know from Unreal or from other derives, and the attributes that they probably mean.
const SYNONYMS: [(&str, &str); 19] = [
    ("cond", "condition"),
    ("when", "condition"),
    ("rep_notify", "notify"),
    ("replicated_using", "notify"),
    ("on_rep", "notify"),
    ("on_change", "notify"),
    ("callback", "notify"),
    ("ignore", "skip"),
    ("transient", "skip"),
    ("not_replicated", "skip"),
    ("rename", "name"),
    ("serialize_with", "with"),
    ("push_based", "push"),
    ("push_model", "push"),
    ("clamp", "saturate"),
    ("precision", "quantize"),
    ("position", "location"),
    ("located", "location"),
    ("place", "location"),
];

/// Names that users know from Unreal or from other libraries, and the options of calls that they probably
/// mean.
const SYNONYMS_IN_CALLS: [(&str, &str); 8] = [
    ("net_multicast", "multicast"),
    ("broadcast", "multicast"),
    ("with_validation", "validate"),
    ("validate_with", "validate"),
    ("rate", "per_second"),
    ("limit", "per_second"),
    ("wait", "waits"),
    ("rename", "name"),
];

/// Returns the error text for an unknown attribute, with the attribute that was probably meant.
pub(super) fn unknown(key: &str, has_value: bool, place: &Place) -> String {
    if place.is_of_calls() {
        return unknown_in_calls(key, place);
    }
    let (on_a_field, in_quantize) = (place.is_field(), place.is_quantize());
    let has_conditions = place.has_conditions();
    // Items and values always send all fields, so `all` counts as unknown on them.
    if let Some(form) = TYPE.form(key).filter(|_| has_conditions || key != "all") {
        return format!("`{key}` belongs on the type: write `#[replicated({form})]` above it");
    }
    if let Some(form) = FIELD.form(key) {
        return if in_quantize {
            format!("write `{key}` after `quantize(…)`, not inside it: `quantize(…), {form}`")
        } else {
            format!(
                "`{key}` belongs on a field, as `#[replicated({form})]`; allowed {}: {}",
                place.name,
                place.list()
            )
        };
    }
    if key == "exact" {
        return "`exact` belongs in the parentheses of `quantize`: `quantize(…, exact)`".to_owned();
    }
    if let Some(form) = QUANTIZE.form(key) {
        return format!("`{key}` belongs in parentheses: `quantize({form})`");
    }
    if let (Some(condition), false) = (condition::condition_named(key), in_quantize) {
        if !has_conditions {
            return format!(
                "`{key}` is a condition: write `condition = {condition}` on the field of the object that holds this"
            );
        }
        let field = if on_a_field { "" } else { "on a field " };
        return format!("`{key}` is a condition: {field}write `condition = {condition}`");
    }
    let meant = if on_a_field {
        probable_field_attribute(place, key, has_value)
    } else {
        place.nearest(key).map(str::to_owned)
    };
    let hint = meant.map_or(".".to_owned(), |meant| format!(": did you mean `{meant}`?"));
    format!("unknown attribute `{key}`{hint} Allowed {}: {}", place.name, place.list())
}

/// Returns the error text for an unknown option of a call.
fn unknown_in_calls(key: &str, place: &Place) -> String {
    if let Some(form) = PARAMETER.form(key).filter(|_| PARAMETER.names().any(|known| known == key)) {
        return format!("`{key}` belongs on a parameter: write `#[replicated({form})]` before its name");
    }
    let synonym = SYNONYMS_IN_CALLS.iter().find(|(other, _)| is_same_spelling(other, key));
    let meant = synonym.map(|&(_, own)| own).filter(|name| place.form(name).is_some());
    let meant = meant.or_else(|| place.nearest(key)).and_then(|name| place.form(name));
    let hint = meant.map_or(".".to_owned(), |meant| format!(": did you mean `{meant}`?"));
    format!("unknown option `{key}`{hint} Allowed {}: {}", place.name, place.list())
}

/// Returns the condition or attribute that the user probably meant by a name on a field. If the user wrote no
/// value, the attribute is shown in full, with its value.
fn probable_field_attribute(place: &Place, key: &str, has_value: bool) -> Option<String> {
    let synonym = SYNONYMS.iter().find(|(other, _)| is_same_spelling(other, key)).map(|&(_, own)| own);
    let synonym = synonym.filter(|name| place.names().any(|known| known == *name));
    match synonym.or_else(|| place.nearest(key)) {
        Some(name) if has_value => Some(name.to_owned()),
        Some(name) => place.form(name).map(str::to_owned),
        None if !place.has_conditions() => None,
        None => condition::nearest_condition(key).map(|name| format!("condition = {name}")),
    }
}
