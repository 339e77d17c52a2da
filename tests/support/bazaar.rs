//! A random world with many features: marks, conditions, owners, areas, groups, dormancy, rates, refused
//! values, and objects outside the server. All of these change at random.
//!
//! *Invariant:* a run depends only on the seed.
#![allow(dead_code, reason = "each binary uses a part")]

use std::collections::HashMap;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{Area, Audience, Dormancy, Group, OrderedFastArray, Relevancy, Role, WriteError};
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, ReplicatedMap};

use crate::support::{Packets, Room, property};

/// Positions are below this coordinate.
const EXTENT: u64 = 300;

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    #[replicated(range = 0..=9)]
    count: u8,
}

/// A number that cannot be encoded for some values.
#[derive(Clone, Debug, Default, PartialEq)]
struct Picky(u32);

impl NetSerialize for Picky {
    const WIRE_NAME: &'static str = "Picky";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if self.0 % 5 == 4 {
            return Err(WriteError::Other("a number that nobody likes"));
        }
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u32::read(reader, references).map(Self)
    }
}
repl::leaf!(Picky);

/// An object in an area with bands, with every condition.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Stall {
    #[replicated(location)]
    position: [f32; 2],
    #[replicated]
    price: u32,
    #[replicated(condition = OwnerOnly)]
    till: u32,
    #[replicated(condition = SkipOwner)]
    smile: u8,
    #[replicated(condition = InitialOnly)]
    founded: u32,
    #[replicated(condition = InitialOrOwner)]
    licence: u32,
    #[replicated(condition = Custom)]
    offer: u32,
    #[replicated(condition = Custom, starts_off)]
    secret: u32,
    #[replicated(condition = Dynamic)]
    mood: u32,
    #[replicated(condition = NearOnly)]
    smell: u32,
    #[replicated(condition = SimulatedOnly)]
    pose: u8,
    #[replicated(condition = ReplayOrOwner)]
    tape: u8,
    #[replicated(push)]
    tally: u32,
    #[replicated]
    goods: FastArray<Item>,
}

/// An object that everyone sees, and that marks itself.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Lamp {
    #[replicated]
    is_lit: bool,
    #[replicated(push)]
    oil: u32,
    #[replicated(push)]
    moths: FastArray<Item>,
    #[replicated(push, condition = Custom)]
    wick: OrderedFastArray<Item>,
    #[replicated]
    hangs_on: ObjectRef<Stall>,
}

/// An object with values that cannot be sent.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Scroll {
    #[replicated(range = 0..=9)]
    grade: u8,
    #[replicated(max_len = 12)]
    title: String,
    #[replicated(max_len = 512)]
    text: Vec<u8>,
    #[replicated(max_len = 512)]
    margin: Vec<u8>,
    #[replicated]
    seal: Picky,
    #[replicated]
    notes: HashMap<u8, Item>,
    #[replicated]
    readers: ReplicatedMap<u16, Picky>,
    #[replicated]
    pages: u32,
}

/// An object that lives outside the server.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Cart {
    #[replicated(location)]
    position: [f32; 3],
    #[replicated]
    load: u32,
    #[replicated(push)]
    wheels: u8,
    #[replicated]
    boxes: FastArray<Item>,
    #[replicated(condition = OwnerOnly)]
    driver: u32,
}

/// A subobject.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Sign {
    #[replicated]
    colour: u32,
    #[replicated(condition = OwnerOnly)]
    price: u32,
}

fn register(client: &mut Client) {
    client.register::<Stall>().register::<Lamp>().register::<Scroll>().register::<Cart>();
    client.register::<Sign>();
}

/// A server, its clients, and everything that has happened.
pub(crate) struct Bazaar {
    pub(crate) room: Room,
    pub(crate) rng: Rng,
    stalls: Vec<ObjectRef<Stall>>,
    lamps: Vec<ObjectRef<Lamp>>,
    scrolls: Vec<ObjectRef<Scroll>>,
    carts: Vec<(ObjectRef<Cart>, Cart)>,
    signs: Vec<ObjectRef<Sign>>,
    /// Whether guests leave, and new guests join.
    pub(crate) leaves: bool,
    /// For each guest, the packets in both directions that arrive late.
    late: Vec<(Packets, Packets)>,
}

/// The result of a tick: the packets to all guests, and everything else that the server reports.
#[derive(PartialEq)]
pub(crate) struct Made {
    pub(crate) packets: Vec<Packets>,
    pub(crate) events: String,
}

