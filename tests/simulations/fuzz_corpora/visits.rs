//! Recorded sessions of clients with a server behind an endpoint.
//!
//! *Invariant:* a recording that is run again has the same outcome: the same clients are accepted, the same
//! messages arrive, the same calls run, and connections end for the same reasons.

use repl::prelude::*;
use repl::tools::Difference;

use super::targets::endpoint::{self, Head, MTU_BYTES, Venue, has_token, join, without_secrets};
use super::targets::packets::SESSION;
use super::targets::talk::{self, Chat, Heard, Hero, Input};
use super::{corpus, update};

/// A client at an address.
struct Visitor {
    client: Client,
    address: u8,
    /// Which of the four sessions the client has.
    session: u8,
    /// Whether the client sends something in each tick.
    talks: bool,
    /// Whether the client's packets arrive.
    is_heard: bool,
}

impl Visitor {
    fn new(address: u8, session: u8, login: &str) -> Self {
        let mut client = Self::stranger(session, login);
        talk::register(&mut client);
        Self { client, address, session, talks: false, is_heard: true }
    }

    fn talking(self) -> Self {
        Self { talks: true, ..self }
    }

    /// Returns a client without classes.
    fn stranger(session: u8, login: &str) -> Client {
        let config = ClientConfig {
            mtu_bytes: MTU_BYTES,
            max_objects: 16,
            max_object_bytes: 8_192,
            login: login.as_bytes().to_vec(),
            reconnects: false,
            ..ClientConfig::default()
        };
        Client::new(config, Session::for_tests(SESSION + u64::from(session)))
    }

    fn hero(&self) -> Option<ObjectRef<Hero>> {
        let mut heroes = self.client.objects::<Hero>().map(|(hero, _)| hero);
        heroes.find(|&hero| self.client.object_info(hero).is_owner())
    }

    /// Ticks the client, and returns its packets.
    fn tick(&mut self, venue: &Venue, tick: usize) -> Vec<(Head, Vec<u8>)> {
        if let Some(hero) = self.hero().filter(|_| self.talks) {
            talk::say_to_server(&mut self.client, hero, tick);
        }
        self.client.tick(venue.now());
        if self.client.is_connected() {
            Heard::default().poll(&mut self.client);
        }
        while self.client.poll_event().is_some() {}
        let mut packets = Vec::new();
        while let Some(packet) = self.client.poll_transmit() {
            let head = self.session | self.address << 2 | u8::from(has_token(packet)) << 7;
            packets.push((Head(head), without_secrets(packet)));
        }
        packets
    }
}

/// Records the packets that visitors send in `ticks` ticks. Each tick begins with `script`. A head made from
/// `wait` says how long each tick lasts.
fn record(ticks: usize, wait: u8, mut script: impl FnMut(usize, &mut Vec<Visitor>)) -> Vec<u8> {
    let (mut venue, mut visitors, mut recording) = (Venue::default(), Vec::new(), Vec::new());
    for tick in 0..ticks {
        script(tick, &mut visitors);
        let mut packets: Vec<_> =
            visitors.iter_mut().flat_map(|visitor| visitor.tick(&venue, tick)).collect();
        packets.push((Head(wait << 5), Vec::new()));
        for (head, content) in packets {
            for (to, packet) in venue.step(head, &content) {
                for visitor in visitors.iter_mut().filter(|visitor| visitor.address == to && visitor.is_heard)
                {
                    visitor.client.receive(venue.now(), &packet).ok();
                }
            }
            recording.push((head, content));
        }
    }
    join(&recording)
}

const TICK: u8 = 1;
const TENTH: u8 = 2;

