//! Wraps a server, and shows its packets before the transport encrypts them, because encrypted packets cannot
//! be searched for secrets.
//!
//! *Invariant:* the transport gets each packet unchanged.

use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, Server};
use repl_link::Host;
use repl_link::parts::{Maker, Roster, ServerHandshake};

use crate::transport::Show;

/// A server, and the callback that gets its packets.
pub(crate) struct Ear<'a> {
    pub server: &'a mut Server,
    pub show: Show<'a>,
}

impl Host for Ear<'_> {
    fn roster(&self) -> &impl Roster {
        self
    }

    fn roster_mut(&mut self) -> &mut impl Roster {
        self
    }

    fn connect(&mut self, now: Duration, maker: Maker) -> ConnectionId {
        Host::connect(self.server, now, maker)
    }

    fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        Host::receive(self.server, connection, now, bytes);
    }

    fn close(&mut self, connection: ConnectionId, reason: DisconnectReason) {
        Host::close(self.server, connection, reason);
    }
}

impl Roster for Ear<'_> {
    fn timeout(&self) -> Duration {
        self.server.roster().timeout()
    }

    fn open(&self) -> usize {
        self.server.roster().open()
    }

    fn handshake(&self, id: ConnectionId) -> Option<&ServerHandshake> {
        self.server.roster().handshake(id)
    }

    fn closing(&self, id: ConnectionId, token: u64) -> Option<Vec<u8>> {
        self.server.roster().closing(id, token)
    }

    fn forget(&mut self, id: ConnectionId) -> Vec<Vec<u8>> {
        self.server.roster_mut().forget(id)
    }

    fn take_ended(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.server.roster_mut().take_ended(is_own)
    }

    fn take_removed(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.server.roster_mut().take_removed(is_own)
    }

    fn moved(&mut self, id: ConnectionId) {
        self.server.roster_mut().moved(id);
    }

    fn set_packet_bytes(&mut self, id: ConnectionId, bytes: usize) {
        self.server.roster_mut().set_packet_bytes(id, bytes);
    }

    fn next_transmitting(&mut self, is_meant: impl Fn(ConnectionId) -> bool) -> Option<ConnectionId> {
        self.server.roster_mut().next_transmitting(is_meant)
    }

    fn poll_transmit(&mut self, id: ConnectionId) -> Option<&[u8]> {
        let packet = self.server.roster_mut().poll_transmit(id)?;
        (self.show)(id, packet);
        Some(packet)
    }
}
