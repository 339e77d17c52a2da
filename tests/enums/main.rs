//! Enums that derive `Replicated`: the fields of the active variant are properties of their own (R28).

#[path = "../pair/mod.rs"]
mod pair;
#[path = "../support/mod.rs"]
mod support;

mod delivered;
mod fields;
mod hostile;
mod layouts;
mod nested;
mod on_clients;
