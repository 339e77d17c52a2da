//! Labels: a label is the position of an item in an ordered array, independent of other items (R13).
//!
//! A label is a fraction between 0 and 1, written in base 256, so that each digit is a byte. Between any two
//! labels there is room for another label, which may need more digits. A good choice of new labels delays the
//! need for more digits. Users usually continue to insert at the place of the last insertion, and the choice
//! of a label takes this into account (see [`Hint`]). Items that are inserted one after another form a run.
//! The labels of a run follow each other closely, and there is room on both sides of the first label of a
//! run.
//!
//! *Invariant:* a label has at most [`Label::MAX_BYTES`] digits and the last digit is not zero, so the order
//! of the bytes is the order of the fractions.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

mod wire;

/// The number of digits that a label stores without an allocation.
const INLINE: usize = 14;
const MAX: usize = Label::MAX_BYTES;

/// The labels of a run (items inserted one after another) keep their number of digits only if at least this
/// many free numbers lie between the two neighbouring labels. If fewer numbers are free, the labels of the
/// run get one more digit. Measurements with recorded typing found values from 16 to 64 equally good.
const ROOM_FOR_RUN: u64 = 32;
/// The label of the first item of a run divides the gap between its neighbours: 1/`PART_BEFORE` of the free
/// numbers lie before it. The others lie after it, because the next items are likely to be inserted there.
const PART_BEFORE: u64 = 4;
/// The number of free numbers in the narrowest gap between labels that are [spread](Label::spread). In
/// measurements with insertions at the worst indices, 2 was better than 8 or 32, because labels needed fewer
/// digits.
const ROOM_WHEN_SPREAD: u64 = 2;

/// A label with more digits than this is long. In measurements with insertions at the worst indices, a limit
/// of 8 caused many items to be relabelled, and with a limit of 16 labels stayed long. The labels of a run
/// have at most 6 digits.
const LONG: usize = 12;

/// Where a new label lies between the labels of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// The new label lies close after the label of the item before it. This is used for a run of items in
    /// which each item is inserted after the previous item.
    Before,
    /// The new label lies close before the label of the item after it. This is used for a run of items in
    /// which each item is inserted before the previous item.
    After,
    /// The new label has room on both sides.
    Neither,
}

impl Lean {
    /// Returns the opposite side of a new label. The opposite of `Neither` is `Neither`.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::After => Self::Before,
            Self::Neither => Self::Neither,
        }
    }
}

/// Describes where items are being inserted into an ordered array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where the new label lies between its neighbours.
    pub lean: Lean,
    /// The number of items in the run (items inserted one after another) that the new item continues.
    pub run: u32,
}

impl Hint {
    /// The hint for the case that nothing is known about earlier insertions.
    pub const NONE: Self = Self { lean: Lean::Neither, run: 0 };

    /// Returns how many free numbers between the neighbouring labels are enough to keep the number of digits.
    /// The estimate assumes that the run will become twice as long as it is now, or at least [`ROOM_FOR_RUN`]
    /// items longer.
    fn room(self) -> u64 {
        match self.lean {
            Lean::Before | Lean::After => ROOM_FOR_RUN.max(self.run.into()),
            Lean::Neither => 1,
        }
    }
}

/// The position of an item in an ordered array, as a fraction. Labels are ordered by their digits. Items with
/// equal labels are ordered by their ids.
///
/// The default label has no digits and sorts before all others. No item has the default label. The first
/// label of an update is written relative to the default label.
#[derive(Clone)]
pub struct Label(Digits);

#[derive(Clone)]
enum Digits {
    Inline(u8, [u8; INLINE]),
    Boxed(u8, Box<[u8; MAX]>),
}

impl Label {
    /// The greatest number of digits of a label.
    pub const MAX_BYTES: usize = 32;

    /// The default label, which has no digits.
    pub const START: Self = Self(Digits::Inline(0, [0; INLINE]));

    /// Makes a label of the digits `digits` without the zeros at the end. Digits after the first
    /// [`MAX_BYTES`](Self::MAX_BYTES) are dropped.
    fn new(digits: &[u8]) -> Self {
        let digits = digits.get(..MAX).unwrap_or(digits);
        let len = digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
        if len <= INLINE {
            let mut inline = [0; INLINE];
            inline[..len].copy_from_slice(&digits[..len]);
            Self(Digits::Inline(len as u8, inline))
        } else {
            let mut boxed = Box::new([0; MAX]);
            boxed[..len].copy_from_slice(&digits[..len]);
            Self(Digits::Boxed(len as u8, boxed))
        }
    }

