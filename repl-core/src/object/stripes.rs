//! Stripes of an object: a stripe is up to 64 bytes of the plain memory that is compared in every tick. The
//! offsets of stripes are constants of the type, so the comparison of a stripe is a sequence of loads without
//! a branch.
//!
//! *Invariant:* a stripe is a part of a run of the type's plan. So all bytes of the stripe are initialised,
//! and copying all bytes of a value copies the value. A value in two stripes is always copied whole: both
//! stripes copy their part, or neither of them copies it, and [`PlainValues::compare`] compares the value.
#![expect(unsafe_code, reason = "compares and copies plain memory")]

use super::differing::{MAX_BYTES, differing_bytes, last_of_values};
use super::plain_values::{Known, PlainValue, PlainValues, bits, place_of};
use crate::ids::handles::HandleSet;
use crate::schema::plan::{Plan, Planned, Run, SeenRun};

/// The stripes of a type, in the order of its plan.
#[derive(Debug)]
pub(super) struct Stripes(Box<[Stripe]>);

#[derive(Debug)]
struct Stripe {
    /// A mask of the bytes that belong to a property.
    owned: u64,
    /// A mask of the last bytes of the properties. If a property continues in the next stripe, its last byte
    /// in this stripe counts.
    last: u64,
    /// Whether each byte belongs to a property.
    has_no_gaps: bool,
    /// Whether the whole stripe can be copied to the shadow without a check.
    is_copied: bool,
    /// The index of the word of a set of handles that contains all properties, or `None` if they are in
    /// several words.
    word: Option<usize>,
    /// The bits of the properties in this word.
    all: u64,
    /// For each byte, the handle of its property minus one.
    handles: [u16; MAX_BYTES],
}

impl Stripes {
    /// Returns the stripes of `plan`, the plan of the properties that are compared in every tick.
    pub(super) fn of(values: &PlainValues, plan: &Plan) -> Self {
        let ordinary: Vec<PlainValue> =
            values.as_slice().iter().copied().filter(|value| value.is_ordinary).collect();
        let stripes = plan.all_runs().flat_map(|run| (0..run.stripe_count()).map(move |at| run.stripe(at)));
        let stripes: Box<[Stripe]> = stripes.map(|stripe| Stripe::of(stripe, &ordinary)).collect();
        debug_assert_eq!(stripes.len(), plan.stripe_count(), "the stripes of the plan");
        Self(stripes)
    }

    /// Compares the stripes of an object with its shadow or its seen bytes, and adds the properties that
    /// differ to `copied` or `left`. Copies the values that differ if they can be copied without a check.
    ///
    /// # Safety
    /// `from` and the shadow are objects of the type `T`, to which the stripes and the values belong. The
    /// shadow and the seen bytes are borrowed mutably.
    #[inline(always)]
    pub(super) unsafe fn compare<T: Planned>(
        &self,
        from: *const u8,
        known: Known,
        values: &PlainValues,
        copied: &mut HandleSet,
        left: &mut HandleSet,
    ) {
        let stripes = &*self.0;
        assert!(stripes.len() == const { T::PLAN.stripe_count() }, "the stripes of another type");
        let mut count = 0;
        for run in const { T::PLAN.runs() } {
            for at in 0..run.stripe_count() {
                // SAFETY: as for this function. The plan lists initialised bytes inside a `T`.
                unsafe { stripes[count].compare(run.stripe(at), None, from, known, values, copied, left) };
                count += 1;
            }
        }
        for SeenRun { run, at: seen } in const { T::PLAN.seen_runs() } {
            for at in 0..run.stripe_count() {
                let stripe = run.stripe(at);
                let seen = Some(seen + (stripe.offset - run.offset));
                // SAFETY: as for the previous `unsafe` block. The plan also says where the seen bytes are.
                unsafe { stripes[count].compare(stripe, seen, from, known, values, copied, left) };
                count += 1;
            }
        }
    }
}

