//! If a client loses the right to a call that still waits or was lost, the server withdraws the call. Packets
//! that are made afterwards contain nothing of its parameters, and later calls do not wait for it.

use repl::prelude::*;
use repl::{Area, Dormancy, Group};

use crate::support::{Packets, Room, leaks};

const GROUP: Group = Group(7);

/// The parameter of the calls that are withdrawn.
const SECRET: u128 = 0x7f3a_91c5_e42d_8b60_a9d7_13fc_5e08_b2c6;

#[derive(Replicated, Default)]
struct Spy {
    #[replicated(location)]
    place: [f32; 2],
    /// The arguments of the calls that this copy of the object received.
    heard: Vec<u128>,
}

#[rpcs]
impl Spy {
    #[rpc(client, reliable)]
    fn whisper(&mut self, secret: u128, #[replicated(max_len = 40_000)] ballast: Vec<u8>) {
        self.hear(secret, &ballast);
    }

    #[rpc(client, unreliable)]
    fn hint(&mut self, secret: u128, #[replicated(max_len = 40_000)] ballast: Vec<u8>) {
        self.hear(secret, &ballast);
    }

    #[rpc(multicast, reliable)]
    fn shout(&mut self, secret: u128, #[replicated(max_len = 40_000)] ballast: Vec<u8>) {
        self.hear(secret, &ballast);
    }

    #[rpc(multicast, unreliable)]
    fn flash(&mut self, secret: u128, #[replicated(max_len = 40_000)] ballast: Vec<u8>) {
        self.hear(secret, &ballast);
    }
}

impl Spy {
    fn hear(&mut self, secret: u128, ballast: &[u8]) {
        assert!(ballast.chunks(16).all(|chunk| chunk == SECRET.to_le_bytes()));
        self.heard.push(secret);
    }
}

/// A kind of call whose parameter is the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whisper,
    Hint,
    Shout,
    Flash,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Whisper, Self::Hint, Self::Shout, Self::Flash];

    fn is_for_owner(self) -> bool {
        matches!(self, Self::Whisper | Self::Hint)
    }

    fn is_reliable(self) -> bool {
        matches!(self, Self::Whisper | Self::Shout)
    }
}

/// How many bytes a call has besides the secret, so that it needs one packet, three packets or many packets.
const SIZES: [usize; 3] = [0, 3_200, 32_000];

/// A room with two guests. The first one loses the right to calls on a spy.
struct Stage {
    room: Room,
    id: ConnectionId,
    /// The connection of the other guest.
    other_id: ConnectionId,
    spy: ObjectRef<Spy>,
    /// An object to which the spy may be attached, or which may own it.
    carrier: ObjectRef<Spy>,
    /// An object with calls in the same channels, which the first guest always sees and owns.
    other: ObjectRef<Spy>,
}

/// A way in which the first guest loses the right to calls on the spy.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    /// Whether the first guest owns the spy before `lose`.
    owns: bool,
    /// Whether the guest still sees the spy after `lose`, so that it only loses the calls for the owner.
    still_sees: bool,
    prepare: fn(&mut Stage),
    lose: fn(&mut Stage),
}

