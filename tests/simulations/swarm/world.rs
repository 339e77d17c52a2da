//! The server of a run with a model of it: its objects, their history, and which connections may see them.
//!
//! *Invariant:* the model reads only values from the server, and never the server's state of connections.

use std::collections::{BTreeMap, BTreeSet};

use repl::sim::Rng;
use repl::tools::ViewFlags;
use repl::{ArchetypeId, Area, Condition, ConnectionId, Dormancy, Group, Guid, ObjectRef, Role, Server};

use crate::assets;
use crate::canary::Canary;
use crate::classes::{Actor, Bird, Chest, Creature, Dot, Golem, Hoard, Ink, Pack, Scroll, Sign, Vault};
use crate::host;
use crate::kinds::{ACTOR, BIRD, Kind, Notified, Origin, VAULT, kinds};
use crate::ledger::{Leaf, Ledger, property_of};
use crate::plan::Plan;
use crate::sight::{JUDGES, Keeping, NEAR_RADIUS, RADIUS, Relevance, TornOff, judges};
use crate::switches::{Flipped, Switches, flip_for_one};
use crate::talk;
use crate::waits::Pauses;
use crate::whispers::{Calls as WhisperedCalls, Rights, Whisper, Whispers};

/// For how many ticks an object grows.
const GROWING_TICKS: u32 = 12;

/// An object that exists or existed.
pub(crate) struct Thing {
    pub(crate) guid: Guid,
    pub(crate) kind: usize,
    pub(crate) alive: bool,
    pub(crate) veteran: bool,
    pub(crate) ledger: Ledger,
    /// The connection that owns the object, directly or through other objects.
    pub(crate) owner: Option<ConnectionId>,
    /// The object that owns the object.
    owned_by: Option<u32>,
    /// The object whose subobject it is.
    pub(crate) parent: Option<u32>,
    pub(crate) relevance: Relevance,
    /// Three positions: the position that relevancy uses in this tick, the position at the last comparison,
    /// and the current position.
    pub(crate) positions: [[f32; 2]; 3],
    pub(crate) dormancy: Dormancy,
    pub(crate) torn_off: Option<TornOff>,
    pub(crate) keeping: Keeping,
    /// Whether the object has an update rate of its own, so that its changes are compared later.
    pub(crate) is_rated: bool,
    pub(crate) role: Role,
    physics: bool,
    switches: Switches,
    /// For each property, the number of its secrets, and the number of those secrets that were compared while
    /// the property was switched on.
    pub(crate) versions: Vec<(u32, u32)>,
    is_dirty: bool,
}

impl Thing {
    /// Returns whether the object is torn off, and its last state was compared.
    fn is_frozen(&self) -> bool {
        self.torn_off.as_ref().is_some_and(|torn_off| torn_off.is_frozen)
    }
}

/// What the model knows about one connection.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) is_replay: bool,
    /// The objects that are hidden from the connection.
    pub(crate) hidden: BTreeSet<u32>,
    pub(crate) groups: BTreeSet<u32>,
    /// The birds that the function of their class shows to the connection.
    pub(crate) judged: BTreeSet<u32>,
    pub(crate) viewpoints: Vec<[f32; 2]>,
    /// The partially dormant objects that may sleep for the connection.
    pub(crate) chosen: BTreeSet<u32>,
    /// The objects that the connection sees.
    pub(crate) seen: BTreeSet<u32>,
    /// The removed objects that the connection saw when they were removed, each with the properties that it
    /// could see then. They may be in the last states of these objects.
    pub(crate) last_seen: BTreeMap<u32, Vec<bool>>,
    pub(crate) flipped: Flipped,
    /// Objects whose opening the client acknowledged. The server may have ignored a late ack.
    pub(crate) acknowledged: BTreeSet<u32>,
    /// The acknowledged objects that the server counts as open.
    pub(crate) opened: BTreeSet<u32>,
    /// For each visible object, the tick in which it became visible.
    pub(crate) shown_at: BTreeMap<u32, u64>,
    /// When the server accepted the client, and which objects were visible to it then.
    pub(crate) joined: Option<(u64, BTreeSet<u32>)>,
    /// Which calls with secrets the connection may get.
    pub(crate) rights: Rights,
}

