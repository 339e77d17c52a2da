//! The host of a server (a listen server). It owns objects, sends messages, makes and receives calls, and
//! gets events and notifies, while clients do the same over bad links. Only runs with a seed of
//! [`FIRST_SEED`] or more have a host.
//!
//! *Invariant:* runs with smaller seeds have no host, so they never change. The model uses only the test's
//! own calls and the objects of the server to decide what the host must get, and in which tick.

use std::collections::{BTreeMap, BTreeSet};

use repl::prelude::*;
use repl::sim::Rng;
use repl::{CallError, Guid};

use crate::kinds::ACTOR;
use crate::plan::Plan;
use crate::talk::Talks;
use crate::whispers::Heard;
use crate::world::World;

/// The smallest seed whose run has a host.
pub(crate) const FIRST_SEED: u64 = 60_000;

/// The properties of actors whose notifies are checked. Their values are always sent exactly.
const EXACT: [usize; 2] = [0, 12];

/// The host of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPlan {
    events: bool,
    notifies: bool,
    /// Chances in a tick: that the host joins if it is not connected, that it leaves, and that an object gets
    /// another owner.
    comes: f64,
    goes: f64,
    gifts: f64,
    /// The chance in a tick that the host makes a call on an [`Errand`], for each errand.
    calls: f64,
}

impl HostPlan {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork(60);
        let mut pick = |chances: &[f64]| *rng.pick(chances).expect("chances");
        let (comes, goes) = (pick(&[0.02, 1.0]), pick(&[0.0, 0.0, 0.01]));
        let (gifts, calls) = (pick(&[0.02, 0.2]), pick(&[0.1, 0.5]));
        Self { events: rng.chance(0.7), notifies: rng.chance(0.5), comes, goes, gifts, calls }
    }

    fn options(self) -> HostOptions {
        HostOptions { events: self.events, notifies: self.notifies }
    }
}

/// An object that no client sees, and on which the host makes calls.
#[derive(Replicated, Default)]
pub(crate) struct Errand {
    #[replicated]
    done: u32,
    /// The numbers of the calls that ran, each with its caller.
    ran: Vec<(u32, Option<ConnectionId>)>,
}

#[rpcs]
impl Errand {
    #[rpc(server, reliable, per_second = 10_000)]
    fn run(call: &mut ServerCall<'_, Self>, number: u32) {
        let caller = call.caller();
        call.done += 1;
        call.ran.push((number, caller));
    }
}

pub(crate) fn register(side: &mut impl Register) {
    side.register_calls::<Errand>();
}

/// The calls of an errand that must run.
#[derive(Debug, Default)]
struct Expected {
    owner: Option<ConnectionId>,
    /// The calls that were made since the last tick.
    called: Vec<u32>,
    ran: Vec<(u32, Option<ConnectionId>)>,
}

/// A host that is connected.
struct Present {
    id: ConnectionId,
    talks: Talks,
    heard: Heard,
    /// How many of its calls must have been ignored.
    ignored: u64,
    /// The objects that events have reported, and the objects among them that events have reported as torn
    /// off.
    objects: BTreeSet<Guid>,
    torn_off: BTreeSet<Guid>,
    /// The objects at the last tick, and whether the host owned each.
    owned: Option<BTreeMap<Guid, bool>>,
    /// For each actor, how many of its notifies were checked, and the last values of its properties.
    notified: BTreeMap<Guid, (usize, Vec<(usize, u64)>)>,
}

/// The host of a run, whether it is connected or not.
pub(crate) struct HostSeat {
    plan: HostPlan,
    rng: Rng,
    errands: Vec<(ObjectRef<Errand>, Expected)>,
    calls: u32,
    present: Option<Present>,
}

impl HostSeat {
    pub(crate) fn new(plan: HostPlan, seed: u64, world: &mut World) -> Self {
        let errands = (0..2).map(|_| {
            let errand = world.server.spawn(Errand::default());
            world.server.object(errand).set_relevancy(Relevancy::Nobody);
            (errand, Expected::default())
        });
        Self { plan, errands: errands.collect(), rng: Rng::new(seed).fork(61), calls: 0, present: None }
    }

