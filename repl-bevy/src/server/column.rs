//! The components of one type on a server: what has changed is handed over before each tick.

use bevy_ecs::component::Mutable;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::prelude::*;
use std::marker::PhantomData;

use super::state::ReplServer;
use crate::form::Form;
use crate::net_entity::NetEntity;
use crate::part::Part;

/// What the server does with the components of one type before a tick.
pub(super) trait Column: Send + Sync {
    /// Ends the objects of components that were removed.
    fn remove(&mut self, server: &mut Server, world: &mut World);

    /// Makes objects for new components, and compares those that have changed. `new` are the entities that
    /// are replicated since the last tick.
    fn hand_over(&mut self, server: &mut ReplServer, world: &mut World, new: &[Entity]);
}

type Removed<T> = (With<Part<T>>, Without<T>, Allow<Disabled>);
type Row<T> = (&'static mut T, &'static mut Part<T>, &'static NetEntity);

pub(super) struct TypedColumn<T: Component<Mutability = Mutable>, F> {
    changed: QueryState<Row<T>, (Changed<T>, Allow<Disabled>)>,
    all: QueryState<Row<T>, Allow<Disabled>>,
    removed: QueryState<(Entity, &'static Part<T>), Removed<T>>,
    form: PhantomData<fn() -> F>,
}

impl<T: Component<Mutability = Mutable>, F: Form<T>> TypedColumn<T, F> {
    pub(super) fn new(world: &mut World) -> Self {
        Self {
            changed: QueryState::new(world),
            all: QueryState::new(world),
            removed: QueryState::new(world),
            form: PhantomData,
        }
    }

    fn hand_over_row(
        server: &mut ReplServer,
        (mut component, mut part, root): (Mut<'_, T>, Mut<'_, Part<T>>, &NetEntity),
    ) {
        let component = component.bypass_change_detection();
        // The object is gone if the entity was not replicated for a while, and its root is null until it is
        // again.
        if F::compare(server, part.object_of(), component).is_err() {
            part.object = match F::try_spawn(server, root.root().erase(), component) {
                Ok(object) => object.map_or(ObjectRef::NULL, ObjectRef::erase),
                Err(error) => server.refuse(error).root().erase(),
            };
        }
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
        for row in self.changed.iter_mut(world) {
            Self::hand_over_row(server, row);
        }
        for &entity in new {
            let Ok((component, part, root)) = self.all.get_mut(world, entity) else { continue };
            if !server.contains(part.object) {
                Self::hand_over_row(server, (component, part, root));
            }
        }
    }
}