impl View {
    /// Objects that existed when the client joined, and have been visible ever since.
    pub(crate) fn joined_with(&self) -> Vec<u32> {
        let Some((at, joined)) = &self.joined else { return Vec::new() };
        joined.iter().copied().filter(|uid| self.is_shown_since(*uid, *at)).collect()
    }

    fn is_shown_since(&self, uid: u32, tick: u64) -> bool {
        self.seen.contains(&uid) && self.shown_at.get(&uid).is_some_and(|shown| *shown <= tick)
    }

    /// Records that the client has removed an object, or will remove it.
    pub(crate) fn lose(&mut self, uid: u32) {
        self.acknowledged.remove(&uid);
        self.opened.remove(&uid);
        self.rights.lose(uid);
    }
}

/// The server and its model.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) kinds: [Kind; 10],
    /// Whether a connection can be far from a bird that it sees.
    pub(crate) has_far: bool,
    /// All objects that ever existed, by number.
    pub(crate) things: Vec<Thing>,
    pub(crate) by_guid: BTreeMap<Guid, u32>,
    /// The objects that exist and are not torn off.
    pub(crate) alive: Vec<u32>,
    /// The objects that exist and are torn off.
    pub(crate) torn_off: Vec<u32>,
    pub(crate) views: BTreeMap<ConnectionId, View>,
    /// The host, while it is connected, and the calls with secrets that it must hear next.
    pub(crate) host: Option<ConnectionId>,
    pub(crate) due_to_host: BTreeSet<u32>,
    pub(crate) whispers: Option<Whispers>,
    archetype: ArchetypeId<Actor>,
    rng: Rng,
    versions: u32,
    dirty: Vec<u32>,
    /// The generator for extremes.
    pub(crate) wild: Rng,
    /// The generator for chains of owners.
    chains: Rng,
    /// The generator for lives.
    pub(crate) lives: Rng,
    /// The generator for waits.
    pub(crate) waits: Rng,
    pub(crate) pauses: Pauses,
    /// The objects that were paused at any time.
    pub(crate) was_paused: BTreeSet<u32>,
    /// Whether objects may be attached to others.
    pub(crate) places_objects: bool,
    /// The generator for what clients keep.
    keeping: Rng,
    /// The generator for calls with secrets.
    pub(crate) whispering: Rng,
    pub(crate) calls: WhisperedCalls,
    /// Objects that grow, and for how many ticks.
    growing: Vec<(u32, u32)>,
    /// Objects with short lives, each with the tick in which its life ends.
    pub(crate) short_lives: BTreeSet<(u64, u32)>,
}