const WAYS: [Way; 14] = [
    Way {
        name: "hidden",
        owns: true,
        still_sees: false,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_visible(stage.id, false),
    },
    Way {
        name: "seen by nobody",
        owns: true,
        still_sees: false,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_relevancy(Relevancy::Nobody),
    },
    Way {
        name: "left the group",
        owns: false,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.connection(stage.id).join_group(GROUP);
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::Group(GROUP));
        },
        lose: |stage| _ = stage.room.server.connection(stage.id).leave_group(GROUP),
    },
    Way {
        name: "left the group of the audience",
        owns: true,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.connection(stage.id).join_group(GROUP);
            stage.room.server.object(stage.spy).set_audience(Audience::Group(GROUP));
        },
        lose: |stage| _ = stage.room.server.connection(stage.id).leave_group(GROUP),
    },
    Way {
        name: "left the audience",
        owns: true,
        still_sees: false,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_audience(Audience::NotOwner),
    },
    Way {
        name: "no owner",
        owns: true,
        still_sees: true,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_owner(None),
    },
    Way {
        name: "another owner",
        owns: true,
        still_sees: true,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_owner(Some(stage.other_id)),
    },
    Way {
        name: "another owner of what only its owner sees",
        owns: true,
        still_sees: false,
        prepare: |stage| _ = stage.room.server.object(stage.spy).set_relevancy(Relevancy::OwnerOnly),
        lose: |stage| _ = stage.room.server.object(stage.spy).set_owner(Some(stage.other_id)),
    },
    Way {
        name: "another owner of the owner",
        owns: false,
        still_sees: true,
        prepare: |stage| {
            stage.room.server.object(stage.carrier).set_owner(Some(stage.id));
            stage.room.server.object(stage.spy).set_owner_object(stage.carrier);
        },
        lose: |stage| _ = stage.room.server.object(stage.carrier).set_owner(Some(stage.other_id)),
    },
    Way {
        name: "out of its area",
        owns: false,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.connection(stage.id).set_viewpoints(&[[0.0; 3]]);
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::Located);
        },
        lose: |stage| _ = stage.room.server.connection(stage.id).set_viewpoints(&[[1_000.0; 3]]),
    },
    Way {
        name: "carrier hidden",
        owns: true,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::attached_to(stage.carrier));
        },
        lose: |stage| _ = stage.room.server.object(stage.carrier).set_visible(stage.id, false),
    },
    Way {
        name: "carrier seen by nobody",
        owns: true,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::attached_to(stage.carrier));
        },
        lose: |stage| _ = stage.room.server.object(stage.carrier).set_relevancy(Relevancy::Nobody),
    },
    Way {
        name: "carrier despawned",
        owns: false,
        still_sees: false,
        prepare: |stage| {
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::attached_to(stage.carrier));
        },
        lose: |stage| stage.room.server.despawn(stage.carrier),
    },
    Way {
        name: "dormant from the start",
        owns: true,
        still_sees: false,
        prepare: |_| {},
        lose: |stage| _ = stage.room.server.object(stage.spy).set_dormancy(Dormancy::Initial),
    },
];

fn register(client: &mut Client) {
    client.register_calls::<Spy>();
}

impl Stage {
    fn new(way: &Way) -> Self {
        Self::with(ServerConfig::default(), way)
    }

    fn with(config: ServerConfig, way: &Way) -> Self {
        let (room, [spy, carrier, other]) = Room::furnished(config, register, 2, |server| {
            server.register_calls::<Spy>().class::<Spy>().set_area(Area::within(100.0));
            std::array::from_fn(|_| server.spawn(Spy::default()))
        });
        let [id, other_id] = [0, 1].map(|guest| room.guests[guest].id);
        let mut stage = Self { room, id, other_id, spy, carrier, other };
        let server = &mut stage.room.server;
        [spy, carrier, other]
            .into_iter()
            .for_each(|spy| _ = server.object(spy).set_relevancy(Relevancy::Always));
        server.object(other).set_owner(Some(id));
        stage.prepare(way);
        stage.room.settle();
        stage
    }

    fn prepare(&mut self, way: &Way) {
        self.room.server.object(self.spy).set_owner(way.owns.then_some(self.id));
        (way.prepare)(self);
    }

    /// Calls the spy with the secret.
    fn call(&mut self, kind: Kind, bytes: usize) {
        let ballast = SECRET.to_le_bytes().repeat(bytes / 16);
        let mut caller = self.room.server.call(self.spy);
        match kind {
            Kind::Whisper => caller.whisper(SECRET, ballast).unwrap(),
            Kind::Hint => caller.hint(SECRET, ballast).unwrap(),
            Kind::Shout => caller.shout(SECRET, ballast).unwrap(),
            Kind::Flash => caller.flash(SECRET, ballast).unwrap(),
        }
    }

    /// Calls the other object with a number, in the channel of the reliable calls.
    fn count(&mut self, number: u128) {
        self.room.server.call(self.other).whisper(number, Vec::new()).unwrap();
    }

    /// Ticks the server, and delivers the packets for the other guest. Returns the packets for the first
    /// guest.
    fn tick(&mut self) -> Packets {
        let mut packets = self.room.tick();
        self.room.deliver(1, &packets[1]);
        packets.swap_remove(0)
    }

    /// Runs 120 ticks. Asserts that no packet contains the secret, and that `numbers` have arrived in their
    /// order.
    fn check(&mut self, context: &str, numbers: &[u128]) {
        let mut found = 0;
        for _ in 0..120 {
            self.room.acknowledge();
            let packets = self.tick();
            found += packets.iter().filter(|packet| has_secret(packet)).count();
            self.room.deliver(0, &packets);
        }
        assert_eq!(found, 0, "{context}: packets with the secret");
        let client = &self.room.guests[0].client;
        assert_eq!(client[self.other].heard, numbers, "{context}");
        assert!(client.is_connected(), "{context}");
        let stats = self.room.server.connection_info(self.id).stats().expect("a connection");
        assert_eq!(stats.packets_in_flight, 0, "{context}");
    }
}

