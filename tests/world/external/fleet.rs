//! A world of ships: a server, its clients, and bad links between them. The ships live in the server or in a
//! store outside it.
//!
//! *Invariant:* two worlds with the same seed make the same calls with the same random choices, wherever the
//! ships live.

use repl::Condition;
use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId, Rng};

use crate::external::store::Store;
use crate::support::property;

const CLIENTS: u32 = 3;

#[derive(FastArrayItem, Clone, Default, Debug, PartialEq)]
pub(crate) struct Crate {
    count: u8,
    label: String,
}

/// A class with a property for each way of comparison: always, on condition, or only with a mark.
#[derive(Replicated, Clone, Default)]
pub(crate) struct Ship {
    #[replicated]
    pub(crate) hull: u16,
    #[replicated(quantize(step = 0.5, range = -100.0..=100.0))]
    pub(crate) position: [f32; 2],
    #[replicated(condition = InitialOnly)]
    pub(crate) name: String,
    #[replicated(condition = OwnerOnly)]
    pub(crate) ammo: u16,
    #[replicated(condition = Custom)]
    pub(crate) cargo_list: Vec<u8>,
    #[replicated(condition = Custom, starts_off)]
    pub(crate) course: u32,
    #[replicated(condition = Dynamic)]
    pub(crate) speed: u32,
    #[replicated(push)]
    pub(crate) pushed: u32,
    #[replicated]
    pub(crate) target: ObjectRef<Self>,
    #[replicated]
    pub(crate) hold: FastArray<Crate>,
    #[replicated(push)]
    pub(crate) deck: OrderedFastArray<Crate>,
    #[replicated(condition = Custom)]
    pub(crate) safe: FastArray<Crate>,
}

/// Where the ships live.
pub(crate) enum Home {
    Server,
    Store(Store<Ship>),
}

/// The kinds of changes that the world makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Only changes for which the server sends the same bytes, wherever the ships live.
    Tame,
    /// All changes, including those that the server compares later if it owns the ships, but immediately if
    /// they live in the store. Ships in the store are compared several times in one tick.
    Wild,
}

/// A server, its clients, and the network between them.
pub(crate) struct World {
    pub(crate) home: Home,
    changes: Changes,
    pub(crate) server: Server,
    pub(crate) network: Network,
    pub(crate) clients: Vec<(Client, ConnectionId)>,
    pub(crate) ships: Vec<ObjectRef<Ship>>,
    /// Every packet of the current tick, with the client that it is for.
    pub(crate) packets: Vec<(u32, Vec<u8>)>,
    rng: Rng,
    /// Decides the order of the rows in the store.
    order: Rng,
    clock: Clock,
}

const SERVER: PeerId = PeerId(1_000);

impl World {
    pub(crate) fn new(home: Home, changes: Changes, seed: u64) -> Self {
        let mut server = Server::new(ServerConfig::default());
        match home {
            Home::Server => server.register::<Ship>(),
            Home::Store(_) => server.register_external::<Ship>(),
        };
        Self {
            home,
            changes,
            server,
            network: Network::new(seed),
            clients: Vec::new(),
            ships: Vec::new(),
            packets: Vec::new(),
            rng: Rng::new(seed),
            order: Rng::new(!seed),
            clock: Clock::at_hz(60),
        }
    }

