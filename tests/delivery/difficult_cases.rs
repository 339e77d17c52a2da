//! Difficult cases between a change and its arrival: late acks, full links, and objects that are removed and
//! added again immediately.
//!
//! *Invariant:* each test repeats, step by step, a failure that a random run once found.

use std::time::Duration;

use crate::support::{Packets, Room, SIGN_OF_LIFE_BYTES, TICK, leaks, property};
use repl::prelude::*;

#[derive(Replicated, Default)]
struct Thing {
    #[replicated]
    size: u16,
    #[replicated]
    text: String,
    #[replicated(condition = Custom)]
    secret: u16,
    #[replicated(notify = on_target)]
    target: ObjectRef<Self>,
    #[replicated(notify = on_place)]
    place: [u8; 3],
    old_targets: Vec<ObjectRef<Self>>,
    old_places: Vec<[u8; 3]>,
}

impl Thing {
    fn on_target(&mut self, old: &ObjectRef<Self>) {
        self.old_targets.push(*old);
    }

    fn on_place(&mut self, old: &[u8; 3]) {
        self.old_places.push(*old);
    }
}

fn thing(size: u16) -> Thing {
    Thing { size, ..Thing::default() }
}

fn register(client: &mut Client) {
    client.register::<Thing>();
}

fn one_thing(config: ServerConfig) -> (Room, ObjectRef<Thing>) {
    Room::furnished(config, register, 1, |server| server.register::<Thing>().spawn(thing(1)))
}

fn size_seen(room: &Room, object: ObjectRef<Thing>) -> Option<u16> {
    room.client().get(object).map(|thing| thing.size)
}

#[test]
fn r17_an_ack_of_an_earlier_closing_does_not_end_the_present_one() {
    let (mut room, object) = one_thing(ServerConfig::default());
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let first = room.tick_one();
    room.server[object].size = 2;
    let second = room.tick_one();
    assert!(!second.is_empty(), "the closing goes again");
    room.deliver(0, &first);
    let ack_of_first = room.replies(0);
    room.deliver(0, &second);
    let ack_of_second = room.replies(0);
    room.hear(0, &ack_of_first);
    room.server.object(object).set_visible(id, true);
    let opening = room.tick_one();
    room.deliver(0, &opening);
    room.server.despawn(object);
    room.tick_one();
    // This ack also acknowledges the closing. But the closing was sent before the object was shown again.
    room.hear(0, &ack_of_second);
    let next = room.server.spawn(thing(7));
    room.settle();
    assert!(!room.client().contains(object));
    assert_eq!(size_seen(&room, next), Some(7));
}

#[test]
fn r04_a_late_ack_of_a_closing_ends_it() {
    let (mut room, object) = one_thing(ServerConfig::default());
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let closing = room.tick_one();
    room.deliver(0, &closing);
    let late = room.replies(0);
    room.wait(Duration::from_secs(2));
    assert!(!room.tick_one().is_empty(), "the closing goes again");
    room.hear(0, &late);
    room.server.object(object).set_visible(id, true);
    let opening = room.tick_one();
    room.deliver(0, &opening);
    assert_eq!(size_seen(&room, object), Some(1));
}

#[test]
fn r10_a_change_of_an_object_being_opened_waits_for_room() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Thing>();
    let small = room.server.spawn(thing(1));
    for _ in 0..8 {
        room.server.spawn(Thing { text: "large".repeat(400), ..Thing::default() });
    }
    room.enter();
    // The client says hello and is welcomed. The packet with the small object arrives, but the eight packets
    // with large objects are lost.
    room.step();
    let proof = room.replies(0);
    room.hear(0, &proof);
    let packets = room.tick_one();
    room.deliver(0, &packets[..1]);
    assert_eq!(size_seen(&room, small), Some(1));
    room.server[small].text = "now it is large too".repeat(100);
    room.tick_one();
    room.acknowledge();
    room.settle();
    assert_eq!(room.client().get(small).map(|thing| thing.text.len()), Some(1_900));
}

#[test]
fn r01_waiting_and_shared_changes_of_an_object_are_in_a_packet_once() {
    let config = ServerConfig { max_bytes_per_tick: 1_000, ..ServerConfig::default() };
    let (mut room, object) = one_thing(config);
    room.server[object].size = 2;
    room.tick_one();
    room.wait(Duration::from_secs(1));
    room.server[object].size = 3;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert_eq!(size_seen(&room, object), Some(3));
    room.settle();
}

#[test]
fn objects_hidden_before_the_hello_are_not_sent() {
    let mut room = Room::new(ServerConfig::default(), register);
    let object = room.server.spawn(thing(1));
    let id = room.enter();
    room.server.object(object).set_visible(id, false);
    room.settle();
    assert!(!room.client().contains(object));
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(size_seen(&room, object), Some(1));
}

