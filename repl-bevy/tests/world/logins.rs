//! A client sends its login before the server accepts it.

use bevy_ecs::prelude::*;
use repl::Login;
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    ConnectedClient, LeavesWithOwner, LeftServer, LoginAsked, Owned, OwnedBy, ReplAppExt, ReplServer,
    Simulation,
};

use crate::support::Player;

#[derive(Resource, Default)]
struct Left(Vec<DisconnectReason>);

/// Accepts a client with a ticket, refuses a client with a forged ticket, and does not answer other clients.
fn answer(asked: On<LoginAsked>, mut server: ResMut<ReplServer>, mut commands: Commands) {
    assert!(!format!("{asked:?}").contains("ticket"), "it may be a password");
    let mut connection = server.connection(asked.connection);
    match asked.login.strip_prefix(b"a ticket of ") {
        Some(name) => {
            connection.accept(b"welcome");
            commands.entity(asked.entity).insert(Name::new(String::from_utf8_lossy(name).into_owned()));
            commands.spawn((OwnedBy(asked.entity), LeavesWithOwner, Player::default()));
        }
        None if asked.login.ends_with(b"ticket") => _ = connection.refuse("no ticket"),
        None => {}
    }
}

#[test]
fn only_who_has_a_ticket_is_let_in_and_is_known_by_what_the_game_noted() {
    let config = ServerConfig { login: Login::Ask, ..ServerConfig::default() };
    let mut simulation = Simulation::configured(1, LinkConditions::lan(), config, |app| {
        app.replicate::<Player>();
        if app.world().contains_resource::<ReplServer>() {
            app.add_observer(answer);
        }
        app.init_resource::<Left>();
        app.add_observer(|left: On<LeftServer>, mut all: ResMut<Left>| all.0.push(left.reason.clone()));
    });
    for login in ["a ticket of Ann", "a forged ticket", "nothing", "a ticket of Bob"] {
        let reconnects = false;
        simulation.join_with(ClientConfig { login: login.into(), reconnects, ..ClientConfig::default() });
    }
    simulation.run(30);
    let names = |simulation: &mut Simulation| {
        let world = simulation.server.world_mut();
        let mut query = world.query_filtered::<&Name, With<ConnectedClient>>();
        let mut names: Vec<_> = query.iter(world).map(ToString::to_string).collect();
        names.sort();
        (
            names,
            world.query_filtered::<(), (Without<ConnectedClient>, Without<Observer>)>().iter(world).count(),
        )
    };
    let others = names(&mut simulation).1;
    assert_eq!(names(&mut simulation).0, ["Ann", "Bob"]);
    let left = simulation.clients.iter().map(|client| client.world().resource::<Left>().0.len());
    assert_eq!(left.collect::<Vec<_>>(), [0, 1, 0, 0]);
    // The clients own the entities that the observer `answer` has spawned for them.
    let owned = simulation.clients.iter_mut().map(|client| {
        let world = client.world_mut();
        world.query_filtered::<(), (With<Player>, With<Owned>)>().iter(world).count()
    });
    assert_eq!(owned.collect::<Vec<_>>(), [1, 0, 0, 1]);
    let reason = format!("{:?}", simulation.clients[1].world().resource::<Left>().0);
    assert!(reason.contains("no ticket"), "{reason}");
    // A client that receives no answer is refused after the login timeout, and its entity is despawned.
    simulation.run(60 * 30);
    assert_eq!(names(&mut simulation), (vec!["Ann".to_owned(), "Bob".to_owned()], others - 1));
    assert_eq!(simulation.clients[2].world().resource::<Left>().0.len(), 1);
}
