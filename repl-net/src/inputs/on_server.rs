//! Inputs on a server: what its clients have made for each tick.
//!
//! *Invariant:* the input of a tick that has begun never changes.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter, Form, NetSerialize, ReadError, ReferenceMap, Replicated};
use repl_link::parts::{Anything, Arrival, ChannelConfig, Inbox, InboxRefusal, Ticket};
use repl_link::{ConnectionId, SendError};

use super::bundle;
use super::coding::Coding;
use super::received::{InputCounts, MOST_AHEAD_TICKS, Received};
use super::registration::{InputsOf, Registration};
use super::report::InputReport;
use super::tick_times::TickTimes;
use crate::server::{ConnectionHandle, HostHandle, Server};

/// What a client has made for a tick. [`ConnectionHandle::input`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickInput<T> {
    /// The input of this tick.
    Made(T),
    /// No input has arrived for this tick.
    Missing {
        /// The last input before it. What a player holds is mostly what he held a tick before.
        last: T,
        /// How many ticks before this one that was. It grows while nothing arrives.
        ticks_ago: u64,
    },
    /// No input has arrived for this tick or an earlier one.
    None,
}

impl<T> TickInput<T> {
    /// Returns the input of the tick, or else the last one before it, however long ago that was.
    pub fn or_last(self) -> Option<T> {
        self.or_last_within(u64::MAX)
    }

    /// Returns the input of the tick, or else the last one, if it was for one of so many ticks before it: who
    /// sends nothing more should not hold his buttons until the connection ends.
    pub fn or_last_within(self, ticks: u64) -> Option<T> {
        match self {
            Self::Made(input) => Some(input),
            Self::Missing { last, ticks_ago } if ticks_ago <= ticks => Some(last),
            Self::Missing { .. } | Self::None => None,
        }
    }
}

impl Server {
    /// Registers a type of inputs, which are sent whole. An input that equals the one before it takes one
    /// bit. Register the same types on the clients. See [`ConnectionHandle::input`].
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), if the type is registered already, or if one of its
    /// fields has a condition.
    #[track_caller]
    pub fn register_inputs<T: NetSerialize + Clone + Send + Sync>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::whole())
    }

    /// Registers a type of inputs of which only the properties are sent that differ from those of the input
    /// before. Register the same types on the clients. See [`ConnectionHandle::input`].
    ///
    /// # Panics
    /// As for [`register_inputs`](Self::register_inputs).
    #[track_caller]
    pub fn register_inputs_by_field<T: Replicated + Clone>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::by_field())
    }

    #[track_caller]
    fn add_inputs<T: Clone + Send + Sync + 'static>(&mut self, registration: Registration<T>) -> &mut Self {
        assert!(
            !self.is_registration_over(),
            "inputs are new, but a client or a host has connected already: register them before the first one"
        );
        let mailbox = &mut self.sessions.mailbox;
        if mailbox.channel(TypeId::of::<InputReport>()).is_none() {
            registration.add_reports(mailbox, NoReports);
        }
        registration.add(mailbox, |coding| InputInbox::<T> {
            coding,
            clients: BTreeMap::new(),
            times: TickTimes::default(),
        });
        self.runners.push(Self::begin_inputs::<T>);
        self
    }

    fn input_inbox<T: Clone + Send + Sync + 'static>(&mut self) -> Option<&mut InputInbox<T>> {
        self.sessions.mailbox.inbox_mut(InputsOf::<T>::key())
    }

    /// Records that the next tick begins, and sends the clients what became of their inputs.
    fn begin_inputs<T: Clone + Send + Sync + 'static>(&mut self, now: Duration) {
        let tick = self.ticks().saturating_add(1);
        let Some(inbox) = self.input_inbox::<T>() else { return };
        inbox.times.begin(tick, now);
        let reports: Vec<_> = inbox
            .clients
            .iter_mut()
            .filter_map(|(id, received)| Some((*id, received.begin_tick(tick)?)))
            .collect();
        for (id, report) in reports {
            // A report that is not sent is made up for by the next one. The host needs none.
            if !self.is_host(id) {
                self.connection(id).send(&report).ok();
            }
        }
    }
}

