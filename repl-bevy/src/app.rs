//! The trait [`ReplAppExt`]: its methods register what an app replicates.

use bevy_app::App;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{Coordinates, MessageOptions, Offset, Rpcs, Viewer};
use std::time::Duration;

use crate::calls::add_calls;
use crate::client::state::ReplClient;
use crate::form::{Converted, Form, Itself, WireForm};
use crate::prediction::smoothing::Smoothing;
use crate::server::state::ReplServer;
use crate::{client, hosting, interpolation, prediction, server};

/// Adds methods to [`App`] that register what is replicated. Call them after you have added a
/// [`ServerPlugin`](crate::ServerPlugin) or [`ClientPlugin`](crate::ClientPlugin). The server and the clients
/// must register the same types.
pub trait ReplAppExt {
    /// Replicates the components of a type. Attributes of the type say which fields are sent.
    ///
    /// # Panics
    /// Panics if a component of this type was spawned before, or if no plug-in has made the app a server or a
    /// client yet.
    fn replicate<T: Component<Mutability = Mutable> + Replicated>(&mut self) -> &mut Self;

    /// Replicates the components of a type in another form: the struct `W` is made from the component and
    /// sent instead of it.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate).
    fn replicate_as<T: Component<Mutability = Mutable> + Default, W: WireForm<T>>(&mut self) -> &mut Self;

    /// Replicates the components of a type, but only some of the clients that see an entity receive its
    /// component. `audience` chooses these clients by another component `B` of the entity. It is called again
    /// whenever `B` changes. While the entity has no `B`, only the owner of the entity receives the
    /// component.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::ReplAppExt;
    /// # #[derive(Component)] struct Team(u32);
    /// # #[derive(Component, Replicated, Default)] struct TeamPlan { #[replicated] target: u16 }
    /// # fn build(app: &mut bevy_app::App) {
    /// app.replicate_to::<TeamPlan, Team>(|team| Group(team.0).into());
    /// # }
    /// // The server says who is in the group, for example when a client connects.
    /// # use repl_bevy::{ConnectedClient, MemberOf};
    /// fn welcome(added: On<Add<ConnectedClient>>, mut commands: Commands) {
    ///     commands.entity(added.entity).insert(MemberOf(vec![Group(1)]));
    /// }
    /// ```
    ///
    /// The audience can also be a combination, for example [`Relevancy::any`] of several groups.
    ///
    /// With `replicate_to::<Bag, Player>(|_| Relevancy::OwnerOnly)`, only the owner has a `Bag`. If a field
    /// of `Bag` has the condition `OwnerOnly` instead, other clients have a `Bag` too, but this field has its
    /// default value there.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate). The server panics in a tick if the
    /// audience is or contains `Located`, `AttachedTo` or `Computed`.
    fn replicate_to<T: Component<Mutability = Mutable> + Replicated, B: Component>(
        &mut self,
        audience: impl Fn(&B) -> Relevancy + Send + Sync + 'static,
    ) -> &mut Self;

    /// Lets clients interpolate the components of a type that is [replicated](Self::replicate), on the
    /// entities that they do not [simulate](crate::Simulated). `most_ticks` is the longest time between two
    /// values of a moving entity, in ticks of the server, plus two or three ticks for lost packets. Clients
    /// show the entities with a delay of up to this time.
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
    /// Panics if [`replicate`](Self::replicate) was not called for the type.
    fn interpolate<T>(&mut self, most_ticks: u64) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Interpolate + Clone + PartialEq;

    /// Does the same as [`interpolate`](Self::interpolate) for a type that is [replicated in another
    /// form](Self::replicate_as). `mix` returns a value between two values. Its third argument is the
    /// fraction, from 0 (the first value) to 1 (the second value).
    ///
    /// # Panics
    /// Panics if [`replicate_as`](Self::replicate_as) was not called for the type with this form.
    fn interpolate_as<T, W: WireForm<T>>(
        &mut self,
        most_ticks: u64,
        mix: impl Fn(&T, &T, f64) -> T + Send + Sync + 'static,
    ) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default;

    /// Registers a type of inputs. An input is everything that a player does in one tick. A client writes its
    /// input to [`NextInput`](crate::NextInput). In the [simulation](crate::Simulate), the entities that the
    /// client owns have the input as the component [`Input`](crate::Input).
    ///
    /// # Panics
    /// Panics if no plug-in has made the app a server or a client yet.
    fn input<T: NetSerialize + Clone + Default + Send + Sync>(&mut self) -> &mut Self;

    /// Lets clients predict the components of a type that is [replicated](Self::replicate), on the entities
    /// that they own. Systems in the schedule [`Simulate`](crate::Simulate) change these components. If a
    /// predicted value differs from the server's value by at most three quarters of a quantisation step, the
    /// client does not correct it.
    ///
    /// Only the replicated fields of a component are predicted; the plug-in does not change other fields. If
    /// the type is also [interpolated](Self::interpolate), entities are shown between their states at the
    /// last two ticks, which is up to one tick late. Otherwise they are shown in their state after the last
    /// tick.
    ///
    /// # Panics
    /// Panics if [`replicate`](Self::replicate) was not called for the type.
    fn predict<T>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Replicated + Clone + PartialEq;

