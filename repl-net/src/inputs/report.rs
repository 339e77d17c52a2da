//! The report that a server sends to a client about the arrival of the client's inputs. With it, the client
//! adjusts how early it sends its inputs.
//!
//! *Invariant:* all reports have the same size.

use std::time::Duration;

use repl_core::{
    BitReader, BitSlice, BitWriter, NetSerialize, NoObjects, ReadError, ReferenceMap, WriteError,
};
use repl_link::parts::Sequence;

use super::tick_times::TickTimes;

/// The number of ticks between two reports.
const REPORT_TICKS: u64 = 16;

/// The number of ticks between two reports if an input was missing.
const URGENT_TICKS: u64 = 4;

/// A margin is sent as an integer, in this number of steps per tick.
const STEPS: f64 = 64.0;

/// How the inputs of a client have arrived since the previous report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputReport {
    /// The low bits of the tick of the input that arrived with the least time before its tick.
    pub(crate) tick: u16,
    /// The time from the arrival of this input to the beginning of its tick, in steps. Negative if it was
    /// late.
    margin: i16,
    /// The number of bundles (packets with inputs) that arrived.
    pub(crate) arrived: u8,
    /// The number of bundles that had not arrived when a newer bundle arrived.
    pub(crate) lost: u8,
    /// The number of bursts of losses: runs of one or more consecutive lost bundles.
    pub(crate) losses: u8,
    /// The number of ticks that began without their input.
    pub(crate) missing: u8,
}

impl InputReport {
    /// Reads a report that takes exactly the bits of `content`.
    pub(crate) fn read_whole(content: BitSlice<'_>) -> Result<Self, ReadError> {
        let mut reader = content.reader();
        let report = Self::read(&mut reader, &mut ReferenceMap::new(&NoObjects))?;
        if reader.remaining() == 0 { Ok(report) } else { Err(ReadError::OutOfRange) }
    }

    /// Returns the least time between the arrival of an input and its tick, in ticks.
    pub(crate) fn margin_ticks(self) -> f64 {
        f64::from(self.margin) / STEPS
    }
}

impl NetSerialize for InputReport {
    // The errors of handshakes contain this name, so it names the function that one side did not call.
    const WIRE_NAME: &'static str = "repl::register_inputs";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        let Self { tick, margin, arrived, lost, losses, missing } = *self;
        writer.write_bits(tick.into(), 16);
        writer.write_bits((margin as u16).into(), 16);
        for count in [arrived, lost, losses, missing] {
            writer.write_bits(count.into(), 8);
        }
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let (tick, margin) = (reader.read_bits(16)? as u16, reader.read_bits(16)? as u16 as i16);
        let mut count = || reader.read_bits(8).map(|count| count as u8);
        Ok(Self { tick, margin, arrived: count()?, lost: count()?, losses: count()?, missing: count()? })
    }
}
repl_core::leaf!(InputReport);

/// Collects the data for the next report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    report: InputReport,
    /// The least margin in ticks, and the tick of this input. `None` if no input has arrived since the last
    /// report.
    least: Option<(f64, u64)>,
    /// The tick in which the last report was made.
    reported: u64,
}

impl Notes {
    /// Records that an input has arrived for the first time.
    pub(crate) fn arrived(&mut self, tick: u64, times: &TickTimes, now: Duration) {
        let margin = times.until(tick, now);
        if self.least.is_none_or(|(least, _)| margin < least) {
            self.least = Some((margin, tick));
        }
    }

    /// Records that a bundle has arrived, and that the `lost` bundles directly before it have not.
    pub(crate) fn bundle(&mut self, lost: u64) {
        let report = &mut self.report;
        report.arrived = report.arrived.saturating_add(1);
        report.lost = report.lost.saturating_add(lost.min(255) as u8);
        report.losses = report.losses.saturating_add(u8::from(lost > 0));
    }

    /// Records that a bundle has arrived late. It was counted as lost before.
    pub(crate) fn late_bundle(&mut self) {
        let report = &mut self.report;
        report.arrived = report.arrived.saturating_add(1);
        report.lost = report.lost.saturating_sub(1);
        report.losses = report.losses.min(report.lost);
    }

    pub(crate) fn missing(&mut self) {
        self.report.missing = self.report.missing.saturating_add(1);
    }

    /// Returns the report if it is due, and begins the next one. Returns `None` if no input has arrived since
    /// the last report.
    pub(crate) fn take_due(&mut self, tick: u64) -> Option<InputReport> {
        let after = if self.report.missing > 0 { URGENT_TICKS } else { REPORT_TICKS };
        if tick.saturating_sub(self.reported) < after {
            return None;
        }
        let (margin, of) = self.least.take()?;
        let steps = (margin * STEPS).clamp(f64::from(i16::MIN), f64::from(i16::MAX));
        let report = InputReport { tick: Sequence::new(of).to_wire(), margin: steps as i16, ..self.report };
        *self = Self { reported: tick, ..Self::default() };
        Some(report)
    }
}
