//! Which client sees which entity.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    MemberOf, NetEntity, OwnedBy, ReplAppExt, ReplServer, Replicate, SeenBy, Simulation, Viewpoint, WireForm,
};

use crate::support::{all, clients};

/// A component that does not derive `Replicated`, like a component of another crate.
#[derive(Component, Default, Clone, Copy, Debug, PartialEq)]
struct Place {
    at: [f32; 2],
    scale: f32,
}

#[derive(Replicated, Default)]
struct WirePlace {
    #[replicated(quantize(step = 0.25, range = -500.0..=500.0))]
    at: [f32; 2],
}

impl WireForm<Place> for WirePlace {
    fn of(place: &Place) -> Self {
        Self { at: place.at }
    }

    fn apply_to(&self, place: &mut Place) {
        place.at = self.at;
    }
}

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Score(#[replicated] u16);

fn simulation(clients: usize) -> Simulation {
    let mut simulation = Simulation::new(2, LinkConditions::lan(), clients, |app: &mut App| {
        app.replicate_as::<Place, WirePlace>()
            .replicate::<Score>()
            .relevancy(Area::within(20.0).flat(), |place: &Place| place.at);
    });
    simulation.run(10);
    for (client, at) in clients_at(&mut simulation) {
        let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
        let connection = server.connection_of(client).unwrap();
        server.connection(connection).set_viewpoints(&[at]);
    }
    simulation
}

/// Returns the clients' entities with their positions, which are 100 units apart.
fn clients_at(simulation: &mut Simulation) -> Vec<(Entity, [f32; 3])> {
    clients(simulation)
        .into_iter()
        .zip((0_u8..).map(|number| [f32::from(number) * 100.0, 0.0, 0.0]))
        .collect()
}

fn places(simulation: &mut Simulation) -> Vec<Vec<Place>> {
    simulation.clients.iter_mut().map(all::<Place>).collect()
}

#[test]
fn a_client_sees_what_is_near_and_in_the_form_in_which_it_is_sent() {
    let mut simulation = simulation(2);
    let walker = simulation.server.world_mut().spawn((Replicate, Place { at: [3.1, 0.0], scale: 2.0 })).id();
    simulation.run(5);
    assert_eq!(places(&mut simulation), [vec![Place { at: [3.0, 0.0], scale: 0.0 }], vec![]]);
    let far = simulation.client_entity(1).unwrap();
    let name = *simulation.server.world().get::<NetEntity>(walker).unwrap();
    let server = simulation.server.world().resource::<ReplServer>();
    assert_eq!(server.why_not_sent(name, far), Some(NotSent::OutOfSight));
    simulation.server.world_mut().get_mut::<Place>(walker).unwrap().at = [101.0, 0.0];
    simulation.run(5);
    assert_eq!(places(&mut simulation), [vec![], vec![Place { at: [101.0, 0.0], scale: 0.0 }]]);
}

#[test]
fn what_has_no_place_is_seen_by_all_until_it_gets_one() {
    let mut simulation = simulation(2);
    let score = simulation.server.world_mut().spawn((Replicate, Score(3))).id();
    simulation.run(5);
    let scores = |simulation: &mut Simulation| -> Vec<usize> {
        simulation.clients.iter_mut().map(|client| all::<Score>(client).len()).collect()
    };
    assert_eq!(scores(&mut simulation), [1, 1]);
    simulation.server.world_mut().entity_mut(score).insert(Place { at: [100.0, 1.0], scale: 1.0 });
    simulation.run(5);
    assert_eq!(scores(&mut simulation), [0, 1]);
    simulation.server.world_mut().entity_mut(score).remove::<Place>();
    simulation.run(5);
    assert_eq!(scores(&mut simulation), [1, 1]);
}

#[derive(Component)]
struct Team(u32);

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct TeamPlan(#[replicated] u16);

#[test]
fn a_team_gets_its_plan_again_when_the_team_changes_and_nobody_when_there_is_none() {
    let mut simulation = Simulation::new(2, LinkConditions::lan(), 2, |app: &mut App| {
        app.replicate::<Score>().replicate_to::<TeamPlan, Team>(|team| Group(team.0).into());
    });
    simulation.run(10);
    for (number, client) in (0..).zip(clients(&simulation)) {
        let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
        let connection = server.connection_of(client).unwrap();
        server.connection(connection).join_group(Group(number));
    }
    let plan = simulation.server.world_mut().spawn((Replicate, Score(1), TeamPlan(9))).id();
    let plans = |simulation: &mut Simulation| -> Vec<usize> {
        simulation.run(5);
        assert!(simulation.clients.iter_mut().all(|client| all::<Score>(client).len() == 1));
        simulation.clients.iter_mut().map(|client| all::<TeamPlan>(client).len()).collect()
    };
    assert_eq!(plans(&mut simulation), [0, 0]);
    for (team, expected) in [(0, [1, 0]), (1, [0, 1]), (0, [1, 0])] {
        simulation.server.world_mut().entity_mut(plan).insert(Team(team));
        assert_eq!(plans(&mut simulation), expected);
    }
    simulation.server.world_mut().get_mut::<Team>(plan).unwrap().0 = 1;
    assert_eq!(plans(&mut simulation), [0, 1]);
    simulation.server.world_mut().entity_mut(plan).remove::<Team>();
    assert_eq!(plans(&mut simulation), [0, 0]);
}

#[test]
fn an_entity_is_hidden_from_one_client() {
    let mut simulation = simulation(2);
    let clients = clients_at(&mut simulation);
    let entity = simulation.server.world_mut().spawn((Replicate, Place::default())).id();
    simulation.run(30);
    let show = |simulation: &mut Simulation, visible| {
        let name = *simulation.server.world().get::<NetEntity>(entity).unwrap();
        simulation.server.world_mut().resource_mut::<ReplServer>().set_visible(name, clients[0].0, visible);
        simulation.run(30);
        places(simulation).iter().map(Vec::len).collect::<Vec<_>>()
    };
    let before = places(&mut simulation).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(before[0], 1);
    assert_eq!(show(&mut simulation, false), [0, before[1]]);
    assert_eq!(show(&mut simulation, true), before);
}

#[test]
fn a_group_sees_what_is_in_it() {
    let mut simulation = simulation(2);
    let clients = clients(&simulation);
    simulation.server.world_mut().spawn((SeenBy(Group(7).into()), Score(1)));
    let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
    let connection = server.connection_of(clients[1]).unwrap();
    server.connection(connection).join_group(Group(7));
    simulation.run(5);
    assert_eq!(all::<Score>(&mut simulation.clients[0]), []);
    assert_eq!(all::<Score>(&mut simulation.clients[1]), [Score(1)]);
}

/// Returns the scores that each client sees, sorted.
fn scores(simulation: &mut Simulation) -> Vec<Vec<u16>> {
    let seen = |app: &mut App| {
        let mut scores: Vec<u16> = all::<Score>(app).iter().map(|score| score.0).collect();
        scores.sort_unstable();
        scores
    };
    simulation.clients.iter_mut().map(seen).collect()
}

fn place(x: f32) -> Place {
    Place { at: [x, 0.0], scale: 0.0 }
}

#[test]
fn an_owner_sees_from_its_viewpoints() {
    let mut simulation = simulation(1);
    let owner = simulation.client_entity(0).unwrap();
    let world = simulation.server.world_mut();
    for number in 0..6 {
        world.spawn((Replicate, Score(number), place(f32::from(number) * 100.0 - 200.0)));
    }
    let avatar = world.spawn((OwnedBy(owner), Viewpoint, place(-100.0))).id();
    let camera = world.spawn((OwnedBy(owner), Viewpoint, place(300.0))).id();
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[1, 5]]);
    simulation.server.world_mut().get_mut::<Place>(avatar).unwrap().at = [-200.0, 0.0];
    simulation.server.world_mut().despawn(camera);
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[0]]);
    simulation.server.world_mut().entity_mut(avatar).remove::<Viewpoint>();
    simulation.server.world_mut().get_mut::<Place>(avatar).unwrap().at = [100.0, 0.0];
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[0]], "it sees from where the last viewpoint was");
}

#[test]
fn a_client_is_a_member_of_the_groups_on_its_entity() {
    let mut simulation = simulation(1);
    let client = simulation.client_entity(0).unwrap();
    let world = simulation.server.world_mut();
    for group in 1_u16..4 {
        world.spawn((SeenBy(Group(group.into()).into()), Score(group)));
    }
    world.entity_mut(client).insert(MemberOf(vec![Group(1), Group(2)]));
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[1, 2]]);
    simulation.server.world_mut().entity_mut(client).insert(MemberOf(vec![Group(3), Group(2)]));
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[2, 3]]);
    simulation.server.world_mut().entity_mut(client).remove::<MemberOf>();
    simulation.run(8);
    assert_eq!(scores(&mut simulation), [[0_u16; 0]]);
}
