//! A server of fast arrays and its connections, to all of which the same happens: what they make the server hold is measured as a
//! difference between crowds that are alike otherwise.
//!
//! *Invariant:* what is measured with the counting allocator is held by the server; what clients and the harness hold is the same before and after.
#![allow(dead_code, reason = "each binary uses a part")]

use std::time::Duration;

use repl::prelude::*;

use crate::allocator::held;

/// Longer than any measurement: no signs of life.
const FOREVER: Duration = Duration::from_secs(1 << 32);
const TICK: Duration = Duration::from_millis(16);

/// An item of two properties.
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

/// What becomes of a tick's packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    /// They arrive and are acknowledged.
    Good,
    /// They are lost.
    Dead,
}

/// A server with some arrays, and its connections.
pub(crate) struct Crowd {
    server: Server,
    bags: Vec<ObjectRef<Bag>>,
    connections: Vec<ConnectionId>,
    /// One for each connection.
    clients: Vec<Client>,
    now: Duration,
    /// Bytes that the server holds.
    held: isize,
}

impl Crowd {
    /// So many connections that have acknowledged so many arrays of `len` items.
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
            let mut client = Client::new(config, 7 + connection.index() as u64);
            client.register::<Bag>();
            crowd.clients.push(client);
        }
        crowd.settle();
        crowd
    }

    /// Bytes that the server holds on the heap, since it was made.
    pub(crate) fn held_bytes(&self) -> isize {
        self.held
    }

    /// Has the server do something, and counts what it then holds more or less.
    fn serve<T>(&mut self, work: impl FnOnce(&mut Server) -> T) -> T {
        let before = held();
        let result = work(&mut self.server);
        self.held += held() - before;
        result
    }

    /// Changes `count` items of the first array that stand `stride` apart, from `first` on.
    pub(crate) fn edit(&mut self, first: usize, count: usize, stride: usize) {
        let bag = self.bags[0];
        self.serve(|server| {
            let items = &mut server[bag].items;
            (0..count).for_each(|at| items[first + at * stride].count += 1);
        });
    }

    /// Removes the items of the first array at every second of `count` places from the end on.
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

    /// Adds `count` items to the first array and removes as many of the oldest, so that in each tick some come into being.
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

    /// One tick; gives the bytes that one connection was sent.
    pub(crate) fn tick(&mut self, link: Link) -> usize {
        self.now += TICK;
        let now = self.now;
        self.serve(|server| server.tick(now));
        let mut bytes = 0;
        for at in 0..self.connections.len() {
            let (connection, client) = (self.connections[at], &mut self.clients[at]);
            loop {
                // What a client makes of a packet is not the server's.
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
    /// If that takes too long, or the client does not hold what the server holds.
    pub(crate) fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..20_000 {
            let bytes = self.tick(Link::Good);
            let is_open =
                |id: &ConnectionId| self.server.stats(*id).is_none_or(|stats| stats.packets_in_flight > 0);
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

/// Ticks after the last packet in which memory that was needed for a while is given back.
const QUIET_TICKS: usize = 600;

/// Connections of a crowd beyond the first, over which it is reckoned what a further one costs.
const FURTHER: usize = 16;

/// Bytes that the server holds for each further connection that has acknowledged so many arrays of `len` items, after `events` that all have
/// acknowledged too.
pub(crate) fn per_connection(arrays: usize, len: usize, events: impl Fn(&mut Crowd)) -> f64 {
    let held = |connections| {
        let mut crowd = Crowd::new(arrays, len, connections);
        events(&mut crowd);
        crowd.settle();
        crowd.held_bytes()
    };
    (held(1 + FURTHER) - held(1)) as f64 / FURTHER as f64
}

/// Bytes that the server holds for each further array of `len` items and connection, all acknowledged.
pub(crate) fn per_array(len: usize) -> f64 {
    const ARRAYS: usize = 10_000;
    (per_connection(ARRAYS, len, |_| {}) - per_connection(1, len, |_| {})) / (ARRAYS - 1) as f64
}

/// Changes so many of the first `spread` items, evenly, and loses what is sent of it.
pub(crate) fn send_off(crowd: &mut Crowd, changed: usize, spread: usize) {
    crowd.edit(0, changed, spread / changed);
    assert!(crowd.tick(Link::Dead) > 0, "the change is sent");
}

/// So many ticks in which ten of the first `spread` items change, evenly in turn, and all packets are lost.
pub(crate) fn fall_behind(crowd: &mut Crowd, ticks: usize, spread: usize) {
    for tick in 0..ticks {
        crowd.edit(tick % (spread / 10) * 10, 10, 1);
        crowd.tick(Link::Dead);
    }
}

/// Bytes that the server holds more after `events`, for so many connections that had all of an array of `len` items.
pub(crate) fn growth(len: usize, connections: usize, events: impl FnOnce(&mut Crowd)) -> isize {
    let mut crowd = Crowd::new(1, len, connections);
    let before = crowd.held_bytes();
    events(&mut crowd);
    crowd.held_bytes() - before
}

/// The same for each further connection, to which the same happens.
pub(crate) fn further_growth(len: usize, events: impl Fn(&mut Crowd)) -> isize {
    (growth(len, 9, &events) - growth(len, 1, &events)) / 8
}
