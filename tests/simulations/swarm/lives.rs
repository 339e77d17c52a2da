//! Lives: features of runs with a seed of [`Lives::FIRST_SEED`] or more. Objects sleep, are torn off, have
//! subobjects and positions; connections are paused, have viewpoints, groups and budgets.
//!
//! *Invariant:* runs with smaller seeds have none of these features, so they never change.

use std::collections::BTreeSet;

use repl::sim::Rng;
use repl::{ConnectionId, Dormancy, Group, ObjectRef, UpdateRate};

use crate::classes::EXTENT;
use crate::kinds::{BIRD, HOARD};
use crate::plan::Plan;
use crate::sight::Relevance;
use crate::world::World;

/// At most this many torn-off objects exist at a time.
const MOST_TORN_OFF: usize = 12;
/// Subobjects may add at most this many objects to the planned number.
const MOST_SUBOBJECTS: usize = 16;
/// The number of groups.
const GROUPS: u64 = 3;

/// The chances that these events happen in a tick. In most runs, each chance is zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lives {
    /// That an object gets another dormancy or is woken, or that it begins or ceases to sleep for a
    /// connection.
    pub(crate) dormancy: f64,
    /// That a new object is initially dormant. This is not a chance in a tick.
    pub(crate) initial: f64,
    pub(crate) tear_offs: f64,
    /// That an object gets a subobject.
    pub(crate) subobjects: f64,
    /// That an object gets another relevancy, or that a connection joins or leaves a group.
    pub(crate) relevancy: f64,
    /// Whether these relevancies are also combinations of others.
    pub(crate) has_combinations: bool,
    /// Whether a function decides who sees birds.
    pub(crate) has_function: bool,
    /// That clients keep a new object when it is out of sight. This is not a chance in a tick.
    pub(crate) keeps: f64,
    /// That the viewpoints of a connection move.
    pub(crate) viewpoints: f64,
    /// Whether changes of far objects are sent less often.
    pub(crate) has_bands: bool,
    /// That a connection is paused or resumed.
    pub(crate) pauses: f64,
    /// That a connection gets another budget, and an object another priority.
    pub(crate) budgets: f64,
    /// That an object gets another update rate.
    pub(crate) rates: f64,
}

impl Lives {
    /// The smallest seed whose run has lives.
    pub(crate) const FIRST_SEED: u64 = 20_000;
    /// The most connections that a run can have at a time.
    const MOST_CONNECTIONS: u64 = 16;

    /// The most levels of subobjects below an object.
    const MOST_DEPTH: u32 = 2;

    /// Returns how many times longer the slowest change takes than an ordinary change, because it waits for
    /// acks of other changes. A subobject waits for its object. An object is torn off after its last state
    /// has arrived and its subobjects were torn off.
    pub(crate) fn steps(&self) -> u32 {
        let levels = if self.subobjects > 0.0 { Self::MOST_DEPTH + 1 } else { 1 };
        if self.tear_offs > 0.0 { 1 + levels } else { levels }
    }

    /// Adds lives to an ordinary plan. A run has about three of the ten features of [`Lives`].
    pub(crate) fn draw(plan: &mut Plan) {
        let mut rng = Rng::new(plan.seed).fork(20);
        let mut rules = Rng::new(plan.seed).fork(25);
        let mut keeping = Rng::new(plan.seed).fork(45);
        let mut chance = |chances: [f64; 2]| match rng.chance(0.35) {
            true => *rng.pick(&chances).expect("two chances"),
            false => 0.0,
        };
        let viewpoints = chance([0.02, 0.2]);
        plan.lives = Self {
            dormancy: chance([0.05, 0.3]),
            initial: chance([0.2, 0.7]),
            tear_offs: chance([0.01, 0.1]),
            subobjects: chance([0.02, 0.2]),
            relevancy: chance([0.02, 0.2]),
            has_combinations: rules.chance(0.5),
            has_function: viewpoints > 0.0 && rules.chance(0.4),
            keeps: if keeping.chance(0.4) { *keeping.pick(&[0.4, 1.0]).expect("chances") } else { 0.0 },
            viewpoints,
            has_bands: chance([1.0, 1.0]) > 0.0,
            pauses: chance([0.02, 0.1]),
            budgets: chance([0.02, 0.1]),
            rates: chance([0.02, 0.1]),
        };
        if viewpoints > 0.0 {
            plan.weights[BIRD] = rng.range(4..16);
        }
        if rng.chance(0.2) {
            plan.connections_per_tick = rng.range(1..5) as usize;
            // Almost two rounds may pass between two turns of a connection.
            plan.turn_ticks = 2 * Self::MOST_CONNECTIONS.div_ceil(plan.connections_per_tick as u64) as u32;
        }
        plan.objects = plan.objects.max(rng.range(2..10) as usize);
        plan.churn = plan.churn.max(0.02);
    }
}

