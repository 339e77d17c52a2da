//! Keys that match an entity of a client with an entity of the server, if both sides have spawned it.

use bevy_ecs::prelude::*;
use repl::prelude::*;

/// Matches an entity that a client has spawned with an entity of the server. Examples are an entity of a
/// level that both sides load, and a shot that the client shows at once. Both sides insert the same key, and
/// the server also inserts [`Replicate`](crate::Replicate). When the server's entity arrives, the client does
/// not spawn an entity, but inserts the received components into its own entity. This entity keeps its other
/// components and its children, such as meshes.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use repl_bevy::{NetKey, Replicate};
/// # #[derive(Component, Default)] struct Door;
/// // On both sides; a client does nothing for `Replicate`.
/// fn load(mut commands: Commands) {
///     for door in ["hall/north", "hall/south"] {
///         commands.spawn((Replicate, NetKey::of(door), Door));
///     }
/// }
/// ```
///
/// When the client may no longer see the entity, or another session begins, the entity remains without
/// [`Remote`](crate::Remote), until the server's entity arrives again. When the server despawns its entity,
/// the client despawns the entity too. If the server has no entity with the key, the client's entity remains
/// unchanged: despawn it yourself.
#[derive(Component, Replicated, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[replicated(name = "bevy::Key")]
pub struct NetKey(#[replicated] pub u64);

impl NetKey {
    /// Returns the key for a name. The key of a name is the same on all machines. Two names almost certainly
    /// have different keys.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        // The hash function FNV-1a.
        let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while at < name.len() {
            hash = (hash ^ name.as_bytes()[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self(hash)
    }
}
