//! The client's methods that return the owner, role and class of objects, what arrived, and statistics.
//!
//! *Invariant:* these methods do not change replicated values. What arrives is recorded only for classes
//! whose changes were asked for.

use std::time::Duration;

use repl_core::{ObjectRef, Replicated};

use super::Client;
use super::change_feed::Change;
use crate::transport::role::Role;

/// The traffic and the quality of a client's connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// Bytes of all packets made for the server.
    pub bytes_sent: u64,
    /// Bytes of all packets from the server that were accepted.
    pub bytes_received: u64,
    /// Packets received, with or without state, but without control packets.
    pub packets_received: u64,
    /// Packets from the server that did not arrive although later ones did. One that arrives late is no
    /// longer counted.
    pub packets_lost: u64,
    /// The smoothed round trip as the server measures it, in whole milliseconds. It includes the time that
    /// acks wait for this client's tick. The server sends it in every 32nd packet and in each keep-alive.
    /// `None` before the first ack.
    pub round_trip: Option<Duration>,
}

impl Client {
    /// Whether this client owns an object, by the server's last update. `false` if the object does not exist.
    #[must_use]
    pub fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.proxy(object).is_some_and(|proxy| proxy.is_owner)
    }

    /// The role of this client for an object (S204, S205), by the server's last update. `None` if the object
    /// does not exist. An [`AutonomousProxy`](Role::AutonomousProxy) has that role for its owner, and the
    /// role [`SimulatedProxy`](Role::SimulatedProxy) for all other clients.
    #[must_use]
    pub fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role> {
        self.replicas.proxy(object).map(|proxy| proxy.role)
    }

    /// The objects of a class that this client owns, with their references, in no particular order. O(objects
    /// of the class).
    pub fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.objects::<T>().filter(|(object, _)| self.is_owner(*object))
    }

    /// The name of an object's class. `None` if the object neither exists nor is [departed](Self::departed).
    #[must_use]
    pub fn class_name<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&'static str> {
        self.replicas.class_name(object)
    }

    /// The same reference with its object's type, if the object is a `T` that exists or is
    /// [departed](Self::departed).
    ///
    /// ```
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net::{Client, ClientEvent};
    /// fn welcome<Player: Replicated>(client: &mut Client) {
    ///     while let Some(event) = client.poll_event() {
    ///         if let ClientEvent::Spawned(object) = event
    ///             && let Some(player) = client.cast::<Player>(object)
    ///         {
    ///             let _: &Player = &client[player];
    ///         }
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn cast<T: Replicated>(&self, object: ObjectRef<()>) -> Option<ObjectRef<T>> {
        self.replicas.cast(object)
    }

    /// The last state of a removed object. It can be read from its removal until the first call of
    /// [`poll_event`](Self::poll_event) after the one that returned the object's
    /// [`Despawned`](crate::ClientEvent::Despawned).
    #[must_use]
    pub fn departed<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.replicas.departed(object)
    }

    /// What arrived of the objects of a class since the last call, once for each object, in no particular
    /// order. The first call returns all existing objects as new. From then on arrivals are recorded, which
    /// takes O(properties received), and memory for at most each existing object. Removed objects are not
    /// included: events report them.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Client;
    /// # fn draw<T>(_: &T) {}
    /// fn redraw<Player: Replicated>(client: &mut Client) {
    ///     for change in client.changes::<Player>() {
    ///         if change.is_new || change.properties().contains("position") {
    ///             draw(&client[change.object]);
    ///         }
    ///     }
    /// }
    /// ```
    pub fn changes<T: Replicated>(&mut self) -> impl Iterator<Item = Change<T>> + use<T> {
        self.replicas.changes::<T>().into_iter()
    }

    /// The server's tick of the newest packet, as [`Server::ticks`](crate::Server::ticks) counts. The client
    /// shows the world of this tick, or of earlier ones where packets were lost. Use it as a clock for
    /// interpolation. `None` before the first packet.
    #[must_use]
    pub fn server_tick(&self) -> Option<u64> {
        self.status.tick()
    }

    /// Whether all objects have arrived that existed when the server accepted this client and that it may
    /// see, with all items of their collections. The client learns it one round trip after the arrival, or
    /// later if new elements keep changing before they arrive.
    /// [`Synchronized`](crate::ClientEvent::Synchronized) reports it once.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.is_synchronized
    }

    /// The traffic and the quality of the connection so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        let first = self.config.first_sequence;
        let next = self.received.newest().map_or(first, |newest| newest.next().number());
        let packets_sent = next.saturating_sub(first);
        let round_trip = self.status.news.map(|news| news.round_trip).filter(|time| *time > Duration::ZERO);
        ClientStats {
            bytes_sent: self.outbox.queue.bytes_sent,
            bytes_received: self.bytes_received,
            packets_received: self.packets_received,
            packets_lost: packets_sent.saturating_sub(self.packets_received),
            round_trip,
        }
    }
}
