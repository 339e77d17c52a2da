//! Quantisation: floats are written in few bits. Numbers are written in steps, unit quaternions by their
//! smallest three components, unit vectors as points on an octahedron.
//!
//! How to add a quantiser, which is a form of the attribute `quantize(…)`:
//!
//! 1. The form needs a variant of `Codec` and one of `Format`, both in `codec`. After you add the variants,
//!    the compiler reports the `match` expressions that have no default arm: the rest of `codec`,
//!    `object/leaf` (reads and writes the bits of the form), `Formatted::kind` in `shape` (which types become
//!    the form), `Codec::has_margin` and `Field::exact` in `attributes` (whether a value keeps its step
//!    within a margin), and `type_name` in `display`.
//! 2. The following code needs the form too, but the compiler does not report it: `Codec::formatted`;
//!    `attributes` and `attribute_check`, which check the attribute of the form; the sizes in bytes that
//!    `identical` in `object/leaf` compares, and `keeps` there, which is the rule for the margin;
//!    `types/foreign`, which states which forms can be used for the types of other crates; and
//!    `both/attributes` of `repl-fastarray`, which states it for fast arrays. If the number of bits depends
//!    on the value, `most_bits` in `diff/scale` and `bits` in `schema/display` need the form too. Otherwise
//!    the size of the value counts as unlimited, and each object must be measured.
//! 3. In the derive, the form needs a variant of `QuantizeForm` and a name in `attr/quantize` and
//!    `attr/place`. After you add the variant, the compiler reports the `match` expressions in `expand/field`
//!    and in `numbers` of `check`. The compiler does not report `saturates_something` in `check`, which
//!    decides whether the form has bounds. If the form has a number of bits, the range of this number is a
//!    constant of this file, such as [`SMALLEST_THREE_BITS`]. `__private` exports the constant, `check` of
//!    the derive repeats it, and the tests of the derive compare the two.
//! 4. Some texts list all forms: the errors in `attr/quantize`, and the notes for the compiler in
//!    `schema/attributes`. In `tests/derive`, the file `forms/every_attribute.rs` uses all forms.
//!    Some tests fail until they have the form: `.stderr` files of `mistakes` in the same folder, and the
//!    snapshots in `tests/api` and of the derive's own tests.
//! 5. Two pages describe the form: `docs/wire.md` (the table of leaves, and the numbers in the checksum) and
//!    `repl-derive/attributes.md`. `CHANGELOG.md` mentions it under "Wire format".
//!
//! All arithmetic for quantisation uses operations that IEEE 754 defines to the last bit, so every platform
//! computes the same bits and values.
//!
//! *Invariant:* if a decoded value is encoded again, the bits are the same. [`Quantizer`] states for which
//! numbers this invariant holds.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::RangeInclusive;

use crate::bits::{ReadError, WriteError, width_bits};
use crate::schema::checksum::Checksum;

/// The greatest distance of a bound from zero, in quantisation steps. An `f64` has 53 bits of precision. With
/// the limit of 48 bits, five bits remain for rounding errors.
const MAX_MAGNITUDE_STEPS: f64 = (1_u64 << 48) as f64;

/// The greatest difference between one and the length of a unit vector.
const UNIT_TOLERANCE: f64 = 1e-3;

/// The margin: clients keep the sent step until the value differs from it by more than half a step plus this
/// part of a step. So noise of half a step, from peak to peak, does not switch a value between two steps.
const MARGIN_STEPS: f64 = 0.25;

/// The greatest distance of a value from the middle of the step as which it is encoded.
const HALF_STEP: f64 = 0.5;

