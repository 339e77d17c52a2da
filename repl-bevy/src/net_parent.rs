//! The component that contains the parent of an entity and is sent to clients.

use bevy_ecs::prelude::*;
use repl::prelude::*;

use crate::net_entity::NetEntity;

/// The parent of an entity, copied from its [`ChildOf`]. The server adds this component to replicated
/// children.
#[derive(Component, Replicated, Default, Clone, Copy, PartialEq)]
#[replicated(name = "bevy::ChildOf")]
pub(crate) struct NetParent {
    #[replicated]
    pub(crate) parent: NetEntity,
}
