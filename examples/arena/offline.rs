//! Replaces the folder `online` in builds without the feature `quic`, which have no sockets: each function
//! returns an error that says how to build the example with the feature.
//!
//! *Invariant:* this file has the same public functions as the folder `online`.

use std::error::Error;

use crate::args::{Join, Serve};
use arena_game::transport::Transport;

pub(crate) fn serve(_: &Serve) -> Result<bool, Box<dyn Error>> {
    Err(advice())
}

pub(crate) fn join(_: &Join) -> Result<bool, Box<dyn Error>> {
    Err(advice())
}

pub(crate) fn loopback() -> Result<Box<dyn Transport>, Box<dyn Error>> {
    Err(advice())
}

/// Returns an error with the command line that builds the example with the feature.
fn advice() -> Box<dyn Error> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args = args.join(" ");
    format!("this needs the feature `quic`: cargo run --release --features quic --example arena -- {args}")
        .into()
}
