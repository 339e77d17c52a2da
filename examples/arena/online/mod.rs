//! Matches over UDP, encrypted by QUIC: in one process, or a server and clients in processes of their own.
//!
//! *Invariant:* the same code plays a match here and on the simulated network. Only the transport differs.

mod venue;
mod visitor;

use std::error::Error;
use std::net::Ipv4Addr;

use arena_game::online::loopback::Loopback;
use repl::quic::{Identity, QuicConfig};

use crate::args::{Join, Serve};
use arena_game::transport::Transport;

/// Where the certificate of the server is, from the working directory. Clients on the same machine read it
/// there.
const CERTIFICATE: &str = "target/arena-certificate";

/// Runs the process of a server. Returns whether no secret leaked.
pub(crate) fn serve(args: &Serve) -> Result<bool, Box<dyn Error>> {
    venue::Venue::open(args)?.run(args)
}

/// Runs the process of a client. Returns whether it had the state of the server at the end.
pub(crate) fn join(args: &Join) -> Result<bool, Box<dyn Error>> {
    visitor::Visitor::new(args)?.run(args)
}

/// Returns the transport between a server and clients in this process.
pub(crate) fn loopback() -> Result<Box<dyn Transport>, Box<dyn Error>> {
    let identity = Identity::development(CERTIFICATE)?;
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    Ok(Box::new(Loopback::listen(address, &identity, QuicConfig::default())?))
}
