//! Custom conditions that are switched off: for an object, for a connection, and from the start (S45, R15,
//! R16).
//!
//! *Invariant:* secrets are texts of 16 bytes that occur nowhere else. The tests search every packet for
//! these secrets at every bit offset.

use std::time::Duration;

use repl::PropertyIndex;
use repl::prelude::*;

use crate::support::{Packets, Room, TICK, leaks, property};

const SECRET: &str = "canary-of-a-plan";
const RUMOUR: &str = "canary-of-a-talk";

#[derive(Replicated, Default)]
struct Agent {
    #[replicated(condition = Custom, notify = on_plan, max_len = 40_000)]
    plan: String,
    #[replicated(condition = Custom, starts_off)]
    talk: String,
    #[replicated]
    place: u16,
    told: Vec<(String, String)>,
}

impl Agent {
    #[expect(clippy::ptr_arg, reason = "a notify gets a reference to the field's own type")]
    fn on_plan(&mut self, old: &String) {
        self.told.push((old.clone(), self.plan.clone()));
    }
}

fn room_with(config: ServerConfig, guests: usize) -> (Room, ObjectRef<Agent>) {
    let register = |client: &mut Client| {
        client.register::<Agent>();
    };
    Room::furnished(config, register, guests, |server| server.spawn(Agent::default()))
}

fn room(guests: usize) -> (Room, ObjectRef<Agent>) {
    room_with(ServerConfig::default(), guests)
}

fn plan() -> PropertyIndex<Agent> {
    property::<Agent>("plan")
}

fn talk() -> PropertyIndex<Agent> {
    property::<Agent>("talk")
}

fn plans(room: &Room, agent: ObjectRef<Agent>) -> Vec<&str> {
    room.guests.iter().map(|guest| guest.client.get(agent).map_or("?", |agent| &agent.plan)).collect()
}

fn talks(room: &Room, agent: ObjectRef<Agent>) -> Vec<&str> {
    room.guests.iter().map(|guest| guest.client.get(agent).map_or("?", |agent| &agent.talk)).collect()
}

fn holds(packets: &Packets, secret: &str) -> bool {
    packets.iter().any(|packet| leaks(packet, secret.as_bytes()))
}

/// Runs steps for at least a second, and until the server sends nothing more. Asserts that no packet contains
/// `secret`.
fn settle_without(room: &mut Room, secret: &str) {
    for _ in 0..60 {
        room.acknowledge();
        for (guest, packets) in room.tick().into_iter().enumerate() {
            assert!(!holds(&packets, secret), "a packet for guest {guest}");
            room.deliver(guest, &packets);
        }
    }
    room.settle();
}

#[test]
fn r16_who_joins_while_the_object_is_off_gets_no_byte_of_it() {
    for share in [true, false] {
        let (mut room, agent) =
            Room::measuring(|| room_with(ServerConfig { share, ..ServerConfig::default() }, 1));
        room.server[agent].plan = SECRET.into();
        room.settle();
        // This client joins while the switch is on. The server keeps the encoded opening for the next client.
        room.enter();
        room.settle();
        room.server.object(agent).set_custom_active(plan(), false);
        room.enter();
        room.enter_replay();
        let owner = room.enter();
        room.server.object(agent).set_owner(Some(owner));
        settle_without(&mut room, SECRET);
        assert_eq!(plans(&room, agent), [SECRET, SECRET, "", "", ""], "the last begin as the archetype");
        room.server.object(agent).set_custom_active(plan(), true);
        room.settle();
        assert_eq!(plans(&room, agent), [SECRET; 5]);
        assert_eq!(room.updates::<Agent>(0, "plan"), 1, "it had the value already");
        assert_eq!(room.updates::<Agent>(2, "plan"), 1);
    }
}

#[test]
fn r16_values_switched_off_before_the_tick_are_not_sent() {
    let (mut room, agent) = room(2);
    room.server[agent].plan = SECRET.into();
    room.server.object(agent).set_custom_active(plan(), false);
    settle_without(&mut room, SECRET);
    // The switch is switched on and off again in one tick.
    room.server.object(agent).set_custom_active(plan(), true);
    room.server.object(agent).set_custom_active(plan(), false);
    settle_without(&mut room, SECRET);
    room.server.object(agent).set_custom_active(plan(), true);
    room.settle();
    assert_eq!(plans(&room, agent), [SECRET; 2]);
}

