//! The world on the server: spawns its objects, and moves and changes them.
//!
//! *Invariant:* every change of an object passes through [`World::change`], which records it.

use std::collections::BTreeMap;

use repl::prelude::*;
use repl::sim::Rng;

use crate::canary::Canary;
use crate::entry::{Entry, Object, Rule};
use crate::model::*;
use crate::sight::{Verdict, verdict};

/// How many ticks a second has.
pub(crate) const TICKS_PER_SECOND: u32 = 30;

/// The world has one object for each square with sides of this length, in metres.
const SPACING: f32 = 20.0;

/// How many objects each connection has besides its avatar and its creatures: a lantern, a journal and a
/// pack.
const BELONGINGS: usize = 3;

/// One of this number of structures has a fire.
const STRUCTURES_PER_FIRE: usize = 50;

/// How long a fire burns, and how often its heat changes, in ticks.
const FIRE_TICKS: u32 = 10 * TICKS_PER_SECOND;
const HEAT_TICKS: u32 = TICKS_PER_SECOND / 2;

/// How many creatures belong to each connection.
const TAME: u32 = 2;

/// The properties that contain canaries.
pub(crate) const MARK: u8 = 0;
pub(crate) const SECRET: u8 = 1;

/// A moving object, and its goal.
struct Walker {
    /// The index of the object in `World::entries`.
    at: usize,
    goal: Point,
    metres_per_tick: f32,
    /// The greatest distance on each axis from a goal to the next goal, in metres.
    range: f32,
}

/// The world. Object numbers are indices of `entries`.
pub(crate) struct World {
    pub(crate) entries: Vec<Entry>,
    walkers: Vec<Walker>,
    /// The indices in `entries` of all loot. The next three ranges contain those of other classes.
    loot: std::ops::Range<usize>,
    structures: std::ops::Range<usize>,
    fires: std::ops::Range<usize>,
    creatures: std::ops::Range<usize>,
    connections: u32,
    extent: f32,
    rng: Rng,
    pub(crate) tick: u32,
    /// For each removed fire, by the index of its entry and the tick of its removal, the numbers of the
    /// connections that could see it then.
    burnt_out: BTreeMap<(usize, u32), Vec<usize>>,
}

impl World {
    /// Spawns the objects. The first entries are the avatars, one for each connection.
    pub(crate) fn new(server: &mut Server, objects: u32, connections: u32, seed: u64) -> Self {
        let none = 0..0;
        let mut world = Self {
            entries: Vec::new(),
            walkers: Vec::new(),
            loot: none.clone(),
            structures: none.clone(),
            fires: none.clone(),
            creatures: none,
            connections,
            extent: (objects as f32).sqrt() * SPACING / 2.0,
            rng: Rng::new(seed),
            tick: 0,
            burnt_out: BTreeMap::new(),
        };
        for _ in 0..connections {
            world.spawn_avatar(server);
        }
        for connection in 0..connections as usize {
            world.spawn_belongings(server, connection);
        }
        for team in 0..TEAMS {
            let banner = server.spawn(Banner::default());
            server.object(banner).set_relevancy(Relevancy::Group(Group(team)));
            world.add(server, Object::Banner(banner), Rule::Team(team));
        }
        let realm = server.spawn(Realm::default());
        world.add(server, Object::Realm(realm), Rule::Everyone);
        let rest = objects - world.entries.len() as u32;
        let (creatures, loot) = (rest * 3 / 10, rest * 45 / 100);
        let structures = (rest - creatures - loot) as usize;
        let fires = structures / STRUCTURES_PER_FIRE;
        let moving = (objects / 10 - connections).min(creatures);
        let first = world.entries.len();
        (0..creatures).for_each(|number| world.spawn_creature(server, number < moving));
        let second = world.entries.len();
        (0..loot).for_each(|_| world.spawn_loot(server, None));
        let third = world.entries.len();
        (fires..structures).for_each(|_| world.spawn_structure(server));
        world.creatures = first..second;
        world.loot = second..third;
        world.structures = third..world.entries.len();
        (0..fires).for_each(|_| world.light_fire(server, None));
        world.fires = world.structures.end..world.entries.len();
        world
    }

    /// Returns a random point within `range` metres of `near` on each axis, and within the world.
    fn point(&mut self, near: Point, range: f32) -> Point {
        let extent = self.extent;
        let mut coordinate = |near: f32| {
            let offset = (self.rng.below(20_001) as f32 / 10_000.0 - 1.0) * range;
            (near + offset).clamp(-extent, extent)
        };
        rounded([coordinate(near[0]), coordinate(near[1])])
    }

    fn anywhere(&mut self) -> Point {
        self.point([0.0; 2], self.extent)
    }

    fn add(&mut self, server: &Server, object: Object, rule: Rule) {
        self.put(server, None, object, rule);
    }

    /// Adds an entry, or replaces the entry with the index `at`.
    fn put(&mut self, server: &Server, at: Option<usize>, object: Object, rule: Rule) {
        let entry = Entry::new(server, object, rule);
        match at {
            Some(at) => self.entries[at] = entry,
            None => self.entries.push(entry),
        }
    }

