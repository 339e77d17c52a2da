//! The methods of the server that set how much is sent to a connection, and what goes first.
//!
//! *Invariant:* priorities and budgets decide when something is sent, and never whether it is sent.

use repl_core::{ObjectRef, Replicated};

use super::Server;
use super::cells::area::Position;
use super::priority::{LEAST, MOST, Viewer};
use repl_link::session::connection_id::ConnectionId;

impl Server {
    /// Sets the priority of the objects of a class, except those with [priorities of their
    /// own](Self::set_object_priority). Priorities matter only for a connection that cannot be sent
    /// everything in a tick, because of its [budget](Self::set_budget), its link or another limit. Then the
    /// objects with the greatest product of priority and age are sent first. The age is the number of ticks
    /// since something of the object began to wait for this connection. So an object with twice the priority
    /// is sent about twice as often. At first all priorities are 1. To its owner, an object is four times as
    /// important as its priority says (S189), but not more than 1,000,000, unless a
    /// [function](Self::set_priority_by) decides. Does not register the class. Costs nothing while everything
    /// fits.
    ///
    /// With equal priorities the changes that have waited longest are always sent first. If half of what is
    /// wanted fits, none of them waits for more than a few ticks. If priorities differ by a factor, waits
    /// differ by at most this factor.
    ///
    /// # Panics
    /// Panics if the class is not registered, or if the priority is not from 0.000001 to 1,000,000.
    #[track_caller]
    pub fn set_priority<T: Replicated>(&mut self, priority: f32) -> &mut Self {
        assert_in_range(priority);
        let class = self.registered::<T>();
        self.world.priorities.class(class).0 = priority;
        self
    }

    /// Gives an object a [priority](Self::set_priority) of its own, or with `None` that of its class. Does
    /// nothing if the object does not exist.
    ///
    /// # Panics
    /// Panics if the priority is not from 0.000001 to 1,000,000.
    #[track_caller]
    pub fn set_object_priority<T: ?Sized>(&mut self, object: ObjectRef<T>, priority: Option<f32>) {
        priority.into_iter().for_each(assert_in_range);
        let Some(slot) = self.world.slot_of(object) else { return };
        match priority {
            Some(priority) => _ = self.world.priorities.objects.insert(slot, priority),
            None => self.world.priorities.forget(slot),
        }
    }

    /// Lets a function multiply the [priorities](Self::set_priority) of the objects of a class, for example
    /// by their distance from the viewpoints of the connection. The function is called for each object that
    /// waits for a connection, in each tick in which not everything fits. It may read only properties, as
    /// [`locate`](Self::locate) says. A result outside of 0.000001 to 1,000,000 counts as the nearest number
    /// of this range, and so does the product.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::Server;
    /// # fn example<Creature: Replicated>(server: &mut Server, position: fn(&Creature) -> [f32; 3]) {
    /// server.set_priority_by(move |creature: &Creature, viewer| viewer.unreal_priority(position(creature), 1.0));
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_priority_by<T: Replicated>(
        &mut self,
        compute: impl Fn(&T, &Viewer<'_>) -> f32 + Send + Sync + 'static,
    ) -> &mut Self {
        let class = self.registered::<T>();
        self.world.priorities.class(class).1 = true;
        if let Some(shadows) = self.world.shadows_mut::<T>() {
            shadows.prioritize = Some(Box::new(compute));
        }
        self
    }

    /// Sets the directions in which a connection looks from each of its
    /// [viewpoints](Self::set_viewpoints), for [functions](Self::set_priority_by) that compute priorities.
    pub fn set_view_directions(&mut self, connection: ConnectionId, directions: &[Position]) {
        if let Some(peer) = self.connections.get_mut(connection) {
            peer.connection.backlog_mut().set_directions(directions);
        }
    }

    /// Sets how many bytes of state and messages are sent to a connection in a second, at least 1, instead of
    /// [`ServerConfig::max_bytes_per_second`](crate::ServerConfig::max_bytes_per_second). The congestion
    /// control may allow less. What a tick does not use of the budget is lost, except the bytes of one
    /// packet. Does nothing if the connection does not exist.
    ///
    /// If the budget of a tick is less than [`mtu_bytes`](crate::ServerConfig::mtu_bytes) and more waits, the
    /// packets are shorter. So something is sent in each tick with at least 64 bytes, and what has the
    /// greatest priority goes first. A single object that takes more than the budget of a tick is sent whole,
    /// and the next ticks send nothing until their budgets have paid for it. The headers of short packets
    /// count: with packets of 200 bytes, they take about a tenth of the budget.
    ///
    /// A budget costs nothing while everything fits. While something waits, this connection shares no bytes
    /// with others. Then each tick costs about 0.15 µs for each object that is sent, and 0.03 µs for each
    /// object that goes on waiting (`cargo bench -p repl-benches --bench budget`).
    ///
    /// # Panics
    /// Panics if the budget is zero.
    #[track_caller]
    pub fn set_budget(&mut self, connection: ConnectionId, bytes_per_second: usize) {
        assert!(bytes_per_second > 0, "a budget is at least 1: with 0, nothing could ever be sent");
        if let Some(peer) = self.connections.get_mut(connection) {
            peer.connection.link.outbox.set_budget(bytes_per_second, self.now);
        }
    }
}

#[track_caller]
fn assert_in_range(priority: f32) {
    assert!(
        (LEAST..=MOST).contains(&priority),
        "a priority is from {LEAST} to {MOST}, but {priority} was asked for"
    );
}
