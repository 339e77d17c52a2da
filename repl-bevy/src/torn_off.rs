//! The marker of entities that clients keep.

use bevy_ecs::prelude::*;

/// Insert it on the server to leave an entity to the clients that see it, for example the body of a player
/// who has died. When a client has the last state, its entity also gets this component, and loses
/// [`Remote`](crate::Remote) and [`Owned`](crate::Owned). From then on the server sends nothing about the
/// entity, and the client may change or despawn it. You may despawn it on the server at any time.
///
/// Removing the component does not undo this. Clients that come to see the entity later do not get it.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct TornOff;
