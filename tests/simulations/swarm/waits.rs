//! Waits: single objects are paused, for all connections or for one, and the work of ticks is limited. Only
//! runs with a seed of [`FIRST_SEED`] or more have such waits.
//!
//! *Invariant:* runs with smaller seeds have no waits, so they never change.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::sim::Rng;
use repl::{ConnectionId, Server, Work};

use crate::canary::Canary;
use crate::kinds::{BIRD, HOARD};
use crate::plan::Plan;
use crate::world::World;

/// The smallest seed whose run has waits.
pub(crate) const FIRST_SEED: u64 = 90_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// The chance in a tick that an object is paused or resumed.
    pauses: f64,
    /// How many objects and connections a tick may at least compare and serve, before it stops.
    objects: usize,
    connections: usize,
}

/// The objects that are paused, for one connection or for all, each with the versions of its secrets at the
/// beginning of the pause.
pub(crate) type Pauses = BTreeMap<(u32, Option<ConnectionId>), Vec<u32>>;

impl Waits {
    pub(crate) fn draw(plan: &mut Plan) {
        let mut rng = Rng::new(plan.seed).fork(90);
        let mut pick = |items: [usize; 4]| *rng.pick(&items).expect("four items");
        let (pauses, objects, connections) = (
            pick([0, 5, 20, 50]) as f64 / 100.0,
            pick([usize::MAX, 0, 64, 130]),
            pick([usize::MAX, 0, 1, 3]),
        );
        plan.waits = Some(Self { pauses, objects, connections });
        // Hundreds of new objects do not reach a client in time if most packets are lost.
        let most = if plan.loss() > 0.21 { 30 } else { usize::MAX };
        plan.objects = plan.objects.max(pick([2, 30, 90, 200]).min(most));
        // The model must know when the positions of birds are compared, and comparisons choose the ids of
        // items in hoards.
        (plan.weights[BIRD], plan.weights[HOARD]) = (0, 0);
        // The model does not know which objects a client was not sent because of a pause.
        plan.whispers = None;
    }

    /// Runs a tick of the server whose work is limited.
    pub(crate) fn tick(self, server: &mut Server, now: Duration) {
        server.tick_while(now, |work| match work {
            Work::Objects(compared) => compared < self.objects,
            Work::Connections(served) => served < self.connections,
            _ => true,
        });
    }
}

impl World {
    /// Pauses an object and its subobjects, or ends a pause.
    pub(crate) fn pause_one(&mut self, waits: Waits) {
        if !self.waits.chance(waits.pauses) {
            return;
        }
        let Some(&uid) = self.waits.pick(&self.alive) else { return };
        let connections: Vec<ConnectionId> = self.views.keys().copied().collect();
        let connection = self.waits.pick(&connections).copied().filter(|_| self.waits.chance(0.6));
        let paused = self.waits.chance(0.6);
        let object = self.object(uid);
        let mut handle = self.server.object(object);
        match connection {
            Some(connection) => _ = handle.set_paused_for(connection, paused),
            None => _ = handle.set_paused(paused),
        }
        for uid in self.with_subobjects(uid) {
            let thing = &mut self.things[uid as usize];
            if thing.torn_off.is_some() {
                continue;
            }
            // The object is compared later than it changes.
            thing.is_rated = true;
            self.was_paused.insert(uid);
            if paused {
                let newest = thing.versions.iter().map(|(newest, _)| *newest).collect();
                self.pauses.entry((uid, connection)).or_insert(newest);
            } else {
                self.pauses.remove(&(uid, connection));
            }
        }
    }

    /// Pauses a new subobject with its parent. No client may be sent a secret of it.
    pub(crate) fn pause_with_parent(&mut self, uid: u32, parent: u32) {
        let paused = self.pauses.keys().filter(|(paused, _)| *paused == parent);
        for connection in paused.map(|(_, connection)| *connection).collect::<Vec<_>>() {
            self.pauses.insert((uid, connection), vec![0; self.things[uid as usize].versions.len()]);
            self.things[uid as usize].is_rated = true;
            self.was_paused.insert(uid);
        }
    }

    /// Forgets the pauses of an object that is removed or torn off.
    pub(crate) fn end_pauses(&mut self, uid: u32) {
        self.pauses.retain(|(paused, _), _| *paused != uid);
    }

    /// Returns whether a pause may have delayed the opening of an object: the object was paused, or may have
    /// been attached to a paused object.
    pub(crate) fn may_wait(&self, uid: u32) -> bool {
        self.was_paused.contains(&uid) || self.places_objects && !self.was_paused.is_empty()
    }

    /// Ends all pauses.
    pub(crate) fn resume_all(&mut self) {
        for ((uid, connection), _) in std::mem::take(&mut self.pauses) {
            let object = self.object(uid);
            match connection {
                Some(connection) => _ = self.server.object(object).set_paused_for(connection, false),
                None => _ = self.server.object(object).set_paused(false),
            }
        }
    }

    /// Returns whether a pause forbids that a connection is sent this secret: the secret is newer than the
    /// pause.
    pub(crate) fn is_held(&self, connection: ConnectionId, canary: Canary) -> bool {
        [None, Some(connection)].into_iter().any(|of| {
            let versions = self.pauses.get(&(canary.object, of));
            let newest = versions.and_then(|versions| versions.get(usize::from(canary.property)));
            newest.is_some_and(|newest| canary.version > *newest)
        })
    }
}
