//! Messages and state on one link that is too narrow for both: each gets its share, and neither waits for the
//! other.
//!
//! *Invariant:* all packets go through the simulator, and its links have a rate and a queue.

use std::collections::HashMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{Channel, MessageOptions};

use crate::linked::Linked;

const INPUTS: Channel = Channel::Sequenced { copies: 3 };

#[derive(Replicated, Default)]
#[replicated(all)]
struct Rock {
    place: [f32; 3],
    marks: Vec<u32>,
}

#[derive(NetSerialize, Clone)]
struct Chat(u32, #[replicated(max_len = 65536)] String);

#[derive(NetSerialize, Clone)]
struct News(u32, #[replicated(max_len = 65536)] String);

#[derive(NetSerialize, Clone)]
struct Input(u32);

fn rock(number: u32) -> Rock {
    let marks =
        (0..20).map(|mark: u32| (mark + 1).wrapping_mul(number.wrapping_mul(0x9e37_79b9) | 1)).collect();
    Rock { place: [number as f32 + 0.5, 2.5, 3.25], marks }
}

/// A server and a client, and what arrived.
struct Pair {
    linked: Linked,
    connection: ConnectionId,
    rocks: Vec<ObjectRef<Rock>>,
    /// The number of bytes of the texts that arrived: in chats and in news.
    heard: [usize; 2],
}

impl Pair {
    fn new(seed: u64, link: LinkConditions, config: ServerConfig, rocks: u32, news_weight: u8) -> Self {
        let mut server = Server::new(config);
        let rocks = (0..rocks).map(|number| server.spawn(rock(number))).collect();
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        client.register::<Rock>();
        let heavy = MessageOptions { weight: news_weight, ..MessageOptions::default() };
        client
            .register_message::<Chat>(Channel::Ordered)
            .register_message_with::<News>(Channel::Ordered, heavy);
        server.register::<Rock>();
        server
            .register_message::<Chat>(Channel::Ordered)
            .register_message_with::<News>(Channel::Ordered, heavy);
        client.register_message::<Input>(INPUTS);
        server.register_message::<Input>(INPUTS);
        let mut linked = Linked::new(server, seed);
        let guest = linked.connect(client, link, link);
        let connection = linked.guests[guest].id;
        Self { linked, connection, rocks, heard: [0; 2] }
    }

    fn client(&mut self) -> &mut Client {
        &mut self.linked.guests[0].client
    }

    fn connect(&mut self) {
        while self.linked.server.connection(self.connection).send(&Input(0)).is_err() {
            self.linked.tick();
        }
    }

    /// Changes more rocks than the link can carry.
    fn shake(&mut self, count: usize) {
        for at in 0..count {
            let rock = self.rocks[(self.linked.clock.ticks() as usize * count + at) % self.rocks.len()];
            let rock = &mut self.linked.server[rock];
            rock.marks.iter_mut().for_each(|mark| *mark = mark.wrapping_mul(0x9e37_79b9) ^ 0x55);
        }
    }

    /// Sends as many messages of each kind as the connection accepts.
    fn flood(&mut self, bytes: usize, has_chat: bool, has_news: bool) {
        let text = "x".repeat(bytes);
        while has_chat && self.linked.server.connection(self.connection).send(&Chat(0, text.clone())).is_ok()
        {
        }
        while has_news && self.linked.server.connection(self.connection).send(&News(0, text.clone())).is_ok()
        {
        }
    }

    fn hear(&mut self) {
        while let Some(Chat(_, text)) = self.client().poll_message() {
            self.heard[0] += text.len();
        }
        while let Some(News(_, text)) = self.client().poll_message() {
            self.heard[1] += text.len();
        }
    }
}

fn narrow() -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(30),
        bandwidth_bytes_per_second: Some(100_000),
        queue_bytes: 30_000,
        ..LinkConditions::perfect()
    }
}

/// Runs a flood of messages together with a flood of state for 25 s, and measures the last 20 s. Returns
/// which share of the received bytes the messages have, and how much of the link was used.
fn shares(message_percent: u8, bytes: usize, shaken: usize, has_messages: bool) -> (f64, f64) {
    let config = ServerConfig { message_percent, ..ServerConfig::default() };
    let mut pair = Pair::new(1, narrow(), config, 400, 16);
    pair.connect();
    let mut before = [0; 2];
    for tick in 0..25 * 60 {
        pair.shake(shaken);
        pair.flood(bytes, has_messages, false);
        pair.linked.tick();
        pair.hear();
        if tick == 5 * 60 {
            before = [pair.heard[0], pair.linked.down(0).bytes_delivered as usize];
        }
    }
    let all = pair.linked.down(0).bytes_delivered as f64 - before[1] as f64;
    ((pair.heard[0] - before[0]) as f64 / all, all / 2_000_000.0)
}

