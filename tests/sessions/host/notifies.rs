//! The notifies of a host that asks for them (S49 to S52).

use repl::HostOptions;
use repl::prelude::*;

use super::{Hero, ran, ran_on, room, spawn};
use crate::support::Room;

const NOTIFIES: HostOptions = HostOptions { events: false, notifies: true };

#[test]
fn without_asking_no_notify_runs_on_the_server() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    room.server[heroes[1]].health = 90;
    room.settle();
    assert_eq!(ran(&room, heroes[1]), [""; 0]);
    assert!(ran_on(&room, 0, heroes[1]).contains(&"health was 100".to_owned()));
}

#[test]
fn s49_a_notify_gets_the_value_that_clients_had_before() {
    let (mut room, _, heroes) = room(NOTIFIES, 1);
    let hero = heroes[0];
    for health in [90, 80, 80] {
        room.server[hero].health = health;
        room.settle();
    }
    room.server[hero].scores = [1, 2, 3];
    room.server[hero].bag.push(7);
    room.settle();
    let expected = ["health was 100", "health was 90", "scores were [0, 0, 0]", "bag has 1"];
    assert_eq!(ran(&room, hero), expected);
    assert_eq!(ran_on(&room, 0, hero), expected);
}

#[test]
fn what_changed_and_changed_back_between_two_ticks_runs_no_notify() {
    let (mut room, _, heroes) = room(NOTIFIES, 1);
    room.server[heroes[0]].health = 1;
    room.server[heroes[0]].health = 100;
    room.server[heroes[0]].ammo = 3;
    room.settle();
    assert_eq!(ran(&room, heroes[0]), [""; 0]);
}

#[test]
fn initial_values_run_no_notify_of_a_host() {
    let (mut room, id, _) = room(NOTIFIES, 1);
    let hero = spawn(&mut room.server, id);
    room.settle();
    assert_eq!(ran(&room, hero), [""; 0]);
    assert_eq!(ran_on(&room, 0, hero), ["health was 0"]);
    room.server[hero].health = 5;
    room.settle();
    assert_eq!(ran(&room, hero), ["health was 100"]);
}

#[test]
fn what_a_notify_writes_is_sent() {
    #[derive(Replicated, Default)]
    struct Lamp {
        #[replicated(notify = on_switch)]
        is_on: bool,
        #[replicated]
        switched: u32,
        /// Only on the server it is not zero, so that only the notify on the server writes to `switched`.
        step: u32,
    }
    impl Lamp {
        fn on_switch(&mut self) {
            self.switched += self.step;
        }
    }
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Lamp>());
    room.server.register::<Lamp>();
    room.server.connect_host(NOTIFIES);
    let lamp = room.server.spawn(Lamp { step: 5, ..Lamp::default() });
    room.enter();
    room.settle();
    room.server[lamp].is_on = true;
    room.settle();
    assert_eq!((room.server[lamp].switched, room.client()[lamp].switched), (5, 5));
}

#[test]
fn the_object_in_a_slot_that_is_used_again_has_old_values_of_its_own() {
    let (mut room, id, heroes) = room(NOTIFIES, 0);
    room.server[heroes[0]].health = 7;
    room.settle();
    room.server.despawn(heroes[0]);
    room.settle();
    let next = spawn(&mut room.server, id);
    assert_eq!(next.guid().map(|guid| guid.slot()), heroes[0].guid().map(|guid| guid.slot()));
    room.server[next].health = 50;
    room.settle();
    room.server[next].health = 60;
    room.settle();
    assert_eq!(ran(&room, next), ["health was 50"]);
}

#[test]
fn a_host_that_comes_late_is_notified_of_what_changes_then() {
    let mut room = Room::new(ServerConfig::default(), |_| ());
    super::register(&mut room.server);
    let hero = room.server.spawn(Hero { health: 5, ..Hero::default() });
    room.server.tick(room.now);
    room.server.connect_host(NOTIFIES);
    room.server[hero].health = 6;
    room.server.tick(room.now);
    room.server[hero].health = 8;
    room.server.tick(room.now);
    assert_eq!(ran(&room, hero), ["health was 6"]);
}

/// An object with all callbacks that a client calls.
#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Box {
    #[replicated(notify = on_lid, notify_always)]
    lid: u8,
    #[replicated]
    coins: FastArray<Coin>,
    ran: Vec<String>,
}

impl Box {
    fn on_lid(&mut self, old: &u8) {
        self.ran.push(format!("lid was {old}"));
    }
}

impl Callbacks for Box {
    fn opened(&mut self) {
        self.ran.push("opened".to_owned());
    }

    fn post_net_receive(&mut self) {
        self.ran.push("received".to_owned());
    }
}

#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Coin {
    value: u8,
    seen: bool,
}

impl ItemCallbacks for Coin {
    fn post_replicated_add(&mut self) {
        self.seen = true;
    }
}

fn room_with_box() -> (Room, ObjectRef<Box>) {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Box>());
    room.server.register::<Box>();
    room.server.connect_host(NOTIFIES);
    let object = room.server.spawn(Box::default());
    room.enter();
    room.settle();
    (room, object)
}

#[test]
fn s49_always_means_with_every_change_on_a_host() {
    let (mut room, object) = room_with_box();
    for lid in [1, 1, 2] {
        room.server[object].lid = lid;
        room.settle();
    }
    assert_eq!(room.server[object].ran, ["lid was 0", "lid was 1"]);
}

#[test]
fn no_callback_of_an_object_or_an_item_runs_on_a_host() {
    let (mut room, object) = room_with_box();
    room.server[object].coins.push(Coin { value: 3, seen: false });
    room.settle();
    assert!(room.server[object].ran.is_empty() && !room.server[object].coins[0].seen);
    assert_eq!(room.client()[object].ran, ["opened", "received", "received"]);
    assert!(room.client()[object].coins[0].seen);
}