fn has_secret(packet: &[u8]) -> bool {
    leaks(packet, &SECRET.to_le_bytes())
}

/// Runs a test for each way, kind and size with which the first guest first has the right to the call and
/// then loses it.
fn for_all(sizes: &[usize], test: impl Fn(&Way, Kind, usize, &str)) {
    for way in &WAYS {
        for kind in Kind::ALL {
            let owns = way.owns || way.name == "another owner of the owner";
            if kind.is_for_owner() != owns && (kind.is_for_owner() || way.still_sees) {
                continue;
            }
            if way.still_sees && !kind.is_for_owner() {
                continue;
            }
            for &bytes in sizes {
                test(way, kind, bytes, &format!("{}, {kind:?} of {bytes} bytes", way.name));
            }
        }
    }
}

#[test]
fn r22_a_lost_call_is_not_sent_again_to_a_client_that_lost_the_right_to_it() {
    for_all(&SIZES, |way, kind, bytes, context| {
        let mut stage = Stage::new(way);
        stage.count(1);
        stage.call(kind, bytes);
        stage.count(2);
        let lost = stage.tick();
        assert!(lost.iter().any(|packet| has_secret(packet)), "{context}: it was entitled to the call");
        (way.lose)(&mut stage);
        stage.count(3);
        stage.check(context, &[1, 2, 3]);
    });
}

#[test]
fn r22_a_call_of_which_parts_have_arrived_is_ended_when_its_client_loses_the_right_to_it() {
    for_all(&SIZES[1..], |way, kind, bytes, context| {
        for step in 2..4 {
            let mut stage = Stage::new(way);
            stage.count(1);
            stage.call(kind, bytes);
            stage.count(2);
            let packets = stage.tick();
            let arrived: Packets = packets.into_iter().step_by(step).collect();
            stage.room.deliver(0, &arrived);
            (way.lose)(&mut stage);
            stage.count(3);
            stage.check(context, &[1, 2, 3]);
        }
    });
}

#[test]
fn r22_parts_that_arrive_after_the_mark_of_their_call_do_nothing() {
    for_all(&SIZES[1..], |way, kind, bytes, context| {
        let mut stage = Stage::new(way);
        stage.call(kind, bytes);
        let late = stage.tick();
        (way.lose)(&mut stage);
        stage.count(1);
        stage.check(context, &[1]);
        stage.room.deliver(0, &late);
        stage.count(2);
        stage.check(context, &[1, 2]);
    });
}

#[test]
fn r22_a_call_that_was_not_sent_yet_is_not_sent_to_a_client_that_lost_the_right_to_it() {
    for_all(&SIZES, |way, kind, bytes, context| {
        let mut stage = Stage::new(way);
        stage.count(1);
        stage.call(kind, bytes);
        stage.count(2);
        (way.lose)(&mut stage);
        stage.count(3);
        stage.check(context, &[1, 2, 3]);
        assert!(stage.room.client().get(stage.spy).is_none_or(|spy| spy.heard.is_empty()), "{context}");
    });
}

#[test]
fn r22_the_parts_of_a_call_that_wait_for_the_budget_are_withdrawn() {
    for_all(&SIZES[1..], |way, kind, bytes, context| {
        let config = ServerConfig { max_bytes_per_tick: 1_600, ..ServerConfig::default() };
        let mut stage = Stage::with(config, way);
        stage.count(1);
        stage.call(kind, bytes);
        stage.count(2);
        let packets = stage.tick();
        assert!(packets.iter().any(|packet| has_secret(packet)), "{context}: a part was sent");
        stage.room.deliver(0, &packets);
        (way.lose)(&mut stage);
        stage.count(3);
        stage.check(context, &[1, 2, 3]);
    });
}

#[test]
fn r22_a_call_that_waits_for_its_object_is_dropped_when_its_client_loses_the_right_to_it() {
    for_all(&SIZES[..1], |way, kind, bytes, context| {
        let mut stage = Stage::new(way);
        // The client has not acknowledged this spy yet, so the call waits.
        stage.spy = stage.room.server.spawn(Spy::default());
        stage.room.server.object(stage.spy).set_relevancy(Relevancy::Always);
        stage.prepare(way);
        stage.count(1);
        stage.call(kind, bytes);
        let packets = stage.tick();
        stage.room.deliver(0, &packets);
        (way.lose)(&mut stage);
        stage.count(2);
        stage.check(context, &[1, 2]);
    });
}

