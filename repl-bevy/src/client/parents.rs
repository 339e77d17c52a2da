//! The parents of entities on a client.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;

use super::entities::Entities;
use crate::net_parent::NetParent;
use crate::sets::ReplSystems;

/// Adds the system that sets the parents of entities as the server has sent them.
pub(super) fn follow(app: &mut App) {
    app.add_systems(PreUpdate, attach.after(ReplSystems::Receive).before(ReplSystems::Read));
    app.add_observer(|removed: On<Remove<NetParent>>, mut commands: Commands| {
        commands.entity(removed.entity).try_remove::<ChildOf>();
    });
}

type Moved<'w> = (Entity, &'w NetParent, Option<&'w ChildOf>);

/// Sets the parents of entities. An entity whose parent has not arrived has no parent.
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
