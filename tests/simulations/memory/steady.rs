//! Steady ticks with values, items and entries that change allocate no memory, neither on the server nor on a
//! client. An object costs a connection about a bit.
//!
//! *Invariant:* the changes of a world repeat, so that after the first ticks all buffers are large enough.

use std::time::Duration;

use repl::CongestionControl;
use repl::prelude::*;

use crate::allocator::{held, measure_times};

/// Longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
const TICK: Duration = Duration::from_millis(16);
/// The ticks before the measurement. Unused memory is freed every 256 ticks, so they are more than that.
const WARM_UP: u32 = 600;
const MEASURED: u32 = 300;
const CONNECTIONS: usize = 8;
/// A power of two, so that growing lists have no room to spare.
const BODIES: u32 = 8_192;

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Body {
    id: u32,
    position: [f32; 3],
    velocity: [f32; 3],
    yaw: f32,
    health: u16,
    alive: bool,
    #[replicated(max_len = 31)]
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    count: u16,
}

#[derive(Default, Replicated)]
struct Bag {
    #[replicated]
    items: FastArray<Item>,
}

#[derive(Default, Replicated)]
struct Stock {
    #[replicated]
    items: ReplicatedMap<u32, Item>,
}

/// A server, its connections, and one client that answers for all of them, because all receive the same.
struct World {
    server: Server,
    connections: Vec<ConnectionId>,
    client: Client,
    now: Duration,
    packets: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
    /// The number of packets and answers of this tick. The buffers of both lists are used again.
    counts: [usize; 2],
}

impl World {
    /// Returns a world with the objects that `furnish` spawns. All clients have these objects.
    fn new<T>(connections: usize, furnish: impl FnOnce(&mut Server) -> T) -> (Self, T) {
        let config = ServerConfig {
            timeout: FOREVER,
            congestion_control: CongestionControl::Off,
            validate_addresses: false,
            ..ServerConfig::default()
        };
        let mut server = Server::new(config);
        server.register::<Body>().register::<Bag>().register::<Stock>();
        let furniture = furnish(&mut server);
        let mut client =
            Client::new(ClientConfig { timeout: FOREVER, ..ClientConfig::default() }, Session::for_tests(1));
        client.register::<Body>().register::<Bag>().register::<Stock>();
        let connections = (0..connections).map(|_| server.connect(Duration::ZERO)).collect();
        let (packets, answers) = (Vec::new(), Vec::new());
        let mut world = Self { server, connections, client, now: TICK, packets, answers, counts: [0; 2] };
        world.answer();
        for _ in 0..20 {
            world.acknowledge();
            world.tick(|_| {});
            world.answer();
        }
        (world, furniture)
    }

    /// Runs a tick of the server after `change`. Returns how often the server allocated memory.
    fn tick(&mut self, change: impl FnOnce(&mut Server)) -> usize {
        self.now += TICK;
        let Self { server, connections, packets, counts, now, .. } = self;
        let ((), mut times) = measure_times(|| {
            change(server);
            server.tick(*now);
        });
        counts[0] = 0;
        for (at, connection) in connections.iter().enumerate() {
            loop {
                let (packet, polled) = measure_times(|| server.poll_transmit(*connection));
                times += polled;
                let Some(packet) = packet else { break };
                if at == 0 {
                    store(packets, &mut counts[0], packet);
                }
            }
        }
        times
    }

    /// Lets the client receive the packets and answer. Returns how often the client allocated memory.
    fn answer(&mut self) -> usize {
        let Self { client, packets, answers, counts, now, .. } = self;
        let ((), mut times) = measure_times(|| {
            for packet in &packets[..counts[0]] {
                client.receive(*now, packet).expect("a packet of the server");
            }
            client.tick(*now);
        });
        counts[1] = 0;
        loop {
            let (answer, polled) = measure_times(|| client.poll_transmit());
            times += polled;
            let Some(answer) = answer else { break };
            store(answers, &mut counts[1], answer);
        }
        times
    }

    /// Gives the server the answers of all connections. Returns how often the server allocated memory.
    fn acknowledge(&mut self) -> usize {
        let Self { server, connections, answers, counts, now, .. } = self;
        let ((), times) = measure_times(|| {
            for connection in connections {
                answers[..counts[1]].iter().for_each(|answer| server.receive(*connection, *now, answer));
            }
        });
        times
    }

