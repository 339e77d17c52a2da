//! The callback `opened`: it runs when a copy of an object has the values of its opening (S54).

use repl::Callbacks;

use super::*;
use crate::support::TICK;

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Guest {
    name: u32,
    /// Whether the callback for a new item ran.
    #[replicated(skip)]
    came: bool,
}

impl ItemCallbacks for Guest {
    fn post_replicated_add(&mut self) {
        self.came = true;
    }
}

#[derive(Replicated, Debug, Default)]
#[replicated(callbacks)]
struct Portal {
    #[replicated(condition = InitialOnly)]
    seed: u32,
    #[replicated(notify = on_power)]
    power: u32,
    #[replicated]
    exit: ObjectRef<Self>,
    #[replicated]
    guests: FastArray<Guest>,
    log: Vec<String>,
}

impl Portal {
    fn on_power(&mut self) {
        self.log.push(format!("power {}", self.power));
    }
}

impl Callbacks for Portal {
    fn opened(&mut self) {
        let greeted = self.guests.iter().filter(|guest| guest.came).count();
        let exit = if self.exit.is_null() { "none" } else { "there" };
        let Self { seed, power, .. } = self;
        self.log.push(format!(
            "opened {seed} {power}, exit {exit}, {} guests, {greeted} greeted",
            self.guests.len()
        ));
    }

    fn post_net_receive(&mut self) {
        self.log.push("received".into());
    }

    fn post_net_init(&mut self) {
        self.log.push("begun".into());
    }
}

/// Returns a room with one client and two portals. Each leads to the other.
fn portals() -> (Room, [ObjectRef<Portal>; 2]) {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Portal>());
    let make = |seed| {
        let mut portal = Portal { seed, power: 5, ..Portal::default() };
        portal.guests.push(Guest { name: 1, came: false });
        portal
    };
    let portals = [7, 8].map(|seed| room.server.spawn(make(seed)));
    room.server[portals[0]].exit = portals[1];
    room.server[portals[1]].exit = portals[0];
    room.enter();
    (room, portals)
}

/// Returns what a portal of the client logged since the last call.
fn log(room: &mut Room, portal: ObjectRef<Portal>) -> Vec<String> {
    room.guests[0].client.get_mut(portal).map_or_else(Vec::new, |portal| std::mem::take(&mut portal.log))
}

#[test]
fn s54_opened_runs_once_with_the_values_of_the_opening_and_before_all_other_callbacks() {
    let (mut room, portals) = portals();
    room.settle();
    for (portal, seed) in portals.into_iter().zip([7, 8]) {
        let opened = format!("opened {seed} 5, exit there, 1 guests, 0 greeted");
        assert_eq!(log(&mut room, portal), [&opened, "received", "power 5", "begun"]);
        assert!(room.client()[portal].guests.iter().all(|guest| guest.came));
    }
    room.server[portals[0]].power = 6;
    room.settle();
    assert_eq!(log(&mut room, portals[0]), ["received", "power 6"]);
}

#[test]
fn s54_an_opening_that_is_repeated_runs_opened_once() {
    let (mut room, [portal, _]) = portals();
    let mut logs = Vec::new();
    for power in 10..14 {
        // Until an ack arrives, each change sends the opening again.
        room.server[portal].power = power;
        let packets = room.tick_one();
        room.deliver(0, &packets);
        let replies = room.replies(0);
        if !room.client().is_connected() || power == 13 {
            room.hear(0, &replies);
        }
        logs.extend(log(&mut room, portal));
        room.now += TICK;
    }
    room.settle();
    logs.extend(log(&mut room, portal));
    let opened = logs.iter().filter(|line| line.starts_with("opened")).count();
    assert_eq!(opened, 1, "{logs:?}");
}

#[test]
fn s54_a_copy_that_comes_back_into_sight_is_opened_again() {
    let (mut room, [portal, _]) = portals();
    room.settle();
    log(&mut room, portal);
    let id = room.guests[0].id;
    room.server.object(portal).set_visible(id, false);
    room.settle();
    room.server[portal].power = 9;
    room.server[portal].seed = 70;
    room.server.object(portal).set_visible(id, true);
    room.settle();
    let opened = "opened 70 9, exit there, 1 guests, 0 greeted";
    assert_eq!(log(&mut room, portal), [opened, "received", "power 9", "begun"]);
}
