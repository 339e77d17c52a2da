//! Tests of quantised numbers and vectors.

use proptest::prelude::*;

use super::*;

const POSITION: Quantizer = Quantizer::new(-4096.0, 4096.0, 0.01, false);

fn quantizer() -> impl Strategy<Value = Quantizer> {
    (-1e6..1e6_f64, 1e-6..1e6_f64, 1..1_u64 << 40, any::<bool>()).prop_filter_map(
        "too fine",
        |(min, range, steps, saturate)| {
            let step = range / steps as f64;
            let within = min.abs().max((min + range).abs()) / step < MAX_MAGNITUDE_STEPS;
            within.then(|| Quantizer::new(min, min + range, step, saturate))
        },
    )
}

fn widths(range: &RangeInclusive<u8>) -> RangeInclusive<u32> {
    u32::from(*range.start())..=u32::from(*range.end())
}

/// Generates unit vectors. Many of them have components that are equal, nearly equal, or zero.
fn unit<const N: usize>() -> impl Strategy<Value = [f32; N]> {
    let component = prop_oneof![
        -1.0..1.0_f64,
        Just(0.0),
        Just(0.5),
        Just(-0.5),
        (-0.51..-0.49_f64),
        (0.49..0.51_f64),
        (0.4999..0.5001_f64),
        (-1e-6..1e-6_f64),
    ];
    prop::collection::vec(component, N).prop_filter_map("zero", |components| {
        let length = components.iter().map(|c| c * c).sum::<f64>().sqrt();
        (length > 1e-9).then(|| std::array::from_fn(|index| (components[index] / length) as f32))
    })
}

fn distance<const N: usize>(a: [f32; N], b: [f32; N], sign: f64) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - sign * f64::from(b)).powi(2)).sum::<f64>().sqrt()
}

/// A naive model of a property with a margin: the value that was sent last, and how often a value was sent.
struct Kept<T, F, K> {
    sent: T,
    updates: u32,
    form: F,
    keeps: K,
}

impl<T: Copy, P: PartialEq, F: Fn(T) -> P, K: Fn(T, T) -> bool> Kept<T, F, K> {
    fn new(sent: T, form: F, keeps: K) -> Self {
        Self { sent, updates: 0, form, keeps }
    }

    /// Returns the value that clients have after the property got a value.
    fn set(&mut self, value: T) -> T {
        if (self.form)(value) == (self.form)(self.sent) {
            self.sent = value;
        } else if !(self.keeps)(self.sent, value) {
            self.sent = value;
            self.updates += 1;
        }
        self.sent
    }
}

/// Returns the model of a property that is a number in steps.
fn kept_number(quantizer: Quantizer, sent: f64) -> Kept<f64, impl Fn(f64) -> u64, impl Fn(f64, f64) -> bool> {
    let form = move |value| quantizer.encode(value).unwrap();
    Kept::new(sent, form, move |sent, value| quantizer.keeps(form(sent), value))
}

/// Returns the numbers of some steps: the steps at the bounds, and one step between them.
fn some_steps(quantizer: Quantizer, chosen: u64) -> [u64; 4] {
    let last = quantizer.steps - 1;
    [0, 1.min(last), chosen % quantizer.steps, last]
}

