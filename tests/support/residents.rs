//! A server with many objects of 112 bytes that all clients see, and the memory that the server holds for
//! each of them.
//!
//! *Invariant:* the memory of a server with the same number of clients but without objects is subtracted.
#![allow(dead_code, reason = "each binary uses a part")]

use std::time::Duration;

use repl::prelude::*;

use crate::allocator::held;

const TICK: Duration = Duration::from_millis(16);
/// Longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// Memory that is no longer needed is freed only after this many ticks.
const REST_TICKS: u32 = 1_100;
/// The number of objects that change in a busy tick.
const CHANGES: usize = 3;

/// When the memory is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// After the tick in which the objects were spawned.
    Spawned,
    /// When the clients have all objects.
    Joined,
    /// After that, a few objects have changed in each of 1,100 ticks.
    Busy,
    /// The clients have all objects, and nothing has happened for 1,100 ticks.
    AtRest,
}

#[derive(Clone, Default, Replicated)]
#[replicated(all)]
pub(crate) struct Resident {
    position: [f32; 3],
    rotation: [f32; 4],
    velocity: [f32; 3],
    spin: [f32; 3],
    pub(crate) stock: [u32; 12],
    health: u32,
    score: u32,
    kind: u32,
}

const _: () = assert!(size_of::<Resident>() == 112);

pub(crate) struct Town {
    server: Server,
    pub(crate) clients: Vec<(ConnectionId, Client)>,
    residents: Vec<ObjectRef<Resident>>,
    now: Duration,
}

impl Town {
    /// Returns a server with objects, and clients that are joining.
    pub(crate) fn new(objects: usize, clients: usize) -> Self {
        let mut server = Server::new(ServerConfig {
            timeout: FOREVER,
            congestion_control: repl::CongestionControl::Off,
            validate_addresses: false,
            ..ServerConfig::default()
        });
        server.register::<Resident>();
        let resident = |at: usize| Resident {
            position: [at as f32, 1.5, -3.0],
            stock: [at as u32; 12],
            kind: at as u32 % 7,
            ..Resident::default()
        };
        let residents = (0..objects).map(|at| server.spawn(resident(at))).collect();
        let mut town = Self { server, clients: Vec::new(), residents, now: TICK };
        (0..clients).for_each(|_| town.connect());
        town
    }

    /// Lets one more client join.
    pub(crate) fn connect(&mut self) {
        let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
        let number = self.clients.len() as u64 + 1;
        let mut client = Client::new(config, Session::for_tests(number));
        client.register::<Resident>();
        self.clients.push((self.server.connect(self.now), client));
    }

    /// Runs a tick in which all packets arrive.
    pub(crate) fn tick(&mut self) {
        self.now += TICK;
        self.server.tick(self.now);
        for (connection, client) in &mut self.clients {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                client.receive(self.now, packet).expect("what the server sends can be read");
            }
            client.tick(self.now);
            while let Some(packet) = client.poll_transmit() {
                self.server.receive(*connection, self.now, packet);
            }
            while client.poll_event().is_some() {}
        }
    }

    pub(crate) fn memory(&self) -> repl::ServerMemory {
        self.server.memory()
    }

    /// Changes a few objects, different ones in each tick.
    fn change(&mut self, tick: u32) {
        let objects = self.residents.len();
        for number in 0..CHANGES.min(objects) {
            let at = (tick as usize * CHANGES + number) * 7 % objects;
            self.server[self.residents[at]].health += 1;
        }
    }

    /// Plays from the first tick until a moment.
    pub(crate) fn play_until(&mut self, moment: Moment) {
        self.tick();
        if moment == Moment::Spawned {
            return;
        }
        (0..40).for_each(|_| self.tick());
        for (_, client) in &self.clients {
            assert_eq!(client.objects::<Resident>().count(), self.residents.len());
        }
        if moment == Moment::Joined {
            return;
        }
        for tick in 0..REST_TICKS {
            if moment == Moment::Busy {
                self.change(tick);
            }
            self.tick();
        }
    }
}

/// Returns how many bytes a server holds at a moment.
fn server_bytes(objects: usize, clients: usize, moment: Moment) -> isize {
    let mut town = Town::new(objects, clients);
    town.play_until(moment);
    let Town { server, clients, .. } = town;
    let before = held();
    drop(server);
    let bytes = before - held();
    drop(clients);
    bytes
}

/// Returns how many bytes a server with this many objects and clients holds for each object.
pub(crate) fn per_object(objects: usize, clients: usize, moment: Moment) -> f64 {
    (server_bytes(objects, clients, moment) - server_bytes(0, clients, moment)) as f64 / objects as f64
}
