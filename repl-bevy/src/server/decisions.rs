//! A function of the user decides which clients see an entity, by one component of the entity.
//!
//! *Invariant:* the function reads the copies of components that were passed to it before the tick.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::Viewer;
use repl::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::replicate::Replicate;
use super::state::ReplServer;
use crate::net_entity::{NetEntity, Root};

/// Passes the components by which a function decides to this function.
pub(super) trait Decisions: Send + Sync {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]);
}

/// The copies of the components, by the roots of their entities.
struct Copies<T>(Arc<RwLock<HashMap<ObjectRef<()>, T>>>);

type Row<T> = (&'static T, &'static NetEntity);

pub(super) struct TypedDecisions<T: Component> {
    changed: QueryState<Row<T>, (Changed<T>, Allow<Disabled>)>,
    all: QueryState<Row<T>, Allow<Disabled>>,
    copies: Copies<T>,
}

impl<T> Clone for Copies<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send + Sync + 'static> Copies<T> {
    fn set(&self, root: ObjectRef<Root>, component: T) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(root.erase(), component);
    }

    fn is_some_and(&self, root: ObjectRef<()>, decide: impl FnOnce(&T) -> bool) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&root).is_some_and(decide)
    }

    /// Removes the copy of an entity when a component `C` is removed from the entity.
    fn forget_with<C: Component>(&self, world: &mut World) {
        let copies = self.clone();
        world.add_observer(move |removed: On<Remove<C>>, names: Query<&NetEntity, Allow<Disabled>>| {
            if let Ok(name) = names.get(removed.entity) {
                copies.0.write().unwrap_or_else(PoisonError::into_inner).remove(&name.root().erase());
            }
        });
    }
}

impl<T: Component + Clone> TypedDecisions<T> {
    /// Sets the function of the server.
    pub(super) fn new(
        world: &mut World,
        decide: impl Fn(&T, &Viewer<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let copies = Copies(Arc::default());
        copies.forget_with::<T>(world);
        copies.forget_with::<Replicate>(world);
        let of_function = copies.clone();
        let mut server = world.resource_mut::<ReplServer>();
        server.class::<Root>().set_relevancy_by(move |_, viewer| {
            of_function.is_some_and(viewer.object, |component| decide(component, viewer))
        });
        Self { changed: QueryState::new(world), all: QueryState::new(world), copies }
    }
}

impl<T: Component + Clone> Decisions for TypedDecisions<T> {
    fn hand_over(&mut self, server: &mut Server, world: &mut World, new: &[Entity]) {
        let Self { changed, all, copies } = self;
        let mut pass = |(component, name): (&T, &NetEntity)| {
            if server.contains(name.root()) {
                copies.set(name.root(), component.clone());
                server.object(name.root()).decide_again();
            }
        };
        changed.iter(world).for_each(&mut pass);
        new.iter().filter_map(|&entity| all.get(world, entity).ok()).for_each(pass);
    }
}
