//! Which connections see which objects: how a tick follows the objects that move.
//!
//! *Invariant:* `View::sees` is the only rule, except that `ObjectStates::sees` decides for objects that are
//! being torn off. What is here changes something that the rule reads. Then the connections that may now see
//! other objects apply the rule again.

use super::Server;
use super::peer::Peer;
use super::world::World;

impl Server {
    /// Moves each object to the cell of its new position, and the viewpoints to the objects that they follow.
    pub(super) fn update_cells(&mut self) {
        let mut affected = std::mem::take(&mut self.crossings);
        self.world.cells.take_moved(&mut affected);
        for (viewer, slot) in affected.drain(..) {
            if let Some(peer) = self.connections.get_mut(viewer) {
                peer.connection.reconsider(&mut self.world, slot);
            }
        }
        self.crossings = affected;
        let awake = self.connections.awake_mut(self.now);
        for peer in awake.filter(|peer| !peer.handshake.is_ended()) {
            peer.follow(&mut self.world);
        }
    }
}

impl Peer {
    /// Moves the viewpoint to the object that it follows.
    pub(super) fn follow(&mut self, world: &mut World) {
        let Some(object) = self.followed else { return };
        let position = world.slot_of(object).and_then(|slot| {
            let occupant = world.occupant(slot);
            world.column(occupant.class).position(occupant.row)
        });
        match position {
            Some(position) => _ = self.connection.set_viewpoints(world, &[position]),
            None => self.followed = None,
        }
    }
}

/// # Panics
/// Panics if the objects of a class have no positions.
#[track_caller]
pub(super) fn assert_has_area(world: &World, class: u16) {
    assert!(
        world.cells.has_area(class),
        "`{name}` has no positions: call `set_area` or `locate` of `class::<{name}>()` before `connect`",
        name = world.column(class).program().layout().name(),
    );
}
