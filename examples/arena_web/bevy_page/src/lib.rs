//! The client of the page of the game with Bevy.
//!
//! *Invariant:* its app is that of the native client. The page only runs its frames, and plays.

use std::fmt::Display;
use std::net::SocketAddr;

use bevy_app::{App, Update};
use bevy_arena::game::{Chat, Player, Steer};
use bevy_arena::{drawing, snapshot};
use bevy_ecs::prelude::*;
use repl::quic::{CertificateHash, Trust};
use repl_bevy::{
    Calls, ClientPlugin, FromServer, JoinedServer, LeftServer, NextInput, Owned, PredictionCounts, ToServer,
};
use wasm_bindgen::prelude::*;

/// The lines of the chat that the page has not shown yet.
#[derive(Resource, Default)]
struct Heard(Vec<String>);

/// Why the last session has ended, until the next one begins.
#[derive(Resource, Default)]
struct Ended(Option<String>);

/// A client with a player, who is a bot or plays by keys.
#[wasm_bindgen]
pub struct BevyClient {
    app: App,
}

#[wasm_bindgen]
impl BevyClient {
    /// Returns a client of the server at this address. It begins to connect with its first frame. `hash` is
    /// the hash of the server's certificate.
    ///
    /// # Errors
    /// Returns an error if the address or the hash is malformed, or if this browser cannot connect.
    #[wasm_bindgen(constructor)]
    pub fn new(address: &str, hash: &str, is_bot: bool) -> Result<Self, JsError> {
        let address: SocketAddr = address.parse().map_err(error)?;
        let hash: CertificateHash = hash.parse().map_err(error)?;
        let plugin = ClientPlugin::connect(address, &Trust::pinned([hash])).map_err(error)?.hz(60.0);
        let mut app = if is_bot { bevy_arena::bot_client(plugin) } else { bevy_arena::client(plugin) };
        app.init_resource::<Heard>().init_resource::<Ended>().add_systems(Update, hear);
        app.add_observer(|left: On<'_, '_, LeftServer>, mut ended: ResMut<'_, Ended>| {
            ended.0 = Some(left.reason.to_string());
        });
        app.add_observer(|_: On<'_, '_, JoinedServer>, mut ended: ResMut<'_, Ended>| ended.0 = None);
        Ok(Self { app })
    }

    /// Runs a frame of the app.
    pub fn frame(&mut self) {
        self.app.update();
    }

    /// Sets the direction in which the player walks: -1, 0 or 1 on each axis. A bot walks as it likes.
    pub fn walk(&mut self, x: i8, y: i8) {
        self.app.world_mut().resource_mut::<NextInput<Steer>>().0 = Steer([x, y]);
    }

    /// Puts a hat on the player.
    ///
    /// # Errors
    /// Returns an error if the app could not run the call.
    pub fn wear_hat(&mut self) -> Result<(), JsError> {
        self.app.world_mut().run_system_cached(wear_hat).map_err(error)
    }

    /// Says something to all players.
    pub fn say(&mut self, text: String) {
        self.app.world_mut().write_message(ToServer(Chat(text)));
    }

    /// Returns the lines of the chat that have arrived since the last call.
    pub fn heard(&mut self) -> Vec<String> {
        std::mem::take(&mut self.app.world_mut().resource_mut::<Heard>().0)
    }

    /// Returns why the client is not connected, if its last session has ended.
    pub fn ended(&self) -> Option<String> {
        self.app.world().resource::<Ended>().0.clone()
    }

    /// Returns a picture of the match, as SVG.
    pub fn picture(&mut self) -> String {
        drawing::draw(&mut self.app)
    }

    /// Returns what this client knows about the match, as JSON.
    pub fn snapshot(&mut self) -> String {
        snapshot::take(&mut self.app)
    }

    /// Returns how many times a prediction of this client was wrong.
    pub fn rollbacks(&self) -> f64 {
        self.app.world().resource::<PredictionCounts>().0.rollbacks as f64
    }
}

fn hear(mut said: MessageReader<'_, '_, FromServer<Chat>>, mut heard: ResMut<'_, Heard>) {
    heard.0.extend(said.read().map(|chat| chat.0.0.clone()));
}

fn wear_hat(own: Query<'_, '_, Entity, (With<Player>, With<Owned>)>, mut calls: Calls<'_, '_>) {
    for player in &own {
        // The server may have removed the player a moment ago.
        calls.of::<Player>(player).wear_hat().ok();
    }
}

fn error(error: impl Display) -> JsError {
    JsError::new(&error.to_string())
}
