//! The entities of the server on this client, and how updates of their objects change them.

use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use repl::prelude::*;
use std::collections::HashMap;

use super::arrival::{self, NewComponent};
use super::column::Column;
use super::newcomers::Newcomers;
use super::news::{self, News};
use super::out_of_sight::KeptOutOfSight;
use super::remote::Remote;
use super::scene::Scene;
use super::waiting::{self, MadeHere};
use crate::net_entity::{NetEntity, Root};
use crate::net_key::NetKey;
use crate::net_parent::NetParent;
use crate::owned::Owned;
use crate::simulate::Simulated;
use crate::torn_off::TornOff;

/// The columns, by the names of their classes.
type Columns = HashMap<&'static str, Box<dyn Column>>;

/// The entities that this client has received from the server. The root of an entity is the object that
/// stands for the entity itself.
#[derive(Resource, Default)]
pub(crate) struct Entities {
    by_root: HashMap<ObjectRef<()>, Entity>,
    columns: Columns,
    newcomers: Newcomers,
}

impl Entities {
    pub(super) fn add_column(&mut self, class: &'static str, column: Box<dyn Column>) {
        self.columns.insert(class, column);
    }

    pub(crate) fn predict(&mut self, class: &str) {
        self.column(class).predict();
    }

    pub(crate) fn interpolate(&mut self, class: &str) {
        self.column(class).interpolate();
    }

    fn column(&mut self, class: &str) -> &mut dyn Column {
        let column = self.columns.get_mut(class);
        column.unwrap_or_else(|| panic!("call `replicate` for `{class}` first")).as_mut()
    }

    pub(crate) fn entity_of(&self, root: ObjectRef<()>) -> Option<Entity> {
        self.by_root.get(&root).copied()
    }

    /// Applies all updates of the client to the world. Spawns, insertions and removals happen when the queue
    /// is applied.
    pub(super) fn follow(
        &mut self,
        client: &mut Client,
        is_new_session: bool,
        world: &mut World,
        queue: &mut CommandQueue,
    ) {
        let news = news::take(client);
        let torn_off = news.iter().filter(|news| news.update.what == UpdateKind::TornOff);
        let torn_off: Vec<_> = torn_off.map(|news| news.update.object).collect();
        let mut scene = Scene { client, is_new_session, world, queue };
        for News { root, class, update } in news {
            if self.newcomers.are_all_before(root, &update) {
                self.arrive(&mut scene);
            }
            if let Some(update) = self.newcomers.add(root, update) {
                self.apply(&mut scene, root, class, &update);
            }
        }
        self.arrive(&mut scene);
        // The components have the last state of the objects that were torn off, so the client's copies of
        // these objects can be removed.
        torn_off.into_iter().for_each(|object| _ = client.object(object).remove_torn_off());
    }

    /// Spawns the entities that have arrived, each with all its components.
    fn arrive(&mut self, scene: &mut Scene<'_>) {
        let Self { by_root, columns, newcomers } = self;
        let families = newcomers.take();
        // First choose all entities: a child needs the entity of its parent, which may arrive at the same
        // time.
        for family in &families {
            let Some(root) = family.first().map(|first| first.object) else { continue };
            let key = family.iter().find_map(|update| scene.client.get(update.cast::<NetKey>()?));
            let entity = key.and_then(|key| waiting::take(scene.world, *key));
            by_root.insert(root, entity.unwrap_or_else(|| scene.world.spawn_empty().id()));
        }
        for family in &families {
            let Some(root) = family.first().and_then(|first| first.cast::<Root>()) else { continue };
            let Some(&entity) = by_root.get(&root.erase()) else { continue };
            let mut components = vec![marks(root, scene.client)];
            for update in family.iter().filter(|update| update.what == UpdateKind::Spawned) {
                let class = scene.client.object_info(update.object).class_name();
                if let Some(column) = class.and_then(|class| columns.get(class)) {
                    components.push(column.arrive(scene.client, update));
                    components.extend(parent_of_arrival(scene.client, update, by_root));
                }
            }
            arrival::insert_later(scene.queue, entity, components);
        }
    }