/// A quantizer writes numbers as whole steps above a minimum.
///
/// A decoded value differs from the encoded value by at most half a step, plus rounding errors, which are
/// below 2⁻⁵⁰ of the bound that is farther from zero. If a decoded value is encoded again, the result is
/// the same step. For `f64` this is always true. For `f32` it is true if neither bound is more than 2²² steps
/// from zero.
///
/// Unless the quantizer is [exact](Self::exact), clients [keep](Self::keeps) the sent step until the value
/// differs from it by more than ¾ of a step. So the decoded value differs from the value of the property by
/// at most ¾ of a step, plus the same rounding errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantizer {
    min: f64,
    max: f64,
    step: f64,
    steps: u64,
    saturate: bool,
    exact: bool,
}

impl Quantizer {
    /// Returns a quantizer for numbers from `min` to `max` in steps of `step`. A number that is at most half
    /// a step outside the range is encoded as the nearest bound. A number that is farther outside the range
    /// is encoded as the nearest bound if `saturate` is set, and is refused otherwise. If the length of the
    /// range is not a whole number of steps, the greatest decoded number is the step nearest to `max`.
    ///
    /// # Panics
    /// Panics if an argument or the range is not finite, `min` is not below `max`, `step` is not above zero
    /// or more than twice the range, or a bound is more than 2⁴⁸ steps from zero. In a constant, this panic
    /// is a compile error.
    pub(crate) const fn new(min: f64, max: f64, step: f64, saturate: bool) -> Self {
        assert!(min.is_finite() && max.is_finite(), "the bounds of a quantised range must be finite numbers");
        assert!(min < max, "the lower bound of a quantised range must be below the upper one");
        assert!((max - min).is_finite(), "a quantised range must not be wider than the greatest number");
        assert!(
            step.is_finite() && step > 0.0,
            "the step of a quantised float must be a finite number above zero"
        );
        assert!(
            min.abs() / step <= MAX_MAGNITUDE_STEPS && max.abs() / step <= MAX_MAGNITUDE_STEPS,
            "the step is too small for the range: a bound is more than 2^48 steps from zero"
        );
        let steps = ((max - min) / step + 0.5) as u64;
        assert!(steps > 0, "the step of a quantised float must not be more than twice its range");
        Self { min, max, step, steps, saturate, exact: false }
    }

    /// Returns the least number of the range, the greatest number, and the size of a step.
    pub(crate) const fn parameters(&self) -> (f64, f64, f64) {
        (self.min, self.max, self.step)
    }

    /// Returns the same quantizer, changed so that it encodes numbers outside the range as the nearest bound.
    pub(crate) const fn saturating(self) -> Self {
        Self { saturate: true, ..self }
    }

    /// Returns the same quantizer, changed so that it always encodes the nearest step if `exact` is true. The
    /// wire form does not depend on `exact`.
    pub(crate) const fn exact_if(self, exact: bool) -> Self {
        Self { exact, ..self }
    }

    /// Returns whether the quantizer always encodes the nearest step.
    pub(crate) const fn is_exact(&self) -> bool {
        self.exact
    }

    /// Adds to the checksum `sum` everything on which the bits of a number depend.
    pub(crate) const fn checksum(&self, sum: Checksum) -> Checksum {
        // Zero and minus zero count as the same bound.
        let min = self.min + 0.0;
        sum.number(min.to_bits()).number(self.step.to_bits()).number(self.steps)
    }

    /// Returns how many bits a number takes on the wire, 1 to 50.
    pub(crate) const fn bits(&self) -> u32 {
        width_bits(self.steps.saturating_add(1))
    }

    /// Returns the number of the step nearest to `value`, counted from the least number of the range.
    ///
    /// # Errors
    /// Returns [`WriteError::NotFinite`] if `value` is NaN or infinite, even if the quantizer saturates, and
    /// [`WriteError::OutOfRange`] for a number outside the range, unless the quantizer saturates.
    #[inline]
    pub(crate) fn encode(&self, value: f64) -> Result<u64, WriteError> {
        if !value.is_finite() {
            return Err(WriteError::NotFinite);
        }
        // A call of `round` is slow on many machines, so this adds ½ and drops the fraction. The cast to an
        // integer drops the fraction, and saturates.
        let position = (value - self.min) / self.step + 0.5;
        let step = position as u64;
        if position >= 0.0 && step <= self.steps {
            Ok(step)
        } else if self.saturate {
            Ok(if position < 0.0 { 0 } else { self.steps })
        } else {
            Err(WriteError::OutOfRange)
        }
    }

