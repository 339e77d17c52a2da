//! Reported: <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/pull/4128>, and issues 2549
//! and 2855 there.
//!
//! A quantised position drifts away, is wrong from the first synchronisation on, or jitters on clients while
//! the object rests or moves very slowly. Users expect that clients are always near, that nothing is sent at
//! rest, and that a value which did not move is not shown as moving.

use repl::prelude::*;

use crate::support::Room;

#[derive(Replicated, Default)]
struct Crate {
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0), notify = on_place)]
    place: [f32; 3],
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
    far: f64,
    #[replicated(quantize(smallest_three = 12))]
    turn: [f32; 4],
    #[replicated(quantize(unit_vector = 12))]
    up: [f32; 3],
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0, exact))]
    exact: f32,
    moves: u32,
}

impl Crate {
    fn on_place(&mut self) {
        self.moves += 1;
    }
}

fn upright() -> Crate {
    Crate { turn: [0.0, 0.0, 0.0, 1.0], up: [0.0, 0.0, 1.0], ..Crate::default() }
}

fn resting() -> (Room, ObjectRef<Crate>) {
    Room::furnished(
        ServerConfig::default(),
        |client| _ = client.register::<Crate>(),
        1,
        |server| {
            server.register::<Crate>();
            server.spawn(upright())
        },
    )
}

/// Runs `ticks` ticks, in each of which `change` changes the object. Returns the bytes of all packets
/// together.
fn run(room: &mut Room, ticks: u32, mut change: impl FnMut(&mut Room, u32)) -> usize {
    (0..ticks)
        .map(|tick| {
            change(room, tick);
            room.step()
        })
        .sum()
}

/// A value is sent in whole steps. A client's copy may differ from the value by three quarters of a step
/// before the next step is sent, or by half a step if the property is `exact`. Far from the origin, the
/// rounding of `f32` is added to this.
#[test]
fn a_creeping_object_is_never_more_than_three_quarters_of_a_step_away() {
    let (mut room, object) = resting();
    for tick in 0..2_000 {
        let x = tick as f32 * 0.0007;
        let live = &mut room.server[object];
        live.place = [x, -x, 4_000.0 + x];
        live.far = 4_095.0 + f64::from(x) / 10.0;
        live.exact = x;
        room.step();
        let (copy, live) = (room.client().get(object).unwrap(), &room.server[object]);
        for (copy, live) in copy.place.iter().zip(live.place) {
            let rounding = live.abs() * f32::EPSILON;
            assert!((copy - live).abs() <= 0.0075 + rounding, "{copy} of {live} at {tick}");
        }
        assert!((copy.far - live.far).abs() <= 0.0075 + 1e-9, "at {tick}");
        assert!((copy.exact - live.exact).abs() <= 0.005 + f32::EPSILON, "at {tick}");
    }
}

#[test]
fn a_value_that_drifts_by_less_than_a_step_in_a_second_arrives() {
    let (mut room, object) = resting();
    let mut shown = Vec::new();
    for tick in 0..1_200_u32 {
        room.server[object].place[0] = tick as f32 * 0.0001;
        room.step();
        let copy = room.client().get(object).unwrap().place[0];
        assert!((copy - room.server[object].place[0]).abs() <= 0.0075 + 1e-6, "at {tick}");
        if shown.last() != Some(&copy) {
            shown.push(copy);
        }
    }
    let steps: Vec<f32> = (0..=12).map(|step| step as f32 * 0.01).collect();
    let is_each_step = shown.iter().zip(&steps).all(|(shown, step)| (shown - step).abs() < 1e-6);
    assert!(is_each_step && shown.len() >= steps.len() - 1, "{shown:?}");
}

#[test]
fn an_object_at_rest_costs_nothing_and_does_not_move() {
    let (mut room, object) = resting();
    room.server[object].place = [1.0 / 3.0, 0.005, 4_000.123];
    room.settle();
    let moves = room.client().get(object).unwrap().moves;
    // The value is written in each tick, with the rounding noise of a physics engine, which is much smaller
    // than a step.
    let bytes = run(&mut room, 600, |room, tick| {
        let noise = if tick % 2 == 0 { 0.000_01 } else { -0.000_01 };
        room.server[object].place[0] = 1.0 / 3.0 + noise;
    });
    assert_eq!(room.client().get(object).unwrap().moves, moves);
    assert!(bytes < 2_000, "{bytes} bytes in ten seconds of rest");
}

/// With noise, a value exactly between two steps jitters if each tick rounds it anew.
#[test]
fn noise_between_two_steps_does_not_jitter() {
    let (mut room, object) = resting();
    room.server[object].place[0] = 0.005;
    room.settle();
    let moves = room.client().get(object).unwrap().moves;
    let bytes = run(&mut room, 200, |room, tick| {
        let noise = if tick % 2 == 0 { 0.000_01 } else { -0.000_01 };
        room.server[object].place = [0.005 + noise, 0.005 + 200.0 * noise, -0.005 - 200.0 * noise];
    });
    let jitter = room.client().get(object).unwrap().moves - moves;
    assert!(jitter <= 1, "the client saw {jitter} moves of an object that rests");
    assert!(bytes < 1_000, "{bytes} bytes");
}

