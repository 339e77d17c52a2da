//! What happens on a client when a session begins or ends, and what it forgets between two sessions.
//!
//! *Invariant:* nothing of a session is used in a later one but the registered types, messages and calls that
//! were not polled, the references that the user has, and what the statistics count.

use std::time::Duration;

use super::Client;
use super::sessions::{Beginning, EarlierSessions};
use crate::session::client_handshake::ClientHandshake;
use crate::session::disconnect::DisconnectReason;
use crate::session::events::ClientEvent;

impl Client {
    /// Handles the welcome that begins a session. Objects of an earlier session are removed: the server sends
    /// the objects that the client may still see.
    pub(super) fn session_began(&mut self) {
        let beginning = self.sessions.began(self.handshake.instance, self.now);
        if beginning != Beginning::First {
            let is_other_server = beginning == Beginning::OtherServer;
            self.replicas.begin_session(is_other_server, &mut self.events);
            self.mailbox.begin_session(self.replicas.epoch());
        }
        self.exchange.begin(&self.mailbox, self.config.timeout);
        self.events.push(ClientEvent::Connected);
    }

    /// Handles the end of a session.
    pub(super) fn session_ended(&mut self, reason: DisconnectReason, now: Option<Duration>) {
        self.exchange.end();
        if let Some(now) = now.filter(|_| self.config.reconnects) {
            self.sessions.ended(&reason, now, self.config.timeout);
        }
        self.events.push(ClientEvent::Disconnected(reason));
    }

    /// Begins the next session, if it is due.
    pub(super) fn reconnect(&mut self, now: Duration) {
        let Some(number) = self.sessions.take_due(now) else { return };
        self.handshake = ClientHandshake::new(number);
        self.earlier = EarlierSessions {
            packets_received: self.packets_received,
            packets_lost: self.connection_info().stats().packets_lost,
        };
        let (bytes_sent, packets_sent) = (self.outbox.queue.bytes_sent, self.outbox.queue.packets_sent);
        self.outbox = Self::new_outbox(&self.config);
        (self.outbox.queue.bytes_sent, self.outbox.queue.packets_sent) = (bytes_sent, packets_sent);
        self.link = Default::default();
        self.received = Default::default();
        self.ack_pace = Default::default();
        self.status = Default::default();
        self.clock = Default::default();
        self.is_synchronized = false;
    }
}
