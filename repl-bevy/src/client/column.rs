//! The components of one type on a client: what has arrived comes into the world.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;

use super::arrival::Arrival;
use crate::form::Form;
use crate::part::Part;

/// What a client does with updates of the components of one type.
pub(super) trait Column: Send + Sync {
    /// Adds the component of an entity that arrives.
    fn arrive(&self, client: &Client, update: &Update, arrival: &mut Arrival<'_, '_>);

    /// Changes, inserts or removes the component of an entity.
    fn follow(&self, client: &Client, update: &Update, entity: &mut EntityWorldMut<'_>);
}

pub(super) struct TypedColumn<T, F>(PhantomData<fn() -> (T, F)>);

impl<T, F> Default for TypedColumn<T, F> {
    fn default() -> Self {
        Self(PhantomData)
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
    }

    fn follow(&self, client: &Client, update: &Update, entity: &mut EntityWorldMut<'_>) {
        if update.what == UpdateKind::Spawned {
            entity.insert((Part::<T>::new(update.object), new_component::<T, F>(client, update)));
            return;
        }
        // If the component was removed and inserted again, its object is another one.
        if entity.get::<Part<T>>().is_none_or(|part| part.object != update.object) {
            return;
        }
        if let UpdateKind::Despawned(_) = update.what {
            entity.remove::<(Part<T>, T)>();
        } else if let Some(mut component) = entity.get_mut::<T>()
            && F::differs(client, update, &component)
        {
            F::follow(client, update, &mut component);
        }
    }
}