    /// Runs the events of a tick that concern the host.
    pub(crate) fn disturb(&mut self, world: &mut World, plan: &Plan, tick: u64) {
        if let Some(present) = &self.present
            && self.rng.chance(self.plan.goes)
        {
            world.server.connection(present.id).disconnect();
            assert!(world.server.host().is_none());
            (self.present, world.host) = (None, None);
            world.due_to_host.clear();
        } else if self.present.is_none() && self.rng.chance(self.plan.comes) {
            let id = world.server.connect_host(self.plan.options());
            world.host = Some(id);
            self.present = Some(Present {
                id,
                talks: Talks::new(plan.talk, plan.seed << 16 | 0x8000 | id.index() as u64),
                heard: Heard::default(),
                ignored: 0,
                objects: BTreeSet::new(),
                torn_off: BTreeSet::new(),
                owned: None,
                notified: BTreeMap::new(),
            });
        }
        self.give(world, tick);
        self.call(world);
    }

    /// Makes the host the owner of an object and of an errand, or ends this ownership.
    fn give(&mut self, world: &mut World, tick: u64) {
        let host = self.present.as_ref().map(|present| present.id);
        if self.rng.chance(self.plan.gifts)
            && let Some(uid) = self.rng.pick(&world.alive).copied()
        {
            world.set_owner(uid, host.filter(|_| self.rng.chance(0.8)), tick);
        }
        for (errand, expected) in &mut self.errands {
            if self.rng.chance(self.plan.gifts) {
                expected.owner = host.filter(|_| self.rng.chance(0.7));
                world.server.object(*errand).set_owner(expected.owner);
            }
        }
    }

    /// Lets the host make calls.
    fn call(&mut self, world: &mut World) {
        let Some(present) = &mut self.present else { return };
        for (errand, expected) in &mut self.errands {
            if !self.rng.chance(self.plan.calls) {
                continue;
            }
            let made = world.server.host().expect("a host").call(*errand).run(self.calls);
            if expected.owner == Some(present.id) {
                assert_eq!(made, Ok(()));
                expected.called.push(self.calls);
                self.calls += 1;
            } else {
                assert_eq!(made, Err(CallError::NotOwner));
            }
        }
    }

    /// Lets the host and the server read their messages and calls, and send new messages if the world
    /// changes.
    pub(crate) fn talk(&mut self, world: &mut World, changes: bool, has_birds: bool) {
        let Some(Present { id, talks, heard, .. }) = &mut self.present else { return };
        if changes {
            talks.speak_up(&mut world.server.host().expect("a host"));
            talks.speak_down(&mut world.server, *id);
        }
        talks.hear(&mut world.server.host().expect("a host"));
        world.hear_as_host(heard, has_birds);
    }

    /// Returns the messages between the host and the server.
    pub(crate) fn talks(&mut self) -> Option<(ConnectionId, &mut Talks)> {
        self.present.as_mut().map(|present| (present.id, &mut present.talks))
    }

    /// Checks what the host got in the tick. Called after each tick of the server.
    pub(crate) fn check(&mut self, world: &mut World) {
        self.check_calls(world);
        let Some(present) = &mut self.present else { return };
        assert!(present.talks.has_all(), "{:?}", present.talks);
        let errands = self.errands.iter().filter_map(|(errand, _)| errand.guid());
        let objects = world.existing().map(|uid| world.things[uid as usize].guid).chain(errands);
        let objects: BTreeSet<Guid> = objects.collect();
        if self.plan.events {
            present.check_events(world, &objects);
        }
        if self.plan.notifies {
            present.check_notifies(world);
        }
    }

    /// Checks that the calls of the host ran in this tick if it still owned their objects, in their order.
    fn check_calls(&mut self, world: &World) {
        let host = self.present.as_ref().map(|present| present.id);
        let mut ignored = 0;
        for (errand, expected) in &mut self.errands {
            let called = std::mem::take(&mut expected.called);
            if host.is_some() && expected.owner == host {
                expected.ran.extend(called.into_iter().map(|number| (number, host)));
            } else {
                ignored += called.len() as u64;
            }
            assert_eq!(world.server[*errand].ran, expected.ran);
        }
        if let Some(present) = &mut self.present {
            present.ignored += ignored;
            let stats = world.server.connection_info(present.id).stats().expect("a host");
            assert_eq!(stats.ignored_calls, present.ignored);
        }
    }

    /// Returns how many calls of the server the host has received, and how many of its own calls ran.
    pub(crate) fn counts(&self) -> [u64; 2] {
        let heard = self.present.as_ref().map_or(0, |present| present.heard.count());
        [heard, self.errands.iter().map(|(_, expected)| expected.ran.len() as u64).sum()]
    }
}

