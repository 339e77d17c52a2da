//! A server of fast arrays and its connections. All connections receive the same changes, and lose the same
//! packets. The memory that the connections cost the server is measured as the difference between two crowds
//! that differ in one thing only.
//!
//! *Invariant:* the counting allocator measures only memory of the server. The clients and the harness hold
//! the same memory before and after a measurement.
#![allow(dead_code, reason = "each binary uses a part")]

use std::time::Duration;

use repl::prelude::*;

use crate::allocator::held;

/// Longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
const TICK: Duration = Duration::from_millis(16);

/// An item with two properties.
#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
pub(crate) struct Item {
    pub(crate) kind: u16,
    pub(crate) count: u16,
}

/// An object with one array.
#[derive(Default, Replicated)]
pub(crate) struct Bag {
    #[replicated]
    pub(crate) items: FastArray<Item>,
}

/// Whether the packets of a tick arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    /// The packets arrive and are acknowledged.
    Good,
    /// The packets are lost.
    Dead,
}

/// A server with some arrays, and its connections.
pub(crate) struct Crowd {
    server: Server,
    bags: Vec<ObjectRef<Bag>>,
    connections: Vec<ConnectionId>,
    /// The clients, one for each connection.
    clients: Vec<Client>,
    now: Duration,
    /// How many bytes of memory the server holds.
    held: isize,
}

impl Crowd {
    /// Makes a server with `arrays` arrays of `len` items, all acknowledged by `connections` connections.
    pub(crate) fn new(arrays: usize, len: usize, connections: usize) -> Self {
        let mut crowd = Self {
            server: Server::new(ServerConfig {
                timeout: FOREVER,
                congestion_control: repl::CongestionControl::Off,
                ..ServerConfig::default()
            }),
            bags: Vec::new(),
            connections: Vec::new(),
            clients: Vec::new(),
            now: TICK,
            held: 0,
        };
        crowd.serve(|server| _ = server.register::<Bag>());
        let item = |at| Item { kind: at as u16, ..Item::default() };
        for _ in 0..arrays {
            let bag = crowd.serve(|server| server.spawn(Bag { items: (0..len).map(item).collect() }));
            crowd.bags.push(bag);
        }
        for _ in 0..connections {
            let connection = crowd.serve(|server| server.connect(Duration::ZERO));
            crowd.connections.push(connection);
            let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(7 + connection.index() as u64));
            client.register::<Bag>();
            crowd.clients.push(client);
        }
        crowd.settle();
        crowd
    }

    /// Returns the heap memory that the server holds, in bytes.
    pub(crate) fn held_bytes(&self) -> isize {
        self.held
    }

    /// Runs `work` on the server, and counts how much memory the server holds afterwards.
    fn serve<T>(&mut self, work: impl FnOnce(&mut Server) -> T) -> T {
        let before = held();
        let result = work(&mut self.server);
        self.held += held() - before;
        result
    }

    /// Changes `count` items of the first array, from `first` on, `stride` positions apart.
    pub(crate) fn edit(&mut self, first: usize, count: usize, stride: usize) {
        let bag = self.bags[0];
        self.serve(|server| {
            let items = &mut server[bag].items;
            (0..count).for_each(|at| items[first + at * stride].count += 1);
        });
    }

    /// Removes every second one of the last `count` items of the first array.
    pub(crate) fn thin_out(&mut self, count: usize) {
        let bag = self.bags[0];
        self.serve(|server| {
            let items = &mut server[bag].items;
            let (len, mut at) = (items.len(), 0);
            items.retain(|_| {
                at += 1;
                at + count <= len || at % 2 == 0
            });
        });
    }

    /// Adds `count` items to the first array and removes the same number of the oldest.
    pub(crate) fn churn(&mut self, count: usize) {
        let bag = self.bags[0];
        self.serve(|server| {
            let items = &mut server[bag].items;
            let mut at = 0;
            items.retain(|_| {
                at += 1;
                at > count
            });
            (0..count).for_each(|_| _ = items.push(Item::default()));
        });
    }

    /// Runs one tick. Returns the bytes that were sent to one connection.
    pub(crate) fn tick(&mut self, link: Link) -> usize {
        self.now += TICK;
        let now = self.now;
        self.serve(|server| server.tick(now));
        let mut bytes = 0;
        for at in 0..self.connections.len() {
            let (connection, client) = (self.connections[at], &mut self.clients[at]);
            loop {
                // A client allocates memory for a packet. This memory does not count, because it does not
                // belong to the server.
                let before = held();
                let Some(packet) = self.server.poll_transmit(connection) else { break };
                self.held += held() - before;
                if link == Link::Good {
                    client.receive(now, packet).expect("a packet of the server");
                }
                if at == 0 {
                    bytes += packet.len();
                }
            }
            client.tick(now);
            while let Some(answer) = client.poll_transmit() {
                let before = held();
                self.server.receive(connection, now, answer);
                self.held += held() - before;
            }
        }
        bytes
    }

    /// Ticks until everything has been acknowledged for a while.
    ///
    /// # Panics
    /// Panics if this takes more than 20,000 ticks, or if a client's arrays differ from the server's.
    pub(crate) fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..20_000 {
            let bytes = self.tick(Link::Good);
            let is_open = |id: &ConnectionId| {
                self.server.connection_info(*id).stats().is_none_or(|stats| stats.packets_in_flight > 0)
            };
            quiet = if bytes > 0 || self.connections.iter().any(is_open) { 0 } else { quiet + 1 };
            if quiet == QUIET_TICKS {
                self.check();
                return;
            }
        }
        panic!("there is no end of it");
    }

    fn check(&self) {
        for client in &self.clients {
            for bag in &self.bags {
                let (here, there) = (client.get(*bag).expect("the client has it"), &self.server[*bag]);
                assert_eq!(here.items.len(), there.items.len());
                let same = |id: &ItemId| here.items.by_id(*id) == there.items.by_id(*id);
                assert!(there.items.ids().iter().all(same), "the client's items differ");
            }
        }
    }
}

