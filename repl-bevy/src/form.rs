//! In which form a component is sent.

use repl::CompareError;
use repl::prelude::*;
use repl::tools::{Class, HandleSet, Objects};
use std::marker::PhantomData;

/// A form in which components of the type `T` are sent, for components that are not yours. If the component
/// is also predicted or interpolated, the other fields are not kept. An example:
///
/// ```
/// use repl::prelude::*;
/// use repl_bevy::WireForm;
/// # #[derive(bevy_ecs::prelude::Component, Default)]
/// # struct Transform { translation: [f32; 3], scale: f32 }
///
/// #[derive(Replicated, Default)]
/// struct Position {
///     #[replicated(quantize(step = 0.01, range = -1000.0..=1000.0))]
///     position: [f32; 3],
/// }
///
/// impl WireForm<Transform> for Position {
///     fn of(transform: &Transform) -> Self {
///         Self { position: transform.translation }
///     }
///
///     fn apply_to(&self, transform: &mut Transform) {
///         transform.translation = self.position; // the scale is the client's own
///     }
/// }
/// ```
pub trait WireForm<T>: Replicated + WithoutFastArrays {
    /// Returns what is sent of a component.
    fn of(component: &T) -> Self;

    /// Gives a component of a client the values that have arrived.
    fn apply_to(&self, component: &mut T);
}

/// How a component becomes an object and back.
pub(crate) trait Form<T>: Send + Sync + 'static {
    type Wire: Replicated;

    fn spawn(server: &mut Server, parent: ObjectRef<()>, component: &mut T) -> Option<ObjectRef<Self::Wire>>;

    fn compare(
        server: &mut Server,
        object: ObjectRef<Self::Wire>,
        component: &mut T,
    ) -> Result<(), CompareError>;

    /// Returns whether an update has brought other values than a component has.
    fn differs(client: &Client, update: &Update, component: &T) -> bool;

    /// Gives a component what an update has brought.
    fn follow(client: &Client, update: &Update, component: &mut T);

    /// What [`copy`](Self::copy) needs.
    type Memory: Default + Send + Sync;

    /// Gives a component all that is sent of another one.
    fn copy(memory: &Self::Memory, from: &Self::Wire, component: &mut T);

    /// Writes all that is sent of a component.
    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Gives a component what was written.
    fn read(memory: &Self::Memory, reader: &mut BitReader<'_>, component: &mut T) -> Result<(), ReadError> {
        let from = Self::Wire::read(reader, &mut ReferenceMap::new(&All))?;
        Self::copy(memory, &from, component);
        Ok(())
    }
}

/// What was written names entities that the reader knows.
struct All;

impl Objects for All {
    fn contains(&self, _: repl::Guid) -> bool {
        true
    }
}

/// Copies the properties of components.
pub(crate) struct Copier<T> {
    class: Class<T>,
    all: HandleSet,
}

impl<T: Replicated> Default for Copier<T> {
    fn default() -> Self {
        let class = Class::<T>::new();
        let all = HandleSet::up_to(class.program().handles());
        Self { class, all }
    }
}

/// The component itself is the object.
pub(crate) struct Itself;

impl<T: Replicated> Form<T> for Itself {
    type Wire = T;

    fn spawn(server: &mut Server, parent: ObjectRef<()>, component: &mut T) -> Option<ObjectRef<T>> {
        server.external().spawn_subobject(parent, component)
    }

    fn compare(server: &mut Server, object: ObjectRef<T>, component: &mut T) -> Result<(), CompareError> {
        server.external().compare_mut(object, component)
    }

    fn differs(client: &Client, update: &Update, component: &T) -> bool {
        update.differs_from(client, component)
    }

    fn follow(client: &Client, update: &Update, component: &mut T) {
        update.copy_to(client, component);
    }

    type Memory = Copier<T>;

    fn copy(memory: &Copier<T>, from: &T, component: &mut T) {
        memory.class.copy(from, component, &memory.all);
    }

    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        component.write(writer)
    }
}

/// The component is converted.
pub(crate) struct Converted<W>(PhantomData<fn() -> W>);

impl<T, W: WireForm<T>> Form<T> for Converted<W> {
    type Wire = W;

    fn spawn(server: &mut Server, parent: ObjectRef<()>, component: &mut T) -> Option<ObjectRef<W>> {
        server.external().spawn_subobject(parent, &W::of(component))
    }

    fn compare(server: &mut Server, object: ObjectRef<W>, component: &mut T) -> Result<(), CompareError> {
        server.external().compare(object, &W::of(component))
    }

    fn differs(client: &Client, update: &Update, component: &T) -> bool {
        update.differs_from(client, &W::of(component))
    }

    fn follow(client: &Client, update: &Update, component: &mut T) {
        if let Some(wire) = update.cast::<W>().and_then(|object| client.get(object)) {
            wire.apply_to(component);
        }
    }

    type Memory = ();

    fn copy((): &(), from: &W, component: &mut T) {
        from.apply_to(component);
    }

    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        W::of(component).write(writer)
    }
}
