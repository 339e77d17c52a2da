//! Follows the updates of one client: a model with a copy of each object. Only the polled updates fill the
//! model.
//!
//! *Invariant:* followers use a random generator of their own, and no run depends on when they poll.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use repl::sim::Rng;
use repl::{Client, CloseReason, Guid, ObjectRef, Role, Update, UpdateKind};

use crate::kinds::Kind;
use crate::world::World;

/// The model is compared with the client after each poll that returned anything except changes of properties,
/// and otherwise after one of this many polls.
const COMPARISONS: u64 = 8;

/// An object of the model.
struct Followed {
    kind: Kind,
    parent: Option<Guid>,
    is_owner: bool,
    role: Option<Role>,
    is_torn_off: bool,
    is_out_of_sight: bool,
    /// A copy of the object.
    component: Option<Box<dyn Any>>,
}

/// An event about an object of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Came,
    TornOff,
    OutOfSight,
    BackInSight,
    /// The object was removed, for a reason that only an update tells.
    Gone(Option<CloseReason>),
}

/// Polls the updates of a client. Each poll returns all updates that wait.
pub(crate) struct Follower {
    /// The first tick in which the follower polls.
    first: u64,
    /// The follower polls once in this many ticks. If zero, it polls after each packet.
    interval: u64,
    /// How often the follower has polled, and the tick of the last update.
    polls: u64,
    tick: u64,
    objects: BTreeMap<Guid, Followed>,
    /// The number of objects that updates have reported as spawned. This includes the objects that the client
    /// had at the first poll.
    came: u64,
}

impl Follower {
    /// Chooses at random when the client that joins in this tick polls. Half of the clients poll after each
    /// packet; the others poll seldom, or only from the middle of the run on.
    pub(crate) fn draw(rng: &mut Rng, tick: u64, ticks: u64) -> Self {
        let (first, interval) = match rng.below(10) {
            0..5 => (0, 0),
            5..8 => (tick, *rng.pick(&[7, 60, 5_000]).expect("intervals")),
            8 => (ticks / 2, 0),
            _ => (ticks / 2, 90),
        };
        Self { first, interval, polls: 0, tick: 0, objects: BTreeMap::new(), came: 0 }
    }

    /// Returns whether the follower polls after each packet, from the first one on.
    pub(crate) fn is_immediate(&self) -> bool {
        (self.first, self.interval) == (0, 0)
    }

    /// Returns how many objects were spawned according to the updates. Returns `None` if the first poll was
    /// not at the beginning of the session.
    pub(crate) fn came(&self, joined: u64) -> Option<u64> {
        (self.first <= joined).then_some(self.came)
    }

    /// Returns whether the follower polls after each packet of this tick.
    pub(crate) fn polls_after_packets(&self, tick: u64) -> bool {
        self.interval == 0 && tick >= self.first
    }

    /// Returns whether the follower polls at the end of this tick.
    pub(crate) fn polls_after_tick(&self, tick: u64) -> bool {
        self.interval > 0
            && tick.checked_sub(self.first).is_some_and(|since| since.is_multiple_of(self.interval))
    }

    /// Polls all updates, and checks that the model has exactly the objects of the client. Returns the
    /// events.
    pub(crate) fn poll(&mut self, client: &mut Client, world: &World) -> Vec<(Guid, News)> {
        let (mut news, mut has_turns) = (Vec::new(), false);
        while let Some(update) = client.poll_update() {
            has_turns |= update.what != UpdateKind::Changed;
            news.extend(self.follow(&update, client, world));
        }
        self.polls += 1;
        if has_turns || !self.is_immediate() || self.polls.is_multiple_of(COMPARISONS) {
            self.compare(client, world);
        }
        news
    }

