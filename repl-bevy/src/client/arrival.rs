//! Inserts all components of an entity that arrives at once, so that no system and no observer sees a part of
//! them.
#![expect(unsafe_code, reason = "a bundle whose types are known only when it arrives")]

use bevy_ecs::bundle::{BundleScratch, BundleWriter};
use bevy_ecs::component::ComponentsRegistrator;
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;

/// A component that comes with its entity.
pub(super) type NewComponent = Box<dyn FnOnce(&mut Arrival<'_, '_>) + Send>;

/// The components of an entity that arrives.
pub(super) struct Arrival<'s, 'w> {
    writer: BundleWriter<'s>,
    /// The component types of the entity's world.
    components: ComponentsRegistrator<'w>,
}

impl Arrival<'_, '_> {
    pub(super) fn add(&mut self, component: impl Component) {
        // SAFETY: only `insert` makes an `Arrival`. It takes the writer and the components from one world,
        // and writes to the same world.
        unsafe { self.writer.push_component(&mut self.components, component) };
    }
}

/// Inserts components into an entity when the queue is applied, all at once.
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
