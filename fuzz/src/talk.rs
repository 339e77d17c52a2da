//! The messages of the fuzzers, one type for each channel, and a class with calls of every kind.
//!
//! *Invariant:* a call that runs on the server was accepted by its validator and made by the owner of its
//! hero, or by the server itself. Each call that changes a hero also increases `runs`.

use repl::MessageOptions;
use repl::prelude::*;

use super::classes::Mood;

/// Arrives exactly once and in order. A chat may be larger than a packet.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub struct Chat(pub String);

/// Arrives exactly once.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub enum Score {
    Points(u32),
    Marks(Vec<u16>),
    Of(ObjectRef<Hero>, Option<Mood>),
}

/// Older inputs than the newest one may be missing.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub struct Input {
    pub way: [i8; 2],
    pub number: u16,
}

/// An effect may be missing.
#[derive(NetSerialize, Clone, Debug, PartialEq)]
pub struct Effect(pub u8, pub ObjectRef<Hero>);

/// The greatest value of a hero's place, and the greatest length of its name in bytes.
const MAX_SPOT: u16 = 999;
const MAX_NAME_BYTES: usize = 2_000;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
pub struct Hero {
    #[replicated]
    pub spot: u16,
    #[replicated]
    pub name: String,
    #[replicated]
    pub moods: Vec<Mood>,
    #[replicated]
    pub target: ObjectRef<Self>,
    /// How many calls have run on this copy of the hero.
    pub runs: u32,
}

impl Hero {
    fn is_name(name: &str) -> bool {
        name.len() <= MAX_NAME_BYTES && !name.contains('\0')
    }

    fn note(&mut self) {
        self.runs += 1;
    }
}

#[rpcs]
impl Hero {
    #[rpc(server, reliable, validate = may_go)]
    pub fn go(&mut self, spot: u16) {
        assert!(spot <= MAX_SPOT, "the validator was not asked");
        self.spot = spot;
        self.note();
    }

    fn may_go(&self, _: ConnectionId, spot: &u16) -> bool {
        *spot <= MAX_SPOT
    }

    #[rpc(server, reliable, validate = may_rename)]
    pub fn rename(call: &mut ServerCall<'_, Self>, name: String, moods: Vec<Mood>) {
        let (object, caller) = (call.object(), call.caller());
        assert!(Self::is_name(&name), "the validator was not asked");
        assert_eq!(call.server().object_info(object).owner(), caller, "only the owner calls");
        (call.name, call.moods) = (name, moods);
        call.note();
    }

    fn may_rename(&self, _: ConnectionId, name: &String, _: &Vec<Mood>) -> bool {
        Self::is_name(name)
    }

    #[rpc(server, unreliable, per_second = 100)]
    pub fn aim(&mut self, target: ObjectRef<Self>, _by: Option<i8>) {
        self.target = target;
        self.note();
    }

    #[rpc(server, reliable)]
    pub fn order(number: u8, at: Vec<ObjectRef<Hero>>);

    #[rpc(client, reliable)]
    pub fn hit(call: &mut ClientCall<'_, Self>, _damage: u16) {
        call.note();
    }

    #[rpc(client, reliable, waits)]
    pub fn follow(&mut self, leader: ObjectRef<Self>, _mood: Mood) {
        self.target = leader;
        self.note();
    }

    #[rpc(client, unreliable)]
    pub fn blink(&mut self, _times: u8) {
        self.note();
    }

    #[rpc(client, reliable)]
    pub fn question(number: u8);

    #[rpc(multicast, reliable)]
    pub fn announce(call: &mut MulticastCall<'_, Self>, _text: String) {
        call.note();
    }

    #[rpc(multicast, unreliable)]
    pub fn explode(&mut self, _strength: u16) {
        self.note();
    }
}

/// Registers the messages and calls at a server or a client.
pub fn register(side: &mut impl Register) {
    let chats = MessageOptions { max_bytes: 4_096, ..MessageOptions::default() };
    let inputs = MessageOptions { max_bytes: 16, per_second: 200, ..MessageOptions::default() };
    side.register_calls::<Hero>()
        .register_message_with::<Chat>(Channel::Ordered, chats)
        .register_message::<Score>(Channel::Unordered)
        .register_message_with::<Input>(Channel::Sequenced { copies: 3 }, inputs)
        .register_message::<Effect>(Channel::Unreliable);
}

/// The messages and calls that a side has received from the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub chats: usize,
    /// The bytes of all chats together.
    pub chat_bytes: usize,
    pub scores: usize,
    pub inputs: usize,
    pub effects: usize,
    /// The number of calls without a body that were polled.
    pub polled: usize,
}

