//! Limits that both sides enforce: how many objects there may be, how large an object may be, and what a
//! client can store.
//!
//! *Invariant:* reaching a limit on the server never ends a connection.

use std::borrow::Cow;
use std::time::Duration;

use crate::support::{Guest, Room, SIGN_OF_LIFE_BYTES};
use repl::prelude::*;
use repl::tools::{Changelist, Class, HandleSet, Limit, Scratch};
use repl::{BitWriter, DisconnectReason, WriteError};

/// The greatest size of an object in most of these tests, in bytes.
const LIMIT: usize = 4_000;

/// A class whose objects can have any size. The tags of an object together exceed every limit in these tests.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Scroll {
    number: u32,
    tags: Vec<String>,
    other: Vec<String>,
    #[replicated(condition = OwnerOnly)]
    secret: Vec<String>,
    pages: Vec<Page>,
    seal: Seal,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Page {
    mark: u8,
    words: Vec<u16>,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Seal {
    #[default]
    None,
    Wax(Vec<u8>),
}

fn scrolls(client: &mut Client) {
    client.register::<Scroll>();
}

/// Returns a text of about this many bytes, in pieces of 500 bytes.
fn text(bytes: usize) -> Vec<String> {
    vec!["t".repeat(500); bytes / 500]
}

fn small() -> ServerConfig {
    ServerConfig { max_object_bytes: LIMIT, ..ServerConfig::default() }
}

/// Returns a room with this many guests and one scroll.
fn one_scroll(config: ServerConfig, guests: usize) -> (Room, ObjectRef<Scroll>) {
    Room::furnished(config, scrolls, guests, |server| server.spawn(Scroll::default()))
}

/// Adds a client with this configuration.
fn enter_with(room: &mut Room, config: ClientConfig) {
    let id = room.server.connect(room.now);
    let mut client = Client::new(config, Session::for_tests(1_000 + id.index() as u64));
    scrolls(&mut client);
    room.guests.push(Guest { client, id });
}

/// Returns the names of the properties that the server has refused.
fn refused_names(room: &mut Room) -> Vec<&'static str> {
    room.refused().into_iter().map(|(property, _)| property).collect()
}

fn seen(room: &Room, guest: usize, scroll: ObjectRef<Scroll>) -> Scroll {
    room.guests[guest].client.get(scroll).expect("the client has the scroll").clone()
}

#[test]
fn a_value_over_the_limit_ends_no_connection() {
    let (mut room, scroll) = one_scroll(ServerConfig::default(), 1);
    room.server[scroll].tags = text(500_000);
    room.server[scroll].number = 1;
    room.settle();
    assert!(room.client().is_connected());
    assert_eq!(seen(&room, 0, scroll), Scroll { number: 1, ..Scroll::default() });
    room.enter();
    room.settle();
    assert!(room.guests[1].client.is_connected(), "nor that of who comes later");
    assert_eq!(seen(&room, 1, scroll), Scroll { number: 1, ..Scroll::default() });
}

#[test]
fn a_value_over_the_limit_is_reported_once_with_its_size() {
    let (mut room, scroll) = one_scroll(small(), 1);
    room.refused();
    room.server[scroll].tags = text(5_000);
    room.settle();
    let told = room.refused();
    let [("tags", error @ WriteError::TooLarge { bytes, max: LIMIT })] = &told[..] else {
        panic!("{told:?}");
    };
    assert!((5_000..5_500).contains(bytes));
    assert_eq!(
        error.to_string(),
        format!("a value of {bytes} bytes would make the object larger than the limit of {LIMIT}")
    );
    for number in 0..10 {
        room.server[scroll].number = number;
        room.step();
    }
    assert_eq!(seen(&room, 0, scroll).number, 9);
    assert_eq!(refused_names(&mut room), [""; 0], "compared ten times, but not changed");
    room.server[scroll].tags = text(6_000);
    room.settle();
    assert_eq!(refused_names(&mut room), ["tags"], "it has changed");
    room.server[scroll].tags = text(5_000);
    room.settle();
    assert_eq!(refused_names(&mut room), ["tags"], "it has changed back");
    room.server[scroll].tags = text(500);
    room.settle();
    room.server[scroll].tags = text(6_000);
    room.settle();
    assert_eq!(refused_names(&mut room), ["tags"], "it fitted in between");
}