    /// Returns whether clients that have `step` need no update for `value`, because the two differ by at most
    /// half a step plus [`MARGIN_STEPS`]. Always returns false if the quantizer is exact.
    #[inline]
    pub(crate) fn keeps(&self, step: u64, value: f64) -> bool {
        let position = (value - self.min) / self.step;
        !self.exact && (position - step as f64).abs() <= HALF_STEP + MARGIN_STEPS
    }

    /// Returns the number that is `step` steps above the least number of the range.
    ///
    /// # Errors
    /// Returns [`ReadError::OutOfRange`] if the range has fewer than `step` steps.
    #[inline]
    pub(crate) fn decode(&self, step: u64) -> Result<f64, ReadError> {
        if step > self.steps {
            return Err(ReadError::OutOfRange);
        }
        Ok(self.min + step as f64 * self.step)
    }
}

/// Whole numbers from −n to n that represent −1 to 1. A whole number of the lattice is called a point.
/// Zero has an exact point, and negation needs no rounding.
#[derive(Clone, Copy)]
struct Lattice {
    /// The greatest whole number n of the lattice, which is at most 2²³.
    half: i32,
    bits: u32,
}

impl Lattice {
    /// Makes a lattice that uses all codes of `bits` bits except one. `bits` is in [`SMALLEST_THREE_BITS`] or
    /// [`UNIT_VECTOR_BITS`].
    fn new(bits: u32) -> Self {
        debug_assert!((2..=24).contains(&bits), "a component of {bits} bits");
        Self { half: (1_i32.wrapping_shl(bits.wrapping_sub(1))).wrapping_sub(1), bits }
    }

    /// Returns the lattice point nearest to `value`, which is from −1 to 1.
    fn point(self, value: f64) -> i32 {
        let scaled = value * f64::from(self.half);
        ((scaled + 0.5_f64.copysign(scaled)) as i32).clamp(self.half.wrapping_neg(), self.half)
    }

    fn value(self, point: i32) -> f64 {
        f64::from(point) / f64::from(self.half)
    }

    /// Writes a lattice point to the lowest bits of `packed`, and moves the earlier bits up.
    fn push(self, packed: u64, point: i32) -> u64 {
        packed.wrapping_shl(self.bits) | u64::from(point.wrapping_add(self.half).cast_unsigned())
    }

    /// Removes the lattice point that was pushed last from `packed`, and returns it.
    fn pop(self, packed: &mut u64) -> Result<i32, ReadError> {
        let code = (*packed & 1_u64.wrapping_shl(self.bits).wrapping_sub(1)) as i32;
        *packed = packed.wrapping_shr(self.bits);
        let point = code.wrapping_sub(self.half);
        if point <= self.half { Ok(point) } else { Err(ReadError::OutOfRange) }
    }
}

/// Scales a vector to the length one.
fn normalise<const N: usize>(vector: [f32; N]) -> Result<[f64; N], WriteError> {
    let vector = vector.map(f64::from);
    let length = vector.iter().map(|component| component * component).sum::<f64>().sqrt();
    if !length.is_finite() {
        Err(WriteError::NotFinite)
    } else if (length - 1.0).abs() > UNIT_TOLERANCE {
        Err(WriteError::OutOfRange)
    } else {
        Ok(vector.map(|component| component / length))
    }
}

/// Returns whether `other` and `one` times `sign` differ by at most `margin` in each component, after both
/// vectors were scaled to the length one. Returns false if one of the two is not a unit vector.
fn are_within<const N: usize>(margin: f64, one: [f32; N], other: [f32; N], sign: f64) -> bool {
    let (Ok(one), Ok(other)) = (normalise(one), normalise(other)) else { return false };
    one.iter().zip(other).all(|(one, other)| (sign * one - other).abs() <= margin)
}

