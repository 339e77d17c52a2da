//! The configuration of servers and clients.
//!
//! *Invariant:* these are the limits that a program may choose. Fixed limits are in the modules that use
//! them. If one side must respect a limit of the other side, the handshake compares the limit.

use std::fmt;
use std::time::Duration;

use repl_link::parts::Concealed;
use repl_link::{Capacity, ClientTerms, Limits, RateControl, ServerSettings, ServerTerms};

use crate::body::rate::Rate;

/// Whether the server limits its send rate to the capacity of a link, or the transport does this.
#[derive(Clone, Copy, Debug, Default)]
pub enum CongestionControl {
    /// The server limits its own send rate. It computes from the acks at which rate packets arrive, and sends
    /// at this rate, like the algorithm BBR. A connection begins with ten packets in flight. This number
    /// doubles in each round trip while the link delivers the packets. Changes that do not fit into a tick
    /// wait for a later tick. Random losses of up to about a tenth of the packets do not slow the server
    /// down. Random losses of a fifth in both directions reduce the rate by up to half. If more than three of
    /// four packets are lost, 40 packets may be in flight, unless a lower rate delivers as much. If no acks
    /// arrive, the server sends two packets from time to time until the client answers.
    #[default]
    Paced,
    /// The server does not limit its send rate. Choose this if your own transport has congestion control, and
    /// for links without a limit, for example in tests and within one machine. On the open internet, a server
    /// without a limit overloads links that are slower than the server's changes.
    Off,
    /// Your own rate control limits the send rate. The function makes a rate control for each connection. Its
    /// argument is the greatest size of a packet in bytes.
    Custom(fn(usize) -> Box<dyn RateControl>),
}

impl CongestionControl {
    /// Returns the rate control of a new connection, or `None` if its rate is not limited.
    pub(crate) fn make(self, packet_bytes: usize) -> Option<Rate> {
        match self {
            Self::Paced => Some(Rate::new(packet_bytes)),
            Self::Off => None,
            Self::Custom(make) => Some(Rate::Custom(make(packet_bytes))),
        }
    }
}

/// Whether the game on the server decides which clients are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// Every client is accepted if its classes and limits agree with the server.
    #[default]
    Open,
    /// If the classes and limits of a client agree, the server reports its login with
    /// [`ServerEvent::Login`](crate::ServerEvent::Login). The application answers with
    /// [`ConnectionHandle::accept`](crate::ConnectionHandle::accept) or
    /// [`ConnectionHandle::refuse`](crate::ConnectionHandle::refuse). Before the answer, the client receives
    /// no state.
    Ask,
}

