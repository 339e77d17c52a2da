//! A frame of a Bevy client that predicts its entities, compared with a client that does not predict.
//!
//! *Invariant:* both clients have all entities at the end, and nothing was rolled back.

#[path = "support/ratios.rs"]
mod ratios;

use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_time::Time;
use criterion::Criterion;
use ratios::Side;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{OwnedBy, PredictionCounts, ReplAppExt, Simulate, Simulated, Simulation};

/// How many entities the client owns.
const ENTITIES: usize = 10;

#[derive(NetSerialize, Clone, Default)]
struct Steer(#[replicated(range = -1..=1)] [i8; 2]);

#[derive(Component, Replicated, Clone, Default, PartialEq)]
struct Position(#[replicated] [f32; 3]);

#[derive(Component, Replicated, Clone, Default, PartialEq)]
struct Velocity(#[replicated] [f32; 3]);

#[derive(Component, Replicated, Clone, Default, PartialEq)]
struct Stamina(#[replicated] f32);

type Walker<'w> = (&'w mut Position, &'w mut Velocity, &'w mut Stamina);

fn walk(mut walkers: Query<'_, '_, Walker<'_>, With<Simulated>>, time: Res<'_, Time>) {
    for (mut position, mut velocity, mut stamina) in &mut walkers {
        for (at, speed) in position.0.iter_mut().zip(&mut velocity.0) {
            *speed = (*speed + 0.01) % 3.0;
            *at += *speed * time.delta_secs();
        }
        stamina.0 = (stamina.0 + 0.5) % 100.0;
    }
}

/// Returns a match with one client, which predicts or not.
fn game(predicts: bool) -> Simulation {
    let mut game = Simulation::new(1, LinkConditions::perfect(), 1, move |app: &mut App| {
        app.replicate::<Position>().replicate::<Velocity>().replicate::<Stamina>();
        if predicts {
            app.input::<Steer>().predict::<Position>().predict::<Velocity>().predict::<Stamina>();
        }
        app.add_systems(Simulate, walk);
    });
    game.run(60);
    let owner = game.client_entity(0).expect("the client is connected");
    let own = (OwnedBy(owner), Position::default(), Velocity::default(), Stamina::default());
    for _ in 0..ENTITIES {
        game.server.world_mut().spawn(own.clone());
    }
    game.run(120);
    game
}

/// Returns a closure that runs frames of the client and measures them. A packet of one server tick arrives in
/// each frame.
fn frames(game: &mut Simulation) -> impl FnMut(u64) -> Duration {
    |frames| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..frames {
            game.server.update();
            let start = Instant::now();
            game.clients[0].update();
            elapsed += start.elapsed();
        }
        elapsed
    }
}

fn rollbacks(game: &Simulation) -> u64 {
    game.clients[0].world().resource::<PredictionCounts>().0.rollbacks
}

fn main() {
    let (mut predicted, mut plain) = (game(true), game(false));
    let before = rollbacks(&predicted);
    let mut criterion = Criterion::default().configure_from_args();
    {
        let (mut predicted, mut plain) = (frames(&mut predicted), frames(&mut plain));
        let mut group = criterion.benchmark_group("a frame of a Bevy client");
        group.bench_function("predicted", |bencher| bencher.iter_custom(&mut predicted));
        group.bench_function("plain", |bencher| bencher.iter_custom(&mut plain));
        group.finish();
        if ratios::are_wanted() {
            ratios::report(
                "a frame of a Bevy client",
                &mut [Side::new("predicted", None, &mut predicted), Side::new("plain", None, &mut plain)],
            );
        }
    }
    for game in [&mut predicted, &mut plain] {
        let world = game.clients[0].world_mut();
        assert_eq!(world.query::<Walker<'_>>().iter(world).count(), ENTITIES);
    }
    assert_eq!(rollbacks(&predicted), before, "both sides step alike");
    criterion.final_summary();
}
