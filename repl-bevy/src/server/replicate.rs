//! The component that marks the replicated entities of a server.

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

use super::setting_kinds::SettingKinds;
use super::state::ReplServer;
use crate::net_entity::NetEntity;

/// Replicates an entity of the server. Clients that may see the entity receive it, with its components of the
/// types that were registered by [`replicate`](crate::ReplAppExt::replicate). Clients despawn the entity when
/// the server despawns it, or when this component is removed.
///
/// In an app without a server this component does nothing.
#[derive(Component, Clone, Copy, Debug, Default)]
#[component(on_add = on_add, on_remove = on_remove)]
#[require(NetEntity)]
pub struct Replicate;

fn on_add(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    let Some(mut server) = world.get_resource_mut::<ReplServer>() else { return };
    let root = server.add_root(entity);
    if let Some(mut name) = world.get_mut::<NetEntity>(entity) {
        *name = root;
    }
    let has_settings =
        world.get_resource::<SettingKinds>().is_some_and(|kinds| kinds.are_set(world.entity(entity)));
    let children = world.get::<Children>(entity).map(|children| children.to_vec()).unwrap_or_default();
    if let Some(mut server) = world.get_resource_mut::<ReplServer>() {
        // The settings of children depend on a replicated parent, so they must be applied again.
        children.into_iter().chain(has_settings.then_some(entity)).for_each(|entity| server.unsettle(entity));
    }
}

fn on_remove(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(mut name) = world.get_mut::<NetEntity>(context.entity) else { return };
    let root = std::mem::take(&mut *name);
    let children =
        world.get::<Children>(context.entity).map(|children| children.to_vec()).unwrap_or_default();
    if let Some(mut server) = world.get_resource_mut::<ReplServer>() {
        server.remove_root(root);
        children.into_iter().for_each(|child| server.unsettle(child));
    }
}
