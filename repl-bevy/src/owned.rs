//! The marker of entities that the player of this process owns.

use bevy_ecs::prelude::*;

/// The player of this process owns the entity. The plug-in inserts it on a client and on a
/// [host](crate::ServerPlugin::host), for the entities with [`OwnedBy`](crate::OwnedBy) on the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Owned;
