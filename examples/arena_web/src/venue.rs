//! The match, for clients in browsers and in other processes.
//!
//! *Invariant:* only the page of this program can connect from a browser.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use arena_game::game::TICKS_PER_SECOND;
use arena_game::online::loopback::Loopback;
use arena_game::online::open_match::OpenMatch;
use arena_game::session::Settings;
use repl::quic::{CertificateHash, Identity, QuicConfig, WebOrigins};

use crate::args::Args;

/// Where the certificate of the server is, from the working directory.
pub(crate) const CERTIFICATE: &str = "target/arena-certificate";

/// For this many ticks after the match, clients receive its last state.
const LAST_LOOK: u32 = 10 * TICKS_PER_SECOND;

/// A match that clients can join.
pub(crate) struct Venue {
    open: OpenMatch,
    ticks: u32,
    /// What a client needs to join, as JSON.
    pub(crate) how_to_join: String,
}

impl Venue {
    /// Opens a match for the page at this port.
    pub(crate) fn open(args: &Args, page: u16) -> Result<Self, Box<dyn Error>> {
        let identity = match args.certificate.as_ref().zip(args.key.as_ref()) {
            Some((certificate, key)) => Identity::from_pem(certificate, key)?,
            None => Identity::development(CERTIFICATE)?,
        };
        let local = (Ipv4Addr::LOCALHOST, args.server_port).into();
        let socket = Loopback::listen(local, &identity, for_page(page))?;
        let how_to_join = as_json(socket.address()?, &identity.hash());
        let &Args { players, ticks, seed, .. } = args;
        let settings = Settings { players, ticks, seed, has_spectators: true, ..Settings::default() };
        Ok(Self { open: OpenMatch::new(settings, socket), ticks, how_to_join })
    }

    /// Plays the match.
    ///
    /// # Errors
    /// Returns an error if the socket does not work any more, or if a packet had a secret that its client may
    /// not see.
    pub(crate) fn run(mut self) -> Result<(), Box<dyn Error>> {
        for _ in 0..self.ticks + LAST_LOOK {
            self.open.tick()?;
        }
        self.open.end()?;
        match self.open.session.leaks {
            0 => Ok(()),
            leaks => Err(format!("{leaks} secrets leaked").into()),
        }
    }
}

/// Returns the configuration of a server for the page at this port.
pub(crate) fn for_page(port: u16) -> QuicConfig {
    let origins = ["localhost", "127.0.0.1"].map(|host| format!("http://{host}:{port}"));
    QuicConfig { web_origins: WebOrigins::only(origins), ..QuicConfig::default() }
}

/// Returns, as JSON, what a client needs to join.
pub(crate) fn as_json(address: SocketAddr, hash: &CertificateHash) -> String {
    format!("{{\"address\":\"{address}\",\"hash\":\"{hash}\"}}")
}