#[test]
fn r16_lost_values_are_not_sent_again_while_off() {
    let (mut room, agent) = Room::measuring(|| room(2));
    room.server[agent].plan = SECRET.into();
    let packets = room.tick();
    assert!(holds(&packets[0], SECRET) && holds(&packets[1], SECRET));
    room.deliver(1, &packets[1]);
    room.server.object(agent).set_custom_active(plan(), false);
    settle_without(&mut room, SECRET);
    assert_eq!(plans(&room, agent), ["", SECRET]);
    room.server.object(agent).set_custom_active(plan(), true);
    room.settle();
    assert_eq!(plans(&room, agent), [SECRET; 2]);
    assert_eq!([0, 1].map(|guest| room.updates::<Agent>(guest, "plan")), [1, 1]);
}

#[test]
fn r16_an_opening_that_was_lost_is_sent_again_without_what_is_off() {
    let (mut room, agent) = room(1);
    room.server[agent].plan = SECRET.into();
    room.settle();
    room.enter();
    room.step();
    room.acknowledge();
    let packets = room.tick();
    assert!(holds(&packets[1], SECRET), "the opening, which is lost");
    room.server.object(agent).set_custom_active(plan(), false);
    settle_without(&mut room, SECRET);
    assert_eq!(plans(&room, agent), [SECRET, ""]);
    room.server.object(agent).set_custom_active(plan(), true);
    room.settle();
    assert_eq!(plans(&room, agent), [SECRET; 2]);
}

#[test]
fn r16_waiting_changes_are_not_sent_while_off() {
    let (mut room, agent) =
        room_with(ServerConfig { max_bytes_per_tick: 200, mtu_bytes: 200, ..ServerConfig::default() }, 1);
    let others: Vec<_> = (0..100).map(|_| room.server.spawn(Agent::default())).collect();
    room.settle();
    for &other in others.iter().chain([&agent]) {
        room.server[other].plan = SECRET.into();
    }
    room.step();
    for &other in others.iter().chain([&agent]) {
        room.server.object(other).set_custom_active(plan(), false);
    }
    settle_without(&mut room, SECRET);
    let lacking = |room: &Room| others.iter().filter(|&&other| room.client()[other].plan.is_empty()).count();
    assert!(lacking(&room) > 20, "most had no room: {}", lacking(&room));
    others.iter().for_each(|&other| _ = room.server.object(other).set_custom_active(plan(), true));
    room.settle();
    assert_eq!(lacking(&room), 0);
}

#[test]
fn s42_r16_changes_of_a_waiting_object_are_sent_when_switched_on() {
    let config = ServerConfig { max_bytes_per_tick: 200, mtu_bytes: 200, ..ServerConfig::default() };
    let (mut room, agent) = room_with(config, 1);
    let mut all: Vec<_> = (0..199).map(|_| room.server.spawn(Agent::default())).collect();
    all.push(agent);
    room.settle();
    all.iter().for_each(|&agent| room.server[agent].place = 7);
    room.step();
    // Changes of most objects already wait to be sent.
    all.iter().for_each(|&agent| room.server[agent].plan = SECRET.into());
    room.step();
    all.iter().for_each(|&agent| _ = room.server.object(agent).set_custom_active(plan(), false));
    settle_without(&mut room, SECRET);
    let lacking = |room: &Room| all.iter().filter(|&&agent| room.client()[agent].plan.is_empty()).count();
    assert!(lacking(&room) > 100, "most had no room: {}", lacking(&room));
    assert!(all.iter().all(|&agent| room.client()[agent].place == 7));
    all.iter().for_each(|&agent| _ = room.server.object(agent).set_custom_active(plan(), true));
    room.settle();
    assert_eq!(lacking(&room), 0);
}