impl Heard {
    /// Polls the messages of a client. Returns whether any had arrived.
    pub fn poll(&mut self, client: &mut Client) -> bool {
        let before = *self;
        while let Some(Chat(text)) = client.poll_message() {
            self.chats += 1;
            self.chat_bytes += text.len();
        }
        self.scores += std::iter::from_fn(|| client.poll_message::<Score>()).count();
        self.inputs += std::iter::from_fn(|| client.poll_message::<Input>()).count();
        self.effects += std::iter::from_fn(|| client.poll_message::<Effect>()).count();
        *self != before
    }

    /// Polls the messages of a server. Returns their senders.
    pub fn poll_server(&mut self, server: &mut Server) -> Vec<ConnectionId> {
        let mut senders = Vec::new();
        while let Some((from, Chat(text))) = server.poll_message() {
            self.chats += 1;
            self.chat_bytes += text.len();
            senders.push(from);
        }
        let chats = senders.len();
        senders.extend(std::iter::from_fn(|| server.poll_message::<Score>()).map(|(from, _)| from));
        let scores = senders.len();
        senders.extend(std::iter::from_fn(|| server.poll_message::<Input>()).map(|(from, _)| from));
        let inputs = senders.len();
        senders.extend(std::iter::from_fn(|| server.poll_message::<Effect>()).map(|(from, _)| from));
        self.scores += scores - chats;
        self.inputs += inputs - scores;
        self.effects += senders.len() - inputs;
        senders
    }
}

fn text(bytes: usize) -> String {
    "repl ".repeat(bytes / 5)
}

/// Sends a message or a call from a client, a different one in each tick. A side that may not send now sends
/// nothing.
pub fn say_to_server(client: &mut Client, hero: ObjectRef<Hero>, tick: usize) {
    let number = tick as u8;
    let mood = Mood::Angry { at: 3, words: vec!["so".into(); tick % 3] };
    match tick % 12 {
        0 => drop(client.send(&Chat(format!("tick {tick}")))),
        1 => drop(client.call(hero).go(tick as u16)),
        2 => drop(client.send(&Score::Marks(vec![9; tick % 7]))),
        3 => drop(client.call(hero).rename(text(tick * 9), vec![mood, Mood::Calm])),
        4 => drop(client.call(hero).aim(hero, Some(-3))),
        5 => drop(client.send(&Score::Of(hero, Some(mood)))),
        6 => drop(client.send(&Effect(number, hero))),
        7 => drop(client.call(hero).order(number, vec![hero, ObjectRef::NULL])),
        8 => drop(client.send(&Chat(text(400)))),
        9 => drop((client.call(hero).hit(4), client.call(hero).explode(5))),
        10 => drop(client.send(&Score::Points(77))),
        _ => drop(client.call(hero).aim(ObjectRef::NULL, None)),
    }
    drop(client.send(&Input { way: [1, -1], number: tick as u16 }));
}

/// Sends a message or a call from a server, a different one in each tick.
pub fn say_to_client(server: &mut Server, to: ConnectionId, heroes: &[ObjectRef<Hero>], tick: usize) {
    let Some(&hero) = heroes.iter().find(|&&hero| server.object_info(hero).owner() == Some(to)) else {
        return;
    };
    let other = heroes[tick % heroes.len()];
    match tick % 12 {
        0 => drop(server.call(hero).hit(9)),
        1 => drop(server.connection(to).send(&Chat(format!("tick {tick}")))),
        2 => drop(server.call(hero).follow(other, Mood::Lost(Some(-4)))),
        3 => drop(server.connection(to).send(&Score::Of(other, None))),
        4 => drop(server.call(hero).announce(text(tick))),
        5 => drop(server.connection(to).send(&Effect(7, hero))),
        6 => drop(server.call(other).explode(8)),
        7 => drop(server.call(hero).question(tick as u8)),
        8 => drop(server.connection(to).send(&Chat(text(if tick == 8 { 1_300 } else { 300 })))),
        9 => drop(server.call(hero).blink(2)),
        10 => drop(server.connection(to).send(&Score::Marks(vec![6; 5]))),
        _ => drop(server.call(hero).follow(ObjectRef::NULL, Mood::Calm)),
    }
    drop(server.connection(to).send(&Input { way: [0, 1], number: tick as u16 }));
}

pub fn heroes(server: &Server) -> Vec<(ObjectRef<Hero>, Hero)> {
    server.objects::<Hero>().map(|(reference, hero)| (reference, hero.clone())).collect()
}

/// Checks that each hero has changed only if a call ran on it.
pub fn assert_changed_by_calls(before: &[(ObjectRef<Hero>, Hero)], server: &Server) {
    for (reference, hero) in before {
        let Some(now) = server.get(*reference) else { continue };
        assert!(now == hero || now.runs > hero.runs, "{hero:?} became {now:?} without a call");
    }
}

/// Returns how many calls have run on the heroes of a client.
pub fn runs(client: &Client) -> u32 {
    client.objects::<Hero>().map(|(_, hero)| hero.runs).sum()
}
