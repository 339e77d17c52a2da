//! The cost for the server when tens of thousands of objects are removed, and the packets with the removals
//! are lost.
//!
//! *Invariant:* only the server's work is measured. Each run ends when the client has removed all objects and
//! the server has received the acks.
//! the server knows it.

#[path = "../tests/support/ends.rs"]
mod ends;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{self, Write};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};

use ends::{End, Link, end_all};
use ratios::{Side, timed};

const MANY: usize = 60_000;
const LINKS: [Link; 5] = [Link::Good, Link::LosesOne, Link::LosesMany, Link::HoldsAcks, Link::Dead];

/// The durations of ticks. Each time includes the acks before the tick.
#[derive(Default)]
struct Cost {
    longest: Duration,
    all: Duration,
}

fn cost(count: usize, end: End, link: Link) -> Cost {
    let mut cost = Cost::default();
    end_all(count, end, link, |room, acks| {
        let time = timed(1, || {
            room.hear(0, acks);
            room.server.tick(room.now);
        });
        cost.longest = cost.longest.max(time);
        cost.all += time;
    });
    cost
}

fn ends(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ends");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.throughput(Throughput::Elements(MANY as u64));
    for link in LINKS {
        let id = BenchmarkId::new("despawn", format!("{link:?}"));
        group.bench_function(id, |bencher| {
            bencher.iter_custom(|count| (0..count).map(|_| cost(MANY, End::Despawn, link).all).sum());
        });
    }
    group.finish();
}

/// Prints the longest tick for each way to remove objects and each link. Also compares the cost of removing
/// 6,000 of 60,000 objects with the cost of removing 6,000 objects of a world without others.
fn print_ratios() {
    for end in [End::Despawn, End::Hide] {
        for link in LINKS {
            let longest = cost(MANY, end, link).longest.as_secs_f64() * 1e3;
            // An output error is ignored, so that the measurement continues when nobody reads its output any
            // more.
            let _ = writeln!(io::stdout(), "ticks   {end:?}, {link:?}: the longest {longest:.1} ms");
        }
        let total =
            |count, times: u64| (0..times).map(|_| cost(count, end, Link::LosesMany).all).sum::<Duration>();
        ratios::report(
            &format!("{end:?} 6,000, a third lost"),
            &mut [
                Side::new("of 60,000", None, &mut |times| total(MANY, times) / 10),
                Side::new("of 6,000", None, &mut |times| total(MANY / 10, times)),
            ],
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    ends(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
