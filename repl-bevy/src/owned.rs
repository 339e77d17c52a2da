//! The marker of entities that the player of this process owns.

use bevy_ecs::prelude::*;

/// Marks an entity that the player of this process owns. The plug-in inserts it on the owner's client or on
/// the [host](crate::ServerPlugin::host), for an entity that has [`OwnedBy`](crate::OwnedBy) on the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Owned;
