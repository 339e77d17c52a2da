//! The grids to which the game rounds: hundredths of a unit for positions and velocities, 2¹⁸ steps for
//! each component of a rotation.
//!
//! *Invariant:* a function returns the whole number for a value only if this number restores the value bit
//! for bit.

use std::f32::consts::FRAC_1_SQRT_2;

/// How many values a component of a rotation can have.
pub(super) const STEPS: u32 = 1 << 18;

/// Returns `value` in hundredths, if it is a whole number of them.
pub(super) fn hundredths(value: f32) -> Option<i64> {
    let number = (f64::from(value) * 100.0).round() as i64;
    (from_hundredths(number).to_bits() == value.to_bits()).then_some(number)
}

pub(super) fn from_hundredths(number: i64) -> f32 {
    number as f32 / 100.0
}

/// Returns the components of `vector` in hundredths, if all are whole numbers of them.
pub(super) fn vector_hundredths(vector: [f32; 3]) -> Option<[i64; 3]> {
    let [x, y, z] = vector.map(hundredths);
    Some([x?, y?, z?])
}

/// A unit quaternion on the game's grid: which component is the largest, and the steps of the other three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation {
    /// The index of the largest component: 0 to 3 for x, y, z and w.
    pub(super) largest: u8,
    /// The steps of the other components, ascending by index. Each counts from the middle step, and lies in
    /// the range −2¹⁷ to 2¹⁷ − 1.
    pub(super) others: [i64; 3],
}

impl Rotation {
    /// Returns the grid point that restores `quaternion` bit for bit.
    pub(super) fn on_grid(quaternion: [f32; 4]) -> Option<Self> {
        // Usually the game omits the largest component. If two components are almost equal, the game may have
        // omitted the second largest one.
        let mut candidates = [0_u8, 1, 2, 3];
        candidates.sort_by(|a, b| {
            let magnitude = |index: &u8| quaternion[usize::from(*index)].abs();
            magnitude(b).total_cmp(&magnitude(a))
        });
        candidates.into_iter().find_map(|largest| {
            let mut others = [0; 3];
            let left = (0..4).filter(|index| *index != usize::from(largest));
            for (other, index) in others.iter_mut().zip(left) {
                *other = step(quaternion[index])?;
            }
            let rotation = Self { largest, others };
            let same = rotation.quaternion().map(f32::to_bits) == quaternion.map(f32::to_bits);
            same.then_some(rotation)
        })
    }

    /// Returns the quaternion, by the same operations as the game's decoder.
    pub(super) fn quaternion(self) -> [f32; 4] {
        let [a, b, c] = self.others.map(component);
        let rest = c.mul_add(-c, b.mul_add(-b, a.mul_add(-a, 1.0))).sqrt();
        match self.largest {
            0 => [rest, a, b, c],
            1 => [a, rest, b, c],
            2 => [a, b, rest, c],
            _ => [a, b, c, rest],
        }
    }

    /// Returns whether each of the other components is in the range of the grid.
    pub(super) fn is_valid(self) -> bool {
        let middle = i64::from(STEPS / 2);
        self.others.iter().all(|other| (-middle..middle).contains(other))
    }
}

/// Returns the step nearest to a component, or `None` if the component is outside the grid.
fn step(value: f32) -> Option<i64> {
    let unit = f64::from(value) / f64::from(FRAC_1_SQRT_2) * 0.5 + 0.5;
    let nearest = (unit * f64::from(STEPS - 1)).round() as i64 - i64::from(STEPS / 2);
    [nearest, nearest - 1, nearest + 1].into_iter().find(|step| component(*step).to_bits() == value.to_bits())
}

fn component(step: i64) -> f32 {
    let unit = (step + i64::from(STEPS / 2)) as f32 / (STEPS - 1) as f32;
    (unit - 0.5) * 2.0 * FRAC_1_SQRT_2
}
