//! Which entity of this client is which of the server, and how updates change them.

use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use repl::prelude::*;
use std::collections::{HashMap, HashSet};

use super::arrival::{self, NewComponent};
use super::column::Column;
use super::remote::Remote;
use super::waiting::{self, MadeHere};
use crate::net_entity::{NetEntity, Root};
use crate::net_key::NetKey;
use crate::net_parent::NetParent;
use crate::owned::Owned;
use crate::simulate::Simulated;
use crate::torn_off::TornOff;

/// The columns, by the names of their classes.
type Columns = HashMap<&'static str, Box<dyn Column>>;

/// The entities of the server on this client.
#[derive(Resource, Default)]
pub(crate) struct Entities {
    by_root: HashMap<ObjectRef<()>, Entity>,
    columns: Columns,
    arriving: Arriving,
}

/// The entities that arrive in one tick of the server. Their components come between those of others.
#[derive(Default)]
struct Arriving {
    /// The number of each root.
    roots: HashMap<ObjectRef<()>, usize>,
    /// The updates of roots and components, each with the number of its root.
    updates: Vec<(usize, Update)>,
    tick: u64,
}

/// An update, as it was when it was polled.
struct News {
    root: ObjectRef<()>,
    class: Option<&'static str>,
    update: Update,
}

/// Where updates are applied.
struct Scene<'a> {
    client: &'a Client,
    /// Whether another session has begun. Then the objects of the old one end here, but not on the server.
    is_new_session: bool,
    world: &'a mut World,
    queue: &'a mut CommandQueue,
}

impl Entities {
    pub(super) fn add_column(&mut self, class: &'static str, column: Box<dyn Column>) {
        self.columns.insert(class, column);
    }

    /// From now on, this client predicts the components of a class.
    pub(crate) fn predict(&mut self, class: &str) {
        self.column(class).predict();
    }

    /// From now on, this client shows the components of a class between the values of the server.
    pub(crate) fn interpolate(&mut self, class: &str) {
        self.column(class).interpolate();
    }

    fn column(&mut self, class: &str) -> &mut dyn Column {
        let column = self.columns.get_mut(class);
        column.unwrap_or_else(|| panic!("call `replicate` for `{class}` first")).as_mut()
    }

    /// Returns the entity of a root.
    pub(crate) fn entity_of(&self, root: ObjectRef<()>) -> Option<Entity> {
        self.by_root.get(&root).copied()
    }

    /// Brings all updates of the client into the world. What is spawned, inserted or removed is so when the
    /// queue is applied.
    pub(super) fn follow(
        &mut self,
        client: &mut Client,
        is_new_session: bool,
        world: &mut World,
        queue: &mut CommandQueue,
    ) {
        let news = without_ends_in_between(polled(client));
        let torn_off = news.iter().filter(|news| news.update.what == UpdateKind::TornOff);
        let torn_off: Vec<_> = torn_off.map(|news| news.update.object).collect();
        let mut scene = Scene { client, is_new_session, world, queue };
        for News { root, class, update } in news {
            if update.tick != self.arriving.tick || self.arriving.has_told_all_of(root, &update) {
                self.arrive(&mut scene);
            }
            self.arriving.tick = update.tick;
            if let Some(update) = self.arriving.add(root, update) {
                self.apply(&mut scene, root, class, &update);
            }
        }
        self.arrive(&mut scene);
        // Their components have the last state.
        torn_off.into_iter().for_each(|object| _ = client.object(object).remove_torn_off());
    }

