//! An entity that arrives gets all its components at once, so that no system and no observer sees half of
//! one.
#![expect(unsafe_code, reason = "a bundle whose types are known only when it arrives")]

use bevy_ecs::bundle::{BundleScratch, BundleWriter};
use bevy_ecs::component::ComponentsRegistrator;
use bevy_ecs::prelude::*;

/// The components of an entity that arrives.
pub(super) struct Arrival<'s, 'w> {
    writer: BundleWriter<'s>,
    /// Of the world in which the entity is.
    components: ComponentsRegistrator<'w>,
}

impl Arrival<'_, '_> {
    pub(super) fn add(&mut self, component: impl Component) {
        // SAFETY: an arrival is made only by `insert`, which takes all from one world, and writes to it.
        unsafe { self.writer.push_component(&mut self.components, component) };
    }
}

/// Inserts the components that `gather` adds into an entity, all at once.
pub(super) fn insert(
    world: &mut World,
    scratch: &mut BundleScratch,
    entity: Entity,
    gather: impl FnOnce(&mut Arrival<'_, '_>),
) {
    let mut arrival = Arrival { writer: scratch.writer(), components: world.components_registrator() };
    gather(&mut arrival);
    let writer = arrival.writer;
    if let Ok(mut entity) = world.get_entity_mut(entity) {
        // SAFETY: the components were registered in the world of the entity, which was borrowed meanwhile.
        unsafe { writer.write(&mut entity) };
    }
}
