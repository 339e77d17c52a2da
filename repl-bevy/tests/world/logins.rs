//! A client shows who it is before it is let in.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{Login, Session};
use repl_bevy::{
    ClientPlugin, ConnectedClient, LeftServer, LoginAsked, ReplServer, ServerPlugin, SimulatedNetwork,
    Simulation,
};

use crate::support::app;

#[derive(Resource, Default)]
struct Left(Vec<DisconnectReason>);

#[test]
fn only_who_has_a_ticket_is_let_in() {
    let network = SimulatedNetwork::new(1, LinkConditions::lan());
    let config = ServerConfig { login: Login::Ask, ..ServerConfig::default() };
    let mut server = app(ServerPlugin::over(network.server()).config(config), Simulation::TICK, |app| {
        app.add_observer(|asked: On<LoginAsked>, mut server: ResMut<ReplServer>| {
            assert!(!format!("{asked:?}").contains("ticket"), "it may be a password");
            let mut connection = server.connection(asked.connection);
            if asked.login == b"a ticket" {
                connection.accept(b"welcome");
            } else {
                connection.refuse("no ticket");
            }
        });
    });
    let mut clients = [(1, &b"a ticket"[..]), (2, b"a forged ticket")].map(|(number, login)| {
        let config = ClientConfig { login: login.to_vec(), ..ClientConfig::default() };
        let plugin = ClientPlugin::over(network.client(), Session::for_tests(number)).config(config);
        app(plugin, Simulation::TICK, |app| {
            app.init_resource::<Left>();
            app.add_observer(|left: On<LeftServer>, mut all: ResMut<Left>| all.0.push(left.reason.clone()));
        })
    });
    for _ in 0..30 {
        server.update();
        clients.iter_mut().for_each(bevy_app::App::update);
    }
    let world = server.world_mut();
    assert_eq!(world.query::<&ConnectedClient>().iter(world).count(), 1);
    let reasons = clients.each_ref().map(|client| format!("{:?}", client.world().resource::<Left>().0));
    assert_eq!(reasons[0], "[]");
    assert!(reasons[1].contains("no ticket"), "{}", reasons[1]);
}
