//! Replicates a store of entities and components outside the library, as a plug-in for an ECS does it.
//!
//! An entity is a *root*, which is an object without fields, and each of its components is a subobject of the
//! root. The game passes the position of each root and the changed components to the server. Each client
//! reads one stream of updates, and has the entities near it in a store of the same kind, each with all its
//! components.
//!
//! `cargo run --release --example external`: goblins walk about and catch fire, and a fifth of the packets is
//! lost.
#![expect(clippy::print_stdout, reason = "the example's output")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::time::Duration;

use repl::prelude::*;

/// The root object stands for its entity, on the server and on clients.
type Entity = ObjectRef<Root>;

#[derive(Replicated, Default)]
struct Root;

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Body {
    #[replicated(quantize(step = 0.125, range = -64.0..=64.0))]
    position: [f32; 2],
}

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Burning {
    #[replicated]
    ticks_left: u8,
}

/// All components of one type.
#[derive(Default)]
struct Column<T> {
    rows: BTreeMap<Entity, Row<T>>,
    /// The objects of components that the game has removed.
    removed: Vec<ObjectRef<T>>,
}

/// A component, and the object that replicates it. The reference is null until the server has spawned the
/// object.
#[derive(Default)]
struct Row<T> {
    component: T,
    object: ObjectRef<T>,
    has_changed: bool,
}

impl<T: Replicated + WithoutFastArrays> Column<T> {
    /// Adds a component to an entity, or changes it.
    fn set(&mut self, entity: Entity, component: T) {
        let row = self.rows.entry(entity).or_default();
        (row.component, row.has_changed) = (component, true);
    }

    fn remove(&mut self, entity: Entity) {
        self.removed.extend(self.rows.remove(&entity).map(|row| row.object));
    }

    /// On the server, before each tick: passes the changes to the server.
    fn hand_over(&mut self, server: &mut Server) {
        self.removed.drain(..).for_each(|object| server.despawn(object));
        for (&entity, row) in self.rows.iter_mut().filter(|(_, row)| row.has_changed) {
            row.has_changed = false;
            if row.object.is_null() {
                row.object =
                    server.external().spawn_subobject(entity, &row.component).expect("the root lives");
            } else {
                server.external().compare(row.object, &row.component).expect("the root lives");
            }
        }
    }

    /// On a client: applies an update, if it belongs to a component of this type.
    fn follow(&mut self, client: &Client, update: &Update) -> Option<()> {
        let object = update.cast::<T>()?;
        let entity = client.object_info(client.object_info(object).parent()?).cast::<Root>()?;
        if let UpdateKind::Despawned(_) = update.what {
            // A new object may already have replaced the removed one.
            if self.rows.get(&entity).is_some_and(|row| row.object == object) {
                self.rows.remove(&entity);
            }
            return Some(());
        }
        let row = self.rows.entry(entity).or_default();
        if update.what == UpdateKind::Spawned {
            row.object = object;
        }
        if row.object == object {
            update.copy_to(client, &mut row.component);
        }
        Some(())
    }
}

#[derive(Default)]
struct Store {
    bodies: Column<Body>,
    fires: Column<Burning>,
}

impl Store {
    fn hand_over(&mut self, server: &mut Server) {
        for (&root, body) in self.bodies.rows.iter().filter(|(_, body)| body.has_changed) {
            server.external().place(root, body.component.position).expect("the root lives");
        }
        self.bodies.hand_over(server);
        self.fires.hand_over(server);
    }

    fn follow(&mut self, client: &mut Client) {
        while let Some(update) = client.poll_update() {
            self.bodies.follow(client, &update);
            self.fires.follow(client, &update);
        }
    }

    fn components_of(&self, entity: Entity) -> (Option<&Body>, Option<&Burning>) {
        let body = self.bodies.rows.get(&entity).map(|row| &row.component);
        (body, self.fires.rows.get(&entity).map(|row| &row.component))
    }
}

/// A tick of the game: spawns goblins at first, moves them, sets some on fire, and removes burnt goblins.
fn play(tick: u32, server: &mut Server, store: &mut Store) {
    if tick < 600 {
        let place = |salt: u32| (tick.wrapping_mul(salt) % 640) as f32 / 8.0 - 40.0;
        let goblin = server.external().spawn(&Root);
        store.bodies.set(goblin, Body { position: [place(3_571), place(9_277)] });
    }
    for (entity, number) in store.bodies.rows.keys().copied().zip(0_u32..).collect::<Vec<_>>() {
        let mut body = store.bodies.rows[&entity].component.clone();
        body.position[0] += if (tick / 40 + number).is_multiple_of(2) { 0.125 } else { -0.125 };
        store.bodies.set(entity, body);
        match store.fires.rows.get(&entity).map(|fire| fire.component.ticks_left) {
            None if (tick + number).is_multiple_of(90) => store.fires.set(entity, Burning { ticks_left: 50 }),
            None => {}
            Some(10) if number.is_multiple_of(2) => store.fires.remove(entity), // somebody had water
            Some(0) => {
                store.bodies.remove(entity);
                store.fires.remove(entity);
                server.despawn(entity);
            }
            Some(left) => store.fires.set(entity, Burning { ticks_left: left - 1 }),
        }
    }
}

fn main() -> ExitCode {
    let (mut server, mut store) = (Server::new(ServerConfig::default()), Store::default());
    server.class::<Root>().set_placed_area(Area::within(20.0).flat());
    server.register_external::<Body>().register_external::<Burning>();
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Root>().register::<Body>().register::<Burning>();
    let (connection, mut seen) = (server.connect(Duration::ZERO), Store::default());
    server.connection(connection).set_viewpoints(&[[0.0; 3]]);
    let mut packets = 0_u64;
    for tick in 0..1_000 {
        let now = Duration::from_millis(33) * tick;
        let mut arrives = || {
            packets += 1;
            !packets.is_multiple_of(5)
        };
        if tick < 900 {
            play(tick, &mut server, &mut store); // then all stand still, and what was lost arrives
        }
        store.hand_over(&mut server);
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            if arrives() {
                server.receive(connection, now, packet);
            }
        }
        server.tick(now);
        while let Some(packet) = server.poll_transmit(connection) {
            if arrives() {
                client.receive(now, packet).expect("an honest server");
            }
        }
        seen.follow(&mut client);
    }
    let near: Vec<Entity> = client.objects::<Root>().map(|(entity, _)| entity).collect();
    let is_equal = near.iter().all(|&entity| seen.components_of(entity) == store.components_of(entity));
    let converged =
        is_equal && near.len() > 5 && seen.bodies.rows.keys().eq(&BTreeSet::from_iter(near.clone()));
    let all = store.bodies.rows.len();
    println!("{all} goblins on the server, {} of them near the client; converged: {converged}", near.len());
    if converged { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