impl Bazaar {
    pub(crate) fn new(seed: u64, guests: usize, objects: u64) -> Self {
        let config = ServerConfig {
            max_object_bytes: 700,
            mtu_bytes: if seed % 3 == 1 { 300 } else { 1_200 },
            connections_per_tick: if seed % 4 == 3 { guests - 3 } else { usize::MAX },
            share: seed % 5 != 4,
            ..ServerConfig::default()
        };
        let mut room = Room::new(config, register);
        let bands = Area::within(90.0).flat().slower_beyond(30.0, 3).slower_beyond(60.0, 7);
        room.server.class::<Stall>().set_area(bands.near_within(40.0));
        room.server.register::<Lamp>().register::<Scroll>().register::<Sign>();
        room.server.register_external::<Cart>().class::<Cart>().set_area(Area::within(70.0));
        let rng = Rng::new(seed);
        let mut bazaar = Self {
            room,
            rng,
            stalls: vec![],
            lamps: vec![],
            scrolls: vec![],
            carts: vec![],
            signs: vec![],
            leaves: false,
            late: vec![],
        };
        if seed.is_multiple_of(2) {
            let rate = UpdateRate::every(crate::support::TICK * 4);
            bazaar.room.server.class::<Lamp>().set_update_rate(rate);
            bazaar.room.server.class::<Stall>().set_priority_by(|stall: &Stall, viewer| {
                viewer.unreal_priority([stall.position[0], stall.position[1], 0.0], 1.0)
            });
        }
        for at in 0..guests {
            let id = if at == 1 { bazaar.room.enter_replay() } else { bazaar.room.enter() };
            bazaar.settle_in(id);
        }
        for at in 0..objects {
            bazaar.spawn(at % 9);
        }
        bazaar
    }

    fn point(rng: &mut Rng) -> [f32; 3] {
        [rng.below(EXTENT) as f32, rng.below(EXTENT) as f32, rng.below(20) as f32]
    }

    fn settle_in(&mut self, id: ConnectionId) {
        let Self { room, rng, .. } = self;
        room.server.connection(id).set_viewpoints(&[Self::point(rng)]);
        if rng.chance(0.3) {
            room.server.connection(id).set_budget(8_000 + rng.below(60_000) as usize);
        }
        room.server.connection(id).join_group(Group(rng.below(3) as u32));
        self.late.push(Default::default());
    }

    fn items(rng: &mut Rng) -> impl Iterator<Item = Item> {
        (0..rng.below(12) as u16).map(|kind| Item { kind, count: 1 })
    }

    fn spawn(&mut self, class: u64) {
        let Self { room, rng, stalls, lamps, scrolls, carts, signs, .. } = self;
        let [x, y, z] = Self::point(rng);
        match class {
            0..3 => {
                let goods = Self::items(rng).collect();
                let stall = Stall { position: [x, y], founded: 3, licence: 4, goods, ..Stall::default() };
                stalls.push(room.server.spawn(stall));
            }
            3..6 => {
                let hangs_on = rng.pick(stalls).copied().unwrap_or_default();
                lamps.push(room.server.spawn(Lamp { hangs_on, oil: 5, ..Lamp::default() }));
            }
            6 => scrolls.push(room.server.spawn(Scroll { pages: 1, ..Scroll::default() })),
            7 => {
                let cart = Cart { position: [x, y, z], boxes: Self::items(rng).collect(), ..Cart::default() };
                carts.push((room.server.external().spawn(&cart), cart));
            }
            _ => {
                let parent = rng.pick(stalls).copied().unwrap_or_default();
                signs.extend(room.server.object(parent).spawn_subobject(Sign { colour: 1, price: 2 }));
            }
        }
    }

    /// Forgets the objects that do not exist any more. Subobjects go with their parents.
    fn sweep(&mut self) {
        let server = &self.room.server;
        self.stalls.retain(|one| server.contains(*one) && !server.object_info(*one).is_torn_off());
        self.lamps.retain(|one| server.contains(*one) && !server.object_info(*one).is_torn_off());
        self.scrolls.retain(|one| server.contains(*one) && !server.object_info(*one).is_torn_off());
        self.carts.retain(|(one, _)| server.contains(*one));
        self.signs.retain(|one| server.contains(*one) && !server.object_info(*one).is_torn_off());
    }

