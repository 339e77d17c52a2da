//! Makes an app a server.

use bevy_app::{App, Plugin};
use bevy_time::{Fixed, Time};
use repl::Work;
use repl::prelude::*;
#[cfg(all(feature = "quic", not(target_family = "wasm")))]
use repl::quic::{Identity, QuicConfig, QuicServer};
#[cfg(all(feature = "quic", not(target_family = "wasm")))]
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use super::{INTERVAL, Once, add_time, interval};
use crate::prediction;
use crate::server;
use crate::server::state::{GoesOn, ReplServer};
use crate::transport::ServerTransport;

/// Makes an app a server.
///
/// ```no_run
/// use bevy_app::App;
/// use repl::quic::Identity;
/// use repl_bevy::ServerPlugin;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // While you develop; `Identity::from_pem` for players that are elsewhere.
/// let identity = Identity::development("target/certificate")?;
/// App::new().add_plugins(ServerPlugin::bind("0.0.0.0:7000", &identity)?.hz(60.0));
/// # Ok(())
/// # }
/// ```
pub struct ServerPlugin {
    parts: Once<Parts>,
    interval: Duration,
    is_host: bool,
}

struct Parts {
    config: ServerConfig,
    transport: Box<dyn ServerTransport>,
    goes_on: Option<GoesOn>,
}

impl ServerPlugin {
    /// Makes an app a server on a UDP port. All packets are encrypted. `identity` contains the certificate of
    /// the server.
    ///
    /// # Errors
    /// Returns an error if the address does not belong to this machine, or if the port cannot be opened.
    ///
    /// For other limits, or for players in browsers, pass your own [`QuicServer`] to [`over`](Self::over).
    #[cfg(all(feature = "quic", not(target_family = "wasm")))]
    pub fn bind(address: impl ToSocketAddrs, identity: &Identity) -> std::io::Result<Self> {
        let address: SocketAddr = super::first_address(address)?;
        Ok(Self::over(QuicServer::bind(address, identity, QuicConfig::default())?))
    }

    /// Makes an app a server over a network of your own or a [simulated](crate::SimulatedNetwork) network.
    #[must_use]
    pub fn over(transport: impl ServerTransport) -> Self {
        let config = ServerConfig::default();
        let parts = Parts { config, transport: Box::new(transport), goes_on: None };
        Self { parts: Once::new(parts), interval: INTERVAL, is_host: false }
    }

    /// Sets how many times per second the server ticks and sends. The default is 30. This is also the rate of
    /// `FixedUpdate`.
    ///
    /// # Panics
    /// Panics if `hz` is not positive.
    #[must_use]
    pub fn hz(self, hz: f64) -> Self {
        self.every(interval(hz))
    }

    /// Adds a host: a player in the process of the server (a listen server). The host is a
    /// [`ConnectedClient`](crate::ConnectedClient) with [`HostPlayer`](crate::HostPlayer), and plays on the
    /// server's own entities. The entities that the host owns have [`Owned`](crate::Owned). It makes inputs
    /// and messages like a client. Nothing is predicted or interpolated for it, and it sends and receives no
    /// packets.
    #[must_use]
    pub const fn host(mut self) -> Self {
        self.is_host = true;
        self
    }

    /// Sets the limits of the server. If [`login`](ServerConfig::login) is [`Ask`](repl::Login::Ask), each
    /// login triggers [`LoginAsked`](crate::LoginAsked).
    #[must_use]
    pub fn config(mut self, config: ServerConfig) -> Self {
        if let Some(parts) = self.parts.get_mut() {
            parts.config = config;
        }
        self
    }

    /// Limits the work of a tick, as [`Server::tick_while`] does: `goes_on` is asked before each [`Work`]
    /// that can wait. Its second argument is the time since the plug-in began to read the world for this
    /// tick. The plug-in passes all changed components to the server before it asks for the first time, so
    /// the limit is mainly for the packets of clients. What does not fit goes first in the next ticks.
    ///
    /// ```
    /// # use repl_bevy::{ServerPlugin, SimulatedNetwork};
    /// # use repl::sim::LinkConditions;
    /// # use std::time::Duration;
    /// # let network = SimulatedNetwork::new(1, LinkConditions::lan());
    /// # let plugin = ServerPlugin::over(network.server());
    /// plugin.tick_while(|_, elapsed| elapsed < Duration::from_millis(8));
    /// ```
    #[must_use]
    pub fn tick_while(mut self, goes_on: impl FnMut(Work, Duration) -> bool + Send + Sync + 'static) -> Self {
        if let Some(parts) = self.parts.get_mut() {
            parts.goes_on = Some(Box::new(goes_on));
        }
        self
    }

    pub(crate) const fn every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }
}

impl Plugin for ServerPlugin {
    fn build(&self, app: &mut App) {
        add_time(app);
        let Parts { config, transport, goes_on } = self.parts.take();
        app.insert_resource(Time::<Fixed>::from_duration(self.interval));
        let mut server = ReplServer::new(Server::new(config), transport);
        goes_on.into_iter().for_each(|goes_on| server.limit_work(goes_on));
        server::build(app, if self.is_host { server.host_later() } else { server });
        prediction::build(app);
    }
}
