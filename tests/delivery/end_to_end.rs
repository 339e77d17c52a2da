//! The smallest test that runs from a server's object to a client's copy.

use std::time::Duration;

use repl::prelude::*;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated]
    items: Vec<u8>,
    #[replicated]
    target: ObjectRef<Self>,
    heard: Vec<u16>,
}

impl Player {
    fn on_health(&mut self, old: &u16) {
        self.heard.push(*old);
    }
}

fn step(server: &mut Server, client: &mut Client, connection: ConnectionId, now: Duration) {
    client.tick(now);
    while let Some(packet) = client.poll_transmit() {
        server.receive(connection, now, packet);
    }
    server.tick(now);
    while let Some(packet) = server.poll_transmit(connection) {
        client.receive(now, packet).expect("a packet of the server");
    }
}

#[test]
fn a_change_on_the_server_reaches_the_client() {
    let mut server = Server::new(ServerConfig::default());
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Player>();
    let player = server.spawn(Player { health: 100, ..Player::default() });
    let connection = server.connect(Duration::ZERO);
    let mut now = Duration::ZERO;
    for _ in 0..4 {
        step(&mut server, &mut client, connection, now);
        now += Duration::from_millis(16);
    }
    assert_eq!(client.get(player).map(|player| player.health), Some(100));
    server[player].health -= 10;
    server[player].items = vec![1, 2, 3];
    server[player].target = player;
    step(&mut server, &mut client, connection, now);
    let replica = client.get(player).expect("the player is there");
    assert_eq!((replica.health, &replica.items, replica.target), (90, &vec![1, 2, 3], player));
    assert_eq!(replica.heard, [0, 100]);
    let sent = server.connection_info(connection).stats().map(|stats| stats.bytes_sent);
    now += Duration::from_millis(16);
    step(&mut server, &mut client, connection, now);
    step(&mut server, &mut client, connection, now);
    assert_eq!(server.connection_info(connection).stats().map(|stats| stats.bytes_sent), sent);
}

#[test]
fn an_object_opens_from_an_archetype_with_elements_of_its_own() {
    let archetype = || Player { items: vec![7; 5], ..Player::default() };
    let mut server = Server::new(ServerConfig::default());
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    let filled = server.register_archetype::<Player>(archetype);
    client.register_archetype::<Player>(archetype);
    let (same, changed) = (server.spawn_from(filled, archetype()), server.spawn_from(filled, archetype()));
    server[changed].items[2] = 9;
    let connection = server.connect(Duration::ZERO);
    for tick in 0..4 {
        step(&mut server, &mut client, connection, Duration::from_millis(16 * tick));
    }
    assert_eq!(client.get(same).map(|player| player.items.clone()), Some(vec![7; 5]));
    assert_eq!(client.get(changed).map(|player| player.items.clone()), Some(vec![7, 7, 9, 7, 7]));
}

/// A serialiser that returns an error for each write while `REFUSES` is true.
mod stubborn {
    use std::sync::atomic::{AtomicBool, Ordering};

    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) static REFUSES: AtomicBool = AtomicBool::new(false);

    pub(super) const NAME: &str = "stubborn";

    pub(super) fn write(value: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
        if REFUSES.load(Ordering::Relaxed) {
            return Err(WriteError::Other("refused"));
        }
        writer.write_bits((*value).into(), 16);
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u16, ReadError> {
        Ok(reader.read_bits(16)? as u16)
    }
}

#[derive(Replicated, Clone, Copy, Debug, Default, PartialEq)]
struct Mood {
    #[replicated]
    colour: u8,
    #[replicated(with = stubborn)]
    depth: u16,
}

#[derive(Replicated, Default)]
struct Moody {
    #[replicated]
    mood: Mood,
    #[replicated]
    level: u16,
}

#[test]
fn a_property_whose_serialiser_breaks_its_word_holds_up_no_other() {
    use std::sync::atomic::Ordering::Relaxed;

    let mut server = Server::new(ServerConfig::default());
    let mood = Mood { colour: 5, depth: 3 };
    let moody = server.spawn(Moody { mood, level: 1 });
    server.tick(Duration::ZERO);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register::<Moody>();
    let connection = server.connect(Duration::ZERO);
    // The first tick of a client writes the initial values of objects.
    client.tick(Duration::ZERO);
    stubborn::REFUSES.store(true, Relaxed);
    for tick in 1..5 {
        step(&mut server, &mut client, connection, Duration::from_millis(16 * tick));
    }
    assert_eq!(client.get(moody).map(|moody| (moody.mood, moody.level)), Some((Mood::default(), 1)));
    stubborn::REFUSES.store(false, Relaxed);
    server[moody].level = 2;
    for tick in 5..7 {
        step(&mut server, &mut client, connection, Duration::from_millis(16 * tick));
    }
    assert_eq!(client.get(moody).map(|moody| (moody.mood, moody.level)), Some((mood, 2)));
}

/// A serialiser that, after a phase was set, refuses its value in two successive calls out of every five.
mod fickle {
    use std::cell::Cell;

    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
        pub(super) static REFUSED_PHASE: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) const NAME: &str = "fickle";

    pub(super) fn write(value: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
        CALLS.set(CALLS.get() + 1);
        if REFUSED_PHASE.get().is_some_and(|phase| (CALLS.get() + phase) % 5 < 2) {
            return Err(WriteError::Other("refused"));
        }
        (0..3_000).for_each(|_| writer.write_bits((*value).into(), 16));
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u16, ReadError> {
        (1..3_000).try_for_each(|_| reader.read_bits(16).map(drop))?;
        Ok(reader.read_bits(16)? as u16)
    }
}

#[derive(Replicated, Default)]
struct Wall {
    #[replicated(with = fickle)]
    picture: u16,
    #[replicated]
    height: u16,
}

#[test]
fn r15_a_blob_whose_serialiser_changes_its_mind_while_it_is_sent_is_well_formed() {
    for phase in 0..5 {
        let mut server = Server::new(ServerConfig::default());
        let wall = server.spawn(Wall::default());
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
        client.register::<Wall>();
        let connection = server.connect(Duration::ZERO);
        let mut ticks = (1..).map(|tick| Duration::from_millis(16 * tick));
        let mut step = |server: &mut Server, client: &mut Client| {
            step(server, client, connection, ticks.next().expect("there is always another tick"));
        };
        (0..5).for_each(|_| step(&mut server, &mut client));
        // The change is compared while the connection is paused, and written when the pause ends.
        server.connection(connection).pause();
        (server[wall].picture, server[wall].height) = (7, 9);
        step(&mut server, &mut client);
        server.connection(connection).resume();
        fickle::REFUSED_PHASE.set(Some(phase));
        (0..40).for_each(|_| step(&mut server, &mut client));
        assert_eq!(client.get(wall).map(|wall| wall.height), Some(9));
        fickle::REFUSED_PHASE.set(None);
        server[wall].height = 10;
        (0..40).for_each(|_| step(&mut server, &mut client));
        assert_eq!(client.get(wall).map(|wall| (wall.picture, wall.height)), Some((7, 10)));
    }
}
