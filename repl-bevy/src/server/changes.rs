//! Finds the components of a table that have changed.

use bevy_ecs::change_detection::Tick;

/// The number of rows that are checked together.
const ROWS: usize = 64;

/// Returns the rows whose ticks are newer than the last run of a system, in ascending order. Costs O(rows),
/// with few instructions for each row that has not changed.
pub(super) fn changed_rows(ticks: &[Tick], last_run: Tick, this_run: Tick) -> impl Iterator<Item = usize> {
    let is_new = move |tick: &Tick| tick.is_newer_than(last_run, this_run);
    let blocks = (0..).step_by(ROWS).zip(ticks.chunks(ROWS));
    // The fold checks all rows of a block without an early exit, so that the compiler can vectorise it.
    let blocks = blocks.filter(move |(_, block)| block.iter().fold(false, |any, tick| any | is_new(tick)));
    blocks.flat_map(move |(first, block)| {
        let rows = (first..).zip(block);
        rows.filter(move |(_, tick)| is_new(tick)).map(|(row, _)| row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_are_newer_than_the_last_run_are_returned() {
        let mut ticks = vec![Tick::new(3); 200];
        let rows = |ticks: &[Tick]| changed_rows(ticks, Tick::new(5), Tick::new(9)).collect::<Vec<_>>();
        assert_eq!(rows(&ticks), []);
        for row in [0, 63, 64, 130, 199] {
            ticks[row] = Tick::new(6);
        }
        // A component that changed in the tick of the system's last run does not count as changed.
        ticks[70] = Tick::new(5);
        assert_eq!(rows(&ticks), [0, 63, 64, 130, 199]);
        assert_eq!(rows(&ticks[..64]), [0, 63]);
    }
}
