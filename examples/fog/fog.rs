//! The form of differences between maps with a bit for each tile: the runs of tiles that differ.
//!
//! *Invariant:* whatever is read, the map keeps its size.

use std::ops::Range;

use repl::prelude::*;

pub(crate) const NAME: &str = "fog of war";
pub(crate) type State = Vec<u64>;

pub(crate) fn write(base: &[u64], value: &[u64], writer: &mut BitWriter) -> Result<(), WriteError> {
    if base.len() != value.len() {
        return Err(WriteError::Other("a map of another size")); // so the whole map is sent
    }
    let mut end = 0;
    for run in runs(base, value) {
        writer.write_flag(true);
        writer.write_exp_golomb((run.start - end) as u64, 7);
        writer.write_exp_golomb((run.len() - 1) as u64, 1);
        end = run.end;
    }
    writer.write_flag(false);
    Ok(())
}

pub(crate) fn read(
    base: &[u64],
    reader: &mut BitReader<'_>,
    _: &mut ReferenceMap<'_>,
) -> Result<Vec<u64>, ReadError> {
    let (mut map, mut end) = (base.to_vec(), 0_u64);
    while reader.read_flag()? {
        let start = end.saturating_add(reader.read_exp_golomb(7)?);
        end = start.saturating_add(reader.read_exp_golomb(1)?).saturating_add(1);
        if end > map.len() as u64 * 64 {
            return Err(ReadError::OutOfRange); // no server sends this
        }
        (start..end).for_each(|tile| map[(tile / 64) as usize] ^= 1 << (tile % 64));
    }
    Ok(map)
}

/// Returns the runs of bits in which two maps of the same size differ.
pub(crate) fn runs(one: &[u64], other: &[u64]) -> impl Iterator<Item = Range<usize>> {
    // The first bit from `at` on that differs, or with `flip` the first that does not.
    let next = move |mut at: usize, flip: u64| loop {
        let bits = (one.get(at / 64)? ^ other[at / 64] ^ flip) >> (at % 64);
        if bits != 0 {
            return Some(at + bits.trailing_zeros() as usize);
        }
        at = (at / 64 + 1) * 64;
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next(at, 0)?;
        at = next(start, u64::MAX).unwrap_or(one.len() * 64);
        Some(start..at)
    })
}
