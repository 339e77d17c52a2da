//! The arena in a browser: makes the page, serves it on this machine, and runs the match that it shows.
//!
//! ```sh
//! cargo run --manifest-path examples/arena_web/Cargo.toml
//! ```
//!
//! `bundle.rs` makes the page, `http.rs` serves it, and `venue.rs` runs the match. The page is in the folder
//! `page`: its client is `page/src/lib.rs`, which `page/page.js` runs and `page/draw.js` draws. `watch.rs` is
//! a native client for comparison.
//!
//! *Invariant:* pages and their server are reached only from this machine.

mod args;
mod bundle;
mod http;
mod venue;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.command {
        Some(Command::Watch(watch)) => watch::run(watch),
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
    let bundle = bundle::make()?;
    let listener = http::listen(args.port)?;
    let port = listener.local_addr()?.port();
    let venue = venue::Venue::open(args, port)?;
    let server = venue.as_json();
    if args.json {
        println!(
            "{{\"url\":\"http://localhost:{port}/\",\"wasm_bytes\":{},\"server\":{server}}}",
            bundle.wasm.len()
        );
    } else {
        println!("open http://localhost:{port}/ to watch, http://localhost:{port}/?play to play");
    }
    http::serve(listener, bundle.files(server));
    venue.run()
}
