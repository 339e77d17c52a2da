//! Decides which newcomers a server accepts.
//!
//! *Invariant:* the server sends to an unproved address at most three times the bytes that came from it.

use std::time::Duration;

use quinn_proto::{Incoming, Transmit};
use repl_link::Address;

use super::clients::Clients;
use super::config::QuicConfig;
use super::counters::{Count, QuicCounters};
use super::places::Places;
use super::strangers::{Admission, Newcomer, Strangers};
use crate::native::engine::{Arrival, Engine};
use crate::telemetry::event;

/// Decides about newcomers: accepts them, refuses them, or asks them to prove their addresses.
pub(super) struct Gate<'a> {
    pub(super) config: &'a QuicConfig,
    pub(super) clients: &'a Clients,
    pub(super) strangers: &'a mut Strangers,
    pub(super) places: &'a mut Places,
    pub(super) counters: &'a mut QuicCounters,
    /// If nothing arrives for this time, the connection of a newcomer ends.
    pub(super) silence: Duration,
    /// Whether the server accepts no more clients, because it will end soon.
    pub(super) is_closed: bool,
}

impl Gate<'_> {
    /// Decides about a datagram that belongs to no connection. Writes the answer to `answer`, and returns
    /// where to send it.
    pub(super) fn decide(
        &mut self,
        engine: &mut Engine,
        now: Duration,
        arrival: Arrival,
        answer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        match arrival {
            Arrival::Taken => None,
            Arrival::Answer(transmit) => Some(transmit),
            Arrival::Newcomer(incoming) => self.admit(engine, now, *incoming, answer),
        }
    }

    fn admit(
        &mut self,
        engine: &mut Engine,
        now: Duration,
        incoming: Incoming,
        answer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let Self { config, clients, strangers, places, counters, silence, is_closed } = self;
        let (origin, is_proved) = (incoming.remote_address().origin(), incoming.remote_address_validated());
        let newcomer = Newcomer { origin, is_proved };
        let is_full = *is_closed || clients.active() >= config.max_clients;
        let deadline = now.saturating_add(config.handshake_timeout);
        match strangers.admission(config, now, newcomer, places.of(origin)) {
            Admission::Retry => {
                counters.count(Count::Retry);
                engine.endpoint().retry(incoming, answer).ok()
            }
            Admission::Accept if !is_full => match engine.accept(now, incoming, *silence, answer) {
                Ok(handle) => {
                    strangers.add(handle, newcomer, deadline);
                    if is_proved {
                        places.add(handle, origin);
                    }
                    None
                }
                Err(response) => {
                    strangers.failed_at_once(deadline);
                    counters.count(Count::FailedHandshake);
                    response
                }
            },
            Admission::Accept | Admission::Refuse => {
                event!(DEBUG, address = %incoming.remote_address(), "a newcomer was refused");
                counters.count(Count::Refused);
                Some(engine.endpoint().refuse(incoming, answer))
            }
        }
    }
}
