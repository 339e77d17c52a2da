//! The packets of a client: it receives those of the server, and makes its own in each tick.
//!
//! *Invariant:* a packet of the server is applied as a whole or not at all (R20).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::time::Duration;

use repl_core::BitReader;
use repl_link::parts::{CheckedMessages, ClientContext, Header, Heard, NewPacket, Visit, shortened};
use repl_link::{DisconnectReason, Guest};

use super::{Client, ReceiveError};
use crate::body::State;
use crate::body::status::Status;
use crate::body::walk::BodyError;
use crate::session::events::ClientEvent;
use crate::telemetry;

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
        let context =
            ClientContext { terms: self.config.terms(), agreement: self.replicas.classes.agreement() };
        match self.session.receive(now, bytes, context)? {
            Heard::Nothing => {}
            Heard::Packet(packet, mut reader) => {
                telemetry::span!(DEBUG, "client_receive", bits = reader.remaining());
                if let Err(BodyError::Malformed(why)) = self.state(packet, &mut reader) {
                    telemetry::event!(WARN, why, "a packet of the server is malformed");
                    self.end(DisconnectReason::Protocol(why.clone()));
                    return Err(ReceiveError::Malformed(why));
                }
            }
            Heard::Began(beginning) => self.session_began(beginning),
            Heard::Ended(reason) => {
                self.session_ended(reason.clone());
                if let DisconnectReason::Protocol(why) = reason
                    && self.session.has_ended_itself()
                {
                    return Err(ReceiveError::Malformed(why));
                }
            }
        }
        Ok(())
    }

    fn state<'b>(
        &mut self,
        packet: NewPacket<'b, State>,
        reader: &mut BitReader<'b>,
    ) -> Result<(), BodyError> {
        let mut body = reader.clone();
        let has_segments = body.read_flag()?;
        let mut messages = CheckedMessages::default();
        let Self { session, replicas, events, status, .. } = self;
        let mut check_messages = |rest: &mut BitReader<'b>| {
            messages = session.check_messages(rest)?;
            Ok(session.take_early(&messages))
        };
        let header = packet.header;
        let tick = packet.extension.and_then(|known| status.tick_of(header.sequence, header.stamp, known));
        replicas.begin_updates(tick);
        if has_segments {
            replicas.receive(header.sequence, header.stamp, reader, events, check_messages)?;
        } else {
            let names = check_messages(&mut body)?;
            replicas.learn_assets(names, events)?;
        }
        replicas.end_updates();
        let status = packet.extension;
        let delivered = session.accept(packet, messages, replicas.objects());
        if let Some(status) = status {
            self.take_status(&header, status);
        }
        if let Err(reason) = delivered {
            self.end(reason);
        }
        Ok(())
    }

    fn take_status(&mut self, header: &Header, status: Status) {
        self.status.take(header.sequence, header.stamp, status);
        if let Some(tick) = self.status.tick() {
            self.clock.arrived(tick, self.session.now());
        }
        if status.connection.is_some_and(|connection| connection.has_joined)
            && !std::mem::replace(&mut self.is_synchronized, true)
        {
            self.events.push(ClientEvent::Synchronized);
        }
    }

    fn end(&mut self, reason: DisconnectReason) {
        if let Some(reason) = self.session.end(reason) {
            self.session_ended(reason);
        }
    }

    /// Ends the connection with the server. The next [`poll_transmit`](Self::poll_transmit) returns the
    /// packet that tells the server that the connection ends. Disconnecting does not change the objects of
    /// the client, and the client does not connect again. This packet may be lost. The client sends it again
    /// when it [receives](Self::receive) a packet that shows that the server does not know of the end. To end
    /// a connection reliably, continue to receive and poll packets for about a second.
    pub fn disconnect(&mut self) {
        self.session.stop();
        self.end(DisconnectReason::Closed);
    }

    /// Ends the connection in the same way as [`disconnect`](Self::disconnect), and tells the server the
    /// reason, which it reports as [`DisconnectReason::ClosedWith`]. A reason is cut if it is longer than 255
    /// bytes, or longer than the packet limit minus 8.
    pub fn disconnect_with(&mut self, text: &str) {
        self.session.stop();
        self.end(DisconnectReason::ClosedWith(shortened(text)));
    }

    /// Makes the packets of this tick, which contain handshake data or acks, or keep the connection alive.
    /// The argument `now` is the time since a fixed start that you choose, and not the time since the last
    /// tick: `start.elapsed()`, with one `start = Instant::now()` for the whole game. The server may have
    /// another start. Pass the times of the same clock to [`receive`](Self::receive). `now` should never
    /// decrease: an earlier time counts as the latest time so far. Call `tick` in every frame, because
    /// without it the client neither connects nor stays connected.
    ///
    /// With the feature `tracing`, a warning says if more than [`timeout`](crate::ClientConfig::timeout) has
    /// passed since the last tick.
    ///
    /// # Panics
    /// Panics in debug builds if `now` cannot be the time since a fixed start: if it was earlier than in
    /// the tick before 100 times, if it is 5 s or more behind a time that was passed before in 100 ticks in
    /// a row, or if it is the same and not zero in 1,000 ticks in a row.
    #[track_caller]
    pub fn tick(&mut self, now: Duration) {
        let now = self.session.begin_tick(now);
        telemetry::note_jump(self.session.jump(self.config.timeout));
        self.reconnect();
        self.clock.advance(now);
        for at in 0.. {
            let Some(run) = self.runners.get(at) else { break };
            run(self, now);
        }
        if self.session.may_register() {
            self.replicas.number_classes(self.session.mailbox.forms());
        }
        let context =
            ClientContext { terms: self.config.terms(), agreement: self.replicas.classes.agreement() };
        if let Some(reason) = self.session.tick(context) {
            self.session_ended(reason);
        }
        if let Some(bytes) = self.session.take_changed_packet_bytes() {
            self.events.push(ClientEvent::PacketBytesChanged(bytes));
        }
        if let Some(bytes) = self.session.take_truncated() {
            telemetry::event!(WARN, bytes, "packets arrive truncated: receive them into a larger buffer");
            let mtu_bytes = self.config.mtu_bytes;
            self.events.push(ClientEvent::PacketsTruncated { arrived_bytes: bytes, mtu_bytes });
        }
    }

    /// Sets the greatest size of the packets to the server, in bytes, for example when the transport has
    /// found out what the path carries: QUIC goes from 1,162 bytes to more after some time. A size can be
    /// set at any time, also lower, and before the first [`tick`](Self::tick). It counts until another is
    /// set, in later sessions too. The server is not told: its own transport knows what it may send.
    ///
    /// The size is never more than [`ClientConfig::mtu_bytes`](crate::ClientConfig::mtu_bytes) and the
    /// server's [`mtu_bytes`](crate::ServerConfig::mtu_bytes), which say what each side receives. It is never
    /// less than 508, unless one of these is. Packets that were made already keep their size. Messages of
    /// which a part was sent are cut anew if their parts do not fit any more, and sent again.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.session.set_packet_bytes(bytes);
    }

    /// Returns the next packet for the server. The caller sends the packet immediately. Returns `None` if
    /// this tick has no more packets.
    ///
    /// # Panics
    /// Panics in debug builds if this method is called 1,000 times and [`tick`](Self::tick) was never called.
    #[track_caller]
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.session.poll_transmit()
    }
}

impl Guest for Client {
    fn visit(&self) -> &impl Visit {
        &self.session
    }

    fn visit_mut(&mut self) -> &mut impl Visit {
        &mut self.session
    }

    fn receive(&mut self, now: Duration, bytes: &[u8]) {
        Self::receive(self, now, bytes).ok();
    }

    fn lose_session(&mut self, reason: DisconnectReason) {
        if let Some(reason) = self.session.lose(reason, &self.config.terms()) {
            self.session_ended(reason);
        }
    }
}
