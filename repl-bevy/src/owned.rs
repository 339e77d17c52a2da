//! The marker of what the player of this process owns.

use bevy_ecs::prelude::*;

/// The player of this process owns the entity, as [`OwnedBy`](crate::OwnedBy) says on the server: on a client
/// and on a [host](crate::ServerPlugin::host).
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Owned;
