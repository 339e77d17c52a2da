//! What users see of sessions: configurations and events, and the classes that both sides number alike.
//!
//! *Invariant:* nothing here knows an object.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod archetype;
pub(crate) mod classes;
pub(crate) mod client_events;
pub(crate) mod config;
pub(crate) mod events;
pub(crate) mod property;
pub(crate) mod time_budget;
pub(crate) mod type_map;
