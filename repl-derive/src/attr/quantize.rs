//! `quantize(…)`: the attribute that says how a field of floats is rounded for the wire.
//!
//! *Invariant:* the result is one of three complete forms. If a part of a form is missing, the error shows
//! the missing part.

use syn::{Error, Result};

use super::argument::{Argument, Value, arguments};
use super::number::{Bounds, Number};
use super::place::QUANTIZE;

/// The three forms of `quantize(…)`.
pub(crate) enum Quantize {
    Steps { step: Number, range: Box<Bounds> },
    SmallestThree(Number),
    UnitVector(Number),
}

impl Quantize {
    pub(super) fn parse(argument: &Argument) -> Result<Self> {
        let Value::List(list) = &argument.value else { return Err(argument.malformed()) };
        let (mut step, mut range, mut smallest_three, mut unit_vector) = (None, None, None, None);
        for inner in arguments(list.clone(), &QUANTIZE) {
            let inner = inner?;
            match inner.key.as_str() {
                "step" => inner.put(&mut step, Argument::number)?,
                "range" => inner.put(&mut range, Argument::bounds)?,
                "smallest_three" => inner.put(&mut smallest_three, Argument::number)?,
                "unit_vector" => inner.put(&mut unit_vector, Argument::number)?,
                _ => return Err(inner.malformed()),
            }
        }
        match (step, range, smallest_three, unit_vector) {
            (Some(step), Some(range), None, None) => {
                Ok(Self::Steps { step: step.value, range: Box::new(range.value) })
            }
            (None, None, Some(bits), None) => Ok(Self::SmallestThree(bits.value)),
            (None, None, None, Some(bits)) => Ok(Self::UnitVector(bits.value)),
            (Some(step), None, None, None) => Err(Error::new(
                step.span,
                "a step needs its range: `quantize(step = 0.01, range = -1.0..=1.0)`",
            )),
            (None, Some(range), None, None) => Err(Error::new(
                range.span,
                "a range needs its step: `quantize(step = 0.01, range = -1.0..=1.0)`",
            )),
            _ => Err(Error::new(
                argument.name.span(),
                "write one of `quantize(step = 0.01, range = -1.0..=1.0)`, `quantize(smallest_three = 10)` and \
                 `quantize(unit_vector = 12)`",
            )),
        }
    }
}