#[test]
fn a_value_over_the_limit_leaves_the_last_that_had_room_to_everyone() {
    let (mut room, scroll) = one_scroll(small(), 2);
    room.server[scroll].tags = text(2_000);
    room.settle();
    room.server[scroll].tags = text(5_000);
    room.server[scroll].other = text(1_000);
    room.server[scroll].number = 8;
    room.enter();
    room.settle();
    let expected = Scroll { number: 8, tags: text(2_000), other: text(1_000), ..Scroll::default() };
    for guest in 0..3 {
        assert_eq!(seen(&room, guest, scroll), expected, "guest {guest}");
    }
    let in_flight: Vec<_> = (0..3).map(|guest| room.in_flight(guest)).collect();
    let bytes = room.step();
    assert!(
        in_flight == [0; 3] && bytes <= 3 * 2 * SIGN_OF_LIFE_BYTES,
        "nothing is outstanding: {bytes} bytes"
    );
}

#[test]
fn a_refused_value_that_is_made_shorter_is_sent_again() {
    let (mut room, scroll) = one_scroll(small(), 2);
    room.server[scroll].tags = text(1_000);
    room.settle();
    for bytes in [5_000, 500, 9_000, 3_500, 4_000, 0, 100_000, 1_500] {
        room.server[scroll].tags = text(bytes);
        room.settle();
        if bytes < LIMIT {
            assert_eq!(seen(&room, 0, scroll).tags, text(bytes));
        }
        assert_eq!(seen(&room, 0, scroll), seen(&room, 1, scroll));
    }
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 2, scroll), room.server[scroll]);
}

#[test]
fn an_object_that_begins_over_the_limit_opens_with_the_rest() {
    let mut room = Room::new(small(), scrolls);
    let scroll = room.server.spawn(Scroll { number: 3, tags: text(20_000), ..Scroll::default() });
    room.enter();
    room.settle();
    assert_eq!(seen(&room, 0, scroll), Scroll { number: 3, ..Scroll::default() });
    room.server[scroll].tags.truncate(2);
    room.settle();
    assert_eq!(seen(&room, 0, scroll), room.server[scroll]);
}

#[test]
fn properties_share_the_room_of_their_object() {
    let (mut room, scroll) = one_scroll(small(), 1);
    room.refused();
    room.server[scroll].tags = text(3_000);
    room.server[scroll].other = text(1_500);
    room.settle();
    assert_eq!(refused_names(&mut room), ["tags"], "what grows least comes first");
    assert_eq!(seen(&room, 0, scroll), Scroll { other: text(1_500), ..Scroll::default() });
    room.server[scroll].other = text(500);
    room.settle();
    assert_eq!(seen(&room, 0, scroll), room.server[scroll], "there is room now");
    room.server[scroll].other = text(1_500);
    room.server[scroll].tags = text(500);
    room.settle();
    assert_eq!(seen(&room, 0, scroll), room.server[scroll], "one makes room for the other");
    assert_eq!(refused_names(&mut room), [""; 0]);
}

#[test]
fn properties_for_the_owner_count_for_the_size() {
    let (mut room, scroll) = one_scroll(small(), 2);
    let owner = room.guests[0].id;
    room.server[scroll].secret = text(3_000);
    room.settle();
    room.server[scroll].tags = text(3_000);
    room.server.object(scroll).set_owner(Some(owner));
    room.settle();
    assert_eq!(seen(&room, 0, scroll), Scroll { secret: text(3_000), ..Scroll::default() });
    assert_eq!(seen(&room, 1, scroll), Scroll::default());
}