#[test]
fn s45_a_switch_for_one_connection_outlasts_that_it_sees_the_object() {
    let mut room = Room::new(ServerConfig::default(), register);
    let object = room.server.spawn(thing(1));
    let id = room.enter();
    let secret = property::<Thing>("secret");
    room.server.object(object).set_custom_active_for(id, secret, false);
    room.server[object].secret = 42;
    room.settle();
    let seen = |room: &Room| room.client().get(object).map(|thing| thing.secret);
    assert_eq!(seen(&room), Some(0));
    room.server.object(object).set_visible(id, false);
    room.settle();
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(seen(&room), Some(0));
    room.server.object(object).set_custom_active_for(id, secret, true);
    room.settle();
    assert_eq!(seen(&room), Some(42));
}

#[test]
fn s52_a_reference_that_heals_in_the_packet_that_brings_it_tells_the_old_one() {
    let (mut room, object) = one_thing(ServerConfig::default());
    room.server[object].target = object;
    room.settle();
    let newcomer = room.server.spawn(thing(2));
    room.server[object].target = newcomer;
    room.settle();
    let seen = room.client().get(object).expect("the object is there");
    assert_eq!((seen.target, &seen.old_targets), (newcomer, &vec![ObjectRef::NULL, object]));
}

#[test]
fn s52_the_old_value_of_a_static_array_is_all_of_what_was_shown() {
    let (mut room, object) = one_thing(ServerConfig::default());
    for (at, value) in [(0, 5), (1, 6), (0, 7)] {
        room.server[object].place[at] = value;
        room.settle();
    }
    let seen = room.client().get(object).expect("the object is there");
    assert_eq!(seen.old_places, [[0, 0, 0], [5, 0, 0], [5, 6, 0]]);
}

#[test]
fn r09_acks_lost_in_both_directions_are_repeated() {
    let (mut room, object) = one_thing(ServerConfig::default());
    // One packet in three arrives.
    for size in 2..40 {
        room.server[object].size = size;
        let packets = room.tick_one();
        if size % 3 == 0 {
            room.deliver(0, &packets);
        }
        room.acknowledge();
    }
    room.server[object].size = 40;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    let told = (0..10).filter(|_| {
        room.wait(TICK);
        !room.replies(0).is_empty()
    });
    // The client repeats its acks. If they are lost at the same rate as the packets that it has received, two
    // of them still arrive on average.
    assert_eq!(told.count(), 5);
}

/// Returns a room with one thing and one client. The client has acked its packets 600 ms late for some time.
fn slow_link() -> (Room, ObjectRef<Thing>) {
    let (mut room, object) = one_thing(ServerConfig::default());
    answer_late(&mut room, object);
    (room, object)
}

/// Changes the object several times. The client acks each change 600 ms late.
fn answer_late(room: &mut Room, object: ObjectRef<Thing>) {
    for size in 2..20 {
        room.server[object].size = size;
        let packets = room.tick_one();
        room.wait(Duration::from_millis(600));
        room.deliver(0, &packets);
        room.acknowledge();
    }
}

/// Returns, for each of the next 360 ticks, how many packets with state were sent up to this tick. The client
/// does not answer, so a sent packet is either in flight or declared lost.
fn sent_in_silence(room: &mut Room) -> Vec<u64> {
    let id = room.guests[0].id;
    let mut sent = Vec::new();
    for _ in 0..360 {
        room.tick_one();
        let stats = room.server.connection_info(id).stats().expect("it is connected");
        sent.push(stats.packets_in_flight as u64 + stats.packets_lost);
    }
    sent
}

#[test]
fn r09_a_closing_on_a_slow_link_is_tried_at_least_four_times_a_second() {
    let (mut room, object) = slow_link();
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let sent = sent_in_silence(&mut room);
    // In the first seconds the server notices that the client does not answer. After that, it sends again at
    // irregular intervals of 165 ms on average and 250 ms at most.
    let in_the_end = sent[359] - sent[179];
    assert!((12..=20).contains(&in_the_end), "{in_the_end} in three seconds");
}

#[test]
fn r09_a_slow_link_that_answers_again_is_not_tried_before_its_timeout() {
    let (mut room, object) = slow_link();
    room.server[object].size = 100;
    sent_in_silence(&mut room);
    answer_late(&mut room, object);
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let sent = sent_in_silence(&mut room);
    assert_eq!(sent[30], sent[0], "one closing in half a second");
    assert!(sent[120] > sent[0]);
}