    /// Does the same as [`predict`](Self::predict) for a type that is [replicated in another
    /// form](Self::replicate_as).
    ///
    /// # Panics
    /// Panics if [`replicate_as`](Self::replicate_as) was not called for the type with this form.
    fn predict_as<T, W: WireForm<T>>(&mut self) -> &mut Self
    where
        T: Component<Mutability = Mutable> + Clone + PartialEq + Default;

    /// Lets clients show corrections of a [predicted](Self::predict) component without jumps. After a
    /// correction, the shown value differs from the corrected value, and this difference halves in each
    /// half-life. A correction of more than `snap`, in the units of the value, is shown at once. `part`
    /// returns a reference to the value in the component that is smoothed.
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

    /// Lets each client see only the entities in an area around its viewpoints. The viewpoints are the
    /// entities with a [`Viewpoint`](crate::Viewpoint) that the client owns. `position` returns the position
    /// of an entity from its component `T`. All clients see the entities without this component. Only one
    /// component type of an app can contain the positions: a second call replaces the first.
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
    /// A viewpoint can also be a position without an entity, for example of a camera. For this, call
    /// [`set_viewpoints`](repl::ConnectionHandle::set_viewpoints) of the client's connection in each tick.
    ///
    /// # Panics
    /// Panics in the same cases as [`replicate`](Self::replicate).
    fn relevancy<T: Component, C: Coordinates>(
        &mut self,
        area: Area,
        position: impl Fn(&T) -> C + Send + Sync + 'static,
    ) -> &mut Self;

    /// Lets a function decide which clients see the entities with the component `T`. If an entity also has a
    /// [position](Self::relevancy), a client must also be near it. The component need not be replicated.
    /// The owner sees its entity whatever the function returns.
    ///
    /// ```
    /// # use bevy_ecs::prelude::*;
    /// # use repl::prelude::*;
    /// # use repl_bevy::ReplAppExt;
    /// #[derive(Component, Clone)]
    /// struct Spy {
    ///     team: u32,
    ///     is_unmasked: bool,
    /// }
    ///
    /// # fn build(app: &mut bevy_app::App) {
    /// app.relevancy_by(|spy: &Spy, viewer| spy.is_unmasked || viewer.is_in_group(Group(spy.team)));
    /// # }
    /// ```
    ///
    /// The [`Viewer`] has the viewpoints and the groups of the client. A tick calls the function for each
    /// client and each entity that is new, has another owner, or whose `T` has changed, and for all these
    /// entities and each client whose viewpoints or groups have changed. The result decides in the same
    /// tick. If the function needs anything else, let a system write it to the `T`. The function reads a
    /// clone of the `T`, so keep `T` small.
    ///
    /// In [`SeenBy`](crate::SeenBy), the function is [`Relevancy::Computed`]. Only one component type of an
    /// app can have a function: a second call replaces the first.
    ///
    /// # Panics
    /// Panics if no plug-in has made the app a server or a client yet.
    fn relevancy_by<T: Component + Clone>(
        &mut self,
        decide: impl Fn(&T, &Viewer<'_>) -> bool + Send + Sync + 'static,
    ) -> &mut Self;

    /// Lets the function of [`relevancy_by`](Self::relevancy_by) be called for each entity and client only
    /// once in `ticks` ticks, for example because it reads the viewpoints, and all players move in each tick.
    /// New clients, new entities and entities whose component has changed do not wait. With zero, which is
    /// the default, changes of a client do not wait either.
    ///
    /// # Panics
    /// Panics if `relevancy_by` was not called, or if no plug-in has made the app a server or a client yet.
    fn relevancy_period(&mut self, ticks: u16) -> &mut Self;

    /// Registers a type of messages, with the default limits.
    ///
    /// # Panics
    /// Panics if no plug-in has made the app a server or a client yet.
    fn message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.message_with::<M>(channel, MessageOptions::DEFAULT)
    }

    /// Registers a type of messages with its limits.
    ///
    /// # Panics
    /// Panics if no plug-in has made the app a server or a client yet.
    fn message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self;

    /// Registers the calls (remote function calls) of a component that is [replicated](Self::replicate). The
    /// system parameter [`Calls`](crate::Calls) sends calls, and the event [`Called`](crate::Called) reports
    /// calls that arrive.
    ///
    /// # Panics
    /// Panics if a call has a validator: in Bevy, the observer of the call must validate it instead. Panics
    /// if no plug-in has made the app a server or a client yet.
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
        audience: impl Fn(&B) -> Relevancy + Send + Sync + 'static,
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

    fn relevancy_by<T: Component + Clone>(
        &mut self,
        decide: impl Fn(&T, &Viewer<'_>) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        if is_server(self) {
            server::decide(self, decide);
        }
        self
    }

    fn relevancy_period(&mut self, ticks: u16) -> &mut Self {
        if is_server(self) {
            server::decide_every(self, ticks);
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

/// Returns `true` for a server and `false` for a client.
fn is_server(app: &App) -> bool {
    let is_server = app.world().contains_resource::<ReplServer>();
    assert!(
        is_server || app.world().contains_resource::<ReplClient>(),
        "add a `ServerPlugin` or a `ClientPlugin` to the app first"
    );
    is_server
}
