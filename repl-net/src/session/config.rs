//! What server and client may be told at their making.
//!
//! *Invariant:* every queue and every cache has its limit here, and what one side must be able to hold for the other is compared in the
//! handshake: no limit is found out about later.

use std::time::Duration;

use crate::transport::packet::MTU_BYTES;

/// Who sees to it that a link is not sent more than it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionControl {
    /// The server: it sends at the rate at which acks tell that packets arrive, after BBR. A connection begins with ten packets in flight, and
    /// doubles that in each round trip while the link takes it. What has no room in a tick waits for its turn. Losses at random do not slow it
    /// down, and where more than three of four are lost 40 packets may be in flight, unless it turns out that as much arrives when less is
    /// sent; a link that does not answer is sent two packets now and then, until it does (R26).
    #[default]
    Paced,
    /// Nobody here: for transports that do it themselves, such as QUIC, and for links that carry whatever is sent, such as those of tests
    /// and within one machine. On the open internet it floods links that are slower than what changes.
    Off,
}

/// Limits and times of a server.
///
/// A client whose [`mtu_bytes`](ClientConfig::mtu_bytes), [`max_objects`](ClientConfig::max_objects) or
/// [`max_object_bytes`](ClientConfig::max_object_bytes) is below the server's is refused with
/// [`DisconnectReason::Limits`](crate::DisconnectReason::Limits); the server holds to its own.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The largest packet that is sent, in bytes, 128 to 65,507. Default 1,200.
    pub mtu_bytes: usize,
    /// A connection that is silent for so long is closed. Clients are told, and give signs of life often enough (R9). At least 1 ms.
    /// Default 10 s.
    pub timeout: Duration,
    /// Objects that there may be at a time, those that are gone included until every client that had them has acknowledged it: beyond it
    /// [`Server::try_spawn`](crate::Server::try_spawn) fails. 1 to 4,294,967,295, and more counts as that. Default 65,536.
    pub max_objects: usize,
    /// What one object may take on the wire, in bytes, opened whole, with what it has from its archetype. Items of its fast arrays and entries of its
    /// maps do not count, as they travel in parts; but one of them by itself may not take more either. A value that would make the object or the
    /// item larger is refused with [`ServerEvent::ValueRefused`](crate::ServerEvent::ValueRefused): the property keeps for clients the last
    /// value that had room, and follows again when it has. Objects that can be larger than a packet go in fragments, which clients hold until
    /// they are whole. 1 to 4,294,967,295, and more counts as that. Default 256 KiB.
    ///
    /// Items and entries that are larger than a packet go in fragments too, and nothing else of their object is sent to a client until it has
    /// acknowledged them; so others that wait go along, up to 32 KiB together, and never more than an eighth of this.
    ///
    /// Each client's [`max_object_bytes`](ClientConfig::max_object_bytes) must be no less.
    pub max_object_bytes: usize,
    /// Packets of state sent to a connection and not yet acknowledged or given up (R6). 1 to 1,024, and more counts as that.
    /// Default 1,024.
    pub max_packets_in_flight: usize,
    /// Bytes of these packets, at least 1. A packet is begun if one of [`mtu_bytes`](Self::mtu_bytes) has room, so the limit always
    /// holds, except that one packet may always be in flight: any limit that is less than a packet allows one. Default 4 MiB.
    pub max_bytes_in_flight: usize,
    /// Memory that a connection may cost because the client has not acknowledged what it was sent: records of packets in flight, packets
    /// that were not polled, new elements whose packets are not acknowledged, changes that were lost or have to wait, objects in fragments. A
    /// record takes up to 48 times the bytes of its packet, so this ends what is sent before
    /// [`max_bytes_in_flight`](Self::max_bytes_in_flight) does where many small things are sent to one client alone.
    ///
    /// At the limit at most four packets are in flight at a time, and what changes meanwhile is merged: beyond the limit grows only what is
    /// to be said of each object once. A client that costs more for a whole [`timeout`](Self::timeout) is disconnected with
    /// [`DisconnectReason::Unacknowledged`](crate::DisconnectReason::Unacknowledged); [`ConnectionStats::memory_bytes`](crate::ConnectionStats::memory_bytes)
    /// tells how much there is. Some 350 bytes for each object of which anything is outstanding, and six for each slot of the world, come
    /// on top. At least 65,536. Default 4 MiB.
    pub max_connection_bytes: usize,
    /// Bytes that go to one connection in one tick, at least 1; the rest follows in later ticks. The packet that reaches the limit
    /// still goes, so one packet a tick always does. Default no limit.
    pub max_bytes_per_tick: usize,
    /// Whether value bits are serialised once for all connections that need the same (S88). The packets are the same either way
    /// (S90). Default `true`.
    pub share: bool,
    /// Who sees to it that no link is sent more than it carries. Default [`Paced`](CongestionControl::Paced).
    pub congestion_control: CongestionControl,
    /// Whether a client is sent little, three times the bytes that came from it, until it has shown that it receives what is sent to its
    /// address (R26): that takes one round trip. Without it a server can be made to flood anyone. Switch it off only where the
    /// transport has done the same already, as QUIC does. Default `true`.
    pub validate_addresses: bool,
    /// What clients' addresses are validated by: from it comes the token that a client must send back. On the open internet 64 random bits
    /// of each run of the server: whoever knows them can claim to be at any address. Default 0.
    pub secret: u64,
    /// The number of the first packet of a connection, about the same at both ends: for tests near the wrap. Default 0.
    pub first_sequence: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            mtu_bytes: 1_200,
            timeout: Duration::from_secs(10),
            max_objects: 65_536,
            max_object_bytes: 256 << 10,
            max_packets_in_flight: 1_024,
            max_bytes_in_flight: 4 << 20,
            max_connection_bytes: 4 << 20,
            max_bytes_per_tick: usize::MAX,
            share: true,
            congestion_control: CongestionControl::default(),
            validate_addresses: true,
            secret: 0,
            first_sequence: 0,
        }
    }
}

