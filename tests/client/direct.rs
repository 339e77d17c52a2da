//! Updates of numbers and flags only. A client applies such updates together if they follow one another and
//! change the same properties.
//!
//! *Invariant:* all objects are of classes with numbers and flags only, which can be applied together.

use crate::support::Room;
use repl::prelude::*;

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Tank {
    fuel: u16,
    damage: u32,
    is_lit: bool,
}

/// Has properties of the same types as a [`Tank`], in the same order.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Chest {
    weight: u16,
    value: u32,
    is_open: bool,
}

fn register(client: &mut Client) {
    client.register::<Tank>().register::<Chest>();
}

#[test]
fn updates_of_other_properties_or_classes_are_not_applied_together() {
    let (mut room, ids) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        [0; 6].map(|_| (server.spawn(Tank::default()), server.spawn(Chest::default())))
    });
    for step in 1..60_u32 {
        for (&(tank, chest), at) in ids.iter().zip(0..) {
            // In some steps, neighbours change in the same property. In the other steps they change in
            // different properties.
            match (step / 9 * at + step) % 4 {
                0 => room.server[tank].fuel = (step * 7 + at) as u16,
                1 => room.server[tank].damage = step * 70_000 + at,
                2 => room.server[tank].is_lit ^= true,
                _ => room.server[tank] = Tank { fuel: at as u16, damage: step, is_lit: step % 2 == 0 },
            }
            match (step / 5 * at + step) % 4 {
                0 => room.server[chest].weight = (step * 11 + at) as u16,
                1 => room.server[chest].value = step * 90_000 + at,
                2 => room.server[chest].is_open ^= true,
                _ => {}
            }
        }
        room.settle();
        for &(tank, chest) in &ids {
            assert_eq!(room.client()[tank], room.server[tank], "step {step}");
            assert_eq!(room.client()[chest], room.server[chest], "step {step}");
        }
    }
}
