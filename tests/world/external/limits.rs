//! Values that cannot be sent, and the memory that the server uses for objects that live outside it.

use std::sync::atomic::{AtomicUsize, Ordering};

use repl::prelude::*;
use repl::{SpawnError, WriteError};

use crate::support::Room;

#[derive(Replicated, Default)]
struct Note {
    #[replicated]
    text: String,
    #[replicated(max_len = 3)]
    short: Vec<u8>,
    #[replicated(max_len = 3)]
    brief: Vec<u8>,
    #[replicated]
    number: u32,
}

fn room(config: ServerConfig) -> (Room, ObjectRef<Note>, Note) {
    let register = |client: &mut Client| {
        client.register::<Note>();
    };
    let live = Note::default();
    let (room, note) = Room::furnished(config, register, 1, |server| server.external().spawn(&live));
    (room, note, live)
}

#[test]
fn a_value_without_a_form_is_refused_and_the_others_are_sent() {
    let (mut room, note, mut live) = room(ServerConfig::default());
    (live.short, live.number) = (vec![1, 2, 3, 4], 9);
    let refusal = ("short", WriteError::TooLong { len: 4, max: 3 });
    for is_told in [true, false] {
        room.server.external().compare(note, &live).expect("it exists");
        room.settle();
        assert_eq!(room.refused(), vec![refusal.clone(); usize::from(is_told)], "once");
        assert_eq!((room.client()[note].short.len(), room.client()[note].number), (0, 9));
    }
    live.short.pop();
    room.server.external().compare(note, &live).expect("it exists");
    room.settle();
    assert_eq!((room.refused().len(), room.client()[note].short.len()), (0, 3));
}

#[test]
fn values_without_a_form_are_each_told_when_the_object_is_compared_twice_in_a_tick() {
    let (mut room, note, mut live) = room(ServerConfig::default());
    live.short = vec![1; 4];
    room.server.external().compare(note, &live).expect("it exists");
    live.brief = vec![1; 5];
    room.server.external().compare(note, &live).expect("it exists");
    room.settle();
    let too_long = |len| WriteError::TooLong { len, max: 3 };
    assert_eq!(room.refused(), [("short", too_long(4)), ("brief", too_long(5))]);
}

#[test]
fn a_value_that_makes_its_object_too_large_is_refused_once_and_taken_when_it_fits() {
    let (mut room, note, mut live) = room(ServerConfig { max_object_bytes: 100, ..ServerConfig::default() });
    (live.text, live.number) = ("x".repeat(200), 1);
    for number in 1..4 {
        live.number = number;
        room.server.external().compare(note, &live).expect("it exists");
        room.settle();
        let told = room.refused();
        assert_eq!(
            told.iter().map(|(property, _)| *property).collect::<Vec<_>>(),
            vec!["text"; usize::from(number == 1)]
        );
        assert_eq!((room.client()[note].text.len(), room.client()[note].number), (0, number));
    }
    live.text.truncate(20);
    room.server.external().compare(note, &live).expect("it exists");
    room.settle();
    assert_eq!((room.refused().len(), room.client()[note].text.len()), (0, 20));
}

#[test]
fn without_a_free_slot_nothing_is_spawned() {
    let mut server = Server::new(ServerConfig { max_objects: 2, ..ServerConfig::default() });
    let note = Note::default();
    let mut notes = server.external::<Note>();
    notes.spawn(&note);
    notes.spawn(&note);
    let refused = notes.try_spawn_from(ArchetypeId::default(), &note);
    assert!(matches!(refused, Err(SpawnError { max_objects: 2, .. })));
}

/// How many values of the type `Count` exist.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

struct Count;

impl Default for Count {
    fn default() -> Self {
        COUNTED.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        COUNTED.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Replicated, Default)]
struct Counted {
    #[replicated]
    number: u32,
    _count: Count,
}

#[test]
fn the_server_stores_one_shadow_of_each_object_and_no_live_copy() {
    let mut server = Server::new(ServerConfig::default());
    let mut live: Vec<Counted> = std::iter::repeat_with(Counted::default).take(100).collect();
    let mut counted = server.external::<Counted>();
    let objects: Vec<_> = live.iter().map(|live| counted.spawn(live)).collect();
    assert_eq!(COUNTED.load(Ordering::Relaxed), 200, "100 of ours, and 100 shadows");
    for (live, &object) in live.iter_mut().zip(&objects) {
        live.number = 7;
        counted.compare(object, live).expect("it exists");
    }
    server.tick(std::time::Duration::ZERO);
    assert_eq!(COUNTED.load(Ordering::Relaxed), 200);
    objects.into_iter().take(60).for_each(|object| server.despawn(object));
    assert_eq!(COUNTED.load(Ordering::Relaxed), 140);
    drop(server);
    assert_eq!(COUNTED.load(Ordering::Relaxed), 100, "ours");
}
