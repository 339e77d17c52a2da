//! Inputs of ticks, over links of the simulator.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, LinkStats, Loss};
use repl::{InputError, TickInput};

use crate::game::{Body, Game, STEP, link, steer};

#[derive(Replicated, Default)]
struct Car {
    #[replicated]
    x: u32,
}

const SECOND: Duration = Duration::from_secs(1);

/// The limits of a test over a link.
struct Limits {
    /// The share of the ticks that begin without their input, in percent.
    missing_percent: f64,
    /// By how many ticks the mean lead of the inputs may exceed the round trip plus the jitter.
    ahead_ticks: f64,
}

/// Plays ten minutes. Asserts that inputs arrive in time, are not made earlier than necessary, and are the
/// inputs that the player made.
#[track_caller]
fn plays(round_trip_ms: u64, jitter_ms: u64, loss: Loss, limits: &Limits) -> Game {
    let mut game = Game::new(9_000 + round_trip_ms, link(round_trip_ms, jitter_ms, loss));
    game.run(2 * SECOND);
    // The input clock starts when the round trip is known, and runs evenly two seconds later.
    while game.ahead.is_empty() {
        game.run(SECOND);
    }
    game.run(2 * SECOND);
    game.speeds.clear();
    game.run(600 * SECOND);
    let (slowest, fastest) = game
        .speeds
        .iter()
        .fold((1.0_f64, 1.0_f64), |(slowest, fastest), speed| (slowest.min(*speed), fastest.max(*speed)));
    assert!(
        slowest >= 0.969_999 && fastest <= 1.030_001,
        "the clock runs at {slowest} to {fastest} of its speed"
    );
    let counts = game.counts();
    let missing = 100.0 * counts.missing as f64 / (counts.arrived + counts.missing) as f64;
    assert!(missing <= limits.missing_percent, "{missing} %: {counts:?}");
    assert!(counts.late <= counts.missing && counts.far == 0, "{counts:?}");
    let ahead = game.ahead.iter().sum::<f64>() / game.ahead.len() as f64;
    let most = (round_trip_ms + jitter_ms) as f64 * 0.06 + limits.ahead_ticks;
    assert!(ahead <= most, "{ahead} ticks ahead, and {most} are allowed");
    assert!(game.made.is_sorted_by(|one, next| one < next), "no tick comes twice");
    let stats = game.mine.stats();
    // A tick that begins without its input causes at most one rollback, also if several such ticks follow one
    // another.
    assert!(stats.rollbacks <= counts.missing + 1, "{stats:?} {counts:?}");
    assert!(game.most_steps as f64 <= most + 12.0, "{} steps at once", game.most_steps);
    let mut right = 0;
    for (tick, input) in &game.used {
        if let TickInput::Made(input) = input {
            assert_eq!(*input, steer(*tick));
            right += 1;
        }
    }
    // The inputs that have arrived but were not used are for later ticks.
    assert!((0..30).contains(&(counts.arrived - right)), "what has arrived in time was used");
    game
}

/// Returns how many bytes and packets a player sends in a minute. In each tick an object changes, so the
/// player sends an ack.
fn sent_by(conditions: LinkConditions, prepare: impl FnOnce(&mut Game)) -> (f64, f64) {
    let mut game = Game::new(77, conditions);
    game.client.register::<Car>();
    let car = game.server.spawn(Car::default());
    prepare(&mut game);
    let mut before = LinkStats::default();
    for step in 0..3_900 {
        game.server.get_mut(car).expect("it is there").x = step;
        game.run(STEP);
        if step == 300 {
            before = game.network.stats(game.links.1);
        }
    }
    let sent = game.network.stats(game.links.1);
    ((sent.bytes_sent - before.bytes_sent) as f64, (sent.sent - before.sent) as f64)
}

