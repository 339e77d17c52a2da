//! Calls of a struct that contains another struct with calls, which takes the place of a base class (S220).

use repl::prelude::*;

use crate::support::Room;

/// What all players have. It is also a class of its own.
#[derive(Replicated, Default, Clone)]
struct Pawn {
    #[replicated]
    health: u16,
    #[replicated]
    ammo: u16,
}

#[rpcs]
impl Pawn {
    #[rpc(server, reliable, validate = may_fire)]
    fn fire(&mut self, shots: u16) {
        self.ammo -= shots;
    }

    fn may_fire(&self, _: ConnectionId, shots: &u16) -> bool {
        *shots <= self.ammo
    }

    #[rpc(server, reliable)]
    fn rest(&mut self) {
        self.health += 10;
    }
}

/// A pawn with armour: it fires like every pawn, and rests in its own way.
#[derive(Replicated, Default)]
struct Soldier {
    #[replicated]
    pawn: Pawn,
    #[replicated]
    armour: u16,
}

#[rpcs]
impl Soldier {
    #[rpc(server, reliable, validate = may_fire)]
    fn fire(&mut self, shots: u16) {
        self.pawn.fire(shots);
    }

    fn may_fire(&self, caller: ConnectionId, shots: &u16) -> bool {
        self.pawn.may_fire(caller, shots)
    }

    #[rpc(server, reliable)]
    fn rest(&mut self) {
        self.pawn.rest();
        self.armour += 1;
    }
}

fn room() -> (Room, ObjectRef<Soldier>, ObjectRef<Pawn>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register_calls::<Soldier>().register_calls::<Pawn>();
    });
    room.server.register_calls::<Soldier>().register_calls::<Pawn>();
    room.enter();
    let owner = Some(room.guests[0].id);
    let pawn = Pawn { health: 50, ammo: 5 };
    let soldier = room.server.spawn(Soldier { pawn: pawn.clone(), armour: 0 });
    let pawn = room.server.spawn(pawn);
    room.server.object(soldier).set_owner(owner);
    room.server.object(pawn).set_owner(owner);
    room.settle();
    (room, soldier, pawn)
}

#[test]
fn s220_a_call_is_forwarded_to_the_contained_struct_and_an_overriding_call_does_more() {
    let (mut room, soldier, pawn) = room();
    let client = &mut room.guests[0].client;
    client.call(soldier).fire(2).unwrap();
    client.call(soldier).rest().unwrap();
    client.call(pawn).fire(3).unwrap();
    client.call(pawn).rest().unwrap();
    room.settle();
    let soldier = room.guests[0].client.get(soldier).unwrap();
    assert_eq!((soldier.pawn.ammo, soldier.pawn.health, soldier.armour), (3, 60, 1));
    let pawn = room.guests[0].client.get(pawn).unwrap();
    assert_eq!((pawn.ammo, pawn.health), (2, 60));
}

#[test]
fn s220_the_validator_of_the_contained_struct_judges_a_forwarded_call() {
    let (mut room, soldier, _) = room();
    room.guests[0].client.call(soldier).fire(6).unwrap();
    for _ in 0..20 {
        room.step();
    }
    assert_eq!(room.closed(0), Some(DisconnectReason::Rejected("fire".to_owned())));
    assert_eq!(room.server[soldier].pawn.ammo, 5);
}

#[test]
fn s220_a_class_has_only_the_calls_that_it_declares() {
    #[derive(Replicated, Default)]
    struct Horse {
        #[replicated]
        pawn: Pawn,
    }
    #[rpcs]
    impl Horse {
        #[rpc(server, reliable)]
        fn rest(&mut self) {
            self.pawn.rest();
        }
    }
    assert_eq!((Horse::CALLS.len(), Soldier::CALLS.len(), Pawn::CALLS.len()), (1, 2, 2));
}