/// Returns the next random number. The sequence is the same in every run.
fn random(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

/// Makes a random change. Often the new value is larger than the limits allow.
fn edit(scroll: &mut Scroll, seed: &mut u64) {
    let (what, size, at) = (random(seed) % 6, random(seed) % 60, random(seed));
    match what {
        0 => scroll.tags.resize(size, "u".repeat(at % 150)),
        1 => scroll.other.resize(size, "v".repeat(at % 100)),
        2 => scroll.seal = Seal::Wax(vec![7; size * 50]),
        3 => scroll.pages.resize(size, Page { mark: 1, words: vec![3; at % 20] }),
        4 if !scroll.pages.is_empty() => {
            let at = at % scroll.pages.len();
            scroll.pages[at].words.resize(size * 10, 9);
        }
        _ => scroll.pages.iter_mut().step_by(2).for_each(|page| page.mark = size as u8),
    }
}

#[test]
fn r15_a_client_with_the_same_limit_can_hold_every_accepted_object() {
    let mut seed = 5;
    for mtu_bytes in [128, 300, 1_200] {
        let (mut room, first) = one_scroll(ServerConfig { mtu_bytes, ..small() }, 0);
        let scrolls = [first, room.server.spawn(Scroll::default()), room.server.spawn(Scroll::default())];
        enter_with(&mut room, ClientConfig { max_object_bytes: LIMIT, ..ClientConfig::default() });
        room.settle();
        for round in 0..120 {
            for &scroll in &scrolls {
                edit(&mut room.server[scroll], &mut seed);
            }
            let packets = room.tick_one();
            let lost = random(&mut seed) % 4;
            for (at, packet) in packets.iter().enumerate() {
                if at % 4 != lost {
                    room.deliver(0, std::slice::from_ref(packet));
                }
            }
            room.acknowledge();
            if round % 40 == 0 {
                enter_with(&mut room, ClientConfig { max_object_bytes: LIMIT, ..ClientConfig::default() });
                room.settle();
                for &scroll in &scrolls {
                    assert_eq!(seen(&room, 0, scroll), seen(&room, 1, scroll));
                }
                room.guests.truncate(1);
            }
        }
        assert!(!room.refused().is_empty(), "the limit was reached");
    }
}

#[test]
fn no_update_or_opening_takes_more_than_was_counted() {
    let class = Class::<Scroll>::new();
    let all = HandleSet::up_to(class.program().handles());
    let (mut seed, mut live, mut shadow) = (9, Scroll::default(), Scroll::default());
    for _ in 0..300 {
        edit(&mut live, &mut seed);
        let fits =
            |max_bits: u64| class.keep_within(max_bits, &live, &shadow, &mut Cow::Borrowed(&all)).is_empty();
        let (mut below, mut counted) = (0, 1 << 30);
        while below + 1 < counted {
            let middle = (below + counted) / 2;
            if fits(middle) { counted = middle } else { below = middle }
        }
        let (mut changes, mut whole, mut refusals) = (Changelist::new(), Changelist::new(), Vec::new());
        class.compare(&live, &mut shadow, &all, &mut changes, &mut refusals, &mut Scratch::default());
        class.insert_whole(&all, &mut whole);
        let [update, opening] = [changes, whole].map(|list| {
            let mut writer = BitWriter::new();
            class.write_values(&shadow, &list, &mut writer).expect("every value has a form");
            writer.bit_len() as u64
        });
        if update > 0 {
            assert!(
                update.max(opening) + 300 < counted,
                "{update} and {opening} bits, but {counted} counted"
            );
            assert!(counted < opening + opening / 4 + 2_000, "{counted} bits counted for {opening}");
        }
    }
}

/// Returns the end of the session as each side reports it, for a server and a client with these limits.
fn verdict(server: ServerConfig, client: ClientConfig) -> (Option<DisconnectReason>, Option<ClientEvent>) {
    let mut room = Room::new(server, scrolls);
    room.server.spawn(Scroll::default());
    enter_with(&mut room, client);
    for _ in 0..20 {
        room.step();
    }
    let said = room.guests[0].client.poll_event();
    (room.closed(0), said)
}

#[test]
fn r21_a_client_with_small_limits_learns_which_limit_to_raise() {
    let default = ClientConfig::default;
    for (limit, client, figures, text) in [
        (
            Limit::Objects,
            ClientConfig { max_objects: 1_000, ..default() },
            (1_000, 65_536),
            "limits differ: `max_objects` is 1000 on the client and 65536 on the server: set `ClientConfig::max_objects` to 65536 or more, \
             or `ServerConfig::max_objects` to 1000 or less",
        ),
        (
            Limit::ObjectBytes,
            ClientConfig { max_object_bytes: 8_192, ..default() },
            (8_192, 262_144),
            "limits differ: `max_object_bytes` is 8192 on the client and 262144 on the server: set `ClientConfig::max_object_bytes` to \
             262144 or more, or `ServerConfig::max_object_bytes` to 8192 or less",
        ),
        (
            Limit::PacketBytes,
            ClientConfig { mtu_bytes: 507, ..default() },
            (507, 508),
            "limits differ: `mtu_bytes` is 507 on the client and 508 on the server: set `ClientConfig::mtu_bytes` to 508 or more, or \
             `ServerConfig::mtu_bytes` to 507 or less",
        ),
    ] {
        let (Some(reason), Some(said)) = verdict(ServerConfig::default(), client) else {
            panic!("{limit:?} was let in");
        };
        assert_eq!(said, ClientEvent::Disconnected(reason.clone()), "both sides say the same");
        assert_eq!(reason.to_string(), text);
        let DisconnectReason::Limits(mismatch) = reason else { panic!("{reason:?}") };
        assert_eq!((mismatch.limit, (mismatch.client, mismatch.server)), (limit, figures));
    }
}

#[test]
fn r21_a_client_with_the_same_limits_or_higher_ones_is_let_in() {
    let server =
        || ServerConfig { mtu_bytes: 500, max_objects: 10, max_object_bytes: 900, ..ServerConfig::default() };
    for more in [0, 1, usize::MAX >> 33] {
        let client = ClientConfig {
            mtu_bytes: 500 + more.min(1),
            max_objects: 10 + more.min(1),
            max_object_bytes: 900 + more,
            ..ClientConfig::default()
        };
        assert_eq!(verdict(server(), client), (None, Some(ClientEvent::Connected)));
    }
    let none = ServerConfig { max_object_bytes: usize::MAX, ..ServerConfig::default() };
    let client = ClientConfig { max_object_bytes: usize::MAX, ..ClientConfig::default() };
    assert_eq!(verdict(none, client), (None, Some(ClientEvent::Connected)));
}

#[test]
fn r21_a_lost_refusal_for_a_limit_is_sent_again() {
    let mut room = Room::new(ServerConfig::default(), scrolls);
    room.server.spawn(Scroll::default());
    enter_with(&mut room, ClientConfig { max_objects: 5, ..ClientConfig::default() });
    for _ in 0..30 {
        room.acknowledge();
        drop(room.tick());
    }
    assert_eq!(room.guests[0].client.poll_event(), None);
    for _ in 0..10 {
        room.step();
    }
    let said = room.guests[0].client.poll_event();
    assert!(matches!(said, Some(ClientEvent::Disconnected(DisconnectReason::Limits(_)))), "{said:?}");
}

#[test]
fn an_object_beyond_the_limit_does_not_register_its_class() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Leaf {
        page: u8,
    }

    let mut server = Server::new(ServerConfig { max_objects: 1, ..ServerConfig::default() });
    server.spawn(Scroll::default());
    assert!(server.try_spawn(Leaf { page: 1 }).is_err());
    server.register_external::<Leaf>();
}

