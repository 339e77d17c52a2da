//! Calls whose functions panic, in programs that catch the panic around `tick`.
//!
//! *Invariant:* a call with the number 13 panics, and all other calls are recorded.

use std::panic::{AssertUnwindSafe, catch_unwind};

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Sailor {
    #[replicated]
    rank: u8,
    noted: Vec<u8>,
}

impl Sailor {
    fn note(&mut self, number: u8) {
        assert!(number != 13, "an unlucky number");
        self.noted.push(number);
    }
}

#[rpcs]
impl Sailor {
    #[rpc(client, reliable)]
    fn hear(&mut self, number: u8) {
        self.note(number);
    }

    #[rpc(server, reliable)]
    fn say(&mut self, number: u8) {
        self.note(number);
    }

    #[rpc(server, reliable)]
    fn shout(number: u8);
}

/// Returns a room in which each guest owns a sailor.
fn room(guests: usize) -> (Room, Vec<ObjectRef<Sailor>>) {
    let register = |client: &mut Client| _ = client.register_calls::<Sailor>();
    let furnish = |server: &mut Server| {
        server.register_calls::<Sailor>();
        (0..guests).map(|_| server.spawn(Sailor::default())).collect()
    };
    let (mut room, sailors): (_, Vec<_>) =
        Room::furnished(ServerConfig::default(), register, guests, furnish);
    for (&sailor, guest) in sailors.iter().zip(&room.guests) {
        room.server.object(sailor).set_owner(Some(guest.id));
    }
    room.settle();
    (room, sailors)
}

/// Runs 20 ticks of the server and of all guests. Returns how many of them panicked.
fn run(room: &mut Room) -> usize {
    let ticks = (0..20).map(|_| catch_unwind(AssertUnwindSafe(|| _ = room.step())).is_err());
    ticks.filter(|&panicked| panicked).count()
}

#[test]
fn a_client_runs_later_calls_after_one_that_panicked() {
    let (mut room, sailors) = room(1);
    for number in [1, 13, 2, 3] {
        room.server.call(sailors[0]).hear(number).expect("the client has the object");
    }
    assert_eq!(run(&mut room), 1);
    room.server.call(sailors[0]).hear(4).expect("the client has the object");
    assert_eq!(run(&mut room), 0);
    assert_eq!(room.client()[sailors[0]].noted, [1, 2, 3, 4]);
}

#[test]
fn a_server_loses_no_call_when_another_panics_and_keeps_the_order_of_those_that_are_polled() {
    let (mut room, sailors) = room(2);
    for number in [1, 2] {
        room.guests[0].client.call(sailors[0]).shout(number).expect("it owns the object");
    }
    room.guests[0].client.call(sailors[0]).say(13).expect("it owns the object");
    room.guests[0].client.call(sailors[0]).shout(3).expect("it owns the object");
    room.guests[1].client.call(sailors[1]).say(7).expect("it owns the object");
    assert_eq!(run(&mut room), 1);
    assert_eq!(room.server[sailors[1]].noted, [7]);
    let polled = std::iter::from_fn(|| room.server.poll_call::<Sailor>());
    let shouted = polled.filter_map(|received| match received.call {
        SailorCall::Shout { number } => Some(number),
        _ => None,
    });
    assert_eq!(shouted.collect::<Vec<_>>(), [1, 2, 3]);
}