    /// Spawns the entities that arrive, each with all that it has.
    fn arrive(&mut self, scene: &mut Scene<'_>) {
        let Self { by_root, columns, arriving } = self;
        arriving.roots.clear();
        let mut updates = std::mem::take(&mut arriving.updates);
        updates.sort_by_key(|(number, _)| *number);
        // A child needs the entity of its parent, which may arrive at the same time.
        for family in updates.chunk_by(|(one, _), (next, _)| one == next) {
            let Some(root) = family.first().map(|(_, first)| first.object) else { continue };
            let key = family.iter().find_map(|(_, update)| scene.client.get(update.cast::<NetKey>()?));
            let entity = key.and_then(|key| waiting::take(scene.world, *key));
            by_root.insert(root, entity.unwrap_or_else(|| scene.world.spawn_empty().id()));
        }
        for family in updates.chunk_by(|(one, _), (next, _)| one == next) {
            let Some(root) = family.first().and_then(|(_, first)| first.cast::<Root>()) else { continue };
            let Some(&entity) = by_root.get(&root.erase()) else { continue };
            let mut components = vec![marks(root, scene.client)];
            for (_, update) in family.iter().filter(|(_, update)| update.what == UpdateKind::Spawned) {
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
            UpdateKind::Owner => {
                let Ok(mut here) = scene.world.get_entity_mut(entity) else { return };
                for column in self.columns.values() {
                    column.restore(scene.client, here.as_mutable(), scene.queue);
                }
                scene.later(entity, |mut entity| _ = entity.remove::<(Owned, Simulated)>());
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
                scene.queue.push(move |world: &mut World| despawn(world, entity));
            }
            _ => {}
        }
    }
}

impl Entities {
    /// Leaves an entity to the client.
    fn leave(&mut self, scene: &mut Scene<'_>, root: ObjectRef<()>, entity: Entity) {
        self.by_root.remove(&root);
        if let Ok(mut here) = scene.world.get_entity_mut(entity) {
            self.columns
                .values()
                .for_each(|column| column.leave(scene.client, here.as_mutable(), scene.queue));
        }
        scene.later(entity, |mut entity| _ = entity.remove::<(Remote, NetEntity, Owned, Simulated)>());
    }
}

impl Scene<'_> {
    /// Changes which components an entity has, if it still exists then.
    fn later(&mut self, entity: Entity, change: impl FnOnce(EntityWorldMut<'_>) + Send + 'static) {
        self.queue.push(move |world: &mut World| {
            if let Ok(entity) = world.get_entity_mut(entity) {
                change(entity);
            }
        });
    }
}

/// Returns what each entity of the server has.
fn marks(root: ObjectRef<Root>, client: &Client) -> NewComponent {
    let is_owner = client.object_info(root).is_owner();
    Box::new(move |arrival| {
        arrival.add(Remote);
        arrival.add(NetEntity::new(root));
        is_owner.then_some(Owned).into_iter().for_each(|owned| arrival.add(owned));
    })
}

/// Returns the parent that comes with an entity, if the update is of its parent, and this client has it.
fn parent_of_arrival(
    client: &Client,
    update: &Update,
    entities: &HashMap<ObjectRef<()>, Entity>,
) -> Option<NewComponent> {
    let NetParent { parent } = client.get(update.cast::<NetParent>()?)?;
    let parent = *entities.get(&parent.root().erase())?;
    Some(Box::new(move |arrival| arrival.add(ChildOf(parent))))
}

/// Despawns an entity. Children that this client has made end with their parent. Those of the server end when
/// it says so.
fn despawn(world: &mut World, entity: Entity) {
    let children = world.get::<Children>(entity).map(|children| children.to_vec());
    for child in children.unwrap_or_default() {
        let Ok(mut child) = world.get_entity_mut(child) else { continue };
        if child.contains::<Remote>() {
            child.remove::<ChildOf>();
        }
    }
    world.try_despawn(entity).ok();
}

impl Arriving {
    /// Returns whether an update is of an entity that arrives, and no longer part of its arrival.
    fn has_told_all_of(&self, root: ObjectRef<()>, update: &Update) -> bool {
        !is_arrival(update) && self.roots.contains_key(&root)
    }

    /// Adds an update, if it is part of an arrival. Returns it otherwise.
    fn add(&mut self, root: ObjectRef<()>, update: Update) -> Option<Update> {
        let numbers = self.roots.len();
        let number = if update.object == root && update.what == UpdateKind::Spawned {
            *self.roots.entry(root).or_insert(numbers)
        } else if let Some(&number) = self.roots.get(&root).filter(|_| is_arrival(&update)) {
            number
        } else {
            return Some(update);
        };
        self.updates.push((number, update));
        None
    }
}

fn is_arrival(update: &Update) -> bool {
    matches!(update.what, UpdateKind::Spawned | UpdateKind::Owner)
}

/// Returns all updates that wait. What has departed has a parent and a class only until the next poll.
fn polled(client: &mut Client) -> Vec<News> {
    let mut news = Vec::new();
    while let Some(update) = client.poll_update() {
        let info = client.object_info(update.object);
        let root = info.parent().unwrap_or(update.object);
        news.push(News { root, class: info.class_name(), update });
    }
    news
}

/// Drops the removals of components whose entity ends later in the same list. So an entity that ends still
/// has its components when it is despawned.
fn without_ends_in_between(news: Vec<News>) -> Vec<News> {
    let mut ending = HashSet::new();
    let is_kept = |News { root, update, .. }: &News| {
        if !matches!(update.what, UpdateKind::Despawned(_)) {
            return true;
        }
        let is_root = update.object == *root;
        if is_root {
            ending.insert(*root);
        }
        is_root || !ending.contains(root)
    };
    let mut kept: Vec<News> = news.into_iter().rev().filter(is_kept).collect();
    kept.reverse();
    kept
}
