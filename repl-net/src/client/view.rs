//! The methods of the client that say something about objects and the session: owner, role and class of
//! objects, removed objects, the properties that arrived, and statistics.
//!
//! *Invariant:* the methods in this file do not change replicated values. The client records which properties
//! arrive only for classes whose changes the user has asked for.

use std::time::Duration;

use repl_core::{ObjectRef, Replicated};

use super::Client;
use repl_link::client::SessionStats;
use super::change_feed::Change;
use super::clock::ServerClock;
use crate::body::role::Role;

/// The traffic and the quality of a client's connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// The number of bytes of all packets that this client has made for the server.
    pub bytes_sent: u64,
    /// The number of bytes of all packets from the server that were accepted.
    pub bytes_received: u64,
    /// The number of received packets, without the control packets of the handshake.
    pub packets_received: u64,
    /// The number of packets from the server that did not arrive although later packets did, or arrived too
    /// late to be applied. A packet that arrives late and is applied is subtracted from this number again.
    pub packets_lost: u64,
    /// The number of packets with messages to the server that are neither acknowledged nor counted as lost.
    pub packets_in_flight: usize,
    /// The smoothed round trip that the server measures, in whole milliseconds. The round trip includes the
    /// time that acks wait for this client's tick. The server sends the smoothed round trip in every 32nd
    /// packet and in each keep-alive. `round_trip` is `None` before the first ack.
    pub round_trip: Option<Duration>,
}

impl Client {
    /// Returns the answer of the server's application to the [login](crate::ClientConfig::login) of this
    /// client. The answer is empty before the server has accepted the client, and if the server accepts every
    /// client.
    #[must_use]
    pub fn login_answer(&self) -> &[u8] {
        self.session.login_answer()
    }

    /// Returns the number that identifies the server that accepted this client last. A server that was
    /// started again with another secret has another number. Returns `None` if no server has accepted this
    /// client yet.
    #[must_use]
    pub fn server_instance(&self) -> Option<u64> {
        self.session.server_instance()
    }