/// Asserts that the inputs need at most 60 % of the bytes that messages with three copies of each input need.
/// The other content of the packets is not counted.
#[track_caller]
fn costs_little(conditions: LinkConditions) {
    let costs = |conditions, makes_inputs: bool| {
        let silent = sent_by(conditions, |game| game.makes_inputs = false);
        let (bytes, packets) = sent_by(conditions, |game| {
            (game.makes_inputs, game.sends_copies) = (makes_inputs, !makes_inputs);
        });
        bytes - packets * silent.0 / silent.1
    };
    let inputs = costs(conditions, true);
    // Over a shorter link, an ack would arrive before all three copies are sent.
    let latency = conditions.latency.max(Duration::from_millis(40));
    let copies = costs(LinkConditions { latency, ..conditions }, false);
    assert!(inputs <= 0.6 * copies, "{inputs} of {copies}");
}

#[test]
fn r27_inputs_come_in_time_over_a_good_link() {
    plays(20, 0, Loss::None, &Limits { missing_percent: 0.05, ahead_ticks: 3.0 });
    costs_little(link(20, 0, Loss::None));
}

#[test]
fn r27_inputs_come_in_time_over_a_usual_link() {
    let loss = Loss::Independent(0.02);
    plays(80, 20, loss, &Limits { missing_percent: 0.05, ahead_ticks: 3.0 });
    costs_little(link(80, 20, loss));
}

#[test]
fn r27_inputs_come_in_time_over_a_long_link() {
    let loss = Loss::Independent(0.05);
    plays(200, 40, loss, &Limits { missing_percent: 0.1, ahead_ticks: 3.0 });
    costs_little(link(200, 40, loss));
}

#[test]
fn r27_most_inputs_come_in_time_over_a_bad_link() {
    plays(300, 100, Loss::bursts(0.10, 2.0), &Limits { missing_percent: 1.0, ahead_ticks: 6.0 });
}

/// Disturbs a game. Asserts that three seconds later all inputs arrive in time again, that no tick got two
/// inputs, and that few inputs were made in one frame.
#[track_caller]
fn is_soon_in_step(disturb: impl FnOnce(&mut Game)) {
    let mut game = Game::new(4_000, link(40, 5, Loss::Independent(0.01)));
    game.run(25 * SECOND);
    let before = game.made.len();
    disturb(&mut game);
    game.run(3 * SECOND);
    let (missing, made) = (game.counts().missing, game.made.len());
    game.run(10 * SECOND);
    assert!(game.counts().missing <= missing + 2, "of 600 inputs {} miss", game.counts().missing - missing);
    assert!((594..=606).contains(&(game.made.len() - made)), "{} inputs in 10 s", game.made.len() - made);
    let stats = game.stats();
    let link = game.network.conditions(game.links.0);
    let most = (2 * link.latency + link.jitter).as_secs_f64() * 60.0 + 4.0;
    assert!(stats.ahead_ticks.is_some_and(|ahead| ahead <= most), "{stats:?}");
    assert_eq!((game.mine.tick(), game.mine.is_stopped()), (game.made.last().copied(), false));
    let ticks = game.made.get(before..).unwrap_or_default();
    let is_restart = |&(before, next): &(u64, u64)| next < before;
    let pairs = || ticks.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
    assert!(pairs().filter(is_restart).count() <= game.restarts, "no tick comes twice");
    assert!(game.most_at_once <= 15, "{} inputs at once", game.most_at_once);
}

#[test]
fn r27_inputs_follow_a_link_that_becomes_longer_and_shorter() {
    is_soon_in_step(|game| game.set_link(link(200, 20, Loss::Independent(0.01))));
    is_soon_in_step(|game| {
        game.set_link(link(200, 20, Loss::Independent(0.01)));
        game.run(20 * SECOND);
        game.set_link(link(40, 5, Loss::Independent(0.01)));
    });
}

#[test]
fn r27_inputs_are_in_step_again_after_one_side_was_frozen() {
    is_soon_in_step(|game| {
        game.client_frames.next += 2 * SECOND;
        game.run(2 * SECOND);
    });
    for seconds in [2, 8] {
        is_soon_in_step(|game| {
            game.server_frames.next += seconds * SECOND;
            game.run(seconds * SECOND);
        });
    }
}