/// Limits and times of a server.
///
/// The server refuses a client if the client's [`max_objects`](ClientConfig::max_objects) or
/// [`max_object_bytes`](ClientConfig::max_object_bytes) is below the server's own limit. The reason is
/// [`DisconnectReason::Limits`](crate::DisconnectReason::Limits). To a client with greater limits, the server
/// sends no more than its own limits allow. For the size of packets, the lower limit of both sides applies to
/// each connection.
#[derive(Clone)]
pub struct ServerConfig {
    /// The size of the largest packet that the server receives and sends, in bytes: 128 to 65,507. Default
    /// 1,200. Receive packets into a buffer of at least this size. A smaller buffer truncates packets, and
    /// the event [`ServerEvent::PacketsTruncated`](crate::ServerEvent::PacketsTruncated) reports this.
    ///
    /// Each client sends its own limit ([`ClientConfig::mtu_bytes`]). The lower limit of both sides applies
    /// to the connection, in both directions. The server accepts a client's limit below 508 only if it is at
    /// least the server's own limit. If the transport sometimes accepts only smaller packets, configure its
    /// greatest packet size here. Then set the current size with
    /// [`ConnectionHandle::set_packet_bytes`](crate::ConnectionHandle::set_packet_bytes). The server encodes
    /// shared changes for the smallest packet size of all connections, but at least for 1,100 bytes. A client
    /// with smaller packets can use fewer shared changes.
    ///
    /// Some paths lose all packets above a certain size, although both sides accept such packets. The server
    /// detects this with probes, which are packets that the other side answers. The server begins a test
    /// after nine packets of 128 bytes or more were lost and no packet of such a size has arrived, while
    /// packets from the client still arrive. It then sends rounds of probes. Each round has one large probe,
    /// which has the size of the server's packets, and four small probes, which together have the same size.
    /// If all small probes of 20 rounds are answered but no large probe is, the path loses packets of this
    /// size. On a path that delivers this size, this result happens once in a million tests, because random
    /// losses and full queues affect large and small probes equally. A search then finds the greatest size
    /// that the path delivers, with an error of at most 32 bytes. The event
    /// [`ServerEvent::PacketBytesChanged`](crate::ServerEvent::PacketBytesChanged) reports this size. All
    /// this takes about two seconds plus ten round trips, and longer with losses. If packets of 508 bytes
    /// do not arrive, the connection ends with
    /// [`DisconnectReason::PathTooNarrow`](crate::DisconnectReason::PathTooNarrow). The full size is tested
    /// again once per minute. A test takes at most 15 s and a few packets, and there is at most one test in 5
    /// s.
    pub mtu_bytes: usize,
    /// The server closes a connection if it receives nothing from the client for this time. Clients learn
    /// this time in the handshake, and send keep-alive packets often enough. At least 1 ms. Default 10 s.
    pub timeout: Duration,
    /// The greatest number of objects that exist at the same time. A destroyed object counts until every
    /// client that had the object has acknowledged its removal. Beyond the limit,
    /// [`Server::try_spawn`](crate::Server::try_spawn) returns an error. From 1 to 4,294,967,295. Greater
    /// numbers count as 4,294,967,295. Default 65,536.
    pub max_objects: usize,
    /// The greatest size of one whole object on the wire, in bytes, including the values of its archetype.
    /// Items of its fast arrays and entries of its maps do not count, because they are sent in parts. But
    /// each single item and entry must also be within this limit. A value that would exceed the limit is
    /// refused, and the event [`ServerEvent::ValueRefused`](crate::ServerEvent::ValueRefused) reports this.
    /// Clients then keep the property's last value that was small enough. The property is sent again after
    /// its value has become small enough. From 1 to 4,294,967,295. Greater numbers count as 4,294,967,295.
    /// Default 256 KiB.
    ///
    /// Objects larger than a packet are sent in fragments. Clients store the fragments until all have
    /// arrived. At most eight such objects are in flight to a client at the same time. If an object must
    /// arrive fast, keep it smaller than a packet.
    ///
    /// Items and entries larger than a packet are sent in fragments, too. Until the client has acknowledged
    /// these fragments, the server sends nothing else of their object to this client. Therefore other waiting
    /// items of the object are sent together with the large item: up to 32 KiB in total, and never more than
    /// an eighth of this limit.
    ///
    /// Each client's [`max_object_bytes`](ClientConfig::max_object_bytes) must be at least as great.
    pub max_object_bytes: usize,
    /// The greatest number of packets of state in flight to a connection. A packet is in flight after it was
    /// sent, until it is acknowledged or counts as lost. From 1 to 1,024. Greater numbers count as 1,024.
    /// Default 1,024.
    pub max_packets_in_flight: usize,
    /// The greatest number of bytes in flight to a connection, at least 1. The server begins a packet only if
    /// a packet of [`mtu_bytes`](Self::mtu_bytes) fits, so the limit is never exceeded. One packet may always
    /// be in flight, even if the limit is smaller than a packet. Default 4 MiB.
    pub max_bytes_in_flight: usize,
    /// The greatest amount of memory, in bytes, that the server may keep for data that one client has not
    /// acknowledged. This memory contains records of packets in flight, packets that were not polled, new
    /// elements in unacknowledged packets, changes that were lost or that wait, and objects in fragments. In
    /// addition, up to 264 bytes for each object that waits or is unacknowledged are not counted. A record
    /// takes up to 48 times the bytes of its packet. If many small values are encoded separately for one
    /// client, the connection reaches this limit before [`max_bytes_in_flight`](Self::max_bytes_in_flight).
    /// Even then, at least a 48th of this limit is sent in each round trip. With the default of 4 MiB this is
    /// 87 KB per round trip, or 0.7 MB per second if the round trip takes 120 ms. If
    /// [`waiting_objects`](crate::ConnectionStats::waiting_objects) shows that objects wait for clients with
    /// fast links, and the server has few clients, set a greater limit.
    ///
    /// At the limit, at most four packets are in flight, and the server merges changes in the meantime.
    /// Beyond the limit, memory grows only by data that the client must receive once for each object, for
    /// example the information that an object was destroyed. A client that remains over the limit for a whole
    /// [`timeout`](Self::timeout) is disconnected with
    /// [`DisconnectReason::Unacknowledged`](crate::DisconnectReason::Unacknowledged).
    pub max_connection_bytes: usize,
    /// The greatest number of bytes that are sent to one connection in one tick, at least 1. Data beyond this
    /// limit is sent in later ticks. The packet that reaches the limit is still sent, so at least one packet
    /// can be sent in each tick. By default there is no limit.
    pub max_bytes_per_tick: usize,
    /// The greatest number of bytes that are sent to one connection in a second, at least 1. Each tick may
    /// send its share of them. If a tick does not use its share, the rest is lost, except for the bytes of
    /// one packet. [`ConnectionHandle::set_budget`](crate::ConnectionHandle::set_budget) sets another limit
    /// for one connection. Waiting changes are sent in descending order of their
    /// [priority](crate::ClassHandle::set_priority) times the number of ticks that they have waited. By
    /// default there is no limit.
    pub max_bytes_per_second: usize,
    /// The greatest number of connections to which the server sends in one tick, at least 1. The connections
    /// take turns. Connections without a turn receive the changes of this tick at their next turn, merged
    /// with later changes. This limits the work of a tick, for example if one of the players runs the server.
    /// In each round, every connection has one turn. A round takes about the number of connections divided by
    /// this number, in ticks. The order changes in each round, so a connection waits up to almost two rounds
    /// for its next turn. Only keep-alive packets do not wait for a turn. By default there is no limit.
    pub connections_per_tick: usize,
    /// The share of messages in the data that is sent to a client, in percent: 1 to 99. The state of objects
    /// has the remaining share. The shares matter only if messages and state together exceed the capacity of
    /// the link or the limits. If one of them does not use its share, the other may use it. Default 50.
    pub message_percent: u8,
    /// Whether the server encodes a value only once and shares the bits among all connections that need the
    /// same value. The packets are the same with and without sharing. Default `true`.
    pub share: bool,
    /// Whether the server limits its send rate to the capacity of a link, or the transport does this. Default
    /// [`Paced`](CongestionControl::Paced).
    pub congestion_control: CongestionControl,
    /// Whether the server limits the bytes that it sends to an unproved address: at most three times the
    /// bytes that it has received from this address, until the client has shown that it receives packets
    /// there. The client proves this within one round trip. Without this limit, an attacker can make the
    /// server flood any address. Switch it off only if the transport has already validated the address. For
    /// connections over an [`Endpoint`](crate::Endpoint) or over QUIC, this field has no effect, because
    /// these have already proved the addresses of their clients. Default `true`.
    pub validate_addresses: bool,
    /// The secret from which the server derives tokens. A client must send its token back to validate its
    /// address, and only someone who knows the token can end the connection. On the open internet, use 64
    /// random bits that are new in each run of the server. Anyone who knows the secret can claim any address,
    /// and can end the sessions whose numbers they know. Default 0.
    pub secret: u64,
    /// A clock that measures how long the calls of clients run. It may start at any time, because only
    /// differences are used. The server reads it before and after each call. Without a clock, only the number
    /// of calls is limited. Default `None`.
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use std::time::Instant;
    /// # use repl_net as repl;
    /// use repl::ServerConfig;
    ///
    /// static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    /// let config = ServerConfig { call_clock: Some(|| START.elapsed()), ..ServerConfig::default() };
    /// ```
    pub call_clock: Option<fn() -> Duration>,
    /// For how long the calls of one client may run in a second of the server's time, if there is a
    /// [clock](Self::call_clock). After a client has used up this time, its calls wait for later ticks. The
    /// calls of other clients do not wait for them. Default 50 ms.
    pub call_time_per_second: Duration,
    /// Whether the game on the server decides which clients are accepted. Default [`Open`](Login::Open).
    pub login: Login,
    /// How long a client waits for the answer to its login before the server ends the connection with
    /// [`DisconnectReason::LoginTimeout`](crate::DisconnectReason::LoginTimeout). At least 1 ms. Default
    /// 10 s.
    pub login_timeout: Duration,
    /// The number of ticks for which the server remembers that a client had an object, after the client has
    /// removed the object. [`ConnectionInfo::has_seen`](crate::ConnectionInfo::has_seen) uses this. Set it to
    /// the number of ticks of your [`History`](crate::History), so that a shot can hit somebody who has just
    /// gone out of sight. Takes about 40 bytes for each object that a client has removed in this time.
    /// Default 0.
    pub remember_removed_ticks: u64,
    /// Whether the server counts the bits that it sends, by class and property, for
    /// [`Server::traffic`](crate::Server::traffic). For this, it reads each of its packets once more. Default
    /// `false`.
    pub measure: bool,
    /// The sequence number of the first packet of a connection. The numbers of server and client must be
    /// about the same. The field is for tests in which the numbers wrap around. Default 0.
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
            max_bytes_per_second: usize::MAX,
            connections_per_tick: usize::MAX,
            message_percent: 50,
            share: true,
            congestion_control: CongestionControl::default(),
            validate_addresses: true,
            secret: 0,
            call_clock: None,
            call_time_per_second: Duration::from_millis(50),
            login: Login::default(),
            login_timeout: Duration::from_secs(10),
            remember_removed_ticks: 0,
            measure: false,
            first_sequence: 0,
        }
    }
}

