//! What an app tells the plug-in, the same on both sides.

use bevy_app::App;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{Audience, Coordinates, MessageOptions, Offset, Rpcs};
use std::time::Duration;

use crate::calls::add_calls;
use crate::client::state::ReplClient;
use crate::form::{Converted, Form, Itself, WireForm};
use crate::prediction::smoothing::Smoothing;
use crate::server::state::ReplServer;
use crate::{client, hosting, interpolation, prediction, server};

/// Says what is replicated. Call its methods after a
/// [`ServerPlugin`](crate::ServerPlugin) or [`ClientPlugin`](crate::ClientPlugin) was added. The server
/// and the clients must be told the same types.
pub trait ReplAppExt {
    /// Replicates the components of a type, as their attributes say.
    ///
    /// # Panics
    /// Panics if a component of this type was spawned before, or if the app is no
    /// server and no client yet.
    fn replicate<T: Component<Mutability = Mutable> + Replicated>(&mut self) -> &mut Self;

    /// Replicates the components of a type in another form.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate).
    fn replicate_as<T: Component<Mutability = Mutable> + Default, W: WireForm<T>>(&mut self) -> &mut Self;

    /// Replicates the components of a type to those who may have them among the clients that see the entity.
    /// `audience` decides by another component of the entity, again whenever that changes. As long as the
    /// entity does not have it, only the owner of the entity gets the component.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::ReplAppExt;
    /// # #[derive(Component)] struct Team(u32);
    /// # #[derive(Component, Replicated, Default)] struct TeamPlan { #[replicated] target: u16 }
    /// # fn build(app: &mut bevy_app::App) {
    /// app.replicate_to::<TeamPlan, Team>(|team| repl::Audience::Group(Group(team.0)));
    /// # }
    /// // The server says who is in the group, for example when a client connects.
    /// # use repl_bevy::{ConnectedClient, MemberOf};
    /// fn welcome(added: On<Add<ConnectedClient>>, mut commands: Commands) {
    ///     commands.entity(added.entity).insert(MemberOf(vec![Group(1)]));
    /// }
    /// ```
    ///
    /// With `replicate_to::<Bag, Player>(|_| Audience::Owner)`, only the owner has a `Bag`. The condition
    /// `OwnerOnly` on a field says less: others have the component, and the field's default value in it.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate).
    fn replicate_to<T: Component<Mutability = Mutable> + Replicated, B: Component>(
        &mut self,
        audience: impl Fn(&B) -> Audience + Send + Sync + 'static,
    ) -> &mut Self;

    /// Lets clients show the components of a type that is [replicated](Self::replicate) on the way from one
    /// value to the next one, of the entities that they do not [simulate](crate::Simulated). `most_ticks` is
    /// the longest time between two values of an entity that moves, in ticks of the server, with two or three
    /// for lost packets: the entities are shown so much later.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::ReplAppExt;
    /// #[derive(Component, Replicated, Interpolate, Clone, PartialEq, Default)]
    /// struct Position(#[replicated] [f32; 2]);
    ///
    /// # fn build(app: &mut bevy_app::App) {
    /// app.replicate::<Position>().interpolate::<Position>(4);
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if components of the type are not replicated as they are.
    fn interpolate<T>(&mut self, most_ticks: u64) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Interpolate + Clone + PartialEq;

    /// Does the same as [`interpolate`](Self::interpolate) for a type that is [replicated in another
    /// form](Self::replicate_as). `mix` returns a value between two, by a fraction from 0 to 1.
    ///
    /// # Panics
    /// Panics if components of the type are not replicated in this form.
    fn interpolate_as<T, W: WireForm<T>>(
        &mut self,
        most_ticks: u64,
        mix: impl Fn(&T, &T, f64) -> T + Send + Sync + 'static,
    ) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default;

    /// Registers a type of inputs: what a player does in a tick. [`NextInput`](crate::NextInput) is the input
    /// of a client, and [`Input`](crate::Input) what the entities that it owns have in the
    /// [simulation](crate::Simulate).
    ///
    /// # Panics
    /// Panics if the app is no server and no client yet.
    fn input<T: NetSerialize + Clone + Default + Send + Sync>(&mut self) -> &mut Self;

    /// Lets clients predict the components of a type that is [replicated](Self::replicate), of the entities
    /// that they own. The [simulation](crate::Simulate) moves them. A value that the server has confirmed may
    /// differ from the predicted one by three quarters of a quantisation step.
    ///
    /// Only what is replicated of a component is predicted: other fields are the client's own. If the type
    /// is [interpolated](Self::interpolate) too, entities are shown between the last two ticks, up to a tick
    /// late, and otherwise as they are after the last one.
    ///
    /// # Panics
    /// Panics if components of the type are not replicated as they are.
    fn predict<T>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Clone + PartialEq;

    /// Does the same as [`predict`](Self::predict) for a type that is [replicated in another
    /// form](Self::replicate_as).
    ///
    /// # Panics
    /// Panics if components of the type are not replicated in this form.
    fn predict_as<T, W: WireForm<T>>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default;

    /// Lets clients show corrections of a component that is [predicted](Self::predict) without jumps: of
    /// the way to the right value, one half is left after each half-life. A correction of more than `snap`,
    /// in the units of the value, is shown at once. `part` is the value in a component that is shown so.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::ReplAppExt;
    /// # use std::time::Duration;
    /// # #[derive(Component, Replicated, Clone, PartialEq, Default)]
    /// # struct Position { #[replicated] at: [f32; 3] }
    /// # fn build(app: &mut bevy_app::App) {
    /// app.replicate::<Position>().predict::<Position>();
    /// app.smooth(Duration::from_millis(60), 3.0, |position: &mut Position| &mut position.at);
    /// # }
    /// ```
    fn smooth<T, P>(
        &mut self,
        half_life: Duration,
        snap: f64,
        part: impl Fn(&mut T) -> &mut P + Send + Sync + 'static,
    ) -> &mut Self
    where
        T: Component + Clone,
        P: Offset<By: Send + Sync> + Send + Sync + 'static;

