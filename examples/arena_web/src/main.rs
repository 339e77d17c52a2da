//! The arena in a browser: makes the page, serves it on this machine, and runs the match that it shows.
//!
//! ```sh
//! cargo run --manifest-path examples/arena_web/Cargo.toml
//! ```
//!
//! With `--features bevy -- bevy` it does the same with the game of `examples/bevy_arena`, whose page is in
//! the folder `bevy_page`, and whose match `bevy.rs` runs.
//!
//! `bundle.rs` makes the page, `http.rs` serves it, and `venue.rs` runs the match. The page is in the folder
//! `page`: its client is `page/src/lib.rs`, which `page/page.js` runs and `page/draw.js` draws. `watch.rs` is
//! a native client for comparison.
//!
//! *Invariant:* pages and their server are reached only from this machine.

mod args;
#[cfg(feature = "bevy")]
mod bevy;
mod bundle;
mod http;
mod venue;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use args::{Args, Command};
use bundle::Bundle;
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Some(Command::Watch(watch)) => watch::run(watch),
        #[cfg(feature = "bevy")]
        Some(Command::Bevy(args)) => bevy::serve(args),
        None => serve(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("arena_web: {error}");
            ExitCode::from(2)
        }
    }
}

/// Makes the page, and serves it until the match is over.
fn serve(args: &Args) -> Result<(), Box<dyn Error>> {
    let bundle = bundle::make(bundle::ARENA)?;
    let listener = http::listen(args.port)?;
    let port = listener.local_addr()?.port();
    let venue = venue::Venue::open(args, port)?;
    let server = venue.how_to_join.clone();
    announce(args.json, port, &bundle, &server);
    http::serve(listener, bundle.files(server));
    venue.run()
}

/// Says that the page is ready.
fn announce(as_json: bool, port: u16, bundle: &Bundle, server: &str) {
    let url = format!("http://localhost:{port}/");
    if as_json {
        println!("{{\"url\":\"{url}\",\"wasm_bytes\":{},\"server\":{server}}}", bundle.wasm.len());
    } else {
        println!("open {url} to watch, {url}?play to play");
    }
}