impl fmt::Debug for ServerConfig {
    /// Does not print the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mtu_bytes,
            timeout,
            max_objects,
            max_object_bytes,
            max_packets_in_flight,
            max_bytes_in_flight,
            max_connection_bytes,
            max_bytes_per_tick,
            max_bytes_per_second,
            connections_per_tick,
            message_percent,
            share,
            congestion_control,
            validate_addresses,
            secret: _,
            call_clock,
            call_time_per_second,
            login,
            login_timeout,
            remember_removed_ticks,
            measure,
            first_sequence,
        } = self;
        f.debug_struct("ServerConfig")
            .field("mtu_bytes", mtu_bytes)
            .field("timeout", timeout)
            .field("max_objects", max_objects)
            .field("max_object_bytes", max_object_bytes)
            .field("max_packets_in_flight", max_packets_in_flight)
            .field("max_bytes_in_flight", max_bytes_in_flight)
            .field("max_connection_bytes", max_connection_bytes)
            .field("max_bytes_per_tick", max_bytes_per_tick)
            .field("max_bytes_per_second", max_bytes_per_second)
            .field("connections_per_tick", connections_per_tick)
            .field("message_percent", message_percent)
            .field("share", share)
            .field("congestion_control", congestion_control)
            .field("validate_addresses", validate_addresses)
            .field("secret", &format_args!("_"))
            .field("call_clock", call_clock)
            .field("call_time_per_second", call_time_per_second)
            .field("login", login)
            .field("login_timeout", login_timeout)
            .field("remember_removed_ticks", remember_removed_ticks)
            .field("measure", measure)
            .field("first_sequence", first_sequence)
            .finish()
    }
}

