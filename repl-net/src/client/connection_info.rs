//! What a client knows about its connection: the server that accepted it, the objects that the client owns,
//! and the traffic.
//!
//! *Invariant:* nothing here changes the client.

use std::time::Duration;

use repl_core::{NetSerialize, ObjectRef, Replicated};
use repl_link::MessageProgress;
use repl_link::parts::SessionStats;

use super::Client;
use crate::inspect::traffic::ClassTraffic;

/// The traffic and the quality of a client's connection so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientStats {
    /// The number of bytes of all packets that this client has made for the server.
    pub bytes_sent: u64,
    /// The number of bytes of all packets from the server that were accepted.
    pub bytes_received: u64,
    /// The number of received packets, without the control packets of the handshake.
    pub packets_received: u64,
    /// The number of lost packets from the server. A packet counts as lost when later packets have arrived
    /// before it. If it arrives late and is still applied, it is subtracted from this number again.
    pub packets_lost: u64,
    /// The number of packets with messages to the server that are neither acknowledged nor counted as lost.
    pub packets_in_flight: usize,
    /// The smoothed round trip that the server measures, in whole milliseconds. The round trip includes the
    /// time that acks wait for this client's tick. The server sends the smoothed round trip in every 32nd
    /// packet and in each keep-alive. `round_trip` is `None` before the first ack.
    pub round_trip: Option<Duration>,
}

/// What a client knows about its connection. [`Client::connection_info`] returns a `ClientConnectionInfo`.
#[derive(Clone, Copy)]
pub struct ClientConnectionInfo<'a> {
    client: &'a Client,
}

impl Client {
    /// Returns what the client knows about its connection, for example its traffic.
    #[must_use]
    pub fn connection_info(&self) -> ClientConnectionInfo<'_> {
        ClientConnectionInfo { client: self }
    }
}

impl<'a> ClientConnectionInfo<'a> {
    /// Returns whether the session has ended or could not begin, and this client will not try again by
    /// itself. The last [`ClientEvent::Disconnected`](crate::ClientEvent::Disconnected) has the reason.
    /// Returns `false` before the first [`tick`](Client::tick), and while the client connects or waits for
    /// its next attempt.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.client.session.is_over()
    }

    /// Returns the answer of the server's application to the [login](crate::ClientConfig::login) of this
    /// client. The answer is empty before the server has accepted the client. It is also empty if the server
    /// accepts every client without an answer.
    #[must_use]
    pub fn login_answer(self) -> &'a [u8] {
        self.client.session.login_answer()
    }

    /// Returns the number that identifies the server that accepted this client last. A server that was
    /// started again with another secret has another number. Returns `None` if no server has accepted this
    /// client yet.
    #[must_use]
    pub fn server_instance(self) -> Option<u64> {
        self.client.session.server_instance()
    }

    /// Returns the objects of a class that this client owns, with their references, in no particular order.
    /// Costs O(objects of the class).
    pub fn owned_objects<T: Replicated>(self) -> impl Iterator<Item = (ObjectRef<T>, &'a T)> {
        let client = self.client;
        client.objects::<T>().filter(|(object, _)| client.object_info(*object).is_owner())
    }

    /// Returns how many bytes were transferred of messages of a type that are larger than a packet, in both
    /// directions. Costs O(waiting messages of the type).
    ///
    /// # Panics
    /// Panics if the type is not [registered](Client::register_message).
    #[must_use]
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(self) -> MessageProgress {
        self.client.session.message_progress::<M>()
    }

    /// Returns the traffic and the quality of the connection so far.
    #[must_use]
    pub fn stats(self) -> ClientStats {
        let client = self.client;
        let SessionStats { bytes_sent, bytes_received, packets_received, packets_lost, packets_in_flight } =
            client.session.stats(&client.config.terms());
        let round_trip = client
            .status
            .connection
            .map(|connection| connection.round_trip)
            .filter(|time| *time > Duration::ZERO);
        ClientStats {
            bytes_sent,
            bytes_received,
            packets_received,
            packets_lost,
            packets_in_flight,
            round_trip,
        }
    }

    /// Returns how many bits have been received so far for each class and each property. The slice is empty
    /// unless [`ClientConfig::measure`](crate::ClientConfig::measure) is set.
    #[must_use]
    pub fn traffic(self) -> &'a [ClassTraffic] {
        self.client.replicas.traffic.as_ref().map_or(&[], |traffic| &traffic.classes)
    }
}
