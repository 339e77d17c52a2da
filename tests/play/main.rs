//! Playing without waiting for the server: the inputs of ticks.

mod game;
mod inputs;
mod prediction;
