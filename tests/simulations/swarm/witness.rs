//! Compares the values that one client shows with the values that the server's objects had.
//!
//! *Invariant:* everything that a client shows is checked before another packet reaches it.

use std::collections::{BTreeMap, BTreeSet};

use repl::{Client, ClientEvent, CloseReason, Guid, ObjectRef};

use crate::assets::Shelf;
use crate::follower::News;
use crate::kinds::Notified;
use crate::ledger::{Leaf, property_of};
use crate::sight::Keeping;
use crate::world::World;
use repl::{Condition, ConnectionId, Role};

/// An object that a client has.
struct Sight {
    uid: u32,
    since: u64,
    /// The values of the object's properties with notifies.
    notified: Notified,
}

/// An object that a client keeps while it is out of sight.
struct Unseen {
    uid: u32,
    notified: Notified,
    /// The values that the client keeps.
    leaves: Vec<Leaf>,
}

/// What is known about a client.
#[derive(Default)]
pub(crate) struct Witness {
    pub(crate) is_connected: bool,
    /// Whether the client has reported `Synchronized`, and whether it did so since the last
    /// [`takes_synchronized`](Self::takes_synchronized).
    is_synchronized: (bool, bool),
    present: BTreeMap<Guid, Sight>,
    destroyed: BTreeSet<Guid>,
    /// The objects that the client has had at any time, by number.
    ever: BTreeSet<u32>,
    /// How many times the client got an object.
    arrivals: u64,
    /// The objects that were torn off and that the client keeps.
    kept: BTreeMap<Guid, u32>,
    /// The objects out of sight that the client keeps.
    unseen: BTreeMap<Guid, Unseen>,
    /// The assets of the client.
    pub(crate) shelf: Shelf,
    /// Which of the server's values the client showed last, by object and path.
    shown: BTreeMap<u32, BTreeMap<u64, usize>>,
}

