//! The component by which a client knows the entities of the server.

use bevy_ecs::prelude::*;

use crate::net_entity::NetEntity;

/// An entity of the server, on a client. It is despawned when it ends on the server, when this client may no
/// longer see it, and when the next session begins.
///
/// Systems that are written for both sides do not need it: on a server no entity has it.
#[derive(Component, Clone, Copy, Debug, Default)]
#[require(NetEntity)]
pub struct Remote;
