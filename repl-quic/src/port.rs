//! The port of one side: its wire, and the connections that use it.
//!
//! *Invariant:* what the wire does not take is sent first the next time, before anything newer.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use quinn_proto::{ConnectionHandle, Endpoint, SendDatagramError, Transmit};
use repl_link::parts::to_sealed;

use crate::engine::{Arrival, Engine};
use crate::wire::Wire;

/// About so many datagrams are received at once at most, so that a flood does not keep the loop busy.
const MOST_DATAGRAMS: usize = 8_192;

/// So many datagrams of a connection are sent at once at most. Then it is the turn of the next one, so that
/// a queue that becomes full on the way loses nothing of those who have little to send.
const MOST_AT_ONCE: usize = 2;

/// Returns a packet in the form in which QUIC carries it.
pub(crate) fn sealed(packet: &[u8]) -> Bytes {
    let mut sealed = Vec::with_capacity(packet.len());
    to_sealed(packet, &mut sealed);
    sealed.into()
}

/// The wire of one side, and the connections that use it.
pub(crate) struct Port {
    pub(crate) engine: Engine,
    wire: Box<dyn Wire>,
    buffer: Vec<u8>,
    /// Datagrams in `buffer` that the wire did not take yet.
    unsent: Option<Transmit>,
}

impl Port {
    /// Returns a port with connections of the endpoint that `make` makes, which end after so much silence. It
    /// gets whether the network keeps datagrams whole.
    pub(crate) fn new(wire: Box<dyn Wire>, silence: Duration, make: impl FnOnce(bool) -> Endpoint) -> Self {
        let engine = Engine::new(make(wire.keeps_whole()), silence);
        Self { engine, wire, buffer: Vec::new(), unsent: None }
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.wire.local_address()
    }

    /// Receives what has arrived, and wakes connections. `decide` gets what is for no connection, with a
    /// buffer that may have an answer, and returns what to answer.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        mut decide: impl FnMut(&mut Engine, Arrival, &mut Vec<u8>) -> Option<Transmit>,
    ) -> io::Result<()> {
        let mut datagrams = 0_usize;
        while datagrams < MOST_DATAGRAMS {
            // Also what is no datagram takes time, and what is an empty one.
            datagrams = datagrams.saturating_add(1);
            let (engine, mut answers) = (&mut self.engine, Vec::new());
            let has_more = self.wire.receive(&mut |datagram| {
                datagrams = datagrams.saturating_add(1);
                let mut answer = Vec::new();
                let arrival = engine.take(now, datagram, &mut answer);
                if let Some(transmit) = decide(engine, arrival, &mut answer) {
                    answers.push((transmit, answer));
                }
            })?;
            for (transmit, answer) in answers {
                // An answer that the system does not take is lost, and the stranger asks again.
                self.wire.send(&transmit, &answer)?;
            }
            if !has_more {
                break;
            }
        }
        // What has arrived in the meantime comes before what its absence would mean.
        self.engine.wake(now);
        Ok(())
    }

    /// Gives a packet to a connection. Returns whether it was taken: it counts as lost if the system takes
    /// nothing for longer than a tick, or if the packet is larger than the path carries by now.
    pub(crate) fn send(
        &mut self,
        now: Duration,
        handle: ConnectionHandle,
        packet: Bytes,
    ) -> io::Result<bool> {
        let Some(connection) = self.engine.get_mut(handle) else { return Ok(false) };
        let packet = match connection.datagrams().send(packet, false) {
            Err(SendDatagramError::Blocked(packet)) => packet,
            sent => return Ok(sent.is_ok()),
        };
        self.flush(now, Some(handle))?;
        let connection = self.engine.get_mut(handle);
        Ok(connection.is_some_and(|connection| connection.datagrams().send(packet, false).is_ok()))
    }

    /// Sends what a connection has, or what all have, as far as the system takes it.
    pub(crate) fn flush(&mut self, now: Duration, only: Option<ConnectionHandle>) -> io::Result<()> {
        let most = self.wire.most_segments().min(MOST_AT_ONCE);
        if only.is_none() {
            self.engine.begin_round();
        }
        loop {
            if let Some(transmit) = self.unsent.take()
                && !self.wire.send(&transmit, &self.buffer)?
            {
                self.unsent = Some(transmit);
                return Ok(());
            }
            self.unsent = self.engine.poll_transmit(now, only, most, &mut self.buffer);
            if self.unsent.is_none() {
                return Ok(());
            }
        }
    }
}