    /// Changes the values of some objects.
    pub(crate) fn write(&mut self) {
        let Self { room, rng, stalls, lamps, scrolls, carts, signs, .. } = self;
        let mut luck = rng.fork(0);
        for &stall in &*stalls {
            let one = &mut room.server[stall];
            match rng.below(24) {
                0 => one.till += 1,
                1 => one.smile ^= 1,
                2 => one.founded += 1,
                3 => one.licence += 1,
                4 => one.offer += 1,
                5 => one.secret += 1,
                6 => one.mood += 1,
                7 => one.smell += 1,
                8 => one.pose ^= 1,
                9 => one.tape ^= 1,
                10 => _ = one.goods.push(Item::default()),
                11 if !one.goods.is_empty() => _ = one.goods.swap_remove(0),
                // Some counts cannot be sent, and are refused.
                12 => one.goods.iter_mut().take(2).for_each(|mut item| item.count = (item.count + 1) % 12),
                13 => one.position = [rng.below(EXTENT) as f32, rng.below(EXTENT) as f32],
                14 => one.goods = Self::items(rng).collect(),
                15..18 => one.position[0] += 1.0,
                _ => one.price += 1,
            }
            one.tally += 1;
            if rng.chance(0.2) {
                room.server.object(stall).mark_dirty(property("tally"));
            }
        }
        for &lamp in &*lamps {
            let one = &mut room.server[lamp];
            one.oil += 1;
            match rng.below(12) {
                0 => _ = one.moths.push(Item::default()),
                1 => one.moths.iter_mut().take(1).for_each(|mut moth| moth.kind += 1),
                2 => one.moths.clear(),
                3 => _ = one.wick.insert(0, Item::default()),
                4 => one.wick.truncate(2),
                5 => one.hangs_on = rng.pick(stalls).copied().unwrap_or_default(),
                6 => _ = room.server.object(lamp).mark_dirty(property("oil")),
                _ => one.is_lit ^= true,
            }
        }
        for &scroll in scrolls.iter().filter(|_| luck.chance(0.4)) {
            let one = &mut room.server[scroll];
            match rng.below(9) {
                0 => one.grade = rng.below(12) as u8,
                1 => one.title = "x".repeat(rng.below(16) as usize),
                2 => one.text = vec![7; rng.below(500) as usize],
                3 => one.margin = vec![8; rng.below(500) as usize],
                4 => one.seal.0 += 1,
                5 => _ = one.notes.insert(rng.below(9) as u8, Item { kind: 1, count: rng.below(12) as u8 }),
                6 => _ = one.notes.remove(&(rng.below(9) as u8)),
                7 => _ = one.readers.insert(rng.below(9) as u16, Picky(rng.below(99) as u32)),
                _ => one.pages += 1,
            }
        }
        for (cart, one) in carts.iter_mut().filter(|_| luck.chance(0.7)) {
            one.load += 1;
            match rng.below(8) {
                0 => one.wheels ^= 1,
                1 => _ = one.boxes.push(Item::default()),
                2 => one.boxes = Self::items(rng).collect(),
                3 => one.position = Self::point(rng),
                4 => one.driver += 1,
                5 => _ = room.server.object(*cart).mark_dirty(property("wheels")),
                _ => one.position[1] += 1.0,
            }
            // Sometimes the cart is compared twice in a tick.
            for _ in 0..1 + rng.below(2) {
                room.server.external().compare_mut(*cart, one).expect("it exists");
            }
        }
        for &sign in signs.iter().filter(|_| luck.chance(0.5)) {
            room.server[sign].colour += 1;
            room.server[sign].price += 1;
        }
    }

    fn any(&mut self) -> ObjectRef<()> {
        let Self { rng, stalls, lamps, scrolls, carts, signs, .. } = self;
        let picked = match rng.below(6) {
            0 | 1 => rng.pick(stalls).map(|one| one.erase()),
            2 => rng.pick(lamps).map(|one| one.erase()),
            3 => rng.pick(scrolls).map(|one| one.erase()),
            4 => rng.pick(carts).map(|(one, _)| one.erase()),
            _ => rng.pick(signs).map(|one| one.erase()),
        };
        picked.unwrap_or_default()
    }

