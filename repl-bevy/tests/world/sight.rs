//! Entities that only some clients see: by combinations and by functions.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{MemberOf, NetEntity, OwnedBy, ReplAppExt, ReplServer, Replicate, SeenBy, Simulation};

use crate::support::{all, clients, see_from};

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Place(#[replicated] [f32; 2]);

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Score(#[replicated] u16);

/// A component that is not replicated.
#[derive(Component, Clone)]
struct Spy {
    team: Group,
    is_unmasked: bool,
}

const RED: Group = Group(1);
const BLUE: Group = Group(2);
const GREEN: Group = Group(3);

/// Returns a simulation whose clients see from places that are 100 units apart. Each is in one group.
fn simulation(setup: impl Fn(&mut App) + 'static) -> Simulation {
    let mut simulation = Simulation::new(3, LinkConditions::lan(), 3, move |app| {
        app.replicate::<Place>().replicate::<Score>();
        setup(app);
    });
    simulation.run(10);
    for (client, group) in clients(&simulation).into_iter().zip([RED, BLUE, GREEN]) {
        simulation.server.world_mut().entity_mut(client).insert(MemberOf(vec![group]));
    }
    for number in 0..3_u8 {
        see_from(&mut simulation, number.into(), f32::from(number) * 100.0);
    }
    simulation
}

fn with_places(app: &mut App) {
    app.relevancy(Area::within(20.0).flat(), |place: &Place| place.0);
}

fn with_spies(app: &mut App) {
    app.relevancy_by(|spy: &Spy, viewer| spy.is_unmasked || viewer.is_in_group(spy.team));
}

/// Returns which clients have a score.
fn seen(simulation: &mut Simulation) -> [bool; 3] {
    simulation.run(8);
    std::array::from_fn(|client| !all::<Score>(&mut simulation.clients[client]).is_empty())
}

#[test]
fn combinations_of_groups_and_places_decide_who_sees_an_entity() {
    let mut simulation = simulation(with_places);
    let flag = simulation.server.world_mut().spawn((Replicate, Score(1), Place([200.0, 0.0]))).id();
    assert_eq!(seen(&mut simulation), [false, false, true]);
    let near = || Relevancy::Located;
    for (relevancy, expected) in [
        (Relevancy::any([RED, BLUE]), [true, true, false]),
        (Relevancy::any([RED.into(), near()]), [true, false, true]),
        (Relevancy::all([GREEN.into(), near()]), [false, false, true]),
        (Relevancy::all([RED.into(), near()]), [false, false, false]),
        (Relevancy::not(RED), [false, true, true]),
        (Relevancy::Always, [true, true, true]),
        (Relevancy::Nobody, [false, false, false]),
    ] {
        simulation.server.world_mut().entity_mut(flag).insert(SeenBy(relevancy.clone()));
        assert_eq!(seen(&mut simulation), expected, "{relevancy:?}");
    }
    simulation.server.world_mut().entity_mut(flag).remove::<SeenBy>();
    assert_eq!(seen(&mut simulation), [false, false, true]);
}

#[test]
fn the_server_says_which_part_of_a_combination_fails() {
    let mut simulation = simulation(with_places);
    let near_and_red = SeenBy(Relevancy::all([RED.into(), Relevancy::Located]));
    let flag = simulation.server.world_mut().spawn((near_and_red, Place([200.0, 0.0]))).id();
    simulation.run(8);
    let clients = clients(&simulation);
    let name = *simulation.server.world().get::<NetEntity>(flag).unwrap();
    let server = simulation.server.world().resource::<ReplServer>();
    assert_eq!(server.why_not_sent(name, clients[0]), Some(NotSent::OutOfSight));
    assert_eq!(server.why_not_sent(name, clients[2]), Some(NotSent::Combination(RED.into())));
}

#[derive(Component)]
struct Teams(Vec<Group>);

#[test]
fn several_groups_receive_a_component() {
    let mut simulation = Simulation::new(3, LinkConditions::lan(), 3, |app: &mut App| {
        app.replicate_to::<Score, Teams>(|teams| Relevancy::any(teams.0.iter().copied()));
    });
    simulation.run(10);
    for (client, group) in clients(&simulation).into_iter().zip([RED, BLUE, GREEN]) {
        simulation.server.world_mut().entity_mut(client).insert(MemberOf(vec![group]));
    }
    let plan = simulation.server.world_mut().spawn((Replicate, Score(1), Teams(vec![RED, GREEN]))).id();
    assert_eq!(seen(&mut simulation), [true, false, true]);
    simulation.server.world_mut().entity_mut(plan).insert(Teams(vec![]));
    assert_eq!(seen(&mut simulation), [false, false, false]);
}

#[test]
fn a_function_of_a_component_and_the_viewer_decides_who_sees_an_entity() {
    let mut simulation = simulation(with_spies);
    let owner = clients(&simulation)[2];
    let spy = Spy { team: RED, is_unmasked: false };
    let spy = simulation.server.world_mut().spawn((Replicate, Score(1), spy)).id();
    assert_eq!(seen(&mut simulation), [true, false, false]);
    let change = |simulation: &mut Simulation, change: &dyn Fn(&mut Spy)| {
        change(&mut simulation.server.world_mut().get_mut::<Spy>(spy).unwrap());
        seen(simulation)
    };
    assert_eq!(change(&mut simulation, &|spy| spy.is_unmasked = true), [true, true, true]);
    assert_eq!(change(&mut simulation, &|spy| spy.is_unmasked = false), [true, false, false]);
    assert_eq!(change(&mut simulation, &|spy| spy.team = BLUE), [false, true, false]);
    simulation.server.world_mut().entity_mut(owner).insert(MemberOf(vec![BLUE]));
    assert_eq!(seen(&mut simulation), [false, true, true], "the groups of a client have changed");
    simulation.server.world_mut().entity_mut(owner).insert(MemberOf(vec![GREEN]));
    simulation.server.world_mut().entity_mut(spy).insert(OwnedBy(owner));
    assert_eq!(seen(&mut simulation), [false, true, true], "an owner sees its entities");
    simulation.server.world_mut().entity_mut(spy).remove::<(Spy, OwnedBy)>();
    assert_eq!(seen(&mut simulation), [true, true, true], "nothing decides about an entity without `Spy`");
    simulation.server.world_mut().entity_mut(spy).insert(Spy { team: GREEN, is_unmasked: false });
    assert_eq!(seen(&mut simulation), [false, false, true]);
    // The entity is replicated again, with another name.
    simulation.server.world_mut().entity_mut(spy).remove::<Replicate>();
    assert_eq!(seen(&mut simulation), [false, false, false]);
    simulation.server.world_mut().entity_mut(spy).insert(Replicate);
    assert_eq!(seen(&mut simulation), [false, false, true]);
}

#[test]
fn a_function_and_places_decide_together_and_a_function_is_a_part_of_combinations() {
    let mut simulation = simulation(|app| {
        with_places(app);
        with_spies(app);
    });
    let spy = Spy { team: RED, is_unmasked: true };
    let spy = simulation.server.world_mut().spawn((Replicate, Score(1), Place([100.0, 0.0]), spy)).id();
    assert_eq!(seen(&mut simulation), [false, true, false]);
    let either = Relevancy::any([Relevancy::Located, Relevancy::Computed]);
    simulation.server.world_mut().entity_mut(spy).insert(SeenBy(either));
    assert_eq!(seen(&mut simulation), [true, true, true]);
    simulation.server.world_mut().get_mut::<Spy>(spy).unwrap().is_unmasked = false;
    assert_eq!(seen(&mut simulation), [true, true, false]);
    // Entities without the component are seen by their place, or by everyone.
    simulation.server.world_mut().entity_mut(spy).remove::<(Spy, SeenBy)>();
    assert_eq!(seen(&mut simulation), [false, true, false]);
    simulation.server.world_mut().entity_mut(spy).remove::<Place>();
    assert_eq!(seen(&mut simulation), [true, true, true]);
}

#[test]
fn with_a_period_a_function_is_called_once_in_some_ticks() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let mut simulation = simulation(move |app| {
        let counted = Arc::clone(&counted);
        app.relevancy_by(move |_: &Spy, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            true
        });
        app.relevancy_period(10);
    });
    simulation.server.world_mut().spawn((Replicate, Score(1), Spy { team: RED, is_unmasked: true }));
    assert_eq!(seen(&mut simulation), [true, true, true]);
    let before = calls.load(Ordering::Relaxed);
    for x in 0..30_u8 {
        see_from(&mut simulation, 0, f32::from(x));
        simulation.run(1);
    }
    assert_eq!(calls.load(Ordering::Relaxed) - before, 9, "three clients, three times");
}

#[test]
#[should_panic(
    expected = "`Relevancy::Computed` in `SeenBy` needs a function: call `relevancy_by` of the app"
)]
fn a_function_that_is_missing_is_named() {
    let mut simulation = simulation(|_| {});
    simulation.server.world_mut().spawn(SeenBy(Relevancy::any([RED.into(), Relevancy::Computed])));
    simulation.run(1);
}

#[test]
#[should_panic(expected = "`Relevancy::Located` in `SeenBy` needs positions: call `relevancy` of the app")]
fn places_that_are_missing_are_named() {
    let mut simulation = simulation(|_| {});
    simulation.server.world_mut().spawn(SeenBy(Relevancy::not(Relevancy::Located)));
    simulation.run(1);
}
