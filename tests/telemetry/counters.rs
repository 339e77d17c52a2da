//! Counters and gauges.
//!
//! *Invariant:* the number of counters and gauges depends only on the number of classes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use repl::HostOptions;

use crate::support::Room;
use crate::{Mood, room};

/// Stores the value of each counter and gauge, by its name and labels.
#[derive(Default)]
struct Values(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Values {
    fn cell(&self, key: &Key) -> Arc<AtomicU64> {
        let labels: String =
            key.labels().map(|label| format!(" {}={}", label.key(), label.value())).collect();
        Arc::clone(self.0.lock().expect("no panic").entry(format!("{}{labels}", key.name())).or_default())
    }

    /// Returns the values so far. Gauges are counts, so they are whole numbers.
    fn take(&self) -> BTreeMap<String, u64> {
        let values = self.0.lock().expect("no panic");
        let whole = |name: &str, bits: u64| {
            let is_gauge = name.contains("connections") || name.contains("objects ");
            if is_gauge { f64::from_bits(bits) as u64 } else { bits }
        };
        values
            .iter()
            .map(|(name, value)| (name.clone(), whole(name, value.load(Ordering::Relaxed))))
            .collect()
    }
}

impl Recorder for Values {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn a_host_is_one_of_the_connections() {
    let (mut room, _) = room(1, 2);
    room.server.connect_host(HostOptions::default());
    let values = Values::default();
    metrics::with_local_recorder(&values, || drop(room.tick()));
    assert_eq!(values.take().get("repl_server_connections"), Some(&3));
}

#[test]
fn ticks_packets_and_changes_are_counted_by_class() {
    let (mut room, lamps) = room(5, 3);
    room.settle();
    let values = Values::default();
    let mut sent = (0, 0);
    metrics::with_local_recorder(&values, || {
        for _ in 0..4 {
            lamps[..2].iter().for_each(|&lamp| room.server[lamp].level += 1);
            room.server[lamps[3]].mood = Mood(1);
            for packets in room.tick() {
                sent.0 += packets.len() as u64;
                sent.1 += packets.iter().map(Vec::len).sum::<usize>() as u64;
            }
        }
    });
    let values = values.take();
    let value = |name: &str| values.get(name).copied();
    assert_eq!((value("repl_server_ticks"), value("repl_server_connections")), (Some(4), Some(3)));
    assert_eq!(
        (value("repl_server_packets_sent"), value("repl_server_bytes_sent")),
        (Some(sent.0), Some(sent.1))
    );
    let lost = |room: &Room| -> u64 {
        let stats = room.guests.iter().filter_map(|guest| room.server.connection_info(guest.id).stats());
        stats.map(|stats| stats.packets_lost).sum()
    };
    assert!(sent.0 >= 12 && lost(&room) > 0, "nobody acknowledges them");
    assert_eq!(value("repl_server_packets_lost"), Some(lost(&room)));
    assert_eq!(value("repl_server_objects class=Lamp"), Some(5));
    assert_eq!(value("repl_server_objects class=Wall"), Some(1));
    assert_eq!(value("repl_server_objects_changed class=Lamp"), Some(8));
    assert_eq!(value("repl_server_objects_changed class=Wall"), Some(0));
    assert_eq!(value("repl_server_values_refused class=Lamp"), Some(1));
    assert_eq!(values.len(), 10, "{values:?}");
}
