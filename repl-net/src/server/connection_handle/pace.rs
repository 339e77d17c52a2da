//! When and how much is sent to a connection: pauses and budgets.
//!
//! *Invariant:* a pause delays state and nothing else. A budget decides when something is sent, and never
//! whether it is sent.

use super::ConnectionHandle;

impl ConnectionHandle<'_> {
    /// Stops sending state to the connection, for example while its client loads a level. Messages, calls and
    /// keep-alive packets are still sent, and the client's own messages arrive. Changes are merged in the
    /// meantime, so the memory for them does not grow with the length of the pause, and
    /// [`resume`](Self::resume) sends what the client lacks. Slots of destroyed objects that the client has
    /// stay taken during the pause.
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

    /// Sets the greatest size of the packets to the connection, in bytes, for example when the transport has
    /// found out what the path carries: QUIC goes from 1,162 bytes to more after some time. A size can be set
    /// at any time, also lower and before the handshake. It counts until another is set. The client is not
    /// told: its own transport knows what it may send.
    ///
    /// The size is never more than [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes) and the
    /// client's [`mtu_bytes`](crate::ClientConfig::mtu_bytes), which say what each side receives. It is never
    /// less than 508, unless one of these is. Packets that were made already keep their size. Messages and
    /// large objects of which a part was sent are cut anew if their parts do not fit any more, and sent again.
    ///
    /// If one of the connections has packets of less than 1,100 bytes, it shares fewer bytes with the others.
    pub fn set_packet_bytes(&mut self, bytes: usize) -> &mut Self {
        self.server.sessions.set_packet_bytes(self.connection, bytes);
        self.server.shared_size.changed();
        self
    }

    /// Sets how many bytes of state and messages are sent to the connection in a second, at least 1, instead
    /// of [`ServerConfig::max_bytes_per_second`](crate::ServerConfig::max_bytes_per_second). The congestion
    /// control may allow less. What a tick does not use of the budget is lost, except the bytes of one
    /// packet.
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
    pub fn set_budget(&mut self, bytes_per_second: usize) -> &mut Self {
        assert!(bytes_per_second > 0, "a budget is at least 1: with 0, nothing could ever be sent");
        let now = self.server.sessions.now();
        if let Some(peer) = self.server.sessions.peers.get_mut(self.connection) {
            peer.connection.link.outbox.set_budget(bytes_per_second, now);
        }
        self
    }
}