    /// Returns the canary with this version for a property of the object with this number.
    fn canary(at: usize, property: u8, version: u32) -> u128 {
        Canary { object: at as u32, property, version }.value()
    }

    fn spawn_avatar(&mut self, server: &mut Server) {
        let (position, at) = (self.anywhere(), self.entries.len());
        let avatar = server.spawn(Avatar { position, health: 100 });
        self.add(server, Object::Avatar(avatar), Rule::Located(Avatar::SIGHT.unwrap_or_default()));
        let metres_per_tick = 5.0 / TICKS_PER_SECOND as f32;
        self.walkers.push(Walker { at, goal: position, metres_per_tick, range: 600.0 });
    }

    /// Spawns the lantern and the pack that the avatar of a connection carries, and the journal of the
    /// connection.
    fn spawn_belongings(&mut self, server: &mut Server, connection: usize) {
        let Object::Avatar(avatar) = self.entries[connection].object else { return };
        let mark = Self::canary(self.entries.len(), MARK, 0);
        let lantern = server.spawn(Lantern { light: 9, mark });
        server.object(lantern).set_relevancy(Relevancy::AttachedTo(avatar.erase()));
        self.add(server, Object::Lantern(lantern), Rule::With(connection));
        let secret = Self::canary(self.entries.len(), SECRET, 0);
        let journal = server.spawn(Journal { pages: 1, secret });
        server.object(journal).set_relevancy(Relevancy::OwnerOnly);
        self.add(server, Object::Journal(journal), Rule::OwnerOnly);
        let secret = Self::canary(self.entries.len(), SECRET, 0);
        if let Some(pack) = server.object(avatar).spawn_subobject(Pack { coins: 20, secret }) {
            server.object(pack).set_audience(Audience::Owner);
            self.add(server, Object::Pack(pack), Rule::OwnerOnly);
        }
    }

    fn spawn_creature(&mut self, server: &mut Server, wanders: bool) {
        let (position, at) = (self.anywhere(), self.entries.len());
        let (mark, secret) = (Self::canary(at, MARK, 0), Self::canary(at, SECRET, 0));
        let creature = server.spawn(Creature { position, health: 50, mark, secret });
        self.add(server, Object::Creature(creature), Rule::Located(Creature::SIGHT.unwrap_or_default()));
        if wanders {
            let metres_per_tick = 2.0 / TICKS_PER_SECOND as f32;
            self.walkers.push(Walker { at, goal: position, metres_per_tick, range: 30.0 });
        }
    }

    /// Spawns loot in a new entry, or in place of the entry with the index `at`.
    fn spawn_loot(&mut self, server: &mut Server, at: Option<usize>) {
        let position = self.anywhere();
        let (kind, count) = (self.rng.below(500) as u16, 1 + self.rng.below(20) as u16);
        let loot = server.spawn(Loot { position, kind, count });
        server.object(loot).set_dormancy(Dormancy::All);
        self.put(server, at, Object::Loot(loot), Rule::Located(Loot::SIGHT.unwrap_or_default()));
    }

    /// Lights a fire in a structure, in a new entry or in place of the entry with the index `at`.
    fn light_fire(&mut self, server: &mut Server, at: Option<usize>) {
        let place = self.any(self.structures.clone());
        let Object::Structure(structure) = self.entries[place].object else { return };
        let mark = Self::canary(at.unwrap_or(self.entries.len()), MARK, self.tick);
        if let Some(fire) = server.object(structure).spawn_subobject(Fire { heat: 1, mark }) {
            self.put(server, at, Object::Fire(fire), Rule::With(place));
        }
    }

    fn spawn_structure(&mut self, server: &mut Server) {
        let position = self.anywhere();
        let kind = self.rng.below(100) as u16;
        let structure = server.spawn(Structure { position, kind, ..Structure::default() });
        server.object(structure).set_dormancy(Dormancy::All);
        self.add(server, Object::Structure(structure), Rule::Located(Structure::SIGHT.unwrap_or_default()));
    }

    /// Makes a connection that has joined the owner of its avatar, its journal and its tame creatures, and
    /// adds it to its team. It owns its pack because it owns the avatar. Connections are numbered from 0.
    pub(crate) fn join(&mut self, server: &mut Server, number: usize, connection: ConnectionId) {
        let lantern = self.connections as usize + BELONGINGS * number;
        let (journal, pack) = (lantern + 1, lantern + 2);
        let tame = self.creatures.clone().skip(number * TAME as usize).take(TAME as usize);
        for at in [number, journal].into_iter().chain(tame) {
            server.object(self.entries[at].object.erase()).set_owner(Some(connection));
            self.entries[at].owner = Some(number);
        }
        self.entries[pack].owner = Some(number);
        server.connection(connection).join_group(Group(number as u32 % TEAMS));
    }

    /// Returns the position of a connection's avatar.
    pub(crate) fn viewpoint(&self, number: usize) -> Point {
        self.entries[number].position
    }

