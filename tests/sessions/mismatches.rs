//! The report of a client whose classes differ from the server's: the class, the property and the difference
//! (R21).
//!
//! *Invariant:* everything that affects the bits of a value, or the value before the first update, is
//! compared before any state is sent.

use crate::support::{Room, size};
use repl::prelude::*;
use repl::tools::{Difference, LayoutMismatch, Side};
use repl::{
    ArchetypeId, BitReader, BitWriter, DisconnectReason, MessageOptions, ReadError, ReferenceMap, WriteError,
};

/// A server or a client. Both sides can register the same classes and archetypes through this trait.
trait Registry {
    fn class<T: Replicated>(&mut self);
    fn archetype<T: Replicated>(&mut self, make: fn() -> T);
    fn message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel, options: MessageOptions);
    fn calls<T: Rpcs>(&mut self);
}

impl Registry for Server {
    fn message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel, options: MessageOptions) {
        self.register_message_with::<M>(channel, options);
    }

    fn calls<T: Rpcs>(&mut self) {
        self.register_calls::<T>();
    }

    fn class<T: Replicated>(&mut self) {
        self.register::<T>();
    }

    fn archetype<T: Replicated>(&mut self, make: fn() -> T) {
        self.register_archetype(make);
    }
}

impl Registry for Client {
    fn message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel, options: MessageOptions) {
        self.register_message_with::<M>(channel, options);
    }

    fn calls<T: Rpcs>(&mut self) {
        self.register_calls::<T>();
    }

    fn class<T: Replicated>(&mut self) {
        self.register::<T>();
    }

    fn archetype<T: Replicated>(&mut self, make: fn() -> T) {
        self.register_archetype(make);
    }
}