#[test]
fn r16_lost_values_that_are_switched_off_are_sent_when_switched_on() {
    let config = ServerConfig { max_bytes_per_tick: 200, mtu_bytes: 200, ..ServerConfig::default() };
    let (mut room, agent) = room_with(config, 1);
    let mut all: Vec<_> = (0..99).map(|_| room.server.spawn(Agent::default())).collect();
    all.push(agent);
    room.settle();
    all.iter().for_each(|&agent| room.server[agent].plan = SECRET.into());
    // All objects are sent and all packets are lost, so quickly that nothing is sent a second time.
    for _ in 0..60 {
        room.tick();
        room.now -= TICK - Duration::from_micros(5);
    }
    assert!(room.tick_one().is_empty(), "everything is in flight");
    room.wait(Duration::from_secs(1));
    // All packets are declared lost. Only a small part of their content is sent again at once.
    room.tick();
    all.iter().for_each(|&agent| _ = room.server.object(agent).set_custom_active(plan(), false));
    settle_without(&mut room, SECRET);
    let lacking = |room: &Room| all.iter().filter(|&&agent| room.client()[agent].plan.is_empty()).count();
    assert_eq!(lacking(&room), all.len());
    all.iter().for_each(|&agent| _ = room.server.object(agent).set_custom_active(plan(), true));
    room.settle();
    assert_eq!(lacking(&room), 0);
}

#[test]
fn r15_fragments_under_way_are_given_up_when_their_property_is_switched_off() {
    let long = format!("{SECRET} ").repeat(1_000);
    for late in [false, true] {
        let (mut room, agent) =
            room_with(ServerConfig { max_bytes_per_tick: 2_000, ..ServerConfig::default() }, 1);
        room.server[agent].plan = long.clone();
        if late {
            room.enter();
        } else {
            room.settle();
            room.server[agent].plan += "!";
        }
        (0..3).for_each(|_| _ = room.step());
        assert_ne!(plans(&room, agent).last(), Some(&room.server[agent].plan.as_str()), "under way");
        room.server.object(agent).set_custom_active(plan(), false);
        settle_without(&mut room, SECRET);
        room.server.object(agent).set_custom_active(plan(), true);
        room.settle();
        let truth = room.server[agent].plan.as_str();
        assert!(plans(&room, agent).iter().all(|plan| *plan == truth));
    }
}

#[test]
fn s45_when_switched_on_again_each_client_gets_missing_values_once() {
    let (mut room, agent) = Room::measuring(|| room(3));
    room.server[agent].plan = "first".into();
    room.settle();
    room.server[agent].plan = "second".into();
    let packets = room.tick();
    // The packets to the first client are lost. The other clients receive their packets.
    (1..3).for_each(|guest| room.deliver(guest, &packets[guest]));
    room.server.object(agent).set_custom_active(plan(), false);
    room.server[agent].plan = "third".into();
    room.enter();
    room.settle();
    assert_eq!(plans(&room, agent), ["first", "second", "second", ""]);
    room.server[agent].plan = "second".into();
    room.server.object(agent).set_custom_active(plan(), true);
    room.settle();
    assert_eq!(plans(&room, agent), ["second"; 4]);
    let told = |guest: usize| {
        room.guests[guest].client[agent].told.iter().map(|(old, _)| old.as_str()).collect::<Vec<_>>()
    };
    assert_eq!([told(0), told(1), told(3)], [vec!["", "first"], vec!["", "first"], vec![""]]);
    assert_eq!([0, 1, 2, 3].map(|guest| room.updates::<Agent>(guest, "plan")), [2, 2, 2, 1]);
}

#[test]
fn s45_a_value_goes_out_while_both_switches_are_on() {
    let (mut room, agent) = room(2);
    let ids = [room.guests[0].id, room.guests[1].id];
    let mut shown = [0, 0];
    for round in 1..40_usize {
        // The rounds contain every change of one of the three switches, in every state of the other two.
        let for_object = round / 4 % 2 == 0;
        let for_one = [round % 3 > 0, round % 5 > 1];
        room.server.object(agent).set_custom_active(talk(), for_object);
        for guest in 0..2 {
            room.server.object(agent).set_custom_active_for(ids[guest], talk(), for_one[guest]);
        }
        room.server[agent].talk = round.to_string();
        room.settle();
        for guest in 0..2 {
            if for_object && for_one[guest] {
                shown[guest] = round;
            }
            let expected = if shown[guest] == 0 { String::new() } else { shown[guest].to_string() };
            assert_eq!(talks(&room, agent)[guest], expected, "round {round}, guest {guest}");
        }
    }
}

