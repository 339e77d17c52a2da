//! The result of a client's packet for the server.
//!
//! *Invariant:* an outcome borrows from the packet, and changes nothing.

use repl_core::BitReader;

use super::disconnect::DisconnectReason;
use crate::frame::sequence::Sequence;

/// The result of a packet from a client.
#[derive(Debug)]
pub enum ServerOutcome<'a> {
    /// The handshake used or ignored the packet. The caller has nothing to do.
    Nothing,
    /// The packet does not belong to this session. It was ignored.
    Damaged,
    /// The packet contains state: its sequence number, and a reader for the rest of the packet.
    State(Sequence, BitReader<'a>),
    /// The client has proved its address with this packet of state. Packets of state may be sent to the
    /// client from now on. The variant contains the packet's sequence number, and a reader for the rest of
    /// the packet.
    Proved(Sequence, BitReader<'a>),
    /// The client is accepted: its limits and classes agree with the server's. Packets of state may be sent
    /// to the client from now on.
    Connected,
    /// The limits and classes of the client agree with the server's. The application must now decide about
    /// this login data.
    Login(Vec<u8>),
    /// The client has received the probe with this number.
    ProbeArrived(u16),
    /// The session is over.
    Ended(DisconnectReason),
}
