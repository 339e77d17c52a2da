//! Reads the packets of the client: acks and messages.
//!
//! *Invariant:* a packet that is malformed, too old or repeated has no effect on objects and messages.

use std::time::Duration;

use repl_core::{BitReader, ReadError};

use super::Connection;
use crate::messages::exchange::CheckedMessages;
use crate::messages::mailbox::Mailbox;
use crate::server::world::World;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::transport::acks::Arrival;
use crate::transport::message::{asks_for_ack, is_at_end, read_messages};
use crate::transport::packet::Header;
use crate::transport::sequence::Sequence;

impl Connection {
    /// Returns the newest packet of state from the client. The 16-bit numbers of packets are read relative to
    /// the number of the newest received packet.
    pub(crate) fn newest_received(&self) -> Sequence {
        self.received.newest().unwrap_or(self.first)
    }

    /// Reads the rest of the packet of state `sequence` from the client, which follows the packet's number. A
    /// packet of state from a client contains only acks and messages. Returns whether the packet is new.
    ///
    /// # Errors
    /// Returns an error if the packet is malformed. After an error, the caller must end the connection.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    pub(crate) fn receive(
        &mut self,
        world: &mut World,
        mailbox: &mut Mailbox<ConnectionId>,
        sequence: Sequence,
        reader: &mut BitReader<'_>,
        now: Duration,
    ) -> Result<bool, DisconnectReason> {
        // A packet that is too old must have no effect, so its age is checked before its acks are read.
        let arrival = self.received.check(sequence);
        if arrival == Arrival::TooOld {
            return Ok(false);
        }
        if arrival == Arrival::New && !self.packet_limit.take(now) {
            return Err(DisconnectReason::TooFast("packets".to_owned()));
        }
        let protocol = |error: ReadError| DisconnectReason::Protocol(error.to_string());
        let (header, acks) =
            Header::read(reader, sequence, self.outbox.sequence(), false).map_err(protocol)?;
        if arrival == Arrival::Duplicate {
            if asks_for_ack(reader).map_err(protocol)? {
                self.ack_pace.schedule_acks();
            }
            return Ok(false);
        }
        if let Some(floor) = header.floor {
            self.received.forget_below(floor);
        }
        let messages = self.read_messages(mailbox, reader).map_err(protocol)?;
        self.received.insert(sequence);
        self.ack_pace.arrived(sequence);
        self.acked(world, acks, now);
        self.unsettle_calls();
        if !messages.is_empty() {
            self.ack_pace.schedule_acks();
            self.exchange.deliver(messages, self.id, mailbox, world, now)?;
        }
        Ok(true)
    }

    /// Reads and checks the messages of a packet of the client. A client sends no state (S106).
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    fn read_messages<'b>(
        &self,
        mailbox: &mut Mailbox<ConnectionId>,
        reader: &mut BitReader<'b>,
    ) -> Result<CheckedMessages<'b>, ReadError> {
        if reader.read_flag()? {
            return Err(ReadError::OutOfRange);
        }
        if is_at_end(reader) {
            // Most packets have only acks.
            return Ok(CheckedMessages::default());
        }
        self.exchange.check(read_messages(reader, mailbox.len())?, mailbox)
    }
}