    /// Runs ticks with `change` until no buffer grows, and then more ticks. Returns how often the server and
    /// the client allocated memory in these last ticks.
    fn steady(&mut self, mut change: impl FnMut(&mut Server, u32)) -> [usize; 2] {
        let mut times = [0; 2];
        for step in 0..WARM_UP + MEASURED {
            let server = self.tick(|server| change(server, step));
            let client = self.answer();
            let server = server + self.acknowledge();
            if step >= WARM_UP {
                times = [times[0] + server, times[1] + client];
            }
        }
        times
    }
}

/// Stores a packet at the place `at` of a list, whose buffers are used again.
fn store(list: &mut Vec<Vec<u8>>, at: &mut usize, packet: &[u8]) {
    if list.len() == *at {
        list.push(Vec::with_capacity(2_048));
    }
    list[*at].clear();
    list[*at].extend_from_slice(packet);
    *at += 1;
}

fn bodies(server: &mut Server, count: u32) -> Vec<ObjectRef<Body>> {
    let body = |id| Body { id: id + 1, health: 100, name: format!("body-{id:05}"), ..Body::default() };
    (0..count).map(|id| server.spawn(body(id))).collect()
}

/// Runs the measurement on a world with `count` bodies.
fn steady_bodies(count: u32, change: impl Fn(&mut Server, &[ObjectRef<Body>], u32)) -> [usize; 2] {
    let (mut world, bodies) = World::new(CONNECTIONS, |server| bodies(server, count));
    let times = world.steady(|server, step| change(server, &bodies, step));
    assert!(bodies.iter().all(|body| world.client.get(*body) == world.server.get(*body)));
    times
}

#[test]
fn a_tick_in_which_nothing_changes_allocates_nothing() {
    assert_eq!(steady_bodies(10_000, |_, _, _| {}), [0, 0]);
}

#[test]
fn a_tick_in_which_one_of_a_hundred_changes_allocates_nothing() {
    let times = steady_bodies(10_000, |server, bodies, step| {
        for body in bodies.iter().skip(step as usize % 100).step_by(100) {
            server[*body].health ^= 1;
        }
    });
    assert_eq!(times, [0, 0]);
}

#[test]
fn a_tick_in_which_all_move_allocates_nothing() {
    let times = steady_bodies(2_000, |server, bodies, step| {
        for body in bodies {
            let body = &mut server[*body];
            (body.position, body.yaw) = ([step as f32, body.id as f32, 1.0], step as f32 * 0.5);
        }
    });
    assert_eq!(times, [0, 0]);
}

#[test]
fn a_tick_in_which_one_item_of_an_array_changes_allocates_nothing() {
    for connections in [1, CONNECTIONS] {
        let (mut world, bag) = World::new(connections, |server| {
            server.spawn(Bag { items: (0..10_000).map(|kind| Item { kind, count: 0 }).collect() })
        });
        let times = world.steady(|server, step| server[bag].items[step as usize * 7_919 % 10_000].count += 1);
        assert_eq!(times, [0, 0], "{connections} connections");
    }
}

#[test]
fn a_tick_in_which_one_entry_of_a_recorded_map_changes_allocates_nothing() {
    for connections in [1, CONNECTIONS] {
        let (mut world, stock) = World::new(connections, |server| {
            server.spawn(Stock { items: (0..10_000).map(|key| (key, Item::default())).collect() })
        });
        let times = world.steady(|server, step| {
            server[stock].items.get_mut(&(step * 7_919 % 10_000)).expect("an entry").count += 1;
        });
        assert_eq!(times, [0, 0], "{connections} connections");
    }
}

/// Returns how many bytes the server holds with this many connections and bodies.
fn held_with(connections: usize, count: u32) -> f64 {
    let (mut world, _) = World::new(connections, |server| bodies(server, count));
    world.steady(|_, _| {});
    let before = held();
    drop(world.server);
    (before - held()) as f64
}

#[test]
fn an_object_that_everyone_has_costs_a_connection_about_a_bit() {
    let pairs = 32.0 * f64::from(BODIES);
    let for_objects = |connections| held_with(connections, 2 * BODIES) - held_with(connections, BODIES);
    let bytes = (for_objects(33) - for_objects(1)) / pairs;
    assert!(bytes <= 0.25, "{bytes} bytes for each object and connection");
}

#[test]
fn an_object_takes_twice_its_size_and_some_more() {
    let bytes = (held_with(1, 2 * BODIES) - held_with(1, BODIES)) / f64::from(BODIES);
    let own = 2.0 * (size_of::<Body>() + "body-00000".len()) as f64;
    assert!(
        bytes <= own + 156.0,
        "{bytes} bytes for each object, of which {own} are the object and its shadow"
    );
}
