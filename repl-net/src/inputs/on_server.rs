//! Inputs on a server: the inputs that its clients have made for each tick.
//!
//! *Invariant:* the input of a tick that has begun never changes.

use std::any::TypeId;
use std::ops::Range;
use std::time::Duration;

use repl_core::{BitWriter, NetSerialize, WithoutFastArrays};

use super::bundle;
use super::error::InputError;
use super::received::{InputCounts, MOST_AHEAD_TICKS};
use super::registration::{InputsOf, Registration};
use super::report::InputReport;
use super::server_inbox::{InputInbox, NoReports};
use super::tick_input::TickInput;
use crate::server::{ConnectionHandle, HostHandle, Server};

impl Server {
    /// Registers a type of inputs. Each input is sent whole, but an input that equals the previous input
    /// takes only 1 bit. Register the same types on the clients. See [`ConnectionHandle::input`].
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), if the type is registered already, or if one of its
    /// fields has a condition.
    #[track_caller]
    pub fn register_inputs<T: NetSerialize + Clone + Send + Sync>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::whole())
    }

    /// Registers a type of inputs. Only the properties that differ from the previous input are sent. Types
    /// with fast arrays cannot be sent in this way: use [`register_inputs`](Self::register_inputs) for them.
    /// Register the same types on the clients. See [`ConnectionHandle::input`].
    ///
    /// # Panics
    /// Panics in the same cases as [`register_inputs`](Self::register_inputs).
    #[track_caller]
    pub fn register_inputs_by_field<T: WithoutFastArrays + Clone>(&mut self) -> &mut Self {
        self.add_inputs(Registration::<T>::by_field())
    }

    #[track_caller]
    fn add_inputs<T: Clone + Send + Sync + 'static>(&mut self, registration: Registration<T>) -> &mut Self {
        assert!(
            !self.is_registration_over(),
            "inputs are new, but a client or a host has connected already: register them before the first one"
        );
        let ticks = self.ticks();
        let mailbox = &mut self.sessions.mailbox;
        if mailbox.channel(TypeId::of::<InputReport>()).is_none() {
            registration.add_reports(mailbox, NoReports);
        }
        registration.add(mailbox, |coding| InputInbox::new(coding, ticks));
        self.runners.push(Self::begin_inputs::<T>);
        self
    }

    fn input_inbox<T: Clone + Send + Sync + 'static>(&mut self) -> Option<&mut InputInbox<T>> {
        self.sessions.mailbox.inbox_mut(InputsOf::<T>::key())
    }

    /// Records that the next tick begins, and sends each client a report about its inputs.
    fn begin_inputs<T: Clone + Send + Sync + 'static>(&mut self, now: Duration) {
        let tick = self.next_tick();
        let Some(inbox) = self.input_inbox::<T>() else { return };
        inbox.times.begin(tick, now);
        let reports: Vec<_> = inbox
            .clients
            .iter_mut()
            .filter_map(|(id, received)| Some((*id, received.begin_tick(tick)?)))
            .collect();
        for (id, report) in reports {
            // A report that cannot be sent is replaced by the next one, so the error is ignored. The host
            // needs no reports.
            if !self.is_host(id) {
                self.connection(id).send(&report).ok();
            }
        }
    }
}

impl ConnectionHandle<'_> {
    /// Returns the input that the client has set for a tick of the server. Call this before [`Server::tick`],
    /// with the tick that this call of `Server::tick` will begin:
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
    ///     let tick = server.next_tick();
    ///     for &player in players {
    ///         let input = server.connection(player).input::<Steer>(tick);
    ///         simulate(server, player, input.or_last_within(30));
    ///     }
    ///     server.tick(now);
    /// }
    /// ```
    ///
    /// Receive all packets that have arrived before you call this. If an input arrives between this call and
    /// the next tick, the server counts it as arrived in time, although you have not used it. If an input
    /// arrives after its tick has begun, it is late, and the tick remains without an input. A late input may
    /// be the `last` input of a later tick whose own input is missing. The inputs of the last 64 ticks are
    /// stored. A client can set inputs for at most 256 ticks ahead.
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

    /// Returns the server's statistics of the client's inputs of this type, since the session began.
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
    /// Returns the ticks for which the host must set an input now: the [next tick](Server::next_tick), or
    /// none if it already has an input. [`ClientInputs::due`](crate::ClientInputs::due) does the same for a
    /// client.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[must_use]
    #[track_caller]
    pub fn due_inputs<T: Clone + Send + Sync + 'static>(&mut self) -> Range<u64> {
        let tick = self.server.next_tick();
        if self.has_input::<T>(tick) { tick..tick } else { tick..tick.saturating_add(1) }
    }

    /// Sets the input of the host for a tick of the server. Do this for the [next tick](Server::next_tick),
    /// before you call [`Server::tick`]. [`ConnectionHandle::input`] then returns the input like the inputs
    /// of clients.
    ///
    /// # Errors
    /// Returns an error and does nothing if the tick has begun or is more than 256 ticks ahead, if it already
    /// has an input, if the input has no wire form, if the wire form takes more than about 1,000 bytes, or if
    /// more than 1,000 inputs were set in the last second.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn set_input<T: Clone + Send + Sync + 'static>(
        &mut self,
        tick: u64,
        input: &T,
    ) -> Result<(), InputError> {
        if self.has_input::<T>(tick) {
            return Err(InputError::HasInput);
        }
        if !(1..=MOST_AHEAD_TICKS).contains(&tick.saturating_sub(self.server.ticks())) {
            return Err(InputError::NotDue);
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
        })?;
        Ok(())
    }

    #[track_caller]
    fn has_input<T: Clone + Send + Sync + 'static>(&mut self, tick: u64) -> bool {
        InputsOf::<T>::assert_registered(&self.server.sessions.mailbox);
        let id = self.id();
        let received = self.server.input_inbox::<T>().and_then(|inbox| inbox.clients.get(&id));
        received.is_some_and(|received| received.get(tick).is_some())
    }
}
