//! S210 over links that lose, delay and reorder packets: random worlds whose objects are torn off.

use repl::sim::Rng;

use super::*;
use crate::support::Packets;

const GUESTS: usize = 3;
const OBJECTS: usize = 6;

/// The model of an object that was torn off.
struct Last {
    object: ObjectRef<Pawn>,
    /// Whether each guest saw the object when it was torn off, and it was not hidden since then.
    keeps: [bool; GUESTS],
    owner: Option<usize>,
    /// The state that was compared in the first tick after the tear-off.
    state: Option<Pawn>,
}

struct World {
    room: Room,
    rng: Rng,
    objects: Vec<ObjectRef<Pawn>>,
    torn_off: Vec<Last>,
    /// Packets to each guest that are still in flight.
    late: [Packets; GUESTS],
    loss: f64,
}

impl World {
    fn change(&mut self) {
        let Some(&object) = self.rng.pick(&self.objects) else { return };
        let guest = self.rng.below(GUESTS as u64) as usize;
        let id = self.room.guests[guest].id;
        let server = &mut self.room.server;
        match self.rng.below(12) {
            0 => {
                let sees =
                    |guest: usize| server.object_info(object).is_relevant_to(self.room.guests[guest].id);
                let keeps = std::array::from_fn(sees);
                let owner = server.object_info(object).owner();
                let owner = self.room.guests.iter().position(|guest| Some(guest.id) == owner);
                server.object(object).tear_off();
                self.objects.retain(|known| *known != object);
                self.torn_off.push(Last { object, keeps, owner, state: None });
            }
            1 => _ = server.object(object).set_visible(id, self.rng.chance(0.7)),
            2 => _ = server.object(object).set_owner(self.rng.chance(0.7).then_some(id)),
            3 => server[object].pose = (0..self.rng.below(900) as u16).collect(),
            4 => server[object].target = self.rng.pick(&self.torn_off).map_or(object, |last| last.object),
            5 => server[object].pose.truncate(3),
            _ => {
                server[object].health += 1;
                server[object].secret += 1;
            }
        }
    }

    fn tick(&mut self) {
        let packets = self.room.tick();
        for last in self.torn_off.iter_mut().filter(|last| last.state.is_none()) {
            last.state = Some(self.room.server[last.object].clone());
        }
        for last in &self.torn_off {
            // Changes after the tear-off's tick reach no client.
            self.room.server[last.object].health += 10_000;
            self.room.server[last.object].pose.push(7);
        }
        for (guest, packets) in packets.into_iter().enumerate() {
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
            }
            let replies = self.room.replies(guest);
            let arriving: Packets = replies.into_iter().filter(|_| !self.rng.chance(self.loss)).collect();
            self.room.hear(guest, &arriving);
        }
        self.assert_last_states();
    }

    /// Asserts that clients show the last state of each object that was torn off.
    fn assert_last_states(&self) {
        for last in &self.torn_off {
            let Some(state) = &last.state else { continue };
            for (guest, entry) in self.room.guests.iter().enumerate() {
                if !entry.client.object_info(last.object).is_torn_off() {
                    continue;
                }
                assert!(last.keeps[guest], "guest {guest} does not see {:?}", last.object);
                let shown = &entry.client[last.object];
                assert_eq!((shown.health, &shown.pose), (state.health, &state.pose));
                if last.owner == Some(guest) {
                    assert_eq!(shown.secret, state.secret);
                }
            }
        }
    }
}

#[test]
fn s210_each_client_that_sees_an_object_keeps_its_last_state_whatever_is_lost_and_late() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let loss = [0.0, 0.2, 0.5][rng.below(3) as usize];
        let (room, objects) = Room::furnished(ServerConfig::default(), pawns, GUESTS, |server| {
            (0..OBJECTS).map(|number| server.spawn(pawn(number as u32))).collect::<Vec<_>>()
        });
        let late = Default::default();
        let mut world = World { room, rng, objects, torn_off: Vec::new(), late, loss };
        for _ in 0..100 {
            if world.rng.chance(0.1) {
                let number = world.rng.below(1_000) as u32;
                world.objects.push(world.room.server.spawn(pawn(number)));
            }
            (0..world.rng.below(4)).for_each(|_| world.change());
            world.tick();
        }
        world.loss = 0.0;
        (0..200).for_each(|_| world.tick());
        assert!(!world.torn_off.is_empty(), "seed {seed}");
        for last in &world.torn_off {
            for (guest, entry) in world.room.guests.iter().enumerate() {
                let kept = entry.client.object_info(last.object).is_torn_off();
                assert_eq!(kept, last.keeps[guest], "seed {seed}, guest {guest}, {:?}", last.object);
            }
        }
    }
}
