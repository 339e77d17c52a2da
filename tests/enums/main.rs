//! Enums that derive `Replicated`: the fields of the active variant are properties of their own.

#[path = "../pair/mod.rs"]
mod pair;
#[path = "../support/mod.rs"]
mod support;

mod delivered;
