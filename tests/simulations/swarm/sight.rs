//! Which connections see which objects: a naive model of relevancy, owners, visibility, dormancy and
//! tear-off.
//!
//! *Invariant:* the model never asks the server what a connection sees.

use std::collections::BTreeSet;

use repl::sim::Rng;
use repl::{Condition, ConnectionId, Dormancy, Group, ObjectRef, OutOfSight, Position, Relevancy};

use crate::world::World;

/// The radius within which birds are seen, the radius within which they stay in sight, and the sides of
/// cells.
pub(crate) const RADIUS: f32 = 100.0;
const KEEP_RADIUS: f32 = RADIUS * 1.25;
/// The distance up to which connections are near birds, in worlds with bands.
pub(crate) const NEAR_RADIUS: f32 = RADIUS * 0.5;
const SIDE: f32 = RADIUS / 4.0;

/// Who sees an object, apart from its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Relevance {
    #[default]
    Everyone,
    Owner,
    Group(u32),
    Located,
    AttachedTo(u32),
    Nobody,
    /// The members of either group.
    Groups(u32, u32),
    NearOrGroup(u32),
    NearAndGroup(u32),
    NearAndJudged,
    JudgedOrGroup(u32),
}

/// The group whose members see all birds, according to the function of their class.
pub(crate) const JUDGES: u32 = 0;

/// The function that decides who sees a bird.
pub(crate) fn judges(place: [f32; 2], is_judge: bool) -> bool {
    place[0] > 0.0 || is_judge
}

/// Whether clients keep an object when it is out of sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keeping {
    #[default]
    No,
    /// Clients keep it, except if it is hidden from them.
    Kept,
    EvenIfHidden,
    /// Clients keep it even if it is hidden, and are told when it is despawned.
    UntilDestroyed,
}

impl Keeping {
    pub(crate) fn draw(rng: &mut Rng, chance: f64) -> Self {
        let all = [Self::Kept, Self::EvenIfHidden, Self::UntilDestroyed];
        if rng.chance(chance) { *rng.pick(&all).expect("settings") } else { Self::No }
    }

    pub(crate) fn setting(self) -> OutOfSight {
        match self {
            Self::No => OutOfSight::removed(),
            Self::Kept => OutOfSight::kept(),
            Self::EvenIfHidden => OutOfSight::kept().even_if_hidden(),
            Self::UntilDestroyed => OutOfSight::kept().even_if_hidden().until_destroyed(),
        }
    }

    /// Returns whether each client that does not see the object and had it before must have it.
    pub(crate) fn is_always(self) -> bool {
        matches!(self, Self::EvenIfHidden | Self::UntilDestroyed)
    }
}

/// What happens when an object is torn off.
#[derive(Clone, Debug)]
pub(crate) struct TornOff {
    /// The connections that saw the object.
    pub(crate) keeps: BTreeSet<ConnectionId>,
    /// The connections that were far from the object.
    pub(crate) far: BTreeSet<ConnectionId>,
    /// Whether a tick has compared the last state.
    pub(crate) is_frozen: bool,
    /// The connections from which it was hidden in any tick since. A client that is not told of the tear-off
    /// by then removes the object, and never gets it again.
    hidden: BTreeSet<ConnectionId>,
}

impl World {
    pub(crate) fn object(&self, uid: u32) -> ObjectRef<()> {
        ObjectRef::new(self.things[uid as usize].guid)
    }

