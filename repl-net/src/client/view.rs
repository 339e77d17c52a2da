//! What arrived at a client, and from which tick: the properties that changed, and the clock of the server.
//!
//! *Invariant:* the methods in this file do not change replicated values. The client records which properties
//! arrive only for classes whose changes the user has asked for.

use repl_core::Replicated;

use super::Client;
use super::change_feed::Change;
use super::clock::ServerClock;

impl Client {
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
}

impl<T: Replicated> Change<T> {
    /// Copies the properties of this change from the client's object to `to`, for example to a component of
    /// an ECS. If the object is new, all replicated properties are copied, because the initial values of the
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
    ///         change.copy_to(client, components.entry(change.object).or_default());
    ///     }
    /// }
    /// ```
    pub fn copy_to(&self, client: &Client, to: &mut T) -> bool {
        client.replicas.copy_changed(self, to)
    }
}