    /// Changes which clients see which objects, and how.
    pub(crate) fn flip(&mut self) {
        let (one, is_on) = (self.any(), self.rng.chance(0.5));
        let at = self.rng.below(self.room.guests.len() as u64) as usize;
        let guest = self.room.guests[at].id;
        let (class, rest) = (self.rng.below(9), self.rng.below(3));
        let Self { room, rng, stalls, lamps, .. } = self;
        let server = &mut room.server;
        let stall = rng.pick(stalls).copied().unwrap_or_default();
        let lamp = rng.pick(lamps).copied().unwrap_or_default();
        let is_subobject = server.object_info(one).parent().is_some();
        match rng.below(30) {
            0 if !is_subobject => _ = server.object(one).set_owner(is_on.then_some(guest)),
            1 => _ = server.object(lamp).set_owner_object(stall),
            2 => _ = server.object(one).set_visible(guest, is_on),
            3 => {
                _ = server.object(one).set_audience(match rest {
                    0 => Audience::Everyone,
                    1 => Audience::Group(Group(1)),
                    _ => {
                        if is_on {
                            Audience::Owner
                        } else {
                            Audience::NotOwner
                        }
                    }
                })
            }
            4 => {
                _ = server.object(stall).set_relevancy(match rest {
                    0 => Relevancy::Always,
                    1 => Relevancy::Group(Group(2)),
                    _ => Relevancy::Located,
                })
            }
            5 => {
                _ = server.object(lamp).set_relevancy(match rest {
                    0 => Relevancy::Always,
                    1 => Relevancy::attached_to(stall),
                    _ => {
                        if is_on {
                            Relevancy::OwnerOnly
                        } else {
                            Relevancy::Nobody
                        }
                    }
                })
            }
            6 => {
                _ = server.object(one).set_dormancy(match rest {
                    0 => Dormancy::All,
                    1 => Dormancy::Partial,
                    _ => {
                        if is_on {
                            Dormancy::Initial
                        } else {
                            Dormancy::Awake
                        }
                    }
                })
            }
            7 => _ = server.object(one).set_dormant_for(guest, is_on),
            8 => _ = server.object(one).wake(),
            9 => _ = server.object(stall).set_custom_active(property("offer"), is_on),
            10 => _ = server.object(lamp).set_custom_active(property("wick"), is_on),
            11 => _ = server.object(stall).set_custom_active_for(guest, property("offer"), is_on),
            12 => _ = server.object(stall).set_custom_active_for(guest, property("secret"), is_on),
            13 | 14 => {
                let all = [Condition::None, Condition::Never, Condition::OwnerOnly, Condition::InitialOnly];
                let condition = *rng.pick(&all).expect("there are some");
                server.object(stall).set_dynamic_condition(property("mood"), condition);
            }
            15 => {
                let roles = [Role::SimulatedProxy, Role::AutonomousProxy, Role::None];
                server.object(one).set_remote_role(roles[rest as usize]);
            }
            16 => _ = server.connection(guest).join_group(Group(rest as u32)),
            17 => _ = server.connection(guest).leave_group(Group(rest as u32)),
            18 => _ = server.connection(guest).set_viewpoints(&[Self::point(rng)]),
            19 => _ = server.connection(guest).follow(stall),
            20 if at != 2 => _ = server.connection(guest).pause(),
            21 | 22 => _ = server.connection(guest).resume(),
            23 => _ = server.object(one).set_priority(is_on.then_some(3.0)),
            24 => {
                let rate = UpdateRate::every(crate::support::TICK * (1 + rest as u32 * 5));
                server.object(one).set_update_rate(is_on.then_some(rate));
            }
            25 => _ = server.object(one).force_update(),
            26 if class != 7 && self.carts.iter().all(|(cart, _)| cart.erase() != one) => {
                server.object(one).tear_off();
                self.sweep();
                self.spawn(class);
            }
            27 if self.leaves && rng.chance(0.3) => {
                server.connection(guest).disconnect();
                self.room.guests.swap_remove(at);
                self.late.swap_remove(at);
                let id = self.room.enter();
                self.settle_in(id);
            }
            28 if is_on => {
                for lamp in server.objects_mut::<Lamp>().map(|(_, lamp)| lamp).step_by(7) {
                    lamp.is_lit ^= true;
                }
            }
            _ => {
                server.despawn(one);
                self.sweep();
                self.spawn(class);
            }
        }
    }

