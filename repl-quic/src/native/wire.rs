//! Sends and receives datagrams, over a UDP socket or over a simulated network.
//!
//! *Invariant:* if the socket is busy, a datagram is not dropped, but sent later.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};

use quinn_proto::{EcnCodepoint, Transmit};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received<'a> {
    pub(crate) from: SocketAddr,
    /// The local address to which it was sent, if the system reports it.
    pub(crate) to: Option<IpAddr>,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: &'a [u8],
}

/// Sends and receives the datagrams of QUIC.
pub(crate) trait Wire: Send + Sync {
    /// Calls `take` with each datagram that has arrived. Returns whether there may be more datagrams.
    fn receive(&mut self, take: &mut dyn FnMut(&Received<'_>)) -> io::Result<bool>;

    /// Sends datagrams. Returns `false` if the system did not accept them now; the caller then sends them
    /// again later.
    fn send(&mut self, transmit: &Transmit, bytes: &[u8]) -> io::Result<bool>;

    /// Returns how many datagrams of equal length one call of [`send`](Self::send) can send.
    fn most_segments(&self) -> usize;

    /// Returns whether the network never fragments datagrams. Only then can QUIC find out the greatest size
    /// that a path allows.
    fn keeps_whole(&self) -> bool;

    /// Returns the local address.
    fn local_address(&self) -> io::Result<SocketAddr>;
}

/// A UDP socket that does not block. If the system can do this, one call sends or receives many datagrams,
/// and congestion marks (ECN) are used.
pub(crate) struct UdpWire {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<Vec<u8>>,
    /// The number of consecutive failures to receive. If no datagram has arrived, this is not a failure.
    failures: u32,
}

/// The size of a receive buffer in bytes. The largest datagram fits, or several datagrams that are received
/// as one.
const BUFFER_BYTES: usize = 65_536;

/// After this number of consecutive failures, the socket counts as broken.
const MOST_FAILURES: u32 = 1_000;

/// The size in bytes of the system's send buffer and of its receive buffer, for the datagrams of a tick.
const SOCKET_BYTES: usize = 4 << 20;

impl UdpWire {
    /// Opens a port. `many` says whether it is for the datagrams of many connections or of one.
    pub(crate) fn bind(address: SocketAddr, many: bool) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        // The system may limit the buffers to less.
        state.set_recv_buffer_size((&socket).into(), SOCKET_BYTES).ok();
        state.set_send_buffer_size((&socket).into(), SOCKET_BYTES).ok();
        let buffers = vec![vec![0; BUFFER_BYTES]; if many { BATCH_SIZE } else { 1 }];
        Ok(Self { socket, state, buffers, failures: 0 })
    }
}

/// The number of the Windows error `WSAENETRESET`, for which `ErrorKind` has no name.
const NETWORK_RESET: i32 = 10_052;

/// Returns whether an error says that a datagram to a peer did not arrive. Anyone can forge such an error.
fn is_about_a_peer(error: &io::Error) -> bool {
    let is_reset = cfg!(windows) && error.raw_os_error() == Some(NETWORK_RESET);
    is_reset || matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

impl Wire for UdpWire {
    fn receive(&mut self, take: &mut dyn FnMut(&Received<'_>)) -> io::Result<bool> {
        let mut meta = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<_> = self.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut meta) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if is_about_a_peer(&error) => return Ok(true),
            // Most errors are about a peer to which something was sent, and do not mean that the socket is
            // broken.
            Err(error) => {
                self.failures = self.failures.saturating_add(1);
                return if self.failures < MOST_FAILURES { Ok(true) } else { Err(error) };
            }
        };
        self.failures = 0;
        for (meta, buffer) in meta.iter().zip(&self.buffers).take(count) {
            let bytes = buffer.get(..meta.len).unwrap_or_default();
            for bytes in bytes.chunks(meta.stride.max(1)) {
                let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
                take(&Received { from: meta.addr, to: meta.dst_ip, ecn, bytes });
            }
        }
        // The system fills all buffers if enough datagrams have arrived. If it has not filled all, there are
        // no more.
        Ok(count == self.buffers.len())
    }

    fn send(&mut self, transmit: &Transmit, bytes: &[u8]) -> io::Result<bool> {
        let sent = self.state.try_send(
            (&self.socket).into(),
            &quinn_udp::Transmit {
                destination: transmit.destination,
                ecn: transmit.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
                contents: bytes,
                segment_size: transmit.segment_size,
                src_ip: transmit.src_ip,
            },
        );
        match sent {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            // A datagram that cannot be sent at all counts as lost, for example because the address no longer
            // exists or the datagram is larger than the path allows.
            _ => Ok(true),
        }
    }

    fn most_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn keeps_whole(&self) -> bool {
        !self.state.may_fragment()
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}
