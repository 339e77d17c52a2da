//! One server tick with logs at the level `INFO` and with counters (the features `tracing` and `metrics`).
//!
//! *Invariant:* all candidates write the same values and send the same bytes.

#[path = "support/config.rs"]
mod config;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "support/served.rs"]
#[expect(dead_code, reason = "no client joins here")]
mod served;
#[path = "support/workload.rs"]
mod workload;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Recorder, SharedString, Unit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use ratios::Side;
use served::{Served, Writing};
use workload::Workload;

const CONNECTIONS: usize = 8;

/// Takes events of the level `INFO` and drops them.
struct Informed;

impl Subscriber for Informed {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Counts everything in one number.
struct Counted(Arc<AtomicU64>);

impl Recorder for Counted {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &metrics::Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::clone(&self.0))
    }

    fn register_gauge(&self, _: &Key, _: &metrics::Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &metrics::Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

struct Running {
    served: Served,
    step: u32,
}

impl Running {
    fn new(workload: &Workload) -> Self {
        Self { served: Served::settled(workload.players, CONNECTIONS, Writing::ByReference), step: 0 }
    }

    /// Runs one tick. Returns how long the server took, and the bytes that it sent.
    fn tick(&mut self, workload: &Workload) -> (Duration, u64) {
        let Self { served, step } = self;
        *step += 1;
        let start = Instant::now();
        let bytes = served.send(workload, *step);
        let time = start.elapsed();
        served.deliver();
        served.acknowledge();
        (time, bytes)
    }

    fn ticks(&mut self, count: u64, workload: &Workload) -> Duration {
        (0..count).map(|_| self.tick(workload).0).sum()
    }
}

fn main() {
    let (informed, counted) = (Dispatch::new(Informed), Counted(Arc::default()));
    for workload in &Workload::ALL {
        let mut sides = [(); 3].map(|()| Running::new(workload));
        let bytes = sides.each_mut().map(|side| side.tick(workload).1);
        assert!(bytes.iter().all(|sent| *sent == bytes[0]), "the same bytes");
        if !ratios::are_wanted() {
            continue;
        }
        let [silent, logged, metered] = &mut sides;
        ratios::report(
            &format!("{} x {CONNECTIONS}", workload.name),
            &mut [
                Side::new("silent", None, &mut |count| silent.ticks(count, workload)),
                Side::new("at INFO", None, &mut |count| {
                    tracing::dispatcher::with_default(&informed, || logged.ticks(count, workload))
                }),
                Side::new("counted", None, &mut |count| {
                    metrics::with_local_recorder(&counted, || metered.ticks(count, workload))
                }),
            ],
        );
    }
}
