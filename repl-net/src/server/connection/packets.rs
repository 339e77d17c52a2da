//! Reads the packets of the client, and decides which packets to the client count as lost.
//!
//! *Invariant:* a packet that is malformed, too old or repeated has no effect on objects and messages.

use std::time::Duration;

use repl_core::{BitReader, ReadError};
use repl_link::parts::{Mailbox, Sequence};
use repl_link::{ConnectionId, DisconnectReason};

use super::Connection;
use super::copies::losses::Losses;
use crate::server::world::World;

impl Connection {
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
        let Some(packet) = self.link.open(sequence, reader, false, now)? else { return Ok(false) };
        let protocol = |error: ReadError| DisconnectReason::Protocol(error.to_string());
        // A client sends no state (S106).
        let messages = self.link.exchange.read_alone(reader, mailbox).map_err(protocol)?;
        // Only a server sends the names of assets.
        if world.store.assets.channel().is_some_and(|channel| messages.has_any_of(channel)) {
            return Err(protocol(ReadError::OutOfRange));
        }
        let mut acks = self.link.accept(packet);
        while let Some(acked) = self.link.next_acked(&mut acks, now) {
            self.copies.acked(world, acked);
        }
        self.calls.unsettle();
        if !messages.is_empty() {
            self.link.exchange.deliver((&messages, None), self.copies.id, mailbox, &world.store, now)?;
        }
        Ok(true)
    }

    /// Declares packets lost that should have been acked by now, and makes their content pending.
    ///
    /// This function is called before the comparison of a tick, so that an object whose opening (first
    /// update) was lost is compared for the next opening (S40).
    pub(crate) fn declare_lost(&mut self, world: &mut World, now: Duration) {
        if !self.copies.is_live {
            return;
        }
        let Some(mut lost) = self.link.begin_losses(now) else { return };
        let mut losses = Losses::new(world);
        while let Some((sequence, contents)) = self.link.next_lost(&mut lost) {
            losses.sequence = sequence;
            self.copies.lost(&mut losses, contents);
        }
        self.copies.fold_lost(losses, &self.link.outbox.in_flight);
        if let Some(sent_by) = self.link.end_losses(lost, now) {
            for (sequence, packet) in self.link.outbox.in_flight.sent_by(sent_by) {
                self.copies.retry(world, sequence, &packet.body);
            }
        }
    }
}
