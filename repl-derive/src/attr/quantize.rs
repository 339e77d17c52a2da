//! `quantize(…)`: the attribute that defines how a field of floats is rounded for the wire.
//!
//! *Invariant:* the result has one of three complete forms. If a part of a form is missing, the error shows
//! the missing part.

use syn::{Error, Result};

use super::argument::{Argument, Flag, Value, arguments};
use super::number::{Bounds, Number};
use super::place::QUANTIZE;

pub(crate) struct Quantize {
    pub(crate) form: QuantizeForm,
    /// Whether clients always show the nearest step.
    pub(crate) exact: Flag,
}

pub(crate) enum QuantizeForm {
    Steps { step: Number, range: Box<Bounds> },
    SmallestThree(Number),
    UnitVector(Number),
}

impl Quantize {
    pub(super) fn parse(argument: &Argument) -> Result<Self> {
        let Value::List(list) = &argument.value else { return Err(argument.malformed()) };
        let (mut step, mut range, mut smallest_three, mut unit_vector) = (None, None, None, None);
        let mut exact = None;
        for inner in arguments(list.clone(), &QUANTIZE) {
            let inner = inner?;
            match inner.key.as_str() {
                "step" => inner.put(&mut step, Argument::number)?,
                "range" => inner.put(&mut range, Argument::bounds)?,
                "smallest_three" => inner.put(&mut smallest_three, Argument::number)?,
                "unit_vector" => inner.put(&mut unit_vector, Argument::number)?,
                "exact" => inner.put(&mut exact, Argument::flag)?,
                _ => return Err(inner.malformed()),
            }
        }
        let form = match (step, range, smallest_three, unit_vector) {
            (Some(step), Some(range), None, None) => {
                QuantizeForm::Steps { step: step.value, range: Box::new(range.value) }
            }
            (None, None, Some(bits), None) => QuantizeForm::SmallestThree(bits.value),
            (None, None, None, Some(bits)) => QuantizeForm::UnitVector(bits.value),
            (Some(step), None, None, None) => {
                return Err(Error::new(
                    step.span,
                    "a step needs its range: `quantize(step = 0.01, range = -1.0..=1.0)`",
                ));
            }
            (None, Some(range), None, None) => {
                return Err(Error::new(
                    range.span,
                    "a range needs its step: `quantize(step = 0.01, range = -1.0..=1.0)`",
                ));
            }
            (None, None, None, None) if exact.is_some() => {
                return Err(Error::new(
                    exact.map_or_else(|| argument.name.span(), |exact| exact.span),
                    "`exact` needs what it makes exact: `quantize(step = 0.01, range = -1.0..=1.0, exact)`, \
                     `quantize(smallest_three = 10, exact)` or `quantize(unit_vector = 12, exact)`",
                ));
            }
            _ => {
                return Err(Error::new(
                    argument.name.span(),
                    "write one of `quantize(step = 0.01, range = -1.0..=1.0)`, `quantize(smallest_three = 10)` and \
                     `quantize(unit_vector = 12)`",
                ));
            }
        };
        Ok(Self { form, exact })
    }
}