    /// If a canary belongs to a removed fire, returns whether the connection could see the fire when it was
    /// removed: the server may still send these connections the last state of the fire. Otherwise returns
    /// `None`.
    pub(crate) fn had_seen(&self, number: usize, canary: Canary) -> Option<bool> {
        let at = canary.object as usize;
        let (_, seers) = self.burnt_out.range((at, canary.version + 1)..=(at, u32::MAX)).next()?;
        Some(seers.contains(&number))
    }

    /// Moves and changes the objects by one tick.
    pub(crate) fn step(&mut self, server: &mut Server) {
        self.tick += 1;
        for at in 0..self.walkers.len() {
            self.walk(server, at);
        }
        for _ in 0..3 {
            let (at, health) = (self.any(self.creatures.clone()), self.rng.below(100) as u8);
            self.change(server, at, |object, server| {
                if let Object::Creature(creature) = object {
                    server[creature].health = health;
                }
            });
        }
        for _ in 0..2 {
            let at = self.any(self.structures.clone());
            self.change(server, at, |object, server| {
                if let Object::Structure(structure) = object {
                    server[structure].is_open ^= true;
                }
            });
            let at = self.any(self.loot.clone());
            server.despawn(self.entries[at].object.erase());
            self.spawn_loot(server, Some(at));
        }
        self.burn(server);
        self.write_secrets(server);
    }

    /// Changes the heat of the fires. Replaces each fire that has burnt out by another one.
    fn burn(&mut self, server: &mut Server) {
        let tick = self.tick;
        for at in self.fires.clone() {
            // The fires have different ages, so they do not all end in the same tick.
            let age = tick + 7 * at as u32;
            if age.is_multiple_of(FIRE_TICKS) {
                let may_see = |number: &usize| verdict(&self.entries, *number, at) != Verdict::Blind;
                let seers = (0..self.connections as usize).filter(may_see).collect();
                self.burnt_out.insert((at, tick), seers);
                server.despawn(self.entries[at].object.erase());
                self.light_fire(server, Some(at));
            } else if age.is_multiple_of(HEAT_TICKS) {
                self.change(server, at, |object, server| {
                    if let Object::Fire(fire) = object {
                        server[fire].heat = server[fire].heat.wrapping_add(1);
                        server[fire].mark = Self::canary(at, MARK, tick);
                    }
                });
            }
        }
    }

    /// Changes the belongings of the connections, the banners of the teams, and the realm.
    fn write_secrets(&mut self, server: &mut Server) {
        let first = self.connections as usize;
        let (tick, at) = (self.tick, first + self.rng.below((BELONGINGS * first) as u64) as usize);
        self.change(server, at, |object, server| match object {
            Object::Lantern(lantern) => {
                server[lantern].light = server[lantern].light.wrapping_add(1);
                server[lantern].mark = Self::canary(at, MARK, tick);
            }
            Object::Journal(journal) => {
                server[journal].pages += 1;
                server[journal].secret = Self::canary(at, SECRET, tick);
            }
            Object::Pack(pack) => {
                server[pack].coins += 1;
                server[pack].secret = Self::canary(at, SECRET, tick);
            }
            _ => {}
        });
        let banners = (1 + BELONGINGS) * first..(1 + BELONGINGS) * first + TEAMS as usize;
        if tick.is_multiple_of(TICKS_PER_SECOND / 2) {
            let at = self.any(banners.clone());
            self.change(server, at, |object, server| {
                if let Object::Banner(banner) = object {
                    server[banner].score += 10;
                    server[banner].plan = Self::canary(at, SECRET, tick);
                }
            });
        }
        if tick.is_multiple_of(TICKS_PER_SECOND) {
            self.change(server, banners.end, |object, server| {
                if let Object::Realm(realm) = object {
                    server[realm].seconds += 1;
                }
            });
        }
    }

    fn any(&mut self, range: std::ops::Range<usize>) -> usize {
        range.start + self.rng.below((range.end - range.start).max(1) as u64) as usize
    }

    /// Changes an object, and records its new values with the tick.
    fn change(&mut self, server: &mut Server, at: usize, change: impl FnOnce(Object, &mut Server)) {
        let entry = &mut self.entries[at];
        change(entry.object, server);
        entry.record(server, self.tick);
    }

    /// Moves a walker towards its goal. A walker at its goal receives a new goal.
    fn walk(&mut self, server: &mut Server, walker: usize) {
        let Walker { at, goal, metres_per_tick, range } = self.walkers[walker];
        let here = self.entries[at].position;
        let (x, y) = (goal[0] - here[0], goal[1] - here[1]);
        let left = x.hypot(y);
        let arrives = left <= metres_per_tick;
        let share = metres_per_tick / left.max(metres_per_tick);
        let next = if arrives { goal } else { rounded([here[0] + x * share, here[1] + y * share]) };
        if arrives {
            self.walkers[walker].goal = self.point(here, range);
        }
        let tick = self.tick;
        self.change(server, at, |object, server| match object {
            Object::Avatar(avatar) => server[avatar].position = next,
            Object::Creature(creature) => {
                let creature = &mut server[creature];
                creature.position = next;
                if arrives {
                    creature.mark = Self::canary(at, MARK, tick);
                    creature.secret = Self::canary(at, SECRET, tick);
                }
            }
            _ => {}
        });
    }
}
