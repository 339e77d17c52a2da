//! Where the entities of a server are.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::prelude::*;
use repl::{Coordinates, Position};

use super::settings::{OwnedBy, Viewpoint};
use crate::net_entity::{NetEntity, Root};

/// Tells the server where entities are.
pub(super) trait Positions: Send + Sync {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]);

    /// Returns the viewpoints of each client that has some.
    fn viewpoints(&mut self, world: &World) -> EntityHashMap<Vec<Position>>;
}

type Row<T> = (&'static T, &'static NetEntity);

type IsViewpoint = (With<Viewpoint>, Allow<Disabled>);

pub(super) struct TypedPositions<T: Component, P> {
    changed: QueryState<Row<T>, (Changed<T>, Allow<Disabled>)>,
    all: QueryState<Row<T>, Allow<Disabled>>,
    viewpoints: QueryState<(&'static T, &'static OwnedBy), IsViewpoint>,
    position: P,
}

impl<T: Component, C: Coordinates, P: Fn(&T) -> C> TypedPositions<T, P> {
    pub(super) fn new(world: &mut World, position: P) -> Self {
        Self {
            changed: QueryState::new(world),
            all: QueryState::new(world),
            viewpoints: QueryState::new(world),
            position,
        }
    }
}

impl<T: Component, C: Coordinates, P: Fn(&T) -> C + Send + Sync> Positions for TypedPositions<T, P> {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]) {
        let Self { changed, all, position, .. } = self;
        let mut place = |component: &T, name: &NetEntity| {
            // Nothing happens if the entity is not replicated any more.
            server.external::<Root>().place(name.root(), position(component)).ok();
        };
        changed.iter(world).for_each(|(component, name)| place(component, name));
        for &entity in new {
            if let Ok((component, name)) = all.get(world, entity) {
                place(component, name);
            }
        }
    }

    fn viewpoints(&mut self, world: &World) -> EntityHashMap<Vec<Position>> {
        let mut all: EntityHashMap<Vec<Position>> = EntityHashMap::default();
        for (component, owner) in self.viewpoints.iter(world) {
            all.entry(owner.0).or_default().push((self.position)(component).coordinates());
        }
        all
    }
}
