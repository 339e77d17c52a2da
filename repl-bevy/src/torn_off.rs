//! The marker of entities that clients keep after the server has stopped replicating them.

use bevy_ecs::prelude::*;

/// Insert this component on the server to stop the replication of an entity, while the clients that see the
/// entity keep it. An example is the body of a player who has died. After a client has received the last
/// state, its entity also has this component, and no longer has [`Remote`](crate::Remote) and
/// [`Owned`](crate::Owned). From then on the server sends nothing about the entity, and the client may change
/// or despawn it. You may despawn it on the server at any time.
///
/// Removing the component does not undo this. Clients to which the entity becomes visible later do not
/// receive it.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct TornOff;
