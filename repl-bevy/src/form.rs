//! The form in which a component is sent: the component itself, or another struct made from it.

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::tools::{Class, HandleSet, Objects};
use repl::{CompareError, SpawnError};
use std::marker::PhantomData;

/// A struct `Self` that is sent instead of a component of the type `T`, for example because `T` is from
/// another crate. Parts of a component that are not sent keep the client's own values. An example:
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
    /// Returns the values to send for a component.
    fn of(component: &T) -> Self;

    /// Writes received values into a component of a client.
    fn apply_to(&self, component: &mut T);
}

/// Converts a component to the object that is sent, and back.
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

    /// Returns whether the received values that an update reports differ from the values of a component.
    fn differs(client: &Client, update: &Update, component: &T) -> bool;

    /// Writes the received values that an update reports into a component.
    fn follow(client: &Client, update: &Update, component: &mut T);

    /// Writes all received values into a component.
    fn copy(properties: &Properties<Self::Wire>, from: &Self::Wire, component: &mut T);

    /// Copies the values of all sent fields from one component to another.
    fn assign(properties: &Properties<Self::Wire>, from: &T, component: &mut T);

    /// Returns whether the values of all sent fields of two components are equal, or so close that the server
    /// would not send the difference.
    fn agrees(properties: &Properties<Self::Wire>, component: &T, other: &T) -> bool;

    /// Serialises the values of all sent fields of a component.
    fn write(component: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads values that [`write`](Self::write) has serialised into a component.
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

/// The class of the object that is sent for a component, and the set of all its properties.
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

    /// Returns whether a server with the values of `live` would send nothing to a client with the values of
    /// `other`. Quantised values may differ by less than one step.
    fn agree(&self, live: &W, other: &W) -> bool {
        !self.class.differs_in(live, other, &self.all)
            || self.class.would_send_nothing(live, other, &self.all)
    }
}

/// A component that is sent as it is: it is the object.
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

/// A component that is converted to an object of the type `W`.
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

/// Copies the values of all sent fields from one component to another, if they differ.
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
