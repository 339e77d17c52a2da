//! Spans and events.
//!
//! *Invariant:* the number of spans and events in a tick does not depend on the number of objects and
//! connections.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};

use repl::prelude::*;
use repl::{HostOptions, Register};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::support::{Guest, Room};
use crate::{Lamp, Mood, room};

/// Records each span and event up to a level as a line.
struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
    most: Level,
    spans: AtomicU64,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("a string takes all");
    }
}

impl Recorder {
    fn push(&self, metadata: &Metadata<'_>, record: impl FnOnce(&mut Line)) {
        let mut line =
            Line(format!("{} {}", metadata.level(), metadata.name().split(' ').next().expect("a name")));
        record(&mut line);
        self.lines.lock().expect("no panic").push(line.0);
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.push(span.metadata(), |line| span.record(line));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.push(event.metadata(), |line| event.record(line));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns the lines that `run` causes up to a level.
fn recorded(most: Level, run: impl FnOnce()) -> Vec<String> {
    // If the only subscriber is of another thread, `tracing` may decide that nobody wants an event, and then
    // always drop this event. A second subscriber prevents this.
    static OTHER: Once = Once::new();
    let recorder = |lines, most| Recorder { lines, most, spans: AtomicU64::new(0) };
    OTHER.call_once(|| {
        tracing::subscriber::set_global_default(recorder(Arc::default(), Level::ERROR))
            .expect("there is none");
    });
    let lines = Arc::default();
    tracing::subscriber::with_default(recorder(Arc::clone(&lines), most), run);
    lines.lock().expect("no panic").drain(..).collect()
}

#[test]
fn sessions_and_mistakes_are_told_and_ticks_are_not_at_the_level_of_information() {
    let (mut room, lamps) = room(3, 2);
    let lines = recorded(Level::INFO, || {
        room.settle();
        room.server.object(lamps[0]).set_name("by the door");
        room.server[lamps[0]].mood = Mood(3);
        room.settle();
        let id = room.guests[1].id;
        room.server.connection(id).disconnect_with("enough");
        room.step();
    });
    let expected = [
        "INFO event message=a session has begun connection=ConnectionId(0)",
        "INFO event message=the session with the server has begun",
        "INFO event message=a session has begun connection=ConnectionId(1)",
        "INFO event message=the session with the server has begun",
        r#"WARN event message=a value cannot be sent object=Lamp 1v1 "by the door" error=the value is outside its range"#,
    ];
    let mut sorted: Vec<_> = lines.iter().map(String::as_str).take(5).collect();
    sorted.sort_unstable();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert!(lines[5..].iter().all(|line| line.contains("ended") && line.contains("enough")), "{lines:?}");
    assert_eq!(lines.len(), 7, "{lines:?}");
}

#[test]
fn a_time_that_jumps_by_a_timeout_is_told_on_both_sides() {
    let (mut room, _) = room(1, 1);
    room.settle();
    let lines = recorded(Level::WARN, || {
        room.wait(ServerConfig::default().timeout - std::time::Duration::from_secs(1));
        room.step();
    });
    assert_eq!(lines, [""; 0], "a pause that ends no session is no mistake");
    let lines = recorded(Level::WARN, || {
        room.wait(ServerConfig::default().timeout);
        room.tick();
        room.replies(0);
    });
    let jump = format!("jump={}.", ServerConfig::default().timeout.as_secs());
    let is_warning =
        |line: &&String| line.contains("`now` has jumped by more than the timeout") && line.contains(&jump);
    assert_eq!(lines.iter().filter(is_warning).count(), 2, "{lines:?}");
}

#[test]
fn an_owner_that_has_ended_is_told() {
    let (mut room, lamps) = room(1, 1);
    let id = room.guests[0].id;
    let lines = recorded(Level::WARN, || _ = room.server.object(lamps[0]).set_owner(Some(id)));
    assert_eq!(lines, [""; 0]);
    room.server.connection(id).disconnect();
    let lines =
        recorded(Level::WARN, || _ = room.server.object(lamps[0]).set_owner(Some(id)).set_owner(None));
    let expected = "WARN event message=the connection of the new owner has ended, so nobody owns the object: give it another owner, or none object=Lamp 1v1 owner=ConnectionId(0)";
    assert_eq!(lines, [expected]);
}

#[test]
fn the_session_of_a_host_is_told_like_any_other() {
    let mut server = Server::new(ServerConfig::default());
    let lines = recorded(Level::INFO, || {
        let id = server.connect_host(HostOptions::default());
        server.connection(id).disconnect();
    });
    assert_eq!(lines[0], "INFO event message=a session has begun connection=ConnectionId(0)");
    assert!(lines[1].contains("message=a session has ended connection=ConnectionId(0)"), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn the_parts_of_a_tick_are_spans_whatever_the_number_of_objects_and_connections() {
    let spans = |lamps, guests| {
        let (mut room, lamps) = room(lamps, guests);
        room.settle();
        lamps.iter().for_each(|&lamp| room.server[lamp].level += 1);
        let tick = room.server.ticks() + 1;
        let lines = recorded(Level::DEBUG, || drop(room.tick()));
        assert_eq!(lines[0], format!("DEBUG server_tick tick={tick}"));
        lines[1..].to_vec()
    };
    assert_eq!(spans(1, 1), ["DEBUG compare", "DEBUG send"]);
    assert_eq!(spans(300, 9), spans(1, 1));
}

#[test]
fn a_packet_that_a_client_applies_is_a_span() {
    let (mut room, lamps) = room(1, 1);
    room.settle();
    room.server[lamps[0]].level = 9;
    let packets = room.tick_one();
    let lines = recorded(Level::DEBUG, || room.deliver(0, &packets));
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("DEBUG client_receive bits="), "{lines:?}");
}

/// A message that names an asset.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Look(AssetRef<Lamp>);

#[test]
fn a_malformed_packet_is_a_warning_and_ends_a_session() {
    fn register(side: &mut impl Register) {
        side.register_assets().register_message::<Look>(Channel::Ordered);
    }
    let mut room = Room::new(ServerConfig::default(), |_| ());
    register(&mut room.server);
    let config = ClientConfig { max_assets: 1, reconnects: false, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(9));
    register(&mut client);
    let id = room.server.connect(room.now);
    room.guests.push(Guest { client, id });
    room.settle();
    // A correct server never names more assets than its client allows.
    for path in ["a", "b"] {
        let look = Look(room.server.assets().add(path));
        room.server.connection(id).send(&look).expect("it is queued");
    }
    let packets = room.tick_one();
    let lines = recorded(Level::INFO, || _ = room.guests[0].client.receive(room.now, &packets[0]));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("WARN event message=a packet of the server is malformed why="), "{lines:?}");
    assert!(lines[1].starts_with("INFO event message=the session with the server has ended"), "{lines:?}");
}

#[test]
fn what_is_in_a_packet_is_an_event_of_both_sides_at_the_lowest_level() {
    let (mut room, lamps) = room(2, 1);
    room.settle();
    room.server.object(lamps[1]).set_name("by the door");
    room.server[lamps[0]].level = 900;
    room.server[lamps[1]].mood = Mood(2);
    room.server.despawn(lamps[0]);
    let new = room.server.spawn(Lamp { level: 7, ..Lamp::default() });
    assert_eq!(new.guid().map(|guid| guid.slot()), Some(3));
    let mut packets = Vec::new();
    let sent = recorded(Level::TRACE, || packets = room.tick_one());
    let received = recorded(Level::TRACE, || room.deliver(0, &packets));
    let content = |lines: &[String]| {
        let line = lines.iter().find(|line| line.starts_with("TRACE")).expect("there is a packet");
        line.split_once("message=").expect("a text").1.to_owned()
    };
    let (sent, received) = (content(&sent), content(&received));
    for line in [
        "\nLamp 2v1 \"by the door\" updated, ",
        "\n  mood: <8 bits>, 8 bits",
        "\nLamp 3v1 opened, ",
        "\n  level: 7, 16 bits",
        "\nLamp 1v1 removed, Destroyed, last state, ",
        "\n  level: 900, 16 bits",
    ] {
        assert!(sent.contains(line), "{line:?}: {sent}");
        assert!(received.contains(&line.replace(" \"by the door\"", "")), "{line:?}: {received}");
    }
    assert!(sent.contains("connection=ConnectionId(0)") && !received.contains("connection"));
}
