//! What games are made of, beside a server that was written by hand for each: objects that live for a second,
//! and small servers.
//!
//! *Invariant:* the clients of both sides are checked before anything is measured.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "../support/bits.rs"]
mod bits;
#[path = "../support/config.rs"]
mod config;
mod game;
#[path = "../support/ratios.rs"]
mod ratios;
mod rival;
mod shooter;

use std::cell::RefCell;

use criterion::Criterion;

use game::{Game, Running};
use ratios::Side;

fn measure<G: Game>(criterion: &mut Criterion, loss: f64) {
    let mut running = Running::<G>::new(loss);
    let name = format!("{}_loss_{loss}", G::NAME);
    let mut group = criterion.benchmark_group(format!("games/{name}"));
    group.sample_size(10);
    group.bench_function("repl", |bencher| bencher.iter_custom(|ticks| running.ticks(ticks)[0]));
    group.bench_function("hand", |bencher| bencher.iter_custom(|ticks| running.ticks(ticks)[1]));
    group.finish();
    if ratios::are_wanted() {
        let [bytes, rival_bytes] = running.bytes();
        let running = RefCell::new(running);
        ratios::report(
            &name,
            &mut [
                Side::new("repl", Some(bytes), &mut |ticks| running.borrow_mut().ticks(ticks)[0]),
                Side::new("hand", Some(rival_bytes), &mut |ticks| running.borrow_mut().ticks(ticks)[1]),
            ],
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for loss in [0.0, 0.05] {
        measure::<shooter::Shooter>(&mut criterion, loss);
    }
    criterion.final_summary();
}