impl World {
    /// The classes whose objects get no update rates. The model must know when the positions of birds are
    /// compared, and comparisons choose the ids of items in hoards.
    const UNRATED: [usize; 2] = [BIRD, HOARD];

    /// Makes the random changes of one tick that concern the lives of objects and connections.
    pub(crate) fn live(&mut self, plan: &Plan, tick: u64) {
        let lives = &plan.lives;
        if self.lives.chance(lives.dormancy) {
            self.doze(tick);
        }
        if self.lives.chance(lives.subobjects) && self.alive.len() < plan.objects + MOST_SUBOBJECTS {
            let parent = self.lives.pick(&self.alive).copied();
            if parent.is_some_and(|parent| self.depth(parent) < Lives::MOST_DEPTH) {
                self.spawn(plan, parent, tick);
            }
        }
        if self.lives.chance(lives.tear_offs) {
            self.tear_off_one(tick);
        }
        if self.lives.chance(lives.relevancy) {
            self.place_one(plan, tick);
        }
        if self.lives.chance(lives.viewpoints)
            && let Some(connection) = self.any_connection()
        {
            let count = self.lives.below(3);
            let coordinate = |rng: &mut Rng| rng.below(2 * EXTENT as u64) as f32 - f32::from(EXTENT);
            let points: Vec<[f32; 2]> =
                (0..count).map(|_| [coordinate(&mut self.lives), coordinate(&mut self.lives)]).collect();
            self.set_viewpoints(connection, points, tick);
        }
        self.pace(plan);
    }

    /// Returns the number of objects above an object.
    fn depth(&self, uid: u32) -> u32 {
        self.things[uid as usize].parent.map_or(0, |parent| 1 + self.depth(parent))
    }

    fn any_connection(&mut self) -> Option<ConnectionId> {
        let connections: Vec<ConnectionId> = self.views.keys().copied().collect();
        self.lives.pick(&connections).copied()
    }

    fn any_object(&mut self) -> Option<(u32, ObjectRef<()>)> {
        let uid = *self.lives.pick(&self.alive)?;
        Some((uid, self.object(uid)))
    }

    /// Changes how an object sleeps.
    fn doze(&mut self, tick: u64) {
        let Some((uid, object)) = self.any_object() else { return };
        let dormancy = match self.lives.below(12) {
            0..5 => Dormancy::All,
            5..8 => Dormancy::Partial,
            8 => Dormancy::Awake,
            9 => Dormancy::Initial,
            10 => {
                self.server.object(object).wake();
                match self.things[uid as usize].dormancy {
                    Dormancy::Initial => Dormancy::All,
                    other => other,
                }
            }
            _ => self.things[uid as usize].dormancy,
        };
        self.set_dormancy(uid, dormancy, tick);
        if let Some(connection) = self.any_connection() {
            let may_sleep = self.lives.chance(0.7);
            self.server.object(object).set_dormant_for(connection, may_sleep);
            let chosen = &mut self.views.get_mut(&connection).expect("a view").chosen;
            if may_sleep {
                chosen.insert(uid)
            } else {
                chosen.remove(&uid)
            };
        }
    }

