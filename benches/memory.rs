//! The heap memory of a server for connections with fast arrays, in bytes.
//!
//! *Invariant:* an allocator counts bytes only while the server works, so the memory of clients is not
//! counted.

#[path = "../tests/support/allocator.rs"]
mod allocator;
#[path = "../tests/support/crowd.rs"]
mod crowd;
#[path = "../tests/support/residents.rs"]
mod residents;
#[path = "../tests/support/wanderers.rs"]
mod wanderers;

use std::io::{self, Write};

use crowd::{fall_behind, further_growth, growth, per_array, per_connection, send_off};
use residents::{Moment, per_object};
use wanderers::{Seen, State};

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

/// Prints one line: `held` says what the memory is for, and each case has a name and a size.
fn report(held: &str, cases: &[(&str, f64)]) {
    let mut line = format!("memory  {held:<44}");
    for (case, bytes) in cases {
        let digits = usize::from(*bytes < 100.0);
        line += &format!("  {case} {bytes:.digits$} B");
    }
    // An output error is ignored, so that the measurement continues when nobody reads its output any more.
    let _ = writeln!(io::stdout(), "{line}");
}

fn report_acknowledged() {
    let quiet = |len| per_connection(1, len, |_| {});
    let lengths = [("of 10", quiet(10)), ("of 1,000", quiet(1_000)), ("of 100,000", quiet(100_000))];
    report("a connection, one array acknowledged", &lengths);
    let worn = |len: usize| per_connection(1, len, |crowd| fall_behind(crowd, 100, len / 10));
    report("the same after 100 lost ticks", &[("of 1,000", worn(1_000)), ("of 100,000", worn(100_000))]);
    report("a connection and array, acknowledged", &[("of 0", per_array(0)), ("of 10", per_array(10))]);
}

fn report_under_way() {
    for (name, len, changed) in [
        ("1 of 10,000 items under way", 10_000, 1),
        ("1 of 100,000 items under way", 100_000, 1),
        ("1,000 of 10,000 items under way", 10_000, 1_000),
    ] {
        let alone = growth(len, 1, |crowd| send_off(crowd, changed, len));
        let eight = growth(len, 8, |crowd| send_off(crowd, changed, len));
        report(
            name,
            &[
                ("1 connection", alone as f64),
                ("8 in step", eight as f64),
                ("a further one", (eight - alone) as f64 / 7.0),
            ],
        );
    }
}

fn report_behind() {
    for (name, ticks, spread) in [
        ("10 of the same 100 items in 100 lost ticks", 100, 100),
        ("the same in 1,000 lost ticks", 1_000, 100),
        ("10 others of 10,000 items in 100 lost ticks", 100, 10_000),
        ("the same in 1,000 lost ticks", 1_000, 10_000),
    ] {
        let alone = growth(10_000, 1, |crowd| fall_behind(crowd, ticks, spread));
        let further = further_growth(10_000, |crowd| fall_behind(crowd, ticks, spread));
        report(name, &[("1 connection", alone as f64), ("a further one", further as f64)]);
    }
    let missed = |len: usize| {
        further_growth(len, |crowd| {
            crowd.thin_out(len);
            fall_behind(crowd, 1_000, 10);
        })
    };
    let cases = [("of 10,000", missed(10_000) as f64), ("of 100,000", missed(100_000) as f64)];
    report("every second item gone, 1,000 lost ticks", &cases);
}

fn report_large_worlds() {
    for (name, seen) in [("80 objects seen", Seen::Near), ("5 % seen", Seen::Few), ("all seen", Seen::All)] {
        for (state, what) in [
            (State::Joined, "acknowledged"),
            (State::Walked, "after a walk"),
            (State::OutOfStep, "1 % out of step"),
        ] {
            let [small, medium, large] =
                [1_000, 10_000, 50_000].map(|objects| wanderers::per_connection(objects, seen, state));
            let cases = [("of 1,000", small), ("of 10,000", medium), ("of 50,000", large)];
            report(&format!("{name}, {what}"), &cases);
        }
    }
}

fn report_objects() {
    for (moment, when) in [
        (Moment::Spawned, "spawned"),
        (Moment::Joined, "joined"),
        (Moment::Busy, "1,100 busy ticks later"),
        (Moment::AtRest, "1,100 ticks later, at rest"),
    ] {
        for objects in [1_000, 10_000] {
            let [none, one, many] = [0, 1, 32].map(|clients| per_object(objects, clients, moment));
            let cases = [("no client", none), ("1", one), ("32", many)];
            report(&format!("for each of {objects} objects of 112 B, {when}"), &cases);
        }
    }
}

fn main() {
    // Without the argument, the program was started only to check that it runs.
    if std::env::args().any(|argument| argument == "--bench") {
        report_objects();
        report_acknowledged();
        report_under_way();
        report_behind();
        report_large_worlds();
    }
}
