//! A server and a client over sockets, encrypted.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::quic::{Identity, Trust};
use repl_bevy::{ClientPlugin, ReplAppExt, Replicate, ServerPlugin};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::support::all;

#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
struct Score(#[replicated] u16);

#[test]
fn an_entity_arrives_over_sockets() {
    let folder = std::env::temp_dir().join(format!("repl-bevy-{}", std::process::id()));
    let identity = Identity::development(&folder).unwrap();
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut server = App::new();
    server.add_plugins(ServerPlugin::bind(free, &identity).unwrap().hz(200.0)).replicate::<Score>();
    let mut client = App::new();
    let trust = Trust::development(&folder).unwrap();
    client.add_plugins(ClientPlugin::connect(free, &trust).unwrap().hz(200.0)).replicate::<Score>();
    server.world_mut().spawn((Replicate, Score(7)));
    let start = Instant::now();
    while all::<Score>(&mut client).is_empty() && start.elapsed() < Duration::from_secs(20) {
        server.update();
        client.update();
        std::thread::sleep(Duration::from_millis(1));
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(all::<Score>(&mut client), [Score(7)]);
}