impl Witness {
    /// Handles the events of a client.
    pub(crate) fn events(&mut self, client: &mut Client) {
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Connected => {
                    assert!(!std::mem::replace(&mut self.is_connected, true), "connected twice")
                }
                ClientEvent::Synchronized => {
                    assert!(!self.is_synchronized.0, "synchronized twice");
                    self.is_synchronized = (true, true);
                }
                ClientEvent::UnknownAsset(path) => self.shelf.report(&path),
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    /// Finds the events about the objects of a client since the last time, without updates. In the result,
    /// parents appear before their subobjects, and disappear after them.
    pub(crate) fn look_for_news(&self, client: &Client, world: &World) -> Vec<(Guid, News)> {
        let there: BTreeSet<Guid> = world.kinds.iter().flat_map(|kind| (kind.present)(client)).collect();
        let is_torn_off = |guid: &&Guid| client.object_info(ObjectRef::<()>::new(**guid)).is_torn_off();
        let is_out_of_sight =
            |guid: &&Guid| client.object_info(ObjectRef::<()>::new(**guid)).is_out_of_sight();
        let is_known = |guid: &Guid| {
            self.present.contains_key(guid) || self.kept.contains_key(guid) || self.unseen.contains_key(guid)
        };
        let in_order = |guids: BTreeSet<Guid>| {
            let mut guids: Vec<Guid> = guids.into_iter().collect();
            guids.sort_by_key(|guid| world.by_guid[guid]);
            guids
        };
        let came = in_order(there.iter().filter(|guid| !is_known(guid)).copied().collect());
        let is_new = |guid: &&Guid| is_torn_off(guid) && !self.kept.contains_key(guid);
        let torn_off = in_order(there.iter().filter(is_new).copied().collect());
        let out = there.iter().filter(is_out_of_sight).filter(|guid| self.present.contains_key(guid));
        let out = in_order(out.copied().collect());
        let back = self.unseen.keys().filter(|guid| there.contains(guid) && !is_out_of_sight(guid));
        let back = in_order(back.copied().collect());
        let known = self.present.keys().chain(self.kept.keys()).chain(self.unseen.keys());
        let gone = known.filter(|guid| !there.contains(guid));
        let gone = in_order(gone.copied().collect());
        let came = came.into_iter().map(|guid| (guid, News::Came));
        let torn_off = torn_off.into_iter().rev().map(|guid| (guid, News::TornOff));
        let back = back.into_iter().map(|guid| (guid, News::BackInSight));
        let out = out.into_iter().rev().map(|guid| (guid, News::OutOfSight));
        came.chain(back)
            .chain(torn_off)
            .chain(out)
            .chain(gone.into_iter().rev().map(|guid| (guid, News::Gone(None))))
            .collect()
    }

    /// Records the events about the objects of a client. Returns the objects that the client has removed.
    pub(crate) fn note(
        &mut self,
        news: Vec<(Guid, News)>,
        client: &Client,
        world: &World,
        (connection, tick): (ConnectionId, u64),
    ) -> Vec<u32> {
        let mut lost = Vec::new();
        // The removal of an object also removes the objects below it that go out of sight in the same packet.
        let gone: BTreeSet<Guid> =
            news.iter().filter(|(_, news)| matches!(news, News::Gone(_))).map(|(guid, _)| *guid).collect();
        for (guid, news) in news {
            match news {
                News::Came => self.came(guid, world, tick),
                News::TornOff => {
                    let uid = self.present.remove(&guid).expect("an object that is torn off was there").uid;
                    self.kept.insert(guid, uid);
                    self.check_torn_off(client, world, connection, uid);
                    lost.push(uid);
                }
                News::OutOfSight => {
                    let Sight { uid, .. } =
                        self.present.remove(&guid).expect("an object that goes out of sight was there");
                    assert_ne!(world.keeping(uid), Keeping::No, "{guid:?} is kept");
                    lost.push(uid);
                    let kind = &world.kinds[world.things[uid as usize].kind];
                    let leaves = (kind.replica)(client, guid);
                    // Several packets may have arrived since the last look.
                    let notified = (kind.notified)(client, guid);
                    let is_there = leaves.is_some() && notified.is_some();
                    assert_ne!(is_there, gone.contains(&guid), "{guid:?} is kept");
                    let (leaves, notified) = (leaves.unwrap_or_default(), notified.unwrap_or_default());
                    self.unseen.insert(guid, Unseen { uid, notified, leaves });
                }
                News::BackInSight => {
                    let Unseen { uid, notified, .. } =
                        self.unseen.remove(&guid).expect("an object that comes back was kept");
                    self.present.insert(guid, Sight { uid, since: tick, notified });
                    self.begin_history(world, uid);
                }
                News::Gone(reason) => {
                    let unseen = self.unseen.remove(&guid).map(|unseen| unseen.uid);
                    let uid = unseen.or_else(|| self.present.remove(&guid).map(|sight| sight.uid));
                    let uid = uid.expect("an object that goes was there");
                    lost.push(uid);
                    if reason == Some(CloseReason::Destroyed) {
                        assert!(!world.is_alive(uid), "{guid:?} is alive");
                        self.destroyed.insert(guid);
                    }
                }
            }
        }
        lost
    }

    fn came(&mut self, guid: Guid, world: &World, tick: u64) {
        let uid = *world.by_guid.get(&guid).expect("an object of the server");
        assert!(!self.destroyed.contains(&guid), "{guid:?} came after it was destroyed");
        let thing = &world.things[uid as usize];
        let notified = (world.kinds[thing.kind].fresh)(thing.veteran).1;
        let before = self.present.insert(guid, Sight { uid, since: tick, notified });
        let is_kept = self.kept.contains_key(&guid) || self.unseen.contains_key(&guid);
        assert!(before.is_none() && !is_kept, "{guid:?} came while it was there");
        let is_parent_known =
            thing.torn_off.is_some() || thing.parent.is_none_or(|parent| self.ever.contains(&parent));
        assert!(is_parent_known, "the subobject {guid:?} came before its object");
        self.ever.insert(uid);
        self.arrivals += 1;
        self.begin_history(world, uid);
    }

    fn begin_history(&mut self, world: &World, uid: u32) {
        if let Some(shown) = self.shown.get_mut(&uid) {
            // Conditions may have hidden a property, and collections arrive in parts. So the object and its
            // history begin again with the values of the archetype.
            let kind = &world.kinds[world.things[uid as usize].kind];
            shown.retain(|path, _| {
                let property = property_of(*path);
                kind.conditions[property] == Condition::None && !kind.collections.contains(&property)
            });
        }
    }

    pub(crate) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Checks an object that is torn off now: the client sees it, has authority over it, and
    /// has its last state and its subobjects.
    fn check_torn_off(&self, client: &Client, world: &World, connection: ConnectionId, uid: u32) {
        let thing = &world.things[uid as usize];
        let (guid, object) = (thing.guid, world.object(uid));
        let torn_off = thing.torn_off.as_ref().expect("the server has torn it off");
        assert!(torn_off.keeps.contains(&connection), "{guid:?} is kept by a client that did not see it");
        assert!(
            client.object_info(object).is_torn_off() && !client.object_info(object).is_owner(),
            "{guid:?}"
        );
        assert_eq!(client.object_info(object).role(), Some(Role::Authority), "{guid:?}");
        let kind = &world.kinds[thing.kind];
        let leaves = (kind.replica)(client, guid).expect("an object that is torn off is there");
        for (path, entries) in thing.ledger.entries() {
            let last = entries.last().expect("a leaf has values").1;
            // References to objects that the client lacks are null.
            let shown = leaf_at(&leaves, path);
            let is_last = shown.may_stand_for(&last) || last.guid.is_some() && shown.full == last.masked;
            let is_public = kind.conditions[property_of(path)] == Condition::None;
            let is_compared = world.is_compared(uid, property_of(path));
            assert!(is_last || !is_public || !is_compared, "{guid:?} {path:#x}: {shown:x?}, not {last:x?}");
        }
        for child in world.with_subobjects(uid) {
            let is_left =
                self.has(world, child) && !self.kept.contains_key(&world.things[child as usize].guid);
            let is_seen = world.views[&connection].seen.contains(&child);
            assert!(!is_left || !is_seen, "{guid:?} is torn off before its subobject {child}");
        }
    }

    /// Returns whether the client has reported `Synchronized` since the last call.
    pub(crate) fn takes_synchronized(&mut self) -> bool {
        std::mem::take(&mut self.is_synchronized.1)
    }

    /// Returns whether the client has an object.
    pub(crate) fn has(&self, world: &World, uid: u32) -> bool {
        let guid = world.things[uid as usize].guid;
        self.present.contains_key(&guid) || self.kept.contains_key(&guid)
    }

    /// Returns the objects that the client has, each with the tick in which the client received it.
    pub(crate) fn present(&self) -> impl Iterator<Item = (u32, u64)> {
        self.present.values().map(|sight| (sight.uid, sight.since))
    }

    /// Checks every object for which something arrived.
    pub(crate) fn look(&mut self, client: &mut Client, world: &World) {
        let mut arrived = Vec::new();
        for (guid, sight) in &self.present {
            let kind = &world.kinds[world.things[sight.uid as usize].kind];
            let told = (kind.told)(client, *guid).expect("an object that came is there");
            if told.receipts > 0 {
                arrived.push((*guid, told));
            } else {
                // If a value changed without a receipt, the old value of the next notify would be wrong.
                assert!(told.notifies.is_empty(), "{guid:?} was notified without a receipt");
            }
        }
        for (guid, told) in arrived {
            let sight = self.present.get_mut(&guid).expect("one of the objects above");
            let kind = &world.kinds[world.things[sight.uid as usize].kind];
            let notified = (kind.notified)(client, guid).expect("an object that came is there");
            check_notifies(guid, &told.notifies, &mut sight.notified, notified);
            let leaves = (kind.replica)(client, guid).expect("an object that came is there");
            let uid = sight.uid;
            let shown = self.shown.entry(uid).or_default();
            let (shelf, client) = (&self.shelf, &*client);
            let is_there = |guid| {
                let is_kept = self.kept.contains_key(&guid) || self.unseen.contains_key(&guid);
                is_kept || self.present.contains_key(&guid)
            };
            let has = |guid| shelf.has(client, guid).unwrap_or_else(|| is_there(guid));
            check_leaves(guid, &leaves, world, uid, has, shown);
        }
    }

    /// Checks that no object has changed without a receipt.
    pub(crate) fn check_all_notified(&self, client: &Client, world: &World) {
        for (guid, sight) in &self.present {
            let kind = &world.kinds[world.things[sight.uid as usize].kind];
            let notified = (kind.notified)(client, *guid).expect("an object that came is there");
            assert_eq!(sight.notified, notified, "{guid:?} changed without a receipt");
        }
    }

    /// Returns the first difference between the client and what it must show at the end. Returns `None` if
    /// there is no difference.
    pub(crate) fn difference(
        &self,
        client: &Client,
        world: &World,
        connection: ConnectionId,
    ) -> Option<String> {
        if !self.is_connected {
            return Some("not connected".into());
        }
        let seen = &world.views[&connection].seen;
        for &uid in &world.alive {
            let thing = &world.things[uid as usize];
            let guid = thing.guid;
            let is_present = self.present.contains_key(&guid);
            if is_present != seen.contains(&uid) {
                return Some(format!("{guid:?}: there {is_present}"));
            }
            if !is_present {
                continue;
            }
            let is_owner = thing.owner == Some(connection);
            let role = match thing.role {
                Role::AutonomousProxy if !is_owner => Role::SimulatedProxy,
                role => role,
            };
            let object = ObjectRef::<()>::new(guid);
            let known = (client.object_info(object).is_owner(), client.object_info(object).role());
            if known != (is_owner, Some(role)) {
                return Some(format!("{guid:?}: owner and role {known:?}, not {is_owner} and {role:?}"));
            }
            let unnamed = world
                .expected(connection, uid)
                .into_iter()
                .find_map(|(_, leaf)| leaf?.guid.filter(|&guid| !self.shelf.is_named(client, guid)));
            if let Some(unnamed) = unnamed {
                return Some(format!("{guid:?}: the path of {unnamed:?} is not there"));
            }
            let difference = self.difference_of_values(client, world, connection, uid);
            if difference.is_some() {
                return difference;
            }
        }
        for &uid in &world.torn_off {
            let guid = world.things[uid as usize].guid;
            let is_kept = self.kept.contains_key(&guid);
            if self.present.contains_key(&guid) || seen.contains(&uid) && !is_kept {
                return Some(format!("{guid:?}: torn off {is_kept}"));
            }
        }
        if let Some(difference) = self.difference_of_unseen(client, world, seen) {
            return Some(difference);
        }
        let lost =
            self.kept.keys().find(|guid| !client.object_info(ObjectRef::<()>::new(**guid)).is_torn_off());
        assert!(lost.is_none(), "{lost:?} was torn off, and is not kept");
        let gone = self.present.values().find(|sight| !world.is_alive(sight.uid))?;
        Some(format!("object {} is gone", gone.uid))
    }

    /// Returns the first difference between the objects out of sight that the client keeps, and those that it
    /// must keep: the values of each are those that it had when it went out of sight.
    fn difference_of_unseen(&self, client: &Client, world: &World, seen: &BTreeSet<u32>) -> Option<String> {
        for (guid, Unseen { uid, leaves, .. }) in &self.unseen {
            let kind = &world.kinds[world.things[*uid as usize].kind];
            let shown = (kind.replica)(client, *guid).expect("an object that is kept is there");
            assert_eq!(shown, *leaves, "{guid:?} changed while it was out of sight");
            let thing = &world.things[*uid as usize];
            // An object that is torn off while the client does not see it is not destroyed.
            let is_destroyed = !world.is_alive(*uid) && thing.torn_off.is_none();
            if is_destroyed && world.keeping(*uid) == Keeping::UntilDestroyed {
                return Some(format!("{guid:?} is kept, and was despawned"));
            }
        }
        let is_lacking = |uid: &&u32| {
            let guid = world.things[**uid as usize].guid;
            let must_have = self.ever.contains(uid) && world.keeping(**uid).is_always();
            must_have && !seen.contains(uid) && !self.unseen.contains_key(&guid)
        };
        let lacking = world.alive.iter().find(is_lacking)?;
        Some(format!("object {lacking} is not kept"))
    }

    /// Returns the shown values of all leaves that clients may show as one of two quantisation steps, by
    /// object and path.
    pub(crate) fn steps_in_margins(
        &self,
        client: &Client,
        world: &World,
        connection: ConnectionId,
    ) -> Vec<((u32, u64), u64)> {
        let mut steps = Vec::new();
        for (guid, sight) in &self.present {
            let kind = &world.kinds[world.things[sight.uid as usize].kind];
            let leaves = (kind.replica)(client, *guid).expect("an object that came is there");
            let expected = world.expected(connection, sight.uid).into_iter();
            let in_margins = expected.filter(|(_, leaf)| leaf.is_some_and(|leaf| leaf.kept.is_some()));
            steps.extend(in_margins.map(|(path, _)| ((sight.uid, path), leaf_at(&leaves, path).full)));
        }
        steps
    }

    /// Returns an object for which one of the two sides is wrong about whether it sleeps. Returns `None` if
    /// exactly the objects that may sleep do sleep.
    pub(crate) fn restless(
        &self,
        client: &Client,
        world: &World,
        connection: ConnectionId,
    ) -> Option<String> {
        self.present.iter().find_map(|(guid, sight)| {
            let (object, may_sleep) = (world.object(sight.uid), world.may_sleep(connection, sight.uid));
            let asleep = (
                client.object_info(object).is_asleep(),
                world.server.object_info(object).is_asleep_for(connection),
            );
            let is_as_expected = asleep == (may_sleep, may_sleep);
            (!is_as_expected).then(|| format!("{guid:?}: asleep {asleep:?}, not {may_sleep}"))
        })
    }

    /// Checks that the client has all values of the objects that sleep for it.
    pub(crate) fn check_sleepers(&self, client: &Client, world: &World, connection: ConnectionId) {
        for &uid in &world.alive {
            let object = world.object(uid);
            if world.server.object_info(object).is_asleep_for(connection)
                && !world.things[uid as usize].is_rated
            {
                assert!(self.has(world, uid), "{object:?} sleeps for a client that does not have it");
                let difference = self.difference_of_values(client, world, connection, uid);
                assert_eq!(difference, None, "it sleeps through a change");
            }
        }
    }

    /// Returns how a client's copy of an object differs from what it must show at the end.
    fn difference_of_values(
        &self,
        client: &Client,
        world: &World,
        connection: ConnectionId,
        uid: u32,
    ) -> Option<String> {
        let thing = &world.things[uid as usize];
        let guid = thing.guid;
        let leaves = (world.kinds[thing.kind].replica)(client, guid).expect("an object that came is there");
        for (path, expected) in world.expected(connection, uid) {
            let Some(mut expected) = expected else { continue };
            let has = |guid| {
                let is_there = || client.contains(ObjectRef::<()>::new(guid));
                self.shelf.has(client, guid).unwrap_or_else(is_there)
            };
            if expected.guid.is_some_and(|guid| !has(guid)) {
                (expected.full, expected.guid) = (expected.masked, None);
            }
            let shown = leaf_at(&leaves, path);
            if !shown.may_stand_for(&expected) {
                let property = property_of(path);
                return Some(format!(
                    "{guid:?} of kind {} .{property} {path:#x}: {shown:x?}, not {expected:x?}",
                    thing.kind
                ));
            }
        }
        None
    }
}

fn leaf_at(leaves: &[Leaf], path: u64) -> Leaf {
    leaves.binary_search_by_key(&path, |leaf| leaf.path).map_or(Leaf::absent(path), |at| leaves[at])
}

/// Checks the notifies of one property: each reports a change, the first one begins at the last checked
/// value, and the last one ends at the current value.
fn check_notifies(guid: Guid, told: &[(usize, u64, u64)], before: &mut Notified, now: Notified) {
    for ((property, last), (_, current)) in before.iter_mut().zip(&now) {
        for (_, old, new) in told.iter().filter(|(told, ..)| told == property) {
            assert_eq!(old, last, "{guid:?} .{property}: the old value of a notify is the one last shown");
            assert_ne!(old, new, "{guid:?} .{property}: a notify without a change");
            *last = *new;
        }
        assert_eq!(last, current, "{guid:?} .{property}: a change without a notify");
    }
}

/// Checks that every leaf is one of the server's values, and none is older than the one shown before.
fn check_leaves(
    guid: Guid,
    leaves: &[Leaf],
    world: &World,
    uid: u32,
    has: impl Fn(Guid) -> bool,
    shown: &mut BTreeMap<u64, usize>,
) {
    let ledger = &world.things[uid as usize].ledger;
    let (mut count, mut given) = (0, leaves.iter().peekable());
    for (path, entries) in ledger.entries() {
        while given.next_if(|leaf| leaf.path < path).is_some() {}
        let leaf = given.next_if(|leaf| leaf.path == path).copied().unwrap_or(Leaf::absent(path));
        count += usize::from(leaf != Leaf::absent(path));
        if let Some(target) = leaf.guid {
            assert!(has(target), "{guid:?} {path:#x} refers to {target:?}, which is not there");
        }
        let from = shown.entry(path).or_default();
        let found = entries.iter().skip(*from).position(|(_, known)| leaf.shows(known));
        let Some(found) = found else {
            let older = entries.iter().rposition(|(_, known)| leaf.shows(known));
            let what = match older {
                Some(older) => format!("went back from {:?} to {:?}", entries[*from], entries[older]),
                None => format!("was never on the server: {leaf:x?} of {entries:x?}"),
            };
            panic!(
                "{guid:?} of kind {} .{} {path:#x} {what}",
                world.things[uid as usize].kind,
                property_of(path)
            );
        };
        *from += found;
    }
    assert_eq!(count, leaves.len(), "{guid:?} shows elements that the server never had");
}