    /// Returns the digits of the label, highest first.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Digits::Inline(len, digits) => digits.get(..usize::from(*len)).unwrap_or(digits),
            Digits::Boxed(len, digits) => digits.get(..usize::from(*len)).unwrap_or(&digits[..]),
        }
    }

    /// Returns a short label between the labels `before` and `after`. `None` for `before` means the start of
    /// the array, and `None` for `after` the end. Returns `None` if the label would need more than
    /// [`MAX_BYTES`](Self::MAX_BYTES) digits, or if `before` is not less than `after`.
    pub fn between(before: Option<&Self>, after: Option<&Self>, hint: Hint) -> Option<Self> {
        let gap = Gap::find(before, after, hint.room())?;
        let (offset, otherwise) = match hint.lean {
            Lean::Before => (1, 2),
            Lean::After => (gap.free, gap.free.saturating_sub(1)),
            Lean::Neither => (1 + gap.free / PART_BEFORE, 2 + gap.free / PART_BEFORE),
        };
        // A label drops zeros at its end. So a number that ends in zero makes a shorter label, and the next
        // label of the run, which has all digits, would not be the successor of this label.
        let digits = gap.number(offset);
        if digits.ends_in_zero() && (1..=gap.free).contains(&otherwise) {
            return Some(gap.number(otherwise).label());
        }
        Some(digits.label())
    }

    /// Returns `count` labels between `before` and `after` in ascending order. Each label is the successor of
    /// the previous label. Use `run` for items that are inserted together: each label after the first takes
    /// one bit on the wire. Returns `None` in the same cases as [`between`](Self::between).
    pub fn run(before: Option<&Self>, after: Option<&Self>, count: usize, hint: Hint) -> Option<Labels> {
        // Every 256th number ends in the digit zero and is left out.
        let numbers = (count as u64).checked_add(count as u64 / 255)?.checked_add(2)?;
        let gap = Gap::find(before, after, numbers.checked_add(hint.room())?)?;
        let spare = gap.free.checked_sub(numbers)?;
        let offset = match hint.lean {
            Lean::Before => 1,
            Lean::After => 1 + spare,
            Lean::Neither => 1 + spare / PART_BEFORE,
        };
        let mut labels = Labels { next: gap.number(offset), left: count };
        labels.skip_short();
        Some(labels)
    }

    /// Returns `count` labels between `before` and `after` in ascending order, with room between any two of
    /// them. Use this function for existing items with labels that have become too long. About half of the
    /// room is close to the items at the indices `hot`, because the next insertions are likely there. A gap
    /// at twice the distance from these items is half as wide. Returns `None` if the labels would have more
    /// than `max_bytes` digits. Costs O(count).
    pub fn spread(
        before: Option<&Self>,
        after: Option<&Self>,
        count: usize,
        hot: Range<usize>,
        max_bytes: usize,
    ) -> Option<impl Iterator<Item = Self> + use<>> {
        let octave = |distance: usize| distance.saturating_add(1).ilog2();
        let farthest = octave(hot.start.max(count.checked_sub(hot.end)?));
        let weight = move |gap: usize| {
            let distance = hot.start.saturating_sub(gap).max(gap.saturating_sub(hot.end));
            1_u64 << farthest.saturating_sub(octave(distance))
        };
        let total: u64 = (0..=count).map(&weight).sum();
        let gap = Gap::find(before, after, total.checked_mul(ROOM_WHEN_SPREAD)?)?;
        let unit = gap.free.checked_add(1)? / total;
        if unit == 0 || gap.low.len > max_bytes {
            return None;
        }
        let mut number = gap.low;
        Some((0..count).map(move |at| {
            number.add(weight(at) * unit);
            number.label()
        }))
    }

    /// Returns whether the label is so long that relabelling the items around it costs less than additional
    /// digits.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.as_bytes().len() > LONG
    }

    /// Returns the next higher label with the same number of digits, or `None` if no such label exists.
    fn successor(&self) -> Option<Self> {
        let mut number = Number::of(self);
        let found = number.add(1) && (!number.ends_in_zero() || number.add(1));
        found.then(|| number.label())
    }

    /// Returns the label whose [successor](Self::successor) is this label, or `None` if no such label exists.
    fn predecessor(&self) -> Option<Self> {
        let mut number = Number::of(self);
        let found = number.subtract_one() && (!number.ends_in_zero() || number.subtract_one());
        found.then(|| number.label())
    }
}