/// If no acks arrive, the server sends again long before the unacknowledged packets count as lost.
#[test]
fn r22_r09_a_silent_link_is_not_tried_with_a_call_to_which_its_client_lost_the_right() {
    for_all(&SIZES[..2], |way, kind, bytes, context| {
        let mut stage = Stage::new(way);
        stage.count(1);
        stage.call(kind, bytes);
        let mut last = stage.tick();
        (way.lose)(&mut stage);
        for _ in 0..60 {
            last = stage.tick();
            assert!(!last.iter().any(|packet| has_secret(packet)), "{context}");
        }
        stage.room.deliver(0, &last);
        stage.count(2);
        stage.check(context, &[1, 2]);
    });
}

#[test]
fn r22_a_hidden_and_despawned_object_takes_its_calls_along() {
    for_all(&SIZES[..2], |way, kind, bytes, context| {
        for is_sent in [false, true] {
            let mut stage = Stage::new(way);
            stage.count(1);
            stage.call(kind, bytes);
            if is_sent {
                drop(stage.tick());
            }
            (way.lose)(&mut stage);
            stage.room.server.despawn(stage.spy);
            stage.count(2);
            stage.check(context, &[1, 2]);
            assert!(!stage.room.client().contains(stage.spy), "{context}");
        }
    });
}

#[test]
fn r22_a_despawned_object_whose_calls_are_withdrawn_is_removed_without_delay() {
    let mut stage = Stage::new(&WAYS[0]);
    stage.call(Kind::Shout, 0);
    drop(stage.tick());
    (WAYS[0].lose)(&mut stage);
    stage.room.server.despawn(stage.spy);
    let packets = stage.tick();
    stage.room.deliver(0, &packets);
    assert!(!stage.room.client().contains(stage.spy), "its removal waits for nothing");
}

#[test]
fn r22_who_was_entitled_at_the_despawn_gets_the_calls_whatever_changes_later() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_reliable()) {
        for bytes in &SIZES[..2] {
            let way = &WAYS[3];
            let mut stage = Stage::new(way);
            stage.call(kind, *bytes);
            stage.count(1);
            drop(stage.tick());
            stage.room.server.despawn(stage.spy);
            (way.lose)(&mut stage);
            let mut found = false;
            for _ in 0..120 {
                stage.room.acknowledge();
                let packets = stage.tick();
                found |= packets.iter().any(|packet| has_secret(packet));
                stage.room.deliver(0, &packets);
                let (client, spy) = (stage.room.client(), stage.spy);
                assert!(client.contains(spy) || found, "the removal waits for the call");
            }
            assert!(found && !stage.room.client().contains(stage.spy), "{kind:?}, {bytes} bytes");
            assert_eq!(stage.room.client()[stage.other].heard, [1]);
        }
    }
}

#[test]
fn r22_a_slot_that_is_used_again_does_not_bring_withdrawn_calls_back() {
    let config = ServerConfig { max_objects: 3, ..ServerConfig::default() };
    let mut stage = Stage::with(config, &WAYS[0]);
    stage.call(Kind::Shout, 3_200);
    drop(stage.tick());
    // When the slot is used again, the packets with the call do not count as lost yet.
    (WAYS[0].lose)(&mut stage);
    stage.room.server.despawn(stage.spy);
    let new = loop {
        let packets = stage.tick();
        assert!(!packets.iter().any(|packet| has_secret(packet)));
        stage.room.deliver(0, &packets);
        stage.room.acknowledge();
        if let Ok(new) = stage.room.server.try_spawn(Spy::default()) {
            break new;
        }
    };
    assert_eq!(new.guid().map(|guid| guid.slot()), stage.spy.guid().map(|guid| guid.slot()));
    stage.room.server.object(new).set_relevancy(Relevancy::Always);
    stage.room.server.object(new).set_owner(Some(stage.id));
    stage.count(1);
    stage.check("a new object", &[1]);
    assert!(stage.room.client()[new].heard.is_empty());
}

