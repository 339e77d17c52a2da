//! What a server confirms to a client of the entities that the client predicts.

use repl::prelude::*;
use std::time::Duration;

use crate::net_entity::NetEntity;

/// The entities that one client owns, after a tick. The client alone receives it.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Prediction")]
pub(super) struct Prediction {
    /// The checksum of the kinds of components that the server confirms.
    #[replicated(condition = OwnerOnly)]
    pub(super) kinds: u64,
    /// The length of a tick of the server.
    #[replicated(condition = OwnerOnly)]
    pub(super) interval: Duration,
    #[replicated(condition = OwnerOnly)]
    pub(super) confirmed: Confirmed<States>,
}

/// The predicted components of all entities of a client.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(super) struct States {
    #[replicated(max_len = 4096)]
    pub(super) entities: Vec<EntityState>,
}

/// The predicted components of an entity.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(super) struct EntityState {
    pub(super) name: NetEntity,
    /// For each kind, a bit that says whether the entity has such a component, and its values.
    #[replicated(max_len = 1024)]
    pub(super) components: Vec<u8>,
}
