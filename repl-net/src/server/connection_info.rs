//! What a server knows about a connection: its pause, its groups, its objects and its traffic.
//!
//! *Invariant:* nothing here changes the server.

use std::time::Duration;

use repl_core::{NetSerialize, ObjectRef, Replicated};
use repl_link::{ConnectionId, MessageProgress};

use super::Server;
use super::cells::Group;
use super::host::Host;
use super::peer::Peer;

/// The traffic and memory of a connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// The number of bytes of all packets that were made for the connection.
    pub bytes_sent: u64,
    /// The number of packets that were made for the connection.
    pub packets_sent: u64,
    /// The number of packets of state that count as lost.
    pub packets_lost: u64,
    /// The number of packets of state that are neither acknowledged nor counted as lost.
    pub packets_in_flight: usize,
    /// The time from a packet to its ack, smoothed over recent packets. It includes the time that an ack
    /// waits for the client's next tick. It is zero before the first ack.
    pub round_trip: Duration,
    /// The greatest size of a packet to the connection now, in bytes. See
    /// [`ConnectionHandle::set_packet_bytes`](crate::ConnectionHandle::set_packet_bytes).
    pub packet_bytes: usize,
    /// The approximate number of bytes of memory that the server held at the last tick for everything that
    /// the client has not acknowledged.
    /// [`ServerConfig::max_connection_bytes`](crate::ServerConfig::max_connection_bytes) limits the memory
    /// for unacknowledged data. Messages of more than 64 KiB are not counted.
    pub memory_bytes: usize,
    /// The number of remote calls of the client that were ignored, because the client did not own their
    /// objects, or the objects did not exist.
    pub ignored_calls: u64,
    /// The number of objects that waited at the end of the last tick, because the budget, the link or other
    /// limits did not allow more.
    pub waiting_objects: usize,
}

/// What a server knows about one of its connections. [`Server::connection_info`] returns a `ConnectionInfo`,
/// and [`Server::connection`] changes the connection.
#[derive(Clone, Copy)]
pub struct ConnectionInfo<'a> {
    server: &'a Server,
    connection: ConnectionId,
}

impl Server {
    /// Returns what the server knows about a connection. The connection need not exist: then the methods of
    /// the result return `None`, `false` or no objects.
    #[must_use]
    pub fn connection_info(&self, connection: ConnectionId) -> ConnectionInfo<'_> {
        ConnectionInfo { server: self, connection }
    }
}

impl<'a> ConnectionInfo<'a> {
    fn peer(self) -> Option<&'a Peer> {
        self.server.sessions.peers.get(self.connection)
    }

    /// Returns the number of the last tick of the server.
    pub(super) const fn ticks(self) -> u64 {
        self.server.world.frame
    }

    fn host(self) -> Option<&'a Host> {
        self.server.host.as_deref().filter(|host| host.id == self.connection)
    }

    /// Returns whether the connection is [paused](crate::ConnectionHandle::pause).
    #[must_use]
    pub fn is_paused(self) -> bool {
        self.peer().is_some_and(|peer| peer.connection.is_paused())
    }

    /// Returns whether the connection is in a [group](crate::Relevancy::Group).
    #[must_use]
    pub fn is_in_group(self, group: Group) -> bool {
        match self.peer() {
            Some(peer) => peer.connection.copies.is_member(group),
            None => self.host().is_some_and(|host| host.groups.contains(&group)),
        }
    }

    /// Returns whether the connection is the [host](Server::connect_host).
    #[must_use]
    pub fn is_host(self) -> bool {
        self.host().is_some()
    }

    /// Returns the objects of a class that the connection [owns](crate::ObjectHandle::set_owner), with their
    /// references, in no particular order. Costs O(objects of the class).
    pub fn owned_objects<T: Replicated>(self) -> impl Iterator<Item = (ObjectRef<T>, &'a T)> {
        let (server, owner) = (self.server, self.connection);
        server.objects::<T>().filter(move |(object, _)| server.object_info(*object).owner() == Some(owner))
    }

    /// Returns whether the client has an object of the server, or has removed it at most
    /// [`remember_removed_ticks`](crate::ServerConfig::remember_removed_ticks) ago. The server knows this
    /// only from the acks of the client. If a client acts on an object that it has never seen, the client
    /// cheats or has a bug. The [host](Server::connect_host) sees every object that exists. Costs
    /// O(log(removed objects)).
    #[must_use]
    pub fn has_seen<T: ?Sized>(self, object: ObjectRef<T>) -> bool {
        let Some(guid) = object.guid() else { return false };
        match self.peer() {
            Some(peer) => peer.connection.copies.has_seen(&self.server.world, guid),
            None => self.is_host() && self.server.object_info(object).class_name().is_some(),
        }
    }

    /// Returns how much was transferred of the messages of a type that are larger than a packet, in both
    /// directions. Costs O(messages of the type that wait).
    ///
    /// # Panics
    /// Panics if the type is not [registered](Server::register_message).
    #[must_use]
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(self) -> MessageProgress {
        self.server.sessions.message_progress::<M>(self.connection)
    }

    /// Returns the traffic and memory of the connection so far. Returns `None` after the connection was
    /// removed. For the [host](Server::connect_host), only the number of ignored calls is not zero.
    #[must_use]
    pub fn stats(self) -> Option<ConnectionStats> {
        if let Some(host) = self.host() {
            return Some(ConnectionStats {
                ignored_calls: host.calls.ignored.into(),
                ..ConnectionStats::default()
            });
        }
        let connection = &self.peer()?.connection;
        let queue = &connection.link.outbox.queue;
        Some(ConnectionStats {
            bytes_sent: queue.bytes_sent,
            packets_sent: queue.packets_sent,
            packets_lost: connection.link.health.packets_lost,
            packets_in_flight: connection.link.outbox.in_flight.unresolved(),
            round_trip: connection.link.health.round_trip.smoothed(),
            packet_bytes: connection.link.outbox.packet_bytes(),
            memory_bytes: connection.memory_bytes(),
            ignored_calls: connection.calls.meter.ignored.into(),
            waiting_objects: connection.waiting_objects(),
        })
    }
}
