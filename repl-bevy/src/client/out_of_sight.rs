//! The marker of entities that a client keeps although it no longer sees them.

use bevy_ecs::prelude::*;

/// Marks an entity of the server that this client keeps although it may no longer see it, because the entity
/// has [`WhenOutOfSight`](crate::WhenOutOfSight) on the server. The entity has the last values that arrived,
/// and the server sends nothing of it. The plug-in removes the marker when the entity is back in sight, after
/// its components have received their current values.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl_bevy::KeptOutOfSight;
/// # #[derive(Component)] struct Colour(f32);
/// fn forget(lost: On<Add<KeptOutOfSight>>, mut colours: Query<&mut Colour>) {
///     if let Ok(mut colour) = colours.get_mut(lost.entity) {
///         colour.0 = 0.5; // drawn in grey
///     }
/// }
///
/// fn see_again(seen: On<Remove<KeptOutOfSight>>, mut colours: Query<&mut Colour>) {
///     if let Ok(mut colour) = colours.get_mut(seen.entity) {
///         colour.0 = 1.0;
///     }
/// }
/// ```
///
/// The client does not learn that the server has despawned such an entity, except with
/// [`until_destroyed`](repl::OutOfSight::until_destroyed).
/// [`max_out_of_sight`](repl::ClientConfig::max_out_of_sight) limits how many entities and components a
/// client keeps.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct KeptOutOfSight;