/// The numbers of bits that a component may take with `smallest_three`.
pub const SMALLEST_THREE_BITS: RangeInclusive<u8> = 3..=20;

/// The numbers of bits that a coordinate may take with `unit_vector`.
pub const UNIT_VECTOR_BITS: RangeInclusive<u8> = 2..=22;

/// Encodes a unit quaternion in 2 + 3 × `bits` bits: the index of the largest component, and the three other
/// components. `bits` is in [`SMALLEST_THREE_BITS`]. A quaternion and its negative are the same rotation and
/// have the same form.
///
/// # Errors
/// Returns [`WriteError::NotFinite`] if a component is NaN or infinite, and [`WriteError::OutOfRange`] if the
/// length of the quaternion differs from one by more than 0.001.
pub(crate) fn encode_smallest_three(quaternion: [f32; 4], bits: u32) -> Result<u64, WriteError> {
    let mut packed = pack_smallest_three(normalise(quaternion)?, bits);
    // If components are almost equal, another component may be the largest after three components were
    // rounded. A second encoding of the decoded value corrects which component is omitted. After the second
    // encoding, the decoder restores the omitted component to within half a step of its point, and this
    // component remains the largest. The second encoding also corrects the rounding of components halfway
    // between two lattice points.
    for _ in 0..2 {
        let arrives = decode_smallest_three(packed, bits).map_err(|_| WriteError::OutOfRange)?;
        let again = pack_smallest_three(normalise(arrives)?, bits);
        if again == packed {
            break;
        }
        packed = again;
    }
    Ok(packed)
}

fn pack_smallest_three(quaternion: [f64; 4], bits: u32) -> u64 {
    let lattice = Lattice::new(bits);
    // No component except the largest is greater than √½.
    let points = quaternion.map(|component| lattice.point(component / FRAC_1_SQRT_2));
    let sizes = quaternion.map(|component| unclamped_size(lattice, component));
    let (largest, _) =
        sizes.iter().enumerate().fold(
            (0, i32::MIN),
            |(best, most), (index, &size)| {
                if size > most { (index, size) } else { (best, most) }
            },
        );
    let negate = quaternion.get(largest).is_some_and(|component| *component < 0.0);
    let others = points.iter().enumerate().filter(|(index, _)| *index != largest);
    let packed = others.fold(0, |packed, (_, &point)| {
        lattice.push(packed, if negate { point.wrapping_neg() } else { point })
    });
    packed << 2 | largest as u64
}

/// Returns the absolute value of the lattice point nearest to a component. `unclamped_size` may return a
/// number that is greater than the greatest point of the lattice.
fn unclamped_size(lattice: Lattice, component: f64) -> i32 {
    (component.abs() / FRAC_1_SQRT_2 * f64::from(lattice.half) + 0.5) as i32
}

/// Returns the quaternion that [`encode_smallest_three`] encoded, scaled to the length one. The largest
/// component of the decoded quaternion is above zero.
///
/// # Errors
/// Returns [`ReadError::OutOfRange`] if no quaternion has these bits.
pub(crate) fn decode_smallest_three(packed: u64, bits: u32) -> Result<[f32; 4], ReadError> {
    let lattice = Lattice::new(bits);
    let (largest, mut packed) = ((packed & 3) as usize, packed >> 2);
    let mut quaternion = [0.0; 4];
    let mut rest = 1.0;
    for (_, component) in quaternion.iter_mut().enumerate().rev().filter(|(index, _)| *index != largest) {
        let value = lattice.value(lattice.pop(&mut packed)?) * FRAC_1_SQRT_2;
        rest -= value * value;
        *component = value as f32;
    }
    // The largest of four components of a unit quaternion is at least ½. The restored component may be a
    // little less than ½ if the other components were rounded up, and with few bits it may even be zero.
    if packed != 0 || rest < -1e-9 {
        return Err(ReadError::OutOfRange);
    }
    if let Some(component) = quaternion.get_mut(largest) {
        *component = rest.max(0.0).sqrt() as f32;
    }
    Ok(quaternion)
}