    /// Runs one tick. Some packets are lost, arrive late or arrive twice.
    pub(crate) fn tick(&mut self) -> Made {
        self.write();
        (0..20).for_each(|_| self.flip());
        let packets = self.room.tick();
        for (guest, packets) in packets.iter().enumerate() {
            let (mut down, mut up) = std::mem::take(&mut self.late[guest]);
            let (arriving, late) = self.fate(packets);
            down.extend(arriving);
            self.room.deliver(guest, &down);
            let replies = self.room.replies(guest);
            let (arriving, late_replies) = self.fate(&replies);
            up.extend(arriving);
            self.room.hear(guest, &up);
            self.late[guest] = (late, late_replies);
        }
        let mut events: String = std::iter::from_fn(|| self.room.server.poll_event())
            .map(|event| format!("{event:?}\n"))
            .collect();
        for guest in &self.room.guests {
            events += &format!("{:?} {:?}\n", guest.id, self.room.server.connection_info(guest.id).stats());
        }
        Made { packets, events }
    }

    /// Returns the packets that arrive now, some of them twice, and those that arrive in the next tick.
    fn fate(&mut self, packets: &[Vec<u8>]) -> (Packets, Packets) {
        let (mut now, mut late) = (Packets::new(), Packets::new());
        for packet in packets {
            match self.rng.below(10) {
                0 | 1 => {}
                2 => late.push(packet.clone()),
                3 => now.extend([packet.clone(), packet.clone()]),
                _ => now.push(packet.clone()),
            }
        }
        (now, late)
    }

    /// Checks that each client has the values that everyone may see, once all has arrived.
    pub(crate) fn check(&mut self, seed: u64) {
        let Self { room, stalls, scrolls, lamps, carts, signs, .. } = self;
        for guest in &room.guests {
            room.server.connection(guest.id).resume();
            room.server.connection(guest.id).set_budget(usize::MAX);
        }
        for scroll in &*scrolls {
            let scroll = &mut room.server[*scroll];
            (scroll.grade, scroll.seal, scroll.title) = (1, Picky(0), String::new());
            (scroll.text, scroll.margin) = (vec![1], vec![2]);
            scroll.notes.clear();
            scroll.readers.clear();
        }
        stalls.iter().for_each(|stall| {
            let stall_ref = *stall;
            room.server[stall_ref].goods.clear();
            room.server.object(stall_ref).mark_dirty(property("tally"));
        });
        lamps.iter().for_each(|lamp| _ = room.server.object(*lamp).mark_dirty(property("oil")));
        // Changes that wait for a band, a rate or a turn are sent within these ticks.
        (0..40).for_each(|_| _ = room.step());
        room.settle();
        for guest in &room.guests {
            for &scroll in &*scrolls {
                let have = guest.client.get(scroll);
                assert_eq!(
                    have.is_some(),
                    room.server.object_info(scroll).is_relevant_to(guest.id),
                    "seed {seed}"
                );
                assert!(have.is_none_or(|have| have == &room.server[scroll]), "seed {seed}: {have:?}");
            }
            for &stall in &*stalls {
                let have = guest.client.get(stall);
                assert_eq!(
                    have.is_some(),
                    room.server.object_info(stall).is_relevant_to(guest.id),
                    "seed {seed}"
                );
                let Some(have) = have else { continue };
                let there = &room.server[stall];
                let common = |one: &Stall| (one.position, one.price, one.tally, one.goods.len());
                assert_eq!(common(have), common(there), "seed {seed}");
                if room.server.object_info(stall).owner() == Some(guest.id) {
                    let own = |one: &Stall| (one.till, one.licence, one.tape);
                    assert_eq!(own(have), own(there), "seed {seed}");
                } else {
                    assert_eq!(have.smile, there.smile, "seed {seed}");
                }
            }
            for &lamp in &*lamps {
                let Some(have) = guest.client.get(lamp) else { continue };
                let there = &room.server[lamp];
                assert_eq!((have.is_lit, have.oil), (there.is_lit, there.oil), "seed {seed}");
                assert_eq!(have.moths.len(), there.moths.len(), "seed {seed}");
            }
            for (cart, there) in &*carts {
                let have = guest.client.get(*cart);
                let common = |one: &Cart| (one.position, one.load, one.boxes.len());
                assert!(have.is_none_or(|have| common(have) == common(there)), "seed {seed}: {have:?}");
            }
            for &sign in &*signs {
                let have = guest.client.get(sign);
                assert!(have.is_none_or(|have| have.colour == room.server[sign].colour), "seed {seed}");
            }
        }
    }
}
