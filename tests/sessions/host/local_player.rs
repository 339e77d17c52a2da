//! The same code of a player works for a client and for the host.

use repl::HostOptions;
use repl::prelude::*;

use super::{Chat, Hero, HeroCall, host, room};

/// A record of what a player has seen and done.
#[derive(Debug, Default, PartialEq)]
struct Log {
    /// For each hero: whether the player owns it, and its health.
    heroes: Vec<(bool, u16)>,
    calls: Vec<String>,
    chat: Vec<String>,
    spawned: usize,
    owners: usize,
    events: Vec<ClientEvent>,
}

/// Polls everything, shoots, and sends a chat.
fn play(player: &mut impl LocalPlayer, log: &mut Log) {
    while let Some(update) = player.poll_update() {
        match update.what {
            UpdateKind::Spawned => log.spawned += 1,
            UpdateKind::Owner => log.owners += 1,
            _ => {}
        }
    }
    log.events.extend(std::iter::from_fn(|| player.poll_event()));
    while let Some(received) = player.poll_call::<Hero>() {
        let Some(received) = player.run_call(received) else { continue };
        let HeroCall::OpenMenu { page } = received.call else { continue };
        log.calls.push(format!("menu {page}"));
    }
    log.chat.extend(std::iter::from_fn(|| player.poll_message::<Chat>()).map(|Chat(text)| text));
    let Some(own) = player.owned_objects::<Hero>().next().map(|(own, _)| own) else { return };
    assert!(player.is_owner(own) && player.role(own).is_some());
    log.heroes = player.objects::<Hero>().map(|(hero, object)| (hero == own, object.health)).collect();
    log.heroes.sort_unstable();
    if player.get(own).is_some_and(|own| own.ran.len() < 3) {
        player.call(own).wave(1).unwrap();
        player.send(&Chat("shot".to_owned())).unwrap();
    }
}

#[test]
fn one_function_plays_for_a_client_and_for_the_host() {
    let (mut room, id, heroes) = room(HostOptions { events: true, notifies: false }, 1);
    for hero in heroes.clone() {
        room.server[hero].health = 50;
        room.server.call(hero).open_menu(3).unwrap();
        room.server.call(hero).hit(4).unwrap();
    }
    room.server.send_to_all(&Chat("welcome".to_owned())).unwrap();
    let (mut hosts, mut guests) = (Log::default(), Log::default());
    for _ in 0..5 {
        room.step();
        play(&mut host(&mut room), &mut hosts);
        play(&mut room.guests[0].client, &mut guests);
    }
    room.settle();
    assert_eq!(hosts, guests);
    let expected = Log {
        heroes: vec![(false, 50), (true, 50)],
        calls: vec!["menu 3".to_owned()],
        chat: vec!["welcome".to_owned()],
        spawned: 2,
        owners: 1,
        events: vec![ClientEvent::Connected, ClientEvent::Synchronized],
    };
    assert_eq!(hosts, expected);
    let senders: Vec<_> =
        std::iter::from_fn(|| room.server.poll_message::<Chat>()).map(|(from, _)| from).collect();
    assert!(senders.contains(&id) && senders.contains(&room.guests[0].id));
}

#[test]
fn a_player_is_told_the_paths_of_assets() {
    struct Mesh;
    fn path(player: &impl LocalPlayer, asset: AssetRef<Mesh>) -> Option<String> {
        player.asset_path(asset).map(str::to_owned)
    }
    let mut server = Server::new(ServerConfig::default());
    let rock = server.register_assets().assets().add("meshes/rock");
    server.connect_host(HostOptions::default());
    let host = server.host().expect("it is connected");
    assert_eq!(path(&host, rock).as_deref(), Some("meshes/rock"));
    assert_eq!(path(&host, AssetRef::NULL), None);
}