/// Returns the number that is `position` steps above the least number of the range.
fn position(quantizer: Quantizer, position: f64) -> f64 {
    quantizer.min + position * quantizer.step
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn noise_at_a_border_changes_a_number_at_most_once(
        quantizer in quantizer(),
        chosen in any::<u64>(),
        noise in prop::collection::vec(-0.2..0.2_f64, 20),
    ) {
        for step in some_steps(quantizer, chosen) {
            let noisy = |noise: f64| position(quantizer, step as f64 + 0.5 + noise);
            for sent in [step, step + 1] {
                let mut property = kept_number(quantizer, position(quantizer, sent as f64));
                noise.iter().for_each(|noise| _ = property.set(noisy(*noise)));
                prop_assert_eq!(property.updates, 0, "the steps on both sides of the border are kept");
            }
            let far = if step > 1 { 0 } else { quantizer.steps };
            let mut property = kept_number(quantizer, position(quantizer, far as f64));
            noise.iter().for_each(|noise| _ = property.set(noisy(*noise)));
            prop_assert!(property.updates <= 1, "{} updates", property.updates);
        }
    }

    #[test]
    fn noise_around_a_number_at_rest_sends_nothing_even_where_f32_ends(
        low in -(1 << 22)..1_i64 << 22,
        high in -(1 << 22)..1_i64 << 22,
        step in 1e-6..1e3_f64,
        part in 0.0..=1.0_f64,
        saturate in any::<bool>(),
        noise in prop::collection::vec(-0.2..0.2_f64, 20),
    ) {
        let (low, high) = (low.min(high) as f64, low.max(high) as f64 + 1.0);
        let quantizer = Quantizer::new(low * step, high * step, step, saturate);
        for part in [part, 0.0, 1.0] {
            let middle = part * quantizer.steps as f64;
            let at = |steps: f64| {
                let steps = if saturate { steps } else { steps.clamp(0.0, quantizer.steps as f64) };
                f64::from(position(quantizer, steps) as f32)
            };
            // The rounding of `f32` is noise, too. With noise and rounding together, a value moves by a
            // quarter of a step to each side.
            let rest = at(middle);
            let is_little = |value: &f64| ((value - rest) / quantizer.step).abs() < 0.249;
            let mut property = kept_number(quantizer, rest);
            let noisy = noise.iter().map(|noise| at(middle + noise)).filter(is_little);
            noisy.for_each(|value| _ = property.set(value));
            prop_assert_eq!(property.updates, 0);
        }
    }

    #[test]
    fn a_number_that_creeps_arrives_within_three_quarters_of_a_step(
        quantizer in quantizer(),
        start in 0.0..=1.0_f64,
        creep in -0.3..0.3_f64,
    ) {
        let start = start * quantizer.steps as f64;
        let mut property = kept_number(quantizer, position(quantizer, start));
        let rounding = f64::EPSILON * 8.0 * quantizer.min.abs().max(quantizer.max.abs());
        for tick in 0..40 {
            let at = (start + creep * f64::from(tick)).clamp(0.0, quantizer.steps as f64);
            let value = position(quantizer, at);
            let sent = property.set(value);
            let shown = quantizer.decode(quantizer.encode(sent).unwrap()).unwrap();
            prop_assert!((shown - value).abs() <= 0.75 * quantizer.step + rounding);
        }
    }

    #[test]
    fn an_exact_number_keeps_no_step(quantizer in quantizer(), chosen in any::<u64>(), at in -1.0..1.0_f64) {
        let step = chosen % (quantizer.steps + 1);
        let value = position(quantizer, step as f64 + at);
        prop_assert!(!quantizer.exact_if(true).keeps(step, value));
        prop_assert_eq!(quantizer.exact_if(true).encode(value), quantizer.encode(value));
    }

    #[test]
    fn noise_of_a_quarter_of_a_step_changes_a_rotation_at_most_once(
        from in unit::<4>(),
        to in unit::<4>(),
        noise in prop::collection::vec((prop::array::uniform4(-1.0..1.0_f64), any::<bool>()), 20),
        bits in widths(&SMALLEST_THREE_BITS),
    ) {
        let step = FRAC_1_SQRT_2 / f64::from((1 << (bits - 1)) - 1);
        let form = |value| encode_smallest_three(value, bits).unwrap();
        let mut property = Kept::new(from, form, |sent, value| keeps_smallest_three(sent, value, bits));
        for (noise, is_negative) in noise {
            let value = noisy(to, noise, step);
            let sent = property.set(if is_negative { value.map(|component| -component) } else { value });
            let shown = decode_smallest_three(form(sent), bits).unwrap();
            let error = distance(shown, value, 1.0).min(distance(shown, value, -1.0));
            prop_assert!(error <= 3.0 * step + 1e-6, "{} steps", error / step);
        }
        prop_assert!(property.updates <= 1, "{} updates", property.updates);
    }

    #[test]
    fn noise_of_a_quarter_of_a_step_changes_a_direction_at_most_once(
        from in unit::<3>(),
        to in unit::<3>(),
        noise in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 20),
        bits in widths(&UNIT_VECTOR_BITS),
    ) {
        let step = 1.0 / f64::from((1 << (bits - 1)) - 1);
        let form = |value| encode_unit_vector(value, bits).unwrap();
        let mut property = Kept::new(from, form, |sent, value| keeps_unit_vector(sent, value, bits));
        for noise in noise {
            let value = noisy(to, noise, step);
            let shown = decode_unit_vector(form(property.set(value)), bits).unwrap();
            prop_assert!(distance(shown, value, 1.0) <= 3.0 * step + 1e-6);
        }
        prop_assert!(property.updates <= 1, "{} updates", property.updates);
    }
}

/// Returns a unit vector with noise. Any two such vectors differ in each component by at most a quarter
/// of a step.
fn noisy<const N: usize>(vector: [f32; N], noise: [f64; N], step: f64) -> [f32; N] {
    // Scaling a vector to the length one can move a component by another half of the noise. The rest of the
    // quarter of a step is greater than the rounding of `f32`.
    let amplitude = 0.25 / 2.0 / 1.6 * step - 3e-8;
    let moved: Vec<f64> =
        vector.iter().zip(noise).map(|(part, noise)| f64::from(*part) + noise * amplitude).collect();
    let length = moved.iter().map(|part| part * part).sum::<f64>().sqrt();
    std::array::from_fn(|index| (moved[index] / length) as f32)
}

