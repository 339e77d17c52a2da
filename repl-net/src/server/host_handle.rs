//! A handle of the host: the player in the process of the server has the same methods here as a client.
//!
//! *Invariant:* an action of the host has the same effect on the server as the same action of a client.

use repl_core::{AssetRef, NetSerialize, ObjectRef, Replicated};
use repl_link::{ConnectionId, SendError};

use super::Server;
use crate::body::role::Role;
use crate::session::events::ClientEvent;
use crate::updates::update::Update;

/// The player in the process of a server (a listen server): makes calls, sends messages, and polls the
/// messages and calls for it. [`Server::connect_host`] begins a host, and [`Server::host`] returns a
/// `HostHandle`.
///
/// The methods have the same names as those of [`Client`](crate::Client), and do the same. A function that is
/// generic over the trait [`LocalPlayer`](crate::LocalPlayer) works for clients and for the host. The host
/// has no copies of objects: it sees all objects of the server, as they are in `server[object]`.
pub struct HostHandle<'a> {
    pub(crate) server: &'a mut Server,
    id: ConnectionId,
}

impl Server {
    /// Returns the host, or `None` if there is none: [`connect_host`](Self::connect_host) was not called, or
    /// the host was disconnected.
    #[must_use]
    pub fn host(&mut self) -> Option<HostHandle<'_>> {
        let id = self.host.as_ref()?.id;
        Some(HostHandle { server: self, id })
    }
}

impl HostHandle<'_> {
    /// Returns the connection of the host. The server uses it like the connection of a client: it can own
    /// objects, join groups and receive messages.
    #[must_use]
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns an object of the server, or `None` if it does not exist, or is [external](crate::External).
    #[must_use]
    pub fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.server.get(object)
    }

    /// Returns all objects of a class with their references, in no particular order.
    pub fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.server.objects()
    }

    /// Returns the objects of a class that the host owns, with their references, in no particular order.
    /// Costs O(objects of the class).
    pub fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.server.connection_info(self.id).owned_objects()
    }

    /// Returns whether the host owns an object. Returns `false` if the object does not exist.
    #[must_use]
    pub fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.server.object_info(object).owner() == Some(self.id)
    }

    /// Returns the role of the host for an object: [`Authority`](Role::Authority), because it is in the
    /// process of the server, as in Unreal. Returns `None` if the object does not exist. The host controls
    /// the objects that it [owns](Self::is_owner).
    #[must_use]
    pub fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role> {
        self.server.contains(object).then_some(Role::Authority)
    }

    /// Returns the path of an asset, or `None` if the reference is null or not from this server.
    #[must_use]
    pub fn asset_path<T: ?Sized>(&self, asset: AssetRef<T>) -> Option<&str> {
        self.server.asset_path(asset)
    }

    /// Returns the next event. Returns `None` if there are no more, or if the host did not ask for
    /// [events](crate::HostOptions::events). There are two events: [`Connected`](ClientEvent::Connected), and
    /// in the first [`tick`](Server::tick) [`Synchronized`](ClientEvent::Synchronized).
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.server.host.as_mut()?.news.as_mut()?.pop()
    }

    /// Returns the next update of an object, or `None` if there are no more, or if the host did not ask for
    /// [events](crate::HostOptions::events). The updates are the same as for a client that sees all objects,
    /// but without updates about changed properties. In the first [`tick`](Server::tick) each object is
    /// [`Spawned`](crate::UpdateKind::Spawned). Then each tick reports the objects that were spawned,
    /// [despawned](crate::UpdateKind::Despawned) and [torn off](crate::UpdateKind::TornOff), and the objects
    /// whose owner [changed](crate::UpdateKind::Owner) from or to the host. A removed object has no last
    /// state. Static objects are reported like all others.
    pub fn poll_update(&mut self) -> Option<Update> {
        self.server.host.as_mut()?.news.as_mut()?.pop_update()
    }

    /// Sends a message to the server. The server can poll it with [`poll_message`](Server::poll_message) in
    /// the same tick.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Client::send`](crate::Client::send), but never
    /// [`Full`](SendError::Full), because a message to the host's own server needs no acks.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Server::register_message).
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        let channel = self.server.sessions.mailbox.channel_of::<M>();
        self.server.send_from_host((channel, 0), |writer| message.write(writer))
    }

    /// Returns the oldest unread message of a type that the server sent to the host. Returns `None` if there
    /// are no more. The limits of unread messages are the same as for a client. If more messages wait, the
    /// connection of the host ends with [`Unread`](crate::DisconnectReason::Unread), or the oldest messages
    /// are dropped if the channel is not reliable.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Server::register_message).
    #[track_caller]
    pub fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
        self.server.sessions.mailbox.channel_of::<M>();
        let mailbox = &mut self.server.host.as_mut()?.mailbox;
        mailbox.channel(std::any::TypeId::of::<M>())?;
        mailbox.poll().map(|((), message)| message)
    }
}
