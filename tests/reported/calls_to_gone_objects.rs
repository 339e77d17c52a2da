//! Reported: <https://github.com/Unity-Technologies/com.unity.netcode.gameobjects/issues/3007> (and issue
//! 2963 there), and <https://github.com/FirstGearGames/FishNet/issues/129>.
//!
//! A client calls an object that the server has despawned meanwhile. The server throws an error, or the call
//! runs on another object that took its place. Users expect that such calls are ignored. The tests also use
//! calls after which the calls behind them in the same packet may not run.

use std::cell::RefCell;

use repl::prelude::*;

use crate::events;
use crate::support::Room;

thread_local!(static RAN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

fn ran(call: &'static str) {
    RAN.with_borrow_mut(|calls| calls.push(call));
}

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
}

#[rpcs]
impl Player {
    #[rpc(server, reliable)]
    fn fire(&mut self) {
        self.health += 1;
        ran("fire");
    }

    #[rpc(server, reliable)]
    fn die(call: &mut ServerCall<'_, Self>) {
        let player = call.object();
        call.server().despawn(player);
        ran("die");
    }

    #[rpc(server, reliable)]
    fn kick_me(call: &mut ServerCall<'_, Self>) {
        let caller = call.caller().expect("a client");
        call.server().connection(caller).disconnect_with("bye");
        ran("kick me");
    }

    #[rpc(server, reliable)]
    fn give_away(call: &mut ServerCall<'_, Self>) {
        let player = call.object();
        call.server().object(player).set_owner(None);
        ran("give away");
    }

    #[rpc(server, reliable)]
    fn respawn(call: &mut ServerCall<'_, Self>) {
        let (player, caller) = (call.object(), call.caller());
        call.server().despawn(player);
        let next = call.server().spawn(Self { health: 1_000 });
        call.server().object(next).set_owner(caller);
        ran("respawn");
    }
}

/// Returns a room with a client and a player that it owns.
fn room() -> (Room, ObjectRef<Player>) {
    let register = |client: &mut Client| _ = client.register::<Player>().register_calls::<Player>();
    let (mut room, player) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.register::<Player>().register_calls::<Player>();
        server.spawn(Player::default())
    });
    let id = room.guests[0].id;
    room.server.object(player).set_owner(Some(id));
    room.settle();
    (room, player)
}

/// Makes a call, and another one behind it in the same packet. Returns the room, and the calls that ran.
fn call_and_fire(
    call: impl FnOnce(&mut Client, ObjectRef<Player>) -> Result<(), CallError>,
) -> (Room, Vec<&'static str>) {
    let (mut room, player) = room();
    let client = &mut room.guests[0].client;
    call(client, player).expect("the client owns the player");
    client.call(player).fire().expect("the client still owns the player");
    (0..20).for_each(|_| _ = room.step());
    (room, RAN.take())
}

#[test]
fn a_call_on_a_despawned_object_is_ignored_and_runs_on_no_other() {
    let (mut room, player) = room();
    let id = room.guests[0].id;
    room.server.despawn(player);
    let next = room.server.spawn(Player { health: 50 });
    room.server.object(next).set_owner(Some(id));
    room.guests[0].client.call(player).fire().expect("the client does not know yet");
    room.settle();
    assert_eq!((RAN.take(), room.server[next].health), (vec![], 50));
    assert!(room.client().is_connected());
    room.guests[0].client.call(next).fire().expect("the client owns it");
    room.settle();
    assert_eq!(RAN.take(), ["fire"]);
    assert_eq!(room.guests[0].client.call(player).fire(), Err(CallError::Gone));
}

#[test]
fn a_call_that_despawns_its_object_stops_the_calls_behind_it() {
    let (room, calls) = call_and_fire(|client, player| client.call(player).die());
    assert_eq!(calls, ["die"]);
    assert!(room.client().is_connected());
}

#[test]
fn a_call_that_replaces_its_object_hands_no_call_on_to_the_next_object() {
    let (room, calls) = call_and_fire(|client, player| client.call(player).respawn());
    assert_eq!(calls, ["respawn"]);
    let health: Vec<_> = room.client().objects::<Player>().map(|(_, player)| player.health).collect();
    assert_eq!(health, [1_000]);
}

#[test]
fn a_call_that_disconnects_its_caller_stops_the_calls_behind_it() {
    let (mut room, player) = room();
    let client = &mut room.guests[0].client;
    client.call(player).kick_me().expect("the client owns the player");
    client.call(player).fire().expect("the client owns the player");
    room.acknowledge();
    let packets = room.tick_one();
    room.guests[0]
        .client
        .receive(room.now, packets.last().expect("a farewell"))
        .expect("it is still connected");
    assert_eq!(RAN.take(), ["kick me"]);
    let reason = DisconnectReason::ClosedWith("bye".into());
    assert!(events(&mut room, 0).contains(&ClientEvent::Disconnected(reason)));
}

#[test]
fn a_call_that_gives_its_object_away_stops_the_calls_behind_it() {
    let (room, calls) = call_and_fire(|client, player| client.call(player).give_away());
    assert_eq!(calls, ["give away"]);
    assert!(room.client().is_connected());
}