/// Limits and times of a client. The client sends its limits to the server in the handshake.
#[derive(Clone)]
pub struct ClientConfig {
    /// The size of the largest packet that the client receives and sends, in bytes: 128 to 65,507, and at
    /// least 508 unless the server's limit is less. The client drops larger packets without reading them. The
    /// lower limit of both sides applies, in both directions. If the path delivers only smaller packets, this
    /// is detected as described in [`ServerConfig::mtu_bytes`], and the event
    /// [`ClientEvent::PacketBytesChanged`](crate::ClientEvent::PacketBytesChanged) reports it. Receive
    /// packets into a buffer of at least this size. A smaller buffer truncates packets, so that they are
    /// [damaged](crate::ReceiveError::Damaged). The event
    /// [`ClientEvent::PacketsTruncated`](crate::ClientEvent::PacketsTruncated) reports this. Default 1,200.
    pub mtu_bytes: usize,
    /// The client ends the connection if it receives nothing from the server for this time. The server learns
    /// this time in the handshake, and sends keep-alive packets often enough. At least 1 ms. Default 10 s.
    pub timeout: Duration,
    /// The number of slots for which this client can store objects. Each object of the server's world
    /// occupies one slot, also if the client does not see it. The number must be at least
    /// [`ServerConfig::max_objects`]. A slot takes 24 bytes. At least 1. Default 65,536.
    pub max_objects: usize,
    /// The greatest number of [assets](repl_core::AssetRef) whose paths the server may send in a session. If
    /// it sends more, the client ends the connection. Each asset takes about 100 bytes plus its path, which
    /// has at most 255 bytes. At least 1. Default 16,384.
    pub max_assets: usize,
    /// The greatest number of objects [out of sight](crate::OutOfSight) that the client keeps. If the server
    /// lets it keep more, the client removes those first that have been out of sight longest, and an update
    /// reports each of them as [`Despawned`](crate::UpdateKind::Despawned). With zero, none is kept. Default
    /// 4,096.
    pub max_out_of_sight: usize,
    /// The greatest number of bytes that the client stores for incomplete objects: objects that arrive in
    /// fragments and whose fragments have not all arrived. The limit must be at least
    /// [`ServerConfig::max_object_bytes`]. At least 1. Default 256 KiB.
    pub max_object_bytes: usize,
    /// The data with which the client logs in to the game on the server, for example a name and a ticket: at
    /// most 512 bytes, and at most [`mtu_bytes`](Self::mtu_bytes) minus 64. For a login of more than 444
    /// bytes, the server and the path must accept packets of its length plus 64 bytes. The login is encrypted
    /// only if the transport encrypts, for example `repl::quic`. Over plain UDP, encrypt secrets yourself.
    /// The client sends the login only after the server has answered from its address. A server with
    /// [`Login::Open`] ignores it. `Debug` prints only its length. Default empty.
    pub login: Vec<u8>,
    /// Whether the client begins a new session by itself when a session ends in one of these ways:
    /// [`Forgotten`](crate::DisconnectReason::Forgotten) because the server was restarted,
    /// [`Timeout`](crate::DisconnectReason::Timeout),
    /// [`Unacknowledged`](crate::DisconnectReason::Unacknowledged) or
    /// [`Full`](crate::DisconnectReason::Full). After `Forgotten`, it begins the new session immediately, and
    /// otherwise after 0.5 s. After each failed attempt it waits twice as long, up to 8 s. It tries until you
    /// call [`Client::disconnect`](crate::Client::disconnect). After
    /// [`Replaced`](crate::DisconnectReason::Replaced) or [`Taken`](crate::DisconnectReason::Taken), it tries
    /// only once: if the next session also ends for one of these two reasons within a
    /// [`timeout`](Self::timeout), the client stops.
    ///
    /// The objects keep their last state until the new session begins. Then they are removed, and the server
    /// sends the objects that the client may see again. References remain valid if it is still the same
    /// server. After a restart of the server, references to its old objects are dead: they never name a new
    /// object. There is one exception: a client that has a class with a map whose keys contain references or
    /// have their own serialiser. Messages and calls that were not acknowledged are lost.
    ///
    /// After a restart of the server, the client's references differ from the references on the server and on
    /// other clients. Send references only in fields, messages and calls, which translate them.
    ///
    /// The server must use an [`Endpoint`](crate::Endpoint), or your transport must make a new connection for
    /// each new session. Default `true`.
    pub reconnects: bool,
    /// How long a call with the attribute `waits` waits for the objects to which its parameters refer. After
    /// this time, it runs with null references to the missing objects. It also runs as soon as the missing
    /// objects can no longer arrive: the client was told that they are destroyed, it has newer objects in
    /// their slots, or its session has ended. While the call waits, later reliable calls on the same object
    /// wait, too. For an asset, a call waits only until the server has sent the asset's path. With zero, no
    /// call waits. Default 5 s.
    pub max_call_wait: Duration,
    /// Whether the client counts the received bits by class and property. For this, it reads each packet once
    /// more. Default `false`.
    pub measure: bool,
    /// The sequence number of the first packet. The numbers of server and client must be about the same. The
    /// field is for tests in which the numbers wrap around. Default 0.
    pub first_sequence: u64,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            mtu_bytes: 1_200,
            timeout: Duration::from_secs(10),
            max_objects: 65_536,
            max_assets: 16_384,
            max_out_of_sight: 4_096,
            max_object_bytes: 256 << 10,
            login: Vec::new(),
            reconnects: true,
            max_call_wait: Duration::from_secs(5),
            measure: false,
            first_sequence: 0,
        }
    }
}

