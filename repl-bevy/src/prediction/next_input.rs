//! The input that the player of this process gives.

use bevy_ecs::prelude::*;

/// The input that the next tick gets, on a client or a [host](crate::ServerPlugin::host): systems in
/// [`MakeInput`](crate::MakeInput) set it.
#[derive(Resource, Clone, Debug, Default)]
pub struct NextInput<T: Send + Sync + 'static>(pub T);