#[test]
fn noise_around_any_rotation_does_not_jitter() {
    let (mut room, object) = resting();
    let half = 0.5_f32.sqrt();
    // In the first two rotations, several components of the quaternion are equally large.
    for (turn, up) in [
        ([half, 0.0, 0.0, half], [0.0, 0.0, 1.0]),
        ([0.5; 4], [0.6, 0.0, -0.8]),
        ([0.1, 0.7, 0.1, 0.7], [1.0, 0.0, 0.0]),
    ] {
        (room.server[object].turn, room.server[object].up) = (turn, up);
        room.settle();
        let copy = room.client().get(object).unwrap();
        let before = (copy.turn, copy.up);
        run(&mut room, 60, |room, tick| {
            let noise = [2e-5, -2e-5, 1e-5][tick as usize % 3];
            let live = &mut room.server[object];
            live.turn = turn.map(|part| part + noise);
            live.up = up.map(|part| part - noise);
        });
        let copy = room.client().get(object).unwrap();
        assert_eq!((copy.turn, copy.up), before);
    }
}

#[test]
fn a_late_joiner_and_an_early_one_show_the_same_place() {
    let (mut room, object) = resting();
    run(&mut room, 500, |room, tick| {
        let live = &mut room.server[object];
        live.place = [tick as f32 * 0.003_3, 17.777_7, -3.3];
        live.turn = [0.5, 0.5, -0.5, 0.5].map(|part: f32| part + tick as f32 * 1e-7);
        live.up = [0.6, 0.0, 0.8].map(|part: f32| part - tick as f32 * 1e-7);
    });
    // The object rests where its value rounds to another step than the one that was sent, but has not left
    // the margin around the sent step.
    room.server[object].place[0] += 0.001;
    room.settle();
    room.enter();
    room.settle();
    let copies = [0, 1].map(|guest| room.guests[guest].client.get(object).unwrap());
    let values = copies.map(|copy| (copy.place, copy.turn, copy.up, copy.far, copy.exact));
    assert_eq!(values[0], values[1]);
}

#[test]
fn what_is_lost_comes_again_as_it_was() {
    let (mut room, object) = resting();
    room.enter();
    room.settle();
    room.server[object].place[0] = 0.013;
    // The packets of this tick reach only the second client.
    let packets = room.tick();
    room.deliver(1, &packets[1]);
    room.server[object].place[0] = 0.017;
    room.settle();
    let places = [0, 1].map(|guest| room.guests[guest].client.get(object).unwrap().place[0]);
    assert_eq!(places, [0.01, 0.01]);
}

/// A physics engine may flip the sign of a quaternion. Both quaternions are the same rotation.
#[test]
fn a_quaternion_that_flips_its_sign_is_the_same_rotation() {
    let (mut room, object) = resting();
    room.server[object].turn = [0.1, 0.2, 0.3, (1.0_f32 - 0.14).sqrt()];
    room.settle();
    let shown = room.client().get(object).unwrap().turn;
    let bytes = run(&mut room, 60, |room, _| {
        let live = &mut room.server[object];
        live.turn = live.turn.map(|part| -part);
    });
    assert_eq!(room.client().get(object).unwrap().turn, shown);
    assert!(bytes < 1_000, "{bytes} bytes for a rotation that rests");
}

#[test]
fn a_new_object_has_the_nearest_steps() {
    let (mut room, _) = resting();
    let object = room.server.spawn(Crate { place: [0.006, -0.006, 0.004], ..upright() });
    room.settle();
    assert_eq!(room.client().get(object).unwrap().place, [0.01, -0.01, 0.0]);
}

#[test]
fn an_object_that_takes_the_row_of_a_removed_one_is_compared_with_its_own_values() {
    let (mut room, first) = resting();
    let last = room.server.spawn(upright());
    (room.server[first].place[0], room.server[last].place[0]) = (1.0, 2.0);
    room.settle();
    room.server.despawn(first);
    room.server[last].place[0] = 1.0;
    room.settle();
    assert_eq!(room.client().get(last).unwrap().place[0], 1.0);
}

#[test]
fn an_object_that_lives_outside_the_server_rests_too() {
    let mut room = Room::new(ServerConfig::default(), |client| _ = client.register::<Crate>());
    room.server.register_external::<Crate>();
    let mut live = Crate { place: [0.006, 0.0, 0.0], ..upright() };
    let object = room.server.external().spawn(&live);
    room.enter();
    room.settle();
    let moves = room.client().get(object).unwrap().moves;
    assert_eq!(room.client().get(object).unwrap().place[0], 0.01, "a new object has the nearest steps");
    run(&mut room, 200, |room, tick| {
        live.place[0] = 0.005 + if tick % 2 == 0 { 0.002 } else { -0.002 };
        room.server.external::<Crate>().compare(object, &live).unwrap();
    });
    let copy = room.client().get(object).unwrap();
    assert_eq!((copy.moves, copy.place[0]), (moves, 0.01));
}