/// All recorded sessions, by their names.
pub(crate) fn recordings() -> Vec<(String, Vec<u8>)> {
    let enters = |at: usize, visitor: fn() -> Visitor| {
        move |tick: usize, visitors: &mut Vec<Visitor>| {
            if tick == at {
                visitors.push(visitor());
            }
        }
    };
    let talk = record(40, TICK, enters(0, || Visitor::new(0, 0, "Ada").talking()));
    let large = record(24, TICK, |tick, visitors| {
        enters(0, || Visitor::new(1, 0, "Bob"))(tick, visitors);
        let Some(hero) = visitors[0].hero() else { return };
        let client = &mut visitors[0].client;
        match tick {
            8 => drop(client.send(&Chat("c".repeat(2_400)))),
            9 => drop(client.call(hero).rename("n".repeat(900), Vec::new())),
            _ => {}
        }
    });
    let logins = record(12, TICK, |tick, visitors| {
        enters(0, || Visitor::new(0, 0, "Ada"))(tick, visitors);
        enters(1, || Visitor::new(1, 1, "no"))(tick, visitors);
        enters(2, || Visitor::new(2, 2, "wait"))(tick, visitors);
    });
    let moved = record(40, TENTH, |tick, visitors| {
        enters(0, || Visitor::new(0, 0, "Ada"))(tick, visitors);
        if tick == 8 {
            visitors[0].address = 5;
        }
        let number = tick as u16;
        drop(visitors[0].client.send(&Input { way: [0, 0], number }));
    });
    let replaced = record(30, TICK, |tick, visitors| {
        enters(0, || Visitor::new(3, 0, "Ada"))(tick, visitors);
        enters(12, || Visitor::new(3, 1, "Bob"))(tick, visitors);
    });
    let left = record(30, TICK, |tick, visitors| {
        enters(0, || Visitor::new(0, 0, "Ada"))(tick, visitors);
        enters(20, || Visitor::new(0, 1, "Ada"))(tick, visitors);
        if tick == 15 {
            visitors[0].client.disconnect();
        }
    });
    let rejected = record(24, TICK, |tick, visitors| {
        enters(0, || Visitor::new(0, 0, "Ada"))(tick, visitors);
        if let Some(hero) = visitors[0].hero() {
            drop(visitors[0].client.call(hero).go(990 + tick as u16));
        }
    });
    let stranger = record(20, TENTH, |tick, visitors| {
        enters(0, || Visitor { client: Visitor::stranger(0, "Eve"), ..Visitor::new(0, 0, "") })(
            tick, visitors,
        );
    });
    let named = |(name, recording): (&str, Vec<u8>)| (format!("session-{name}"), recording);
    [
        ("talk", talk),
        ("large", large),
        ("logins", logins),
        ("moved", moved),
        ("replaced", replaced),
        ("left", left),
        ("rejected", rejected),
        ("stranger", stranger),
    ]
    .map(named)
    .into()
}

#[test]
fn sessions_behind_an_endpoint_are_accepted_and_their_calls_run() {
    update("endpoint", &recordings());
    for (name, data) in corpus("endpoint") {
        let venue = endpoint::run(&data);
        let (heard, runs, ended) = (venue.heard, venue.runs(), venue.ended.as_slice());
        let outcome = format!("{name}: {heard:?}, {runs} calls, {} accepted, {ended:?}", venue.accepted);
        let is_right = match name.strip_prefix("session-") {
            Some("talk") => {
                venue.accepted == 1
                    && ended.is_empty()
                    && heard.chats >= 4
                    && heard.scores >= 6
                    && heard.inputs >= 30
                    && heard.effects >= 2
                    && heard.polled >= 2
                    && runs >= 12
            }
            Some("large") => {
                venue.accepted == 1 && ended.is_empty() && heard.chat_bytes == 2_400 && runs >= 1
            }
            Some("logins") => venue.accepted == 1 && ended == [DisconnectReason::Refused("no".to_owned())],
            Some("moved") => venue.accepted == 1 && ended.is_empty() && heard.inputs > 25,
            Some("replaced") => venue.accepted == 2 && ended == [DisconnectReason::Replaced],
            Some("left") => venue.accepted == 2 && ended == [DisconnectReason::Closed],
            Some("rejected") => venue.accepted == 1 && ended == [DisconnectReason::Rejected("go".to_owned())],
            Some("stranger") => {
                let is_class = |reason: &DisconnectReason| match reason {
                    DisconnectReason::Layouts(mismatch) => {
                        matches!(mismatch.difference, Difference::NoClass { .. })
                    }
                    _ => false,
                };
                venue.accepted == 0 && matches!(ended, [reason] if is_class(reason))
            }
            Some(_) => false,
            None => true,
        };
        assert!(is_right, "{outcome}; record it again");
    }
}
