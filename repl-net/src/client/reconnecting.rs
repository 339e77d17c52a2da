//! Begins and ends sessions of a client, and decides what happens to its objects.
//!
//! *Invariant:* only the following remains from an earlier session: the registered types, messages and calls
//! that were not polled, references that the user has, and the statistics.

use repl_link::DisconnectReason;
use repl_link::parts::Beginning;

use super::Client;
use crate::session::events::ClientEvent;
use crate::telemetry;

impl Client {
    /// Begins a session after the server has accepted the client. Objects of an earlier session are removed,
    /// because the server sends again every object that the client may still see.
    pub(super) fn session_began(&mut self, beginning: Beginning) {
        if beginning != Beginning::First {
            let is_other_server = beginning == Beginning::OtherServer;
            self.replicas.begin_session(is_other_server);
            self.session.mailbox.begin_session(self.replicas.epoch());
        }
        telemetry::event!(INFO, "the session with the server has begun");
        self.events.push(ClientEvent::Connected);
    }

    pub(super) fn session_ended(&mut self, reason: DisconnectReason) {
        telemetry::event!(INFO, reason = %reason, "the session with the server has ended");
        self.events.push(ClientEvent::Disconnected(reason));
    }

    /// Begins the next session, if the time for it has come.
    pub(super) fn reconnect(&mut self) {
        if self.session.reconnect(&self.config.terms()) {
            self.status = Default::default();
            self.clock = Default::default();
            self.is_synchronized = false;
        }
    }
}