    fn apply(
        &mut self,
        scene: &mut Scene<'_>,
        root: ObjectRef<()>,
        class: Option<&'static str>,
        update: &Update,
    ) {
        let Some(&entity) = self.by_root.get(&root) else { return };
        if update.object == root {
            self.apply_to_root(scene, entity, update);
        } else if let Some(column) = class.and_then(|class| self.columns.get(class))
            && let Ok(mut entity) = scene.world.get_entity_mut(entity)
        {
            column.follow(scene.client, update, entity.as_mutable(), scene.queue);
        }
    }

    fn apply_to_root(&mut self, scene: &mut Scene<'_>, entity: Entity, update: &Update) {
        match update.what {
            UpdateKind::Owner if scene.client.object_info(update.object).is_owner() => {
                scene.later(entity, |mut entity| _ = entity.insert(Owned));
            }
            UpdateKind::Owner => self.disown(scene, entity),
            UpdateKind::OutOfSight => {
                self.disown(scene, entity);
                scene.later(entity, |mut entity| _ = entity.insert(KeptOutOfSight));
            }
            UpdateKind::BackInSight => {
                let Ok(mut here) = scene.world.get_entity_mut(entity) else { return };
                for column in self.columns.values() {
                    column.remove_stale(scene.client, here.as_mutable(), scene.queue);
                }
                scene.later(entity, |mut entity| _ = entity.remove::<KeptOutOfSight>());
            }
            UpdateKind::TornOff => {
                self.leave(scene, update.object, entity);
                scene.later(entity, |mut entity| _ = entity.insert(TornOff));
            }
            UpdateKind::Despawned(reason) => {
                let is_made_here = scene.world.get::<MadeHere>(entity).is_some();
                if is_made_here && (reason == CloseReason::Relevancy || scene.is_new_session) {
                    self.leave(scene, update.object, entity);
                    scene.queue.push(move |world: &mut World| waiting::wait_again(world, entity));
                    return;
                }
                self.by_root.remove(&update.object);
                scene.end(entity);
            }
            _ => {}
        }
    }
}

impl Entities {
    /// Ends the prediction of an entity, because this client does not own it any more.
    fn disown(&self, scene: &mut Scene<'_>, entity: Entity) {
        let Ok(mut here) = scene.world.get_entity_mut(entity) else { return };
        for column in self.columns.values() {
            column.restore(scene.client, here.as_mutable(), scene.queue);
        }
        scene.later(entity, |mut entity| _ = entity.remove::<(Owned, Simulated)>());
    }

    /// Stops following the server for an entity, which remains as an entity of this client.
    fn leave(&mut self, scene: &mut Scene<'_>, root: ObjectRef<()>, entity: Entity) {
        self.by_root.remove(&root);
        if let Ok(mut here) = scene.world.get_entity_mut(entity) {
            self.columns
                .values()
                .for_each(|column| column.leave(scene.client, here.as_mutable(), scene.queue));
        }
        scene.later(entity, |mut entity| {
            entity.remove::<(Remote, NetEntity, Owned, Simulated, KeptOutOfSight)>();
        });
    }
}

/// Returns the marker components that each entity from the server has on a client.
fn marks(root: ObjectRef<Root>, client: &Client) -> NewComponent {
    let is_owner = client.object_info(root).is_owner();
    Box::new(move |arrival| {
        arrival.add(Remote);
        arrival.add(NetEntity::new(root));
        is_owner.then_some(Owned).into_iter().for_each(|owned| arrival.add(owned));
    })
}

/// Returns the parent of an entity that has arrived, if the update contains the parent and this client has
/// it.
fn parent_of_arrival(
    client: &Client,
    update: &Update,
    entities: &HashMap<ObjectRef<()>, Entity>,
) -> Option<NewComponent> {
    let NetParent { parent } = client.get(update.cast::<NetParent>()?)?;
    let parent = *entities.get(&parent.root().erase())?;
    Some(Box::new(move |arrival| arrival.add(ChildOf(parent))))
}
