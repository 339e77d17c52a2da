//! Inputs on a client: for which ticks they must be made, and how they are sent.
//!
//! *Invariant:* each tick has at most one input of a type.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Range;
use std::time::Duration;

use repl_core::{BitWriter, NetSerialize, WithoutFastArrays};
use repl_link::SendError;

use super::bundle::{self, MOST_INPUTS};
use super::client_inbox::{Reports, Source};
use super::clock::{MOST_AT_ONCE, Seen};
use super::error::InputError;
use super::registration::{InputsOf, Registration};
use super::report::InputReport;
use crate::client::Client;

/// The inputs of one type on a client: which ticks need an input now, and which inputs were made.
/// [`Client::inputs`] returns it.
pub struct ClientInputs<'a, T> {
    client: &'a mut Client,
    inputs: PhantomData<T>,
}

/// Statistics of how early a client's inputs arrive at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InputStats {
    /// How many ticks the newest input is ahead of the server's tick, as the client estimates it
    /// ([`ServerClock::tick_at`](crate::ServerClock::tick_at)). This is about the round trip plus the jitter
    /// plus a reserve.
    pub ahead_ticks: Option<f64>,
    /// How many ticks before its tick the latest input arrived, according to the newest report of the server.
    /// Negative if the input came too late.
    pub margin_ticks: Option<f64>,
    /// How many ticks the server has begun without their input, according to its reports. This is the sum for
    /// all types of inputs.
    pub missing: u64,
    /// The number of ticks without an input: the input clock has jumped over them, or the program set no
    /// input.
    pub skipped: u64,
    /// The number of packets in which each input is sent.
    pub copies: usize,
}

impl Client {
    /// Registers a type of inputs. Each input is sent whole, but an input that equals the previous input
    /// takes only 1 bit. Register the same types on the server. See [`inputs`](Self::inputs).
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick), if the type is registered already, or if one of its
    /// fields has a condition.
    #[track_caller]
    pub fn register_inputs<T: NetSerialize + Clone + Send + Sync>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::whole())
    }

    /// Registers a type of inputs. Only the properties that differ from the previous input are sent. Types
    /// with fast arrays cannot be sent in this way: use [`register_inputs`](Self::register_inputs) for them.
    /// Register the same types on the server. See [`inputs`](Self::inputs).
    ///
    /// # Panics
    /// Panics in the same cases as [`register_inputs`](Self::register_inputs).
    #[track_caller]
    pub fn register_inputs_by_field<T: WithoutFastArrays + Clone>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::by_field())
    }

    #[track_caller]
    fn add_inputs<T: Clone + Send + Sync + 'static>(&mut self, registration: Registration<T>) -> &mut Self {
        self.assert_registers("the inputs", registration.name());
        let mailbox = &mut self.session.mailbox;
        if mailbox.channel(TypeId::of::<InputReport>()).is_none() {
            registration.add_reports(mailbox, Reports::default());
        }
        registration.add(mailbox, Source::new);
        self.runners.push(Self::send_inputs::<T>);
        self
    }

    /// Returns the inputs of a type. In each frame, set an input for each tick that is due. Then call
    /// [`tick`](Self::tick):
    ///
    /// ```
    /// # mod repl {
    /// #     pub use repl_core::*;
    /// #     pub use repl_net::*;
    /// # }
    /// # use std::time::Duration;
    /// use repl::{Client, NetSerialize};
    /// fn frame<Steer>(client: &mut Client, now: Duration, steer: &Steer)
    /// where
    ///     Steer: NetSerialize + Clone + Send + Sync,
    /// {
    ///     for tick in client.inputs::<Steer>().due(now) {
    ///         client.inputs::<Steer>().set(tick, steer).ok();
    ///     }
    ///     client.tick(now);
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[must_use]
    #[track_caller]
    pub fn inputs<T: Clone + Send + Sync + 'static>(&mut self) -> ClientInputs<'_, T> {
        InputsOf::<T>::assert_registered(&self.session.mailbox);
        ClientInputs { client: self, inputs: PhantomData }
    }

    fn source<T: Clone + Send + Sync + 'static>(&mut self) -> Option<&mut Source<T>> {
        self.session.mailbox.inbox_mut(InputsOf::<T>::key())
    }

    fn reports(&mut self) -> Option<&mut Reports> {
        self.session.mailbox.inbox_mut(TypeId::of::<InputReport>())
    }

    /// Sends the newest inputs, if any were made since the last tick. If not all copies fit, sends fewer
    /// copies. If many inputs were made at once, sends only the newest ones.
    fn send_inputs<T: Clone + Send + Sync + 'static>(&mut self, _: Duration) {
        let (mut copies, mut most) =
            (self.reports().map_or(1, |reports| reports.copies.count()), MOST_INPUTS);
        if !self.source::<T>().is_some_and(|source| source.made.is_unsent()) {
            return;
        }
        loop {
            let write = |source: &mut Source<T>, writer: &mut BitWriter| {
                bundle::write(&mut *source.coding, source.made.newest_inputs(copies, most), writer)
            };
            match self.session.send_from_inbox(InputsOf::<T>::key(), write) {
                Err(SendError::TooLarge { .. }) if copies > 1 => copies = copies.saturating_sub(1),
                Err(SendError::TooLarge { .. }) if most > 1 => most /= 2,
                Ok(()) => break,
                Err(_) => return,
            }
        }
        if let Some(source) = self.source::<T>() {
            source.made.end_bundle();
        }
    }
}

