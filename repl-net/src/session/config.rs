//! The configuration of servers and clients.
//!
//! *Invariant:* every queue and every cache has a limit here. The handshake compares the limits that one side
//! must keep for the other.

use std::time::Duration;

use crate::transport::packet::MTU_BYTES;

/// Who limits the send rate to what a link can carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionControl {
    /// The server does. It sends at the rate at which acks show that packets arrive, as BBR does. A
    /// connection begins with ten packets in flight and doubles that in each round trip while the link
    /// carries it. What does not fit in a tick waits. Random losses do not slow it down. Where more than
    /// three of four packets are lost, 40 packets may be in flight, unless the server finds that as much
    /// arrives at a lower rate. A link that does not answer is sent two packets now and then until it does
    /// (R26).
    #[default]
    Paced,
    /// Nobody here does. For transports that have their own congestion control, for example QUIC, and for
    /// links that carry everything, for example in tests and within one machine. On the open internet it
    /// floods links that are slower than the changes.
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
    /// A connection that is silent for this long is closed. Clients are told this time and send keep-alives
    /// often enough (R9). At least 1 ms. Default 10 s.
    pub timeout: Duration,
    /// The most objects at a time. It includes destroyed objects until every client that had them has
    /// acknowledged it. Beyond the limit [`Server::try_spawn`](crate::Server::try_spawn) returns an error. 1
    /// to 4,294,967,295; a greater number counts as that. Default 65,536.
    pub max_objects: usize,
    /// The most bytes on the wire of one whole object, including the values of its archetype. Items of its
    /// fast arrays and entries of its maps do not count, because they are sent in parts; but each of them
    /// must fit in this limit too. A value that would exceed the limit is refused with
    /// [`ServerEvent::ValueRefused`](crate::ServerEvent::ValueRefused): clients keep the last value of the
    /// property that was small enough, and the property is sent again when it is. Objects larger than a
    /// packet are sent in fragments, which clients hold until they are complete. 1 to 4,294,967,295; a
    /// greater number counts as that. Default 256 KiB.
    ///
    /// Items and entries larger than a packet are sent in fragments too. Until the client has acknowledged
    /// them, nothing else of their object is sent to it. So other items that wait are sent with them, up to
    /// 32 KiB together, and never more than an eighth of this limit.
    ///
    /// Each client's [`max_object_bytes`](ClientConfig::max_object_bytes) must be no less.
    pub max_object_bytes: usize,
    /// The most packets of state in flight to a connection: sent, but not yet acknowledged or given up (R6).
    /// 1 to 1,024; a greater number counts as that. Default 1,024.
    pub max_packets_in_flight: usize,
    /// The most bytes of these packets, at least 1. A packet is begun only if one of
    /// [`mtu_bytes`](Self::mtu_bytes) fits, so the limit always holds. The exception: one packet may always
    /// be in flight, even if the limit is smaller. Default 4 MiB.
    pub max_bytes_in_flight: usize,
    /// The most memory that a connection may take because the client has not acknowledged what was sent:
    /// records of packets in flight, packets that were not polled, new elements in unacknowledged packets,
    /// changes that were lost or wait, objects in fragments. A record takes up to 48 times the bytes of its
    /// packet. So where many small things are sent to one client alone, this limit is reached before
    /// [`max_bytes_in_flight`](Self::max_bytes_in_flight).
    ///
    /// At the limit at most four packets are in flight, and changes are merged meanwhile. Beyond the limit
    /// only what must be said once of each object grows. A client that stays over the limit for a whole
    /// [`timeout`](Self::timeout) is disconnected with
    /// [`DisconnectReason::Unacknowledged`](crate::DisconnectReason::Unacknowledged).
    /// [`ConnectionStats::memory_bytes`](crate::ConnectionStats::memory_bytes) returns the current memory. It
    /// does not include about 350 bytes for each object with unacknowledged state, and six bytes for each
    /// slot of the world. At least 65,536. Default 4 MiB.
    pub max_connection_bytes: usize,
    /// The most bytes sent to one connection in one tick, at least 1. The rest follows in later ticks. The
    /// packet that reaches the limit is still sent, so one packet a tick always is. Default no limit.
    pub max_bytes_per_tick: usize,
    /// Whether values are encoded once and shared by all connections that need the same (S88). The packets
    /// are the same either way (S90). Default `true`.
    pub share: bool,
    /// Who limits the send rate to what a link can carry. Default [`Paced`](CongestionControl::Paced).
    pub congestion_control: CongestionControl,
    /// Whether a client is sent at most three times the bytes that came from it, until it has shown that it
    /// receives what is sent to its address (R26). That takes one round trip. Without this an attacker can
    /// make the server flood any address. Switch it off only if the transport has validated the address
    /// already, as QUIC does. Default `true`.
    pub validate_addresses: bool,
    /// The secret from which the server derives the token that a client must send back to validate its
    /// address. On the open internet use 64 random bits, new in each run of the server: whoever knows them
    /// can claim any address. Default 0.
    pub secret: u64,
    /// The number of the first packet of a connection, about the same on both sides. For tests of the wrap.
    /// Default 0.
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

/// Limits and times of a client. The client sends them to the server in the handshake.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The largest packet in bytes. Larger ones are dropped unread. 128 to 65,507, no less than the server's.
    /// Default 1,200.
    pub mtu_bytes: usize,
    /// A server that is silent for this long is given up, and the connection ends. The server is told this
    /// time and sends keep-alives often enough (R9). At least 1 ms. Default 10 s.
    pub timeout: Duration,
    /// The slots of the server's world for which this client can hold objects, whether it sees them or not.
    /// No fewer than [`ServerConfig::max_objects`]. A slot takes 20 bytes. At least 1. Default 65,536.
    pub max_objects: usize,
    /// The most bytes of objects that arrive in fragments and are not complete. No less than
    /// [`ServerConfig::max_object_bytes`]. At least 1. Default 256 KiB.
    pub max_object_bytes: usize,
    /// Whether received bits are counted by class and property. Default `false`.
    pub measure: bool,
    /// The number of the first packet, about the same on both sides. For tests of the wrap. Default 0.
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

/// The least memory that a connection must be allowed.
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
