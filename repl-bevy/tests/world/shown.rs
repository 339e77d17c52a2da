//! A client shows its own entity in each frame without jumps, and does not change the fields that are not
//! replicated.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_time::Time;
use repl::Session;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    ClientPlugin, ConnectedClient, Input, NextInput, Owned, OwnedBy, PredictionCounts, Remote, ReplAppExt,
    ServerPlugin, Simulate, Simulated, SimulatedNetwork,
};
use std::time::Duration;

use crate::support::app;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Steer(#[replicated(range = -1..=1)] i8);

/// A position on a line, and a colour that each client chooses for itself.
#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
struct Walker {
    #[replicated(quantize(step = 0.01, range = -1000.0..=1000.0))]
    at: f32,
    colour: u32,
}

impl Interpolate for Walker {
    fn interpolate(&self, next: &Self, fraction: f64) -> Self {
        Self { at: self.at.interpolate(&next.at, fraction), colour: self.colour }
    }
}

fn share(app: &mut App) {
    app.replicate::<Walker>().input::<Steer>().predict::<Walker>().interpolate::<Walker>(4);
    app.add_systems(
        Simulate,
        |mut walkers: Query<(&Input<Steer>, &mut Walker), With<Simulated>>, time: Res<Time>| {
            for (input, mut walker) in &mut walkers {
                let way = input.get().map_or(0.0, |steer| f32::from(steer.0));
                walker.at += way * 3.7 * time.delta_secs();
            }
        },
    );
}

const TICK: Duration = Duration::from_millis(50);
const FRAME: Duration = Duration::from_millis(10);

/// A server with 20 ticks per second, and a client with 100 frames and 60 packets per second.
struct Match {
    server: App,
    client: App,
}

impl Match {
    fn new(setup: impl Fn(&mut App)) -> Self {
        let conditions =
            LinkConditions { latency: Duration::from_millis(60), ..LinkConditions::lan().with_loss(0.03) };
        let network = SimulatedNetwork::new(5, conditions);
        let mut server = app(ServerPlugin::over(network.server()).hz(20.0), TICK, share);
        server.add_observer(|client: On<Add<ConnectedClient>>, mut commands: Commands| {
            commands.spawn((OwnedBy(client.entity), Walker::default()));
        });
        let plugin = ClientPlugin::over(network.client(), Session::for_tests(1)).hz(60.0);
        let client = app(plugin, FRAME, |app| {
            share(app);
            setup(app);
        });
        let mut this = Self { server, client };
        this.run(400, |_| {});
        this
    }

    /// Runs frames of the client, and calls `see` with the position of its walker in each frame.
    fn run(&mut self, frames: usize, mut see: impl FnMut(f32)) {
        for frame in 0..frames {
            if frame % 5 == 0 {
                self.server.update();
            }
            self.client.update();
            let world = self.client.world_mut();
            if let Ok(walker) = world.query_filtered::<&Walker, With<Owned>>().single(world) {
                see(walker.at);
            }
        }
    }

    fn steer(&mut self, way: i8) {
        self.client.world_mut().resource_mut::<NextInput<Steer>>().0 = Steer(way);
    }

    fn at_server(&mut self) -> f32 {
        let world = self.server.world_mut();
        world.query::<&Walker>().single(world).unwrap().at
    }

    fn shove(&mut self, way: f32) {
        let world = self.server.world_mut();
        world.query::<&mut Walker>().single_mut(world).unwrap().at += way;
    }

    fn rollbacks(&self) -> u64 {
        self.client.world().resource::<PredictionCounts>().0.rollbacks
    }

    /// Returns the distance that the walker moves from each frame to the next.
    fn steps(&mut self, frames: usize) -> Vec<f32> {
        let mut seen = Vec::new();
        self.run(frames, |at| seen.push(at));
        seen.windows(2).map(|two| two[1] - two[0]).collect()
    }
}

#[test]
fn the_own_entity_moves_in_each_frame_and_is_not_corrected_for_the_grid_of_the_wire() {
    let mut game = Match::new(|_| {});
    game.steer(1);
    game.run(100, |_| {});
    let before = game.rollbacks();
    // The walker moves 3.7 units per second: 0.037 in a frame, and a little more while the clock runs faster.
    let steps = game.steps(1_000);
    let uneven = steps.iter().filter(|&&step| !(0.025..0.05).contains(&step)).count();
    assert!(uneven < 20, "{uneven} of 999: {steps:?}");
    assert!(game.rollbacks() <= before + 2, "{} in 200 ticks", game.rollbacks() - before);
    game.steer(0);
    let mut end = 0.0;
    game.run(200, |at| end = at);
    assert!((end - game.at_server()).abs() <= 0.0101, "{end} and {}", game.at_server());
}

#[test]
fn after_a_correction_the_prediction_is_right_again_although_it_began_on_the_grid() {
    let mut game = Match::new(|_| {});
    game.steer(1);
    game.run(100, |_| {});
    for _ in 0..10 {
        game.shove(-1.234_567);
        game.run(100, |_| {});
    }
    let before = game.rollbacks();
    assert!(before >= 10, "{before}");
    game.run(500, |_| {});
    assert!(game.rollbacks() <= before + 3, "{} in 100 ticks", game.rollbacks() - before);
}

#[test]
fn a_correction_is_shown_without_a_jump() {
    let largest = |smooth: bool| {
        let mut game = Match::new(|app| {
            if smooth {
                app.smooth(Duration::from_millis(100), 3.0, |walker: &mut Walker| &mut walker.at);
            }
        });
        game.shove(1.0);
        let largest = game.steps(60).into_iter().fold(0.0, f32::max);
        let mut end = 0.0;
        game.run(200, |at| end = at);
        assert!((end - game.at_server()).abs() <= 0.0101, "{end}");
        largest
    };
    assert!(largest(false) > 0.15, "within a tick");
    assert!(largest(true) < 0.1, "{}", largest(true));
}

#[test]
fn what_is_not_sent_of_a_component_is_the_client_s_own() {
    let mut game = Match::new(|app| {
        let paint = |mut walkers: Query<&mut Walker, With<Remote>>| {
            walkers.iter_mut().filter(|walker| walker.colour == 0).for_each(|mut walker| walker.colour = 7);
        };
        app.add_systems(Update, paint);
    });
    game.steer(1);
    game.run(100, |_| {});
    game.shove(2.0);
    for _ in 0..100 {
        game.run(1, |_| {});
        let world = game.client.world_mut();
        let walker = world.query::<&Walker>().single(world).unwrap();
        assert_eq!(walker.colour, 7, "neither prediction nor interpolation has touched it");
    }
}

#[test]
fn a_server_that_stood_still_is_predicted_again_soon() {
    let mut game = Match::new(|_| {});
    let time = |frame| bevy_time::TimeUpdateStrategy::ManualDuration(frame);
    (0..800).for_each(|_| game.client.update());
    game.server.insert_resource(time(Duration::from_secs(8)));
    game.server.update();
    game.server.insert_resource(time(TICK));
    let confirmed = |game: &Match| game.client.world().resource::<PredictionCounts>().0.confirmed;
    game.run(200, |_| {});
    let before = confirmed(&game);
    game.run(100, |_| {});
    assert!(confirmed(&game) >= before + 15, "two seconds later: {}", confirmed(&game) - before);
}
