//! Playing without waiting for the server: inputs of ticks, predictions, and shots at targets as the client
//! saw them.

#[path = "../support/mod.rs"]
mod support;

mod game;
mod inputs;
mod prediction;
mod rewinding;