#[test]
fn r22_s210_a_call_before_the_tear_off_arrives_before_its_client_is_told() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_reliable()) {
        for lost in 0..3 {
            let mut stage = Stage::new(&WAYS[0]);
            if lost == 2 {
                // The client has not acknowledged this spy yet, so the call waits.
                stage.spy = stage.room.server.spawn(Spy::default());
                stage.room.server.object(stage.spy).set_relevancy(Relevancy::Always);
                stage.prepare(&WAYS[0]);
            }
            stage.call(kind, 0);
            if lost == 1 {
                drop(stage.tick());
            }
            stage.room.server.object(stage.spy).tear_off();
            for _ in 0..200 {
                stage.room.step();
                if stage.room.client().object_info(stage.spy).is_torn_off() {
                    break;
                }
            }
            assert!(stage.room.client().object_info(stage.spy).is_torn_off(), "{kind:?}, {lost}");
            stage.room.step();
            assert_eq!(stage.room.client()[stage.spy].heard, [SECRET], "{kind:?}, {lost}");
        }
    }
}

#[test]
fn r22_s210_who_owned_an_object_when_it_was_torn_off_gets_its_calls_whoever_owns_it_later() {
    for waits in [false, true] {
        let mut stage = Stage::new(&WAYS[0]);
        if waits {
            // The client has not acknowledged this spy yet, so the call waits.
            stage.spy = stage.room.server.spawn(Spy::default());
            stage.room.server.object(stage.spy).set_relevancy(Relevancy::Always);
        }
        stage.prepare(&WAYS[0]);
        stage.call(Kind::Whisper, 0);
        drop(stage.tick());
        stage.room.server.object(stage.spy).tear_off();
        stage.room.server.object(stage.spy).set_owner(Some(stage.other_id));
        for _ in 0..200 {
            stage.room.step();
        }
        assert!(stage.room.client().object_info(stage.spy).is_torn_off(), "waits: {waits}");
        assert_eq!(stage.room.client()[stage.spy].heard, [SECRET], "waits: {waits}");
        let of_other = stage.room.guests[1].client.get(stage.spy).map(|spy| spy.heard.len());
        assert!(of_other.is_none_or(|heard| heard == 0), "waits: {waits}");
    }
}

#[test]
fn r22_s210_an_object_that_is_hidden_while_it_is_torn_off_takes_its_calls_along() {
    for kind in Kind::ALL {
        let mut stage = Stage::new(&WAYS[0]);
        stage.call(kind, 0);
        drop(stage.tick());
        stage.room.server.object(stage.spy).tear_off();
        drop(stage.tick());
        (WAYS[0].lose)(&mut stage);
        stage.count(1);
        stage.check("torn off and hidden", &[1]);
    }
}

#[test]
fn r22_a_call_made_in_the_tick_of_a_change_of_owner_goes_to_the_new_owner_alone() {
    let mut stage = Stage::new(&WAYS[6]);
    (WAYS[6].lose)(&mut stage);
    stage.call(Kind::Whisper, 0);
    stage.check("the owner changed before", &[]);
    assert_eq!(stage.room.guests[1].client[stage.spy].heard, [SECRET]);
}

#[test]
fn r22_a_client_that_loses_and_regains_the_right_in_a_tick_gets_the_call_once() {
    let mut stage = Stage::new(&WAYS[6]);
    stage.call(Kind::Whisper, 0);
    (WAYS[6].lose)(&mut stage);
    stage.room.server.object(stage.spy).set_owner(Some(stage.id));
    stage.room.settle();
    assert_eq!(stage.room.client()[stage.spy].heard, [SECRET]);
    assert_eq!(stage.room.guests[1].client[stage.spy].heard, []);
}

/// In place of a withdrawn call the server sends a mark. The size of the call counts towards the limits until
/// the mark arrives, so both sides agree on the limits.
#[test]
fn r20_many_withdrawn_calls_leave_room_for_others_when_their_marks_have_arrived() {
    // The greatest number of calls for which there is room.
    for (bytes, count) in [(0, 900), (16_000, 7)] {
        let mut stage = Stage::new(&WAYS[0]);
        for round in 0..8 {
            (0..count).for_each(|_| stage.call(Kind::Whisper, bytes));
            let packets = stage.tick();
            stage.room.deliver(0, &packets.into_iter().step_by(3).collect::<Packets>());
            (WAYS[0].lose)(&mut stage);
            stage.count(round);
            stage.check("many calls", &(0..=round).collect::<Vec<_>>());
            stage.room.server.object(stage.spy).set_visible(stage.id, true);
            stage.room.settle();
        }
    }
}