impl World {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut server = Server::new(plan.server());
        talk::register_on_server(&mut server);
        let archetype = server.register_archetype(|| Actor::archetype(true));
        server
            .register::<Pack>()
            .register::<Hoard>()
            .register::<Chest>()
            .register::<Dot>()
            .register::<Scroll>()
            .register::<Vault>();
        if plan.has_birds() {
            let area = Area::within(RADIUS);
            let bands = area.slower_beyond(40.0, 3).slower_beyond(70.0, 7).near_within(NEAR_RADIUS);
            server.class::<Bird>().set_area(if plan.lives.has_bands { bands } else { area });
            if plan.lives.has_function {
                server.class::<Bird>().set_relevancy_by(|bird, viewer| {
                    let place = bird.place().unwrap_or_default();
                    judges(place, viewer.is_in_group(Group(JUDGES)))
                });
            }
        }
        if plan.has_signs() {
            server.register_assets().register::<Sign>();
            assets::add_to_server(&mut server);
        }
        if plan.has_golems() {
            server.register::<Golem>();
        }
        if plan.whispers.is_some() {
            Whispers::register_on_server(&mut server, plan.has_birds());
        }
        if plan.host.is_some() {
            host::register(&mut server);
        }
        let mut world = Self {
            server,
            kinds: kinds(),
            has_far: plan.lives.has_bands,
            things: Vec::new(),
            by_guid: BTreeMap::new(),
            alive: Vec::new(),
            torn_off: Vec::new(),
            views: BTreeMap::new(),
            host: None,
            due_to_host: BTreeSet::new(),
            whispers: plan.whispers,
            archetype,
            rng: Rng::new(plan.seed).fork(2),
            versions: 0,
            dirty: Vec::new(),
            wild: Rng::new(plan.seed).fork(11),
            chains: Rng::new(plan.seed).fork(13),
            lives: Rng::new(plan.seed).fork(21),
            waits: Rng::new(plan.seed).fork(91),
            pauses: Pauses::new(),
            was_paused: BTreeSet::new(),
            places_objects: plan.lives.relevancy > 0.0,
            keeping: Rng::new(plan.seed).fork(46),
            whispering: Rng::new(plan.seed).fork(24),
            calls: WhisperedCalls::default(),
            growing: Vec::new(),
            short_lives: BTreeSet::new(),
        };
        for _ in 0..plan.objects {
            world.spawn(plan, None, 0);
        }
        world
    }

    pub(crate) fn is_alive(&self, uid: u32) -> bool {
        self.things[uid as usize].alive
    }

    /// Returns the notifies that ran on the server's object, and the values of its properties with notifies.
    pub(crate) fn told_on_server(&self, uid: u32) -> (Vec<(usize, u64, u64)>, Notified) {
        let thing = &self.things[uid as usize];
        let (shown, now) = (self.kinds[thing.kind].told_on_server)(&self.server, thing.guid);
        (shown.notifies, now)
    }

    /// Returns all objects that exist.
    pub(crate) fn existing(&self) -> impl Iterator<Item = u32> {
        self.alive.iter().chain(&self.torn_off).copied()
    }

    fn draw(&mut self) -> Option<u32> {
        self.rng.pick(&self.alive).copied()
    }

    fn draw_connection(&mut self) -> Option<ConnectionId> {
        let connections: Vec<ConnectionId> = self.views.keys().copied().collect();
        self.rng.pick(&connections).copied()
    }

    /// Returns some objects to refer to; they may no longer exist.
    fn mentionable(&mut self) -> Vec<Guid> {
        (0..4).filter_map(|_| self.rng.pick(&self.things).map(|thing| thing.guid)).collect()
    }

    /// Spawns an object, or a subobject of another object.
    pub(crate) fn spawn(&mut self, plan: &Plan, parent: Option<u32>, tick: u64) {
        let mut at = self.rng.below(plan.weights.iter().sum());
        let kind =
            plan.weights.iter().position(|&weight| at.checked_sub(weight).map(|rest| at = rest).is_none());
        self.spawn_kind(kind.expect("a weight"), parent, plan, tick);
    }

    pub(crate) fn spawn_kind(&mut self, kind: usize, parent: Option<u32>, plan: &Plan, tick: u64) {
        let veteran = kind == ACTOR && parent.is_none() && self.rng.chance(0.3);
        let archetype = if veteran { self.archetype } else { ArchetypeId::default() };
        let uid = self.things.len() as u32;
        let guids = self.mentionable();
        let conditions = self.kinds[kind].conditions;
        let (versions, mut newest) = (&mut self.versions, vec![(0, 0); conditions.len()]);
        let mut canary = |property: usize| {
            let value = next_canary(versions, uid, property);
            newest[property].0 = *versions;
            value
        };
        let mut ink = Ink { rng: &mut self.rng, canary: &mut canary, guids: &guids };
        let above = parent.map(|parent| ObjectRef::new(self.things[parent as usize].guid));
        let origin = Origin { archetype, is_veteran: veteran, parent: above };
        let reference = (self.kinds[kind].spawn)(&mut self.server, origin, uid, &mut ink);
        let guid = reference.guid().expect("an object has a guid");
        assert!(self.by_guid.insert(guid, uid).is_none(), "the guid {guid:?} was used before");
        let mut ledger = Ledger::default();
        // A collection that grows while its object opens is sent in parts, with each item whole.
        let in_parts =
            |property| plan.extremes.growth > 0.0 && self.kinds[kind].collections.contains(&property);
        let is_kept = conditions.iter().zip(0..);
        let is_kept = is_kept
            .map(|(condition, property)| *condition != Condition::None || in_parts(property))
            .collect();
        ledger.begin(&(self.kinds[kind].fresh)(veteran).0, is_kept);
        let relevance = match parent {
            Some(parent) => Relevance::AttachedTo(parent),
            None if kind == BIRD && plan.lives.has_function => Relevance::NearAndJudged,
            None if kind == BIRD => Relevance::Located,
            None => Relevance::Everyone,
        };
        let is_initial = self.lives.chance(plan.lives.initial);
        let dormancy = if is_initial { Dormancy::Initial } else { Dormancy::Awake };
        self.server.object(reference).set_dormancy(dormancy);
        let keeping = Keeping::draw(&mut self.keeping, plan.lives.keeps);
        self.server.object(reference).set_out_of_sight(keeping.setting());
        self.things.push(Thing {
            guid,
            kind,
            alive: true,
            veteran,
            ledger,
            owner: parent.and_then(|parent| self.things[parent as usize].owner),
            owned_by: parent,
            parent,
            relevance,
            positions: [(self.kinds[kind].place)(&self.server, guid).unwrap_or_default(); 3],
            dormancy,
            torn_off: None,
            is_rated: plan.waits.is_some(),
            keeping,
            role: Role::default(),
            physics: false,
            switches: Switches::default(),
            versions: newest,
            is_dirty: true,
        });
        self.alive.push(uid);
        self.dirty.push(uid);
        parent.into_iter().for_each(|parent| self.pause_with_parent(uid, parent));
        if self.wild.chance(plan.extremes.growth) {
            self.growing.push((uid, GROWING_TICKS));
        }
        self.review(&[uid], tick);
        // Most objects have an owner from the start.
        if parent.is_none()
            && self.rng.chance(0.6)
            && let Some(owner) = self.draw_connection()
        {
            self.set_owner(uid, Some(owner), tick);
        }
    }

    /// Sets the owner of an object. Instead of a connection, the owner is sometimes another object.
    pub(crate) fn set_owner(&mut self, uid: u32, owner: Option<ConnectionId>, tick: u64) {
        // The parent of a subobject owns it.
        if self.things[uid as usize].parent.is_some() {
            return;
        }
        let above = if self.chains.chance(0.25) { self.chains.pick(&self.alive).copied() } else { None };
        let above = above.filter(|&above| !self.is_owned_by(above, uid));
        let [object, owner_object] = [Some(uid), above].map(|uid| {
            uid.map_or(ObjectRef::NULL, |uid| ObjectRef::<()>::new(self.things[uid as usize].guid))
        });
        self.things[uid as usize].owned_by = above;
        match above {
            Some(above) => {
                self.server.object(object).set_owner_object(owner_object);
                self.give(uid, self.things[above as usize].owner);
            }
            None => {
                self.server.object(object).set_owner(owner);
                self.give(uid, owner);
            }
        }
        self.refresh(tick);
    }

    /// Returns whether an object is another one, or is owned by it, directly or through other objects.
    fn is_owned_by(&self, uid: u32, owner: u32) -> bool {
        uid == owner || self.things[uid as usize].owned_by.is_some_and(|above| self.is_owned_by(above, owner))
    }

    /// Records the owner of an object, and of all objects that it owns.
    fn give(&mut self, uid: u32, owner: Option<ConnectionId>) {
        self.things[uid as usize].owner = owner;
        for (connection, view) in &mut self.views {
            if owner != Some(*connection) {
                view.rights.disown(uid);
            }
        }
        for other in self.existing().collect::<Vec<_>>() {
            if self.things[other as usize].owned_by == Some(uid) {
                self.give(other, owner);
            }
        }
    }

    /// Despawns an object with its subobjects.
    pub(crate) fn despawn(&mut self, uid: u32, tick: u64) {
        self.server.despawn(self.object(uid));
        for uid in self.with_subobjects(uid) {
            let owner = self.things[uid as usize].owner;
            let viewers: Vec<ConnectionId> =
                self.views.iter().filter(|(_, view)| view.seen.contains(&uid)).map(|(id, _)| *id).collect();
            for connection in viewers {
                let view = &self.views[&connection];
                let initial = !view.opened.contains(&uid);
                let properties = 0..self.things[uid as usize].versions.len();
                let last = properties
                    .map(|property| self.is_active(connection, view, uid, property, initial))
                    .collect();
                let view = self.views.get_mut(&connection).expect("a viewer");
                view.last_seen.insert(uid, last);
                view.rights.end(uid, owner == Some(connection));
            }
            self.end_pauses(uid);
            self.things[uid as usize].alive = false;
            self.alive.retain(|&known| known != uid);
            self.torn_off.retain(|&known| known != uid);
            self.release_attached(uid);
            for view in self.views.values_mut() {
                view.lose(uid);
                view.seen.remove(&uid);
            }
        }
        for orphan in self.existing().collect::<Vec<_>>() {
            let owner = self.things[orphan as usize].owned_by;
            if owner.is_some_and(|owner| !self.is_alive(owner)) {
                self.things[orphan as usize].owned_by = None;
                self.give(orphan, None);
            }
        }
        self.refresh(tick);
    }

    fn change(&mut self) {
        if let Some(uid) = self.draw() {
            self.change_one(uid);
        }
    }

    pub(crate) fn change_one(&mut self, uid: u32) {
        let guids = self.mentionable();
        let thing = &mut self.things[uid as usize];
        let kind = &self.kinds[thing.kind];
        let property = self.rng.below(kind.conditions.len() as u64) as usize;
        let (versions, newest) = (&mut self.versions, &mut thing.versions);
        let mut canary = |property: usize| {
            let value = next_canary(versions, uid, property);
            newest[property].0 = *versions;
            value
        };
        let mut ink = Ink { rng: &mut self.rng, canary: &mut canary, guids: &guids };
        (kind.change)(&mut self.server, thing.guid, uid, property, &mut ink);
        kind.calls.changed(&mut self.server, thing.guid, property);
        if !std::mem::replace(&mut thing.is_dirty, true) {
            self.dirty.push(uid);
        }
    }

    /// Lets objects grow, before and after their openings are acknowledged.
    fn grow(&mut self) {
        self.growing.retain(|(uid, left)| *left > 0 && self.things[*uid as usize].alive);
        for at in 0..self.growing.len() {
            let (uid, left) = &mut self.growing[at];
            *left -= 1;
            let (uid, kinds) = (*uid, &self.kinds);
            let thing = &mut self.things[uid as usize];
            let mut ink = Ink {
                rng: &mut self.wild,
                canary: &mut |_| unreachable!("growth has no secrets"),
                guids: &[],
            };
            (kinds[thing.kind].grow)(&mut self.server, thing.guid, &mut ink);
            if !std::mem::replace(&mut thing.is_dirty, true) {
                self.dirty.push(uid);
            }
        }
    }

    /// Changes which connections see which objects.
    fn flip(&mut self, tick: u64) {
        let Some(uid) = self.draw() else { return };
        let Some(connection) = self.draw_connection() else { return };
        let (server, thing, rng) = (&mut self.server, &mut self.things[uid as usize], &mut self.rng);
        let object = ObjectRef::<()>::new(thing.guid);
        let calls = self.kinds[thing.kind].calls;
        let (has_custom, has_dynamic) = (calls.has(Condition::Custom), calls.has(Condition::Dynamic));
        let view = self.views.get_mut(&connection).expect("a connection that was drawn");
        match rng.below(8) {
            0 | 1 => {
                let owner = rng.chance(0.7).then_some(connection);
                self.set_owner(uid, owner, tick);
            }
            2 => {
                let roles = [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority];
                thing.role = *rng.pick(&roles).expect("roles");
                server.object(object).set_remote_role(thing.role);
            }
            3 => {
                thing.physics = !thing.physics;
                server.object(object).set_replicates_physics(thing.physics);
            }
            4 if has_custom => thing.switches.flip_for_all(&calls, server, thing.guid, rng),
            5 if has_custom => {
                flip_for_one(&calls, server, (connection, &mut view.flipped), (thing.guid, uid), rng);
            }
            6 if has_dynamic => thing.switches.set_dynamic(&calls, server, thing.guid, rng),
            _ => {
                let visible = view.hidden.contains(&uid);
                self.set_visible(connection, uid, visible);
                self.refresh(tick);
            }
        }
    }

    /// Changes a vault, and usually its conditions in the same tick.
    fn flip_vault(&mut self) {
        let vaults: Vec<u32> =
            self.alive.iter().copied().filter(|&uid| self.things[uid as usize].kind == VAULT).collect();
        let Some(uid) = self.rng.pick(&vaults).copied() else { return };
        let Some(connection) = self.draw_connection() else { return };
        if self.rng.chance(0.6) {
            self.change_one(uid);
        }
        let (server, thing, rng) = (&mut self.server, &mut self.things[uid as usize], &mut self.rng);
        let calls = self.kinds[VAULT].calls;
        let view = self.views.get_mut(&connection).expect("a connection that was drawn");
        match rng.below(4) {
            0 => thing.switches.flip_for_all(&calls, server, thing.guid, rng),
            1 => thing.switches.set_dynamic(&calls, server, thing.guid, rng),
            2 => flip_for_one(&calls, server, (connection, &mut view.flipped), (thing.guid, uid), rng),
            _ => {}
        }
    }

    /// Makes the random changes of one tick.
    pub(crate) fn mutate(&mut self, plan: &Plan, tick: u64) {
        // Calls with secrets are made before and after the changes of a tick.
        plan.whispers.into_iter().for_each(|whispers| self.whisper(whispers));
        let whole = plan.changes.trunc() as usize + usize::from(self.rng.chance(plan.changes.fract()));
        for _ in 0..whole {
            self.change();
        }
        if self.rng.chance(plan.churn) {
            if self.alive.len() > plan.objects
                && let Some(uid) = self.draw()
            {
                self.despawn(uid, tick);
            }
            if self.alive.len() <= plan.objects {
                self.spawn(plan, None, tick);
            }
        }
        if self.rng.chance(plan.view_flips) {
            self.flip(tick);
        }
        if plan.weights[VAULT] > 0 && self.rng.chance(0.5) {
            self.flip_vault();
        }
        self.grow();
        plan.short_lives.into_iter().for_each(|short| self.live_shortly(short, plan, tick));
        if self.wild.chance(plan.extremes.masses) {
            self.crowd(plan, tick);
        }
        self.live(plan, tick);
        plan.waits.into_iter().for_each(|waits| self.pause_one(waits));
        plan.whispers.into_iter().for_each(|whispers| self.whisper(whispers));
    }

    /// Records the objects' values when the server compared them.
    pub(crate) fn record(&mut self, tick: u64) {
        let written = std::mem::take(&mut self.dirty);
        for &uid in &written {
            let thing = &mut self.things[uid as usize];
            thing.is_dirty = false;
            if thing.alive && !thing.is_frozen() {
                thing.ledger.record(tick, &(self.kinds[thing.kind].leaves)(&self.server, thing.guid));
            }
        }
        self.note_hidden_tear_offs();
        for &uid in self.alive.iter().chain(&self.torn_off) {
            let thing = &mut self.things[uid as usize];
            for property in 0..thing.versions.len() {
                if thing.switches.is_compared(property) && !thing.is_frozen() {
                    thing.versions[property].1 = thing.versions[property].0;
                }
            }
            thing.torn_off.iter_mut().for_each(|torn_off| torn_off.is_frozen = true);
        }
        self.follow(tick, &written);
    }

    /// Returns whether a packet made for the connection in this tick may contain a secret.
    pub(crate) fn may_see(&self, connection: ConnectionId, canary: Canary) -> bool {
        // These bits may be the end of a secret that started in another packet, followed by bits of something
        // else.
        let thing = self.things.get(canary.object as usize);
        let is_made = |thing: &&Thing| {
            let made = thing.versions.get(usize::from(canary.property));
            Whisper::of(canary).is_some() || made.is_some_and(|made| canary.version <= made.0)
        };
        let Some(thing) = thing.filter(is_made) else { return true };
        let Some(view) = self.views.get(&connection) else { return false };
        if self.is_held(connection, canary) {
            return false;
        }
        if Whisper::of(canary).is_some() {
            return self.may_hear((connection, view), canary);
        }
        let property = canary.property as usize;
        if !view.seen.contains(&canary.object) {
            let last = view.last_seen.get(&canary.object);
            return last.is_some_and(|last| last.get(property).copied().unwrap_or(false));
        }
        let initial = !view.opened.contains(&canary.object);
        let is_compared = canary.version <= thing.versions[property].1;
        is_compared && self.is_active(connection, view, canary.object, property, initial)
    }

    /// Returns whether a property of an object is compared now.
    pub(crate) fn is_compared(&self, uid: u32, property: usize) -> bool {
        self.things[uid as usize].switches.is_compared(property)
    }

    fn is_active(
        &self,
        connection: ConnectionId,
        view: &View,
        uid: u32,
        property: usize,
        initial: bool,
    ) -> bool {
        let thing = &self.things[uid as usize];
        let is_owner = thing.owner == Some(connection);
        let simulated = match thing.role {
            Role::SimulatedProxy => true,
            Role::AutonomousProxy => !is_owner,
            Role::None | Role::Authority => false,
        };
        let flags = ViewFlags::default()
            .with_if(ViewFlags::INITIAL, initial)
            .with_if(ViewFlags::OWNER, is_owner)
            .with_if(ViewFlags::SIMULATED, simulated)
            .with_if(ViewFlags::PHYSICS, thing.physics)
            .with_if(ViewFlags::REPLAY, view.is_replay)
            .with_if(ViewFlags::FAR, self.is_far(connection, uid));
        let calls = &self.kinds[thing.kind].calls;
        let condition = thing.switches.condition(calls, property, &view.flipped, uid);
        condition.allows(flags)
    }

    /// Returns the leaves that a connection must show of an object when it is up to date; `None` for a leaf
    /// that may have an older value.
    pub(crate) fn expected(&self, connection: ConnectionId, uid: u32) -> Vec<(u64, Option<Leaf>)> {
        let (thing, view) = (&self.things[uid as usize], &self.views[&connection]);
        let properties = self.kinds[thing.kind].conditions.len();
        let changed_at = thing.ledger.changed_at(properties);
        let is_exact: Vec<bool> = (0..properties)
            .map(|property| {
                let changed = changed_at[property];
                let since_shown = view.shown_at.get(&uid).is_some_and(|&shown| shown >= changed);
                // A `Dynamic` property may have had another condition when the object opened. An object with
                // a rate may have been compared later.
                let is_dynamic = self.kinds[thing.kind].conditions[property] == Condition::Dynamic;
                let is_fixed = !is_dynamic && !thing.is_rated;
                let active = self.is_active(connection, view, uid, property, since_shown && is_fixed);
                thing.switches.is_compared(property) && active
            })
            .collect();
        let entries = thing.ledger.entries();
        entries
            .map(|(path, entries)| {
                (path, entries.last().filter(|_| is_exact[property_of(path)]).map(|(_, leaf)| *leaf))
            })
            .collect()
    }
}

fn next_canary(versions: &mut u32, object: u32, property: usize) -> u128 {
    *versions += 1;
    Canary { object, property: property as u8, version: *versions }.value()
}