    fn follow(&mut self, update: &Update, client: &Client, world: &World) -> Option<(Guid, News)> {
        let guid = update.object.guid().expect("only a path has no object");
        let kind = world.kinds[world.things[world.by_guid[&guid] as usize].kind];
        assert!(update.tick >= self.tick, "{update:?} of a tick before {}", self.tick);
        assert!(Some(update.tick) <= client.server_tick(), "{update:?} of a tick that has not come");
        if self.is_immediate() {
            assert_eq!(Some(update.tick), client.server_tick(), "{update:?}");
        }
        self.tick = update.tick;
        let info = client.object_info(update.object);
        let known = self.objects.get_mut(&guid);
        let told = match &update.what {
            UpdateKind::Spawned => {
                assert!(known.is_none(), "{guid:?} came while it was there");
                let parent = info.parent().and_then(|parent| parent.guid());
                let has_parent = parent.is_none_or(|parent| self.objects.contains_key(&parent));
                assert!(has_parent, "the subobject {guid:?} came before its object {parent:?}");
                let (role, component) = (info.role(), None);
                let (is_owner, is_torn_off, is_out_of_sight) = (false, false, false);
                let new = Followed { kind, parent, is_owner, role, is_torn_off, is_out_of_sight, component };
                self.objects.insert(guid, new);
                self.came += 1;
                Some(News::Came)
            }
            UpdateKind::Changed => {
                let is_followed = known.is_some_and(|known| !known.is_torn_off && !known.is_out_of_sight);
                assert!(is_followed, "{guid:?} changed");
                assert!(update.properties().iter().next().is_some(), "a change of nothing");
                None
            }
            UpdateKind::Owner => {
                let known = known.filter(|known| !known.is_torn_off).expect("what gets an owner is there");
                (known.is_owner, known.role) = (info.is_owner(), info.role());
                None
            }
            UpdateKind::TornOff => {
                let known = known.filter(|known| !known.is_torn_off).expect("what is torn off is there");
                (known.is_owner, known.role) = (false, Some(Role::Authority));
                (known.is_torn_off, known.parent) = (true, None);
                self.orphaned(guid);
                Some(News::TornOff)
            }
            UpdateKind::OutOfSight => {
                let known = known.filter(|known| !known.is_torn_off && !known.is_out_of_sight);
                let known = known.expect("what goes out of sight is there");
                (known.is_owner, known.role) = (false, Some(Role::SimulatedProxy));
                known.is_out_of_sight = true;
                Some(News::OutOfSight)
            }
            UpdateKind::BackInSight => {
                let is_told = self.interval == 0;
                let known = known.filter(|known| known.is_out_of_sight || !is_told);
                let known = known.expect("what comes back into sight was out of sight");
                (known.role, known.is_out_of_sight) = (info.role(), false);
                Some(News::BackInSight)
            }
            UpdateKind::Despawned(reason) => {
                assert!(known.is_some(), "{guid:?} goes, and was not there");
                assert!((kind.departed)(client, guid), "the last state of {guid:?} can be read");
                self.objects.remove(&guid);
                for child in self.orphaned(guid) {
                    // While the server tears an object off, the object is no subobject any more, although the
                    // client does not know it yet.
                    let is_torn_off = world.things[world.by_guid[&child] as usize].torn_off.is_some();
                    assert!(is_torn_off, "{guid:?} goes before its subobject {child:?}");
                }
                Some(News::Gone(Some(*reason)))
            }
            other => panic!("unexpected: {other:?}"),
        };
        if let UpdateKind::Spawned | UpdateKind::BackInSight | UpdateKind::Changed = update.what
            && let Some(known) = self.objects.get_mut(&guid)
        {
            let is_copied = (kind.copy)(update, client, &mut known.component);
            assert_eq!(is_copied, client.contains(update.object), "{guid:?} is copied if it is there");
        }
        told.map(|news| (guid, news))
    }

    /// Removes the parent from the subobjects of an object, and returns these subobjects.
    fn orphaned(&mut self, parent: Guid) -> Vec<Guid> {
        let children = self.objects.iter_mut().filter(|(_, known)| known.parent == Some(parent));
        children
            .map(|(guid, known)| {
                known.parent = None;
                *guid
            })
            .collect()
    }

    /// Checks that the model has exactly the objects of the client, with the role of the client for each.
    fn compare(&self, client: &Client, world: &World) {
        let there: BTreeSet<Guid> = world.kinds.iter().flat_map(|kind| (kind.present)(client)).collect();
        assert!(there.iter().eq(self.objects.keys()), "{there:?}, told {:?}", self.objects.keys());
        for (&guid, known) in &self.objects {
            let info = client.object_info(ObjectRef::<()>::new(guid));
            let of_client = (info.is_owner(), info.role(), info.is_torn_off(), info.is_out_of_sight());
            let told = (known.is_owner, known.role, known.is_torn_off, known.is_out_of_sight);
            assert_eq!(of_client, told, "{guid:?}");
            assert_eq!(info.parent().and_then(|parent| parent.guid()), known.parent, "{guid:?}");
        }
    }

    /// Checks that the copies have the values of the client's objects.
    pub(crate) fn check_components(&self, client: &Client) {
        for (&guid, known) in &self.objects {
            let component = known.component.as_ref().expect("a copy of an object that is there");
            let copied = (known.kind.component)(&**component);
            assert_eq!(Some(copied), (known.kind.replica)(client, guid), "the copy of {guid:?}");
        }
    }
}
