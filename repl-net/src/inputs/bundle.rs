//! A bundle: the newest inputs of a client, as they are written into one packet.
//!
//! *Invariant:* the inputs of a bundle are for consecutive ticks.

use repl_core::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

use super::coding::Coding;

/// The greatest number of inputs in a bundle.
pub(crate) const MOST_INPUTS: usize = 32;

/// The number of low bits of the first tick that are written.
pub(crate) const TICK_BITS: u32 = 12;

/// The greatest delay of a bundle, in ticks. The low bits of its first tick would otherwise be taken for
/// those of a later tick.
const MOST_LATE: u64 = 1_024;

/// Writes a bundle of at least one input: the low bits of the first tick, and the first input. For each
/// further input, writes a bit that says whether it differs from the previous input, and the difference if it
/// does.
pub(crate) fn write<'a, T: 'static>(
    coding: &mut dyn Coding<T>,
    inputs: impl Iterator<Item = &'a (u64, T)>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let mut before: Option<&(u64, T)> = None;
    for one in inputs {
        let (tick, input) = one;
        if let Some((_, before)) = before {
            coding.write_next(before, input, writer)?;
        } else {
            writer.write_bits(tick % (1 << TICK_BITS), TICK_BITS);
            coding.write_first(input, writer)?;
        }
        before = Some(one);
    }
    Ok(())
}

/// Reads a bundle up to the end of its bits. Calls `each` with each input and its tick, in ascending order of
/// the ticks. The first tick is the lowest tick with the given low bits that is not more than [`MOST_LATE`]
/// ticks before `now`.
///
/// # Errors
/// Returns an error if a correct client cannot have written the bundle.
pub(crate) fn read<T: 'static>(
    coding: &mut dyn Coding<T>,
    now: u64,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    mut each: impl FnMut(u64, &T),
) -> Result<(), ReadError> {
    let oldest = now.saturating_sub(MOST_LATE);
    let ahead = reader.read_bits(TICK_BITS)?.wrapping_sub(oldest) % (1 << TICK_BITS);
    let first = oldest.saturating_add(ahead);
    let mut before = None;
    for tick in (first..).take(MOST_INPUTS) {
        let input = coding.read(before.as_ref(), reader, references)?;
        each(tick, &input);
        before = Some(input);
        if reader.remaining() == 0 {
            return Ok(());
        }
    }
    Err(ReadError::OutOfRange)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use repl_core::NoObjects;

    use super::*;
    use crate::inputs::coding::Whole;

    fn written(inputs: &[(u64, u16)]) -> BitWriter {
        let mut writer = BitWriter::new();
        write(&mut Whole, inputs.iter(), &mut writer).expect("numbers can be written");
        writer
    }

    fn read_at(now: u64, reader: &mut BitReader<'_>) -> Result<Vec<(u64, u16)>, ReadError> {
        let (mut inputs, mut references) = (Vec::new(), ReferenceMap::new(&NoObjects));
        read(&mut Whole, now, reader, &mut references, |tick, input| inputs.push((tick, *input)))?;
        Ok(inputs)
    }

    #[test]
    fn an_input_that_equals_the_one_before_takes_one_bit() {
        let bits = |inputs: &[(u64, u16)]| written(inputs).bit_len();
        assert_eq!(bits(&[(7, 5)]), 12 + 16);
        assert_eq!(bits(&[(7, 5), (8, 5)]), 12 + 16 + 1);
        assert_eq!(bits(&[(7, 5), (8, 6), (9, 6)]), 12 + 16 + 17 + 1);
    }

    #[test]
    fn more_inputs_than_a_bundle_has_are_refused() {
        let inputs: Vec<(u64, u16)> = (0..33).map(|tick| (tick, 5)).collect();
        assert!(read_at(1, &mut written(&inputs[..32]).as_slice().reader()).is_ok());
        assert_eq!(read_at(1, &mut written(&inputs).as_slice().reader()), Err(ReadError::OutOfRange));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            first in 0..u64::MAX / 2,
            ahead in 0_u64..3_071,
            values in prop::collection::vec(0_u16..3, 1..=32),
        ) {
            let inputs: Vec<(u64, u16)> = (first..).zip(values).collect();
            let now = (first + 1_024).saturating_sub(ahead);
            let mut bundle = written(&inputs);
            let mut reader = bundle.as_slice().reader();
            prop_assert_eq!(read_at(now, &mut reader), Ok(inputs));
            prop_assert_eq!(reader.remaining(), 0);
        }

        #[test]
        fn any_bits_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), now in any::<u64>()) {
            let inputs = read_at(now, &mut BitReader::new(&bytes)).unwrap_or_default();
            prop_assert!(inputs.len() <= 32);
            prop_assert!(inputs.iter().all(|(tick, _)| *tick >= now.saturating_sub(1_024)));
        }
    }
}
