//! Remote calls: who may make which call, where calls run, in which order, and what happens to calls that are
//! not allowed.
//!
//! *Invariant:* each object logs the calls that ran on it, on each side, so the tests find lost, repeated and
//! forbidden calls.

mod delivery;
mod embedded;
mod flood;
mod panics;
mod polled;
mod references;
mod routing;
mod sizes;
mod withdrawn;

use std::cell::RefCell;
use std::fmt::Display;
use std::time::Duration;

use repl::prelude::*;

use crate::support::Room;

/// An object with calls of all kinds.
#[derive(Replicated, Default)]
struct Hero {
    #[replicated]
    health: u16,
    /// The calls that ran on this copy of the object.
    ran: Vec<String>,
}

impl Hero {
    fn note(&mut self, what: &str, of: impl Display) {
        self.ran.push(format!("{what} {of}"));
    }
}

/// A value without `Debug`.
#[derive(NetSerialize, Clone, PartialEq)]
enum Mood {
    Calm,
    Angry,
}

/// An object that a call spawns.
#[derive(Replicated, Default)]
struct Shot {
    #[replicated]
    direction: u16,
    #[replicated]
    by: ObjectRef<Hero>,
}

thread_local! {
    /// The arguments of all calls of `jot` on this thread, on any object.
    static JOTTED: RefCell<Vec<u16>> = const { RefCell::new(Vec::new()) };
}

fn take_jotted() -> Vec<u16> {
    JOTTED.take()
}

#[rpcs]
impl Hero {
    #[rpc(server, reliable, validate = may_fire)]
    fn fire(call: &mut ServerCall<'_, Self>, direction: u16) {
        let by = call.object();
        call.note("fire", direction);
        call.server().spawn(Shot { direction, by });
    }

    fn may_fire(&self, _: ConnectionId, direction: &u16) -> bool {
        self.health > 0 && *direction < 360
    }

    #[rpc(server, unreliable)]
    fn wave(&mut self, kind: u8) {
        self.note("wave", kind);
    }

    #[rpc(server, reliable, validate = may_say)]
    fn say(text: String, numbers: Vec<u8>, mood: Mood);

    fn may_say(&self, _: ConnectionId, text: &String, numbers: &Vec<u8>, _: &Mood) -> bool {
        text.len() < 20 && numbers.len() < 20
    }

    #[rpc(server, reliable, per_second = 1_000)]
    fn jump(height: u8);

    /// Runs for this many milliseconds of the simulated clock.
    #[rpc(server, reliable)]
    fn dig(&mut self, milliseconds: u8) {
        flood::run_for(Duration::from_millis(milliseconds.into()));
        self.note("dig", milliseconds);
    }

    #[rpc(server, reliable)]
    fn report(&mut self, number: u64) {
        self.note("report", number);
    }

    #[rpc(client, reliable)]
    fn hit(call: &mut ClientCall<'_, Self>, damage: u16) {
        call.note("hit", damage);
    }

    #[rpc(client, reliable)]
    fn jot(&self, number: u16) {
        JOTTED.with_borrow_mut(|jotted| jotted.push(number));
    }

    #[rpc(client, unreliable)]
    fn blink(&mut self, times: u8) {
        self.note("blink", times);
    }

    #[rpc(client, reliable)]
    fn look(&mut self, at: ObjectRef<Self>) {
        self.note("look", if at.is_null() { "nowhere" } else { "there" });
    }

    #[rpc(client, reliable, waits)]
    fn follow(&mut self, leader: ObjectRef<Self>) {
        self.note("follow", if leader.is_null() { "nobody" } else { "leader" });
    }

    #[rpc(multicast, reliable)]
    fn announce(call: &mut MulticastCall<'_, Self>, number: u16) {
        call.note("announce", number);
    }

    #[rpc(multicast, unreliable)]
    fn explode(&mut self, strength: u16) {
        self.note("explode", strength);
    }
}

fn register(client: &mut Client) {
    client.register::<Shot>().register_calls::<Hero>();
}

/// Returns a room in which each client owns a hero.
fn room(guests: usize) -> (Room, Vec<ObjectRef<Hero>>) {
    room_with(ServerConfig::default(), guests)
}

fn room_with(config: ServerConfig, guests: usize) -> (Room, Vec<ObjectRef<Hero>>) {
    let (mut room, heroes) = Room::furnished(config, register, guests, |server| {
        server.register::<Shot>().register_calls::<Hero>();
        (0..guests).map(|_| server.spawn(Hero { health: 100, ..Hero::default() })).collect::<Vec<_>>()
    });
    for (guest, &hero) in room.guests.iter().zip(&heroes) {
        room.server.object(hero).set_owner(Some(guest.id));
    }
    room.settle();
    (room, heroes)
}

/// Spawns one more hero, which the first guest owns.
fn spawn_for_first(room: &mut Room) -> ObjectRef<Hero> {
    let hero = room.server.spawn(Hero::default());
    room.server.object(hero).set_owner(Some(room.guests[0].id));
    hero
}

fn ran_on_server(room: &Room, hero: ObjectRef<Hero>) -> &[String] {
    &room.server[hero].ran
}

fn ran_on(room: &Room, guest: usize, hero: ObjectRef<Hero>) -> &[String] {
    &room.guests[guest].client[hero].ran
}
