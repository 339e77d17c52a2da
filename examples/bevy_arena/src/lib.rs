//! A small game with Bevy. Most of its networking is in `game::share`.
#![allow(elided_lifetimes_in_paths, clippy::type_complexity, reason = "systems are written so in Bevy")]

pub mod bot;
pub mod drawing;
pub mod game;
pub mod snapshot;

use bevy_app::App;
use repl_bevy::{ClientPlugin, ServerPlugin};

/// Returns the app of a server. If it is a host, a bot plays on it.
pub fn server(plugin: ServerPlugin, is_host: bool) -> App {
    let mut app = App::new();
    if is_host {
        app.add_plugins(plugin.host());
        bot::play(&mut app);
    } else {
        app.add_plugins(plugin);
    }
    game::share(&mut app);
    game::referee(&mut app);
    app
}

/// Returns the app of a client. What its player does is added to it.
pub fn client(plugin: ClientPlugin) -> App {
    let mut app = App::new();
    app.add_plugins(plugin);
    game::share(&mut app);
    app
}

/// Returns the app of a client, on which a bot plays.
pub fn bot_client(plugin: ClientPlugin) -> App {
    let mut app = client(plugin);
    bot::play(&mut app);
    app
}