#[test]
fn r27_inputs_follow_a_server_that_is_slow_for_some_time() {
    is_soon_in_step(|game| {
        game.server_frames.step *= 2;
        game.run(3 * SECOND);
        game.server_frames.step /= 2;
    });
}

#[test]
fn r27_inputs_begin_anew_after_a_restart() {
    is_soon_in_step(|game| {
        game.restart_server();
        // In this time the player notices the restart.
        game.run(2 * SECOND);
    });
}

#[test]
fn r27_a_player_with_slow_frames_makes_several_inputs_at_once() {
    let mut game = Game::new(31, link(60, 10, Loss::Independent(0.02)));
    game.client_frames.step *= 3;
    game.run(60 * SECOND);
    let (before, made) = (game.counts(), game.made.len());
    game.run(60 * SECOND);
    let counts = game.counts();
    assert!(counts.missing - before.missing <= 10, "{counts:?}");
    assert!((3_590..=3_610).contains(&(game.made.len() - made)));
    assert!(game.stats().copies <= 4, "the rate of the frames is no loss: {:?}", game.stats());
}

#[test]
fn r27_a_player_may_simulate_more_often_than_he_is_sent_objects() {
    let mut game = Game::new(32, link(60, 10, Loss::None));
    game.client.register::<Car>();
    game.server.register::<Car>().class::<Car>().set_update_rate(UpdateRate::per_second(20.0));
    let car = game.server.spawn(Car::default());
    let mut missing = 0;
    for step in 0..1_800 {
        game.server.get_mut(car).expect("it is there").x = step;
        game.run(STEP);
        if step == 300 {
            missing = game.counts().missing;
        }
    }
    assert_eq!(game.counts().missing, missing);
    assert!(game.client.get(car).is_some_and(|car| car.x > 1_780));
}

#[test]
fn r27_inputs_follow_a_link_that_becomes_longer_than_inputs_are_kept() {
    let mut game = Game::new(33, link(40, 0, Loss::None));
    game.run(20 * SECOND);
    game.set_link(link(2_500, 0, Loss::None));
    game.run(30 * SECOND);
    let missing = game.counts().missing;
    game.run(10 * SECOND);
    assert!(game.counts().missing <= missing + 5, "{} of 600", game.counts().missing - missing);
}

/// The pose of a head and two hands, which changes in each tick.
type Pose = [u32; 21];

#[test]
fn r27_large_inputs_come_again_after_a_frame_that_took_long() {
    for hitch_ms in [0, 100, 300, 1_000] {
        let (mut server, session) = (Server::new(ServerConfig::default()), Session::for_tests(hitch_ms));
        let mut client = Client::new(ClientConfig::default(), session);
        server.register_inputs::<Pose>();
        client.register_inputs::<Pose>();
        let id = server.connect(Duration::ZERO);
        let (mut missing, mut client_frame) = (0, Duration::ZERO);
        for frame in 0..1_200_u32 {
            let now = STEP * frame;
            if now >= client_frame {
                client_frame =
                    now + if frame == 400 { Duration::from_millis(hitch_ms) } else { Duration::ZERO };
                while let Some(packet) = server.poll_transmit(id) {
                    client.receive(now, packet).expect("a packet of the server");
                }
                for tick in client.inputs::<Pose>().due(now) {
                    assert!(client.inputs::<Pose>().set(tick, &[tick as u32; 21]).is_ok());
                }
                client.tick(now);
                while let Some(packet) = client.poll_transmit() {
                    server.receive(id, now, packet);
                }
            }
            server.tick(now);
            if frame == 900 {
                missing = server.connection(id).input_counts::<Pose>().missing;
            }
        }
        let counts = server.connection(id).input_counts::<Pose>();
        assert_eq!(counts.missing, missing, "after a frame of {hitch_ms} ms: {counts:?}");
        assert!(counts.arrived > 900, "{counts:?}");
    }
}

