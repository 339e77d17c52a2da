//! What a client knows about its connection: the server that accepted it, the objects that the client owns,
//! and the traffic.
//!
//! *Invariant:* no method in this file changes the client.

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
    /// The number of bytes of all packets from the server that this client has accepted.
    pub bytes_received: u64,
    /// The number of received packets, except for the control packets of the handshake.
    pub packets_received: u64,
    /// The number of packets from the server that count as lost. A packet counts as lost after some later
    /// packets have arrived. If it then arrives and is still applied, it is subtracted from this number
    /// again.
    pub packets_lost: u64,
    /// The number of packets to the server that contain messages and were neither acknowledged nor declared
    /// lost.
    pub packets_in_flight: usize,
    /// The smoothed round trip, in whole milliseconds. The server measures it, and sends it in every 32nd
    /// packet and in each keep-alive packet. It includes the time that acks wait for this client's tick.
    /// `None` before the first ack.
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
    /// itself. The last [`ClientEvent::Disconnected`](crate::ClientEvent::Disconnected) contains the reason.
    /// Returns `false` before the first [`tick`](Client::tick), and while the client connects or waits for
    /// its next attempt.
    #[must_use]
    pub fn is_over(self) -> bool {
        self.client.session.is_over()
    }

    /// Returns the answer of the game on the server to the [login](crate::ClientConfig::login) of this
    /// client. The answer is empty before the server has accepted the client, and if the server accepts every
    /// client without an answer.
    #[must_use]
    pub fn login_answer(self) -> &'a [u8] {
        self.client.session.login_answer()
    }

    /// Returns a number that identifies the server that accepted this client last. If a server is restarted
    /// with another secret, its number differs. Returns `None` if no server has accepted this client yet.
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

    /// Returns the progress of messages of a type that are larger than a packet: how many of their bytes were
    /// transferred, in each direction. Costs O(waiting messages of the type).
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

    /// Returns how many bits were received so far for each class and each property. The slice is empty unless
    /// [`ClientConfig::measure`](crate::ClientConfig::measure) is set.
    #[must_use]
    pub fn traffic(self) -> &'a [ClassTraffic] {
        self.client.replicas.traffic.as_ref().map_or(&[], |traffic| &traffic.classes)
    }
}