#[test]
fn r26_a_flood_of_messages_and_a_flood_of_state_share_the_link_as_configured() {
    for bytes in [20, 400, 20_000] {
        for percent in [20, 50, 80] {
            let (share, used) = shares(percent, bytes, 60, true);
            let wanted = f64::from(percent) / 100.0;
            // The headers of messages and packets do not count as content.
            let least = if bytes < 100 { wanted * 0.6 } else { wanted * 0.85 } - 0.04;
            assert!(used > 0.75, "{used:.2} of the link is used with messages of {bytes} bytes");
            assert!(
                (least..wanted + 0.06).contains(&share),
                "{share:.2} instead of {percent} % by messages of {bytes}"
            );
        }
    }
}

#[test]
fn r26_what_messages_or_state_do_not_use_is_left_to_the_other() {
    let (share, used) = shares(50, 400, 0, true);
    assert!(share > 0.85 && used > 0.75, "messages alone: {share:.2} of {used:.2}");
    let (share, used) = shares(50, 400, 60, false);
    assert!(share == 0.0 && used > 0.75, "state alone: {share:.2} of {used:.2}");
}

#[test]
fn channels_share_by_their_weights() {
    for (weight, wanted) in [(16_u8, 0.5), (48, 0.75), (4, 0.2)] {
        for bytes in [30, 900, 5_000] {
            let mut pair = Pair::new(1, narrow(), ServerConfig::default(), 0, weight);
            pair.connect();
            for _ in 0..20 * 60 {
                pair.flood(bytes, true, true);
                pair.linked.tick();
                pair.hear();
            }
            let share = pair.heard[1] as f64 / (pair.heard[0] + pair.heard[1]) as f64;
            assert!(
                (share - wanted).abs() < 0.1,
                "{share:.2} instead of {wanted} by messages of {bytes} bytes"
            );
        }
    }
}

/// The delays of messages in milliseconds, by their numbers.
#[derive(Default)]
struct Delays {
    sent: HashMap<u32, Duration>,
    delays: Vec<u64>,
}

impl Delays {
    fn arrived(&mut self, number: u32, now: Duration) {
        if let Some(sent) = self.sent.remove(&number) {
            self.delays.push((now - sent).as_millis() as u64);
        }
    }

    fn of_hundred(&mut self, part: usize) -> u64 {
        self.delays.sort_unstable();
        self.delays.get(self.delays.len() * part / 100).copied().unwrap_or(0)
    }
}

#[test]
fn r26_a_late_join_over_a_mobile_link_delays_neither_inputs_nor_chat() {
    const ROCKS: u32 = 18_200;
    let (mut inputs, mut chats) = (Delays::default(), Delays::default());
    let mut number = 0;
    for seed in 0..8 {
        let mut pair = Pair::new(seed, LinkConditions::mobile(), ServerConfig::default(), ROCKS, 16);
        pair.connect();
        while pair.client().objects::<Rock>().count() < ROCKS as usize {
            number += 1;
            let now = pair.linked.clock.now();
            pair.client().send(&Input(number)).unwrap();
            inputs.sent.insert(number, now);
            if number % 6 == 0 {
                pair.linked.server.connection(pair.connection).send(&Chat(number, "hello".into())).unwrap();
                chats.sent.insert(number, now);
            }
            pair.linked.tick();
            let now = pair.linked.clock.now();
            while let Some((_, Input(number))) = pair.linked.server.poll_message() {
                inputs.arrived(number, now);
            }
            while let Some(Chat(number, _)) = pair.client().poll_message() {
                chats.arrived(number, now);
            }
            assert!(now < Duration::from_secs(40));
        }
        [&mut inputs, &mut chats].into_iter().for_each(|delays| delays.sent.clear());
    }
    // On the idle link a message needs 100 to 180 ms, plus one tick on each side.
    let idle_ms = 140 + 33;
    let of_inputs = [inputs.of_hundred(50), inputs.of_hundred(95)];
    let of_chats = [chats.of_hundred(50), chats.of_hundred(90)];
    let arrived = inputs.delays.len() as u32;
    assert!(arrived * 100 > number * 92, "{arrived} of {number} inputs arrived");
    assert!(of_inputs[1] < idle_ms, "inputs took {of_inputs:?} ms");
    // One chat of five waits until a lost packet is sent again.
    assert!(of_chats[0] <= idle_ms * 8 / 5 && of_chats[1] <= idle_ms * 3, "chats took {of_chats:?} ms");
}
