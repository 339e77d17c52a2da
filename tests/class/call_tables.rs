//! What `#[rpcs]` generates: which function runs with which parameters, and how a call is written.
//!
//! *Invariant:* the tests use no network. The server makes calls to itself, and values are written to memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, BitWriter, NoObjects, ReferenceMap, Rpcs};

/// An object that logs which of its functions ran.
#[derive(Replicated, Default)]
#[replicated(name = "Hero")]
struct Player {
    #[replicated]
    health: u16,
    log: Vec<String>,
    reads: AtomicU32,
}

#[rpcs]
impl Player {
    const MOST: u8 = 15;

    #[rpc(server, reliable)]
    fn of_the_call(call: &mut ServerCall<'_, Self>, first: u16, second: u16, third: String) {
        let caller = call.caller();
        call.log.push(format!("call {first} {second} {third} {caller:?}"));
    }

    #[rpc(server, reliable)]
    fn of_the_object(&mut self, second: u16, first: u16) {
        self.log.push(format!("object {second} {first}"));
    }

    #[rpc(server, unreliable)]
    fn only_reads(&self, to: ObjectRef<Self>) {
        self.reads.fetch_add(u32::from(!to.is_null()), Ordering::Relaxed);
    }

    #[rpc(server, reliable, name = "type")]
    fn r#type(&mut self, call: u8, r#fn: u8) {
        self.log.push(format!("type {call} {}", r#fn));
    }

    #[rpc(server, reliable)]
    fn polled(
        #[replicated(range = 0..=Self::MOST)] small: u8,
        #[replicated(quantize(step = 0.5, range = -4.0..=3.5))] rounded: f32,
    );

    #[rpc(multicast, reliable)]
    fn everywhere(call: &mut MulticastCall<'_, Self>) {
        let is_client = call.client().is_some();
        call.log.push(format!("everywhere {is_client}"));
    }
}

/// A class like [`Player`] under another name.
mod renamed {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    #[replicated(name = "Hero")]
    pub(super) struct Fighter {
        #[replicated]
        health: u16,
    }

    #[rpcs]
    impl Fighter {
        #[rpc(server, reliable, name = "attack")]
        fn strike(&mut self, target: ObjectRef<Self>) {
            self.health -= u16::from(target.is_null());
        }
    }

    #[derive(Replicated, Default)]
    #[replicated(name = "Hero")]
    pub(super) struct Hero {
        #[replicated]
        health: u16,
    }

