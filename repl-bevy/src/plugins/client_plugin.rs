//! Makes an app a client.

use bevy_app::{App, Plugin};
use repl::prelude::*;
#[cfg(feature = "quic")]
use repl::quic::{QuicClient, Trust};
use std::time::Duration;
#[cfg(feature = "quic")]
use std::{io, net::ToSocketAddrs};

use super::{INTERVAL, Once, add_time, interval};
use crate::client;
use crate::client::state::ReplClient;
use crate::prediction;
use crate::transport::ClientTransport;

/// Makes an app a client.
///
/// ```no_run
/// use bevy_app::App;
/// use repl::quic::Trust;
/// use repl_bevy::ClientPlugin;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The server is on this machine; `Trust::platform("play.example.com")` for one that is elsewhere.
/// let trust = Trust::development("target/certificate")?;
/// App::new().add_plugins(ClientPlugin::connect("127.0.0.1:7000", &trust)?);
/// # Ok(())
/// # }
/// ```
pub struct ClientPlugin {
    parts: Once<Parts>,
    interval: Duration,
}

struct Parts {
    config: ClientConfig,
    session: Session,
    transport: Box<dyn ClientTransport>,
}

impl ClientPlugin {
    /// Makes an app a client of the server at an address. All packets are encrypted. The client connects only
    /// if it trusts the server's certificate, and reconnects after the connection was lost.
    ///
    /// # Errors
    /// Returns an error if the address cannot be resolved, or if the system has no free port or no random
    /// numbers.
    #[cfg(feature = "quic")]
    pub fn connect(server: impl ToSocketAddrs, trust: &Trust) -> io::Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(io::Error::other)?;
        let transport = QuicClient::new(super::first_address(server)?, trust)?;
        Ok(Self::over(transport, Session::from_random(bits)))
    }

    /// Makes an app a client over a network of your own or a [simulated](crate::SimulatedNetwork) network.
    /// `session` must be [random](Session::from_random), except in tests.
    #[must_use]
    pub fn over(transport: impl ClientTransport, session: Session) -> Self {
        let parts = Parts { config: ClientConfig::default(), session, transport: Box::new(transport) };
        Self { parts: Once::new(parts), interval: INTERVAL }
    }

    /// Sets how many times per second the client sends. The default is 30. It sends at most once in a frame.
    ///
    /// # Panics
    /// Panics if `hz` is not positive.
    #[must_use]
    pub fn hz(self, hz: f64) -> Self {
        self.every(interval(hz))
    }

    /// Sets the limits of the client, whether it reconnects, and its [login](ClientConfig::login).
    #[must_use]
    pub fn config(mut self, config: ClientConfig) -> Self {
        if let Some(parts) = self.parts.get_mut() {
            parts.config = config;
        }
        self
    }

    pub(crate) const fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

impl Plugin for ClientPlugin {
    fn build(&self, app: &mut App) {
        add_time(app);
        let Parts { config, session, transport } = self.parts.take();
        client::build(app, ReplClient::new(Client::new(config, session), transport, self.interval));
        prediction::build(app);
    }
}
