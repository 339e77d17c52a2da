//! What a client can say of its objects beside their values, and of its connection.
//!
//! *Invariant:* nothing here changes what the client holds; what is collected for the user is collected once it was asked for.

use std::time::Duration;

use repl_core::{ObjectRef, Replicated};

use super::Client;
use super::change_feed::Change;
use crate::transport::role::Role;

/// What a client's connection has cost so far, and how good it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// Bytes of all packets made for the server.
    pub bytes_sent: u64,
    /// Bytes of all packets of the server that were taken.
    pub bytes_received: u64,
    /// Packets with or without state, control packets apart, that were received.
    pub packets_received: u64,
    /// Packets of the server that did not arrive, though later ones did. One that comes late is not counted any more.
    pub packets_lost: u64,
    /// The smoothed round trip as the server measures it, in whole milliseconds, with the time that acks wait for this client's tick. The
    /// server tells it with every 32nd packet and with each sign of life; `None` before the first ack.
    pub round_trip: Option<Duration>,
}

impl Client {
    /// Whether this client owns an object, by what the server last told; `false` if the object is not there.
    #[must_use]
    pub fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.proxy(object).is_some_and(|proxy| proxy.is_owner)
    }

    /// The role of this client for an object (S204, S205), by what the server last told; `None` if the object is not there. An
    /// [`AutonomousProxy`](Role::AutonomousProxy) is one at its owner, and a [`SimulatedProxy`](Role::SimulatedProxy) at all others.
    #[must_use]
    pub fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role> {
        self.replicas.proxy(object).map(|proxy| proxy.role)
    }

    /// The objects of a class that this client owns, with their references, in no particular order. O(objects of the class).
    pub fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.objects::<T>().filter(|(object, _)| self.is_owner(*object))
    }

    /// The name of an object's class; `None` if the object is neither there nor [departed](Self::departed).
    #[must_use]
    pub fn class_name<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&'static str> {
        self.replicas.class_name(object)
    }

    /// The same reference with its object's type, if the object is a `T` that is there or [departed](Self::departed).
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

    /// An object that is gone, as it was last: from its end until [`poll_event`](Self::poll_event) is called after it has returned the
    /// [`Despawned`](crate::ClientEvent::Despawned) of that end.
    #[must_use]
    pub fn departed<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.replicas.departed(object)
    }

    /// What arrived of the objects of a class since the last call, for each object once, in no particular order. The first call returns all
    /// objects that are there as new; from then on it is noted what arrives, which takes O(properties received), and memory for
    /// each object that is there at most. Objects that are gone are not among them: events tell of those.
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

    /// The server's tick that the newest packet is of, as [`Server::ticks`](crate::Server::ticks) counts them: what arrived until then shows
    /// the world of this tick, or of earlier ones where packets were lost. A clock to interpolate by. `None` before the first packet.
    #[must_use]
    pub fn server_tick(&self) -> Option<u64> {
        self.status.tick()
    }

    /// Whether everything has arrived that was there when the server accepted this client, and that it may see: objects, with all items
    /// of their collections. Told a round trip after it arrived, and later where new elements change before they arrive, again and again.
    /// [`Synchronized`](crate::ClientEvent::Synchronized) tells it once.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.is_synchronized
    }

    /// What the connection has cost so far, and how good it is.
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
