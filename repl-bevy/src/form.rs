//! In which form a component is sent.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::tools::{Class, HandleSet, Objects};
use repl::{CompareError, SpawnError};
use std::marker::PhantomData;

/// A form in which components of the type `T` are sent, for components that are not yours. What is not sent
/// of a component is the client's own. An example:
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

    fn try_spawn(
        server: &mut Server,
        parent: ObjectRef<()>,
        component: &mut T,
    ) -> Result<Option<ObjectRef<Self::Wire>>, SpawnError>;

    fn compare(
        server: &mut Server,
        object: ObjectRef<Self::Wire>,
        component: &mut T,
    ) -> Result<(), CompareError>;

    /// Returns whether an update has brought other values than a component has.
    fn differs(client: &Client, update: &Update, component: &T) -> bool;

    /// Gives a component what an update has brought.
    fn follow(client: &Client, update: &Update, component: &mut T);

    /// Gives a component all that has arrived.
    fn copy(properties: &Properties<Self::Wire>, from: &Self::Wire, component: &mut T);

    /// Gives a component all that is sent of another one.
    fn assign(properties: &Properties<Self::Wire>, from: &T, component: &mut T);

    /// Returns whether two components are the same as far as it is sent: a component with the values of the
    /// other one would be sent nothing.
    fn agrees(properties: &Properties<Self::Wire>, component: &T, other: &T) -> bool;

    /// Writes all that is sent of a component.
    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Gives a component what was written.
    fn read(
        properties: &Properties<Self::Wire>,
        (reader, objects): (&mut BitReader<'_>, &dyn Objects),
        component: &mut T,
    ) -> Result<(), ReadError> {
        let from = Self::Wire::read(reader, &mut ReferenceMap::new(objects))?;
        Self::copy(properties, &from, component);
        Ok(())
    }
}

/// All properties of components in the form in which they are sent.
pub(crate) struct Properties<W> {
    class: Class<W>,
    all: HandleSet,
}

impl<W: Replicated> Default for Properties<W> {
    fn default() -> Self {
        let class = Class::<W>::new();
        let all = HandleSet::up_to(class.program().handles());
        Self { class, all }
    }
}

impl<W: Replicated> Properties<W> {
    fn copy(&self, from: &W, to: &mut W) {
        self.class.copy(from, to, &self.all);
    }

    /// Returns whether a server with the values of `live` would send nothing to a client with those of
    /// `other`: quantised values may differ by a part of a step.
    fn agree(&self, live: &W, other: &W) -> bool {
        !self.class.differs_in(live, other, &self.all)
            || self.class.would_send_nothing(live, other, &self.all)
    }
}

/// The component itself is the object.
pub(crate) struct Itself;

impl<T: Replicated> Form<T> for Itself {
    type Wire = T;

    fn try_spawn(
        server: &mut Server,
        parent: ObjectRef<()>,
        component: &mut T,
    ) -> Result<Option<ObjectRef<T>>, SpawnError> {
        server.external().try_spawn_subobject(parent, component)
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

    fn copy(properties: &Properties<T>, from: &T, component: &mut T) {
        properties.copy(from, component);
    }

    fn assign(properties: &Properties<T>, from: &T, component: &mut T) {
        properties.copy(from, component);
    }

    fn agrees(properties: &Properties<T>, component: &T, other: &T) -> bool {
        properties.agree(component, other)
    }

    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        component.write(writer)
    }
}

/// The component is converted.
pub(crate) struct Converted<W>(PhantomData<fn() -> W>);

impl<T, W: WireForm<T>> Form<T> for Converted<W> {
    type Wire = W;

    fn try_spawn(
        server: &mut Server,
        parent: ObjectRef<()>,
        component: &mut T,
    ) -> Result<Option<ObjectRef<W>>, SpawnError> {
        server.external().try_spawn_subobject(parent, &W::of(component))
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

    fn copy(_: &Properties<W>, from: &W, component: &mut T) {
        from.apply_to(component);
    }

    fn assign(_: &Properties<W>, from: &T, component: &mut T) {
        W::of(from).apply_to(component);
    }

    fn agrees(properties: &Properties<W>, component: &T, other: &T) -> bool {
        properties.agree(&W::of(component), &W::of(other))
    }

    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        W::of(component).write(writer)
    }
}

/// Gives a component all that is sent of another one, if it has other values.
pub(crate) fn assign_if_neq<T, F>(properties: &Properties<F::Wire>, from: &T, component: &mut Mut<'_, T>)
where
    T: Component<Mutability = Mutable> + Clone + PartialEq,
    F: Form<T>,
{
    if **component == *from {
        return;
    }
    let mut value = (**component).clone();
    F::assign(properties, from, &mut value);
    component.set_if_neq(value);
}
