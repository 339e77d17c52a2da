//! The client of the library, as a resource of an app.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::io;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::transport::ClientTransport;

/// The client of this app. It dereferences to the [`Client`] of the library. Use the [`Client`] for
/// everything for which this crate has no component, message or event, for example statistics and the clock
/// of the server.
///
/// Do not poll the updates and events of the [`Client`]: the plug-in polls them.
#[derive(Resource)]
pub struct ReplClient {
    client: Client,
    transport: Box<dyn ClientTransport>,
    /// The time from one tick of the client to the next.
    interval: Duration,
    next_tick: Duration,
}

impl ReplClient {
    pub(crate) fn new(client: Client, transport: Box<dyn ClientTransport>, interval: Duration) -> Self {
        Self { client, transport, interval, next_tick: Duration::ZERO }
    }

    pub(super) fn receive(&mut self, now: Duration) -> io::Result<()> {
        self.transport.receive(&mut self.client, now)
    }

    /// Ticks the client and sends its packets, if the time of the next tick has come.
    pub(super) fn tick(&mut self, now: Duration) -> io::Result<()> {
        if now < self.next_tick {
            return Ok(());
        }
        self.next_tick = (self.next_tick + self.interval).max(now);
        self.tick_now(now)
    }

    pub(super) fn tick_now(&mut self, now: Duration) -> io::Result<()> {
        self.client.tick(now);
        self.transport.transmit(&mut self.client, now)
    }
}

impl Deref for ReplClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for ReplClient {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}
