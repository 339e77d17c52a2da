//! The packets of a client: it receives those of the server, and makes its own in each tick.
//!
//! *Invariant:* a packet of the server is applied as a whole or not at all (R20).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::time::Duration;

use repl_core::BitReader;

use super::body::BodyError;
use super::{Client, ReceiveError};
use repl_link::messages::exchange::CheckedMessages;
use repl_link::session::client_handshake::{ClientContext, ClientOutcome};
use repl_link::session::closing::shortened;
use repl_link::session::disconnect::DisconnectReason;
use crate::session::events::ClientEvent;
use repl_link::frame::message::{asks_for_ack, read_messages};
use crate::body::status::Status;
use repl_link::frame::header::Header;
use repl_link::frame::sequence::Sequence;

impl Client {
    /// Receives a packet from the server, applies it, and calls notifies and other callbacks.
    ///
    /// # Errors
    /// Returns an error if the packet was not applied. Every error except [`Damaged`](ReceiveError::Damaged)
    /// ends the connection, or means that the connection has already ended. `receive` returns no error for a
    /// packet that is repeated or arrives late.
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of
    /// [`timeout`](crate::ClientConfig::timeout) without a [`tick`](Self::tick), whatever is in them. Packets
    /// after the end of the session do not count.
    #[track_caller]
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) -> Result<(), ReceiveError> {
        let now = self.now.max(now);
        self.now = now;
        let newest = self.link.newest_received();
        if self.handshake.is_ended() {
            self.handshake.receive_after_end(bytes, newest, &mut self.link.outbox.queue);
            return Err(ReceiveError::Closed);
        }
        self.tick_watch.received(now, self.config.timeout, "Client");
        let context = ClientContext { terms: self.config.terms(), agreement: self.replicas.classes.agreement() };
        let outcome = self.handshake.receive(bytes, newest, now, context, &mut self.link.outbox.queue);
        if matches!(outcome, ClientOutcome::Damaged) {
            return Err(ReceiveError::Damaged);
        }
        self.bytes_received = self.bytes_received.saturating_add(bytes.len() as u64);
        match outcome {
            ClientOutcome::Damaged | ClientOutcome::Nothing => {}
            ClientOutcome::State(sequence, mut reader) => {
                if let Err(BodyError::Malformed(why)) = self.state(sequence, &mut reader, now) {
                    self.end(DisconnectReason::Protocol(why.clone()));
                    return Err(ReceiveError::Malformed(why));
                }
            }
            ClientOutcome::Connected => {
                self.welcomed();
                self.session_began();
            }
            ClientOutcome::Welcome => self.welcomed(),
            ClientOutcome::Ended(reason) => {
                self.session_ended(reason.clone(), Some(now));
                if let DisconnectReason::Protocol(why) = reason
                    && self.handshake.has_ended_itself()
                {
                    return Err(ReceiveError::Malformed(why));
                }
            }
        }
        Ok(())
    }

    /// Handles a welcome packet, by which the server accepts this client. Each welcome contains the token
    /// that validates the client's address.
    fn welcomed(&mut self) {
        self.link.outbox.binding = self.handshake.binding();
    }

    fn state<'b>(
        &mut self,
        sequence: Sequence,
        reader: &mut BitReader<'b>,
        now: Duration,
    ) -> Result<(), BodyError> {
        let Some(packet) = self.link.open(sequence, reader, true, now).map_err(BodyError::ended)? else {
            return Ok(());
        };
        let header = packet.header;
        let must_ack = asks_for_ack(reader)?;
        let mut body = reader.clone();
        let has_segments = body.read_flag()?;
        self.handshake.note_packet(now);
        let mut messages = CheckedMessages::default();
        let mut check_messages = |rest: &mut BitReader<'b>| {
            messages = self.link.exchange.check(read_messages(rest, self.mailbox.len())?, &mut self.mailbox)?;
            Ok(())
        };
        if has_segments {
            let (replicas, events) = (&mut self.replicas, &mut self.events);
            replicas.receive(header.sequence, header.stamp, reader, events, check_messages)?;
            self.events.take_unreported().into_iter().for_each(|object| self.replicas.release(object));
        } else {
            check_messages(&mut body)?;
        }
        let status = packet.extension;
        let mut acks = self.link.accept(packet, must_ack);
        while self.link.next_acked(&mut acks, now).is_some() {}
        let objects = self.replicas.objects();
        let delivered = self.link.exchange.deliver(messages, (), &mut self.mailbox, objects, now);
        self.packets_received = self.packets_received.saturating_add(1);
        if let Some(status) = status {
            self.take_status(&header, status, now);
        }
        if let Err(reason) = delivered {
            self.end(reason);
        }
        Ok(())
    }

    fn take_status(&mut self, header: &Header, status: Status, now: Duration) {
        self.status.take(header.sequence, header.stamp, status);
        if let Some(tick) = self.status.tick() {
            self.clock.arrived(tick, now);
        }
        if status.connection.is_some_and(|connection| connection.has_joined)
            && !std::mem::replace(&mut self.is_synchronized, true)
        {
            self.events.push(ClientEvent::Synchronized);
        }
    }

    fn end(&mut self, reason: DisconnectReason) {
        if let ClientOutcome::Ended(reason) =
            self.handshake.end(reason, &self.config.terms(), &mut self.link.outbox.queue)
        {
            self.session_ended(reason, None);
        }
    }

    /// Ends the connection with the server. The next [`poll_transmit`](Self::poll_transmit) returns the
    /// packet that tells the server that the connection ends. Disconnecting does not change the objects of
    /// the client, and the client does not connect again. This packet may be lost. The client sends it again
    /// when it [receives](Self::receive) a packet that shows that the server does not know of the end. To end
    /// a connection reliably, continue to receive and poll packets for about a second.
    pub fn disconnect(&mut self) {
        self.sessions.stop();
        self.end(DisconnectReason::Closed);
    }

    /// Ends the connection in the same way as [`disconnect`](Self::disconnect), and tells the server the
    /// reason, which it reports as [`DisconnectReason::ClosedWith`]. A reason is cut if it is longer than 255
    /// bytes, or longer than the packet limit minus 8.
    pub fn disconnect_with(&mut self, text: &str) {
        self.sessions.stop();
        self.end(DisconnectReason::ClosedWith(shortened(text)));
    }

    /// Makes the packets of this tick, which contain handshake data or acks, or keep the connection alive.
    /// The argument `now` is the time since a fixed start that you choose. `now` should never decrease: an
    /// earlier time counts as the latest time so far. Call `tick` in every frame, because without it the
    /// client neither connects nor stays connected.
    pub fn tick(&mut self, now: Duration) {
        self.tick_watch.ticked();
        let now = self.now.max(now);
        self.now = now;
        self.last_tick = now;
        self.reconnect(now);
        self.clock.advance(now);
        for at in 0.. {
            let Some(run) = self.call_runners.get(at) else { break };
            run(self, now);
        }
        if self.handshake.is_idle() && self.sessions.is_first() {
            self.replicas.number_classes(self.mailbox.forms());
        }
        let context = ClientContext { terms: self.config.terms(), agreement: self.replicas.classes.agreement() };
        if let Some(reason) = self.handshake.tick(now, context, &mut self.link.outbox.queue) {
            self.session_ended(reason, Some(now));
        }
        if !self.handshake.is_connected() {
            return;
        }
        let round_trip = self.link.health.round_trip.smoothed();
        if let Err(reason) = self.link.exchange.expire(self.config.timeout, round_trip, now) {
            self.end(reason);
            return;
        }
        let next = self.link.outbox.sequence();
        let longest_silence = self.handshake.longest_silence(self.config.timeout, next);
        let is_silent = now.saturating_sub(self.link.health.last_sent) >= longest_silence;
        let must_send_token = self.handshake.must_send_token(now);
        let packets_before = self.link.outbox.queue.packets_sent;
        let lacks_acks = self.send_messages(now);
        let is_silent = is_silent && self.link.outbox.queue.packets_sent == packets_before;
        if lacks_acks {
            self.link.signal(true, now);
        } else if is_silent || must_send_token {
            // The packets that probe a silent link contain no acks, because acks that are sent late would
            // look like long round trips.
            self.link.signal(false, now);
        }
        if self.link.outbox.queue.packets_sent > packets_before {
            self.link.health.last_sent = now;
        }
    }

    /// Returns the next packet for the server. The caller sends the packet immediately. Returns `None` if
    /// this tick has no more packets.
    ///
    /// # Panics
    /// Panics in debug builds if this method is called 1,000 times and [`tick`](Self::tick) was never called.
    #[track_caller]
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        if self.handshake.is_idle() {
            self.tick_watch.polled_before_tick();
        }
        self.link.outbox.queue.pop()
    }
}
