//! The host: a player in the process of the server, who can do everything that clients do. The page `host.md`
//! of the guide has a table of the differences to a client, with the tests of each line.
//!
//! *Invariant:* a room has a host and guests, and each has a hero of its own. The hero of the host is the
//! first.

mod calls;
mod events;
mod like_a_client;
mod local_player;
mod messages;
mod notifies;
mod objects;
mod sessions;

use std::fmt::Display;

use repl::prelude::*;
use repl::{HostHandle, HostOptions};

use crate::support::Room;

/// An object with conditions, notifies and calls of all kinds.
#[derive(Replicated, Default)]
struct Hero {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated(condition = OwnerOnly)]
    ammo: u16,
    #[replicated(condition = SkipOwner)]
    aim: u16,
    #[replicated(condition = SimulatedOnly)]
    pose: u16,
    #[replicated(notify = on_scores)]
    scores: [u8; 3],
    #[replicated(notify = on_bag)]
    bag: FastArray<u8>,
    /// The calls that ran on this object, or on this copy of it.
    ran: Vec<String>,
}

impl Hero {
    fn note(&mut self, what: &str, of: impl Display) {
        self.ran.push(format!("{what} {of}"));
    }

    fn on_health(&mut self, old: &u16) {
        self.note("health was", old);
    }

    fn on_scores(&mut self, old: &[u8; 3]) {
        self.note("scores were", format!("{old:?}"));
    }

    fn on_bag(&mut self) {
        self.note("bag has", self.bag.len());
    }
}

#[rpcs]
impl Hero {
    #[rpc(server, reliable, validate = may_fire, per_second = 20)]
    fn fire(call: &mut ServerCall<'_, Self>, direction: u16) {
        let by = call.caller().map_or_else(|| "server".to_owned(), |caller| caller.index().to_string());
        call.note("fire", format!("{direction} by {by}"));
        let object = call.object();
        call.server().call(object).hit(1).ok();
    }

    fn may_fire(&self, _: ConnectionId, direction: &u16) -> bool {
        *direction < 360
    }

    #[rpc(server, unreliable)]
    fn wave(&mut self, kind: u8) {
        self.note("wave", kind);
    }

    #[rpc(server, reliable)]
    fn buy(#[replicated(range = 1..=9)] count: u8);

    #[rpc(client, reliable)]
    fn hit(&mut self, damage: u16) {
        self.note("hit", damage);
    }

    #[rpc(client, unreliable)]
    fn heal(&mut self, by: u16) {
        self.health += by;
    }

    #[rpc(client, unreliable)]
    fn shake(call: &mut ClientCall<'_, Self>, strength: u8) {
        call.note("shake", strength);
    }

    #[rpc(client, reliable)]
    fn open_menu(page: u8);

    #[rpc(client, reliable, waits)]
    fn look(&mut self, at: ObjectRef<Self>) {
        self.note("look", if at.is_null() { "nowhere" } else { "there" });
    }

    #[rpc(multicast, reliable)]
    fn announce(&mut self, number: u16) {
        self.note("announce", number);
    }

    #[rpc(multicast, unreliable)]
    fn explode(strength: u8);
}

/// A message in both directions.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat(String);

/// A message with a reference to an object and a quantised value.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Found {
    hero: ObjectRef<Hero>,
    #[replicated(quantize(step = 0.5, range = 0.0..=100.0))]
    far: f32,
}

/// A message type with a small limit per second.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Step(u8, Vec<u8>);

const STEPS: MessageOptions = MessageOptions { per_second: 3, max_bytes: 100, ..MessageOptions::DEFAULT };

fn register(side: &mut impl Register) {
    side.register_calls::<Hero>();
    side.register_message::<Chat>(Channel::Ordered).register_message::<Found>(Channel::Unordered);
    side.register_message_with::<Step>(Channel::Unreliable, STEPS);
}

/// Returns a room with a host and clients, and their heroes.
fn room(options: HostOptions, guests: usize) -> (Room, ConnectionId, Vec<ObjectRef<Hero>>) {
    let mut room = Room::new(ServerConfig::default(), register);
    register(&mut room.server);
    let host = room.server.connect_host(options);
    (0..guests).for_each(|_| _ = room.enter());
    let owners: Vec<_> = [host].into_iter().chain(room.guests.iter().map(|guest| guest.id)).collect();
    let heroes: Vec<_> = owners.into_iter().map(|owner| spawn(&mut room.server, owner)).collect();
    room.settle();
    for guest in &mut room.guests {
        heroes.iter().for_each(|&hero| guest.client[hero].ran.clear());
    }
    (room, host, heroes)
}

/// Spawns a hero with an owner.
fn spawn(server: &mut Server, owner: ConnectionId) -> ObjectRef<Hero> {
    let hero = server.spawn(Hero { health: 100, ..Hero::default() });
    server.object(hero).set_owner(Some(owner)).set_remote_role(Role::AutonomousProxy);
    hero
}

fn host(room: &mut Room) -> HostHandle<'_> {
    room.server.host().expect("a host")
}

/// Returns the calls that ran on the object of the server.
fn ran(room: &Room, hero: ObjectRef<Hero>) -> &[String] {
    &room.server[hero].ran
}

/// Returns the calls that ran on the copy of a guest.
fn ran_on(room: &Room, guest: usize, hero: ObjectRef<Hero>) -> &[String] {
    &room.guests[guest].client[hero].ran
}

/// Returns the lines of the table in the guide, each with the names of its tests.
fn lines_of_the_guide() -> Vec<(String, Vec<String>)> {
    let page = include_str!("../../../docs/guide/src/host.md");
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    let named = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    cells.map(|cells| (cells[0].to_owned(), named(cells[3]))).collect()
}

#[test]
fn each_line_of_the_table_in_the_guide_has_tests_that_are_there() {
    const SOURCES: [&str; 7] = [
        include_str!("calls.rs"),
        include_str!("events.rs"),
        include_str!("like_a_client.rs"),
        include_str!("messages.rs"),
        include_str!("notifies.rs"),
        include_str!("objects.rs"),
        include_str!("sessions.rs"),
    ];
    let lines = lines_of_the_guide();
    assert!(lines.len() >= 15, "{} lines", lines.len());
    for (line, tests) in lines {
        assert!(!tests.is_empty(), "`{line}` has no test");
        for test in tests {
            let start = format!("#[test]\nfn {test}() {{");
            assert!(
                SOURCES.iter().any(|source| source.contains(&start)),
                "`{line}`: there is no test `{test}`"
            );
        }
    }
}

fn server_events(room: &mut Room) -> Vec<ServerEvent> {
    std::iter::from_fn(|| room.server.poll_event()).collect()
}
