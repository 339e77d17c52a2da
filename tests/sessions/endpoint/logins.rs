//! Logins: the application of the server decides which clients are accepted (R21).
//!
//! *Invariant:* no client receives state before it is accepted.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{DisconnectReason, EndpointConfig, Login};

use super::world::{Ship, TICK, World};

fn asking() -> ServerConfig {
    ServerConfig { login: Login::Ask, ..ServerConfig::default() }
}

fn with_login(login: &[u8]) -> ClientConfig {
    ClientConfig { login: login.to_vec(), ..ClientConfig::default() }
}

/// Returns a world with an application that decides about logins.
fn world(seed: u64, link: LinkConditions) -> World {
    World::with(seed, link, asking(), EndpointConfig::default())
}

fn logins(world: &World) -> Vec<(ConnectionId, Vec<u8>)> {
    let login = |event: &ServerEvent| match event {
        ServerEvent::Login(id, login) => Some((*id, login.clone())),
        _ => None,
    };
    world.events.iter().filter_map(login).collect()
}

#[test]
fn r21_a_client_is_accepted_with_an_answer_and_sees_nothing_before() {
    let link = LinkConditions::mobile().with_loss(0.3);
    for (seed, login) in (0..20).zip([&b""[..], b"Ada", &[7; 512]].into_iter().cycle()) {
        let mut world = world(seed, link);
        world.enter_with(1, 70, with_login(login));
        world.run_until(|world| !logins(world).is_empty());
        let id = logins(&world)[0].0;
        assert_eq!(logins(&world), [(id, login.to_vec())]);
        world.run(Duration::from_secs(3));
        assert_eq!(logins(&world).len(), 1, "it is reported once");
        assert!(!world.guests[0].client.is_connected() && !world.sees(0));
        assert_eq!(world.connected(), []);
        assert!(world.server.connection(id).accept(b"you are number 4"));
        assert!(!world.server.connection(id).accept(b"again"), "there is nothing to answer");
        assert!(!world.server.connection(id).refuse("again"));
        world.run_until(|world| world.sees(0));
        assert_eq!(world.guests[0].client.connection_info().login_answer(), b"you are number 4");
        assert_eq!(world.connected(), [id]);
        world.run(Duration::from_secs(6));
        assert!(world.is_current(0), "with the seed {seed}");
    }
}

#[test]
fn s204_an_owner_may_be_set_before_its_login_is_accepted_and_stays_after_its_end() {
    let mut world = world(1, LinkConditions::wifi());
    world.enter_with(1, 70, with_login(b"Ada"));
    world.run_until(|world| !logins(world).is_empty());
    let (id, ship) = (logins(&world)[0].0, world.ship);
    world.server.object(ship).set_owner(Some(id));
    world.server.connection(id).accept(b"");
    world.run_until(|world| world.sees(0));
    assert!(world.guests[0].client.object_info(ship).is_owner());
    world.server.connection(id).disconnect();
    world.run_until(|world| world.guests[0].end.is_some());
    world.run(Duration::from_secs(30));
    assert_eq!(world.server.connection_info(id).stats(), None, "the connection is removed");
    assert_eq!(world.server.object_info(ship).owner(), Some(id));
    assert_eq!(world.server.connection_info(id).owned_objects::<Ship>().count(), 1);
}

#[test]
fn a_client_is_refused_with_a_text_under_loss() {
    for seed in 0..20 {
        let mut world = world(seed, LinkConditions::wifi().with_loss(0.3));
        world.enter_with(1, 70, with_login(b"Eve"));
        world.run_until(|world| !logins(world).is_empty());
        let id = logins(&world)[0].0;
        assert!(world.server.connection(id).refuse("unknown player"));
        world.run_until(|world| world.guests[0].end.is_some());
        let reason = DisconnectReason::Refused("unknown player".to_owned());
        assert_eq!(world.guests[0].end, Some(reason.clone()), "with the seed {seed}");
        assert_eq!(world.disconnected(), [(id, reason)]);
        assert_eq!(world.connected(), []);
    }
}

#[test]
fn a_login_that_nobody_answers_ends_at_its_time_on_both_sides() {
    for login_timeout in [Duration::from_secs(3), Duration::from_secs(25)] {
        let server = ServerConfig { login_timeout, ..asking() };
        let mut world = World::with(1, LinkConditions::wifi(), server, EndpointConfig::default());
        world.enter_with(1, 70, with_login(b"Ada"));
        world.run_until(|world| !logins(world).is_empty());
        let time = world.run_until(|world| world.guests[0].end.is_some());
        assert!(time + TICK * 4 >= login_timeout, "{time:?}");
        assert!(time < login_timeout + Duration::from_millis(300), "{time:?}");
        let id = logins(&world)[0].0;
        assert_eq!(world.guests[0].end, Some(DisconnectReason::LoginTimeout));
        assert_eq!(world.disconnected(), [(id, DisconnectReason::LoginTimeout)]);
        assert!(!world.server.connection(id).accept(b""));
    }
}

