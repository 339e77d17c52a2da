//! The processes of the game.
//!
//! - `bevy_arena server 0.0.0.0:7000` is the process of a server.
//! - `bevy_arena host 0.0.0.0:7000` is the process of a server with a host, on which a bot plays too.
//! - `bevy_arena client 127.0.0.1:7000` is the process of a client, which is a bot.
//! - `bevy_arena --self-test --json` plays with a server and three clients in one process, over sockets. One
//!   client joins late, and the server is restarted. With `--host`, the server has a host.
#![expect(clippy::print_stdout, reason = "the example's output")]
#![allow(elided_lifetimes_in_paths, clippy::type_complexity, reason = "systems are written so in Bevy")]

mod self_test;

use bevy_app::App;
use bevy_arena::drawing::draw;
use bevy_arena::game::{Bag, Player};
use bevy_ecs::prelude::*;
use clap::{Parser, Subcommand};
use repl::quic::{Identity, Trust};
use repl_bevy::{ClientPlugin, ServerPlugin};
use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use std::{fs, thread};

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
    /// Lets the server of the test play, too.
    #[arg(long)]
    host: bool,
    /// Ends with a line of JSON.
    #[arg(long)]
    json: bool,
    /// Draws the match into this file, again and again: a page of a browser shows it.
    #[arg(long, global = true)]
    svg: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Side {
    Server { address: SocketAddr },
    Host { address: SocketAddr },
    Client { address: SocketAddr },
}

fn server(address: SocketAddr, is_host: bool) -> Fallible<App> {
    let plugin = ServerPlugin::bind(address, &Identity::development(FOLDER)?)?.hz(HZ);
    Ok(bevy_arena::server(plugin, is_host))
}

fn client(address: SocketAddr) -> Fallible<App> {
    Ok(bevy_arena::bot_client(ClientPlugin::connect(address, &Trust::development(FOLDER)?)?.hz(HZ)))
}

/// Prints the players.
fn report(players: Query<(&Player, &Bag)>) {
    for (player, bag) in &players {
        println!("player {}: {} points, {} items", player.number, player.score, bag.items.len());
    }
}

fn main() -> Fallible<()> {
    let args = Args::parse();
    let mut app = match args.side {
        Some(Side::Server { address }) => server(address, false)?,
        Some(Side::Host { address }) => server(address, true)?,
        Some(Side::Client { address }) => client(address)?,
        None if args.self_test => return self_test::run(&args),
        None => return Err("say `server ADDRESS`, `host ADDRESS`, `client ADDRESS` or `--self-test`".into()),
    };
    for frame in 1_u64.. {
        app.update();
        if frame % 300 == 0 {
            app.world_mut().run_system_cached(report)?;
            args.svg.iter().try_for_each(|file| fs::write(file, draw(&mut app)))?;
        }
        thread::sleep(Duration::from_millis(4));
    }
    Ok(())
}
