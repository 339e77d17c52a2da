//! Sessions as users see them: configurations, events, and the classes, which both sides number in the same
//! way.
//!
//! *Invariant:* this module does not use objects.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub(crate) mod archetype;
pub(crate) mod classes;
pub(crate) mod client_events;
pub(crate) mod config;
pub(crate) mod events;
pub(crate) mod property;
pub(crate) mod time_budget;
pub(crate) mod type_map;