#[test]
fn r09_the_parts_of_a_large_property_on_a_slow_link_are_tried_at_least_four_times_a_second() {
    let (mut room, object) = slow_link();
    room.server[object].text = "x".repeat(4_000);
    let sent = sent_in_silence(&mut room);
    assert_eq!(sent[0], 4, "the parts");
    let in_the_end = sent[359] - sent[179];
    assert!((4 * 12..=4 * 20).contains(&in_the_end), "{in_the_end} in three seconds");
}

#[test]
fn r15_no_part_of_a_large_object_is_sent_once_it_is_hidden() {
    let secret = "canary in a cave";
    let config = ServerConfig { max_bytes_per_tick: 1_200, ..ServerConfig::default() };
    let (mut room, object) = one_thing(config);
    let id = room.guests[0].id;
    room.server[object].text = secret.repeat(250);
    room.acknowledge();
    let packets = room.tick_one();
    assert!(packets.iter().any(|packet| leaks(packet, secret.as_bytes())), "a part is on its way");
    room.server.object(object).set_visible(id, false);
    for _ in 0..60 {
        room.acknowledge();
        let packets = room.tick_one();
        assert!(!packets.iter().any(|packet| leaks(packet, secret.as_bytes())));
        room.deliver(0, &packets);
    }
    room.server.object(object).set_visible(id, true);
    room.settle();
    assert_eq!(room.client().get(object).map(|thing| thing.text.len()), Some(4_000));
}

#[test]
fn a_hidden_object_is_not_in_step_and_nothing_of_it_is_sent() {
    let (mut room, object) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(thing(1)));
    let id = room.guests[0].id;
    let change = |room: &mut Room, size: u16| {
        room.server[object].size = size;
        room.server[object].text = format!("secret of {size}");
        let packets = room.tick();
        let secret = format!("secret of {size}");
        assert!(packets[1].iter().any(|packet| leaks(packet, secret.as_bytes())), "seen where it may be");
        assert!(!packets[0].iter().any(|packet| leaks(packet, secret.as_bytes())), "change {size}");
        packets
    };
    let sizes = |room: &Room| -> Vec<Option<u16>> {
        room.guests.iter().map(|guest| guest.client.get(object).map(|thing| thing.size)).collect()
    };
    // The object changes in the tick of the closing, while the closing is in flight, and after its ack.
    room.server.object(object).set_visible(id, false);
    let closing = change(&mut room, 2);
    room.deliver(1, &closing[1]);
    assert_eq!(sizes(&room), [Some(1), Some(2)]);
    let behind = change(&mut room, 3);
    room.deliver(1, &behind[1]);
    room.deliver(0, &behind[0]);
    room.deliver(0, &closing[0]);
    assert_eq!(sizes(&room), [None, Some(3)]);
    room.settle();
    for size in 4..10 {
        let packets = change(&mut room, size);
        assert!(packets[0].is_empty(), "a hidden object has nothing to tell");
        room.deliver(1, &packets[1]);
        room.acknowledge();
    }
    assert_eq!(sizes(&room), [None, Some(9)]);
    // The object is hidden from the new client before the client says hello.
    let late = room.enter();
    room.server.object(object).set_visible(late, false);
    room.settle();
    let packets = change(&mut room, 10);
    let with_state =
        |packets: &Packets| packets.iter().filter(|packet| packet.len() > SIGN_OF_LIFE_BYTES).count();
    assert_eq!(packets.iter().map(with_state).collect::<Vec<_>>(), [0, 1, 0]);
    room.deliver(1, &packets[1]);
    for guest in [id, late] {
        room.server.object(object).set_visible(guest, true);
    }
    room.settle();
    assert_eq!(sizes(&room), [Some(10); 3]);
}

#[test]
fn a_close_that_comes_late_does_not_end_a_later_stay() {
    let (mut room, object) = one_thing(ServerConfig::default());
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let first = room.tick_one();
    // The server declares the first packet lost. The next copy of the update arrives and is acked.
    room.settle();
    assert!(!room.client().contains(object));
    room.server.object(object).set_visible(id, true);
    room.server[object].size = 2;
    room.settle();
    assert_eq!(size_seen(&room, object), Some(2));
    room.deliver(0, &first);
    assert_eq!(size_seen(&room, object), Some(2), "the close was of the stay before");
    // Since the opening of this object, nothing of it was sent. Later updates must still find the object.
    room.server[object].size = 3;
    room.settle();
    assert_eq!(size_seen(&room, object), Some(3));
}

