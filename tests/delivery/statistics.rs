//! The statistics of both sides: the numbers of a server about a connection, and the numbers of a client
//! about its connection, its classes and their properties.
//!
//! *Invariant:* the tests count the packets that they pass on, and expect exactly these numbers.

use repl::prelude::*;
use repl::tools::{ClassTraffic, PropertyTraffic};
use repl::{ClientStats, ConnectionStats};

use crate::support::{Packets, Room, TICK, size};

#[derive(Replicated, Debug, Default)]
struct Lamp {
    #[replicated]
    colour: u16,
    #[replicated]
    is_on: bool,
}

fn lamps(client: &mut Client) {
    client.register::<Lamp>();
}

/// Counts the packets that pass between the server and its only client.
#[derive(Default)]
struct Passed {
    to_server: usize,
    to_client: usize,
    packets_to_client: u64,
    /// The number of bytes of all packets that the client received, and how many of the packets contained
    /// state.
    received: usize,
    states: u64,
    lost: u64,
}

/// Returns whether this is a packet of the handshake.
fn is_control(packet: &[u8]) -> bool {
    packet[4] & 1 == 1
}

impl Passed {
    /// Runs a tick of both sides. All packets of the client arrive. A packet of the server arrives if
    /// `arrives` returns true for it.
    fn step(&mut self, room: &mut Room, arrives: impl Fn(u64) -> bool) {
        let replies = room.replies(0);
        self.to_server += size(&replies);
        room.hear(0, &replies);
        let packets = room.tick_one();
        self.to_client += size(&packets);
        for packet in packets {
            self.packets_to_client += 1;
            if is_control(&packet) || arrives(self.packets_to_client) {
                self.received += packet.len();
                self.states += u64::from(!is_control(&packet));
                room.deliver(0, &[packet]);
            } else {
                self.lost += 1;
            }
        }
    }

    fn assert_counted(&self, room: &Room) {
        let server = room.server.connection_info(room.guests[0].id).stats().expect("it is connected");
        let expected = ConnectionStats {
            bytes_sent: self.to_client as u64,
            packets_sent: self.packets_to_client,
            packets_lost: self.lost,
            packets_in_flight: 0,
            round_trip: TICK,
            packet_bytes: 1_200,
            memory_bytes: server.memory_bytes,
            ignored_calls: 0,
            waiting_objects: 0,
        };
        assert_eq!(server, expected);
        let expected = ClientStats {
            bytes_sent: self.to_server as u64,
            bytes_received: self.received as u64,
            packets_received: self.states,
            packets_lost: self.lost,
            round_trip: Some(TICK),
            packets_in_flight: 0,
        };
        assert_eq!(room.client().connection_info().stats(), expected);
        assert_eq!(room.client().connection_info().stats().bytes_sent, self.to_server as u64);
    }
}

#[test]
fn both_sides_count_each_packet_and_each_byte() {
    let mut room = Room::new(ServerConfig::default(), lamps);
    let lamp = room.server.spawn(Lamp::default());
    let mut passed = Passed::default();
    room.enter();
    let unused = ConnectionStats { packet_bytes: 1_200, ..ConnectionStats::default() };
    assert_eq!(room.server.connection_info(room.guests[0].id).stats(), Some(unused));
    assert_eq!(room.client().connection_info().stats(), ClientStats::default());
    for _ in 0..40 {
        passed.step(&mut room, |_| true);
        let round_trip = room.client().connection_info().stats().round_trip;
        assert!(matches!(round_trip, None | Some(TICK)), "{round_trip:?} before the first ack");
    }
    passed.assert_counted(&room);
    for colour in 0..40 {
        room.server[lamp].colour += 1;
        passed.step(&mut room, |_| colour % 4 > 0);
    }
    // Runs until the server has counted the last loss, and the client has received the last packet.
    for _ in 0..40 {
        passed.step(&mut room, |_| true);
    }
    assert_eq!(passed.lost, 10);
    passed.assert_counted(&room);
}