#[test]
fn an_input_that_cannot_be_sent_or_is_not_due_is_not_set() {
    let mut game = Game::new(34, link(40, 0, Loss::None));
    game.client.register_inputs::<Vec<u8>>();
    game.server.register_inputs::<Vec<u8>>();
    game.run(3 * SECOND);
    let due = game.client.inputs::<Vec<u8>>().due(game.now);
    let tick = due.last().expect("no input of this type was made");
    let mut inputs = game.client.inputs::<Vec<u8>>();
    let too_large = inputs.set(tick, &vec![0; 1_030]);
    assert!(matches!(too_large, Err(InputError::Unsent(SendError::TooLarge { .. }))), "{too_large:?}");
    let too_long = inputs.set(tick, &vec![0; 70_000]);
    assert!(matches!(too_long, Err(InputError::Unsent(SendError::Refused(_)))), "{too_long:?}");
    assert_eq!(inputs.set(tick + 5, &vec![1]), Err(InputError::NotDue));
    assert_eq!(inputs.set(tick, &vec![2]), Ok(&vec![2]));
    assert_eq!(inputs.set(tick, &vec![3]), Err(InputError::HasInput));
    assert_eq!((inputs.get(tick), inputs.or_last(tick + 9)), (Some(vec![2]), Some(vec![2])));
}

#[test]
#[should_panic(expected = "the inputs `u8` must be registered before the first `tick`")]
fn inputs_are_registered_before_the_first_tick() {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.tick(Duration::ZERO);
    client.register_inputs::<u8>();
}

#[test]
fn the_inputs_of_a_host_are_those_of_its_ticks() {
    let mut server = Server::new(ServerConfig::default());
    server.register_inputs::<u8>();
    let id = server.connect_host(HostOptions::default());
    let mut host = server.host().expect("it is there");
    assert_eq!(host.due_inputs::<u8>(), 1..2);
    let set = [(1, 10), (1, 11), (2, 20), (300, 1), (1_025, 2)]
        .map(|(tick, input)| host.set_input::<u8>(tick, &input));
    let (has_input, not_due) = (Err(InputError::HasInput), Err(InputError::NotDue));
    assert_eq!(set, [Ok(()), has_input, Ok(()), not_due.clone(), not_due]);
    assert!(host.due_inputs::<u8>().is_empty());
    server.tick(Duration::ZERO);
    server.tick(STEP);
    server.tick(STEP * 2);
    let input = |server: &mut Server, tick| server.connection(id).input::<u8>(tick);
    assert_eq!((input(&mut server, 1), input(&mut server, 2)), (TickInput::Made(10), TickInput::Made(20)));
    let missing = input(&mut server, 3);
    assert_eq!(missing, TickInput::Missing { last: 20, ticks_ago: 1 });
    assert_eq!(
        (missing.or_last_within(0), missing.or_last_within(1), missing.or_last()),
        (None, Some(20), Some(20))
    );
    assert_eq!(server.connection(id).input_counts::<u8>().far, 0);
    server.connection(id).disconnect();
    assert_eq!(input(&mut server, 2), TickInput::None, "nothing is left of a session that has ended");
}

#[test]
fn the_inputs_of_a_host_are_there_however_late_they_were_registered() {
    let mut server = Server::new(ServerConfig::default());
    (0..5_000).for_each(|tick| server.tick(STEP * tick));
    server.register_inputs::<u8>();
    let id = server.connect_host(HostOptions::default());
    let tick = server.next_tick();
    let mut host = server.host().expect("it is there");
    assert_eq!((host.due_inputs::<u8>(), host.set_input::<u8>(tick, &7)), (tick..tick + 1, Ok(())));
    assert_eq!(server.connection(id).input::<u8>(tick), TickInput::Made(7));
}

#[derive(NetSerialize, Clone, Debug, Default)]
struct Orders {
    squad: FastArray<u16>,
    path: OrderedFastArray<u16>,
}

