//! S199, S200, S212 over links that lose, delay and reorder packets: random levels, compared with a model
//! that knows what each client must have in the end.

use repl::Placed;
use repl::sim::Rng;

use super::static_objects::Door;
use super::*;
use crate::support::Packets;

const GUESTS: usize = 3;
const PATHS: usize = 5;

/// What the model knows about one path.
#[derive(Default)]
struct Place {
    object: Option<ObjectRef<Door>>,
    /// Whether the last object under the path was despawned, and the path was not forgotten since then.
    is_destroyed: bool,
    /// The mesh of the door that each guest has placed, if it has placed one.
    meshes: Vec<Option<u32>>,
}

struct World {
    room: Room,
    rng: Rng,
    places: Vec<Place>,
    next_mesh: u32,
    /// Packets to each guest that are still in flight.
    late: Vec<Packets>,
    loss: f64,
    seed: u64,
}

fn path(at: usize) -> String {
    format!("level/{at}")
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let loss = [0.0, 0.2, 0.5][rng.below(3) as usize];
        let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Door>());
        room.server.register::<Door>();
        let places = (0..PATHS).map(|_| Place::default()).collect();
        let mut world = Self { room, rng, places, next_mesh: 1, late: Vec::new(), loss, seed };
        (0..GUESTS).for_each(|_| world.enter());
        world
    }

    fn enter(&mut self) {
        self.room.enter();
        self.late.push(Packets::new());
        self.places.iter_mut().for_each(|place| place.meshes.push(None));
    }

    fn change(&mut self) {
        let at = self.rng.below(PATHS as u64) as usize;
        let guest = self.rng.below(self.late.len() as u64) as usize;
        let (id, place) = (self.room.guests[guest].id, &mut self.places[at]);
        let server = &mut self.room.server;
        let number = self.rng.below(1_000) as u32;
        match (self.rng.below(10), place.object) {
            (0 | 1, None) => {
                let bolts = (0..self.rng.below(9) as u16).collect();
                place.object =
                    Some(server.statics().spawn(&path(at), Door { code: number, bolts, ..Door::default() }));
                place.is_destroyed = false;
            }
            (0, Some(object)) => {
                server.despawn(object);
                (place.object, place.is_destroyed) = (None, true);
            }
            (2, Some(object)) => _ = server.object(object).set_visible(id, self.rng.chance(0.6)),
            (3, Some(object)) => _ = server.object(object).set_owner(self.rng.chance(0.6).then_some(id)),
            (4, _) => self.place(guest, at),
            (5, Some(object)) => {
                let door = &mut server[object];
                (door.code, door.key) = (number, number);
                door.dents = (0..self.rng.below(700) as u32).map(|dent| dent as u8).collect();
            }
            (6, Some(object)) => {
                let other = self.rng.below(PATHS as u64) as usize;
                self.room.server[object].next = self.places[other].object.unwrap_or_default();
            }
            (7, Some(object)) => {
                let bolts = &mut server[object].bolts;
                if bolts.len() > 3 {
                    bolts.remove(number as usize % 3);
                } else {
                    bolts.push(number as u16);
                }
            }
            (8, _) if number < 50 => {
                server.statics().forget_destroyed();
                self.places.iter_mut().for_each(|place| place.is_destroyed = false);
            }
            (_, Some(object)) => _ = server[object].names.insert(number as u8 % 4, number.to_string()),
            (_, None) => {}
        }
    }

    /// A guest places a door, or removes its placed door.
    fn place(&mut self, guest: usize, at: usize) {
        let client = &mut self.room.guests[guest].client;
        let mesh = &mut self.places[at].meshes[guest];
        match mesh.take() {
            Some(known) => {
                let removed = client.statics().remove::<Door>(&path(at));
                assert!(removed.is_none_or(|door| door.mesh == known), "seed {}", self.seed);
            }
            None => {
                self.next_mesh += 1;
                let door = Door {
                    mesh: self.next_mesh,
                    code: self.next_mesh,
                    bolts: (0..self.next_mesh as u16 % 7).collect(),
                    dents: vec![1; self.next_mesh as usize % 5],
                    ..Door::default()
                };
                if let Placed::Bound(object, door) = client.statics().place(&path(at), door) {
                    client[object].mesh = door.mesh;
                }
                *mesh = Some(self.next_mesh);
            }
        }
    }

    fn tick(&mut self) {
        for (guest, packets) in self.room.tick().into_iter().enumerate() {
            let arriving = packets.into_iter().filter(|_| !self.rng.chance(self.loss));
            self.late[guest].extend(arriving);
            let mut at = 0;
            while at < self.late[guest].len() {
                if self.loss > 0.0 && self.rng.chance(0.3) {
                    at += 1;
                    continue;
                }
                let packet = self.late[guest].remove(at);
                self.room.deliver(guest, &[packet]);
                self.check(guest);
            }
            let replies = self.room.replies(guest);
            let arriving: Packets = replies.into_iter().filter(|_| !self.rng.chance(self.loss)).collect();
            self.room.hear(guest, &arriving);
        }
    }

    /// Checks the conditions that hold at any time.
    fn check(&self, guest: usize) {
        let client = &self.room.guests[guest].client;
        for (at, place) in self.places.iter().enumerate() {
            let placed = client.placed::<Door>(&path(at));
            assert_eq!(placed.map(|door| door.mesh), place.meshes[guest], "seed {}, {at}", self.seed);
        }
        for (object, _) in client.objects::<Door>() {
            let path = client.object_info(object).path().expect("all doors are static");
            assert_eq!(client.find_static(path), Some(object), "seed {}", self.seed);
        }
    }

    /// Checks the conditions that hold when everything has arrived.
    fn check_end(&mut self) {
        let seed = self.seed;
        for guest in 0..self.late.len() {
            let id = self.room.guests[guest].id;
            self.check(guest);
            for (at, place) in self.places.iter().enumerate() {
                let (server, client) = (&self.room.server, &mut self.room.guests[guest].client);
                let shown = place.object.filter(|&object| server.object_info(object).is_relevant_to(id));
                assert_eq!(client.find_static(&path(at)), shown, "seed {seed}, guest {guest}, {at}");
                drop(client.statics().remove::<Door>(&path(at)));
                let state = client.statics().place(&path(at), Door::default());
                match shown {
                    Some(object) => {
                        assert!(matches!(state, Placed::Bound(found, _) if found == object));
                        let (ours, theirs) = (&server[object], &client[object]);
                        let shape = |door: &Door| {
                            // A client does not keep the order of items.
                            let mut bolts = door.bolts.to_vec();
                            bolts.sort_unstable();
                            (door.open, door.code, door.dents.clone(), bolts, door.names.clone())
                        };
                        assert_eq!(shape(theirs), shape(ours), "seed {seed}, guest {guest}, {at}");
                        let next = server[object].next;
                        let is_shown = server.object_info(next).is_relevant_to(id);
                        assert_eq!(client[object].next, if is_shown { next } else { ObjectRef::NULL });
                        if client.object_info(object).is_owner() {
                            assert_eq!(client[object].key, server[object].key);
                        }
                    }
                    None if place.is_destroyed => {
                        assert_eq!(state, Placed::Destroyed, "seed {seed}, guest {guest}, {at}");
                    }
                    None => {}
                }
            }
        }
    }
}

#[test]
fn s199_s200_s212_every_client_agrees_with_the_server_about_each_path_whatever_is_lost_and_late() {
    for seed in 0..100 {
        let mut world = World::new(seed);
        for tick in 0..120 {
            if tick == 60 {
                world.enter();
            }
            (0..world.rng.below(5)).for_each(|_| world.change());
            world.tick();
        }
        world.loss = 0.0;
        (0..200).for_each(|_| world.tick());
        world.check_end();
    }
}