impl Stripe {
    /// Returns the properties in a stripe of a run. `values` contains the values that are compared in every
    /// tick, in ascending order of their offsets.
    fn of(run: Run, values: &[PlainValue]) -> Self {
        let (begin, end) = (run.offset, run.offset + run.len);
        let (mut owned, mut last, mut handles) = (0_u64, 0_u64, [0; MAX_BYTES]);
        let (mut words, mut is_any_sent) = (Vec::new(), true);
        for value in values.iter().filter(|value| value.offset < end && value.end() > begin) {
            let bytes = value.offset.max(begin) - begin..value.end().min(end) - begin;
            owned |= u64::MAX >> (MAX_BYTES - bytes.len()) << bytes.start;
            last |= 1 << (bytes.end - 1);
            handles[bytes].fill((value.handle - 1) as u16);
            words.push(place_of(value.handle).0);
            is_any_sent &= value.is_any_sent;
        }
        let has_no_gaps = owned == u64::MAX >> (MAX_BYTES - run.len);
        let word = words.first().copied().filter(|first| words.iter().all(|word| word == first));
        let is_copied = has_no_gaps && is_any_sent;
        let mut stripe = Self { owned, last, has_no_gaps, is_copied, word, all: 0, handles };
        stripe.all = stripe.differing(last);
        stripe
    }

    /// Does the same as [`Stripes::compare`] for one stripe. `seen` is the offset of the stripe in the seen
    /// bytes, if its values have a margin.
    ///
    /// # Safety
    /// The same as for [`Stripes::compare`]. `run` is the place of the stripe in the object.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a struct would be stored for each stripe")]
    unsafe fn compare(
        &self,
        run: Run,
        seen: Option<usize>,
        from: *const u8,
        known: Known,
        values: &PlainValues,
        copied: &mut HandleSet,
        left: &mut HandleSet,
    ) {
        let Run { offset, len } = run;
        let one = from.wrapping_add(offset);
        let (other, is_seen) = known.at(offset, seen);
        // SAFETY: the caller guarantees initialised bytes.
        let found = unsafe { differing_bytes(one, other, len) };
        let last = last_of_values(found & self.owned, self.last);
        if last == 0 {
            return;
        }
        let is_copied = if is_seen { self.has_no_gaps } else { self.is_copied };
        let Some(word) = self.word.filter(|_| is_copied) else {
            // SAFETY: as for this function.
            return unsafe { self.compare_values(last, from, known, values, copied, left) };
        };
        // SAFETY: as for the first `unsafe` block. The shadow and the seen bytes are borrowed mutably, and a
        // stripe that is copied consists of values of the same properties.
        unsafe { std::ptr::copy_nonoverlapping(one, other, len) };
        let differing = if last == self.last { self.all } else { self.differing(last) };
        if is_seen { left } else { copied }.insert_word(word, differing);
    }

    /// Returns the bits of the properties with a bit for their last byte in `last`. All properties must be in
    /// one word.
    #[inline]
    fn differing(&self, last: u64) -> u64 {
        bits(last).fold(0, |found, at| found | 1 << (self.handles[at as usize % MAX_BYTES] % 64))
    }

    /// Compares, one by one, the values with a bit for their last byte in `last`.
    ///
    /// # Safety
    /// The same as for [`compare`](Self::compare).
    #[inline(never)]
    unsafe fn compare_values(
        &self,
        last: u64,
        from: *const u8,
        known: Known,
        values: &PlainValues,
        copied: &mut HandleSet,
        left: &mut HandleSet,
    ) {
        let place = |at: u32| place_of(u32::from(self.handles[at as usize]) + 1);
        if let Some(word) = self.word {
            // SAFETY: as for this function.
            return unsafe { values.compare(word, self.differing(last), from, known, copied, left) };
        }
        for (word, bit) in bits(last).map(place) {
            // SAFETY: as for this function.
            unsafe { values.compare(word, 1 << bit, from, known, copied, left) };
        }
    }
}
