//! The component types that clients predict. Each of them is called a kind here.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::Layout;
use repl::prelude::*;
use repl::tools::Objects;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::form::{Form, Properties, assign_if_neq};
use crate::simulate::Simulated;

/// A component type that clients predict.
pub(super) trait Kind: Send + Sync {
    /// Returns the layout in which the components are sent.
    fn layout(&self) -> &'static Layout;

    /// Returns whether an entity has a component of this kind.
    fn is_on(&self, entity: EntityRef<'_>) -> bool;

    /// Writes a bit that says whether the entity has a component of this kind, and then the component if it
    /// exists.
    fn write(&self, entity: EntityRef<'_>, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Returns empty [`Rows`] for this kind.
    fn rows(&self) -> Box<dyn Rows>;
}

/// All kinds, in ascending order of their names. The order is the same on both sides.
#[derive(Default)]
pub(super) struct Kinds(Vec<Arc<dyn Kind>>);

impl Kinds {
    pub(super) fn add(&mut self, kind: impl Kind + 'static) {
        let at = self.0.partition_point(|other| other.layout().name() < kind.layout().name());
        self.0.insert(at, Arc::new(kind));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn Kind> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns a checksum of all kinds. It is equal on both sides if the kinds are the same.
    pub(super) fn checksum(&self) -> u64 {
        let checksums = self.iter().map(|kind| kind.layout().checksum());
        checksums.fold(self.0.len() as u64, |sum, next| sum.wrapping_mul(0x0100_0000_01b3) ^ next)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The components of one kind on all predicted entities in one tick.
pub(super) trait Rows: Any + Send + Sync {
    /// Replaces these rows by the components in the world.
    fn save(&mut self, world: &mut World);

    /// Writes the components into the world. If an entity is in `known` and these rows do not have its
    /// component, removes the component from the entity.
    fn load(&self, world: &mut World, known: &[Entity]);

    /// Reads the component of an entity from the server's data. If `entity` is `None`, skips the component.
    /// References to objects that are not in `objects` become empty.
    fn confirm(
        &mut self,
        entity: Option<Entity>,
        reader: &mut BitReader<'_>,
        objects: &dyn Objects,
    ) -> Result<(), ReadError>;

    /// Removes the components of all entities that are not in `entities`, which is sorted.
    fn retain(&mut self, entities: &[Entity]);

    /// Returns whether the sent fields of these components equal those of the confirmed components.
    fn agrees(&self, confirmed: &dyn Rows) -> bool;

    fn copy(&self) -> Box<dyn Rows>;
}

pub(super) struct TypedKind<T: Component, F: Form<T>>(Arc<Access<T, F>>);

impl<T: Component, F: Form<T>> TypedKind<T, F> {
    pub(super) fn new(world: &mut World) -> Self {
        let simulated = Mutex::new(QueryState::new(world));
        Self(Arc::new(Access { properties: Properties::default(), simulated }))
    }
}

/// Finds the components of one kind in the world, and knows which of their properties are sent.
struct Access<T: Component, F: Form<T>> {
    properties: Properties<F::Wire>,
    /// The query is stored, because making a new query would cost more than all other work in a frame.
    simulated: Mutex<QueryState<(Entity, &'static T), With<Simulated>>>,
}

impl<T: Component, F: Form<T>> Access<T, F> {
    fn simulated(&self) -> MutexGuard<'_, QueryState<(Entity, &'static T), With<Simulated>>> {
        self.simulated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Component<Mutability = Mutable> + Clone + PartialEq + Default, F: Form<T>> Kind for TypedKind<T, F> {
    fn layout(&self) -> &'static Layout {
        F::Wire::LAYOUT
    }

    fn is_on(&self, entity: EntityRef<'_>) -> bool {
        entity.contains::<T>()
    }

    fn write(&self, entity: EntityRef<'_>, writer: &mut BitWriter) -> Result<(), WriteError> {
        let component = entity.get::<T>();
        writer.write_flag(component.is_some());
        component.map_or(Ok(()), |component| F::write(component, writer))
    }

    fn rows(&self) -> Box<dyn Rows> {
        Box::new(TypedRows { rows: Vec::new(), access: self.0.clone() })
    }
}

/// The components of the type `T` on all predicted entities in one tick.
pub(super) struct TypedRows<T: Component, F: Form<T>> {
    /// Sorted by entity.
    rows: Vec<(Entity, T)>,
    access: Arc<Access<T, F>>,
}

impl<T: Component<Mutability = Mutable> + Clone + PartialEq + Default, F: Form<T>> Rows for TypedRows<T, F> {
    fn save(&mut self, world: &mut World) {
        let Self { rows, access } = self;
        rows.clear();
        let mut simulated = access.simulated();
        rows.extend(simulated.iter(world).map(|(entity, component)| (entity, component.clone())));
        drop(simulated);
        self.rows.sort_unstable_by_key(|(entity, _)| *entity);
    }

    fn load(&self, world: &mut World, known: &[Entity]) {
        let mut simulated = self.access.simulated();
        let others = simulated.iter(world).map(|(entity, _)| entity);
        let others =
            others.filter(|entity| self.find(*entity).is_err() && known.binary_search(entity).is_ok());
        let others: Vec<Entity> = others.collect();
        drop(simulated);
        for entity in others {
            world.entity_mut(entity).remove::<T>();
        }
        for (entity, component) in &self.rows {
            let Ok(mut entity) = world.get_entity_mut(*entity) else { continue };
            if !entity.contains::<Simulated>() {
                continue;
            }
            match entity.get_mut::<T>() {
                Some(mut before) => assign_if_neq::<T, F>(self.properties(), component, &mut before),
                None => _ = entity.insert(component.clone()),
            }
        }
    }

    fn confirm(
        &mut self,
        entity: Option<Entity>,
        reader: &mut BitReader<'_>,
        objects: &dyn Objects,
    ) -> Result<(), ReadError> {
        let place = entity.map(|entity| (entity, self.find(entity)));
        if !reader.read_flag()? {
            if let Some((_, Ok(at))) = place {
                self.rows.remove(at);
            }
            return Ok(());
        }
        if let Some((_, Ok(at))) = place {
            return F::read(&self.access.properties, (reader, objects), &mut self.rows[at].1);
        }
        let mut component = T::default();
        F::read(&self.access.properties, (reader, objects), &mut component)?;
        if let Some((entity, Err(at))) = place {
            self.rows.insert(at, (entity, component));
        }
        Ok(())
    }

    fn retain(&mut self, entities: &[Entity]) {
        self.rows.retain(|(entity, _)| entities.binary_search(entity).is_ok());
    }

    fn agrees(&self, confirmed: &dyn Rows) -> bool {
        let Some(confirmed) = (confirmed as &dyn Any).downcast_ref::<Self>() else { return false };
        self.rows.len() == confirmed.rows.len()
            && self.rows.iter().zip(&confirmed.rows).all(|((mine, component), (entity, other))| {
                mine == entity && (component == other || F::agrees(self.properties(), component, other))
            })
    }

    fn copy(&self) -> Box<dyn Rows> {
        Box::new(Self { rows: self.rows.clone(), access: self.access.clone() })
    }
}

impl<T: Component, F: Form<T>> TypedRows<T, F> {
    /// Returns the properties of the components that are sent.
    pub(super) fn properties(&self) -> &Properties<F::Wire> {
        &self.access.properties
    }

    pub(super) fn get(&self, entity: Entity) -> Option<&T> {
        self.rows.get(self.find(entity).ok()?).map(|(_, component)| component)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Entity, T)> {
        self.rows.iter()
    }

    /// Returns the index of an entity's component. If there is none, returns the index at which to insert it
    /// as an error.
    fn find(&self, entity: Entity) -> Result<usize, usize> {
        self.rows.binary_search_by_key(&entity, |(entity, _)| *entity)
    }
}