impl ConnectionHandle<'_> {
    /// Returns what the client has made for a tick of the server. Ask for the tick that the next
    /// [`Server::tick`] begins, [`ticks`](Server::ticks) + 1, before you call it:
    ///
    /// ```
    /// # mod repl {
    /// #     pub use repl_core::*;
    /// #     pub use repl_net::*;
    /// # }
    /// # use std::time::Duration;
    /// use repl::{ConnectionId, NetSerialize, Server};
    /// fn frame<Steer: NetSerialize + Clone + Send + Sync>(
    ///     server: &mut Server,
    ///     players: &[ConnectionId],
    ///     now: Duration,
    ///     mut simulate: impl FnMut(&mut Server, ConnectionId, Option<Steer>),
    /// ) {
    ///     let tick = server.ticks() + 1;
    ///     for &player in players {
    ///         let input = server.connection(player).input::<Steer>(tick);
    ///         simulate(server, player, input.or_last_within(30));
    ///     }
    ///     server.tick(now);
    /// }
    /// ```
    ///
    /// Receive what has arrived first: an input that arrives between this call and the next tick counts as
    /// made, but you have not seen it. An input that arrives after its tick has begun is not used, and counts
    /// as late. The inputs of the last 64 ticks are kept. A client can make inputs for at most 256 ticks
    /// ahead.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[must_use]
    #[track_caller]
    pub fn input<T: Clone + Send + Sync + 'static>(&mut self, tick: u64) -> TickInput<T> {
        InputsOf::<T>::assert_registered(&self.server.sessions.mailbox);
        let id = self.connection;
        let Some(received) = self.server.input_inbox::<T>().and_then(|inbox| inbox.clients.get(&id)) else {
            return TickInput::None;
        };
        match (received.get(tick), received.last_before(tick)) {
            (Some(input), _) => TickInput::Made(input.clone()),
            (None, Some((of, last))) => {
                TickInput::Missing { last: last.clone(), ticks_ago: tick.saturating_sub(of) }
            }
            (None, None) => TickInput::None,
        }
    }

    /// Returns what the server has counted of the inputs of this type in the session.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[must_use]
    #[track_caller]
    pub fn input_counts<T: Clone + Send + Sync + 'static>(&mut self) -> InputCounts {
        InputsOf::<T>::assert_registered(&self.server.sessions.mailbox);
        let id = self.connection;
        let inbox = self.server.input_inbox::<T>();
        inbox
            .and_then(|inbox| inbox.clients.get(&id))
            .map_or_else(InputCounts::default, |received| received.counts)
    }
}

impl HostHandle<'_> {
    /// Sets the input of the host for a tick of the server, which [`ConnectionHandle::input`] then returns as
    /// it does those of clients. The host sets the input for the next tick, [`ticks`](Server::ticks) + 1,
    /// before [`Server::tick`]. Nothing is changed if the tick has an input, or is none of the next 256.
    ///
    /// # Errors
    /// Returns an error if the input has no wire form, or if there were too many in the last second.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn set_input<T: Clone + Send + Sync + 'static>(
        &mut self,
        tick: u64,
        input: &T,
    ) -> Result<(), SendError> {
        InputsOf::<T>::assert_registered(&self.server.sessions.mailbox);
        if !(1..=MOST_AHEAD_TICKS).contains(&tick.saturating_sub(self.server.ticks())) {
            return Ok(());
        }
        let key = InputsOf::<T>::key();
        let write = |inbox: &mut InputInbox<T>, writer: &mut BitWriter| {
            bundle::write(&mut *inbox.coding, std::iter::once(&(tick, input.clone())), writer)
        };
        let (channel, writer) = self.server.sessions.mailbox.write_from_inbox(key, write)?;
        let mut bits = BitWriter::new();
        bits.append(writer.as_slice());
        self.server.send_from_host((channel, 0), |writer| {
            writer.append(bits.as_slice());
            Ok(())
        })
    }
}

/// The inputs of one type from all clients.
struct InputInbox<T: 'static> {
    coding: Box<dyn Coding<T>>,
    clients: BTreeMap<ConnectionId, Received<T>>,
    times: TickTimes,
}

impl<T: Clone + Send + Sync + 'static> Inbox<ConnectionId> for InputInbox<T> {
    fn check(&mut self, content: BitSlice<'_>, _: Option<Ticket>) -> Result<(), ReadError> {
        let (mut reader, mut references) = (content.reader(), ReferenceMap::new(&Anything));
        bundle::read(&mut *self.coding, self.times.tick, &mut reader, &mut references, |_, _| ())
    }

    fn push(&mut self, mut arrival: Arrival<'_, ConnectionId>) -> Result<(), InboxRefusal> {
        arrival.count(0)?;
        let Arrival { from, number, content, objects, now, .. } = arrival;
        let Self { coding, clients, times, .. } = self;
        let (received, mut references) = (clients.entry(from).or_default(), ReferenceMap::new(objects));
        if received.is_stale(number) {
            return Ok(());
        }
        let read =
            bundle::read(&mut **coding, times.tick, &mut content.reader(), &mut references, |tick, input| {
                received.take(tick, input, times, now);
            });
        if read.is_ok() {
            received.end_bundle(number);
        }
        Ok(())
    }

    fn forms(&self, config: &ChannelConfig) -> Vec<Form> {
        let mut forms = config.forms();
        forms.extend(self.coding.forms());
        forms
    }

    fn end_session(&mut self, from: ConnectionId) {
        self.clients.remove(&from);
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// A server gets no reports.
struct NoReports;

impl Inbox<ConnectionId> for NoReports {
    fn check(&mut self, _: BitSlice<'_>, _: Option<Ticket>) -> Result<(), ReadError> {
        Err(ReadError::OutOfRange)
    }

    fn push(&mut self, _: Arrival<'_, ConnectionId>) -> Result<(), InboxRefusal> {
        Ok(())
    }

    fn forms(&self, config: &ChannelConfig) -> Vec<Form> {
        config.forms()
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