impl Present {
    /// Checks the events of a tick. `objects` are all objects of the server.
    fn check_events(&mut self, world: &mut World, objects: &BTreeSet<Guid>) {
        let mut changed = BTreeSet::new();
        let is_torn_off = |world: &World, guid: &Guid| {
            world.by_guid.get(guid).is_some_and(|&uid| world.things[uid as usize].torn_off.is_some())
        };
        let owns = |world: &World, guid: Guid| {
            world.server.object_info(ObjectRef::<()>::new(guid)).owner() == Some(self.id)
        };
        let is_first = self.owned.is_none();
        let mut synchronized = 0;
        while let Some(event) = world.server.host().expect("a host").poll_event() {
            match event {
                ClientEvent::Connected => assert!(is_first),
                ClientEvent::Synchronized => synchronized += 1,
                other => panic!("unexpected: {other:?}"),
            }
        }
        let tick = world.server.ticks();
        while let Some(update) = world.server.host().expect("a host").poll_update() {
            assert_eq!(update.tick, tick, "{update:?}");
            let guid = update.object.guid().expect("an object");
            match update.what {
                UpdateKind::Spawned => {
                    let parent = world.by_guid.get(&guid).and_then(|&uid| world.things[uid as usize].parent);
                    let parent = parent.map(|parent| world.things[parent as usize].guid);
                    let is_parent_known = parent
                        .is_none_or(|parent| self.objects.contains(&parent) || !objects.contains(&parent));
                    assert!(is_parent_known, "the subobject {guid:?} came before its object");
                    assert!(self.objects.insert(guid), "{guid:?} came twice");
                }
                UpdateKind::Despawned(reason) => {
                    assert_eq!(reason, CloseReason::Destroyed);
                    assert!(self.objects.remove(&guid), "{guid:?} went, but was not there");
                    self.torn_off.remove(&guid);
                }
                UpdateKind::Owner => assert!(changed.insert(guid), "{guid:?} changed twice"),
                UpdateKind::TornOff => assert!(self.torn_off.insert(guid), "{guid:?} torn off twice"),
                other => panic!("unexpected: {other:?}"),
            }
        }
        assert_eq!(synchronized, usize::from(is_first));
        assert_eq!(self.objects, *objects);
        if is_first {
            // Tear-offs before the host joined were not reported.
            self.torn_off = objects.iter().filter(|guid| is_torn_off(world, guid)).copied().collect();
        }
        let torn_off: BTreeSet<Guid> =
            objects.iter().filter(|guid| is_torn_off(world, guid)).copied().collect();
        assert_eq!(self.torn_off, torn_off);
        let owned: BTreeMap<Guid, bool> = objects.iter().map(|&guid| (guid, owns(world, guid))).collect();
        let before = self.owned.replace(owned).unwrap_or_default();
        let owned = self.owned.as_ref().expect("just stored");
        // An event tells the host that it owns a new object.
        let differs =
            |(guid, is): (&Guid, &bool)| (*is != before.get(guid).copied().unwrap_or(false)).then_some(*guid);
        assert_eq!(changed, owned.iter().filter_map(differs).collect());
    }

    /// Checks the notifies of a tick: each reports a change, the first one begins at the last known value,
    /// and the last one ends at the current value.
    fn check_notifies(&mut self, world: &World) {
        for uid in world.existing() {
            let thing = &world.things[uid as usize];
            // A change of an object with an update rate is compared later, and a change after a tear-off is
            // never compared.
            let is_compared = !thing.is_rated && thing.torn_off.is_none();
            if thing.kind != ACTOR || !is_compared && !self.notified.contains_key(&thing.guid) {
                continue;
            }
            let (told, mut now) = world.told_on_server(uid);
            now.retain(|(property, _)| EXACT.contains(property));
            let (checked, last) =
                self.notified.entry(thing.guid).or_insert_with(|| (told.len(), now.clone()));
            for (property, old, new) in told.iter().skip(*checked) {
                let Some((_, last)) = last.iter_mut().find(|(known, _)| known == property) else { continue };
                assert_eq!(old, last, "{:?} .{property}: the old value is the one before", thing.guid);
                assert_ne!(old, new, "{:?} .{property}: a notify without a change", thing.guid);
                *last = *new;
            }
            *checked = told.len();
            if is_compared {
                assert_eq!(*last, now, "{:?}: a change without a notify", thing.guid);
            }
        }
        self.notified.retain(|guid, _| world.server.contains(ObjectRef::<()>::new(*guid)));
    }
}
