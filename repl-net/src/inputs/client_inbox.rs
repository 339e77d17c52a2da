//! The inputs that a client has made, and the reports that it has received from the server about their
//! arrival.
//!
//! *Invariant:* a stored input has the value that the server will read.

use std::any::Any;

use repl_core::{AnyObject, BitSlice, BitWriter, Form, ReadError, ReferenceMap, WriteError};
use repl_link::SendError;
use repl_link::parts::{Arrival, ChannelConfig, Inbox, InboxRefusal, Ticket};

use super::clock::InputClock;
use super::coding::Coding;
use super::copies::Copies;
use super::made::Made;
use super::registration::MOST_BITS;
use super::report::InputReport;

/// The inputs of one type on a client.
pub(super) struct Source<T: 'static> {
    pub(super) coding: Box<dyn Coding<T>>,
    pub(super) made: Made<T>,
}

impl<T: 'static> Source<T> {
    pub(super) fn new(coding: Box<dyn Coding<T>>) -> Self {
        Self { coding, made: Made::default() }
    }

    /// Returns the input as the server will read it, because encoding may round its values.
    ///
    /// # Errors
    /// Returns an error if the input has no wire form, or is too large.
    pub(super) fn rounded(&mut self, input: &T) -> Result<T, SendError> {
        let mut writer = BitWriter::new();
        self.coding.write_first(input, &mut writer)?;
        let bits = writer.bit_len();
        if bits > MOST_BITS {
            return Err(SendError::TooLarge { bits, max_bits: MOST_BITS });
        }
        let any = AnyObject::default();
        let read = self.coding.read(None, &mut writer.as_slice().reader(), &mut ReferenceMap::new(&any));
        read.map_err(|_| WriteError::OutOfRange.into())
    }
}

impl<T: Clone + Send + Sync + 'static> Inbox<()> for Source<T> {
    fn check(&mut self, _: BitSlice<'_>, _: Option<Ticket>) -> Result<(), ReadError> {
        // A server sends no inputs.
        Err(ReadError::OutOfRange)
    }

    fn push(&mut self, _: Arrival<'_, ()>) -> Result<(), InboxRefusal> {
        Ok(())
    }

    fn forms(&self, config: &ChannelConfig) -> Vec<Form> {
        let mut forms = config.forms();
        forms.extend(self.coding.forms());
        forms
    }

    fn begin_session(&mut self) {
        self.made = Made::default();
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Receives the reports from the server.
#[derive(Default)]
pub(super) struct Reports {
    pub(super) clock: InputClock,
    pub(super) copies: Copies,
    /// The margin in the newest report: how many ticks before its tick the latest input arrived.
    pub(super) margin_ticks: Option<f64>,
    /// The number of ticks that began without their input: the sum over all reports.
    pub(super) missing: u64,
}

impl Inbox<()> for Reports {
    fn check(&mut self, content: BitSlice<'_>, _: Option<Ticket>) -> Result<(), ReadError> {
        InputReport::read_whole(content).map(drop)
    }

    fn push(&mut self, arrival: Arrival<'_, ()>) -> Result<(), InboxRefusal> {
        if let Ok(report) = InputReport::read_whole(arrival.content) {
            self.clock.take(&report);
            self.copies.take(&report);
            self.margin_ticks = Some(report.margin_ticks());
            self.missing = self.missing.saturating_add(report.missing.into());
        }
        Ok(())
    }

    fn forms(&self, config: &ChannelConfig) -> Vec<Form> {
        config.forms()
    }

    fn begin_session(&mut self) {
        *self = Self::default();
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