proptest! {
    #[test]
    fn every_step_encodes_to_itself(quantizer in quantizer(), chosen in any::<u64>()) {
        for step in [0, 1, quantizer.steps - 1, quantizer.steps, chosen % (quantizer.steps + 1)] {
            prop_assert_eq!(quantizer.encode(quantizer.decode(step).unwrap()), Ok(step));
        }
    }

    #[test]
    fn every_step_of_a_moderate_range_encodes_to_itself_as_f32(
        low in -(1 << 22)..1_i64 << 22,
        high in -(1 << 22)..1_i64 << 22,
        step in 1e-6..1e3_f64,
        chosen in any::<u64>(),
    ) {
        let (low, high) = (low.min(high) as f64, low.max(high) as f64 + 1.0);
        let quantizer = Quantizer::new(low * step, high * step, step, false);
        for step in [0, 1, quantizer.steps, chosen % (quantizer.steps + 1)] {
            prop_assert_eq!(quantizer.encode(f64::from(quantizer.decode(step).unwrap() as f32)), Ok(step));
        }
    }

    #[test]
    fn received_values_are_within_half_a_step(quantizer in quantizer(), part in 0.0..=1.0_f64) {
        let value = (quantizer.min + (quantizer.max - quantizer.min) * part).min(quantizer.max);
        let step = quantizer.encode(value).unwrap();
        prop_assert!(step <= quantizer.steps);
        prop_assert!(step < 1 << quantizer.bits());
        let rounding = f64::EPSILON * quantizer.min.abs().max(quantizer.max.abs());
        let error = (quantizer.decode(step).unwrap() - value).abs();
        prop_assert!(error <= quantizer.step / 2.0 + rounding * 4.0, "{error}");
    }

    #[test]
    fn any_float_is_a_step_or_an_error(quantizer in quantizer(), value in any::<f64>()) {
        match quantizer.encode(value) {
            Ok(step) => prop_assert!(step <= quantizer.steps),
            Err(error) => prop_assert_eq!(error == WriteError::OutOfRange, value.is_finite()),
        }
        prop_assert!(!quantizer.saturate || quantizer.encode(value).is_ok() == value.is_finite());
    }

    #[test]
    fn quaternion_arrives_near_and_encodes_to_the_same_bits(quaternion in unit::<4>(), bits in widths(&SMALLEST_THREE_BITS)) {
        let packed = encode_smallest_three(quaternion, bits).unwrap();
        prop_assert!(packed < 1 << (2 + 3 * bits));
        let arrived = decode_smallest_three(packed, bits).unwrap();
        prop_assert_eq!(encode_smallest_three(arrived, bits), Ok(packed));
        prop_assert_eq!(encode_smallest_three(quaternion.map(|c| -c), bits).unwrap() & 3, packed & 3);
        prop_assert!((distance(arrived, [0.0; 4], 1.0) - 1.0).abs() < 1e-6);
        let error = distance(arrived, quaternion, 1.0).min(distance(arrived, quaternion, -1.0));
        let step = FRAC_1_SQRT_2 / f64::from((1 << (bits - 1)) - 1);
        prop_assert!(error <= 2.5 * step + 1e-6, "{error}, steps {}", error / step);
    }

    #[test]
    fn any_bits_are_a_unit_quaternion_or_an_error(packed in any::<u64>(), bits in widths(&SMALLEST_THREE_BITS)) {
        if let Ok(quaternion) = decode_smallest_three(packed & ((1 << (2 + 3 * bits)) - 1), bits) {
            prop_assert!((distance(quaternion, [0.0; 4], 1.0) - 1.0).abs() < 1e-6);
        }
        prop_assert!(bits == u32::from(*SMALLEST_THREE_BITS.end()) || decode_smallest_three(packed | 1 << (2 + 3 * bits), bits).is_err());
    }

    #[test]
    fn vector_arrives_near_and_encodes_to_the_same_bits(vector in unit::<3>(), bits in widths(&UNIT_VECTOR_BITS)) {
        let packed = encode_unit_vector(vector, bits).unwrap();
        prop_assert!(packed < 1 << (2 * bits));
        let arrived = decode_unit_vector(packed, bits).unwrap();
        prop_assert_eq!(encode_unit_vector(arrived, bits), Ok(packed));
        prop_assert!((distance(arrived, [0.0; 3], 1.0) - 1.0).abs() < 1e-6);
        let step = 1.0 / f64::from((1 << (bits - 1)) - 1);
        prop_assert!(distance(arrived, vector, 1.0) <= 2.5 * step + 1e-6);
    }

    #[test]
    fn any_bits_are_the_only_form_of_a_vector_or_an_error(packed in any::<u64>(), bits in widths(&UNIT_VECTOR_BITS)) {
        let packed = packed & ((1 << (2 * bits)) - 1);
        if let Ok(vector) = decode_unit_vector(packed, bits) {
            prop_assert_eq!(encode_unit_vector(vector, bits), Ok(packed));
        }
    }

    #[test]
    fn only_unit_vectors_are_encoded(vector in any::<[f32; 3]>(), quaternion in any::<[f32; 4]>()) {
        let is_unit = |length: f64| (length - 1.0).abs() <= UNIT_TOLERANCE;
        prop_assert_eq!(encode_unit_vector(vector, 12).is_ok(), is_unit(distance(vector, [0.0; 3], 1.0)));
        prop_assert_eq!(encode_smallest_three(quaternion, 12).is_ok(), is_unit(distance(quaternion, [0.0; 4], 1.0)));
    }
}

