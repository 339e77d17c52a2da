//! Relevancy: which connections see which objects, and how a tick follows objects that move.
//!
//! *Invariant:* `View::sees` is the only rule, except that `ObjectStates::sees` decides for objects that are
//! being torn off. The functions here change only the inputs of this rule. Afterwards, the connections that
//! may see other objects now apply the rule again.

use super::Server;
use super::cells::Relevancy;
use super::class_handle::no_function;
use super::verdicts::Due;
use super::world::World;

impl Server {
    /// Moves each object to the cell of its new position, and moves viewpoints with the objects that they
    /// follow.
    pub(super) fn update_cells(&mut self) {
        let mut affected = std::mem::take(&mut self.crossings);
        self.world.cells.take_moved(&mut affected);
        for (viewer, slot) in affected.drain(..) {
            if let Some(peer) = self.sessions.peers.get_mut(viewer) {
                peer.connection.copies.reconsider(&mut self.world, slot);
            }
        }
        self.crossings = affected;
        let now = self.sessions.now();
        let awake = self.sessions.peers.awake_mut(now);
        for peer in awake.filter(|peer| !peer.handshake.is_ended()) {
            peer.connection.copies.update_followed(&mut self.world);
        }
        self.decide_views();
    }

    /// Calls the functions that decide who sees objects, for the objects and connections that have changed.
    /// Connections for which a verdict has changed apply the rule again.
    pub(super) fn call_functions(&mut self) {
        let Self { world, sessions, .. } = self;
        let World { functions, store, changes, frame, .. } = world;
        let due_of = |slot| {
            let occupant = store.occupant(slot);
            Due { object: occupant.guid(slot), row: occupant.row }
        };
        if !functions.are_used() || !functions.find_due(*frame, &changes.slots, due_of) {
            return;
        }
        let (mut changed, mut found) = (Vec::new(), Vec::new());
        for entry in sessions.peers.as_mut_slice() {
            if entry.peer.handshake.is_ended() {
                continue;
            }
            let connection = &mut entry.peer.connection;
            connection.call_functions(functions, store, &mut changed);
            // Before the session begins, nothing is shown.
            if connection.copies.is_live() {
                found.extend(changed.drain(..).map(|slot| (entry.id, slot)));
            }
            changed.clear();
        }
        for (id, slot) in found {
            let Some(peer) = sessions.peers.get_mut(id) else { continue };
            for slot in world.cells.with_attached(slot) {
                peer.connection.copies.reconsider(world, slot);
            }
        }
    }

    /// Lets each connection decide which objects its client sees in this tick, if any input of this decision
    /// has changed.
    pub(super) fn decide_views(&mut self) {
        if !std::mem::take(&mut self.world.marks.undecided) {
            return;
        }
        let now = self.sessions.now();
        for peer in self.sessions.peers.awake_mut(now) {
            peer.connection.copies.decide(&mut self.world);
        }
    }
}

/// # Panics
/// Panics if the objects of a class have no positions.
#[track_caller]
pub(super) fn assert_has_area(world: &World, class: u16) {
    assert!(
        world.cells.has_area(class),
        "`{name}` has no positions: call `set_area`, `locate` or `set_placed_area` of `class::<{name}>()` before `connect`",
        name = world.store.column(class).program().layout().name(),
    );
}

/// # Panics
/// Panics if a function is a part of a relevancy, and the class has no function.
#[track_caller]
pub(super) fn assert_has_function(world: &World, class: u16, relevancy: &Relevancy) {
    assert!(
        world.functions.class(class).is_some() || !relevancy.has(&|part| *part == Relevancy::Computed),
        "{}",
        no_function(world.store.column(class).program().layout().name()),
    );
}