#[test]
fn an_ack_of_a_close_that_comes_late_does_not_end_a_later_stay() {
    let (mut room, object) = one_thing(ServerConfig::default());
    let id = room.guests[0].id;
    room.server.object(object).set_visible(id, false);
    let close = room.tick_one();
    room.deliver(0, &close);
    let ack = room.replies(0);
    // The ack of the first closing is delayed. A copy of the closing is acked instead.
    room.settle();
    room.server.object(object).set_visible(id, true);
    room.server[object].size = 2;
    let opening = room.tick_one();
    room.hear(0, &ack);
    room.deliver(0, &opening);
    room.acknowledge();
    assert_eq!(size_seen(&room, object), Some(2));
    room.hear(0, &ack);
    room.server[object].size = 3;
    let update = room.tick_one();
    assert_eq!(update.len(), 1, "the server knows that the object is there");
    room.deliver(0, &update);
    assert_eq!(size_seen(&room, object), Some(3));
    room.settle();
    assert_eq!(size_seen(&room, object), Some(3));
}

#[test]
fn s40_an_opening_that_another_change_repeats_has_what_goes_with_openings_alone_as_it_is_by_then() {
    #[derive(Replicated, Default)]
    struct Ship {
        #[replicated]
        speed: u16,
        #[replicated(condition = InitialOnly)]
        name: String,
    }
    let register = |client: &mut Client| _ = client.register::<Ship>();
    let (mut room, _) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Ship::default()));
    let ship = room.server.spawn(Ship { speed: 1, name: "first name".into() });
    room.tick_one();
    room.server[ship].speed = 2;
    room.server[ship].name = "second name".into();
    let again = room.tick_one();
    room.deliver(0, &again);
    let shown = room.client().get(ship).map(|ship| (ship.speed, ship.name.clone()));
    assert_eq!(shown, Some((2, "second name".to_owned())));
}

#[test]
fn s43_an_opening_that_is_acked_late_is_not_sent_again() {
    #[derive(Replicated, Default)]
    struct Ship {
        #[replicated]
        speed: u16,
        #[replicated(condition = InitialOnly)]
        name: String,
        #[replicated]
        crew: FastArray<u8>,
    }
    let register = |client: &mut Client| {
        client.register::<Ship>();
    };
    let (mut room, _) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Ship::default()));
    let new = || Ship { speed: 1, name: "first name".into(), crew: [1, 2, 3].into() };
    let ship = room.server.spawn(new());
    let opening = room.tick_one();
    room.deliver(0, &opening);
    let ack = room.replies(0);
    // The opening counts as lost, so the server sends it again. The second opening is lost.
    room.lose_until_noticed(0);
    room.server[ship].speed = 2;
    room.server[ship].name = "second name".into();
    room.server[ship].crew.remove(0);
    room.hear(0, &ack);
    let update = room.tick_one();
    assert!(!update.iter().any(|packet| leaks(packet, b"second name")), "the client has the ship");
    room.deliver(0, &update);
    room.settle();
    let shown = room.client().get(ship).expect("it is there");
    assert_eq!((shown.speed, shown.name.as_str()), (2, "first name"));
    let mut crew = shown.crew.to_vec();
    crew.sort_unstable();
    assert_eq!(crew, [2, 3], "who left meanwhile has gone");
}

#[test]
fn s43_an_opening_that_is_acked_before_it_could_go_again_has_no_initial_values_when_it_does() {
    #[derive(Replicated, Default)]
    struct Ship {
        #[replicated]
        log: String,
        #[replicated(condition = InitialOnly)]
        name: String,
    }
    let register = |client: &mut Client| _ = client.register::<Ship>();
    let config = ServerConfig { max_bytes_per_tick: 1_000, ..ServerConfig::default() };
    let (mut room, _) = Room::furnished(config, register, 1, |server| server.spawn(Ship::default()));
    let new = || Ship { log: "x".repeat(700), name: "first name".into() };
    let ships: Vec<_> = (0..4).map(|_| room.server.spawn(new())).collect();
    let lost = |room: &Room| {
        room.server.connection_info(room.guests[0].id).stats().map_or(0, |stats| stats.packets_lost)
    };
    let before = lost(&room);
    for _ in 0..4 {
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    let acks = room.replies(0);
    // The acks are lost, so the four openings are declared lost. A tick has room for only one opening, so
    // three openings still wait when the acks arrive.
    room.wait(Duration::from_secs(2));
    room.tick_one();
    assert_eq!(lost(&room), before + 4);
    room.hear(0, &acks);
    for &ship in &ships {
        room.server[ship].name = "second name".into();
        room.server[ship].log.push('y');
    }
    for _ in 0..8 {
        let packets = room.tick_one();
        assert!(!packets.iter().any(|packet| leaks(packet, b" name")), "the client has the ships");
        room.deliver(0, &packets);
    }
    room.settle();
    for ship in ships {
        let shown = room.client().get(ship).expect("it is there");
        assert_eq!((shown.log.len(), shown.name.as_str()), (701, "first name"));
    }
}