#[test]
fn a_packet_that_comes_late_is_not_lost_and_one_that_comes_again_is_only_counted_in_bytes() {
    let (mut room, lamp) =
        Room::furnished(ServerConfig::default(), lamps, 1, |server| server.spawn(Lamp::default()));
    let before = room.client().connection_info().stats();
    let [first, second]: [Packets; 2] = std::array::from_fn(|_| {
        room.server[lamp].colour += 1;
        room.tick_one()
    });
    assert_eq!((first.len(), second.len()), (1, 1));
    let since = |room: &Room| {
        let now = room.client().connection_info().stats();
        let bytes = (now.bytes_received - before.bytes_received) as usize;
        (bytes, now.packets_received - before.packets_received, now.packets_lost - before.packets_lost)
    };
    assert_eq!(room.in_flight(0), 2);
    room.deliver(0, &second);
    assert_eq!(since(&room), (size(&second), 1, 1));
    room.deliver(0, &second);
    assert_eq!(since(&room), (2 * size(&second), 1, 1));
    room.acknowledge();
    assert_eq!(room.in_flight(0), 1);
}

#[test]
fn a_client_counts_the_bits_of_each_property_and_of_slots_and_handles() {
    let (mut room, [one, other]) = Room::measuring(|| {
        Room::furnished(ServerConfig::default(), lamps, 1, |server| {
            [3, 0].map(|colour| server.spawn(Lamp { colour, is_on: false }))
        })
    });
    let property = |path: &str, updates, bits| PropertyTraffic { path: path.to_owned(), updates, bits };
    let traffic = |room: &Room| {
        let [class] = room.client().connection_info().traffic() else { panic!("there is one class") };
        class.clone()
    };
    let opened = traffic(&room);
    let expected = ClassTraffic {
        class: "Lamp",
        opened: 2,
        updates: 0,
        head_bits: opened.head_bits,
        properties: vec![property("colour", 1, 16), property("is_on", 0, 0)],
    };
    assert_eq!(opened, expected);
    for (objects, updates, values) in [(&[one][..], 1, [2, 1]), (&[one, other], 3, [4, 3])] {
        for &object in objects {
            room.server[object].colour += 1;
            room.server[object].is_on ^= true;
        }
        room.settle();
        let expected = ClassTraffic {
            updates,
            head_bits: traffic(&room).head_bits,
            properties: vec![
                property("colour", values[0], values[0] * 16),
                property("is_on", values[1], values[1]),
            ],
            ..opened.clone()
        };
        assert_eq!(traffic(&room), expected);
    }
}

#[test]
fn the_head_of_a_run_of_openings_counts_once() {
    let head_bits = |lamps_in_run: u64| {
        let (room, ()) = Room::measuring(|| {
            Room::furnished(ServerConfig::default(), lamps, 1, |server| {
                for _ in 0..lamps_in_run {
                    server.spawn(Lamp { colour: 3, is_on: false });
                }
            })
        });
        assert_eq!(room.received::<Lamp>(0, "colour"), (lamps_in_run, lamps_in_run * 16));
        room.client().connection_info().traffic()[0].head_bits
    };
    // A greater number of objects only takes a few bits more in the header.
    assert!((head_bits(1)..head_bits(1) + 16).contains(&head_bits(100)));
}

#[test]
fn an_update_of_the_same_properties_as_an_opening_before_it_is_counted() {
    let (mut room, one) = Room::measuring(|| {
        Room::furnished(ServerConfig::default(), lamps, 1, |server| {
            server.spawn(Lamp { colour: 3, is_on: false })
        })
    });
    room.server[one].colour = 4;
    room.tick();
    // The lost change is sent again in the same packet as an opening, after the opening.
    let (id, mut opened) = (room.guests[0].id, 1);
    while room.server.connection_info(id).stats().is_some_and(|stats| stats.packets_lost == 0) {
        room.server.spawn(Lamp { colour: 7, is_on: false });
        opened += 1;
        let packets = room.tick_one();
        assert_eq!(packets.len(), 1);
        room.deliver(0, &packets);
        room.acknowledge();
    }
    assert_eq!(room.client()[one].colour, 4);
    assert_eq!(room.received::<Lamp>(0, "colour"), (opened + 1, (opened + 1) * 16));
}
