//! How the session of a connection begins and ends: the answer to its login, and its end.
//!
//! *Invariant:* a login is answered at most once.

use repl_link::DisconnectReason;
use repl_link::parts::{max_login_bytes, shortened};

use super::ConnectionHandle;

impl ConnectionHandle<'_> {
    /// Ends the connection. The next [`poll_transmit`](crate::Server::poll_transmit) returns the packet that
    /// tells the client that the connection ends. The connection is removed one timeout after its end. Until
    /// then, the server tells the client again whenever a packet shows that the client does not know of the
    /// end. [`DisconnectReason`] lists the reasons that both sides report.
    pub fn disconnect(&mut self) {
        self.server.close(self.connection, DisconnectReason::Closed);
    }

    /// Ends the connection in the same way as [`disconnect`](Self::disconnect), and sends a reason to the
    /// client. The client reports it as [`DisconnectReason::ClosedWith`]. A reason is cut if it is longer
    /// than 255 bytes, or longer than the packet limit minus 8.
    pub fn disconnect_with(&mut self, text: &str) {
        self.server.close(self.connection, DisconnectReason::ClosedWith(shortened(text)));
    }

    /// Accepts the login of the client, so that the handshake continues. The client reads the answer with
    /// [`login_answer`](crate::ClientConnectionInfo::login_answer). Returns `false` and does nothing if no
    /// login of this connection waits for an answer. If the answer does not fit into the packets that the
    /// client receives, which have at least 508 bytes, the connection ends with
    /// [`DisconnectReason::Limits`]. An answer of up to 444 bytes always fits.
    ///
    /// # Panics
    /// Panics if the answer has more than 512 bytes, or more than
    /// [`ServerConfig::mtu_bytes`](crate::ServerConfig::mtu_bytes) minus 64.
    #[track_caller]
    pub fn accept(&mut self, answer: &[u8]) -> bool {
        let (server, connection) = (&mut *self.server, self.connection);
        let most = max_login_bytes(server.config.mtu_bytes);
        assert!(answer.len() <= most, "an answer to a login has at most {most} bytes, not {}", answer.len());
        if !server.sessions.awaits_login(connection) {
            return false;
        }
        server.accept(connection, answer);
        true
    }

    /// Refuses the login of the client, and sends a reason to the client. The client reports it as
    /// [`DisconnectReason::Refused`]. A reason is cut if it is longer than 255 bytes, or longer than the
    /// packet limit minus 8. Returns `false` and does nothing if no login of this connection waits for an
    /// answer.
    pub fn refuse(&mut self, text: &str) -> bool {
        let awaits_login = self.server.sessions.awaits_login(self.connection);
        if awaits_login {
            self.server.close(self.connection, DisconnectReason::Refused(shortened(text)));
        }
        awaits_login
    }
}
