//! The components of one type that clients predict.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::form::Form;
use crate::simulate::Simulated;

/// What prediction does with the components of a type.
pub(super) trait Kind: Send + Sync {
    /// Returns whether an entity has such a component.
    fn is_on(&self, entity: EntityRef<'_>) -> bool;

    /// Writes the component of an entity, as far as it has one.
    fn write(&self, entity: EntityRef<'_>, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Returns no rows.
    fn rows(&self) -> Box<dyn Rows>;
}

/// The components of a type in one tick.
pub(super) trait Rows: Any + Send + Sync {
    /// Takes them from the world.
    fn save(&mut self, world: &mut World);

    /// Puts them into the world. An entity that is `known`, and has none here, loses its own.
    fn load(&self, world: &mut World, known: &[Entity]);

    /// Takes the component of an entity as the server has sent it.
    fn confirm(&mut self, entity: Entity, reader: &mut BitReader<'_>) -> Result<(), ReadError>;

    /// Drops the components of all entities but these, which are in their order.
    fn retain(&mut self, entities: &[Entity]);

    /// Returns whether these are the same as others.
    fn agrees(&self, others: &dyn Rows) -> bool;

    /// Returns a copy.
    fn copy(&self) -> Box<dyn Rows>;
}

pub(super) struct TypedKind<T, F: Form<T>> {
    memory: Arc<F::Memory>,
    component: PhantomData<fn() -> T>,
}

impl<T, F: Form<T>> TypedKind<T, F> {
    pub(super) fn new() -> Self {
        Self { memory: Arc::default(), component: PhantomData }
    }
}

impl<T: Component<Mutability = Mutable> + Clone + PartialEq + Default, F: Form<T>> Kind for TypedKind<T, F> {
    fn is_on(&self, entity: EntityRef<'_>) -> bool {
        entity.contains::<T>()
    }

    fn write(&self, entity: EntityRef<'_>, writer: &mut BitWriter) -> Result<(), WriteError> {
        let component = entity.get::<T>();
        writer.write_flag(component.is_some());
        component.map_or(Ok(()), |component| F::write(component, writer))
    }

    fn rows(&self) -> Box<dyn Rows> {
        Box::new(TypedRows::<T, F> { rows: Vec::new(), memory: self.memory.clone() })
    }
}

struct TypedRows<T, F: Form<T>> {
    /// In the order of the entities.
    rows: Vec<(Entity, T)>,
    memory: Arc<F::Memory>,
}

impl<T: Component<Mutability = Mutable> + Clone + PartialEq + Default, F: Form<T>> Rows for TypedRows<T, F> {
    fn save(&mut self, world: &mut World) {
        let mut components = world.query_filtered::<(Entity, &T), With<Simulated>>();
        self.rows.clear();
        self.rows.extend(components.iter(world).map(|(entity, component)| (entity, component.clone())));
        self.rows.sort_unstable_by_key(|(entity, _)| *entity);
    }

    fn load(&self, world: &mut World, known: &[Entity]) {
        let mut here = world.query_filtered::<Entity, (With<Simulated>, With<T>)>();
        let others = here.iter(world).filter(|&entity| self.find(entity).is_err());
        let others: Vec<Entity> = others.filter(|entity| known.binary_search(entity).is_ok()).collect();
        for entity in others {
            world.entity_mut(entity).remove::<T>();
        }
        for (entity, component) in &self.rows {
            let Ok(mut entity) = world.get_entity_mut(*entity) else { continue };
            if !entity.contains::<Simulated>() {
                continue;
            }
            match entity.get_mut::<T>() {
                Some(mut before) => _ = before.set_if_neq(component.clone()),
                None => _ = entity.insert(component.clone()),
            }
        }
    }

    fn confirm(&mut self, entity: Entity, reader: &mut BitReader<'_>) -> Result<(), ReadError> {
        let at = self.find(entity);
        if !reader.read_flag()? {
            at.into_iter().for_each(|at| drop(self.rows.remove(at)));
            return Ok(());
        }
        match at {
            Ok(at) => F::read(&self.memory, reader, &mut self.rows[at].1),
            Err(at) => {
                let mut component = T::default();
                F::read(&self.memory, reader, &mut component)?;
                self.rows.insert(at, (entity, component));
                Ok(())
            }
        }
    }

    fn retain(&mut self, entities: &[Entity]) {
        self.rows.retain(|(entity, _)| entities.binary_search(entity).is_ok());
    }

    fn agrees(&self, others: &dyn Rows) -> bool {
        (others as &dyn Any).downcast_ref::<Self>().is_some_and(|others| self.rows == others.rows)
    }

    fn copy(&self) -> Box<dyn Rows> {
        Box::new(Self { rows: self.rows.clone(), memory: self.memory.clone() })
    }
}

impl<T, F: Form<T>> TypedRows<T, F> {
    /// Returns where the component of an entity is, or would be.
    fn find(&self, entity: Entity) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&entity, |(entity, _)| *entity)
    }
}
