//! A server and clients in one process, for tests of games.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time, TimeUpdateStrategy};
use repl::Session;
use repl::prelude::*;
use repl::sim::LinkConditions;
use std::time::Duration;

use crate::plugins::client_plugin::ClientPlugin;
use crate::plugins::server_plugin::ServerPlugin;
use crate::server::state::ReplServer;
use crate::transport::simulated::SimulatedNetwork;

/// A server and its clients in one process, over a simulated network. Each of them has a world of its own.
/// The simulation does not use the system clock: time passes only in [`run`](Self::run). A seed decides which
/// packets are lost, so each run with the same seed has the same result.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use repl::prelude::*;
/// use repl::sim::LinkConditions;
/// use repl_bevy::{Replicate, ReplAppExt, Simulation};
///
/// #[derive(Component, Replicated, Default)]
/// struct Player {
///     #[replicated]
///     health: u16,
/// }
///
/// // What both sides share.
/// let mut simulation = Simulation::new(7, LinkConditions::mobile(), 2, |app| {
///     app.replicate::<Player>();
/// });
/// simulation.server.world_mut().spawn((Replicate, Player { health: 90 }));
/// simulation.run(60);
/// for client in &mut simulation.clients {
///     let world = client.world_mut();
///     assert_eq!(world.query::<&Player>().single(world).unwrap().health, 90);
/// }
/// ```
pub struct Simulation {
    /// The app of the server.
    pub server: App,
    /// The apps of the clients.
    pub clients: Vec<App>,
    network: SimulatedNetwork,
    config: ServerConfig,
    setup: Box<dyn Fn(&mut App)>,
}

impl Simulation {
    /// The time between two ticks of the server, and between two frames of each app.
    pub const TICK: Duration = Duration::from_micros(33_333);

    /// Returns a simulation of a server and `clients` clients. All links have the given conditions. `setup`
    /// is called for each app, after its [`ServerPlugin`] or [`ClientPlugin`] was added.
    pub fn new(
        seed: u64,
        conditions: LinkConditions,
        clients: usize,
        setup: impl Fn(&mut App) + 'static,
    ) -> Self {
        let mut simulation = Self::configured(seed, conditions, ServerConfig::default(), setup);
        (0..clients).for_each(|_| simulation.join());
        simulation
    }

    /// Returns a simulation of a server with this configuration, which may [ask for
    /// logins](ServerConfig::login). It has no clients yet.
    pub fn configured(
        seed: u64,
        conditions: LinkConditions,
        config: ServerConfig,
        setup: impl Fn(&mut App) + 'static,
    ) -> Self {
        let (network, setup) = (SimulatedNetwork::new(seed, conditions), Box::new(setup));
        let server = server(&network, &config, &setup);
        Self { server, clients: Vec::new(), network, config, setup }
    }

    /// Adds a client.
    pub fn join(&mut self) {
        self.join_with(ClientConfig::default());
    }

    /// Adds a client with this configuration, for example with limits and a [login](ClientConfig::login).
    pub fn join_with(&mut self, config: ClientConfig) {
        let session = Session::for_tests(self.clients.len() as u64 + 1);
        let client = ClientPlugin::over(self.network.client(), session).every(Self::TICK).config(config);
        self.clients.push(app(client, &self.setup));
    }

    /// Ends the server without telling the clients, and starts another server with an empty world. This
    /// simulates a process that is killed and started again.
    pub fn restart_server(&mut self) {
        let elapsed = self.server.world().resource::<Time<Real>>().elapsed();
        self.server = server(&self.network, &self.config, &self.setup);
        self.server.insert_resource(TimeUpdateStrategy::ManualDuration(elapsed));
        self.server.update();
        self.server.insert_resource(TimeUpdateStrategy::ManualDuration(Self::TICK));
    }

    /// Returns the entity, in the world of the server, that stands for the client with this number. Numbers
    /// begin at 0. `None` if the client is not connected.
    #[must_use]
    pub fn client_entity(&self, client: usize) -> Option<Entity> {
        let connection = self.network.connection(client)?;
        self.server.world().resource::<ReplServer>().client_of(connection)
    }

    /// Runs so many ticks of the server and of all clients.
    pub fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.server.update();
            self.clients.iter_mut().for_each(App::update);
        }
    }
}

/// Returns the app of a server.
fn server(network: &SimulatedNetwork, config: &ServerConfig, setup: &dyn Fn(&mut App)) -> App {
    app(ServerPlugin::over(network.server()).every(Simulation::TICK).config(config.clone()), setup)
}

/// Returns an app whose clock advances by one tick in each frame.
fn app(plugin: impl Plugin, setup: &dyn Fn(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins(plugin);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Simulation::TICK));
    setup(&mut app);
    app.finish();
    app.cleanup();
    app
}
