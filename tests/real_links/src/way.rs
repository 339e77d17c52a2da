//! A proxy between one client and a server: it delays and loses datagrams, as the simulated network does.
//!
//! *Invariant:* the content of a datagram is not changed.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use repl::sim::{LinkConditions, Network, PeerId};

const CLIENT: PeerId = PeerId(0);
const SERVER: PeerId = PeerId(1);

/// How long the proxy sleeps before it polls its sockets again.
const NAP: Duration = Duration::from_micros(500);

/// The arguments of a proxy.
#[derive(Debug, clap::Args)]
pub(crate) struct Delay {
    /// The address to which the client sends.
    here: SocketAddr,
    server: SocketAddr,
    /// The least delay of each datagram, in each direction.
    #[arg(long)]
    delay_ms: u64,
    /// The most that is added to this delay.
    #[arg(long)]
    jitter_ms: u64,
    /// The share of lost datagrams, from 0 to 1.
    #[arg(long)]
    loss: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Forwards datagrams until the process is killed.
pub(crate) fn run(args: &Delay) -> io::Result<()> {
    let to_client = UdpSocket::bind(args.here)?;
    let to_server = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    to_server.connect(args.server)?;
    to_client.set_nonblocking(true)?;
    to_server.set_nonblocking(true)?;
    let mut network = Network::new(args.seed);
    let conditions = LinkConditions {
        latency: Duration::from_millis(args.delay_ms),
        jitter: Duration::from_millis(args.jitter_ms),
        ..LinkConditions::perfect()
    };
    network.connect(CLIENT, SERVER, conditions.with_loss(args.loss));
    let (start, mut client, mut bytes) = (Instant::now(), None, [0; 2_048]);
    loop {
        let now = start.elapsed();
        while let Some((size, from)) = passed(to_client.recv_from(&mut bytes))? {
            client = Some(from);
            network.send(now, CLIENT, SERVER, &bytes[..size]);
        }
        while let Some(size) = passed(to_server.recv(&mut bytes))? {
            network.send(now, SERVER, CLIENT, &bytes[..size]);
        }
        while let Some(delivery) = network.deliver(now) {
            match client {
                Some(client) if delivery.to == CLIENT => passed(to_client.send_to(delivery.bytes, client))?,
                _ => passed(to_server.send(delivery.bytes))?,
            };
        }
        thread::sleep(NAP);
    }
}

/// Returns the result of a socket. Returns `None` if the socket has nothing to read now, or if nobody listens
/// at the receiver's address.
fn passed<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
