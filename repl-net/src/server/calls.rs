//! Common code for remote calls of all classes on the server: finds objects and their owners, and queues
//! calls for connections.
//!
//! *Invariant:* a remote call is queued only for connections with a session that has begun.

use std::time::Duration;

use repl_core::{BitWriter, Guid, ObjectRef, Replicated};
use repl_link::{ConnectionId, DisconnectReason, SendError};

use super::Server;
use super::connection::{CallMeter, CallRoute};
use super::peer::Peer;
use super::rows::OwnColumn;
#[cfg(test)]
use repl_link::parts::Outgoing;
use repl_link::parts::Recipient;

impl Server {
    /// Returns the guid of an object, if the object exists and is a `T`.
    pub(crate) fn guid_of<T: Replicated>(&self, object: ObjectRef<T>) -> Option<Guid> {
        let slot = self.world.store.slot_of(object)?;
        let occupant = self.world.store.occupant(slot);
        self.world.store.has_class::<T>(occupant.class).then(|| occupant.guid(slot))
    }

    /// Returns whether the objects of a class live outside the server.
    pub(crate) fn is_external<T: Replicated>(&self) -> bool {
        let class = self.world.store.class_of::<T>();
        class.is_some_and(|class| !self.world.store.column(class).is::<OwnColumn<T>>())
    }

    /// Returns whether the session of a connection has begun and has not ended.
    pub(crate) fn is_live(&self, connection: ConnectionId) -> bool {
        let is_live = |peer: &Peer| peer.handshake.is_connected();
        self.sessions.peers.get(connection).is_some_and(is_live) || self.is_host(connection)
    }

    /// Sends the remote call in `writer` to the client that owns the object, as soon as the client has the
    /// object.
    pub(crate) fn send_call_to_owner(
        &mut self,
        owner: ConnectionId,
        object: Guid,
        channel: u16,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let peer = self.sessions.peers.get_mut(owner).ok_or(SendError::NotConnected)?;
        if !peer.handshake.is_connected() {
            return Err(SendError::NotConnected);
        }
        let route = CallRoute { object, recipient: Recipient::Owner, channel };
        peer.connection.send_call(&self.world, route, writer)
    }

    /// Sends the remote call in `writer` to all clients, to each as soon as it has the object. If too many
    /// calls wait for a client, the call is not sent to this client. If the call is reliable, the connection
    /// of this client then ends.
    ///
    /// # Errors
    /// Returns an error if the call is too large.
    pub(crate) fn send_call_to_all(
        &mut self,
        object: Guid,
        channel: u16,
        is_reliable: bool,
        writer: &mut BitWriter,
    ) -> Result<(), SendError> {
        let (mut laggards, recipient) = (Vec::new(), Recipient::Viewer);
        let route = CallRoute { object, recipient, channel };
        let live = self.sessions.peers.iter_mut().filter(|(_, peer)| peer.handshake.is_connected());
        for (id, peer) in live {
            match peer.connection.send_call(&self.world, route, writer) {
                Err(SendError::Full) if is_reliable => laggards.push(id),
                Err(SendError::Full | SendError::NotConnected) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        laggards.into_iter().for_each(|laggard| self.close(laggard, DisconnectReason::Unacknowledged));
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn outgoing_of(&mut self, connection: ConnectionId) -> &mut Outgoing {
        &mut self.sessions.peers.get_mut(connection).expect("a connection").connection.link.exchange.outgoing
    }

    /// Returns the count of the ignored calls and the time budget for calls, of a client or of the host.
    fn call_meter(&mut self, caller: ConnectionId) -> Option<&mut CallMeter> {
        match self.sessions.peers.get_mut(caller) {
            Some(peer) => Some(&mut peer.connection.calls.meter),
            None => self.host.as_deref_mut().filter(|host| host.id == caller).map(|host| &mut host.calls),
        }
    }

    /// Returns whether the caller has time left for its calls in this tick.
    pub(crate) fn has_call_time(&mut self, caller: ConnectionId, now: Duration) -> bool {
        if self.config.call_clock.is_none() {
            return true;
        }
        let per_second = self.config.call_time_per_second;
        self.call_meter(caller).is_none_or(|meter| meter.time.refill(now, per_second))
    }

    /// Runs a call of a client, and measures for how long it runs.
    pub(crate) fn timed_call(&mut self, caller: Option<ConnectionId>, run: impl FnOnce(&mut Self)) {
        let (Some(caller), Some(clock)) = (caller, self.config.call_clock) else { return run(self) };
        let start = clock();
        run(self);
        if let Some(meter) = self.call_meter(caller) {
            meter.time.spend(clock().saturating_sub(start));
        }
    }

    pub(crate) fn count_ignored_call(&mut self, connection: ConnectionId) {
        if let Some(meter) = self.call_meter(connection) {
            meter.ignored = meter.ignored.saturating_add(1);
        }
    }

    /// Ends the connection of a client whose remote call a validator rejected (S221).
    pub(crate) fn reject(&mut self, connection: ConnectionId, call: &'static str) {
        self.close(connection, DisconnectReason::Rejected(call.to_owned()));
    }
}
