//! The store: entities with components, outside the server.
//!
//! *Invariant:* after the next hand-over, the server has the same values of an entity as the store.

use repl::prelude::*;
use repl::sim::Rng;

/// The root of an entity.
#[derive(Replicated, Clone, Default)]
pub(crate) struct Root {
    #[replicated]
    pub(crate) entity: u32,
    /// The entity that carries this one.
    #[replicated]
    pub(crate) carrier: ObjectRef<Self>,
}

/// The trait of all components. A component has its entity and two values.
pub(crate) trait Component: Replicated + WithoutFastArrays + Clone {
    const KIND: usize;
    /// Returns the component in a `Told`.
    fn of(told: &Told) -> &Self;
    fn make(entity: u32, value: u32) -> Self;
    fn entity(&self) -> u32;
    fn value(&self) -> u32;
}

macro_rules! component {
    ($name:ident, $kind:literal, $told:ident) => {
        #[derive(Replicated, Clone, Default)]
        pub(crate) struct $name {
            #[replicated]
            entity: u32,
            #[replicated]
            value: u32,
            #[replicated(condition = OwnerOnly)]
            secret: u32,
        }

        impl Component for $name {
            const KIND: usize = $kind;
            fn of(told: &Told) -> &Self {
                &told.$told
            }
            fn make(entity: u32, value: u32) -> Self {
                Self { entity, value, secret: value }
            }
            fn entity(&self) -> u32 {
                self.entity
            }
            fn value(&self) -> u32 {
                self.value
            }
        }
    };
}

component!(Place, 0, place);
component!(Life, 1, life);
component!(Badge, 2, badge);

/// An object as the updates describe it: its root, whether the client owns it, and its values. The values are
/// in the field for the class of the object.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) parent: Option<ObjectRef<()>>,
    pub(crate) is_owner: bool,
    pub(crate) root: Root,
    pub(crate) place: Place,
    pub(crate) life: Life,
    pub(crate) badge: Badge,
}

pub(crate) const KINDS: usize = 3;

/// A component in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) object: ObjectRef<()>,
    pub(crate) value: u32,
    /// The tick in which it was inserted.
    pub(crate) since: u32,
    /// Whether fewer clients see the component than its root, now or at an earlier time.
    pub(crate) was_narrowed: bool,
}

/// An entity in the store.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) number: u32,
    pub(crate) root: ObjectRef<Root>,
    /// The entity that carries this one, or carried it until it was despawned.
    pub(crate) carrier: ObjectRef<Root>,
    pub(crate) parts: [Option<Part>; KINDS],
    /// The tick in which it was spawned.
    pub(crate) since: u32,
}

/// Registers all classes. Entities are seen within some distance, and have no position of their own.
pub(crate) fn register_server(server: &mut Server) {
    server.class::<Root>().set_placed_area(Area::within(20.0).flat());
    server.register_external::<Root>().register_external::<Place>();
    server.register_external::<Life>().register_external::<Badge>();
}

/// Registers all classes.
pub(crate) fn register_client(client: &mut Client) {
    client.register::<Root>().register::<Place>().register::<Life>().register::<Badge>();
}

fn insert<C: Component>(server: &mut Server, entity: &Entity, value: u32) -> Option<ObjectRef<()>> {
    let object = server.external().spawn_subobject(entity.root, &C::make(entity.number, value))?;
    Some(object.erase())
}

fn compare<C: Component>(server: &mut Server, entity: u32, part: &Part) {
    let object = server.object_info(part.object).cast::<C>().expect("it is of this class");
    server.external().compare(object, &C::make(entity, part.value)).expect("it exists");
}

impl Entity {
    pub(crate) fn spawn(server: &mut Server, number: u32, since: u32) -> Self {
        let root = server.external().spawn(&Root { entity: number, ..Root::default() });
        Self { number, root, carrier: ObjectRef::default(), parts: [None; KINDS], since }
    }

    /// Lets another entity carry this one. Then the same clients see both, and both have the same owner.
    pub(crate) fn carry(&mut self, server: &mut Server, carrier: ObjectRef<Root>) {
        self.carrier = carrier;
        let root = Root { entity: self.number, carrier };
        server.external().compare(self.root, &root).expect("it exists");
        let mut object = server.object(self.root);
        object.set_relevancy(Relevancy::AttachedTo(carrier.erase())).set_owner_object(carrier);
    }

    /// Inserts a component. It replaces a component of the same kind.
    pub(crate) fn insert(&mut self, server: &mut Server, kind: usize, value: u32, since: u32) {
        self.remove(server, kind);
        let object = match kind {
            Place::KIND => insert::<Place>(server, self, value),
            Life::KIND => insert::<Life>(server, self, value),
            _ => insert::<Badge>(server, self, value),
        };
        self.parts[kind] = object.map(|object| Part { object, value, since, was_narrowed: false });
    }

    pub(crate) fn remove(&mut self, server: &mut Server, kind: usize) {
        if let Some(part) = self.parts[kind].take() {
            server.despawn(part.object);
        }
    }

    /// Changes a component, if the entity has it.
    pub(crate) fn change(&mut self, server: &mut Server, rng: &mut Rng) {
        let kind = rng.below(KINDS as u64) as usize;
        let Some(part) = &mut self.parts[kind] else { return };
        part.value = part.value.wrapping_add(1);
        match kind {
            Place::KIND => compare::<Place>(server, self.number, part),
            Life::KIND => compare::<Life>(server, self.number, part),
            _ => compare::<Badge>(server, self.number, part),
        }
    }
}
