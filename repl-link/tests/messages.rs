//! Sessions and messages over a simulated network, without objects.

use std::collections::BTreeMap;
use std::time::Duration;

use repl_link::plain::{MessageClient, MessageServer, SessionEvent};
use repl_link::{
    Channel, ClientTerms, ConnectionId, DisconnectReason, Endpoint, EndpointConfig, ReceiveError,
    ServerSettings, ServerTerms, Session,
};
use repl_sim::{Clock, LinkConditions, Loss, Network, PeerId, SeedReport, seeds};

const SERVER: PeerId = PeerId(0);

struct Hall {
    server: MessageServer,
    endpoint: Endpoint<PeerId>,
    clients: BTreeMap<PeerId, MessageClient>,
    network: Network,
    clock: Clock,
    events: Vec<SessionEvent>,
    /// The errors that clients returned for packets without effect.
    errors: Vec<ReceiveError>,
}

impl Hall {
    fn new(seed: u64, settings: ServerSettings, conditions: &LinkConditions, clients: u32) -> Self {
        let mut server = MessageServer::new(settings);
        server.register::<u64>(Channel::Ordered).register::<String>(Channel::Unordered);
        let mut hall = Self {
            server,
            endpoint: Endpoint::new(EndpointConfig::default(), 7),
            clients: BTreeMap::new(),
            network: Network::new(seed),
            clock: Clock::at_hz(60),
            events: Vec::new(),
            errors: Vec::new(),
        };
        for number in 1..=clients {
            hall.join(PeerId(number), ClientTerms::default(), conditions);
        }
        hall
    }

    fn join(&mut self, at: PeerId, terms: ClientTerms<'static>, conditions: &LinkConditions) {
        let mut client = MessageClient::new(terms, Session::for_tests(at.0.into()));
        client.register::<String>(Channel::Unordered).register::<u64>(Channel::Ordered);
        self.network.connect(SERVER, at, *conditions);
        self.clients.insert(at, client);
    }

    fn tick(&mut self) {
        let Self { server, endpoint, clients, network, clock, events, errors } = self;
        let now = clock.tick();
        for (at, client) in clients.iter_mut() {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, *at, SERVER, packet);
            }
        }
        server.tick(now);
        while let Some((to, packet)) = endpoint.poll_transmit(server) {
            network.send(now, SERVER, to, packet);
        }
        while let Some(delivery) = network.deliver(now) {
            match clients.get_mut(&delivery.to) {
                Some(client) => errors.extend(client.receive(now, delivery.bytes).err()),
                None => endpoint.receive(server, now, delivery.from, delivery.bytes),
            }
        }
        events.extend(std::iter::from_fn(|| server.poll_event()));
    }

    fn tick_for(&mut self, time: Duration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            self.tick();
        }
    }

    fn client(&mut self, number: u32) -> &mut MessageClient {
        self.clients.get_mut(&PeerId(number)).expect("a client")
    }

    fn connected(&self) -> Vec<ConnectionId> {
        let of = |event: &SessionEvent| match event {
            SessionEvent::Connected(id) => Some(*id),
            SessionEvent::Login(..)
            | SessionEvent::Disconnected(..)
            | SessionEvent::PacketBytesChanged(..) => None,
        };
        self.events.iter().filter_map(of).collect()
    }
}

fn rough() -> LinkConditions {
    LinkConditions { loss: Loss::Independent(0.3), reorder: 0.2, duplicate: 0.1, ..LinkConditions::mobile() }
}

#[test]
fn r09_ordered_messages_arrive_once_and_in_order_over_any_link() {
    for seed in seeds(0..20) {
        let _report = SeedReport::new(seed);
        let mut hall = Hall::new(seed, ServerSettings::default(), &rough(), 3);
        let (mut sent, mut heard) = (vec![0_u64; 3], vec![Vec::new(); 3]);
        let mut from_clients: BTreeMap<ConnectionId, Vec<u64>> = BTreeMap::new();
        for tick in 0..2_400_u64 {
            hall.tick();
            for number in 1..=3_u32 {
                let (client, next) = (hall.client(number), &mut sent[number as usize - 1]);
                if tick < 600 && client.send(next).is_ok() {
                    *next += 1;
                }
                heard[number as usize - 1].extend(std::iter::from_fn(|| client.poll::<u64>()));
            }
            while let Some((from, number)) = hall.server.poll::<u64>() {
                from_clients.entry(from).or_default().push(number);
                hall.server.send(from, &(number * 2)).expect("there is room");
            }
        }
        assert!(sent.iter().all(|&sent| sent > 100), "{sent:?}");
        assert_eq!(from_clients.len(), 3);
        for id in hall.connected() {
            let count = from_clients[&id].len() as u64;
            assert!(sent.contains(&count) && from_clients[&id].iter().copied().eq(0..count));
        }
        for (heard, sent) in heard.iter().zip(&sent) {
            assert!(heard.iter().copied().eq((0..*sent).map(|number| number * 2)), "{heard:?}");
        }
        assert_eq!(hall.errors, []);
    }
}

