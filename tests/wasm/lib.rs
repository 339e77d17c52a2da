//! A small world whose packets are hashed. A build for another processor must make the same packets.
//!
//! *Invariant:* the world uses no arithmetic that may differ between processors, such as sines.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId, Rng};

const SERVER: PeerId = PeerId(0);
const CLIENTS: u32 = 3;
const TICKS: u32 = 300;

#[derive(FastArrayItem, Clone, Default)]
struct Tool {
    #[replicated]
    kind: u16,
    #[replicated]
    uses: u32,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Walker {
    #[replicated(quantize(step = 0.01, range = -1000.0..=1000.0))]
    place: [f32; 3],
    name: String,
    #[replicated(condition = OwnerOnly)]
    gold: i64,
    tools: FastArray<Tool>,
    prices: ReplicatedMap<u16, u32>,
}

/// The number of worlds that are compared.
pub const SEEDS: u64 = 12;

/// Runs the world of a seed over links that lose, delay and reorder packets. Returns the hash of all packets
/// and of their arrival times.
#[must_use]
pub fn trace(seed: u64) -> u64 {
    let mut rng = Rng::new(seed);
    let mut network = Network::new(seed);
    let mut clock = Clock::at_hz(60);
    let mut server = Server::new(ServerConfig::default());
    server.register::<Walker>();
    let mut guests: Vec<(PeerId, ConnectionId, Client)> = (1..=CLIENTS)
        .map(|number| {
            let peer = PeerId(number);
            network.connect(SERVER, peer, LinkConditions::mobile());
            let mut client = Client::new(ClientConfig::default(), Session::for_tests(number.into()));
            client.register::<Walker>();
            (peer, server.connect(Duration::ZERO), client)
        })
        .collect();
    let mut walkers: Vec<ObjectRef<Walker>> = Vec::new();
    for _ in 0..TICKS {
        let now = clock.tick();
        while let Some(delivery) = network.deliver(now) {
            for (peer, connection, client) in &mut guests {
                if delivery.to == *peer {
                    client.receive(now, delivery.bytes).ok();
                } else if delivery.from == *peer {
                    server.receive(*connection, now, delivery.bytes);
                }
            }
        }
        disturb(&mut server, &mut walkers, &guests, &mut rng);
        server.tick(now);
        for (peer, connection, client) in &mut guests {
            while let Some(packet) = server.poll_transmit(*connection) {
                network.send(now, SERVER, *peer, packet);
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, *peer, SERVER, packet);
            }
        }
    }
    network.trace()
}

/// Adds, changes and removes objects at random.
fn disturb(
    server: &mut Server,
    walkers: &mut Vec<ObjectRef<Walker>>,
    guests: &[(PeerId, ConnectionId, Client)],
    rng: &mut Rng,
) {
    if rng.chance(0.1) {
        let walker = server.spawn(Walker { name: format!("walker {}", rng.below(100)), ..Walker::default() });
        let owner = rng.pick(guests).map(|(_, connection, _)| *connection);
        server.object(walker).set_owner(owner);
        walkers.push(walker);
    }
    for at in 0..walkers.len() {
        let walker = &mut server[walkers[at]];
        walker.place[rng.below(3) as usize] += rng.unit() as f32 - 0.5;
        if rng.chance(0.1) {
            walker.gold = rng.next_u64() as i64;
            walker.prices.insert(rng.below(20) as u16, rng.below(1_000) as u32);
            walker.tools.push(Tool { kind: rng.below(7) as u16, uses: 0 });
        }
        if rng.chance(0.1) && !walker.tools.is_empty() {
            walker.tools[0].uses += 1;
            if walker.tools.len() > 5 {
                walker.tools.remove(1);
            }
        }
    }
    if rng.chance(0.02) && !walkers.is_empty() {
        server.despawn(walkers.swap_remove(0));
    }
}

/// Returns [`SEEDS`] to hosts of WebAssembly.
#[unsafe(no_mangle)]
pub extern "C" fn seeds() -> u64 {
    SEEDS
}

/// The same as [`trace`], for hosts of WebAssembly.
#[unsafe(no_mangle)]
pub extern "C" fn trace_of(seed: u64) -> u64 {
    trace(seed)
}
