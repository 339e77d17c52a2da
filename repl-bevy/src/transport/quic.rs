//! The transport over QUIC: encrypted packets on the internet.

use repl::prelude::*;
use repl::quic::QuicClient;
#[cfg(not(target_family = "wasm"))]
use repl::quic::QuicServer;
use std::io;
use std::time::Duration;

use super::ClientTransport;
#[cfg(not(target_family = "wasm"))]
use super::ServerTransport;

#[cfg(not(target_family = "wasm"))]
impl ServerTransport for QuicServer {
    fn receive(&mut self, server: &mut Server, now: Duration) -> io::Result<()> {
        Self::receive(self, server, now)
    }

    fn transmit(&mut self, server: &mut Server, now: Duration) -> io::Result<()> {
        Self::transmit(self, server, now)
    }
}

impl ClientTransport for QuicClient {
    fn receive(&mut self, client: &mut Client, now: Duration) -> io::Result<()> {
        Self::receive(self, client, now)
    }

    fn transmit(&mut self, client: &mut Client, now: Duration) -> io::Result<()> {
        Self::transmit(self, client, now)
    }
}
