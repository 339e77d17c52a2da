//! Which entity of a client is which of the server, if both have made it.

use bevy_ecs::prelude::*;
use repl::prelude::*;

/// Says which entity is which, if a client has made it before it arrives: an entity of a level that both
/// sides load, or a shot that the client shows at once. Both sides insert the same key, and the server also
/// [`Replicate`](crate::Replicate). When the server's entity arrives, the client's becomes it, with all else
/// that it has, such as meshes and children.
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
/// When the client may no longer see the entity, or another session begins, it stays without
/// [`Remote`](crate::Remote), until it arrives again. When it ends on the server, it ends on the client. An
/// entity of the client of which the server has none stays as it is: despawn it yourself.
#[derive(Component, Replicated, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[replicated(name = "bevy::Key")]
pub struct NetKey(#[replicated] pub u64);

impl NetKey {
    /// Returns the key of a name: the same on all machines, and almost certainly another one for each name.
    #[must_use]
    pub const fn of(name: &str) -> Self {
        // FNV-1a.
        let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while at < name.len() {
            hash = (hash ^ name.as_bytes()[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self(hash)
    }
}