    #[rpcs]
    impl Hero {
        #[rpc(server, reliable)]
        fn attack(&mut self, target: ObjectRef<Self>) {
            self.health -= u16::from(target.is_null());
        }
    }
}

fn server() -> (Server, ObjectRef<Player>) {
    let mut server = Server::new(ServerConfig::default());
    server.register_calls::<Player>();
    let player = server.spawn(Player { health: 100, ..Player::default() });
    (server, player)
}

#[test]
fn s04_calls_are_numbered_in_the_order_of_their_declaration() {
    let calls = [
        PlayerCall::OfTheCall { first: 0, second: 0, third: String::new() },
        PlayerCall::OfTheObject { second: 0, first: 0 },
        PlayerCall::OnlyReads { to: ObjectRef::NULL },
        PlayerCall::Type { call: 0, r#fn: 0 },
        PlayerCall::Polled { small: 0, rounded: 0.0 },
        PlayerCall::Everywhere {},
    ];
    let numbers = calls.map(|call| {
        let mut writer = BitWriter::new();
        call.write(&mut writer).unwrap();
        BitReader::new(writer.finish()).read_below(6).unwrap()
    });
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn each_call_runs_its_function_with_its_parameters_in_order() {
    let (mut server, player) = server();
    server.call(player).of_the_call(1, 2, "three".to_owned()).unwrap();
    server.call(player).of_the_object(4, 5).unwrap();
    server.call(player).only_reads(player).unwrap();
    let mut calls = server.call(player);
    calls.r#type(6, 7).unwrap();
    calls.everywhere().unwrap();
    assert_eq!(server[player].log, [""; 0]);
    server.tick(Duration::ZERO);
    assert_eq!(server[player].log, ["call 1 2 three None", "object 4 5", "type 6 7", "everywhere false"]);
    assert_eq!(server[player].reads.load(Ordering::Relaxed), 1);
}

#[test]
fn a_call_without_a_body_waits_until_it_is_polled() {
    let (mut server, player) = server();
    server.call(player).polled(3, 1.25).unwrap();
    server.tick(Duration::ZERO);
    assert_eq!(server[player].log, [""; 0]);
    let received = server.poll_call::<Player>().expect("the call waits");
    assert_eq!((received.object, received.caller), (player, None));
    assert!(matches!(received.call, PlayerCall::Polled { small: 3, rounded: 1.25 }));
    assert!(server.poll_call::<Player>().is_none());
}

/// Writes a call and reads it again. Returns how many bits it takes, and the read call.
fn written(call: &PlayerCall) -> (usize, PlayerCall) {
    let mut writer = BitWriter::new();
    call.write(&mut writer).expect("the call has a form on the wire");
    let bits = writer.bit_len();
    let bytes = writer.into_bytes();
    let mut reader = BitReader::new(&bytes);
    let read = PlayerCall::read(&mut reader, &mut ReferenceMap::new(&NoObjects));
    (bits, read.expect("what was written can be read"))
}

#[test]
fn s219_a_parameter_is_written_in_the_form_of_its_attributes() {
    // The class has six calls, so the number of a call takes three bits. Each of the two parameters takes
    // four bits.
    let (bits, call) = written(&PlayerCall::Polled { small: 15, rounded: 1.3 });
    assert!((10..=11).contains(&bits), "{bits} bits");
    assert!(matches!(call, PlayerCall::Polled { small: 15, rounded: 1.5 }));
    let mut writer = BitWriter::new();
    assert!(PlayerCall::Polled { small: 16, rounded: 0.0 }.write(&mut writer).is_err());
}

#[test]
fn calls_are_numbered_in_the_order_of_their_declaration() {
    let everywhere = PlayerCall::Everywhere;
    assert_eq!(Player::number(&PlayerCall::OfTheObject { second: 0, first: 0 }), 1);
    assert_eq!(Player::number(&everywhere), 5);
    assert_eq!(Player::CALLS.len(), 6);
}

#[test]
fn names_on_the_wire_are_those_that_the_attributes_give() {
    assert_eq!(Player::CALLS.class(), "Hero");
    assert_eq!(renamed::Fighter::CALLS.class(), renamed::Hero::CALLS.class());
    assert_eq!(renamed::FighterCall::WIRE_FORM.checksum(), renamed::HeroCall::WIRE_FORM.checksum());
    assert_ne!(renamed::FighterCall::WIRE_FORM.checksum(), PlayerCall::WIRE_FORM.checksum());
}

/// A class with every form of call and parameter.
mod table {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    pub(super) struct Tank {
        #[replicated]
        pub(super) ammo: u16,
    }

    #[derive(NetSerialize, Clone)]
    pub(super) struct Crew {
        pub(super) names: Vec<String>,
    }

    #[rpcs]
    impl Tank {
        #[rpc(server, reliable, validate = may_fire, per_second = 10)]
        fn fire(
            &mut self,
            direction: u16,
            #[replicated(quantize(step = 0.01, range = -100.0..=100.0))] at: [f32; 3],
        ) {
            self.ammo -= u16::from(direction < 360 && at[0] > 0.0);
        }

        fn may_fire(&self, _: ConnectionId, _: &u16, _: &[f32; 3]) -> bool {
            self.ammo > 0
        }

        #[rpc(client, reliable, waits)]
        fn hit(by: ObjectRef<Self>, #[replicated(range = 0..=99)] damage: u16);

        #[rpc(multicast, unreliable)]
        fn explode();

        #[rpc(server, unreliable, name = "crew")]
        fn set_crew(crew: Crew, #[replicated(max_len = 24)] title: String, leader: Option<u8>);

        #[rpc(multicast, reliable)]
        fn move_by(&mut self, steps: Vec<(i8, i8)>, #[replicated(quantize(unit_vector = 12))] aim: [f32; 3]) {
            self.ammo += u16::from(steps.is_empty() && aim[0] > 0.0);
        }
    }
}

#[test]
fn a_table_of_calls_prints_as_a_reviewer_reads_it() {
    insta::assert_snapshot!(table::Tank::CALLS);
}
