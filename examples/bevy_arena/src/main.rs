//! A small game with Bevy, in which nothing but `game::share` is about networking.
//!
//! - `bevy_arena server 0.0.0.0:7000` is the process of a server.
//! - `bevy_arena client 127.0.0.1:7000` is the process of a client, which is a bot.
//! - `bevy_arena --self-test --json` plays with a server and three clients in one process, over sockets. One
//!   client joins late, and the server is restarted.
#![expect(clippy::print_stdout, reason = "the example's output")]
#![allow(elided_lifetimes_in_paths, clippy::type_complexity, reason = "systems are written so in Bevy")]

mod bot;
mod game;
mod self_test;

use bevy_app::App;
use bevy_ecs::prelude::*;
use clap::{Parser, Subcommand};
use repl::quic::{Identity, Trust};
use repl_bevy::{ClientPlugin, Remote, ServerPlugin};
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use game::{Bag, Player};

const HZ: f64 = 60.0;
/// Clients that are started in the same folder trust the certificate in it.
const FOLDER: &str = "target/bevy-arena-certificate";

type Fallible<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    side: Option<Side>,
    /// Plays with a server and three clients in this process, and checks what they have.
    #[arg(long)]
    self_test: bool,
    /// Ends with a line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Side {
    Server { address: SocketAddr },
    Client { address: SocketAddr },
}

fn server(address: SocketAddr) -> Fallible<App> {
    let mut app = App::new();
    app.add_plugins(ServerPlugin::bind(address, &Identity::development(FOLDER)?)?.hz(HZ));
    game::share(&mut app);
    game::referee(&mut app);
    Ok(app)
}

fn client(address: SocketAddr) -> Fallible<App> {
    let mut app = App::new();
    app.add_plugins(ClientPlugin::connect(address, &Trust::development(FOLDER)?)?.hz(HZ));
    game::share(&mut app);
    bot::play(&mut app);
    Ok(app)
}

/// Shows who plays.
fn report(players: Query<(&Player, &Bag, Option<&Remote>)>, mut frames: Local<u32>) {
    *frames += 1;
    if (*frames).is_multiple_of(300) {
        for (player, bag, _) in &players {
            println!("player {}: {} points, {} items", player.number, player.score, bag.items.len());
        }
    }
}

fn main() -> Fallible<()> {
    let args = Args::parse();
    let mut app = match args.side {
        Some(Side::Server { address }) => server(address)?,
        Some(Side::Client { address }) => client(address)?,
        None if args.self_test => return self_test::run(args.json),
        None => return Err("say `server ADDRESS`, `client ADDRESS` or `--self-test`".into()),
    };
    app.add_systems(bevy_app::Update, report);
    loop {
        app.update();
        thread::sleep(Duration::from_millis(4));
    }
}
