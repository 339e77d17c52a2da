//! The UDP port of a server or client: its [`Wire`] (socket or simulated network), and the connections that
//! use it.
//!
//! *Invariant:* if the wire did not accept datagrams, they are sent before newer datagrams.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::{ConnectionHandle, Endpoint, EndpointConfig, SendDatagramError, Transmit};

use crate::engine::{Arrival, Engine};
use crate::wire::Wire;

/// One call stops receiving after approximately this many datagrams. Otherwise a flood could block the game's
/// loop.
const MOST_DATAGRAMS: usize = 8_192;

/// The greatest number of datagrams that a connection sends before the next connection may send. With a small
/// number, connections with few datagrams lose less if a queue on the path becomes full.
const MOST_AT_ONCE: usize = 2;

/// The wire of a server or client, and the connections that use it.
pub(crate) struct Port {
    pub(crate) engine: Engine,
    wire: Box<dyn Wire>,
    buffer: Vec<u8>,
    /// The datagrams in `buffer` that the wire did not accept yet.
    unsent: Option<Transmit>,
}

impl Port {
    /// Returns a port whose connections have the settings `config`.
    pub(crate) fn new(wire: Box<dyn Wire>, config: EndpointConfig) -> Self {
        let engine = Engine::new(Endpoint::new(Arc::new(config), None, wire.keeps_whole(), None));
        Self { engine, wire, buffer: Vec::new(), unsent: None }
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.wire.local_address()
    }

    /// Receives datagrams, and handles timeouts of connections. `decide` is called for each datagram that
    /// belongs to no connection. It may write an answer to the buffer, and returns where to send it.
    pub(crate) fn receive(
        &mut self,
        now: Duration,
        mut decide: impl FnMut(&mut Engine, Arrival, &mut Vec<u8>) -> Option<Transmit>,
    ) -> io::Result<()> {
        let mut datagrams = 0_usize;
        while datagrams < MOST_DATAGRAMS {
            // Failed reads and empty datagrams count too, because they also take time.
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
                // If the system does not accept this answer, it is lost, and the stranger will ask again.
                self.wire.send(&transmit, &answer)?;
            }
            if !has_more {
                break;
            }
        }
        // Timeouts are handled after the datagrams, because a datagram that has arrived can prevent a
        // timeout.
        self.engine.wake(now);
        Ok(())
    }

    /// Passes a packet to a connection, and returns whether the connection accepted it. If not, the packet
    /// counts as lost: the system has accepted no datagrams for longer than a tick, or the packet is larger
    /// than the path allows now.
    pub(crate) fn send(
        &mut self,
        now: Duration,
        handle: ConnectionHandle,
        packet: &[u8],
    ) -> io::Result<bool> {
        let Some(carrier) = self.engine.get_mut(handle) else { return Ok(false) };
        let sealed = match carrier.send(carrier.sealed(packet)) {
            Err(SendDatagramError::Blocked(sealed)) => sealed,
            sent => return Ok(sent.is_ok()),
        };
        self.flush(now, Some(handle))?;
        Ok(self.engine.get_mut(handle).is_some_and(|carrier| carrier.send(sealed).is_ok()))
    }

    /// Sends the datagrams of one connection or of all connections, until the system accepts no more.
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
