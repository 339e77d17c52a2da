//! Messages and remote calls, in both directions.

#[path = "../support/mod.rs"]
mod support;

mod acks;
mod after_objects;
mod bulk;
mod calls;
mod channels;
mod refused_types;
mod registering;
mod to_many;