    /// Returns whether a connection may have an object now.
    fn sees(&self, connection: ConnectionId, uid: u32) -> bool {
        let (view, thing) = (&self.views[&connection], &self.things[uid as usize]);
        if let Some(torn_off) = &thing.torn_off {
            let is_hidden =
                torn_off.hidden.contains(&connection) || self.is_hidden_with_parents(connection, uid);
            return thing.alive && torn_off.keeps.contains(&connection) && !is_hidden;
        }
        let (mut is_owner, mut carrier) = (false, uid);
        loop {
            let thing = &self.things[carrier as usize];
            let is_hidden = view.hidden.contains(&carrier)
                || thing.dormancy == Dormancy::Initial
                || thing.relevance == Relevance::Nobody;
            if !thing.alive || is_hidden {
                return false;
            }
            is_owner |= thing.owner == Some(connection);
            match thing.relevance {
                Relevance::AttachedTo(next) => carrier = next,
                _ => break,
            }
        }
        let is_near = || {
            // Before the session begins, nothing was shown.
            let was_seen = view.joined.is_some() && view.seen.contains(&carrier);
            let radius = if was_seen { KEEP_RADIUS } else { RADIUS };
            self.is_within(connection, carrier, radius)
        };
        let (is_in, is_judged) = (|group| view.groups.contains(&group), view.judged.contains(&carrier));
        is_owner
            || match self.things[carrier as usize].relevance {
                Relevance::Everyone => true,
                Relevance::Group(group) => is_in(group),
                Relevance::Located => is_near(),
                Relevance::Groups(one, other) => is_in(one) || is_in(other),
                Relevance::NearOrGroup(group) => is_in(group) || is_near(),
                Relevance::NearAndGroup(group) => is_in(group) && is_near(),
                Relevance::NearAndJudged => is_judged && is_near(),
                Relevance::JudgedOrGroup(group) => is_judged || is_in(group),
                Relevance::Owner | Relevance::Nobody | Relevance::AttachedTo(_) => false,
            }
    }

    /// Returns whether an object, or an object of which it is a subobject, is hidden from a connection.
    fn is_hidden_with_parents(&self, connection: ConnectionId, uid: u32) -> bool {
        let mut above = std::iter::successors(Some(uid), |uid| self.things[*uid as usize].parent);
        above.any(|uid| self.views[&connection].hidden.contains(&uid))
    }

    /// Records from which connections torn-off objects are hidden in this tick.
    pub(crate) fn note_hidden_tear_offs(&mut self) {
        for uid in self.torn_off.clone() {
            let hidden =
                self.views.keys().filter(|connection| self.is_hidden_with_parents(**connection, uid));
            let hidden: Vec<ConnectionId> = hidden.copied().collect();
            if let Some(torn_off) = &mut self.things[uid as usize].torn_off {
                torn_off.hidden.extend(hidden);
            }
        }
    }

    /// Returns whether the centre of the cell of an object is within a distance of a viewpoint.
    fn is_within(&self, connection: ConnectionId, uid: u32, radius: f32) -> bool {
        let position = self.things[uid as usize].positions[0];
        let centre = position.map(|coordinate| ((coordinate / SIDE).floor() + 0.5) * SIDE);
        let viewpoints = &self.views[&connection].viewpoints;
        viewpoints.iter().any(|&viewpoint| distance(viewpoint, centre) <= radius)
    }

    /// Returns whether a connection does not see the `NearOnly` properties of an object that it sees.
    pub(crate) fn is_far(&self, connection: ConnectionId, uid: u32) -> bool {
        if let Some(torn_off) = &self.things[uid as usize].torn_off {
            return torn_off.far.contains(&connection);
        }
        let mut carrier = uid;
        loop {
            let thing = &self.things[carrier as usize];
            if !self.has_far || thing.owner == Some(connection) {
                return false;
            }
            match thing.relevance {
                Relevance::AttachedTo(next) => carrier = next,
                Relevance::NearOrGroup(group) if self.views[&connection].groups.contains(&group) => {
                    return false;
                }
                Relevance::Located
                | Relevance::NearOrGroup(_)
                | Relevance::NearAndGroup(_)
                | Relevance::NearAndJudged => return !self.is_within(connection, carrier, NEAR_RADIUS),
                _ => return false,
            }
        }
    }

    /// Computes again which connections see which objects.
    pub(crate) fn refresh(&mut self, tick: u64) {
        let existing: Vec<u32> = self.existing().collect();
        self.review(&existing, tick);
    }

    /// Computes again which connections see these objects.
    pub(crate) fn review(&mut self, uids: &[u32], tick: u64) {
        let connections: Vec<ConnectionId> = self.views.keys().copied().collect();
        for connection in connections {
            let view = &self.views[&connection];
            let is_news = |uid: &&u32| self.sees(connection, **uid) != view.seen.contains(uid);
            let news: Vec<u32> = uids.iter().filter(is_news).copied().collect();
            let view = self.views.get_mut(&connection).expect("a view of the list");
            for uid in news {
                view.lose(uid);
                if !view.seen.remove(&uid) {
                    view.seen.insert(uid);
                    view.shown_at.insert(uid, tick);
                }
            }
        }
    }

