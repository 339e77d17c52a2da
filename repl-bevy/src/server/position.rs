//! The positions of the entities of a server, and the viewpoints of its clients.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::prelude::*;
use repl::{Coordinates, Position};

use super::settings::{OwnedBy, Viewpoint};
use super::state::ReplServer;
use crate::net_entity::{NetEntity, Root};

/// Passes the positions of entities to the server.
pub(super) trait Positions: Send + Sync {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]);

    /// Sets the viewpoints of clients. Costs O(v log v) for v viewpoints, because it sorts them by client.
    fn look(&mut self, server: &mut ReplServer, world: &World);
}

type Row<T> = (&'static T, &'static NetEntity);

type IsViewpoint = (With<Viewpoint>, Allow<Disabled>);

pub(super) struct TypedPositions<T: Component, P> {
    changed: QueryState<Row<T>, (Changed<T>, Allow<Disabled>)>,
    all: QueryState<Row<T>, Allow<Disabled>>,
    viewpoints: QueryState<(&'static T, &'static OwnedBy), IsViewpoint>,
    /// The viewpoints of this tick. Each has the entity of its client.
    found: Vec<(Entity, Position)>,
    position: P,
}

impl<T: Component, C: Coordinates, P: Fn(&T) -> C> TypedPositions<T, P> {
    pub(super) fn new(world: &mut World, position: P) -> Self {
        Self {
            changed: QueryState::new(world),
            all: QueryState::new(world),
            viewpoints: QueryState::new(world),
            found: Vec::new(),
            position,
        }
    }
}

impl<T: Component, C: Coordinates, P: Fn(&T) -> C + Send + Sync> Positions for TypedPositions<T, P> {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]) {
        let Self { changed, all, position, .. } = self;
        let mut place = |component: &T, name: &NetEntity| {
            // The only possible error is that the entity is no longer replicated, so it is ignored.
            server.external::<Root>().place(name.root(), position(component)).ok();
        };
        changed.iter(world).for_each(|(component, name)| place(component, name));
        for &entity in new {
            if let Ok((component, name)) = all.get(world, entity) {
                place(component, name);
            }
        }
    }

    fn look(&mut self, server: &mut ReplServer, world: &World) {
        let Self { viewpoints, found, position, .. } = self;
        found.clear();
        found.extend(
            viewpoints.iter(world).map(|(component, owner)| (owner.0, position(component).coordinates())),
        );
        found.sort_by_key(|(client, _)| *client);
        for seen in found.chunk_by(|(one, _), (next, _)| one == next) {
            let connection = seen.first().and_then(|(client, _)| server.connection_of(*client));
            let Some(connection) = connection else { continue };
            let points: Vec<Position> = seen.iter().map(|(_, point)| *point).collect();
            server.connection(connection).set_viewpoints(&points);
        }
    }
}
