//! The components of one type on a server: before each tick, the changed components are passed to the
//! library's server.

use bevy_ecs::component::Mutable;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::prelude::*;
use std::marker::PhantomData;

use super::changes::changed_rows;
use super::state::ReplServer;
use crate::form::Form;
use crate::net_entity::NetEntity;
use crate::part::Part;

/// Passes the components of one type to the server before a tick.
pub(super) trait Column: Send + Sync {
    /// Despawns the objects of components that were removed.
    fn remove(&mut self, server: &mut Server, world: &mut World);

    /// Spawns objects for new components, and compares the components that have changed. `new` contains the
    /// entities that became replicated since the last tick.
    fn hand_over(&mut self, server: &mut ReplServer, world: &mut World, new: &[Entity]);
}

type Removed<T> = (With<Part<T>>, Without<T>, Allow<Disabled>);
type Row<T> = (&'static mut T, &'static Part<T>, Entity);
/// Matches disabled entities too, like `Allow<Disabled>`. `Allow` cannot be used here, because a query with
/// `Allow` does not give access to whole tables.
type DisabledOrNot = Or<(With<Disabled>, Without<Disabled>)>;

pub(super) struct TypedColumn<T: Component<Mutability = Mutable>, F> {
    rows: QueryState<Row<T>, DisabledOrNot>,
    /// For components that Bevy stores in a sparse set, which has no table rows.
    changed: QueryState<Row<T>, (Changed<T>, Allow<Disabled>)>,
    all: QueryState<(&'static mut T, &'static mut Part<T>, &'static NetEntity), Allow<Disabled>>,
    removed: QueryState<(Entity, &'static Part<T>), Removed<T>>,
    form: PhantomData<fn() -> F>,
}

impl<T: Component<Mutability = Mutable>, F: Form<T>> TypedColumn<T, F> {
    pub(super) fn new(world: &mut World) -> Self {
        Self {
            rows: QueryState::new(world),
            changed: QueryState::new(world),
            all: QueryState::new(world),
            removed: QueryState::new(world),
            form: PhantomData,
        }
    }

    /// Compares the components that have changed. Returns the entities with changed components that have no
    /// object yet.
    fn compare(&mut self, server: &mut ReplServer, world: &mut World) -> Vec<Entity> {
        let mut without_object = Vec::new();
        let mut compare = |component: &mut T, part: &Part<T>, entity: Entity| {
            if F::compare(server, part.object_of(), component).is_err() {
                without_object.push(entity);
            }
        };
        let Ok(tables) = self.rows.contiguous_iter_mut(world) else {
            for (mut component, part, entity) in self.changed.iter_mut(world) {
                compare(component.bypass_change_detection(), part, entity);
            }
            return without_object;
        };
        for (mut components, parts, entities) in tables {
            let ticks = components.changed_ticks_slice();
            let rows: Vec<_> =
                changed_rows(ticks, components.last_run_tick(), components.this_run_tick()).collect();
            let components = components.bypass_change_detection();
            rows.into_iter().for_each(|row| compare(&mut components[row], &parts[row], entities[row]));
        }
        without_object
    }

    /// Spawns an object for the component of an entity, if the component has no object.
    fn spawn(&mut self, server: &mut ReplServer, world: &mut World, entity: Entity) {
        let Ok((mut component, mut part, root)) = self.all.get_mut(world, entity) else { return };
        if server.contains(part.object) {
            return;
        }
        let component = component.bypass_change_detection();
        // If the entity is no longer replicated, its root is null, and nothing is spawned.
        part.object = match F::try_spawn(server, root.root().erase(), component) {
            Ok(object) => object.map_or(ObjectRef::NULL, ObjectRef::erase),
            Err(error) => server.refuse(error).root().erase(),
        };
    }
}

impl<T: Component<Mutability = Mutable>, F: Form<T>> Column for TypedColumn<T, F> {
    fn remove(&mut self, server: &mut Server, world: &mut World) {
        let removed: Vec<_> = self.removed.iter(world).map(|(entity, part)| (entity, part.object)).collect();
        for (entity, object) in removed {
            server.despawn(object);
            world.entity_mut(entity).remove::<Part<T>>();
        }
    }

    fn hand_over(&mut self, server: &mut ReplServer, world: &mut World, new: &[Entity]) {
        let without_object = self.compare(server, world);
        without_object.iter().chain(new).for_each(|&entity| self.spawn(server, world, entity));
    }
}
