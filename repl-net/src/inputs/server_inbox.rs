//! The inputs of all clients, stored on a server.
//!
//! *Invariant:* a bundle is read completely before any of its inputs is stored.

use std::any::Any;
use std::collections::BTreeMap;

use repl_core::{AnyObject, BitSlice, Form, ReadError, ReferenceMap};
use repl_link::ConnectionId;
use repl_link::parts::{Arrival, ChannelConfig, Inbox, InboxRefusal, Ticket};

use super::bundle;
use super::coding::Coding;
use super::received::Received;
use super::tick_times::TickTimes;

/// The inputs of one type from all clients.
pub(super) struct InputInbox<T: 'static> {
    pub(super) coding: Box<dyn Coding<T>>,
    pub(super) clients: BTreeMap<ConnectionId, Received<T>>,
    pub(super) times: TickTimes,
}

impl<T: 'static> InputInbox<T> {
    /// Returns an inbox without inputs, for a server that has begun `ticks` ticks.
    pub(super) fn new(coding: Box<dyn Coding<T>>, ticks: u64) -> Self {
        Self { coding, clients: BTreeMap::new(), times: TickTimes::after(ticks) }
    }
}

impl<T: Clone + Send + Sync + 'static> Inbox<ConnectionId> for InputInbox<T> {
    fn check(&mut self, content: BitSlice<'_>, _: Option<Ticket>) -> Result<(), ReadError> {
        let any = AnyObject::default();
        let (mut reader, mut references) = (content.reader(), ReferenceMap::new(&any));
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

/// An inbox that refuses every report, because only clients receive reports.
pub(super) struct NoReports;

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