    /// Hides or shows an object.
    pub(crate) fn set_visible(&mut self, connection: ConnectionId, uid: u32, visible: bool) {
        let view = self.views.get_mut(&connection).expect("a connection that was drawn");
        if visible {
            view.hidden.remove(&uid)
        } else {
            view.hidden.insert(uid)
        };
        self.server.object(self.object(uid)).set_visible(connection, visible);
    }

    /// Sets which connections see an object. The connections that see an object also see its subobjects.
    pub(crate) fn set_relevancy(&mut self, uid: u32, relevance: Relevance, tick: u64) {
        if self.things[uid as usize].parent.is_some() {
            return;
        }
        let relevancy = match relevance {
            Relevance::Everyone => Relevancy::Always,
            Relevance::Owner => Relevancy::OwnerOnly,
            Relevance::Group(group) => Relevancy::Group(Group(group)),
            Relevance::Located => Relevancy::Located,
            Relevance::AttachedTo(other) => Relevancy::AttachedTo(self.object(other)),
            Relevance::Nobody => Relevancy::Nobody,
            Relevance::Groups(one, other) => Relevancy::any([Group(one), Group(other)]),
            Relevance::NearOrGroup(group) => Relevancy::any([Relevancy::Located, Group(group).into()]),
            Relevance::NearAndGroup(group) => Relevancy::all([Relevancy::Located, Group(group).into()]),
            Relevance::NearAndJudged => Relevancy::all([Relevancy::Located, Relevancy::Computed]),
            Relevance::JudgedOrGroup(group) => Relevancy::any([Relevancy::Computed, Group(group).into()]),
        };
        self.server.object(self.object(uid)).set_relevancy(relevancy);
        let thing = &mut self.things[uid as usize];
        thing.relevance = relevance;
        // The position of the last comparison counts immediately.
        thing.positions[0] = thing.positions[1];
        self.refresh(tick);
    }

    /// Returns whether an object is attached to another, directly or through others, or is the same.
    pub(crate) fn is_attached(&self, uid: u32, to: u32) -> bool {
        let relevance = self.things[uid as usize].relevance;
        uid == to || matches!(relevance, Relevance::AttachedTo(next) if self.is_attached(next, to))
    }

    pub(crate) fn set_viewpoints(&mut self, connection: ConnectionId, points: Vec<[f32; 2]>, tick: u64) {
        let positions: Vec<Position> = points.iter().map(|[x, y]| [*x, *y, 5.0]).collect();
        self.server.connection(connection).set_viewpoints(&positions);
        let before = &mut self.views.get_mut(&connection).expect("a connection that was drawn").viewpoints;
        let mut pairs = before.iter().zip(&points);
        let is_near =
            before.len() == points.len() && pairs.all(|(one, other)| distance(*one, *other) <= SIDE / 4.0);
        if !is_near {
            *before = points;
            self.refresh(tick);
        }
    }

    pub(crate) fn set_dormancy(&mut self, uid: u32, dormancy: Dormancy, tick: u64) {
        self.server.object(self.object(uid)).set_dormancy(dormancy);
        self.things[uid as usize].dormancy = dormancy;
        self.refresh(tick);
    }

    /// Tears an object off, with its subobjects. Objects that are attached to it become visible to their
    /// owners only.
    pub(crate) fn tear_off(&mut self, uid: u32, tick: u64) {
        self.server.object(self.object(uid)).tear_off();
        let mut torn_off = self.with_subobjects(uid);
        torn_off.retain(|uid| self.things[*uid as usize].torn_off.is_none());
        for &uid in &torn_off {
            self.end_pauses(uid);
            let sees = |(_, view): &(&ConnectionId, &crate::world::View)| {
                view.joined.is_some() && view.seen.contains(&uid)
            };
            let keeps = self.views.iter().filter(sees).map(|(connection, _)| *connection).collect();
            let owner = self.things[uid as usize].owner;
            for (connection, view) in self.views.iter_mut().filter(|(id, view)| sees(&(*id, &**view))) {
                view.rights.end(uid, owner == Some(*connection));
            }
            let connections = self.views.keys().copied();
            let far = connections.filter(|connection| self.is_far(*connection, uid)).collect();
            self.things[uid as usize].torn_off =
                Some(TornOff { keeps, far, is_frozen: false, hidden: BTreeSet::new() });
        }
        torn_off.iter().for_each(|uid| self.release_attached(*uid));
        self.alive.retain(|uid| !torn_off.contains(uid));
        self.torn_off.extend(torn_off);
        self.refresh(tick);
    }

