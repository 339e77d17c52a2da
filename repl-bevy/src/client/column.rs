//! The components of one type on a client: what has arrived comes into the world.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;

use super::arrival::Arrival;
use crate::arrived::Arrived;
use crate::form::Form;
use crate::part::Part;
use crate::simulate::Simulated;

/// What a client does with updates of the components of one type.
pub(super) trait Column: Send + Sync {
    /// Adds the component of an entity that arrives.
    fn arrive(&self, client: &Client, update: &Update, arrival: &mut Arrival<'_, '_>);

    /// Changes, inserts or removes the component of an entity.
    fn follow(&self, client: &Client, update: &Update, entity: &mut EntityWorldMut<'_>);

    /// From now on, this client shows the components between the values of the server.
    fn interpolate(&mut self);

    /// From now on, this client predicts the components of entities that are simulated.
    fn predict(&mut self);

    /// Gives the component of an entity that is not predicted any more the values of the server.
    fn restore(&self, client: &Client, entity: &mut EntityWorldMut<'_>);
}

pub(super) struct TypedColumn<T, F: Form<T>> {
    is_interpolated: bool,
    is_predicted: bool,
    memory: F::Memory,
    component: PhantomData<fn() -> T>,
}

impl<T, F: Form<T>> Default for TypedColumn<T, F> {
    fn default() -> Self {
        Self {
            is_interpolated: false,
            is_predicted: false,
            memory: F::Memory::default(),
            component: PhantomData,
        }
    }
}

/// Returns the component of an update.
fn new_component<T: Default, F: Form<T>>(client: &Client, update: &Update) -> T {
    let mut component = T::default();
    F::follow(client, update, &mut component);
    component
}

impl<T: Component<Mutability = Mutable> + Default, F: Form<T>> Column for TypedColumn<T, F> {
    fn arrive(&self, client: &Client, update: &Update, arrival: &mut Arrival<'_, '_>) {
        arrival.add(Part::<T>::new(update.object));
        arrival.add(new_component::<T, F>(client, update));
        if self.is_interpolated {
            arrival.add(Arrived::<T>::at(update.tick));
        }
    }

    fn follow(&self, client: &Client, update: &Update, entity: &mut EntityWorldMut<'_>) {
        if update.what == UpdateKind::Spawned {
            entity.insert((Part::<T>::new(update.object), new_component::<T, F>(client, update)));
            if self.is_interpolated {
                entity.insert(Arrived::<T>::at(update.tick));
            }
            return;
        }
        // If the component was removed and inserted again, its object is another one.
        if entity.get::<Part<T>>().is_none_or(|part| part.object != update.object) {
            return;
        }
        if let UpdateKind::Despawned(_) = update.what {
            entity.remove::<(Part<T>, Arrived<T>, T)>();
        } else if self.is_predicted && entity.contains::<Simulated>() {
            // The prediction compares it with what it has predicted.
        } else if let Some(mut arrived) = entity.get_mut::<Arrived<T>>() {
            *arrived = Arrived::at(update.tick);
        } else if let Some(mut component) = entity.get_mut::<T>()
            && F::differs(client, update, &component)
        {
            F::follow(client, update, &mut component);
        }
    }

    fn interpolate(&mut self) {
        self.is_interpolated = true;
    }

    fn predict(&mut self) {
        self.is_predicted = true;
    }

    fn restore(&self, client: &Client, entity: &mut EntityWorldMut<'_>) {
        let object = entity.get::<Part<T>>().map(Part::object_of::<F::Wire>).filter(|_| self.is_predicted);
        let Some(wire) = object.and_then(|object| client.get(object)) else { return };
        match entity.get_mut::<T>() {
            Some(mut component) => F::copy(&self.memory, wire, &mut component),
            None => {
                let mut component = T::default();
                F::copy(&self.memory, wire, &mut component);
                entity.insert(component);
            }
        }
    }
}
