//! The classes of a run. Each class is a table of the functions that a run needs for its objects.
//!
//! *Invariant:* in a run, only these functions name the type of an object.

use std::any::Any;

use repl::{ArchetypeId, Client, Condition, Guid, ObjectRef, Server, Update};

use crate::classes::{
    Actor, Bird, Chest, Creature, Dot, Golem, Hoard, Ink, Pack, Scroll, Shown, Sign, Vault,
};
use crate::ledger::{Leaf, Leaves};
use crate::switches::Calls;

/// The values of the properties with notifies.
pub(crate) type Notified = Vec<(usize, u64)>;

/// The functions of an object of any class that a run needs.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) conditions: &'static [Condition],
    pub(crate) calls: Calls,
    /// Properties whose items are sent in parts if there are many.
    pub(crate) collections: &'static [usize],
    pub(crate) leaves: fn(&Server, Guid) -> Vec<Leaf>,
    pub(crate) replica: fn(&Client, Guid) -> Option<Vec<Leaf>>,
    /// Returns the callbacks that ran on the replica since the last call.
    pub(crate) told: fn(&mut Client, Guid) -> Option<Shown>,
    /// Returns the values of the replica's properties with notifies.
    pub(crate) notified: fn(&Client, Guid) -> Option<Notified>,
    /// Returns the callbacks that ran on the server's object, and the values of its properties with notifies.
    pub(crate) told_on_server: fn(&Server, Guid) -> (Shown, Notified),
    /// Returns the position of an object, if its class has positions.
    pub(crate) place: fn(&Server, Guid) -> Option<[f32; 2]>,
    /// Returns an object with the values of its archetype.
    pub(crate) fresh: fn(bool) -> (Vec<Leaf>, Notified),
    /// Returns the objects of a client, also those that were torn off.
    pub(crate) present: fn(&Client) -> Vec<Guid>,
    /// Returns whether the last state of a removed object can be read.
    pub(crate) departed: fn(&Client, Guid) -> bool,
    /// Copies the properties of an update to a component, which is a copy of the object outside the client.
    /// Makes the component if it does not exist. Returns whether the client has the object.
    pub(crate) copy: fn(&Update, &Client, &mut Option<Box<dyn Any>>) -> bool,
    pub(crate) component: fn(&dyn Any) -> Vec<Leaf>,
    pub(crate) change: fn(&mut Server, Guid, u32, usize, &mut Ink<'_>),
    pub(crate) grow: fn(&mut Server, Guid, &mut Ink<'_>),
    pub(crate) spawn: fn(&mut Server, Origin, u32, &mut Ink<'_>) -> ObjectRef<()>,
}

/// How an object is spawned: its archetype, and its parent if it is a subobject.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) archetype: ArchetypeId<Actor>,
    pub(crate) is_veteran: bool,
    /// The object below which it is spawned, if it is a subobject.
    pub(crate) parent: Option<ObjectRef<()>>,
}

fn leaves_of<T: Creature>(object: &T) -> Vec<Leaf> {
    let mut leaves = Leaves::default();
    object.leaves(&mut leaves);
    leaves.list
}

fn kind<T: Creature>() -> Kind {
    Kind {
        conditions: T::CONDITIONS,
        calls: Calls::of::<T>(),
        collections: T::COLLECTIONS,
        leaves: |server, guid| leaves_of(&server[ObjectRef::<T>::new(guid)]),
        replica: |client, guid| client.get(ObjectRef::<T>::new(guid)).map(leaves_of),
        told: |client, guid| {
            client.get_mut(ObjectRef::<T>::new(guid)).map(|replica| std::mem::take(replica.shown()))
        },
        notified: |client, guid| client.get(ObjectRef::<T>::new(guid)).map(Creature::notified),
        told_on_server: |server, guid| {
            let mut object = server[ObjectRef::<T>::new(guid)].clone();
            (object.shown().clone(), object.notified())
        },
        place: |server, guid| server[ObjectRef::<T>::new(guid)].place(),
        fresh: |veteran| {
            let object = T::archetype(veteran);
            (leaves_of(&object), object.notified())
        },
        present: |client| client.objects::<T>().filter_map(|(object, _)| object.guid()).collect(),
        departed: |client, guid| client.object_info(ObjectRef::<T>::new(guid)).departed().is_some(),
        copy: |update, client, component| {
            assert_eq!(update.cast::<T>().map(ObjectRef::erase), Some(update.object));
            let component = component.get_or_insert_with(|| Box::new(T::default()));
            update.copy_to(client, component.downcast_mut::<T>().expect("made by this function"))
        },
        component: |component| leaves_of(component.downcast_ref::<T>().expect("made by `copy`")),
        change: |server, guid, uid, property, ink| {
            if ink.rng.chance(0.2) {
                // The scan over all objects of the class finds this change.
                for (_, object) in server.objects_mut::<T>() {
                    if *object.uid() == uid {
                        object.change(property, ink);
                    }
                }
            } else {
                server[ObjectRef::<T>::new(guid)].change(property, ink);
            }
        },
        grow: |server, guid, ink| server[ObjectRef::<T>::new(guid)].grow(ink),
        spawn: |server, Origin { archetype, is_veteran, parent }, uid, ink| {
            let mut object = T::archetype(is_veteran);
            *object.uid() = uid;
            for property in 0..T::CONDITIONS.len() {
                if ink.rng.chance(0.5) {
                    object.change(property, ink);
                }
            }
            if let Some(parent) = parent {
                return server.object(parent).spawn_subobject(object).expect("the parent exists").erase();
            }
            // Other classes than actors have only the default archetype.
            let archetype = (&archetype as &dyn Any).downcast_ref().copied().unwrap_or_default();
            server.spawn_from(archetype, object).erase()
        },
    }
}

pub(crate) const ACTOR: usize = 0;
pub(crate) const VAULT: usize = 5;
pub(crate) const DOT: usize = 3;
pub(crate) const HOARD: usize = 4;
pub(crate) const BIRD: usize = 6;
pub(crate) const SIGN: usize = 7;
pub(crate) const GOLEM: usize = 8;

/// Returns the classes in the order of the plan's weights.
pub(crate) fn kinds() -> [Kind; 10] {
    [
        kind::<Actor>(),
        kind::<Pack>(),
        kind::<Chest>(),
        kind::<Dot>(),
        kind::<Hoard>(),
        kind::<Vault>(),
        kind::<Bird>(),
        kind::<Sign>(),
        kind::<Golem>(),
        kind::<Scroll>(),
    ]
}