#[test]
fn inputs_with_fast_arrays_are_sent_whole() {
    let mut server = Server::new(ServerConfig::default());
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(7));
    server.register_inputs::<Orders>();
    client.register_inputs::<Orders>();
    let id = server.connect(Duration::ZERO);
    let orders = |tick: u64| -> [Vec<u16>; 2] {
        let number = tick as u16;
        [(0..number % 6).collect(), (0..number % 4).map(|at| at * number).collect()]
    };
    let mut compared = 0;
    for frame in 0..200 {
        let now = STEP * frame;
        for tick in client.inputs::<Orders>().due(now) {
            let [squad, path] = orders(tick);
            let orders = Orders { squad: squad.into_iter().collect(), path: path.into_iter().collect() };
            client.inputs().set(tick, &orders).expect("it has a form");
        }
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            server.receive(id, now, packet);
        }
        let tick = server.next_tick();
        if let TickInput::Made(made) = server.connection(id).input::<Orders>(tick) {
            let (squad, path) = (made.squad.iter().copied(), made.path.iter().copied());
            assert_eq!([squad.collect(), path.collect::<Vec<_>>()], orders(tick), "tick {tick}");
            compared += 1;
        }
        server.tick(now);
        while let Some(packet) = server.poll_transmit(id) {
            client.receive(now, packet).expect("it is the server's");
        }
    }
    assert!(compared > 120, "{compared}");
}

/// Plays over a usual link, and returns the game when the prediction agrees with the server.
fn in_step(seed: u64) -> Game {
    let mut game = Game::new(seed, link(80, 10, Loss::Independent(0.01)));
    game.run(10 * SECOND);
    assert!(game.is_right(), "{:?}", game.mine.stats());
    game
}

#[test]
fn a_shove_is_corrected_after_the_round_trip() {
    let mut game = in_step(41);
    game.shove = |tick, body| {
        if tick.is_multiple_of(67) {
            body.velocity = [20.0, -5.0];
        }
    };
    let before = game.mine.stats();
    game.run(60 * SECOND);
    let stats = game.mine.stats();
    let (rollbacks, steps) =
        (stats.rollbacks - before.rollbacks, stats.replayed_steps - before.replayed_steps);
    assert!((50..=62).contains(&rollbacks), "one for each of 54 shoves: {rollbacks}");
    assert!(steps <= rollbacks * 14, "{steps} steps");
    game.shove = |_, _| ();
    game.run(SECOND);
    assert!(game.is_right());
}

#[test]
fn a_player_who_dies_predicts_nothing_and_goes_on_with_his_next_object() {
    let mut game = in_step(42);
    let pawn = game.pawn.take().expect("he has one");
    game.server.despawn(pawn);
    game.run(2 * SECOND);
    assert!(game.mine.is_stopped(), "nothing is confirmed any more");
    game.respawn(Body { position: [500.0, 0.0], velocity: [0.0; 2] });
    game.run(SECOND);
    assert!(game.is_right() && !game.mine.is_stopped());
    assert!(game.mine.state().is_some_and(|body| body.position[0] > 400.0));
}

#[test]
fn a_player_who_loses_his_object_for_a_while_predicts_it_again() {
    let mut game = in_step(43);
    let pawn = game.pawn.expect("he has one");
    game.server.object(pawn).set_owner(None);
    game.run(2 * SECOND);
    assert!(game.mine.is_stopped());
    game.server.object(pawn).set_owner(game.id);
    game.run(SECOND);
    assert!(game.is_right() && !game.mine.is_stopped());
}

#[test]
fn an_object_out_of_sight_is_predicted_again_when_it_is_back() {
    let mut game = in_step(44);
    let (pawn, id) = (game.pawn.expect("he has one"), game.id.expect("he is there"));
    game.server.object(pawn).set_visible(id, false);
    game.run(2 * SECOND);
    assert!(game.mine.is_stopped());
    game.server.object(pawn).set_visible(id, true);
    game.run(SECOND);
    assert!(game.is_right() && !game.mine.is_stopped());
}