/// Returns whether clients that have the value `sent` need no update for `quaternion`. This is true if each
/// component of the rotation differs by at most [`MARGIN_STEPS`] of a step. So the error of each decoded
/// component can be a quarter of a step greater than the error of encoding alone.
pub(crate) fn keeps_smallest_three(sent: [f32; 4], quaternion: [f32; 4], bits: u32) -> bool {
    let dot: f32 = sent.iter().zip(quaternion).map(|(sent, component)| sent * component).sum();
    let step = FRAC_1_SQRT_2 / f64::from(Lattice::new(bits).half);
    are_within(MARGIN_STEPS * step, quaternion, sent, if dot < 0.0 { -1.0 } else { 1.0 })
}

/// Encodes a unit vector in 2 × `bits` bits. `bits` is in [`UNIT_VECTOR_BITS`]. The vector is projected onto
/// an octahedron. The lower half of the octahedron is folded out around the upper half to form a square.
///
/// # Errors
/// Returns [`WriteError::NotFinite`] if a component is NaN or infinite, and [`WriteError::OutOfRange`] if the
/// length of the vector differs from one by more than 0.001.
pub(crate) fn encode_unit_vector(vector: [f32; 3], bits: u32) -> Result<u64, WriteError> {
    let lattice = Lattice::new(bits);
    let [x, y, z] = normalise(vector)?;
    let sum = x.abs() + y.abs() + z.abs();
    let (x, y) = (x / sum, y / sum);
    let (u, v) = if z < 0.0 { fold(x, y) } else { (x, y) };
    let (mut u, mut v) = (lattice.point(u), lattice.point(v));
    // Two points on an edge of the square may be the same direction. All four corners of the square are the
    // same direction.
    if u.abs() == lattice.half {
        v = v.abs();
    }
    if v.abs() == lattice.half {
        u = u.abs();
    }
    Ok(lattice.push(lattice.push(0, u), v))
}

/// Does the same as [`keeps_smallest_three`] for a unit vector. A step is the step of a coordinate on the
/// octahedron.
pub(crate) fn keeps_unit_vector(sent: [f32; 3], vector: [f32; 3], bits: u32) -> bool {
    let step = 1.0 / f64::from(Lattice::new(bits).half);
    are_within(MARGIN_STEPS * step, vector, sent, 1.0)
}

/// Returns the vector that [`encode_unit_vector`] encoded, scaled to the length one.
///
/// # Errors
/// Returns [`ReadError::OutOfRange`] if no vector has these bits.
pub(crate) fn decode_unit_vector(packed: u64, bits: u32) -> Result<[f32; 3], ReadError> {
    let lattice = Lattice::new(bits);
    let mut packed = packed;
    let (v, u) = (lattice.pop(&mut packed)?, lattice.pop(&mut packed)?);
    let twice = u.abs() == lattice.half && v < 0 || v.abs() == lattice.half && u < 0;
    if packed != 0 || twice {
        return Err(ReadError::OutOfRange);
    }
    let height = lattice.half.wrapping_sub(u.abs()).wrapping_sub(v.abs());
    let (u, v, z) = (lattice.value(u), lattice.value(v), lattice.value(height));
    let (x, y) = if height < 0 { fold(u, v) } else { (u, v) };
    let length = (x * x + y * y + z * z).sqrt();
    Ok([x, y, z].map(|component| (component / length) as f32))
}

/// Mirrors a point of the square at the nearest side of the diamond. The diamond is the upper half of the
/// octahedron. Mirroring a point twice returns the same point.
fn fold(u: f64, v: f64) -> (f64, f64) {
    let sign = |value: f64| if value >= 0.0 { 1.0 } else { -1.0 };
    ((1.0 - v.abs()) * sign(u), (1.0 - u.abs()) * sign(v))
}

#[cfg(test)]
mod tests;
