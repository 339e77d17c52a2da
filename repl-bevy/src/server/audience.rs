//! Sends the components of a type to only some of the clients that see the entity.

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use repl::prelude::*;

use crate::part::Part;

/// Tells the server which clients receive the components of one type.
pub(super) trait Audiences: Send + Sync {
    fn hand_over(&mut self, server: &mut Server, world: &mut World);
}

type Row<T, B> = (&'static Part<T>, Option<&'static B>);
/// Matches entities whose object is new, and entities whose component `B`, which decides the audience, has
/// changed or was removed.
type IsChanged<T, B> = (Or<(Changed<Part<T>>, Changed<B>)>, Allow<Disabled>);

pub(super) struct TypedAudiences<T: 'static, B: Component, F> {
    changed: QueryState<Row<T, B>, IsChanged<T, B>>,
    audience: F,
}

impl<T, B: Component, F: Fn(&B) -> Relevancy> TypedAudiences<T, B, F> {
    pub(super) fn new(world: &mut World, audience: F) -> Self {
        world.add_observer(|removed: On<Remove<B>>, mut parts: Query<&mut Part<T>>| {
            if let Ok(mut part) = parts.get_mut(removed.entity) {
                part.set_changed();
            }
        });
        Self { changed: QueryState::new(world), audience }
    }
}

impl<T, B: Component, F: Fn(&B) -> Relevancy + Send + Sync> Audiences for TypedAudiences<T, B, F> {
    fn hand_over(&mut self, server: &mut Server, world: &mut World) {
        for (part, by) in self.changed.iter(world) {
            if server.contains(part.object) {
                server.object(part.object).set_audience(by.map_or(Relevancy::OwnerOnly, &self.audience));
            }
        }
    }
}
