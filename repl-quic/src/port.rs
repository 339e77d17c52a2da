//! The UDP port of one side: its [`Wire`], and the connections that use it.
//!
//! *Invariant:* datagrams that the wire did not take are sent before newer ones.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use quinn_proto::{ConnectionHandle, Endpoint, SendDatagramError, Transmit};
use repl_link::parts::to_sealed;

use crate::engine::{Arrival, Engine};
use crate::wire::Wire;

/// The approximate limit of datagrams that one call receives, so that a flood does not keep the loop busy.
const MOST_DATAGRAMS: usize = 8_192;

/// The greatest number of datagrams that a connection sends before the next connection has its turn. So, if a
/// queue on the way becomes full, connections with little to send lose nothing.
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
    /// Returns a port with the endpoint that `make` returns. Its connections end after this silence. `make`
    /// is called with whether the network never fragments datagrams.
    pub(crate) fn new(wire: Box<dyn Wire>, silence: Duration, make: impl FnOnce(bool) -> Endpoint) -> Self {
        let engine = Engine::new(make(wire.keeps_whole()), silence);
        Self { engine, wire, buffer: Vec::new(), unsent: None }
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.wire.local_address()
    }

    /// Receives datagrams, and handles timeouts of connections. `decide` is called for datagrams that belong
    /// to no connection. It writes an answer to the buffer, and returns where to send it.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        mut decide: impl FnMut(&mut Engine, Arrival, &mut Vec<u8>) -> Option<Transmit>,
    ) -> io::Result<()> {
        let mut datagrams = 0_usize;
        while datagrams < MOST_DATAGRAMS {
            // Count failed reads and empty datagrams too, because they also take time.
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
        // Timeouts come after the received datagrams, because an arrived datagram can prevent a timeout.
        self.engine.wake(now);
        Ok(())
    }

    /// Passes a packet to a connection. Returns whether the connection took it. Otherwise the packet counts
    /// as lost: the system has taken nothing for longer than a tick, or the packet is larger than the path
    /// carries now.
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

    /// Sends the datagrams of one connection or of all connections, until the system takes no more.
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
