//! Reported: <https://vorixo.github.io/devtricks/initial-dormancy/>, and
//! <https://github.com/FirstGearGames/FishNet/issues/629>.
//!
//! An object that sleeps is changed, and a client that joins later gets the old values. Or a part of a value
//! that was changed by hand reaches only the clients that are connected then. Users expect that late clients
//! get the newest values.

use std::collections::HashMap;

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Chest {
    #[replicated]
    gold: u32,
    #[replicated(push)]
    pushed: u32,
    #[replicated]
    map: HashMap<u32, Vec<u32>>,
    #[replicated]
    items: FastArray<u32>,
    #[replicated(condition = InitialOnly)]
    seed: u32,
}

const PUSHED: PropertyIndex<Chest> = Chest::LAYOUT.property("pushed");

/// How the server reaches the object that it changes.
#[derive(Clone, Copy, Debug)]
enum Access {
    Index,
    GetMut,
    ObjectsMut,
    GetDisjointMut,
}

impl Access {
    fn write(self, server: &mut Server, object: ObjectRef<Chest>, value: u32) {
        let chest = match self {
            Self::Index => Some(&mut server[object]),
            Self::GetMut => server.get_mut(object),
            Self::ObjectsMut => {
                server.objects_mut().find(|(found, _)| *found == object).map(|(_, chest)| chest)
            }
            Self::GetDisjointMut => server.get_disjoint_mut([object]).map(|[chest]| chest),
        };
        let chest = chest.expect("the chest exists");
        (chest.gold, chest.pushed) = (value, value);
        chest.map.entry(1).or_default().push(value);
        chest.items.push(value);
        server.object(object).mark_dirty(PUSHED);
    }
}

fn run(dormancy: Dormancy, access: Access, is_static: bool) {
    let register = |client: &mut Client| _ = client.register::<Chest>();
    let (mut room, chest) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        let chest = Chest { gold: 1, seed: 5, ..Chest::default() };
        if is_static { server.statics().spawn("chest", chest) } else { server.spawn(chest) }
    });
    let id = room.guests[0].id;
    room.server.object(chest).set_dormancy(dormancy);
    if dormancy == Dormancy::Partial {
        room.server.object(chest).set_dormant_for(id, true);
    }
    room.settle();
    for value in 2..5 {
        access.write(&mut room.server, chest, value);
        // The client of the second round joins while the change is in flight.
        (0..if value == 3 { 1 } else { 40 }).for_each(|_| _ = room.step());
        room.enter();
        room.settle();
    }
    for (guest, client) in room.guests.iter().map(|guest| &guest.client).enumerate() {
        let case = format!("{dormancy:?}, {access:?}, static: {is_static}, client {guest}");
        assert_eq!(client.get(chest), room.server.get(chest), "{case}");
    }
}

#[test]
fn a_late_client_gets_the_newest_values_of_what_sleeps_however_they_were_written() {
    for dormancy in [Dormancy::Awake, Dormancy::All, Dormancy::Partial, Dormancy::Initial] {
        for access in [Access::Index, Access::GetMut, Access::ObjectsMut, Access::GetDisjointMut] {
            for is_static in [false, true] {
                run(dormancy, access, is_static);
            }
        }
    }
}
