//! The component that marks the entities of the server on a client.

use bevy_ecs::prelude::*;

use crate::net_entity::NetEntity;

/// Marks an entity of the server, on a client. The entity is despawned when the server despawns it or stops
/// replicating it, when this client may no longer see it, and when the next session begins.
///
/// Do not use `Remote` in queries of systems that run on both sides: on a server no entity has it.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(NetEntity)]
pub struct Remote;