#[test]
fn objects_beyond_the_limit_are_refused_and_the_others_are_still_updated() {
    let (mut room, _) = one_scroll(ServerConfig { max_objects: 3, ..ServerConfig::default() }, 0);
    enter_with(&mut room, ClientConfig { max_objects: 3, ..ClientConfig::default() });
    let second = room.server.try_spawn(Scroll { number: 2, ..Scroll::default() }).expect("room for it");
    room.server.try_spawn(Scroll { number: 3, ..Scroll::default() }).expect("room for it");
    let error = room.server.try_spawn(Scroll::default()).expect_err("no room");
    assert_eq!(error.max_objects, 3);
    assert_eq!(
        error.to_string(),
        "no slot is free: there are 3 objects, those included whose end some client has not acknowledged; `ServerConfig::max_objects` \
         allows no more"
    );
    room.settle();
    assert_eq!(room.client().objects::<Scroll>().count(), 3);
    room.server.despawn(second);
    assert!(room.server.try_spawn(Scroll::default()).is_err(), "the client has it still");
    room.settle();
    let fourth = room.server.try_spawn(Scroll { number: 4, ..Scroll::default() }).expect("room for it");
    room.settle();
    assert_eq!(seen(&room, 0, fourth).number, 4);
    assert!(room.client().is_connected());
}