    /// Returns whether this client owns an object, according to the last information from the server. Returns
    /// `false` if the object does not exist.
    #[must_use]
    pub fn is_owner<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.proxy(object).is_some_and(|proxy| proxy.is_owner)
    }

    /// Returns the role of this client for an object (S204, S205), according to the last information from the
    /// server. Returns `None` if the object does not exist. If the server sets the role
    /// [`AutonomousProxy`](Role::AutonomousProxy), the owner has this role, and all other clients have the
    /// role [`SimulatedProxy`](Role::SimulatedProxy).
    #[must_use]
    pub fn role<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<Role> {
        self.replicas.proxy(object).map(|proxy| proxy.role)
    }

    /// Returns whether an object sleeps on the server ([`Dormancy`](crate::Dormancy)): this client has the
    /// current state of the object, and nothing of the object is on its way. The next update of the object
    /// wakes it. Returns `false` if the object does not exist.
    #[must_use]
    pub fn is_asleep<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.is_asleep(object)
    }

    /// Returns the objects of a class that this client owns, with their references, in no particular order.
    /// Costs O(objects of the class).
    pub fn owned_objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.objects::<T>().filter(|(object, _)| self.is_owner(*object))
    }

    /// Returns the name of an object's class. Returns `None` if the object neither exists nor is
    /// [departed](Self::departed).
    #[must_use]
    pub fn class_name<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<&'static str> {
        self.replicas.class_name(object)
    }

    /// Returns the reference with its object's type, if the object is a `T` that exists or is
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

    /// Returns the last state of a removed object. The last state of a removed object can be read until
    /// [`poll_event`](Self::poll_event) is called again after it has returned the event
    /// [`Despawned`](crate::ClientEvent::Despawned) of the object.
    #[must_use]
    pub fn departed<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.replicas.departed(object)
    }

    /// Returns which properties of the objects of a class arrived since the last call of this method. The
    /// result of `changes` has one change for each object, in no particular order. The first call of
    /// `changes` returns all existing objects as new. After the first call of `changes`, the client records
    /// which properties arrive. Recording the properties that arrive costs O(properties received), and memory
    /// for each existing object at most. Removed objects are not included, because events report their
    /// removal.
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

    /// Copies the properties in `change` from the client's object to `to`, for example to a component of an
    /// ECS. If the object is new, all replicated properties are copied, because the initial values of the
    /// object may differ from the values in `to`. The other fields of `to` do not change. If the object does
    /// not exist any more, nothing is copied and the method returns false. Costs O(values copied). If a
    /// collection changed, all its elements are copied.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net::Client;
    /// // In each tick, after the packets were received.
    /// fn copy_out<Player: Replicated + Default>(
    ///     client: &mut Client,
    ///     components: &mut HashMap<ObjectRef<Player>, Player>,
    /// ) {
    ///     for change in client.changes::<Player>() {
    ///         client.copy_changed(&change, components.entry(change.object).or_default());
    ///     }
    /// }
    /// ```
    pub fn copy_changed<T: Replicated>(&self, change: &Change<T>, to: &mut T) -> bool {
        self.replicas.copy_changed(change, to)
    }

    /// Returns the number of the server's tick in which the newest packet was made, as
    /// [`Server::ticks`](crate::Server::ticks) counts ticks. The objects on the client have the state of the
    /// tick in which the newest packet was made, or an older state if packets were lost. Returns `None`
    /// before the first packet.
    #[must_use]
    pub fn server_tick(&self) -> Option<u64> {
        self.status.tick()
    }

    /// Returns an estimate of the server's clock: the tick that the server has now, and the tick that the
    /// client should show so that movement is smooth.
    ///
    /// A change has no tick of its own: [`server_tick`](Self::server_tick) is the tick of the newest packet.
    /// If packets of several ticks can arrive in one frame, call [`changes`](Self::changes) after each
    /// [`receive`](Self::receive), so that each position is stored with the tick in which it was sent.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use std::time::Duration;
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net::{Client, Interpolated};
    /// # trait Located: Replicated { fn position(&self) -> [f32; 2]; }
    /// # fn draw(_: [f32; 2]) {}
    /// // In each frame, after the packets were received and `client.tick(now)` was called.
    /// fn draw_players<Player: Located>(
    ///     client: &mut Client,
    ///     positions: &mut HashMap<ObjectRef<Player>, Interpolated<[f32; 2]>>,
    /// ) {
    ///     let arrived = client.server_tick().unwrap_or_default();
    ///     for change in client.changes::<Player>() {
    ///         // At most 4 ticks between two updates.
    ///         let positions = positions.entry(change.object).or_insert(Interpolated::new(4));
    ///         positions.push(arrived, client[change.object].position());
    ///     }
    ///     let shown = client.clock().shown_tick().unwrap_or(arrived as f64);
    ///     positions.retain(|player, _| client.contains(*player));
    ///     positions.values().filter_map(|positions| positions.shown_at(shown)).for_each(draw);
    /// }
    /// ```
    #[must_use]
    pub const fn clock(&self) -> &ServerClock {
        &self.clock
    }

    /// Returns whether the client has received the complete state from the time when the server accepted the
    /// client. The complete state consists of all objects that existed at that time and that the client may
    /// see, with all items of their collections. The server tells the client that its state is complete, one
    /// round trip after the last object of this state arrived, or later if new elements keep changing before
    /// they arrive. [`Synchronized`](crate::ClientEvent::Synchronized) reports once that the state is
    /// complete.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.is_synchronized
    }

    /// Returns the traffic and the quality of the connection so far.
    #[must_use]
    pub fn stats(&self) -> ClientStats {
        let SessionStats { bytes_sent, bytes_received, packets_received, packets_lost, packets_in_flight } =
            self.session.stats(&self.config.terms());
        let round_trip = self
            .status
            .connection
            .map(|connection| connection.round_trip)
            .filter(|time| *time > Duration::ZERO);
        ClientStats {
            bytes_sent,
            bytes_received,
            packets_received,
            packets_lost,
            packets_in_flight,
            round_trip,
        }
    }
}