#[test]
fn properties_that_start_off_reach_no_client_until_they_are_switched_on_for_it() {
    let (mut room, agent) = room(1);
    room.server[agent].talk = RUMOUR.into();
    let other = room.server.spawn(Agent { talk: RUMOUR.into(), ..Agent::default() });
    // This test polls no events. The property starts off, without a call that switches it off.
    room.enter();
    room.enter_replay();
    settle_without(&mut room, RUMOUR);
    assert_eq!(talks(&room, agent), [""; 3]);
    let second = room.guests[1].id;
    room.server.object(agent).set_custom_active_for(second, talk(), true);
    room.acknowledge();
    let packets = room.tick();
    assert_eq!([0, 1, 2].map(|guest| holds(&packets[guest], RUMOUR)), [false, true, false]);
    room.settle();
    assert_eq!((talks(&room, agent), talks(&room, other)), (vec!["", RUMOUR, ""], vec![""; 3]));
    // For a client that joins later, a client that reconnects, and a respawned object, the property starts
    // off again.
    room.enter();
    room.server.connection(second).disconnect();
    room.guests.remove(1);
    room.settle();
    room.server.despawn(agent);
    let again = room.server.spawn(Agent { talk: RUMOUR.into(), ..Agent::default() });
    settle_without(&mut room, RUMOUR);
    assert_eq!(talks(&room, again), [""; 3]);
}

#[test]
fn properties_that_start_off_can_be_switched_on_before_the_hello() {
    let (mut room, agent) = Room::measuring(|| room(1));
    room.server[agent].talk = RUMOUR.into();
    let second = room.enter();
    room.server.object(agent).set_custom_active_for(second, talk(), true);
    room.settle();
    assert_eq!(talks(&room, agent), ["", RUMOUR]);
    assert_eq!(room.updates::<Agent>(1, "talk"), 1, "with the opening");
    room.server.object(agent).set_custom_active_for(second, talk(), false);
    room.server[agent].talk = "another".into();
    room.settle();
    assert_eq!(talks(&room, agent), ["", RUMOUR]);
    // The switch of the second client is in its declared state again, so both clients get the same packets.
    room.server[agent].place = 1;
    let packets = room.tick();
    let bodies = [0, 1].map(|guest| packets[guest].iter().map(Vec::len).collect::<Vec<_>>());
    assert_eq!((bodies[0].len(), &bodies[0]), (1, &bodies[1]));
}

#[test]
fn a_hidden_object_is_shown_again_without_properties_that_were_switched_off() {
    let (mut room, agent) = room(1);
    let id = room.guests[0].id;
    room.server[agent].plan = SECRET.into();
    room.settle();
    room.server.object(agent).set_visible(id, false);
    room.settle();
    room.server.object(agent).set_custom_active(plan(), false);
    room.server.object(agent).set_visible(id, true);
    settle_without(&mut room, SECRET);
    assert_eq!(plans(&room, agent), [""]);
    room.server.object(agent).set_custom_active(plan(), true);
    room.settle();
    assert_eq!(plans(&room, agent), [SECRET]);
}

#[test]
fn r18_switches_for_one_connection_end_with_their_object() {
    let (mut room, agent) = room(1);
    let id = room.guests[0].id;
    room.server.object(agent).set_custom_active_for(id, plan(), false);
    room.server.object(agent).set_custom_active_for(id, talk(), true);
    room.settle();
    room.server.despawn(agent);
    room.settle();
    let next = room.server.spawn(Agent { plan: RUMOUR.into(), talk: SECRET.into(), ..Agent::default() });
    assert_eq!(next.guid().map(|guid| guid.slot()), agent.guid().map(|guid| guid.slot()));
    settle_without(&mut room, SECRET);
    assert_eq!((plans(&room, next), talks(&room, next)), (vec![RUMOUR], vec![""]));
}