    /// Lets each client see only the entities within an area around its viewpoints, which are the entities
    /// with a [`Viewpoint`](crate::Viewpoint) that it owns. `position` says where an entity is. All clients
    /// see an entity that does not have this component. An app has one such component: a second call
    /// replaces the first.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::{OwnedBy, ReplAppExt, Viewpoint};
    /// # #[derive(Component, Replicated, Default)] struct Position(#[replicated] [f32; 2]);
    /// # fn build(app: &mut bevy_app::App) {
    /// app.relevancy(Area::within(60.0).flat(), |position: &Position| position.0);
    /// # }
    /// # fn spawn(mut commands: Commands, client: Entity) {
    /// // The client sees from here, and others see this only from near.
    /// commands.spawn((OwnedBy(client), Viewpoint, Position([1.0, 2.0])));
    /// # }
    /// ```
    ///
    /// For other viewpoints, such as that of a camera without an entity, call
    /// [`set_viewpoints`](repl::ConnectionHandle::set_viewpoints) of the client's connection in each tick.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate).
    fn relevancy<T: Component, C: Coordinates>(
        &mut self,
        area: Area,
        position: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> &mut Self;

    /// Registers a type of messages, with the limits that all have.
    ///
    /// # Panics
    /// Panics if the app is no server and no client yet.
    fn message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.message_with::<M>(channel, MessageOptions::DEFAULT)
    }

    /// Registers a type of messages with its limits.
    ///
    /// # Panics
    /// Panics if the app is no server and no client yet.
    fn message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self;

    /// Registers the calls of a component that is [replicated](Self::replicate).
    /// [`Calls`](crate::Calls) makes them, and [`Called`](crate::Called) tells of them.
    ///
    /// # Panics
    /// Panics if a call has a validator: an observer of the call validates it. Panics if the app is no server
    /// and no client yet.
    fn calls<T: Component<Mutability = Mutable> + Rpcs>(&mut self) -> &mut Self;
}

impl ReplAppExt for App {
    fn replicate<T: Component<Mutability = Mutable> + Replicated>(&mut self) -> &mut Self {
        replicate::<T, Itself>(self)
    }

    fn replicate_as<T: Component<Mutability = Mutable> + Default, W: WireForm<T>>(&mut self) -> &mut Self {
        replicate::<T, Converted<W>>(self)
    }

    fn replicate_to<T: Component<Mutability = Mutable> + Replicated, B: Component>(
        &mut self,
        audience: impl Fn(&B) -> Audience + Send + Sync + 'static,
    ) -> &mut Self {
        replicate::<T, Itself>(self);
        if is_server(self) {
            server::limit::<T, B>(self, audience);
        }
        self
    }

    fn relevancy<T: Component, C: Coordinates>(
        &mut self,
        area: Area,
        position: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> &mut Self {
        if is_server(self) {
            server::locate(self, area, position);
        }
        self
    }

    fn interpolate<T>(&mut self, most_ticks: u64) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Interpolate + Clone + PartialEq,
    {
        if !is_server(self) {
            interpolation::add::<T, Itself>(self, most_ticks, T::interpolate);
        }
        self
    }

    fn interpolate_as<T, W: WireForm<T>>(
        &mut self,
        most_ticks: u64,
        mix: impl Fn(&T, &T, f64) -> T + Send + Sync + 'static,
    ) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    {
        if !is_server(self) {
            interpolation::add::<T, Converted<W>>(self, most_ticks, mix);
        }
        self
    }

    fn input<T: NetSerialize + Clone + Default + Send + Sync>(&mut self) -> &mut Self {
        prediction::add_input::<T>(self);
        self
    }

    fn predict<T>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Clone + PartialEq,
    {
        prediction::predict::<T, Itself>(self);
        self
    }

    fn predict_as<T, W: WireForm<T>>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    {
        prediction::predict::<T, Converted<W>>(self);
        self
    }

    fn smooth<T, P>(
        &mut self,
        half_life: Duration,
        snap: f64,
        part: impl Fn(&mut T) -> &mut P + Send + Sync + 'static,
    ) -> &mut Self
    where
        T: Component + Clone,
        P: Offset<By: Send + Sync> + Send + Sync + 'static,
    {
        if !is_server(self) {
            self.insert_resource(Smoothing::<T>::new(half_life, snap, part));
        }
        self
    }

    fn message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self {
        if is_server(self) {
            server::messages::add_message::<M>(self, channel, options);
            hosting::add_message::<M>(self);
        } else {
            client::messages::add_message::<M>(self, channel, options);
        }
        self
    }

    fn calls<T: Component<Mutability = Mutable> + Rpcs>(&mut self) -> &mut Self {
        add_calls::<T>(self);
        self
    }
}

fn replicate<T: Component<Mutability = Mutable> + Default, F: Form<T>>(app: &mut App) -> &mut App {
    if is_server(app) {
        server::replicate::<T, F>(app);
    } else {
        client::replicate::<T, F>(app);
    }
    app
}

/// Returns whether the app is a server, and not a client.
fn is_server(app: &App) -> bool {
    let is_server = app.world().contains_resource::<ReplServer>();
    assert!(
        is_server || app.world().contains_resource::<ReplClient>(),
        "add a `ServerPlugin` or a `ClientPlugin` to the app first"
    );
    is_server
}