/// After this many ticks without packets, the server has freed the memory that it needed only for a while.
const QUIET_TICKS: usize = 600;

/// The number of connections after the first one. The cost of a further connection is their average.
const FURTHER: usize = 16;

/// Returns the bytes that the server holds for each further connection that has acknowledged `arrays` arrays
/// of `len` items and everything in `events`.
pub(crate) fn per_connection(arrays: usize, len: usize, events: impl Fn(&mut Crowd)) -> f64 {
    let held = |connections| {
        let mut crowd = Crowd::new(arrays, len, connections);
        events(&mut crowd);
        crowd.settle();
        crowd.held_bytes()
    };
    (held(1 + FURTHER) - held(1)) as f64 / FURTHER as f64
}

/// Returns the bytes per connection that the server holds for each further array of `len` items, when
/// everything is acknowledged.
pub(crate) fn per_array(len: usize) -> f64 {
    const ARRAYS: usize = 10_000;
    (per_connection(ARRAYS, len, |_| {}) - per_connection(1, len, |_| {})) / (ARRAYS - 1) as f64
}

/// Changes `changed` of the first `spread` items, evenly spread, and loses the packets.
pub(crate) fn send_off(crowd: &mut Crowd, changed: usize, spread: usize) {
    crowd.edit(0, changed, spread / changed);
    assert!(crowd.tick(Link::Dead) > 0, "the change is sent");
}

/// Runs `ticks` ticks. In each tick the next ten of the first `spread` items change, and all packets are
/// lost.
pub(crate) fn fall_behind(crowd: &mut Crowd, ticks: usize, spread: usize) {
    for tick in 0..ticks {
        crowd.edit(tick % (spread / 10) * 10, 10, 1);
        crowd.tick(Link::Dead);
    }
}

/// Returns how many more bytes the server holds after `events`, for `connections` connections that had
/// received an array of `len` items.
pub(crate) fn growth(len: usize, connections: usize, events: impl FnOnce(&mut Crowd)) -> isize {
    let mut crowd = Crowd::new(1, len, connections);
    let before = crowd.held_bytes();
    events(&mut crowd);
    crowd.held_bytes() - before
}

/// Returns how many bytes each further connection with the same events costs.
pub(crate) fn further_growth(len: usize, events: impl Fn(&mut Crowd)) -> isize {
    (growth(len, 9, &events) - growth(len, 1, &events)) / 8
}