    /// Tears an object off, or changes or despawns an object that is torn off.
    fn tear_off_one(&mut self, tick: u64) {
        let torn_off = self.lives.pick(&self.torn_off).copied();
        match (self.lives.below(3), torn_off) {
            (0, Some(uid)) => self.despawn(uid, tick),
            // The object is torn off, so no client ever shows this change.
            (1, Some(uid)) => self.change_one(uid),
            _ if self.torn_off.len() < MOST_TORN_OFF => {
                if let Some((uid, _)) = self.any_object() {
                    self.tear_off(uid, tick);
                }
            }
            _ => {}
        }
    }

    /// Changes which connections see an object.
    fn place_one(&mut self, plan: &Plan, tick: u64) {
        let group = self.lives.below(GROUPS) as u32;
        if self.lives.chance(0.3) {
            let Some(connection) = self.any_connection() else { return };
            let groups = &mut self.views.get_mut(&connection).expect("a view").groups;
            if groups.remove(&group) {
                self.server.connection(connection).leave_group(Group(group));
            } else {
                groups.insert(group);
                self.server.connection(connection).join_group(Group(group));
            }
            return self.refresh(tick);
        }
        let Some((uid, _)) = self.any_object() else { return };
        let Some((other, _)) = self.any_object() else { return };
        let is_bird = self.things[uid as usize].kind == BIRD && plan.weights[BIRD] > 0;
        let relevance = match self.lives.below(8) {
            _ if plan.lives.has_combinations && self.lives.chance(0.5) => match self.lives.below(6) {
                0 if is_bird => Relevance::NearOrGroup(group),
                1 if is_bird => Relevance::NearAndGroup(group),
                2 | 3 if is_bird && plan.lives.has_function => Relevance::NearAndJudged,
                4 if is_bird && plan.lives.has_function => Relevance::JudgedOrGroup(group),
                _ => Relevance::Groups(group, self.lives.below(GROUPS) as u32),
            },
            0 => Relevance::Owner,
            1 | 2 => Relevance::Group(group),
            3 => Relevance::Nobody,
            4 | 5 if !self.is_attached(other, uid) => Relevance::AttachedTo(other),
            _ if is_bird => Relevance::Located,
            _ => Relevance::Everyone,
        };
        self.set_relevancy(uid, relevance, tick);
    }

    /// Pauses connections, and changes budgets, priorities and rates. None of this changes what clients have
    /// in the end.
    fn pace(&mut self, plan: &Plan) {
        let lives = &plan.lives;
        if self.lives.chance(lives.pauses)
            && let Some(connection) = self.any_connection()
        {
            match self.lives.chance(0.4) {
                true => _ = self.server.connection(connection).pause(),
                false => _ = self.server.connection(connection).resume(),
            }
        }
        if self.lives.chance(lives.budgets)
            && let (Some(connection), Some((_, object))) = (self.any_connection(), self.any_object())
        {
            let budgets = [2_000, 20_000, usize::MAX];
            self.server.connection(connection).set_budget(*self.lives.pick(&budgets).expect("budgets"));
            self.server.object(object).set_priority(Some(1.0 + self.lives.below(9) as f32));
        }
        if self.lives.chance(lives.rates)
            && let Some((uid, object)) = self.any_object()
            && !Self::UNRATED.contains(&self.things[uid as usize].kind)
        {
            let rate = UpdateRate::per_second([2.0, 10.0, 25.0][self.lives.below(3) as usize]);
            self.server.object(object).set_update_rate(Some(rate));
            self.things[uid as usize].is_rated = true;
        }
    }

    /// Ends all pauses and budgets, so that the time in which clients converge depends only on the links.
    pub(crate) fn calm(&mut self) {
        self.resume_all();
        let connections: BTreeSet<ConnectionId> = self.views.keys().copied().collect();
        for connection in connections {
            self.server.connection(connection).resume();
            self.server.connection(connection).set_budget(usize::MAX);
        }
    }
}