/// Two functions that register a class with the name `Ship`, one on the server and one on the client.
macro_rules! ship {
    ($(#[$class:meta])* { $($fields:tt)* } $($default:block)? $(, $archetype:expr)*) => {{
        #[derive(Replicated)]
        #[replicated(name = "Ship")]
        $(#[$class])*
        #[allow(dead_code, reason = "only what it begins with counts")]
        struct Made { $($fields)* }
        ship!(default $($default)?);

        fn register<R: Registry>(registry: &mut R) {
            registry.class::<Made>();
            $(registry.archetype::<Made>($archetype);)*
        }
        (register::<Server> as fn(&mut Server), register::<Client> as fn(&mut Client))
    }};
    (default $default:block) => {
        impl Default for Made {
            fn default() -> Self {
                $default
            }
        }
    };
}

/// Defines a class with these default values and these archetypes.
macro_rules! hull_of {
    ($hull:expr $(, $archetype:expr)*) => {
        ship!({ #[replicated] hull: u16, #[replicated] name: String }
              { Self { hull: $hull, name: String::from("ship") } }
              $(, || Made { hull: $archetype, ..Default::default() })*)
    };
}

type Sides = (fn(&mut Server), fn(&mut Client));

/// Returns the mismatch that both sides report, or `None` if the client is accepted.
fn told(server: Sides, client: Sides) -> Option<LayoutMismatch> {
    let mut room = Room::new(ServerConfig::default(), client.1);
    server.0(&mut room.server);
    room.enter();
    for _ in 0..60 {
        room.step();
    }
    let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
    match (room.closed(0), events.as_slice()) {
        (None, [ClientEvent::Connected, ..]) => None,
        (
            Some(DisconnectReason::Layouts(at_server)),
            [ClientEvent::Disconnected(DisconnectReason::Layouts(at_client))],
        ) => {
            assert_eq!(&at_server, at_client, "both are told the same");
            Some(at_server)
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the difference that the handshake finds in the class of these tests.
#[track_caller]
fn difference(server: Sides, client: Sides) -> Difference {
    let mismatch = told(server, client).expect("the two differ");
    assert_eq!(mismatch.class, "Ship");
    mismatch.difference
}

#[test]
fn r21_who_begins_alike_is_let_in() {
    assert_eq!(told(hull_of!(3, 4, 5), hull_of!(3, 4, 5)), None);
}

#[test]
fn r21_another_default_is_named_with_its_property() {
    let expected = Difference::Value { property: "hull".into(), archetype: 0 };
    assert_eq!(difference(hull_of!(3), hull_of!(4)), expected);
    let other_name = ship!({ #[replicated] hull: u16, #[replicated] name: String }
                           { Self { hull: 3, name: String::from("boat") } });
    let expected = Difference::Value { property: "name".into(), archetype: 0 };
    assert_eq!(difference(hull_of!(3), other_name), expected);
}

#[test]
fn r21_each_value_of_a_property_is_compared_also_if_few_clients_see_it() {
    macro_rules! places {
        ($places:expr, $secret:expr) => {
            ship!({ #[replicated] places: [u16; 2], #[replicated(condition = OwnerOnly)] secret: u16 }
                  { Self { places: $places, secret: $secret } })
        };
    }
    let value = |property: &str| Difference::Value { property: property.into(), archetype: 0 };
    assert_eq!(difference(places!([1, 2], 1), places!([1, 3], 1)), value("places"));
    assert_eq!(difference(places!([1, 2], 1), places!([1, 2], 2)), value("secret"));
}

#[test]
fn r21_archetypes_of_other_values_or_in_another_order_are_named() {
    let expected = |archetype| Difference::Value { property: "hull".into(), archetype };
    assert_eq!(difference(hull_of!(3, 4), hull_of!(3, 5)), expected(1));
    assert_eq!(difference(hull_of!(3, 4, 5, 6), hull_of!(3, 4, 6, 5)), expected(2));
}

#[test]
fn r21_an_archetype_that_one_side_lacks_is_named() {
    let missing = |archetype, missing_on| Difference::NoArchetype { archetype, missing_on };
    assert_eq!(difference(hull_of!(3, 4, 5), hull_of!(3, 4)), missing(2, Side::Client));
    assert_eq!(difference(hull_of!(3), hull_of!(3, 4)), missing(1, Side::Server));
}

#[test]
fn r21_values_are_compared_in_their_wire_form() {
    macro_rules! course {
        ($course:expr) => {
            ship!({ #[replicated(quantize(step = 0.5, range = 0.0..=8.0))] course: f32 } { Self { course: $course } })
        };
    }
    assert_eq!(told(course!(1.0), course!(1.1)), None, "the same step");
    let expected = Difference::Value { property: "course".into(), archetype: 0 };
    assert_eq!(difference(course!(1.0), course!(1.5)), expected);
    assert_eq!(told(course!(f32::NAN), course!(99.0)), None, "neither has a form");
    assert_eq!(difference(course!(f32::NAN), course!(1.0)), expected);
}

#[test]
fn r21_values_that_never_leave_the_server_are_not_compared() {
    macro_rules! secret {
        ($secret:expr) => {
            ship!({ #[replicated] hull: u16, #[replicated(condition = Never)] secret: u16, local: u16 }
                  { Self { hull: 1, secret: $secret, local: $secret } })
        };
    }
    assert_eq!(told(secret!(1), secret!(2)), None);
}

#[test]
fn r21_collections_are_compared_by_their_elements() {
    use std::collections::HashMap;
    macro_rules! cargo {
        ($goods:expr, $crew:expr) => {
            ship!({ #[replicated] goods: FastArray<u16>, #[replicated] crew: HashMap<u8, u8> }
                  { Self { goods: $goods.into(), crew: HashMap::from($crew) } })
        };
    }
    const CREW: [(u8, u8); 4] = [(1, 1), (2, 2), (3, 3), (4, 4)];
    const REVERSED: [(u8, u8); 4] = [(4, 4), (3, 3), (2, 2), (1, 1)];
    assert_eq!(told(cargo!([1, 2], CREW), cargo!([1, 2], REVERSED)), None, "maps have no order");
    let value = |property: &str| Difference::Value { property: property.into(), archetype: 0 };
    assert_eq!(difference(cargo!([1, 2], CREW), cargo!([1, 3], CREW)), value("goods"));
    assert_eq!(difference(cargo!([1, 2], CREW), cargo!([1, 2], [(1, 2)])), value("crew"));
}

mod fine {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(crate) const NAME: &str = "fine angle";

    pub(crate) fn write(value: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits((*value).into(), 16);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u16, ReadError> {
        Ok(reader.read_bits(16)? as u16)
    }
}

mod finer {
    pub(crate) use super::fine::{NAME, read, write};

    pub(crate) const VERSION: u32 = 2;
}

#[test]
fn r21_a_property_with_another_wire_form_is_reported_with_both_forms() {
    macro_rules! fields {
        ($($fields:tt)*) => {{
            #[derive(Replicated, Default)]
            #[replicated(all, name = "Ship")]
            struct Made { $($fields)* }
            fn register<R: Registry>(registry: &mut R) {
                registry.class::<Made>();
            }
            (register::<Server> as fn(&mut Server), register::<Client> as fn(&mut Client))
        }};
    }
    macro_rules! differ {
        ($server:literal { $($one:tt)* } $client:literal { $($other:tt)* } $property:literal) => {
            let sides = (fields!($($one)*), fields!($($other)*));
            let (property, client, server) = ($property.to_owned(), $client.to_owned(), $server.to_owned());
            assert_eq!(difference(sides.0, sides.1), Difference::Form { property, client, server });
        };
    }
    differ!("u16, 16 bits" { _hull: u16 } "u32, 32 bits" { _hull: u32 } "_hull");
    differ!("u8, 8 bits" { _hull: u8 } "u8 0..=9, 4 bits" { #[replicated(range = 0..=9)] _hull: u8 } "_hull");
    differ!("u8, 8 bits" { _a: u8, _hull: u8 }
            "u8, 8 bits, OwnerOnly" { _a: u8, #[replicated(condition = OwnerOnly)] _hull: u8 } "_hull");
    differ!("String, ≤ 4096 B" { _name: String } "String, ≤ 9 B" { #[replicated(max_len = 9)] _name: String } "_name");
    differ!("i16, 16 bits" { _way: Vec<(u8, i16)> } "u16, 16 bits" { _way: Vec<(u8, u16)> } "_way[].1");
    differ!("fine angle" { #[replicated(with = fine)] _angle: u16 }
            "fine angle v2" { #[replicated(with = finer)] _angle: u16 } "_angle");
    let missing = |missing_on| Difference::NoProperty { property: "_sail".into(), missing_on };
    let (one, two) = (fields!(_hull: u8), fields!(_hull: u8, _sail: u8));
    assert_eq!(difference(one, two), missing(Side::Server));
    assert_eq!(difference(two, one), missing(Side::Client));
    let swapped = fields!(_sail: u8, _hull: u8);
    assert_eq!(difference(two, swapped), Difference::Order { property: "_hull".into() });
    assert_eq!(difference(swapped, two), Difference::Order { property: "_sail".into() });
}

#[test]
fn r21_a_mismatch_says_what_to_do() {
    let said = |difference| LayoutMismatch { class: "Ship".into(), difference }.to_string();
    let property = || String::from("hull");
    insta::assert_snapshot!(
        [
            said(Difference::NoClass { missing_on: Side::Server }),
            said(Difference::NoProperty { property: property(), missing_on: Side::Client }),
            said(Difference::Form {
                property: property(),
                client: "u32, 32 bits".into(),
                server: "u16, 16 bits".into()
            }),
            said(Difference::Form { property: property(), client: "Cargo".into(), server: "Cargo".into() }),
            said(Difference::Order { property: property() }),
            said(Difference::NoArchetype { archetype: 2, missing_on: Side::Client }),
            said(Difference::Value { property: property(), archetype: 0 }),
            said(Difference::Value { property: property(), archetype: 2 }),
            said(Difference::Elsewhere),
        ]
        .join("\n")
    );
}

/// Two functions that register messages with the name `Chat`, one on the server and one on the client.
macro_rules! chat {
    ($fields:tt, $channel:expr $(, $option:ident: $value:expr)*) => {{
        #[derive(NetSerialize, Clone)]
        #[replicated(name = "Chat")]
        struct Made $fields;

        fn register<R: Registry>(registry: &mut R) {
            let options = MessageOptions { $($option: $value,)* ..MessageOptions::default() };
            registry.message::<Made>($channel, options);
        }
        (register::<Server> as fn(&mut Server), register::<Client> as fn(&mut Client))
    }};
}

/// Two functions that register the message type in the arguments, one on the server and one on the client.
macro_rules! message {
    ($($item:tt)*) => {{
        #[derive(NetSerialize, Clone)]
        $($item)*

        fn register<R: Registry>(registry: &mut R) {
            registry.message::<Made>(Channel::Ordered, MessageOptions::default());
        }
        (register::<Server> as fn(&mut Server), register::<Client> as fn(&mut Client))
    }};
}

/// A message with its own serialiser of this version.
struct Turn<const VERSION: u32>;

impl<const VERSION: u32> NetSerialize for Turn<VERSION> {
    const WIRE_NAME: &'static str = "Turn";
    const WIRE_VERSION: u32 = VERSION;

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(0, VERSION);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        reader.read_bits(VERSION).map(|_| Self)
    }
}

fn turn<const VERSION: u32>() -> Sides {
    fn register<R: Registry, const VERSION: u32>(registry: &mut R) {
        registry.message::<Turn<VERSION>>(Channel::Ordered, MessageOptions::default());
    }
    (register::<Server, VERSION>, register::<Client, VERSION>)
}

fn nothing() -> Sides {
    (|_| (), |_| ())
}

/// Checks the report of both sides about the class or type `name`, and returns the text of the report.
#[track_caller]
fn report(server: Sides, client: Sides, name: &str, expected: Difference) -> String {
    let mismatch = told(server, client).expect("the two differ");
    assert_eq!(mismatch, LayoutMismatch { class: name.to_owned(), difference: expected });
    mismatch.to_string()
}

fn form(property: &str, server: &str, client: &str) -> Difference {
    let (property, client, server) = (property.to_owned(), client.to_owned(), server.to_owned());
    Difference::Form { property, client, server }
}

#[test]
fn r21_messages_that_differ_are_named_with_what_differs() {
    let plain = || chat!((u8), Channel::Ordered);
    assert_eq!(told(plain(), plain()), None);
    assert_eq!(
        told(plain(), chat!((u8), Channel::Ordered, weight: 3)),
        None,
        "each side has its own weights"
    );
    let missing = |missing_on| Difference::NoClass { missing_on };
    let missing_field =
        |property: &str, missing_on| Difference::NoProperty { property: property.to_owned(), missing_on };
    let differ = |client, difference| report(plain(), client, "message Chat", difference);
    let named = message!(
        #[replicated(name = "Chat")]
        struct Made {
            text: u8,
            to: u8,
        }
    );
    let swapped = message!(
        #[replicated(name = "Chat")]
        struct Made {
            to: u8,
            text: u8,
        }
    );
    let mood = message!(
        #[replicated(name = "Mood")]
        enum Made {
            Sad,
            Glad { how: [u8; 2] },
        }
    );
    let moods = message!(
        #[replicated(name = "Mood")]
        enum Made {
            Sad,
            Glad { how: [u8; 2], why: u8 },
        }
    );
    let more_moods = message!(
        #[replicated(name = "Mood")]
        enum Made {
            Sad,
            Angry,
            Glad { how: [u8; 2] },
        }
    );
    let other_mood = message!(
        #[replicated(name = "Mood")]
        enum Made {
            Sad,
            Glad { how: [u16; 2] },
        }
    );
    let reports = [
        report(plain(), nothing(), "message Chat", missing(Side::Client)),
        report(nothing(), plain(), "message Chat", missing(Side::Server)),
        report(
            plain(),
            chat!((u8), Channel::Unordered),
            "message Chat",
            form("channel", "ordered", "unordered"),
        ),
        report(
            chat!((u8), Channel::Unreliable),
            chat!((u8), Channel::Sequenced { copies: 2 }),
            "message Chat",
            form("channel", "unreliable", "sequenced"),
        ),
        report(
            chat!((u8), Channel::Ordered, max_bytes: 300),
            plain(),
            "message Chat",
            form("max_bytes", "300", "65536"),
        ),
        report(
            plain(),
            chat!((u8), Channel::Ordered, per_second: 50),
            "message Chat",
            form("per_second", "1000", "50"),
        ),
        differ(chat!((u16), Channel::Ordered), form(".0", "u8, 8 bits", "u16, 16 bits")),
        differ(chat!((u8, u8), Channel::Ordered), missing_field(".1", Side::Server)),
        report(named, swapped, "message Chat", Difference::Order { property: ".text".to_owned() }),
        report(mood, moods, "message Mood", missing_field(".Glad.why", Side::Server)),
        report(mood, more_moods, "message Mood", form(".Glad", "variant 1", "variant 2")),
        report(mood, other_mood, "message Mood", form(".Glad.how[]", "u8, 8 bits", "u16, 16 bits")),
        report(turn::<1>(), turn::<2>(), "message Turn", form("", "Turn<1>", "Turn<2> v2")),
    ];
    insta::assert_snapshot!(reports.join("\n"));
}

/// Two functions that register a class with the name `Ship` and these calls, one on the server and one on the
/// client.
macro_rules! calls {
    ($($calls:tt)*) => {{
        #[derive(Replicated, Default)]
        #[replicated(all, name = "Ship")]
        struct Made {
            hull: u16,
        }

        #[rpcs]
        impl Made {
            $($calls)*
        }

        fn register<R: Registry>(registry: &mut R) {
            registry.calls::<Made>();
        }
        (register::<Server> as fn(&mut Server), register::<Client> as fn(&mut Client))
    }};
}

#[derive(NetSerialize, Clone)]
#[replicated(name = "Aim")]
struct Aim(u8);

#[derive(NetSerialize, Clone)]
#[replicated(name = "Aim")]
struct FineAim(u16);

#[test]
fn r21_calls_that_differ_are_named_with_what_differs() {
    let fire = || calls! { #[rpc(server, reliable)] fn fire(course: u16); };
    assert_eq!(told(fire(), fire()), None);
    let polled = calls! { #[rpc(server, reliable)] fn fire(&mut self, course: u16) { self.hull = course; } };
    assert_eq!(told(fire(), polled), None, "each side decides whether it polls a call");
    let two = || calls! { #[rpc(server, reliable)] fn fire(course: u16); #[rpc(client, reliable)] fn hit(); };
    let swapped =
        calls! { #[rpc(client, reliable)] fn hit(); #[rpc(server, reliable)] fn fire(course: u16); };
    let without = ship!({ #[replicated] hull: u16 } { Self { hull: 0 } });
    let missing =
        |property: &str, missing_on| Difference::NoProperty { property: property.to_owned(), missing_on };
    let alone = "server, reliable, 60 per second";
    let one = |client: Sides, expected| report(fire(), client, "calls of Ship", expected);
    let reports = [
        one(without, Difference::NoClass { missing_on: Side::Client }),
        one(two(), missing("hit", Side::Server)),
        report(two(), fire(), "calls of Ship", missing("hit", Side::Client)),
        report(two(), swapped, "calls of Ship", Difference::Order { property: "fire".to_owned() }),
        one(
            calls! { #[rpc(server, unreliable)] fn fire(course: u16); },
            form("fire", alone, "server, unreliable, 60 per second"),
        ),
        one(
            calls! { #[rpc(client, reliable)] fn fire(course: u16); },
            form("fire", alone, "client, reliable"),
        ),
        one(
            calls! { #[rpc(client, reliable, waits)] fn fire(course: u16); },
            form("fire", alone, "client, reliable, waits"),
        ),
        one(
            calls! { #[rpc(server, reliable, per_second = 7)] fn fire(course: u16); },
            form("fire", alone, "server, reliable, 7 per second"),
        ),
        one(
            calls! { #[rpc(server, reliable)] fn fire(course: u32); },
            form("fire.course", "u16, 16 bits", "u32, 32 bits"),
        ),
        one(calls! { #[rpc(server, reliable)] fn fire(); }, missing("fire.course", Side::Client)),
        one(
            calls! { #[rpc(server, reliable)] fn fire(course: u16, force: u8); },
            missing("fire.force", Side::Server),
        ),
        report(
            calls! { #[rpc(server, reliable)] fn fire(aim: Aim); },
            calls! { #[rpc(server, reliable)] fn fire(aim: FineAim); },
            "calls of Ship",
            form("fire.aim.0", "u8, 8 bits", "u16, 16 bits"),
        ),
    ];
    insta::assert_snapshot!(reports.join("\n"));
}

#[test]
fn r21_questions_and_refusals_are_no_longer_than_what_they_answer_after_the_hello() {
    let long = ship!({
        #[replicated]
        a_property_whose_name_is_as_long_as_names_that_people_give_to_properties_become_now_and_then_in_games: u16,
    } { Self { a_property_whose_name_is_as_long_as_names_that_people_give_to_properties_become_now_and_then_in_games: 7 } });
    let longer = ship!({
        #[replicated]
        a_property_whose_name_is_as_long_as_names_that_people_give_to_properties_become_now_and_then_in_games: u32,
    } { Self { a_property_whose_name_is_as_long_as_names_that_people_give_to_properties_become_now_and_then_in_games: 7 } });
    let mut room = Room::new(ServerConfig::default(), longer.1);
    long.0(&mut room.server);
    room.enter();
    for round in 0..40 {
        for packet in room.replies(0) {
            room.hear(0, std::slice::from_ref(&packet));
            let answer = crate::support::collect(&mut room.server, room.guests[0].id);
            assert!(
                size(&answer) <= packet.len(),
                "round {round}: {} bytes for {}",
                size(&answer),
                packet.len()
            );
            for packet in answer {
                room.guests[0].client.receive(room.now, &packet).ok();
            }
        }
        room.wait(crate::support::TICK);
    }
    let reason = room.closed(0);
    assert!(matches!(reason, Some(DisconnectReason::Layouts(_))), "{reason:?}");
}

#[test]
fn an_archetype_names_its_class() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Buoy {
        depth: u16,
    }
    let mut server = Server::new(ServerConfig::default());
    let deep: ArchetypeId<Buoy> = server.register_archetype(|| Buoy { depth: 9 });
    let buoy = server.spawn_from(deep, Buoy { depth: 9 });
    assert_eq!((deep.number(), server[buoy].depth), (1, 9));
}
