//! The packets of a client: receives the server's packets, and makes the client's own packets in each tick.
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
    /// ends the connection, or means that the connection has already ended. If a packet is a duplicate or
    /// arrives late, this is no error.
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of [`timeout`](crate::ClientConfig::timeout)
    /// without a call of [`tick`](Self::tick), whatever they contained. Packets after the end of the session
    /// do not count.
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

    /// Ends the connection with the server. The next [`poll_transmit`](Self::poll_transmit) returns a
    /// disconnect packet, which tells the server that the connection has ended. The objects of the client do
    /// not change, and the client does not connect again. The disconnect packet may be lost. Therefore the
    /// client sends it again whenever it [receives](Self::receive) a packet that shows that the server still
    /// considers the session open. To end a connection reliably, continue to receive and poll packets for
    /// about a second.
    pub fn disconnect(&mut self) {
        self.session.stop();
        self.end(DisconnectReason::Closed);
    }

    /// Ends the connection in the same way as [`disconnect`](Self::disconnect), and tells the server the
    /// reason. The server reports it as [`DisconnectReason::ClosedWith`]. The reason is truncated to 255
    /// bytes, or to the packet limit minus 8 bytes if that is less.
    pub fn disconnect_with(&mut self, text: &str) {
        self.session.stop();
        self.end(DisconnectReason::ClosedWith(shortened(text)));
    }

    /// Makes the packets of this tick. They contain handshake data, acks, messages or inputs, or keep the
    /// connection alive. `now` is the time since a fixed start that you choose, not the time since the last
    /// tick. Pass `start.elapsed()`, with one `start = Instant::now()` for the whole game. The server may
    /// have another start. Pass times of the same clock to [`receive`](Self::receive). `now` should never
    /// decrease: if it does, the greatest time so far is used. Call `tick` in every frame, because without it
    /// the client neither connects nor remains connected.
    ///
    /// With the feature `tracing`, a tick logs a warning if more than
    /// [`timeout`](crate::ClientConfig::timeout) has passed since the last tick.
    ///
    /// # Panics
    /// Panics in debug builds if `now` cannot be the time since a fixed start: if it decreased in 100 ticks,
    /// if it is 5 s or more behind an earlier time in 100 consecutive ticks, or if it is the same and not
    /// zero in 1,000 consecutive ticks.
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

    /// Sets the greatest size of the packets to the server, in bytes, for example after the transport has
    /// measured which size the path delivers. (QUIC raises its limit from 1,162 bytes after some time.) The
    /// size can be raised and lowered at any time, even before the first [`tick`](Self::tick). It also
    /// applies to later sessions. It does not apply to the packets of the server, which has its own
    /// transport.
    ///
    /// The size is at most [`ClientConfig::mtu_bytes`](crate::ClientConfig::mtu_bytes) and at most the
    /// server's [`mtu_bytes`](crate::ServerConfig::mtu_bytes), which limit the packets that each side
    /// receives. It is at least 508, unless one of these limits is lower. Packets that were already made keep
    /// their size. If parts of a message no longer fit, the message is split again, and sent again from its
    /// beginning.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.session.set_packet_bytes(bytes);
    }

    /// Returns the next packet for the server, which the caller must send immediately. Returns `None` if this
    /// tick has no more packets.
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
