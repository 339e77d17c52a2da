//! The marker of entities that clients keep.

use bevy_ecs::prelude::*;

/// Insert it on the server, and the clients that see the entity keep it as their own, for example the body of
/// a player who has died. On them the entity has it, too, as soon as they have the last state: from then on
/// it has no [`Remote`](crate::Remote) and no [`Owned`](crate::Owned), nothing of it is sent, and the game of
/// the client does with it what it wants. Despawn it on the server when you like.
///
/// An entity cannot be given back: clients that see it later do not get it.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct TornOff;
