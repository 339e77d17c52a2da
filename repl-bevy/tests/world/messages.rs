//! Messages in both directions.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_time::{Time, Virtual};
use repl::prelude::*;
use repl::sim::LinkConditions;
use repl_bevy::{
    FromClient, FromServer, MessageNotSent, Recipients, ReplAppExt, ReplServer, Simulation, ToClients,
    ToServer,
};

use crate::support::clients;

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Chat {
    #[replicated(max_len = 200)]
    text: String,
}

fn chat(text: &str) -> Chat {
    Chat { text: text.to_owned() }
}

/// The messages that a side has read.
#[derive(Resource, Default)]
struct Heard(Vec<(Option<Entity>, String)>);

fn simulation(clients: usize) -> Simulation {
    let mut simulation = Simulation::new(5, LinkConditions::mobile(), clients, |app: &mut App| {
        app.message::<Chat>(Channel::Ordered).init_resource::<Heard>();
    });
    simulation.server.add_systems(
        Update,
        |mut messages: MessageReader<FromClient<Chat>>, mut heard: ResMut<Heard>| {
            heard.0.extend(messages.read().map(|from| (Some(from.client), from.message.text.clone())));
        },
    );
    for client in &mut simulation.clients {
        let hear = |mut messages: MessageReader<FromServer<Chat>>, mut heard: ResMut<Heard>| {
            heard.0.extend(messages.read().map(|from| (None, from.0.text.clone())));
        };
        client.add_systems(Update, hear);
    }
    simulation.run(30);
    simulation
}

fn heard(app: &App) -> Vec<String> {
    app.world().resource::<Heard>().0.iter().map(|(_, text)| text.clone()).collect()
}

#[test]
fn a_message_of_a_client_says_who_has_sent_it() {
    let mut simulation = simulation(2);
    let clients = clients(&simulation);
    for text in ["one", "two"] {
        simulation.clients[1].world_mut().write_message(ToServer(chat(text)));
    }
    simulation.run(40);
    let heard = &simulation.server.world().resource::<Heard>().0;
    assert_eq!(*heard, [(Some(clients[1]), "one".to_owned()), (Some(clients[1]), "two".to_owned())]);
}

#[test]
fn a_message_goes_to_all_to_one_and_to_a_group() {
    let mut simulation = simulation(3);
    let clients = clients(&simulation);
    let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
    let connection = server.connection_of(clients[2]).unwrap();
    server.connection(connection).join_group(Group(1));
    for (to, text) in [
        (Recipients::All, "all"),
        (Recipients::Client(clients[0]), "one"),
        (Recipients::Group(Group(1)), "group"),
    ] {
        simulation.server.world_mut().write_message(ToClients { to, message: chat(text) });
    }
    simulation.run(40);
    assert_eq!(heard(&simulation.clients[0]), ["all", "one"]);
    assert_eq!(heard(&simulation.clients[1]), ["all"]);
    assert_eq!(heard(&simulation.clients[2]), ["all", "group"]);
}

#[test]
fn who_sends_what_cannot_be_sent_is_told() {
    #[derive(Resource, Default)]
    struct Refused(Vec<MessageNotSent>);
    let mut simulation = simulation(1);
    for app in [&mut simulation.server, &mut simulation.clients[0]] {
        app.init_resource::<Refused>();
        app.add_observer(|not_sent: On<MessageNotSent>, mut refused: ResMut<Refused>| {
            refused.0.push(not_sent.event().clone());
        });
    }
    let long = chat(&"x".repeat(201));
    simulation.clients[0].world_mut().write_message(ToServer(long.clone()));
    let nobody = simulation.server.world_mut().spawn_empty().id();
    for to in [Recipients::All, Recipients::Client(nobody)] {
        simulation.server.world_mut().write_message(ToClients { to, message: long.clone() });
    }
    simulation.run(5);
    let refused = |app: &App| app.world().resource::<Refused>().0.clone();
    let texts = |app: &App| -> Vec<String> { refused(app).iter().map(|not| not.error.to_string()).collect() };
    assert!(refused(&simulation.server).iter().all(|not| not.message.ends_with("Chat")));
    assert_eq!(texts(&simulation.server).len(), 2);
    assert_eq!(texts(&simulation.server)[1], "not connected");
    assert!(texts(&simulation.clients[0])[0].contains("200"), "{:?}", texts(&simulation.clients[0]));
}

#[test]
fn messages_of_a_server_whose_game_is_paused_come_once() {
    let mut simulation = simulation(1);
    let send = |simulation: &mut Simulation, text| {
        simulation.server.world_mut().write_message(ToClients { to: Recipients::All, message: chat(text) });
    };
    send(&mut simulation, "before");
    simulation.run(5);
    simulation.server.world_mut().resource_mut::<Time<Virtual>>().pause();
    simulation.run(5);
    send(&mut simulation, "meanwhile");
    simulation.run(30);
    assert_eq!(heard(&simulation.clients[0]), ["before", "meanwhile"]);
    simulation.server.world_mut().resource_mut::<Time<Virtual>>().unpause();
    send(&mut simulation, "after");
    simulation.run(30);
    assert_eq!(heard(&simulation.clients[0]), ["before", "meanwhile", "after"]);
}