/// Returns the agent and the property of each secret value in `packet`, at any bit offset. A value is
/// `canary-` and two digits.
fn canaries(packet: &[u8]) -> Vec<(usize, usize)> {
    let padded: Vec<u8> = packet.iter().copied().chain([0]).collect();
    let mut found = Vec::new();
    for shift in 0..8 {
        let byte = |pair: &[u8]| (u16::from_le_bytes([pair[0], pair[1]]) >> shift) as u8;
        let bytes: Vec<u8> = padded.windows(2).map(byte).collect();
        let at = bytes.windows(16).filter(|window| window.starts_with(b"canary-"));
        found.extend(at.map(|window| (usize::from(window[7] - b'0'), usize::from(window[9] - b'0'))));
    }
    found
}

/// Checks which values of a random world each client receives. Returns, for each client, every packet that
/// was sent to it.
fn wander(share: bool, loss: usize) -> Vec<Vec<Packets>> {
    let (mut room, first) = room_with(ServerConfig { share, ..ServerConfig::default() }, 2);
    let agents: Vec<_> =
        [first].into_iter().chain((0..3).map(|_| room.server.spawn(Agent::default()))).collect();
    let (mut for_object, mut for_one) = ([[true; 2]; 4], vec![[[true, false]; 4]; 2]);
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut ticks, mut burst, mut found) = (Vec::new(), 0, 0);
    for tick in 0..400_usize {
        let (at, which) = (next(4), next(2));
        let (agent, property) = (agents[at], [plan(), talk()][which]);
        match next(8) {
            0 => {
                for_object[at][which] = next(2) == 0;
                room.server.object(agent).set_custom_active(property, for_object[at][which]);
            }
            1 | 2 => {
                let guest = next(room.guests.len());
                for_one[guest][at][which] = next(2) == 0;
                room.server.object(agent).set_custom_active_for(
                    room.guests[guest].id,
                    property,
                    for_one[guest][at][which],
                );
            }
            3 if room.guests.len() < 6 && next(8) == 0 => {
                room.enter();
                for_one.push([[true, false]; 4]);
            }
            4 => room.server[agent].place += 1,
            _ if which == 0 => room.server[agent].plan = format!("canary-{at}-{which}-{tick:05}"),
            _ => room.server[agent].talk = format!("canary-{at}-{which}-{tick:05}"),
        }
        room.acknowledge();
        let packets = room.tick();
        burst = if next(60) == 0 { 12 } else { usize::saturating_sub(burst, 1) };
        for (guest, packets) in packets.iter().enumerate() {
            for (at, which) in packets.iter().flat_map(|packet| canaries(packet)) {
                let may_see = for_object[at][which] && for_one[guest][at][which];
                assert!(may_see, "tick {tick}: guest {guest} was sent {which} of agent {at}");
                found += 1;
            }
            if burst == 0 && next(100) >= loss {
                room.deliver(guest, packets);
            }
        }
        ticks.push(packets);
    }
    assert!(found > 100, "those that may be seen are found");
    for &agent in &agents {
        room.server.object(agent).set_custom_active(plan(), true);
        room.server.object(agent).set_custom_active(talk(), true);
    }
    room.settle();
    for (guest, on) in room.guests.iter().zip(&for_one) {
        for (at, &agent) in agents.iter().enumerate() {
            let (shown, truth) = (&guest.client[agent], &room.server[agent]);
            assert_eq!(shown.place, truth.place);
            assert!(!on[at][0] || shown.plan == truth.plan);
            assert!(!on[at][1] || shown.talk == truth.talk);
        }
    }
    ticks
}

#[test]
fn r16_s90_switches_hold_for_bytes_under_loss_and_sharing_does_not_show() {
    for loss in [0, 20] {
        let (shared, unshared) = (wander(true, loss), wander(false, loss));
        assert!(shared == unshared, "the same packets, at a loss of {loss} %");
    }
}