impl fmt::Debug for ClientConfig {
    /// Prints only the length of the login, because the login may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mtu_bytes,
            timeout,
            max_objects,
            max_assets,
            max_out_of_sight,
            max_object_bytes,
            login,
            reconnects,
            max_call_wait,
            measure,
            first_sequence,
        } = self;
        f.debug_struct("ClientConfig")
            .field("mtu_bytes", mtu_bytes)
            .field("timeout", timeout)
            .field("max_objects", max_objects)
            .field("max_assets", max_assets)
            .field("max_out_of_sight", max_out_of_sight)
            .field("max_object_bytes", max_object_bytes)
            .field("login", &Concealed(login.len()))
            .field("reconnects", reconnects)
            .field("max_call_wait", max_call_wait)
            .field("measure", measure)
            .field("first_sequence", first_sequence)
            .finish()
    }
}

/// The smallest value that `max_connection_bytes` can have.
const LEAST_CONNECTION_BYTES: usize = 65_536;

impl ServerConfig {
    pub(crate) fn session_settings(&self) -> ServerSettings {
        ServerSettings {
            terms: self.terms(),
            limits: Limits {
                packets_in_flight: self.max_packets_in_flight,
                bytes_in_flight: self.max_bytes_in_flight,
                bytes_per_pass: self.max_bytes_per_tick,
                memory_bytes: self.max_connection_bytes,
            },
            bytes_per_second: self.max_bytes_per_second,
            validates_addresses: self.validate_addresses,
            secret: self.secret,
            first_sequence: self.first_sequence,
        }
    }

