//! Messages of all kinds in both directions, while the world changes.
//!
//! *Invariant:* each message of a client and a direction has its own number, so the test finds every message
//! that is lost, repeated or late.

use std::collections::{BTreeSet, HashMap};

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Channel, MessageOptions, SendError};

/// Lines of a chat, some of them longer than a packet.
#[derive(NetSerialize, Clone, Debug)]
struct Chat(u32, #[replicated(max_len = 100_000)] Vec<u8>);

/// Results, in any order.
#[derive(NetSerialize, Clone, Debug)]
struct Score(u32, #[replicated(max_len = 100_000)] Vec<u8>);

/// Inputs. Only the newest input counts.
#[derive(NetSerialize, Clone, Debug)]
struct Input(u32, #[replicated(max_len = 65536)] Vec<u8>);

/// Effects, which may be missing.
#[derive(NetSerialize, Clone, Debug)]
struct Effect(u32, #[replicated(max_len = 65536)] Vec<u8>);

const INPUTS: Channel = Channel::Sequenced { copies: 3 };
/// Chats and scores can be bulk messages. At most one bulk message of each type is sent at a time.
const BULK: MessageOptions = MessageOptions { max_bytes: 100_000, ..MessageOptions::DEFAULT };

pub(crate) fn register_on_client(client: &mut Client) {
    client.register_message_with::<Chat>(Channel::Ordered, BULK);
    client.register_message_with::<Score>(Channel::Unordered, BULK);
    client.register_message::<Input>(INPUTS).register_message::<Effect>(Channel::Unreliable);
}

pub(crate) fn register_on_server(server: &mut Server) {
    server.register_message::<Effect>(Channel::Unreliable).register_message::<Input>(INPUTS);
    server.register_message_with::<Score>(Channel::Unordered, BULK);
    server.register_message_with::<Chat>(Channel::Ordered, BULK);
}

/// The number of bytes of the largest messages that are not bulk, and of those that are.
pub(crate) const LARGEST_BYTES: usize = 20_000;
pub(crate) const BULK_BYTES: usize = 70_000;
/// The most bytes of messages that a connection stores, without bulk messages.
pub(crate) const STORED_BYTES: usize = 256 << 10;

/// Returns the content of a message of a kind: a few bytes, more than a packet, or many packets.
fn content(kind: usize, number: u32, plan: Talk) -> Vec<u8> {
    let bytes = match number.wrapping_mul(0x9e37_79b9) >> 24 {
        0 if plan.has_bulk && kind < 2 => BULK_BYTES,
        0..3 if plan.is_large => LARGEST_BYTES,
        3..13 if plan.is_large => 3_000,
        rest => rest as usize % 40,
    };
    vec![number as u8; bytes]
}

/// The messages that one side of a connection has sent, and the messages among them that the other side has
/// received.
#[derive(Debug, Default)]
struct Direction {
    /// How many chats, scores, inputs and effects were sent.
    sent: [u32; 4],
    chats: u32,
    scores: BTreeSet<u32>,
    newest_input: Option<u32>,
    effects: BTreeSet<u32>,
}

impl Direction {
    /// Sends the messages of this tick. The arguments of `send` are the kind, the number and the content.
    fn speak(
        &mut self,
        plan: Talk,
        rng: &mut Rng,
        mut send: impl FnMut(usize, u32, Vec<u8>) -> Result<(), SendError>,
    ) {
        for (kind, sent) in self.sent.iter_mut().enumerate() {
            if !rng.chance(plan.chances[kind]) {
                continue;
            }
            match send(kind, *sent, content(kind, *sent, plan)) {
                Ok(()) => *sent += 1,
                Err(SendError::NotConnected | SendError::Full | SendError::TooFast { .. }) => {}
                Err(error) => panic!("message {sent} of kind {kind}: {error}"),
            }
        }
    }

    fn heard(&mut self, kind: usize, number: u32, bytes: &[u8], plan: Talk) {
        assert!(number < self.sent[kind], "message {number} of kind {kind} was never sent");
        assert_eq!(bytes, content(kind, number, plan), "message {number} of kind {kind}");
        match kind {
            0 => {
                assert_eq!(number, self.chats, "chats arrive in order and once");
                self.chats += 1;
            }
            1 => assert!(self.scores.insert(number), "score {number} arrives once"),
            2 => {
                assert!(Some(number) > self.newest_input, "input {number} after {:?}", self.newest_input);
                self.newest_input = Some(number);
            }
            _ => assert!(self.effects.insert(number), "effect {number} arrives at most once"),
        }
    }

    /// Returns how many reliable messages have not arrived.
    fn missing(&self) -> u32 {
        self.sent[0] + self.sent[1] - self.chats - self.scores.len() as u32
    }
}

/// How many messages are sent in a run, and how large they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    /// The chance that a side sends a message in a tick: a chat, a score, an input, an effect.
    chances: [f64; 4],
    /// Whether some messages are larger than a packet.
    pub(crate) is_large: bool,
    /// Whether some chats and scores are bulk.
    pub(crate) has_bulk: bool,
}

impl Talk {
    /// Returns the messages of a seed's run. One run of three has no messages.
    pub(crate) fn new(seed: u64) -> Option<Self> {
        let mut rng = Rng::new(seed).fork(13);
        let rng = &mut rng;
        let chances = [0.0, 0.05, 0.5].map(|chance| chance * rng.unit());
        let mut chance = || *rng.pick(&chances).expect("chances");
        let chances = [chance(), chance(), chance(), chance()];
        let is_large = rng.chance(0.4);
        let has_bulk = is_large && rng.chance(0.5);
        (!seed.is_multiple_of(3)).then_some(Self { chances, is_large, has_bulk })
    }
}

/// The messages between the server and one client.
#[derive(Debug)]
pub(crate) struct Talks {
    plan: Option<Talk>,
    up: Direction,
    down: Direction,
    rng: Rng,
}

impl Talks {
    pub(crate) fn new(plan: Option<Talk>, seed: u64) -> Self {
        let rng = Rng::new(seed).fork(14);
        Self { plan, up: Direction::default(), down: Direction::default(), rng }
    }

    pub(crate) fn speak(&mut self, client: &mut Client, server: &mut Server, id: ConnectionId) {
        self.speak_up(client);
        self.speak_down(server, id);
    }

    /// Sends messages of a player.
    pub(crate) fn speak_up(&mut self, player: &mut impl LocalPlayer) {
        let Some(plan) = self.plan else { return };
        self.up.speak(plan, &mut self.rng, |kind, number, bytes| match kind {
            0 => player.send(&Chat(number, bytes)),
            1 => player.send(&Score(number, bytes)),
            2 => player.send(&Input(number, bytes)),
            _ => player.send(&Effect(number, bytes)),
        });
    }

    /// Sends messages of the server.
    pub(crate) fn speak_down(&mut self, server: &mut Server, id: ConnectionId) {
        let Some(plan) = self.plan else { return };
        self.down.speak(plan, &mut self.rng, |kind, number, bytes| match kind {
            0 => server.connection(id).send(&Chat(number, bytes)),
            1 => server.connection(id).send(&Score(number, bytes)),
            2 => server.connection(id).send(&Input(number, bytes)),
            _ => server.connection(id).send(&Effect(number, bytes)),
        });
    }

    /// Polls what the player has received.
    pub(crate) fn hear(&mut self, player: &mut impl LocalPlayer) {
        let Some(plan) = self.plan else { return };
        while let Some(Chat(number, bytes)) = player.poll_message() {
            self.down.heard(0, number, &bytes, plan);
        }
        while let Some(Score(number, bytes)) = player.poll_message() {
            self.down.heard(1, number, &bytes, plan);
        }
        while let Some(Input(number, bytes)) = player.poll_message() {
            self.down.heard(2, number, &bytes, plan);
        }
        while let Some(Effect(number, bytes)) = player.poll_message() {
            self.down.heard(3, number, &bytes, plan);
        }
    }

    /// Returns whether all messages have arrived, also the unreliable ones.
    pub(crate) fn has_all(&self) -> bool {
        [&self.up, &self.down].into_iter().all(|way| {
            let [_, _, inputs, effects] = way.sent;
            way.missing() == 0
                && way.newest_input == inputs.checked_sub(1)
                && way.effects.len() == effects as usize
        })
    }

    /// Returns which reliable messages are missing, in both directions.
    pub(crate) fn difference(&self) -> Option<String> {
        let (up, down) = (self.up.missing(), self.down.missing());
        (up + down > 0).then(|| {
            let [up_kinds, down_kinds] =
                [&self.up, &self.down].map(|way| (way.sent, way.chats, way.scores.len()));
            format!("{up} messages to the server {up_kinds:?} and {down} from it {down_kinds:?} are missing")
        })
    }
}

/// Polls what the server has received. Messages of clients that left do not count any more.
pub(crate) fn hear_on_server(server: &mut Server, talks: &mut HashMap<ConnectionId, &mut Talks>) {
    let mut heard = |id, kind, number, bytes: &[u8]| {
        if let Some(talks) = talks.get_mut(&id)
            && let Some(plan) = talks.plan
        {
            talks.up.heard(kind, number, bytes, plan);
        }
    };
    while let Some((id, Chat(number, bytes))) = server.poll_message() {
        heard(id, 0, number, &bytes);
    }
    while let Some((id, Score(number, bytes))) = server.poll_message() {
        heard(id, 1, number, &bytes);
    }
    while let Some((id, Input(number, bytes))) = server.poll_message() {
        heard(id, 2, number, &bytes);
    }
    while let Some((id, Effect(number, bytes))) = server.poll_message() {
        heard(id, 3, number, &bytes);
    }
}
