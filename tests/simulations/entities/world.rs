//! A server with a store of entities, and clients over bad links.
//!
//! *Invariant:* all choices come from the seed.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId, Rng};
use repl::{Audience, Endpoint, EndpointConfig, Group, Relevancy};

use super::guest::{Family, Guest};
use super::store::{self, Entity, KINDS, Root};

const TICK: Duration = Duration::from_millis(33);
const GUESTS: u32 = 2;
const SERVER: PeerId = PeerId(0);
const CREW: Group = Group(7);

pub(crate) struct World {
    rng: Rng,
    network: Network,
    now: Duration,
    tick: u32,
    server: Server,
    endpoint: Endpoint<u32>,
    guests: Vec<Guest>,
    entities: Vec<Entity>,
    next: u32,
}

fn start(secret: u64) -> (Server, Endpoint<u32>) {
    let mut server = Server::new(ServerConfig::default());
    store::register_server(&mut server);
    (server, Endpoint::new(EndpointConfig::default(), secret.into()))
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut network = Network::new(seed);
        for guest in 1..=GUESTS {
            let jitter = Duration::from_millis(rng.below(60));
            let conditions = LinkConditions {
                latency: Duration::from_millis(rng.below(80)),
                jitter,
                ..LinkConditions::perfect()
            };
            network.connect(SERVER, PeerId(guest), conditions.with_loss(rng.below(51) as f64 / 100.0));
        }
        let (server, endpoint) = start(seed);
        let guests = (0..GUESTS).map(|guest| Guest::new(guest.into())).collect();
        Self {
            rng,
            network,
            now: Duration::ZERO,
            tick: 0,
            server,
            endpoint,
            guests,
            entities: Vec::new(),
            next: 0,
        }
    }

    /// Runs a tick with random events.
    pub(crate) fn play(&mut self) {
        for _ in 0..self.rng.below(4) {
            self.happen();
        }
        self.step();
    }

    fn happen(&mut self) {
        let Self { rng, server, entities, tick, next, .. } = self;
        if rng.chance(0.004) {
            return self.restart();
        }
        if entities.len() < 12 && rng.chance(0.3) {
            let mut entity = Entity::spawn(server, *next, *tick);
            if rng.chance(0.6) {
                server.object(entity.root).set_relevancy(Relevancy::Always);
            } else {
                let position = [0; 2].map(|_| rng.range(0..60) as f32);
                server.external().place(entity.root, position).expect("it exists");
            }
            (0..KINDS).filter(|_| rng.chance(0.6)).for_each(|kind| entity.insert(server, kind, *tick, *tick));
            *next += 1;
            return entities.push(entity);
        }
        let Some(index) = (!entities.is_empty()).then(|| rng.below(entities.len() as u64) as usize) else {
            return;
        };
        let entity = &mut entities[index];
        let kind = rng.below(KINDS as u64) as usize;
        let connections: Vec<_> = server.connections().collect();
        let connection = rng.pick(&connections).copied();
        match rng.below(15) {
            0 => server.despawn(entities.swap_remove(index).root),
            1 | 2 => entity.insert(server, kind, *tick, *tick),
            3 => entity.remove(server, kind),
            4 => _ = server.object(entity.root).set_owner(connection),
            5 => connection
                .into_iter()
                .for_each(|id| _ = server.object(entity.root).set_visible(id, rng.chance(0.6))),
            6 => {
                let relevancy =
                    [Relevancy::Always, Relevancy::OwnerOnly, Relevancy::Group(CREW), Relevancy::Located];
                _ = server.object(entity.root).set_relevancy(rng.pick(&relevancy).expect("four").clone());
            }
            7 => {
                let audience = [Audience::Everyone, Audience::Owner, Audience::Group(CREW)];
                let audience = *rng.pick(&audience).expect("three");
                for part in entity.parts[kind].iter_mut() {
                    part.was_narrowed = true;
                    _ = server.object(part.object).set_audience(audience);
                }
            }
            8 => connection.into_iter().for_each(|id| {
                let mut connection = server.connection(id);
                if rng.chance(0.5) {
                    connection.join_group(CREW)
                } else {
                    connection.leave_group(CREW)
                };
            }),
            9 => {
                let position = [0; 2].map(|_| rng.range(0..60) as f32);
                server.external().place(entity.root, position).expect("it exists");
            }
            10 => connection.into_iter().for_each(|id| {
                let viewpoint = [rng.range(0..60) as f32, rng.range(0..60) as f32, 0.0];
                server.connection(id).set_viewpoints(&[viewpoint]);
            }),
            11 => {
                let carrier = rng.pick(entities).map(|other| other.root).expect("there is one");
                if !is_above(entities, entities[index].root, carrier) {
                    entities[index].carry(server, carrier);
                }
            }
            _ => entity.change(server, rng),
        }
    }

    /// Restarts the server, with a new world.
    fn restart(&mut self) {
        (self.server, self.endpoint) = start(self.rng.next_u64());
        self.entities.clear();
    }

    /// Runs a tick of the server and all clients.
    fn step(&mut self) {
        let Self { network, server, endpoint, guests, now, .. } = self;
        *now += TICK;
        while let Some(delivery) = network.deliver(*now) {
            let (from, to, packet) = (delivery.from, delivery.to, delivery.bytes.to_vec());
            if to == SERVER {
                endpoint.receive(server, *now, from.0, &packet);
                continue;
            }
            let guest = &mut guests[to.0 as usize - 1];
            guest.receive(*now, &packet);
            let id = server.connections().find(|id| endpoint.address(*id) == Some(to.0));
            id.into_iter().for_each(|id| assert_whole(guest, server, id, &self.entities));
        }
        while server.poll_event().is_some() {}
        server.tick(*now);
        while let Some((to, packet)) = endpoint.poll_transmit(server) {
            network.send(*now, SERVER, PeerId(to), packet);
        }
        for (number, guest) in (1..).zip(guests) {
            guest.client.tick(*now);
            guest.look();
            while guest.client.poll_event().is_some() {}
            while let Some(packet) = guest.client.poll_transmit() {
                network.send(*now, PeerId(number), SERVER, packet);
            }
        }
        self.tick += 1;
    }

    /// Runs ticks without events until all clients have what they may see, and panics if that takes too long.
    pub(crate) fn settle(&mut self) {
        for _ in 0..1_500 {
            self.step();
            if (0..GUESTS).all(|guest| self.is_same(guest)) {
                return;
            }
        }
        panic!("the clients have not converged");
    }

    /// Returns whether a client has exactly what it may see.
    fn is_same(&self, guest: u32) -> bool {
        let Self { server, endpoint, entities, guests, .. } = self;
        let Some(id) = server.connections().find(|id| endpoint.address(*id) == Some(guest + 1)) else {
            return false;
        };
        let seen = entities.iter().filter(|entity| server.object_info(entity.root).is_relevant_to(id));
        let carriers_are_known = seen.clone().all(|entity| {
            let is_carrier = |other: &&Entity| other.root == entity.carrier;
            let carrier = seen.clone().find(is_carrier).map(|carrier| carrier.number);
            guests[guest as usize].carrier(entity.number) == carrier
        });
        if !carriers_are_known {
            return false;
        }
        let wanted = seen.map(|entity| (entity.number, visible(server, id, entity)));
        guests[guest as usize].families.iter().map(|(entity, family)| (*entity, *family)).eq({
            let mut wanted: Vec<_> = wanted.collect();
            wanted.sort_unstable();
            wanted
        })
    }
}