    pub(crate) fn enter(&mut self) {
        let now = self.clock.now();
        let peer = PeerId(self.clients.len() as u32);
        self.network.connect(SERVER, peer, LinkConditions::mobile());
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(7 + u64::from(peer.0)));
        client.register::<Ship>();
        let id = if peer.0 == 1 { self.server.connect_replay(now) } else { self.server.connect(now) };
        self.clients.push((client, id));
    }

    fn spawn(&mut self, ship: Ship) {
        self.ships.push(match &mut self.home {
            Home::Server => self.server.spawn(ship),
            Home::Store(store) => store.spawn(&mut self.server, ship),
        });
    }

    fn despawn(&mut self, at: usize) {
        let ship = self.ships.swap_remove(at);
        match &mut self.home {
            Home::Server => self.server.despawn(ship),
            Home::Store(store) => store.despawn(&mut self.server, ship),
        }
    }

    pub(crate) fn ship(&self, object: ObjectRef<Ship>) -> &Ship {
        match &self.home {
            Home::Server => &self.server[object],
            Home::Store(store) => store.get(object),
        }
    }

    fn ship_mut(&mut self, object: ObjectRef<Ship>) -> &mut Ship {
        match &mut self.home {
            Home::Server => &mut self.server[object],
            Home::Store(store) => store.get_mut(object),
        }
    }

    /// Moves the rows of the store, and passes the ships that changed to the server.
    fn hand_over(&mut self) {
        if let Home::Store(store) = &mut self.home {
            store.shuffle(&mut self.order);
            store.hand_over(&mut self.server).expect("all of them exist");
        }
    }

    /// Makes some changes, and carries the packets of one tick.
    pub(crate) fn play(&mut self) {
        let tick = self.server.ticks() as u32;
        if tick % 60 == 10 && self.clients.len() < CLIENTS as usize {
            self.enter();
        }
        for number in 0..self.rng.below(16) as u32 {
            self.change(tick * 16 + number + 1);
            if self.changes == Changes::Wild && self.rng.below(8) == 0 {
                self.hand_over();
            }
        }
        self.tick();
    }

    /// Carries the packets of one tick.
    pub(crate) fn tick(&mut self) {
        let now = self.clock.tick();
        self.hand_over();
        self.packets.clear();
        self.server.tick(now);
        for (peer, (client, id)) in (0..).zip(&mut self.clients) {
            while let Some(packet) = self.server.poll_transmit(*id) {
                self.packets.push((peer, packet.to_vec()));
                self.network.send(now, SERVER, PeerId(peer), packet);
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                self.network.send(now, PeerId(peer), SERVER, packet);
            }
        }
        while let Some(delivery) = self.network.deliver(now) {
            match self.clients.get_mut(delivery.to.0 as usize) {
                Some((client, _)) => client.receive(now, delivery.bytes).expect("a packet of the server"),
                None => self.server.receive(self.clients[delivery.from.0 as usize].1, now, delivery.bytes),
            }
        }
    }

    /// Makes one random change. `fresh` grows from call to call, so a value that is written with it never
    /// occurs again.
    fn change(&mut self, fresh: u32) {
        let mut dice = Rng::new(self.rng.below(u64::MAX));
        let at = dice.below(self.ships.len().max(1) as u64) as usize;
        let Some(&object) = self.ships.get(at) else { return self.spawn(Ship::default()) };
        let client = self.clients.get(dice.below(CLIENTS.into()) as usize).map(|(_, id)| *id);
        match dice.below(24) {
            kind @ 0..16 => {
                let other = dice.pick(&self.ships).copied().unwrap_or_default();
                let is_wild = self.changes == Changes::Wild;
                // While a client joins, new elements may delay its `Synchronized` event.
                let is_joining = self.clients.iter().any(|(client, _)| !client.is_synchronized());
                if !is_wild && is_joining && matches!(kind, 4 | 9..) {
                    return;
                }
                write(self.ship_mut(object), kind, is_wild, &mut dice, fresh, other);
                if kind == 8 {
                    self.server.object(object).mark_dirty(property::<Ship>("pushed"));
                }
            }
            16 => {
                let name = *dice.pick(&["cargo_list", "course", "safe"]).expect("there are some");
                self.server.object(object).set_custom_active(property(name), dice.below(2) > 0);
            }
            17 => {
                let (active, course) = (dice.below(2) > 0, property::<Ship>("course"));
                client.into_iter().for_each(|id| {
                    self.server.object(object).set_custom_active_for(id, course, active);
                });
            }
            18 => {
                let conditions = [Condition::Never, Condition::None, Condition::OwnerOnly];
                let condition = *dice.pick(&conditions).expect("there are some");
                self.server.object(object).set_dynamic_condition(property::<Ship>("speed"), condition);
            }
            19 => _ = self.server.object(object).set_owner(client),
            20 => {
                let visible = dice.below(2) > 0;
                client.into_iter().for_each(|id| _ = self.server.object(object).set_visible(id, visible));
            }
            21 if self.ships.len() < 12 => {
                self.spawn(Ship { name: fresh.to_string(), course: fresh, ..Ship::default() });
            }
            _ if self.ships.len() > 4 && dice.below(4) == 0 => self.despawn(at),
            _ => {}
        }
    }
}

/// Writes to one property.
fn write(ship: &mut Ship, kind: u64, is_wild: bool, dice: &mut Rng, fresh: u32, other: ObjectRef<Ship>) {
    match kind {
        0 | 1 => ship.hull = dice.below(9) as u16,
        2 => ship.position[1] = dice.below(100) as f32 / 3.0,
        3 => ship.ammo = dice.below(9) as u16,
        4 => ship.cargo_list.push(fresh as u8),
        5 => ship.course = fresh,
        6 => ship.speed = fresh,
        7 => ship.target = other,
        // The caller marks the property.
        8 => ship.pushed = fresh,
        9 if is_wild => ship.pushed = fresh,
        10 if is_wild => ship.name = fresh.to_string(),
        9..12 => edit(&mut ship.hold, dice, fresh),
        12 => {
            let place = dice.below(ship.deck.len() as u64 + 1) as usize;
            ship.deck.insert(place, Crate { count: fresh as u8, label: String::new() });
        }
        13 => _ = ship.deck.pop(),
        14 if is_wild => edit(&mut ship.safe, dice, fresh),
        14 => _ = ship.safe.push(Crate { count: fresh as u8, label: String::new() }),
        // Another array is assigned over this one.
        _ => ship.hold = (0..3).map(|_| Crate::default()).collect(),
    }
}

fn edit(array: &mut FastArray<Crate>, dice: &mut Rng, fresh: u32) {
    let at = dice.below(array.len().max(1) as u64) as usize;
    match dice.below(4) {
        0 if !array.is_empty() => _ = array.swap_remove(at),
        1 if !array.is_empty() => array[at].count = fresh as u8,
        _ => _ = array.push(Crate { count: 1, label: fresh.to_string() }),
    }
}