#[test]
fn all_vectors_of_few_bits_encode_to_themselves() {
    for bits in 2..=8 {
        for packed in 0..1 << (2 * bits) {
            if let Ok(vector) = decode_unit_vector(packed, bits) {
                assert_eq!(encode_unit_vector(vector, bits), Ok(packed), "{bits} bits");
            }
        }
    }
}

#[test]
fn whole_steps_arrive_exactly() {
    assert_eq!(POSITION.bits(), 20);
    for value in [-4096.0, 0.0, 4096.0, 0.25, -1234.56] {
        assert_eq!(POSITION.decode(POSITION.encode(value).unwrap()).unwrap() as f32, value as f32);
    }
    assert_eq!(POSITION.decode(819_201), Err(ReadError::OutOfRange));
}

#[test]
fn values_outside_are_refused_or_saturate() {
    let saturating = Quantizer::new(-1.0, 1.0, 0.5, true);
    let strict = Quantizer::new(-1.0, 1.0, 0.5, false);
    assert_eq!([-9.0, 9.0, f64::MAX, f64::MIN].map(|v| saturating.encode(v).unwrap()), [0, 4, 4, 0]);
    assert_eq!(strict.encode(-1.26), Err(WriteError::OutOfRange));
    assert_eq!(strict.encode(1.26), Err(WriteError::OutOfRange));
    assert_eq!([-1.24, 1.24].map(|v| strict.encode(v).unwrap()), [0, 4]);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(saturating.encode(value), Err(WriteError::NotFinite));
        assert_eq!(strict.encode(value), Err(WriteError::NotFinite));
    }
}

#[test]
fn bounds_given_as_f32_are_within_the_range() {
    let quantizer = Quantizer::new(-0.1, 0.1, 0.001, false);
    assert_eq!(quantizer.encode(f64::from(0.1_f32)), Ok(200));
    assert_eq!(quantizer.encode(f64::from(-0.1_f32)), Ok(0));
}

#[test]
fn r21_checksum_covers_everything_that_decides_the_bits() {
    let sum = |min, max, step| Quantizer::new(min, max, step, false).checksum(Checksum::new()).finish();
    assert_eq!(sum(0.0, 1.0, 0.25), sum(-0.0, 1.0, 0.25));
    assert_ne!(sum(0.0, 1.0, 0.25), sum(0.0, 2.0, 0.25));
    assert_ne!(sum(0.0, 1.0, 0.25), sum(1.0, 2.0, 0.25));
    assert_ne!(sum(0.0, 1.0, 0.25), sum(0.0, 2.0, 0.5));
}

#[test]
fn the_last_step_is_the_one_nearest_to_the_upper_bound() {
    assert_eq!(Quantizer::new(0.0, 1.0, 0.3, false).steps, 3);
    assert_eq!(Quantizer::new(0.0, 1.0, 0.4, false).steps, 3);
    assert_eq!(Quantizer::new(0.0, 1.0, 0.4, false).encode(1.0), Ok(3));
    assert_eq!(Quantizer::new(0.0, 1.0, 1.5, false).steps, 1);
}

#[test]
fn impossible_ranges_are_refused() {
    let refused = |min: f64, max: f64, step: f64| {
        std::panic::catch_unwind(|| Quantizer::new(min, max, step, false)).is_err()
    };
    assert!(refused(0.0, f64::NAN, 1.0));
    assert!(refused(f64::NEG_INFINITY, 0.0, 1.0));
    assert!(refused(1.0, 1.0, 1.0));
    assert!(refused(2.0, 1.0, 1.0));
    assert!(refused(0.0, 1.0, 0.0));
    assert!(refused(0.0, 1.0, -1.0));
    assert!(refused(0.0, 1.0, f64::NAN));
    assert!(refused(0.0, 1.0, 2.1));
    assert!(refused(0.0, 1.0, 1e-300));
    assert!(refused(1e20, 1e20 + 1e6, 1.0));
    assert!(refused(f64::MIN, f64::MAX, 1e300));
}
