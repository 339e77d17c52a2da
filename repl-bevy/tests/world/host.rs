//! The player in the process of the server.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_time::TimeUpdateStrategy;
use repl::Session;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    ClientPlugin, ConnectedClient, FromClient, FromServer, HostPlayer, Input, MakeInput, NextInput, Owned,
    OwnedBy, Recipients, ReplAppExt, ServerPlugin, Simulate, Simulated, SimulatedNetwork, Simulation,
    ToClients, ToServer,
};

use crate::support::all;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Steer(#[replicated(range = -1..=1)] i8);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat(#[replicated(max_len = 20)] String);

#[derive(Component, Replicated, Clone, Debug, Default, PartialEq)]
struct Position(#[replicated] i32);

#[derive(Resource, Default)]
struct Heard(Vec<String>);

fn share(app: &mut App) {
    app.replicate::<Position>().predict::<Position>().input::<Steer>().message::<Chat>(Channel::Ordered);
    app.init_resource::<Heard>();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Simulation::TICK));
    app.add_systems(Simulate, |mut walkers: Query<(&Input<Steer>, &mut Position), With<Simulated>>| {
        for (input, mut position) in &mut walkers {
            position.0 += input.get().map_or(0, |steer| i32::from(steer.0));
        }
    });
    app.add_systems(Update, |mut said: MessageReader<FromServer<Chat>>, mut heard: ResMut<Heard>| {
        heard.0.extend(said.read().map(|chat| chat.0.0.clone()));
    });
}

/// Spawns a walker for each client that connects.
fn welcome(added: On<Add<ConnectedClient>>, mut commands: Commands) {
    commands.spawn((OwnedBy(added.entity), Position(0)));
}

#[test]
fn a_host_plays_as_a_client_does_and_clients_see_it() {
    let network = SimulatedNetwork::new(3, LinkConditions::lan());
    let mut host = App::new();
    host.add_plugins(ServerPlugin::over(network.server()).hz(30.0).host()).add_observer(welcome);
    share(&mut host);
    let pass_on = |mut said: MessageReader<FromClient<Chat>>, mut all: MessageWriter<ToClients<Chat>>| {
        all.write_batch(
            said.read().map(|from| ToClients { to: Recipients::All, message: from.message.clone() }),
        );
    };
    host.add_systems(Update, pass_on);
    let mut client = App::new();
    client.add_plugins(ClientPlugin::over(network.client(), Session::for_tests(1)).hz(30.0));
    share(&mut client);
    let run = |host: &mut App, client: &mut App, ticks: usize| {
        for _ in 0..ticks {
            host.update();
            client.update();
        }
    };
    run(&mut host, &mut client, 60);
    assert_eq!(all::<Position>(&mut host).len(), 2);
    let world = host.world_mut();
    let own = world.query_filtered::<(&Position, &OwnedBy), With<Owned>>().single(world).unwrap();
    assert!(world.get::<HostPlayer>(own.1.0).is_some());
    host.world_mut().resource_mut::<NextInput<Steer>>().0 = Steer(1);
    client.world_mut().resource_mut::<NextInput<Steer>>().0 = Steer(-1);
    host.world_mut().write_message(ToServer(Chat("from the host".to_owned())));
    client.world_mut().write_message(ToServer(Chat("from a client".to_owned())));
    run(&mut host, &mut client, 30);
    for app in [&mut host, &mut client] {
        app.world_mut().resource_mut::<NextInput<Steer>>().0 = Steer(0);
    }
    run(&mut host, &mut client, 30);
    let at = |app: &mut App| {
        let mut at: Vec<i32> = all::<Position>(app).into_iter().map(|position| position.0).collect();
        at.sort_unstable();
        at
    };
    let [left, right] = at(&mut host)[..] else { panic!("two players") };
    assert!(left < -20 && right == 30, "{left} and {right}");
    assert_eq!(at(&mut client), [left, right]);
    for app in [&host, &client] {
        let mut heard = app.world().resource::<Heard>().0.clone();
        heard.sort_unstable();
        assert_eq!(heard, ["from a client", "from the host"]);
    }
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Look(#[replicated] u8);

#[test]
fn a_host_makes_its_inputs_once_in_a_tick_and_they_count_in_it() {
    #[derive(Resource, Default)]
    struct Made(u8);
    let network = SimulatedNetwork::new(3, LinkConditions::lan());
    let mut host = App::new();
    host.add_plugins(ServerPlugin::over(network.server()).hz(30.0).host()).add_observer(welcome);
    share(&mut host);
    host.input::<Look>().init_resource::<Made>();
    let make =
        |mut made: ResMut<Made>, mut steer: ResMut<NextInput<Steer>>, mut look: ResMut<NextInput<Look>>| {
            made.0 += 1;
            (steer.0, look.0) = (Steer(1), Look(made.0));
        };
    host.add_systems(MakeInput, make);
    host.add_systems(Simulate, |inputs: Query<(&Input<Steer>, &Input<Look>)>, made: Res<Made>| {
        for (steer, look) in inputs {
            assert_eq!((steer.get(), look.get()), (Some(&Steer(1)), Some(&Look(made.0))));
        }
    });
    (0..60).for_each(|_| host.update());
    assert!((50..=60).contains(&host.world().resource::<Made>().0));
}