impl<T: Clone + Send + Sync + 'static> ClientInputs<'_, T> {
    /// Advances the input clock to the time `now`. Returns the ticks of the server for which the program must
    /// set an input now, in ascending order. In most frames, this is one tick or none. The range is empty
    /// until the client knows the server's clock and the round trip. It knows them after about one round trip
    /// if the server sends packets in each tick, and after about a second if the server has nothing to send.
    ///
    /// The clock is ahead of the server by the round trip plus a reserve. The reserve is computed from the
    /// jitter and the losses, so that about one input in 2,000 arrives too late. The clock corrects its
    /// errors slowly: it runs 3 % faster or slower for each tick of error, and at most 10 %. If it is more
    /// than 250 ms behind, it jumps forward, and the skipped ticks have no input. If it is more than 250 ms
    /// too far ahead, it stops until it is right. It never goes back.
    pub fn due(&mut self, now: Duration) -> Range<u64> {
        let made = self.client.source::<T>().and_then(|source| source.made.newest());
        let Some((seen, reports)) = self.client.seen(now).zip(self.client.reports()) else { return 0..0 };
        reports.clock.advance(now, &seen);
        reports.clock.due(&seen, made)
    }

    /// Returns the position of the input clock at the last call of [`due`](Self::due), in ticks. The whole
    /// part is the newest tick that is due. The fraction is the part of this tick that has passed. A game
    /// with more frames than ticks uses it to show its player between the states before and after this tick.
    #[must_use]
    pub fn position(&mut self) -> Option<f64> {
        self.client.reports()?.clock.position()
    }

    /// Sets the input of a tick. The next [`Client::tick`] sends it. Returns the input as the server will
    /// read it, because attributes may round values. Use the returned input for prediction. If the input
    /// refers to an object that the server does not know, the reference reads as null on the server.
    ///
    /// # Errors
    /// Returns an error and does nothing if the tick is not [due](Self::due), if it or a later tick has an
    /// input, if the input has no wire form, or if the wire form takes more than about 1,000 bytes.
    pub fn set(&mut self, tick: u64, input: &T) -> Result<&T, InputError> {
        let newest_due = self.client.reports().and_then(|reports| reports.clock.newest_due());
        if newest_due.is_none_or(|due| tick > due || tick.saturating_add(MOST_AT_ONCE) < due) {
            return Err(InputError::NotDue);
        }
        let source = self.client.source::<T>().ok_or(InputError::NotDue)?;
        if source.made.newest() >= Some(tick) {
            return Err(InputError::HasInput);
        }
        let input = source.rounded(input)?;
        source.made.add(tick, input);
        source.made.get(tick).ok_or(InputError::NotDue)
    }

    /// Returns the input that was set for a tick, as the server will read it. Only the newest 256 inputs are
    /// stored.
    #[must_use]
    pub fn get(&mut self, tick: u64) -> Option<T> {
        self.client.source::<T>()?.made.get(tick).cloned()
    }

    /// Returns the input that was set for a tick. If the tick has no input, returns the last input before it,
    /// as the server [does](crate::TickInput::or_last).
    #[must_use]
    pub fn or_last(&mut self, tick: u64) -> Option<T> {
        self.client.source::<T>()?.made.or_last(tick).cloned()
    }

    /// Returns statistics of how early the inputs arrive at the server. All types of inputs use the same
    /// clock.
    #[must_use]
    pub fn stats(&mut self, now: Duration) -> InputStats {
        let seen = self.client.seen(now);
        let skipped = self.client.source::<T>().map_or(0, |source| source.made.skipped);
        let Some(reports) = self.client.reports() else { return InputStats::default() };
        InputStats {
            ahead_ticks: seen.and_then(|seen| reports.clock.ahead_of(seen.tick)),
            margin_ticks: reports.margin_ticks,
            missing: reports.missing,
            skipped,
            copies: reports.copies.count(),
        }
    }
}

/// The shortest time between two ticks that the client accepts. A correct server has no shorter ticks, but a
/// malicious server may pretend to have them.
const SHORTEST_TICK: Duration = Duration::from_micros(100);

impl Client {
    fn seen(&self, now: Duration) -> Option<Seen> {
        let clock = self.clock();
        Some(Seen {
            tick: clock.tick_at(now)?,
            interval_secs: clock.interval()?.max(SHORTEST_TICK).as_secs_f64(),
            round_trip_secs: self.connection_info().stats().round_trip?.as_secs_f64(),
            jitter_secs: clock.jitter()?.as_secs_f64(),
        })
    }
}
