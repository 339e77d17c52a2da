//! Tells the user what has arrived, and from which tick: the updates of objects, and the clock of the server.
//!
//! *Invariant:* the methods in this file do not change replicated values.

use repl_core::Replicated;

use super::Client;
use super::clock::ServerClock;
use crate::updates::update::{Update, UpdateKind};

impl Client {
    /// Returns the next update. An update says what happened to an object: for example, it was spawned,
    /// changed, received another owner, or was despawned. The updates of all classes are returned in the
    /// order of the packets in which they arrived. Returns `None` if there are no more updates.
    ///
    /// **Updates are recorded from the first call on.** The first updates report all objects that exist, as
    /// if they had just been [spawned](UpdateKind::Spawned). Therefore you miss nothing if you begin late. If
    /// nobody polls updates, the client does no work for them.
    ///
    /// Costs O(1) for each object in a packet. If more than 1,024 updates wait, the client drops those that
    /// are no longer needed: it drops all updates of an object that was spawned and despawned in the
    /// meantime, and merges all changes of an object into one update. Therefore the memory is limited by the
    /// number of objects, even if you stop polling.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net as repl;
    /// use repl::{Client, UpdateKind};
    ///
    /// /// Keeps a copy of each player, for example as a component of an ECS.
    /// fn copy_players<Player: Replicated>(
    ///     client: &mut Client,
    ///     players: &mut HashMap<ObjectRef<Player>, Player>,
    /// ) {
    ///     while let Some(update) = client.poll_update() {
    ///         let Some(player) = update.cast::<Player>() else { continue };
    ///         match update.what {
    ///             UpdateKind::Despawned(_) => _ = players.remove(&player),
    ///             _ => _ = update.copy_to(client, players.entry(player).or_default()),
    ///         }
    ///     }
    /// }
    /// ```
    pub fn poll_update(&mut self) -> Option<Update> {
        if let Some(departed) = self.last_departed.take() {
            self.replicas.release(departed);
        }
        let update = self.replicas.poll_update()?;
        if let UpdateKind::Despawned(_) = update.what {
            self.last_departed = Some(update.object);
        }
        Some(update)
    }

    /// Returns the server's tick in which the newest packet was made. [`Server::ticks`](crate::Server::ticks)
    /// returns the same number on the server. The objects on the client have the state of this tick, or an
    /// older state if packets were lost. Returns `None` before the first packet.
    #[must_use]
    pub fn server_tick(&self) -> Option<u64> {
        self.status.tick()
    }

    /// Returns an estimate of the server's clock: the tick in which the server is now, and the tick that the
    /// client should show so that movement is smooth.
    ///
    /// Each [update](Self::poll_update) contains the tick in which it was sent, but its object already has
    /// the newest values when the update is polled. If packets of several ticks can arrive in one frame, poll
    /// updates after each call of [`receive`](Self::receive), so that each position is stored with its own
    /// tick.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use std::time::Duration;
    /// # use repl_core::{ObjectRef, Replicated};
    /// # use repl_net::{Client, Interpolated, UpdateKind};
    /// # trait Located: Replicated { fn position(&self) -> [f32; 2]; }
    /// # fn draw(_: [f32; 2]) {}
    /// // In each frame, after the packets were received and `client.tick(now)` was called.
    /// fn draw_players<Player: Located>(
    ///     client: &mut Client,
    ///     positions: &mut HashMap<ObjectRef<Player>, Interpolated<[f32; 2]>>,
    /// ) {
    ///     while let Some(update) = client.poll_update() {
    ///         let Some(player) = update.cast::<Player>() else { continue };
    ///         if let Some(moved) = client.get(player).filter(|_| update.properties().contains("position")) {
    ///             // At most 4 ticks between two updates.
    ///             let positions = positions.entry(player).or_insert(Interpolated::new(4));
    ///             positions.push(update.tick, moved.position());
    ///         }
    ///     }
    ///     let Some(shown) = client.clock().shown_tick() else { return };
    ///     positions.retain(|player, _| client.contains(*player));
    ///     positions.values().filter_map(|positions| positions.shown_at(shown)).for_each(draw);
    /// }
    /// ```
    #[must_use]
    pub const fn clock(&self) -> &ServerClock {
        &self.clock
    }

    /// Returns whether the client has received the complete initial state: all objects that it may see and
    /// that existed when the server accepted it, with all items of their collections. The server tells the
    /// client when this state is complete. The client learns this one round trip after the last object of the
    /// state has arrived, or later if new elements are changed before they arrive. The event
    /// [`Synchronized`](crate::ClientEvent::Synchronized) reports it once.
    #[must_use]
    pub fn is_synchronized(&self) -> bool {
        self.is_synchronized
    }
}

impl Update {
    /// Copies the [properties](Self::properties) of this update from the client's object to `to`, for example
    /// to a component of an ECS. If the object is new, copies all properties, because the initial values of
    /// the object may differ from the values in `to`. Otherwise copies the properties that arrived. The other
    /// fields of `to` do not change. Returns `false` and copies nothing if the object's class is not `T` or
    /// the object no longer exists. Costs O(copied values). If a collection has changed, all its elements are
    /// copied. [`Client::poll_update`] has an example.
    pub fn copy_to<T: Replicated>(&self, client: &Client, to: &mut T) -> bool {
        client.replicas.copy_updated(self, to)
    }

    /// Returns whether [`copy_to`](Self::copy_to) would change `to`. If packets were lost, an update may
    /// contain values that `to` already has. Costs O(compared values).
    #[must_use]
    pub fn differs_from<T: Replicated>(&self, client: &Client, to: &T) -> bool {
        client.replicas.differs_from(self, to)
    }
}
