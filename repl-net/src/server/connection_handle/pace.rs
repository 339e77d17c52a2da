//! When and how much is sent to a connection: pauses and budgets.
//!
//! *Invariant:* a pause delays state and nothing else. A budget decides when something is sent, and never
//! whether it is sent.

use super::ConnectionHandle;

impl ConnectionHandle<'_> {
    /// Stops sending state to the connection, for example while its client loads a level. Messages, calls and
    /// keep-alive packets are still sent, and the client's own messages arrive. Changes are merged in the
    /// meantime, so the memory for them does not grow with the length of the pause. [`resume`](Self::resume)
    /// sends what the client lacks. If an object that the client has is destroyed during the pause, its slot
    /// stays taken until the pause ends.
    pub fn pause(&mut self) -> &mut Self {
        if let Some(peer) = self.server.sessions.peers.get_mut(self.connection) {
            peer.connection.pause();
        }
        self
    }

    /// Ends a [pause](Self::pause) of the connection. Does nothing if it is not paused.
    pub fn resume(&mut self) -> &mut Self {
        let now = self.server.sessions.now();
        if let Some(peer) = self.server.sessions.peers.get_mut(self.connection) {
            peer.connection.resume(now);
        }
        self
    }

    /// Sets the greatest size of the packets to the connection, in bytes. For example, QUIC begins with 1,162
    /// bytes, and finds after some time that the path carries larger packets. A size can be set at any time,
    /// also lower and before the handshake. It applies until you set another size. The client is not told,
    /// because its own transport knows the size of the packets that it may send.
    ///
    /// The size is at most [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes) and at most the
    /// client's [`mtu_bytes`](crate::ClientConfig::mtu_bytes), because each side receives no larger packets.
    /// It is at least 508, unless one of these two limits is smaller. Packets that were made already keep
    /// their size. Messages and large objects that are partly sent are divided again if their parts do not
    /// fit any more, and are sent again.
    ///
    /// A connection whose packets are limited to less than 1,100 bytes shares fewer encoded bytes with other
    /// connections.
    pub fn set_packet_bytes(&mut self, bytes: usize) -> &mut Self {
        self.server.sessions.set_packet_bytes(self.connection, bytes);
        self.server.shared_size.changed();
        self
    }

    /// Sets how many bytes of state and messages are sent to the connection in a second, at least 1, instead
    /// of [`ServerConfig::max_bytes_per_second`](crate::ServerConfig::max_bytes_per_second). The congestion
    /// control may allow less. Bytes that a tick does not use are lost, except the bytes of one packet.
    ///
    /// If the budget of a tick is less than [`mtu_bytes`](crate::ServerConfig::mtu_bytes) and more data
    /// waits, the packets are shorter. So each tick whose budget is at least 64 bytes sends something,
    /// beginning with the greatest priority. A single object that takes more than the budget of a tick is
    /// sent whole, and the next ticks send nothing until their budgets have paid for it. The headers of short
    /// packets count: with packets of 200 bytes, they take about a tenth of the budget.
    ///
    /// A budget costs no time while everything fits. While something waits, this connection shares no encoded
    /// bytes with other connections. Then each tick costs about 0.15 µs for each object that is sent, and
    /// 0.03 µs for each object that still waits (`cargo bench -p repl-benches --bench budget`).
    ///
    /// # Panics
    /// Panics if the budget is zero.
    #[track_caller]
    pub fn set_budget(&mut self, bytes_per_second: usize) -> &mut Self {
        assert!(bytes_per_second > 0, "a budget is at least 1: with 0, nothing could ever be sent");
        let now = self.server.sessions.now();
        if let Some(peer) = self.server.sessions.peers.get_mut(self.connection) {
            peer.connection.link.outbox.set_budget(bytes_per_second, now);
        }
        self
    }
}
