//! The components of one type on a client: writes values that have arrived from the server into the world.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_ecs::world::{CommandQueue, EntityMut};
use repl::prelude::*;
use std::marker::PhantomData;

use super::arrival::{self, NewComponent};
use crate::arrived::Arrived;
use crate::form::{Form, Properties};
use crate::part::Part;
use crate::simulate::Simulated;

/// Applies updates to the components of one type. Insertions and removals are put into a queue, because they
/// run observers, and observers may use the client.
pub(super) trait Column: Send + Sync {
    /// Returns the new component of an entity that has arrived.
    fn arrive(&self, client: &Client, update: &Update) -> NewComponent;

    /// Changes, inserts or removes the component of an entity.
    fn follow(&self, client: &Client, update: &Update, entity: EntityMut<'_>, queue: &mut CommandQueue);

    /// Removes the component of an entity that is back in sight, if the component did not come back: the
    /// server has removed it in the meantime.
    fn remove_stale(&self, client: &Client, entity: EntityMut<'_>, queue: &mut CommandQueue);

    fn interpolate(&mut self);

    /// From now on, this client predicts the components of entities that have [`Simulated`].
    fn predict(&mut self);

    /// Ends the replication of the component of an entity. The component remains, with the last values of the
    /// server.
    fn leave(&self, client: &Client, entity: EntityMut<'_>, queue: &mut CommandQueue);

    /// Resets the component of an entity to the values of the server, after the client has stopped predicting
    /// the entity.
    fn restore(&self, client: &Client, entity: EntityMut<'_>, queue: &mut CommandQueue);
}

pub(super) struct TypedColumn<T, F: Form<T>> {
    is_interpolated: bool,
    is_predicted: bool,
    properties: Properties<F::Wire>,
    component: PhantomData<fn() -> T>,
}

impl<T, F: Form<T>> Default for TypedColumn<T, F> {
    fn default() -> Self {
        Self {
            is_interpolated: false,
            is_predicted: false,
            properties: Properties::default(),
            component: PhantomData,
        }
    }
}

/// Returns a component with the values of an object that has arrived.
fn new_component<T: Default, F: Form<T>>(client: &Client, update: &Update) -> T {
    let mut component = T::default();
    F::follow(client, update, &mut component);
    component
}

impl<T: Component<Mutability = Mutable> + Default, F: Form<T>> Column for TypedColumn<T, F> {
    fn arrive(&self, client: &Client, update: &Update) -> NewComponent {
        let (part, component) = (Part::<T>::new(update.object), new_component::<T, F>(client, update));
        let arrived = self.is_interpolated.then(|| Arrived::<T>::at(update.tick));
        Box::new(|arrival| {
            arrival.add(part);
            arrival.add(component);
            arrived.into_iter().for_each(|arrived| arrival.add(arrived));
        })
    }

    fn follow(&self, client: &Client, update: &Update, mut entity: EntityMut<'_>, queue: &mut CommandQueue) {
        if update.what == UpdateKind::OutOfSight {
            return;
        }
        let is_back = update.what == UpdateKind::BackInSight;
        if update.what == UpdateKind::Spawned || is_back && !entity.contains::<Part<T>>() {
            let component = self.arrive(client, update);
            arrival::insert_later(queue, entity.id(), vec![component]);
            return;
        }
        if let UpdateKind::Despawned(_) = update.what {
            let (entity, object) = (entity.id(), update.object);
            queue.push(move |world: &mut World| remove::<T>(world, entity, object));
            return;
        }
        // Ignore the update if the component is not the update's object any more: it was removed and inserted
        // again, or its insertion is still in the queue. In the queue it has the newest values already.
        if entity.get::<Part<T>>().is_none_or(|part| part.object != update.object) {
            return;
        }
        let is_simulated = entity.contains::<Simulated>();
        if self.is_predicted && is_simulated {
            // The prediction compares the new value with the predicted value, so do not write it here.
        } else if let Some(mut arrived) = entity.get_mut::<Arrived<T>>().filter(|_| !is_simulated) {
            arrived.update(update.tick, is_back);
        } else if let Some(mut component) = entity.get_mut::<T>()
            && F::differs(client, update, &component)
        {
            F::follow(client, update, &mut component);
        }
    }

    fn remove_stale(&self, client: &Client, entity: EntityMut<'_>, queue: &mut CommandQueue) {
        let object = entity.get::<Part<T>>().map(|part| part.object);
        if let Some(object) = object.filter(|&object| client.object_info(object).is_out_of_sight()) {
            let entity = entity.id();
            queue.push(move |world: &mut World| remove::<T>(world, entity, object));
        }
    }

    fn interpolate(&mut self) {
        self.is_interpolated = true;
    }

    fn predict(&mut self) {
        self.is_predicted = true;
    }

    fn leave(&self, client: &Client, mut entity: EntityMut<'_>, queue: &mut CommandQueue) {
        let Some(object) = entity.get::<Part<T>>().map(Part::object_of::<F::Wire>) else { return };
        if let Some((wire, mut component)) = client.get(object).zip(entity.get_mut::<T>()) {
            F::copy(&self.properties, wire, &mut component);
        }
        let entity = entity.id();
        queue.push(move |world: &mut World| {
            if let Ok(mut entity) = world.get_entity_mut(entity) {
                entity.remove::<(Part<T>, Arrived<T>)>();
            }
        });
    }

    fn restore(&self, client: &Client, mut entity: EntityMut<'_>, queue: &mut CommandQueue) {
        if !self.is_predicted {
            return;
        }
        let Some(object) = entity.get::<Part<T>>().map(Part::object_of::<F::Wire>) else {
            // The server has no such component: the prediction had inserted it.
            let entity = entity.id();
            queue.push(move |world: &mut World| remove::<T>(world, entity, ObjectRef::NULL));
            return;
        };
        let Some(wire) = client.get(object) else { return };
        if let Some(mut component) = entity.get_mut::<T>() {
            F::copy(&self.properties, wire, &mut component);
            return;
        }
        let (mut component, entity) = (T::default(), entity.id());
        F::copy(&self.properties, wire, &mut component);
        queue.push(move |world: &mut World| {
            if let Ok(mut entity) = world.get_entity_mut(entity) {
                entity.insert(component);
            }
        });
    }
}

/// Removes a component if it still belongs to `object`. If `object` is null, removes a component that belongs
/// to no object.
fn remove<T: Component>(world: &mut World, entity: Entity, object: ObjectRef<()>) {
    if let Ok(mut entity) = world.get_entity_mut(entity)
        && entity.get::<Part<T>>().map_or(ObjectRef::NULL, |part| part.object) == object
    {
        entity.remove::<(Part<T>, Arrived<T>, T)>();
    }
}
