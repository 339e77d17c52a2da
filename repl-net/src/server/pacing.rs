//! The methods of the server that pause connections, and that say why something is not sent.
//!
//! *Invariant:* a pause delays state and nothing else.

use repl_core::ObjectRef;

use super::Server;
use super::not_sent::NotSent;
use repl_link::session::connection_id::ConnectionId;

impl Server {
    /// Stops sending state to a connection, for example while its client loads a level. Messages, calls and
    /// keep-alive packets are still sent, and the client's own messages arrive. Changes are merged in the
    /// meantime, so the memory for them does not grow with the length of the pause, and
    /// [`resume`](Self::resume) sends what the client lacks. Slots of destroyed objects that the client has
    /// stay taken during the pause. Does nothing if the connection does not exist.
    pub fn pause(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.connections.get_mut(connection) {
            peer.connection.pause();
        }
    }

    /// Ends a [pause](Self::pause) of a connection. Does nothing if it is not paused.
    pub fn resume(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.connections.get_mut(connection) {
            peer.connection.resume(self.now);
        }
    }

    /// Returns whether a connection is [paused](Self::pause).
    #[must_use]
    pub fn is_paused(&self, connection: ConnectionId) -> bool {
        self.connections.get(connection).is_some_and(|peer| peer.connection.is_paused())
    }

    /// Returns why nothing of an object is sent to a connection now. Ask after [`tick`](Self::tick): before
    /// it, changes of this tick were not compared yet. Returns `None` if the connection or the object does
    /// not exist. For diagnosis: what a program does should not depend on the answer.
    #[must_use]
    pub fn why_not_sent<T: ?Sized>(&self, connection: ConnectionId, object: ObjectRef<T>) -> Option<NotSent> {
        let slot = self.world.slot_of(object)?;
        let connection = &self.connections.get(connection)?.connection;
        Some(if let Some(reason) = connection.why_not_sent(&self.world, slot) {
            reason
        } else if self.world.schedule.is_waiting(slot) {
            NotSent::Rate
        } else if self.world.is_dirty(slot) {
            NotSent::NextTick
        } else if connection.lacks_by_distance(&self.world, slot) {
            NotSent::Far
        } else {
            NotSent::NothingChanged
        })
    }
}