#[test]
#[should_panic(expected = "no slot is free: there are 1 objects")]
fn spawning_beyond_the_limit_without_asking_is_refused_loudly() {
    let mut server = Server::new(ServerConfig { max_objects: 1, ..ServerConfig::default() });
    server.spawn(Scroll::default());
    server.spawn(Scroll::default());
}

#[test]
fn r09_signs_of_life_come_as_often_as_the_more_impatient_side_needs() {
    let pairs = [(10_000, 400), (400, 60_000), (10_000, 10_000), (2_000, 3_600_000)];
    for ((servers, clients), loses_welcome) in
        pairs.into_iter().flat_map(|pair| [(pair, false), (pair, true)])
    {
        let [servers, clients] = [servers, clients].map(Duration::from_millis);
        let (mut room, scroll) = one_scroll(ServerConfig { timeout: servers, ..ServerConfig::default() }, 0);
        enter_with(&mut room, ClientConfig { timeout: clients, ..ClientConfig::default() });
        for _ in 0..15 {
            room.acknowledge();
            let mut packets = room.tick_one();
            packets.retain(|packet| !loses_welcome || packet[4] & 1 == 0);
            room.deliver(0, &packets);
        }
        // A lost welcome is sent again. The server sends state only after the client has answered the
        // welcome.
        (0..15).for_each(|_| _ = room.step());
        let (start, mut last, mut longest) = (room.now, room.now, Duration::ZERO);
        while room.now < start + Duration::from_secs(3) {
            let packets = room.tick_one();
            if !packets.is_empty() {
                longest = longest.max(room.now - last);
                last = room.now;
            }
            room.deliver(0, &packets);
            room.acknowledge();
        }
        assert!(room.client().is_connected() && room.closed(0).is_none(), "{servers:?} and {clients:?}");
        assert!(room.client().contains(scroll));
        let allowed = servers.min(clients) / 40 + 2 * crate::support::TICK;
        assert!(longest <= allowed, "{longest:?} of silence, for {servers:?} and {clients:?}");
    }
}

/// A class with values of fixed width only.
#[derive(Replicated)]
struct Slab {
    #[replicated]
    body: [u64; 500],
}

impl Default for Slab {
    fn default() -> Self {
        Self { body: [0; 500] }
    }
}

#[test]
#[should_panic(
    expected = "bytes as it begins, but `max_object_bytes` is 1000: raise that here and on clients"
)]
fn a_class_that_never_has_room_is_refused_where_it_is_registered() {
    let mut server = Server::new(ServerConfig { max_object_bytes: 1_000, ..ServerConfig::default() });
    server.spawn(Slab::default());
}

#[test]
#[should_panic(expected = "bytes as it begins, but `max_object_bytes` is 1000")]
fn so_is_an_archetype() {
    let mut server = Server::new(ServerConfig { max_object_bytes: 1_000, ..ServerConfig::default() });
    server.register_archetype(|| Scroll { tags: text(2_000), ..Scroll::default() });
}
