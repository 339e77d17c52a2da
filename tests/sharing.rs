//! One comparison, one shadow and one serialisation for all connections, and packets that do not show it (S28, S63, S67, S88 to S90).
//!
//! *Invariant:* worlds that are compared with each other are driven by the same calls in the same order.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};
use support::{Packets, Room, property};

#[derive(Replicated, Default, Clone, PartialEq, Debug)]
struct Car {
    #[replicated]
    place: [f32; 2],
    #[replicated(condition = OwnerOnly)]
    fuel: u16,
    #[replicated(condition = SkipOwner)]
    paint: u8,
    #[replicated]
    plate: String,
    #[replicated]
    parts: Vec<u16>,
    #[replicated(condition = Custom)]
    radio: u8,
    #[replicated]
    ahead: ObjectRef<Self>,
}

/// Every packet for every client of a busy world under loss, tick by tick.
fn record(share: bool, mtu_bytes: usize) -> Vec<Vec<Packets>> {
    let mut room = Room::new(ServerConfig { share, mtu_bytes, ..ServerConfig::default() }, |client| {
        client.register::<Car>();
    });
    let mut cars: Vec<_> = (0..40).map(|_| room.server.spawn(Car::default())).collect();
    for _ in 0..4 {
        room.enter();
    }
    let mut ticks = Vec::new();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for tick in 0..150 {
        for _ in 0..8 {
            let (at, what) = (next(cars.len()), next(12));
            let car = cars[at];
            match what {
                0 => room.server[car].fuel += 1,
                1 => room.server[car].paint = tick as u8,
                2 => room.server[car].plate = format!("{tick}").repeat(next(40)),
                3 => room.server[car].parts.push(tick as u16),
                4 => drop(room.server[car].parts.pop()),
                5 => room.server[car].ahead = cars[next(cars.len())],
                6 => room.server.set_owner(car, Some(room.guests[next(4)].id)),
                7 => room.server.set_custom_active_for(
                    room.guests[next(4)].id,
                    car,
                    property::<Car>("radio"),
                    next(2) == 0,
                ),
                8 => room.server[car].radio = tick as u8,
                9 => {
                    room.server.despawn(car);
                    cars[at] = room.server.spawn(Car { fuel: 3, ..Car::default() });
                }
                _ => room.server[car].place[0] += 1.0,
            }
        }
        room.acknowledge();
        let packets = room.tick();
        for (guest, packets) in packets.iter().enumerate() {
            if next(4) > 0 {
                room.deliver(guest, packets);
            }
        }
        ticks.push(packets);
    }
    room.settle();
    for guest in &room.guests {
        for &car in &cars {
            let (shown, truth) = (guest.client.get(car).unwrap(), &room.server[car]);
            assert_eq!((shown.place, &shown.plate, &shown.parts), (truth.place, &truth.plate, &truth.parts));
        }
    }
    ticks
}

#[test]
fn s90_packets_are_the_same_bit_for_bit_with_and_without_sharing() {
    for mtu_bytes in [1_200, 200] {
        let (shared, unshared) = (record(true, mtu_bytes), record(false, mtu_bytes));
        for (tick, (shared, unshared)) in shared.iter().zip(&unshared).enumerate() {
            assert_eq!(shared, unshared, "tick {tick}");
        }
    }
}

#[test]
fn s88_connections_that_need_the_same_get_the_same_bodies() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, cars) = Room::furnished(ServerConfig::default(), register, 3, |server| {
        (0..20).map(|_| server.spawn(Car::default())).collect::<Vec<_>>()
    });
    cars.iter().for_each(|&car| room.server[car].place = [1.5, 2.5]);
    let packets = room.tick();
    // The checksums differ by session, the bits after them do not.
    let body = |guest: usize| packets[guest].iter().map(|packet| packet[4..].to_vec()).collect::<Packets>();
    assert_eq!(body(0).len(), 1);
    assert_eq!((body(0), body(1)), (body(1), body(2)));
}

static WRITTEN: AtomicUsize = AtomicUsize::new(0);
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// A leaf that counts what is done with it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counted(u32);

impl NetSerialize for Counted {
    const WIRE_NAME: &'static str = "Counted";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        WRITTEN.fetch_add(1, Ordering::Relaxed);
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u32::read(reader, references).map(Self)
    }

    fn identical(&self, other: &Self) -> bool {
        COMPARED.fetch_add(1, Ordering::Relaxed);
        self == other
    }
}
repl::leaf!(Counted);

