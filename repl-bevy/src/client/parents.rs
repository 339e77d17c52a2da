//! Which entity is the child of which on a client.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;

use super::entities::Entities;
use crate::net_parent::NetParent;
use crate::sets::ReplSystems;

/// Lets a client follow what the server says about parents.
pub(super) fn follow(app: &mut App) {
    app.add_systems(PreUpdate, attach.after(ReplSystems::Receive).before(ReplSystems::Read));
    app.add_observer(|removed: On<Remove<NetParent>>, mut commands: Commands| {
        commands.entity(removed.entity).try_remove::<ChildOf>();
    });
}

type Moved<'w> = (Entity, &'w NetParent, Option<&'w ChildOf>);

/// A parent that this client does not have is none, until it arrives.
fn attach(entities: Res<Entities>, moved: Query<Moved, Changed<NetParent>>, mut commands: Commands) {
    for (entity, NetParent { parent }, before) in &moved {
        match entities.entity_of(parent.root().erase()) {
            Some(parent) if before.is_none_or(|before| before.parent() != parent) => {
                commands.entity(entity).insert(ChildOf(parent));
            }
            None if before.is_some() => drop(commands.entity(entity).try_remove::<ChildOf>()),
            _ => {}
        }
    }
}
