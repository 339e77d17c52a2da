//! Inserts all components of an entity that has arrived from the server at once, so that no system and no
//! observer sees only a part of them.
#![expect(unsafe_code, reason = "a bundle whose types are known only when it arrives")]

use bevy_ecs::bundle::{BundleScratch, BundleWriter};
use bevy_ecs::component::ComponentsRegistrator;
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;

/// A function that adds a component to an [`Arrival`].
pub(super) type NewComponent = Box<dyn FnOnce(&mut Arrival<'_, '_>) + Send>;

/// The components that will be inserted into an entity that has arrived.
pub(super) struct Arrival<'s, 'w> {
    writer: BundleWriter<'s>,
    /// The component types of the entity's world.
    components: ComponentsRegistrator<'w>,
}

impl Arrival<'_, '_> {
    pub(super) fn add(&mut self, component: impl Component) {
        // SAFETY: only `insert` makes an `Arrival`. It gets the writer and the components from the same
        // world, and writes to this world.
        unsafe { self.writer.push_component(&mut self.components, component) };
    }
}

/// Inserts components into an entity, all at once, when the queue is applied.
pub(super) fn insert_later(queue: &mut CommandQueue, entity: Entity, components: Vec<NewComponent>) {
    queue.push(move |world: &mut World| insert(world, entity, components));
}

fn insert(world: &mut World, entity: Entity, components: Vec<NewComponent>) {
    if world.get_entity(entity).is_err() {
        return;
    }
    let mut scratch = BundleScratch::default();
    let mut arrival = Arrival { writer: scratch.writer(), components: world.components_registrator() };
    components.into_iter().for_each(|add| add(&mut arrival));
    let writer = arrival.writer;
    if let Ok(mut entity) = world.get_entity_mut(entity) {
        // SAFETY: the components were registered in the world of the entity. This world has been borrowed
        // since then.
        unsafe { writer.write(&mut entity) };
    }
}