#[test]
fn large_messages_arrive_whole() {
    for seed in seeds(0..10) {
        let _report = SeedReport::new(seed);
        let mut hall = Hall::new(seed, ServerSettings::default(), &rough(), 1);
        hall.tick_for(Duration::from_secs(2));
        let text: String = (0..4_000_u32).map(|at| char::from(b'a' + (at * at % 26) as u8)).collect();
        hall.client(1).send(&text).expect("a session has begun");
        let mut heard = None;
        for _ in 0..1_800 {
            hall.tick();
            heard = heard.or_else(|| hall.server.poll::<String>());
        }
        assert!(heard.is_some_and(|(_, heard)| heard == text));
    }
}

#[test]
fn r25_a_client_whose_link_was_cut_begins_another_session() {
    let mut hall = Hall::new(3, ServerSettings::default(), &LinkConditions::mobile(), 1);
    hall.tick_for(Duration::from_secs(2));
    let links: Vec<_> = hall.network.links().map(|(link, ..)| link).collect();
    links.iter().for_each(|&link| hall.network.sever(link));
    hall.tick_for(Duration::from_secs(15));
    assert_eq!(hall.client(1).take_end(), Some(DisconnectReason::Timeout));
    links.iter().for_each(|&link| hall.network.mend(link));
    hall.tick_for(Duration::from_secs(15));
    assert!(hall.client(1).is_connected());
    assert_eq!(hall.connected().len(), 2, "{:?}", hall.events);
}

#[test]
fn the_application_decides_about_logins_and_ends_sessions() {
    let terms = ServerTerms { asks_login: true, ..ServerTerms::default() };
    let mut hall =
        Hall::new(5, ServerSettings { terms, ..ServerSettings::default() }, &LinkConditions::mobile(), 0);
    for (number, login) in [(1, b"Ada"), (2, b"Eve")] {
        let terms = ClientTerms { login, ..ClientTerms::default() };
        hall.join(PeerId(number), terms, &LinkConditions::mobile());
    }
    hall.tick_for(Duration::from_secs(2));
    for event in std::mem::take(&mut hall.events) {
        let SessionEvent::Login(id, login) = event else { panic!("{event:?}") };
        match &login[..] {
            b"Ada" => hall.server.accept(id, b"welcome"),
            _ => hall.server.disconnect(id),
        }
    }
    hall.tick_for(Duration::from_secs(2));
    assert!(hall.client(1).is_connected() && !hall.client(2).is_connected());
    assert_eq!(hall.client(2).take_end(), Some(DisconnectReason::Closed));
    hall.client(1).disconnect();
    hall.tick_for(Duration::from_secs(1));
    let is_end =
        |event: &SessionEvent| matches!(event, SessionEvent::Disconnected(_, DisconnectReason::Closed));
    assert_eq!(hall.events.iter().filter(|event| is_end(event)).count(), 2, "{:?}", hall.events);
}

#[test]
fn r21_a_client_with_other_messages_learns_what_differs() {
    let mut hall = Hall::new(6, ServerSettings::default(), &LinkConditions::mobile(), 0);
    let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
    client.register::<u64>(Channel::Ordered);
    hall.network.connect(SERVER, PeerId(1), LinkConditions::mobile());
    hall.clients.insert(PeerId(1), client);
    hall.tick_for(Duration::from_secs(3));
    let Some(DisconnectReason::Layouts(mismatch)) = hall.client(1).take_end() else { panic!("no refusal") };
    assert!(mismatch.class.starts_with("message "), "{mismatch}");
}

#[test]
fn r20_bytes_of_a_stranger_change_nothing() {
    let mut hall = Hall::new(8, ServerSettings::default(), &LinkConditions::mobile(), 1);
    hall.tick_for(Duration::from_secs(2));
    for length in 0..200_usize {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 37 + length) as u8).collect();
        let now = hall.clock.now();
        hall.endpoint.receive(&mut hall.server, now, PeerId(1), &bytes);
        assert_eq!(hall.client(1).receive(now, &bytes), Err(ReceiveError::Damaged));
    }
    hall.tick_for(Duration::from_secs(2));
    assert!(hall.client(1).is_connected());
    assert_eq!(hall.connected().len(), 1);
}
