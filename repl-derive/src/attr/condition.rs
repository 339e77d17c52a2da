//! The names of replication conditions, as an attribute may write them.
//!
//! *Invariant:* the names are the same as in `repl::Condition`: the names of Unreal's conditions without
//! `COND_` (S34), and `NearOnly`.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Error, Ident, Path, Result};

use crate::spelling::{is_same_spelling, nearest};

const NAMES: [&str; 17] = [
    "None",
    "InitialOnly",
    "OwnerOnly",
    "SkipOwner",
    "SimulatedOnly",
    "AutonomousOnly",
    "SimulatedOrPhysics",
    "InitialOrOwner",
    "Custom",
    "ReplayOrOwner",
    "ReplayOnly",
    "SimulatedOnlyNoReplay",
    "SimulatedOrPhysicsNoReplay",
    "SkipReplay",
    "Dynamic",
    "Never",
    "NearOnly",
];

/// Words that users write if they expect a condition for teams. Such a condition does not exist.
const TEAM_WORDS: [&str; 4] = ["team", "group", "ally", "allies"];

/// Returns the condition with the name `key`, in any spelling style.
pub(super) fn condition_named(key: &str) -> Option<&'static str> {
    let bare = bare(key);
    NAMES.into_iter().find(|name| is_same_spelling(name, bare))
}

/// Returns the condition that the user probably meant by `key`.
pub(super) fn nearest_condition(key: &str) -> Option<&'static str> {
    nearest(bare(key), NAMES)
}

fn bare(name: &str) -> &str {
    name.strip_prefix("COND_").unwrap_or(name)
}

/// Returns an error if several conditions are combined like flags. A property has one condition.
pub(super) fn one(value: &TokenStream) -> Result<()> {
    let joins = |token| matches!(token, TokenTree::Punct(sign) if "|&+".contains(sign.as_char()));
    if !value.clone().into_iter().any(joins) {
        return Ok(());
    }
    let message = format!(
        "a property has exactly one condition, for example `condition = InitialOrOwner`. The conditions are {}",
        NAMES.join(", ")
    );
    Err(Error::new_spanned(value, message))
}

pub(super) fn named(path: &Path) -> Result<Ident> {
    let Some(name) = path.get_ident() else {
        let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        return Err(Error::new_spanned(
            path,
            format!("write the condition's name alone: `condition = {last}`"),
        ));
    };
    let spelled = name.to_string();
    if NAMES.contains(&spelled.as_str()) {
        return Ok(name.clone());
    }
    let bare = bare(&spelled);
    let message = if bare == "NetGroup" {
        "`NetGroup` is for subobjects, not for properties: use `condition = Custom` and switch it at run time"
            .to_owned()
    } else if TEAM_WORDS.iter().any(|word| bare.to_lowercase().contains(word)) {
        format!(
            "`{spelled}` is no condition: put what only a team may see into a subobject, and set its audience with \
             `ObjectHandle::set_audience`, or use `condition = Custom, starts_off` and switch the property on for each client"
        )
    } else if NAMES.contains(&bare) {
        format!("conditions are written without `COND_`: `condition = {bare}`")
    } else if let Some(near) = nearest(bare, NAMES) {
        format!(
            "no condition is called `{spelled}`: did you mean `{near}`? The conditions are {}",
            NAMES.join(", ")
        )
    } else {
        format!("no condition is called `{spelled}`. The conditions are {}", NAMES.join(", "))
    };
    Err(Error::new(name.span(), message))
}