    /// Returns the limits and times that the server brings into a handshake.
    pub(crate) fn terms(&self) -> ServerTerms {
        let Self { mtu_bytes, max_objects, max_object_bytes, timeout, login_timeout, .. } = *self;
        let capacity = Capacity { mtu_bytes, max_objects, max_object_bytes };
        ServerTerms { capacity, timeout, asks_login: self.login == Login::Ask, login_timeout }
    }

    /// # Panics
    /// Panics if a field is out of its range. The message contains the name of the field and its range.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        self.terms().assert_valid();
        assert_positive("max_packets_in_flight", self.max_packets_in_flight);
        assert_positive("max_bytes_in_flight", self.max_bytes_in_flight);
        assert!(
            self.max_connection_bytes >= LEAST_CONNECTION_BYTES,
            "`max_connection_bytes` is at least {LEAST_CONNECTION_BYTES}, but {} was asked for: not one packet would have room for its record",
            self.max_connection_bytes
        );
        assert_positive("max_bytes_per_tick", self.max_bytes_per_tick);
        assert_positive("max_bytes_per_second", self.max_bytes_per_second);
        assert_positive("connections_per_tick", self.connections_per_tick);
        assert!(
            (1..100).contains(&self.message_percent),
            "`message_percent` is from 1 to 99, but {} was asked for: messages or state could never be sent",
            self.message_percent
        );
    }
}

impl ClientConfig {
    /// Returns the limits and times that the client brings into a handshake.
    pub(crate) fn terms(&self) -> ClientTerms<'_> {
        let Self { mtu_bytes, max_objects, max_object_bytes, timeout, reconnects, first_sequence, .. } =
            *self;
        let capacity = Capacity { mtu_bytes, max_objects, max_object_bytes };
        ClientTerms { capacity, timeout, login: &self.login, reconnects, first_sequence }
    }

    /// # Panics
    /// Panics if a field is out of its range. The message contains the name of the field and its range.
    #[track_caller]
    pub(crate) fn assert_valid(&self) {
        self.terms().assert_valid();
        assert_positive("max_assets", self.max_assets);
    }
}

#[track_caller]
fn assert_positive(name: &str, limit: usize) {
    assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: nothing could ever be sent");
}
