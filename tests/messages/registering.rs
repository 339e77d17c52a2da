//! One function that registers everything for both sides.
//!
//! *Invariant:* the room registers nothing by itself.

use repl::MessageOptions;
use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Boat {
    length: u16,
    name: String,
    horns: u8,
}

#[rpcs]
impl Boat {
    #[rpc(client, reliable)]
    fn honk(&mut self, times: u8) {
        self.horns = times;
    }
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Note(u8);
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Wave(u8);

fn boat(length: u16) -> Boat {
    Boat { length, name: "nobody's".into(), ..Boat::default() }
}

/// Registers everything. Returns the archetypes of small and large boats.
fn register(side: &mut impl Register) -> [ArchetypeId<Boat>; 2] {
    let few = MessageOptions { per_second: 5, ..MessageOptions::default() };
    side.register::<Boat>();
    side.register_message::<Note>(Channel::Ordered);
    side.register_message_with::<Wave>(Channel::Unordered, few);
    side.register_calls::<Boat>();
    [side.register_archetype(|| boat(5)), side.register_archetype(|| boat(50))]
}

#[test]
fn what_one_function_registers_at_both_sides_is_the_same() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = register(client));
    let [small, large] = register(&mut room.server);
    let boats = [small, large, small].map(|archetype| {
        room.server.spawn_from(archetype, Boat { horns: 1, ..boat(if archetype == large { 50 } else { 5 }) })
    });
    let owner = room.enter();
    room.settle();
    let copies = boats.map(|boat| room.client().get(boat).map(|boat| (boat.length, &*boat.name, boat.horns)));
    assert_eq!(copies, [5, 50, 5].map(|length| Some((length, "nobody's", 1))));

    room.server.object(boats[1]).set_owner(Some(owner));
    room.server.call(boats[1]).honk(9).expect("the client has the boat");
    room.server.connection(owner).send(&Note(1)).expect("there is room");
    room.guests[0].client.send(&Wave(2)).expect("there is room");
    room.settle();
    assert_eq!(room.client()[boats[1]].horns, 9);
    assert_eq!(room.guests[0].client.poll_message(), Some(Note(1)));
    assert_eq!(room.server.poll_message(), Some((owner, Wave(2))));
}
