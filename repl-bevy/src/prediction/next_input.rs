//! The next input of the player of this process.

use bevy_ecs::prelude::*;

/// The player's input for the next tick, on a client or a [host](crate::ServerPlugin::host). Systems in the
/// schedule [`MakeInput`](crate::MakeInput) set it.
#[derive(Resource, Clone, Debug, Default)]
pub struct NextInput<T: Send + Sync + 'static>(pub T);