/// Limits and times of a client. The server is told them in the handshake.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The largest packet in bytes: larger ones are dropped unread. 128 to 65,507, no less than the server's. Default 1,200.
    pub mtu_bytes: usize,
    /// A server that is silent for so long is given up. The server is told, and gives signs of life often enough (R9). At least 1 ms.
    /// Default 10 s.
    pub timeout: Duration,
    /// The slots of the server's world that this client can hold objects of, whether it sees them or not: no fewer than
    /// [`ServerConfig::max_objects`]. A slot takes 20 bytes. At least 1. Default 65,536.
    pub max_objects: usize,
    /// Bytes of objects that arrive in fragments, held until they are whole: no less than [`ServerConfig::max_object_bytes`]. At
    /// least 1. Default 256 KiB.
    pub max_object_bytes: usize,
    /// Whether received bits are counted by class and property. Default `false`.
    pub measure: bool,
    /// The number of the first packet, about the same at both ends: for tests near the wrap. Default 0.
    pub first_sequence: u64,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            mtu_bytes: 1_200,
            timeout: Duration::from_secs(10),
            max_objects: 65_536,
            max_object_bytes: 256 << 10,
            measure: false,
            first_sequence: 0,
        }
    }
}

/// What a connection must be allowed to cost.
const LEAST_CONNECTION_BYTES: usize = 65_536;

impl ServerConfig {
    /// # Panics
    /// If a field is out of its range, with the name of the field and what is allowed.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        assert_mtu(self.mtu_bytes);
        assert_timeout(self.timeout);
        assert_positive("max_objects", self.max_objects);
        assert_positive("max_object_bytes", self.max_object_bytes);
        assert_positive("max_packets_in_flight", self.max_packets_in_flight);
        assert_positive("max_bytes_in_flight", self.max_bytes_in_flight);
        assert!(
            self.max_connection_bytes >= LEAST_CONNECTION_BYTES,
            "`max_connection_bytes` is at least {LEAST_CONNECTION_BYTES}, but {} was asked for: not one packet would have room for its record",
            self.max_connection_bytes
        );
        assert_positive("max_bytes_per_tick", self.max_bytes_per_tick);
    }
}

impl ClientConfig {
    /// # Panics
    /// If a field is out of its range, with the name of the field and what is allowed.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        assert_mtu(self.mtu_bytes);
        assert_timeout(self.timeout);
        assert_positive("max_objects", self.max_objects);
        assert_positive("max_object_bytes", self.max_object_bytes);
    }
}

#[track_caller]
fn assert_mtu(bytes: usize) {
    assert!(
        MTU_BYTES.contains(&bytes),
        "the largest packet is from 128 to 65,507 bytes, but `mtu_bytes` is {bytes}"
    );
}

#[track_caller]
fn assert_timeout(timeout: Duration) {
    assert!(
        timeout >= Duration::from_millis(1),
        "`timeout` is at least 1 ms, but {timeout:?} was asked for: every connection would be closed at once"
    );
}

#[track_caller]
fn assert_positive(name: &str, limit: usize) {
    assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: nothing could ever be sent");
}