#[test]
fn r21_a_client_with_other_classes_is_refused_before_its_login_is_reported() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Unknown {
        depth: u8,
    }
    let mut world = world(1, LinkConditions::wifi());
    world.enter_with(1, 70, with_login(b"Ada"));
    world.guests[0].client.register::<Unknown>();
    world.run_until(|world| world.guests[0].end.is_some());
    assert_eq!(logins(&world), []);
}

#[test]
fn r21_a_login_is_carried_by_no_hello_without_a_cookie() {
    let mut client = Client::new(with_login(b"a secret of sixteen"), Session::for_tests(70));
    client.register::<Ship>();
    client.tick(Duration::ZERO);
    let hello = client.poll_transmit().expect("a hello").to_vec();
    let carries = |hello: &[u8]| {
        let shifted = |shift: u32| -> Vec<u8> {
            hello.windows(2).map(|pair| (u16::from_le_bytes([pair[0], pair[1]]) >> shift) as u8).collect()
        };
        (0..8).any(|shift| shifted(shift).windows(19).any(|part| part == b"a secret of sixteen"))
    };
    assert!(!carries(&hello));
    let mut server = Server::new(asking());
    server.spawn(Ship { hull: 1 });
    let mut endpoint = Endpoint::<u8>::new(EndpointConfig::default(), 5);
    endpoint.receive(&mut server, Duration::ZERO, 1, &hello);
    let (_, retry) = endpoint.poll_transmit(&mut server).expect("a retry");
    client.receive(Duration::ZERO, retry).expect("it is for this client");
    assert!(carries(client.poll_transmit().expect("a hello with a cookie")));
}

#[test]
fn r21_logins_work_without_an_endpoint_too() {
    for validate_addresses in [true, false] {
        let mut server = Server::new(ServerConfig { validate_addresses, ..asking() });
        let ship = server.spawn(Ship { hull: 1 });
        let id = server.connect(Duration::ZERO);
        let mut client = Client::new(with_login(b"Ada"), Session::for_tests(70));
        client.register::<Ship>();
        for tick in 0..60 {
            let now = TICK * tick;
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                server.receive(id, now, packet);
            }
            match server.poll_event() {
                Some(ServerEvent::Login(from, login)) => {
                    assert_eq!((from, login), (id, b"Ada".to_vec()));
                    assert!(!client.is_connected());
                    assert!(server.connection(id).accept(b"welcome"));
                }
                Some(ServerEvent::Disconnected(..)) => panic!("the client is honest"),
                _ => {}
            }
            server.tick(now);
            while let Some(packet) = server.poll_transmit(id) {
                client.receive(now, packet).expect("an honest packet");
            }
        }
        assert!(client.contains(ship));
        assert_eq!(client.connection_info().login_answer(), b"welcome");
    }
}

#[test]
#[should_panic(expected = "`login` has at most 512 bytes")]
fn a_login_that_is_too_long_is_refused_at_once() {
    drop(Client::new(with_login(&[0; 513]), Session::for_tests(1)));
}

#[test]
#[should_panic(expected = "`login` has at most 64 bytes with packets of 128 bytes")]
fn a_login_that_is_too_long_for_its_packets_is_refused_at_once() {
    drop(Client::new(ClientConfig { mtu_bytes: 128, ..with_login(&[0; 65]) }, Session::for_tests(1)));
}

#[test]
#[should_panic(expected = "an answer to a login has at most 512 bytes")]
fn an_answer_that_is_too_long_is_refused_at_once() {
    let mut server = Server::new(asking());
    let id = server.connect(Duration::ZERO);
    server.connection(id).accept(&[0; 513]);
}

#[test]
fn debug_prints_the_length_of_a_login_and_no_byte_of_a_secret() {
    let config = format!("{:?}", with_login(&[201; 3]));
    assert!(config.contains("login: 3 bytes,") && !config.contains("201"), "{config}");
    assert!(config.contains("timeout: 10s,") && config.contains("reconnects: true,"), "{config}");
    let mut server = Server::new(asking());
    let event = ServerEvent::Login(server.connect(Duration::ZERO), vec![201; 3]);
    assert_eq!(format!("{event:?}"), "Login(ConnectionId(0), 3 bytes)");
    let config = format!("{:?}", ServerConfig { secret: 987_654_321, ..asking() });
    assert!(config.contains("login: Ask,") && !config.contains("987654321"), "{config}");
}

#[test]
fn debug_prints_every_other_event_of_a_server_as_it_is() {
    let id = Server::new(asking()).connect(Duration::ZERO);
    for (event, text) in [
        (ServerEvent::Connected(id), "Connected(ConnectionId(0))"),
        (ServerEvent::Disconnected(id, DisconnectReason::Full), "Disconnected(ConnectionId(0), Full)"),
        (ServerEvent::RefusalsDropped(3), "RefusalsDropped(3)"),
    ] {
        assert_eq!(format!("{event:?}"), text);
    }
    let event = ServerEvent::ValueRefused {
        object: ObjectRef::default(),
        class: "Ship",
        property: "hull",
        path: "hull".to_owned(),
        error: WriteError::OutOfRange,
    };
    let text = format!("{event:?}");
    assert!(text.starts_with("ValueRefused { object: ") && text.ends_with("error: OutOfRange }"), "{text}");
    assert!(text.contains("class: \"Ship\", property: \"hull\", path: \"hull\","), "{text}");
}