    /// Makes the objects that are attached to an object visible to their owners only, except subobjects and
    /// torn-off objects.
    pub(crate) fn release_attached(&mut self, uid: u32) {
        for thing in &mut self.things {
            if thing.relevance == Relevance::AttachedTo(uid) && thing.parent.is_none() {
                thing.relevance = Relevance::Owner;
            }
        }
    }

    /// Returns whether clients keep an object when it is out of sight: the setting of its topmost object
    /// decides.
    pub(crate) fn keeping(&self, uid: u32) -> Keeping {
        match self.things[uid as usize].parent {
            Some(parent) => self.keeping(parent),
            None => self.things[uid as usize].keeping,
        }
    }

    /// Returns an object with its subobjects that exist, directly or through others.
    pub(crate) fn with_subobjects(&self, uid: u32) -> Vec<u32> {
        let (mut all, mut next) = (vec![uid], 0);
        while let Some(&parent) = all.get(next) {
            let children =
                self.existing().filter(|&child| self.things[child as usize].parent == Some(parent));
            all.extend(children);
            next += 1;
        }
        all
    }

    /// Follows a tick of the server: positions were compared, and changes have woken objects.
    pub(crate) fn follow(&mut self, tick: u64, written: &[u32]) {
        let mut has_news = false;
        for uid in self.existing().collect::<Vec<_>>() {
            let object = self.object(uid);
            let thing = &mut self.things[uid as usize];
            if thing.dormancy == Dormancy::Initial
                && self.server.object_info(object).dormancy() != Some(Dormancy::Initial)
            {
                let calls = &self.kinds[thing.kind].calls;
                let may_change_later =
                    thing.is_rated || calls.has(Condition::Custom) || calls.has(Condition::Dynamic);
                let is_written = written.contains(&uid) || may_change_later;
                assert!(is_written, "object {uid} woke, but nobody wrote to it");
                thing.dormancy = Dormancy::All;
                has_news = true;
            }
            if let Some(current) = (self.kinds[thing.kind].place)(&self.server, thing.guid) {
                let [before, compared, _] = thing.positions;
                thing.positions = [compared, current, current];
                has_news |= before != compared;
            }
        }
        if self.judge() || has_news {
            self.refresh(tick);
        }
    }

    /// Calls the function that decides who sees birds, for each bird whose relevancy asks for it. Returns
    /// whether any result has changed.
    fn judge(&mut self) -> bool {
        let mut has_news = false;
        for uid in self.existing().collect::<Vec<_>>() {
            let thing = &self.things[uid as usize];
            let asks = matches!(thing.relevance, Relevance::NearAndJudged | Relevance::JudgedOrGroup(_));
            if !asks || thing.torn_off.is_some() {
                continue;
            }
            let place = thing.positions[1];
            for view in self.views.values_mut() {
                let is_judged = judges(place, view.groups.contains(&JUDGES));
                has_news |= if is_judged { view.judged.insert(uid) } else { view.judged.remove(&uid) };
            }
        }
        has_news
    }

    /// Returns how a connection sees an object, for the message of a failure.
    pub(crate) fn describe(&self, connection: ConnectionId, uid: u32) -> String {
        let thing = &self.things[uid as usize];
        let is_seen = self.views[&connection].seen.contains(&uid);
        let versions = &thing.versions;
        format!(
            "{:?}, seen {is_seen}, alive {}, {:?}, {:?}, child of {:?}, {:?}, {versions:?}",
            thing.guid, thing.alive, thing.relevance, thing.dormancy, thing.parent, thing.torn_off
        )
    }

    /// Returns whether an object may sleep for a connection. At the end of a run, each object that may sleep
    /// must sleep.
    pub(crate) fn may_sleep(&self, connection: ConnectionId, uid: u32) -> bool {
        match self.things[uid as usize].dormancy {
            Dormancy::All => true,
            Dormancy::Partial => self.views[&connection].chosen.contains(&uid),
            _ => false,
        }
    }
}

fn distance(one: [f32; 2], other: [f32; 2]) -> f32 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}
