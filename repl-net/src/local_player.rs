//! The player of this process: a client, or the host of a server (a player without packets). A function that
//! accepts `&mut impl LocalPlayer` works for both.
//!
//! *Invariant:* each method does the same as the method of the same name of [`Client`] or [`HostHandle`].

use std::ops::Range;
use std::time::Duration;

use repl_core::{AssetRef, NetSerialize, ObjectRef, Replicated};
use repl_link::SendError;

use crate::body::role::Role;
use crate::calls::call::ReceivedCall;
use crate::calls::rpcs::Rpcs;
use crate::client::Client;
use crate::inputs::error::InputError;
use crate::server::HostHandle;
use crate::session::events::ClientEvent;
use crate::updates::update::Update;

/// The player of this process: a [`Client`], or the [host](HostHandle) of a server. With this trait, the code
/// of a player is written once for both:
///
/// ```
/// # use repl_core::Replicated;
/// # use repl_net as repl;
/// use repl::{Client, LocalPlayer, Server};
///
/// /// Says hello for each object of a class that the player owns.
/// fn greet<T: Replicated>(player: &mut impl LocalPlayer) {
///     let owned = player.owned_objects::<T>().count();
///     player.send(&format!("hello from {owned}")).ok();
/// }
///
/// fn frame<T: Replicated>(server: Option<&mut Server>, client: Option<&mut Client>) {
///     client.map(greet::<T>);
///     server.and_then(Server::host).as_mut().map(greet::<T>);
/// }
/// ```
///
/// The method of the same name of [`HostHandle`] has the full description.
pub trait LocalPlayer {
    /// Returns an object that the player sees: [`Client::get`], [`HostHandle::get`].
    fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T>;

    /// Returns all objects of a class that the player sees: [`Client::objects`], [`HostHandle::objects`].
    fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)>;

    /// Returns the objects of a class that the player owns: [`HostHandle::owned_objects`], and
    /// [`owned_objects`](crate::ClientConnectionInfo::owned_objects) of a client.
    fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)>;

    /// Returns whether the player owns an object: [`HostHandle::is_owner`], and
    /// [`is_owner`](crate::ClientObjectInfo::is_owner) of a client.
    fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool;

    /// Returns the role of an object for the player: [`HostHandle::role`], and
    /// [`role`](crate::ClientObjectInfo::role) of a client.
    fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role>;

    /// Returns the path of an asset: [`Client::asset_path`], [`HostHandle::asset_path`].
    fn asset_path<T: ?Sized>(&self, asset: AssetRef<T>) -> Option<&str>;

    /// Returns the caller of an object, which has a method for each remote call: [`Client::call`],
    /// [`HostHandle::call`].
    #[track_caller]
    fn call<T: Rpcs>(&mut self, object: ObjectRef<T>) -> T::Caller<'_>;

    /// Returns the next call of a class that has arrived for the player: [`Client::poll_call`],
    /// [`HostHandle::poll_call`].
    #[track_caller]
    fn poll_call<T: Rpcs>(&mut self) -> Option<ReceivedCall<T, T::Call>>;

    /// Runs a call that was polled: [`Client::run_call`], [`HostHandle::run_call`].
    #[must_use = "a call without a body is returned"]
    fn run_call<T: Rpcs>(&mut self, received: ReceivedCall<T, T::Call>) -> Option<ReceivedCall<T, T::Call>>;

    /// Sends a message to the server: [`Client::send`], [`HostHandle::send`].
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent.
    #[track_caller]
    fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError>;

    /// Returns the next message of a type that has arrived for the player: [`Client::poll_message`],
    /// [`HostHandle::poll_message`].
    #[track_caller]
    fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M>;

    /// Returns the ticks for which the player has to set an input now: [`ClientInputs::due`],
    /// [`HostHandle::due_inputs`].
    ///
    /// [`ClientInputs::due`]: crate::ClientInputs::due
    #[track_caller]
    fn due_inputs<T: Clone + Send + Sync + 'static>(&mut self, now: Duration) -> Range<u64>;

    /// Sets the input of a tick: [`ClientInputs::set`](crate::ClientInputs::set), [`HostHandle::set_input`].
    ///
    /// # Errors
    /// Returns an error if no input is due for the tick, or if the input cannot be sent.
    #[track_caller]
    fn set_input<T: Clone + Send + Sync + 'static>(&mut self, tick: u64, input: &T)
    -> Result<(), InputError>;

    /// Returns the next event: [`Client::poll_event`], [`HostHandle::poll_event`].
    fn poll_event(&mut self) -> Option<ClientEvent>;

    /// Returns the next update of an object: [`Client::poll_update`], [`HostHandle::poll_update`].
    fn poll_update(&mut self) -> Option<Update>;
}

macro_rules! local_player {
    (
        $side:ty,
        |$player:ident, $object:ident, $now:ident, $tick:ident, $input:ident|
        owned_objects: $owned:expr,
        is_owner: $is_owner:expr,
        role: $role:expr,
        due_inputs: $due:expr,
        set_input: $set:expr
    ) => {
        impl LocalPlayer for $side {
            fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
                Self::get(self, object)
            }

            fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
                Self::objects(self)
            }

            fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
                let $player = self;
                $owned
            }

            fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
                let ($player, $object) = (self, object);
                $is_owner
            }

            fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role> {
                let ($player, $object) = (self, object);
                $role
            }

            fn asset_path<T: ?Sized>(&self, asset: AssetRef<T>) -> Option<&str> {
                Self::asset_path(self, asset)
            }

            fn call<T: Rpcs>(&mut self, object: ObjectRef<T>) -> T::Caller<'_> {
                Self::call(self, object)
            }

            fn poll_call<T: Rpcs>(&mut self) -> Option<ReceivedCall<T, T::Call>> {
                Self::poll_call(self)
            }

            fn run_call<T: Rpcs>(
                &mut self,
                received: ReceivedCall<T, T::Call>,
            ) -> Option<ReceivedCall<T, T::Call>> {
                Self::run_call(self, received)
            }

            fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
                Self::send(self, message)
            }

            fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
                Self::poll_message(self)
            }

            fn due_inputs<T: Clone + Send + Sync + 'static>(&mut self, $now: Duration) -> Range<u64> {
                let $player = self;
                $due
            }

            fn set_input<T: Clone + Send + Sync + 'static>(
                &mut self,
                $tick: u64,
                $input: &T,
            ) -> Result<(), InputError> {
                let $player = self;
                $set
            }

            fn poll_event(&mut self) -> Option<ClientEvent> {
                Self::poll_event(self)
            }

            fn poll_update(&mut self) -> Option<Update> {
                Self::poll_update(self)
            }
        }
    };
}

local_player!(
    Client,
    |client, object, now, tick, input|
    owned_objects: client.connection_info().owned_objects(),
    is_owner: client.object_info(object).is_owner(),
    role: client.object_info(object).role(),
    due_inputs: client.inputs::<T>().due(now),
    set_input: client.inputs().set(tick, input).map(drop)
);
local_player!(
    HostHandle<'_>,
    |host, object, _now, tick, input|
    owned_objects: Self::owned_objects(host),
    is_owner: Self::is_owner(host, object),
    role: Self::role(host, object),
    due_inputs: Self::due_inputs::<T>(host),
    set_input: Self::set_input(host, tick, input)
);
