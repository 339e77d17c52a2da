//! A bot that plays like a player: it walks about, wears a hat, and chats.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use repl_bevy::{Called, Calls, FromServer, JoinedServer, MakeInput, NextInput, Owned, ToServer};

use crate::game::{Chat, Player, Steer};

/// The numbers of messages, calls and events that a bot has received.
#[derive(Resource, Default)]
pub struct Notes {
    /// How many messages the bot has read.
    pub heard: usize,
    /// How many calls the bot has received.
    pub cheers: usize,
    /// How often the bot has joined a server.
    pub joined: usize,
}

/// Lets a bot play.
pub fn play(app: &mut App) {
    app.init_resource::<Notes>().add_systems(MakeInput, steer).add_systems(Update, hear);
    app.add_observer(|_: On<Called<Player>>, mut notes: ResMut<Notes>| notes.cheers += 1);
    app.add_observer(arrive).add_observer(|_: On<JoinedServer>, mut notes: ResMut<Notes>| notes.joined += 1);
}

/// Walks in a square.
fn steer(mut ticks: Local<u32>, mut next: ResMut<NextInput<Steer>>) {
    *ticks += 1;
    next.0 = Steer([[1, 0], [0, 1], [-1, 0], [0, -1]][(*ticks / 120 % 4) as usize]);
}

fn arrive(owned: On<Add<Owned>>, mut calls: Calls, mut chat: MessageWriter<ToServer<Chat>>) {
    calls.of::<Player>(owned.entity).wear_hat().ok();
    chat.write(ToServer(Chat("hello".to_owned())));
}

fn hear(mut said: MessageReader<FromServer<Chat>>, mut notes: ResMut<Notes>) {
    notes.heard += said.read().count();
}
