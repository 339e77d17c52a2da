//! A handle of one connection: the server's methods that answer its login, set its budget and what it sees,
//! send it messages, and end it.
//!
//! *Invariant:* each method does nothing if the connection does not exist.

mod pace;
mod session;
mod sight;

use repl_core::{NetSerialize, ObjectRef};
use repl_link::{ConnectionId, SendError};

use super::Server;

/// One connection of a server: answers its login, says how much it is sent and from where it sees objects,
/// sends it messages, and ends it. [`Server::connection`] returns a `ConnectionHandle`.
///
/// The methods that set something return the handle, so that several can be chained. Each method does nothing
/// if the connection does not exist. [`Server::connection_info`] returns what is known about a connection.
/// For the [host](Server::connect_host), the methods for messages, for groups and for disconnecting work as
/// for a client, and all other methods have no effect.
///
/// ```
/// # use repl_net::{ConnectionId, Group, Server};
/// fn greet(server: &mut Server, connection: ConnectionId, team: Group) -> Result<(), repl_net::SendError> {
///     server.connection(connection).join_group(team).set_budget(20_000).send(&"welcome".to_owned())
/// }
/// ```
pub struct ConnectionHandle<'a> {
    pub(crate) server: &'a mut Server,
    pub(crate) connection: ConnectionId,
}

impl Server {
    /// Returns a handle of a connection, to answer its login, to change what it is sent, to send it a
    /// message, or to end it. The connection need not exist.
    #[must_use]
    pub fn connection(&mut self, connection: ConnectionId) -> ConnectionHandle<'_> {
        ConnectionHandle { server: self, connection }
    }
}

impl ConnectionHandle<'_> {
    /// Queues a message to the client, which is sent in the next [`tick`](Server::tick). If the link is
    /// narrow, messages and state share the link
    /// ([`message_percent`](crate::ServerConfig::message_percent)).
    ///
    /// References in a message are resolved when the message is delivered. A reference to an object that the
    /// other side does not have at that time reads as null.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. If the message cannot be sent, nothing has changed.
    /// After [`SendError::Full`], the call can be tried again later.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Server::register_message).
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        if self.server.is_host(self.connection) {
            return self.server.message_host(message);
        }
        self.server.sessions.send(self.connection, message)?;
        self.server.name_assets_in_message(&[], |connection| connection.id() == self.connection);
        Ok(())
    }

    /// Queues a message to the client as [`send`](Self::send) does, but sends it only after the client has
    /// acknowledged an object, for example an object that the message mentions. So a reference to the object
    /// in the message is not null when the message is delivered, unless the object is hidden from the client
    /// in the meantime. If the object is despawned or torn off, a reliable message that was sent before
    /// arrives before the client learns of the end of the object.
    ///
    /// A message that waits is dropped if the client cannot receive the object any more: it was despawned or
    /// hidden before the client had it, or the session has ended. A message is dropped at once if the client
    /// may not see the object, or if it does not exist. As for [calls](crate::Rpcs), this is not an error.
    ///
    /// Messages of one type that wait for the same object keep their order. Other messages of this type may
    /// overtake them.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`send`](Self::send). Returns [`SendError::Full`] if the message
    /// must wait, but 4,096 messages and calls of this connection already wait for objects, or their total
    /// size with this message would be more than 1 MiB.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Server::register_message).
    #[track_caller]
    pub fn send_after<M: NetSerialize + Send + Sync, T: ?Sized>(
        &mut self,
        object: ObjectRef<T>,
        message: &M,
    ) -> Result<(), SendError> {
        self.server.send_after(self.connection, object.erase(), message)
    }
}
