//! Which connections receive a property, and which properties are compared: conditions, switches and marks.

#[path = "../pair/mod.rs"]
mod pair;
#[path = "../support/mod.rs"]
mod support;

mod classes;
mod editors;
mod live;
mod push_model;