#[derive(Replicated, Default)]
struct Meter {
    #[replicated]
    count: Counted,
}

#[test]
fn s28_s67_s88_one_comparison_and_one_writing_serve_all_connections() {
    let register = |client: &mut Client| {
        client.register::<Meter>();
    };
    let (mut effort, mut openings) = (Vec::new(), Vec::new());
    for guests in [1, 2, 16] {
        let (mut room, meter) = Room::furnished(ServerConfig::default(), register, guests, |server| {
            server.spawn(Meter::default())
        });
        let before = (COMPARED.load(Ordering::Relaxed), WRITTEN.load(Ordering::Relaxed));
        room.server[meter].count = Counted(5);
        let packets = room.tick();
        effort
            .push((COMPARED.load(Ordering::Relaxed) - before.0, WRITTEN.load(Ordering::Relaxed) - before.1));
        for (guest, packets) in packets.iter().enumerate() {
            room.deliver(guest, packets);
            assert_eq!(room.guests[guest].client.get(meter).map(|meter| meter.count.0), Some(5));
        }
        let before = WRITTEN.load(Ordering::Relaxed);
        let newcomer = room.server.spawn(Meter { count: Counted(7) });
        let packets = room.tick();
        openings.push(WRITTEN.load(Ordering::Relaxed) - before);
        for (guest, packets) in packets.iter().enumerate() {
            room.deliver(guest, packets);
            assert_eq!(room.guests[guest].client.get(newcomer).map(|meter| meter.count.0), Some(7));
        }
    }
    assert_eq!(
        (openings[0], openings[0]),
        (openings[1], openings[2]),
        "an opening, for 1, 2 and 16 connections"
    );
    assert_eq!(
        (effort[0], effort[0]),
        (effort[1], effort[2]),
        "compared and written, for 1, 2 and 16 connections"
    );
    assert!(effort[0].0 >= 1 && effort[0].1 >= 1);
}

#[test]
fn s75_who_joins_late_gets_what_is_and_not_what_was() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, mut cars) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (0..60)
            .map(|_| server.spawn(Car { place: [1.0, 2.0], plate: "old".into(), ..Car::default() }))
            .collect::<Vec<_>>()
    });
    for round in 1..6_u8 {
        let first = room.guests[0].id;
        room.server[cars[5]].place[0] = f32::from(round);
        room.server[cars[17]].plate = format!("new {round}");
        room.server[cars[30]].parts.push(round.into());
        room.server.set_owner(cars[40], (round % 2 == 0).then_some(first));
        let gone = cars.swap_remove(50);
        room.server.despawn(gone);
        cars.push(room.server.spawn(Car { paint: round, ..Car::default() }));
        room.enter();
        room.settle();
        for guest in &room.guests {
            assert_eq!(guest.client.objects::<Car>().count(), cars.len());
            for &car in &cars {
                let (shown, truth) = (guest.client.get(car).expect("all are in sight"), &room.server[car]);
                assert_eq!(
                    (shown.place, &shown.plate, &shown.parts),
                    (truth.place, &truth.plate, &truth.parts)
                );
            }
        }
    }
}

#[test]
fn s63_there_and_back_between_two_comparisons_is_invisible() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(Car::default()));
    room.server[car].place = [3.0; 2];
    room.server[car].place = [0.0; 2];
    assert!(room.tick().iter().all(Vec::is_empty));
}

#[test]
fn s67_a_write_that_changed_nothing_sends_nothing() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 2, |server| server.spawn(Car::default()));
    let same = room.server[car].clone();
    room.server[car] = same;
    drop(room.server.objects_mut::<Car>());
    assert!(room.tick().iter().all(Vec::is_empty));
}

#[test]
fn s89_what_one_connection_sees_by_itself_is_not_shared() {
    let register = |client: &mut Client| {
        client.register::<Car>();
    };
    let (mut room, car) =
        Room::furnished(ServerConfig::default(), register, 3, |server| server.spawn(Car::default()));
    room.server.set_owner(car, Some(room.guests[1].id));
    room.settle();
    room.server[car].fuel = 60_000;
    room.server[car].place = [1.0; 2];
    room.settle();
    let fuel = |guest: usize| room.guests[guest].client.get(car).map(|car| (car.fuel, car.place));
    assert_eq!(fuel(0), Some((0, [1.0; 2])));
    assert_eq!(fuel(1), Some((60_000, [1.0; 2])));
    assert_eq!(fuel(2), Some((0, [1.0; 2])));
}
