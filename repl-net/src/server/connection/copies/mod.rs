//! The copies of objects that the client has or will have, as the server knows them from acks.
//!
//! *Invariant:* the state of an object for the client changes only through [`ObjectStates`]. Nothing here
//! sends a packet.

mod arrivals;
pub(super) mod bases;
pub(super) mod call_rights;
pub(super) mod last_rights;
pub(super) mod losses;
mod paused;
mod pending;
pub(super) mod recent_removals;
mod seen;
mod sight;
mod sleeping;
mod statics;
mod subobjects;
mod tear_off;

use std::num::NonZeroU32;

use repl_core::ObjectRef;
use repl_link::ConnectionId;
use repl_link::parts::Sequence;

use super::objects::{ObjectStates, View};
use crate::body::blob::Blobs;
use crate::server::world::World;
use bases::ClientBases;
use last_rights::LastRights;
use recent_removals::RecentRemovals;
pub(crate) use subobjects::Member;

/// The copies of one client.
pub(crate) struct Copies {
    pub(super) id: ConnectionId,
    /// Whether a session has begun and has not ended, so that state is sent.
    pub(super) is_live: bool,
    /// The number of the next packet. It is stored here after each pass, because it changes only in a pass.
    pub(super) next: Sequence,
    pub(super) objects: ObjectStates,
    pub(crate) blobs: Blobs,
    /// The values that the client keeps, to which differences are made.
    pub(super) bases: ClientBases,
    /// The rights to calls on objects that were removed or torn off.
    pub(super) last_rights: LastRights,
    /// The objects that the client has removed recently, if the configuration asks for them. In a box,
    /// because few configurations do.
    pub(super) recent_removals: Option<Box<RecentRemovals>>,
    /// The object from whose position the client sees.
    pub(crate) followed: Option<ObjectRef<()>>,
}

impl Copies {
    pub(crate) fn new(id: ConnectionId, is_replay: bool, next: Sequence) -> Self {
        Self {
            id,
            is_live: false,
            next,
            objects: ObjectStates::new(id, is_replay),
            blobs: Blobs::default(),
            bases: ClientBases::default(),
            last_rights: LastRights::default(),
            recent_removals: None,
            followed: None,
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    pub(crate) fn view(&self) -> &View {
        self.objects.view()
    }

    /// Returns whether the client has an object in a slot, is receiving one, or must still remove one.
    pub(crate) fn uses(&self, slot: u32) -> bool {
        self.objects.is_known(slot)
    }

    /// Returns whether the client has the object with this generation, is receiving it, or must still remove
    /// it.
    pub(crate) fn is_current(&self, world: &World, slot: u32, generation: NonZeroU32) -> bool {
        self.objects.is_known(slot)
            && world
                .store
                .occupants()
                .get(slot as usize)
                .is_some_and(|occupant| occupant.generation == generation)
    }
}
