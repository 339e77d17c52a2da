//! Spans and events.
//!
//! *Invariant:* how many there are in a tick does not depend on the objects and connections.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::{Mood, room};

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
    let lines = Arc::default();
    let recorder = Recorder { lines: Arc::clone(&lines), most, spans: AtomicU64::new(0) };
    tracing::subscriber::with_default(recorder, run);
    lines.lock().expect("no panic").drain(..).collect()
}

#[test]
fn sessions_and_mistakes_are_told_and_ticks_are_not_at_the_level_of_information() {
    let (mut room, lamps) = room(3, 2);
    let lines = recorded(Level::INFO, || {
        room.settle();
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
        r#"WARN event message=a value cannot be sent class="Lamp" error=the value is outside its range"#,
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
fn the_parts_of_a_tick_are_spans_whatever_the_number_of_objects_and_connections() {
    let spans = |lamps, guests| {
        let (mut room, lamps) = room(lamps, guests);
        room.settle();
        lamps.iter().for_each(|&lamp| room.server[lamp].level += 1);
        let tick = room.server.ticks() + 1;
        let lines = recorded(Level::TRACE, || drop(room.tick()));
        assert_eq!(lines[0], format!("DEBUG server_tick tick={tick}"));
        lines[1..].to_vec()
    };
    assert_eq!(spans(1, 1), ["DEBUG compare", "DEBUG send"]);
    assert_eq!(spans(300, 9), spans(1, 1));
}

#[test]
fn a_packet_that_a_client_applies_is_a_span_and_a_malformed_one_a_warning() {
    let (mut room, lamps) = room(1, 1);
    room.settle();
    room.server[lamps[0]].level = 9;
    let packets = room.tick_one();
    let lines = recorded(Level::TRACE, || room.deliver(0, &packets));
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("DEBUG client_receive bits="), "{lines:?}");
}