/// Returns whether `root` is `other` or carries it, directly or through other entities.
fn is_above(entities: &[Entity], root: ObjectRef<Root>, other: ObjectRef<Root>) -> bool {
    let carrier = |root: &ObjectRef<Root>| {
        entities.iter().find(|entity| entity.root == *root).map(|entity| entity.carrier)
    };
    std::iter::successors(Some(other), carrier).any(|above| above == root)
}

/// Returns what a client may see of an entity.
fn visible(server: &Server, id: ConnectionId, entity: &Entity) -> Family {
    entity.parts.map(|part| {
        let part = part.filter(|part| server.object_info(part.object).is_relevant_to(id))?;
        Some(part.value)
    })
}

/// Asserts that an entity that has just appeared on a client has all components that were inserted when it
/// was spawned, that still exist, and that the client may see.
fn assert_whole(guest: &Guest, server: &Server, id: ConnectionId, entities: &[Entity]) {
    for entity in entities.iter().filter(|entity| guest.arrived.contains(&entity.number)) {
        let Some(family) = guest.families.get(&entity.number) else { continue };
        for (part, here) in entity.parts.iter().zip(family) {
            let Some(part) = part.filter(|part| part.since == entity.since) else { continue };
            let may_see = server.object_info(part.object).is_relevant_to(id);
            assert!(
                here.is_some() || !may_see || part.was_narrowed,
                "a part of {} is missing",
                entity.number
            );
        }
    }
}
