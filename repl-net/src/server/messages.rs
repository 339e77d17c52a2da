//! The server's methods that send and receive messages.
//!
//! *Invariant:* when a session ends, messages that wait to be sent are dropped, but messages that were
//! received before can still be polled. A message that waits for an object waits in the same queue as the
//! calls of its connection, and follows the same rules.

use repl_core::{NetSerialize, ObjectRef};
use repl_link::parts::{Recipient, ServerSessions};
use repl_link::{Channel, ConnectionId, MessageOptions, SendError};

use super::Server;
use super::cells::Group;
use super::connection::{CallRoute, Connection};

impl Server {
    /// Registers a type of messages, which the server and the clients can then send to each other. Register
    /// the same types with the same channels as on the clients, in any order.
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::{Channel, Server, ServerConfig};
    ///
    /// let mut server = Server::new(ServerConfig::default());
    /// server.register_message::<String>(Channel::Ordered);
    /// while let Some((from, text)) = server.poll_message::<String>() {
    ///     println!("{from:?} says {text}");
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), if a type of this name is registered already,
    /// or if a field of the type has a condition.
    #[track_caller]
    pub fn register_message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_message_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a type of messages with its own limits. The clients must register the type with the same
    /// limits.
    ///
    /// # Panics
    /// Panics in the same cases as [`register_message`](Self::register_message), or if a limit is out of the
    /// range in its description.
    #[track_caller]
    pub fn register_message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self {
        assert!(
            !self.is_registration_over(),
            "messages `{}` are new, but a client or a host has connected already: register them before the first one",
            M::WIRE_NAME,
        );
        self.sessions.mailbox.register::<M>(channel, options);
        self
    }

    /// Queues a message to every client whose session has begun. The next [`tick`](Self::tick) sends the
    /// message. It is encoded once for all clients.
    ///
    /// Returns the connections that have no room for the message ([`SendError::Full`]), in ascending order.
    /// The message is queued for all other connections. To a connection without room, send the message again
    /// in a later tick with [`send`](crate::ConnectionHandle::send), or
    /// [disconnect](crate::ConnectionHandle::disconnect) it. The list is always empty if the channel of the
    /// type is not [reliable](Channel::is_reliable).
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::{Channel, Server, ServerConfig};
    ///
    /// let mut server = Server::new(ServerConfig::default());
    /// server.register_message::<String>(Channel::Ordered);
    /// let full = server.send_to_all(&"the round begins".to_owned())?;
    /// full.into_iter().for_each(|connection| server.connection(connection).disconnect());
    /// # Ok::<(), repl_net::SendError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent to any client, because it is too large or has no form
    /// on the wire. In this case nothing is queued.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn send_to_all<M: NetSerialize + Send + Sync>(
        &mut self,
        message: &M,
    ) -> Result<Vec<ConnectionId>, SendError> {
        let full = self.sessions.send_to_each(message, |_| true)?;
        self.name_assets_in_message(&full, |_| true);
        self.message_host_if(message, |_| true)?;
        Ok(full)
    }

    /// Queues a message to a client. The message is sent as soon as the client has the object `object`.
    #[track_caller]
    pub(super) fn send_after<M: NetSerialize + Send + Sync>(
        &mut self,
        connection: ConnectionId,
        object: ObjectRef<()>,
        message: &M,
    ) -> Result<(), SendError> {
        if self.is_host(connection) {
            return if self.contains(object) { self.message_host(message) } else { Ok(()) };
        }
        let ServerSessions { peers, mailbox, .. } = &mut self.sessions;
        let (channel, writer) = mailbox.write(message)?;
        let peer = peers.get_mut(connection).filter(|peer| peer.handshake.is_connected());
        let peer = peer.ok_or(SendError::NotConnected)?;
        let exists = self.world.store.slot_of(object).is_some();
        let Some(object) = object.guid().filter(|_| exists) else { return Ok(()) };
        let route = CallRoute { object, recipient: Recipient::Anyone, channel };
        peer.connection.send_call(&self.world, route, writer)
    }

    /// Queues a message to every client in a [group](crate::ConnectionHandle::join_group), in the same way as
    /// [`send_to_all`](Self::send_to_all). Costs O(connections).
    ///
    /// # Errors
    /// Returns an error in the same cases as [`send_to_all`](Self::send_to_all).
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn send_to_group<M: NetSerialize + Send + Sync>(
        &mut self,
        group: Group,
        message: &M,
    ) -> Result<Vec<ConnectionId>, SendError> {
        let full = self.sessions.send_to_each(message, |connection| connection.copies.is_member(group))?;
        self.name_assets_in_message(&full, |connection| connection.copies.is_member(group));
        self.message_host_if(message, |host| host.groups.contains(&group))?;
        Ok(full)
    }

    /// Queues the names of the assets that the last written message refers to, for each connection that
    /// receives the message. These are the connections that `receives` accepts and that are not in `full`.
    pub(super) fn name_assets_in_message(
        &mut self,
        full: &[ConnectionId],
        receives: impl Fn(&Connection) -> bool,
    ) {
        let ServerSessions { peers, mailbox, .. } = &mut self.sessions;
        let numbers = mailbox.named_assets();
        if numbers.is_empty() {
            return;
        }
        for (id, peer) in peers.iter_mut() {
            let is_queued = peer.handshake.is_connected() && receives(&peer.connection);
            if is_queued && !full.contains(&id) {
                peer.connection.assets.need(numbers, &self.world.store.assets);
            }
        }
    }

    /// Returns the oldest unread message of a type from any client, and the connection that sent it. Returns
    /// `None` if there are no more messages of this type. Poll the messages of all types in each tick. At
    /// most 4,096 messages of a type from one client may wait, and their size together may be at most 1 MiB
    /// (plus [`max_bytes`](MessageOptions::max_bytes), if that is over 64 KiB). If a packet brings more than
    /// this, the connection of the client ends with [`Unread`](crate::DisconnectReason::Unread). If the
    /// channel is not reliable, the server instead drops the oldest waiting messages.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<(ConnectionId, M)> {
        self.sessions.mailbox.poll()
    }
}
