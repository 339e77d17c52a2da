//! The bag of an adventurer: stacks with gems in their sockets, both in a fast array and in a plain `Vec`.
//! Each of the two bags is replicated from a server to a client. Shows the callbacks of the client as they
//! run, and the bytes that each change costs with each container.
//!
//! Start with `model.rs`, which has the replicated structs and the callbacks. `dealer.rs` has the changes,
//! `journal.rs` replays the callbacks, and `link.rs` moves the packets. The other files parse and print.
//!
//! *Invariant:* the arguments decide the whole run: it reads no clock, and all random numbers come from the
//! seed.

#[path = "../support/mod.rs"]
mod support;

mod args;
mod bags;
mod dealer;
mod journal;
mod link;
mod model;
mod report;

use std::process::ExitCode;

use args::Args;
use bags::Bags;
use clap::Parser;
use dealer::{Dealer, STORY};
use report::Outcome;
use support::Progress;

fn main() -> ExitCode {
    support::exit_code("inventory", Ok(tell(&Args::parse())))
}

/// Tells the story and makes random updates. Returns whether all checks passed.
fn tell(args: &Args) -> bool {
    let mut dealer = Dealer::new(args.seed);
    let mut bags = Bags::new(dealer.stacks(), args.seed);
    let told = bags.settle();
    if !args.json {
        let title = format!("A client joins: {} stacks", dealer::STACKS);
        report::print_scene(&title, "stacks: FastArray<Stack>", &told, bags.bits());
    }
    play(&mut bags, &mut dealer, args);
    let outcome = run(&mut bags, &mut dealer, args);
    if args.json {
        outcome.print_json();
    } else {
        outcome.print(&bags);
    }
    outcome.converged && outcome.callbacks_ok
}

/// Plays the scenes of the story, over a network that loses nothing.
fn play(bags: &mut Bags, dealer: &mut Dealer, args: &Args) {
    let mut costs = Vec::new();
    for scene in &STORY {
        let before = bags.bits();
        bags.change(|stacks| (scene.change)(dealer, stacks));
        let told = bags.settle();
        let cost = bags.bits().since(before);
        if !args.json {
            report::print_scene(scene.title, scene.code, &told, cost);
        }
        costs.push((scene, cost));
    }
    if !args.json {
        report::print_scenes(&costs);
    }
}

/// Runs random updates, one in each tick, over a network that loses packets.
fn run(bags: &mut Bags, dealer: &mut Dealer, args: &Args) -> Outcome {
    let before = bags.bits();
    let mut progress = Progress::new(args.updates.into());
    bags.fast.spoil(args.loss);
    bags.plain.spoil(args.loss);
    for update in 1..=args.updates {
        bags.change(|stacks| dealer.deal(stacks));
        bags.tick();
        progress.show(update.into(), || report::progress(bags, before));
    }
    bags.settle();
    Outcome {
        converged: bags.have_converged(),
        callbacks_ok: bags.model.mistake.is_none(),
        updates: args.updates,
        cost: bags.bits().since(before),
    }
}
