//! The names of lifetime conditions, as an attribute may write them.
//!
//! *Invariant:* the names are those of `repl::Condition`, which are those of Unreal without `COND_` (S34).

use syn::{Error, Ident, Path, Result};

use crate::error::nearest;

/// Every condition in the order of its number.
pub(crate) const NAMES: [&str; 16] = [
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
];

/// The condition that `path` names.
pub(crate) fn named(path: &Path) -> Result<Ident> {
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
    let bare = spelled.strip_prefix("COND_").unwrap_or(&spelled);
    let message = if bare == "NetGroup" {
        "`NetGroup` is for subobjects, not for properties: use `condition = Custom` and switch it at run time"
            .to_owned()
    } else if NAMES.contains(&bare) {
        format!("conditions are written without `COND_`: `condition = {bare}`")
    } else if let Some(near) = nearest(bare, NAMES) {
        format!("no condition is called `{spelled}`: did you mean `{near}`? There are {}", NAMES.join(", "))
    } else {
        format!("no condition is called `{spelled}`. There are {}", NAMES.join(", "))
    };
    Err(Error::new(name.span(), message))
}