impl Default for Label {
    fn default() -> Self {
        Self::START
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Label {}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Label {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Label {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

/// Prints the digits with points between them.
impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0")?;
        self.as_bytes().iter().try_for_each(|digit| write!(f, ".{digit}"))
    }
}

/// Labels in ascending order. Each label is the successor of the previous label.
#[derive(Clone, Debug)]
pub struct Labels {
    next: Number,
    left: usize,
}

impl Labels {
    /// Skips a number that ends in the digit zero, because its label would be one digit shorter.
    fn skip_short(&mut self) {
        if self.next.ends_in_zero() {
            self.next.add(1);
        }
    }
}

impl Iterator for Labels {
    type Item = Label;

    fn next(&mut self) -> Option<Label> {
        self.left = self.left.checked_sub(1)?;
        let label = self.next.label();
        self.next.add(1);
        self.skip_short();
        Some(label)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Labels {}

/// The numbers with a given count of digits that lie strictly between two labels.
struct Gap {
    /// The number before the first free number of the gap.
    low: Number,
    free: u64,
}

impl Gap {
    /// Finds the gap with the fewest digits in which at least `room` numbers are free. If the gap has the
    /// greatest number of digits, one free number is enough.
    fn find(before: Option<&Label>, after: Option<&Label>, room: u64) -> Option<Self> {
        let low = before.map_or(&[][..], Label::as_bytes);
        let high = after.map_or(&[][..], Label::as_bytes);
        let digit = |digits: &[u8], at: usize| u64::from(digits.get(at).copied().unwrap_or(0));
        // The distance between the two labels, counted in units of the last digit visited so far. If `after`
        // is `None`, the upper end of the gap is 1.
        let mut apart = u64::from(after.is_none());
        for at in 0..MAX {
            apart = apart.checked_mul(256)?.checked_add(digit(high, at))?.checked_sub(digit(low, at))?;
            let len = at + 1;
            let free = (apart + u64::from(high.len() > len)).saturating_sub(1);
            if free >= room || (len == MAX && free > 0) {
                return Some(Self { low: Number::with_len(low, len), free });
            }
        }
        None
    }

    /// Returns the free number at `offset` within the gap, counted from 1.
    fn number(&self, offset: u64) -> Number {
        let mut number = self.low.clone();
        let fits = number.add(offset);
        debug_assert!(fits && (1..=self.free).contains(&offset), "{offset} of {} is not free", self.free);
        number
    }
}

/// A number with a given count of digits, which may end in zeros.
#[derive(Clone, Debug)]
struct Number {
    len: usize,
    digits: [u8; MAX],
}

impl Number {
    fn of(label: &Label) -> Self {
        Self::with_len(label.as_bytes(), label.as_bytes().len())
    }

    /// Makes a number of the first `len` digits of `digits`, filled up with zeros at the end.
    fn with_len(digits: &[u8], len: usize) -> Self {
        let mut number = Self { len, digits: [0; MAX] };
        number.used().zip(digits).for_each(|(digit, &given)| *digit = given);
        number
    }

    fn used(&mut self) -> impl DoubleEndedIterator<Item = &mut u8> + ExactSizeIterator {
        self.digits.iter_mut().take(self.len)
    }

    /// Adds a number to the last digit, and carries. `add` returns false if the sum would need more digits.
    fn add(&mut self, addend: u64) -> bool {
        let mut rest = u128::from(addend);
        for digit in self.used().rev() {
            rest += u128::from(*digit);
            *digit = rest as u8;
            rest >>= 8;
            if rest == 0 {
                return true;
            }
        }
        rest == 0
    }

    /// Subtracts one from the number. `subtract_one` returns false if the number was zero.
    fn subtract_one(&mut self) -> bool {
        self.used().rev().any(|digit| {
            let borrows = *digit == 0;
            *digit = digit.wrapping_sub(1);
            !borrows
        })
    }

    fn ends_in_zero(&self) -> bool {
        self.digits.iter().take(self.len).next_back() == Some(&0)
    }

    fn label(&self) -> Label {
        Label::new(self.digits.get(..self.len).unwrap_or(&self.digits))
    }
}

#[cfg(test)]
mod tests;
