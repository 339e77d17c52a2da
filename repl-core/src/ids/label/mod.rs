//! Labels: where an item of an ordered array stands, said without naming any other item (R13).
//!
//! A label is a fraction between 0 and 1, written in digits to the base 256. Between two of them there is always room for another, at the price
//! of more digits; where a new one is put decides how soon that is. What is known of how people write is used: they go on where they
//! were last ([`Hint`]), so a run steps from digit to digit, while whoever begins anew leaves room on both sides.
//!
//! *Invariant:* a label has at most [`Label::MAX_BYTES`] digits and the last is not zero, so that the order of the numbers is that of the bytes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

mod wire;

/// Digits that lie in the label itself.
const INLINE: usize = 14;
const MAX: usize = Label::MAX_BYTES;

/// Free numbers that a run needs between its neighbours before it takes one; with fewer it goes on in a further digit. Measured on recorded
/// typing: 16 to 64 do equally well.
const ROOM_FOR_RUN: u64 = 32;
/// The part of the gap that is left before an item that begins a run: more is likely to come behind it.
const PART_BEFORE: u64 = 4;
/// Free numbers in the narrowest gap between labels that are [spread](Label::spread). Measured at the worst places: 2 does better than 8 or 32, for it
/// takes fewer digits.
const ROOM_WHEN_SPREAD: u64 = 2;

/// Digits from which on a label is long. Measured at the worst places: 8 has many relabelled, 16 has long labels; a run takes 6 at most.
const LONG: usize = 12;

/// Where a new label is put between its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// Close behind the one before: a run goes forward.
    Before,
    /// Close before the one after: a run goes backward.
    After,
    /// With room on both sides.
    Neither,
}

impl Lean {
    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::After => Self::Before,
            Self::Neither => Self::Neither,
        }
    }
}

/// What is known of whoever inserts an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where to put it.
    pub lean: Lean,
    /// How many items the run has that it belongs to.
    pub run: u32,
}

impl Hint {
    /// Nothing is known.
    pub const NONE: Self = Self { lean: Lean::Neither, run: 0 };

    /// Free numbers between the neighbours that are worth staying with as many digits. A run is taken to be half over, so that each digit
    /// lasts a hundred times as long as the one before.
    fn room(self) -> u64 {
        match self.lean {
            Lean::Before | Lean::After => ROOM_FOR_RUN.max(self.run.into()),
            Lean::Neither => 1,
        }
    }
}

/// The place of an item, as a fraction. Ordered by its digits; items with equal labels are ordered by their ids.
///
/// The initial one has no digits and stands before all others. It is the neighbour that the first item of an update is written after, and never an
/// item's.
#[derive(Clone)]
pub struct Label(Digits);

#[derive(Clone)]
enum Digits {
    Inline(u8, [u8; INLINE]),
    Boxed(u8, Box<[u8; MAX]>),
}

impl Label {
    /// Digits that a label has at most.
    pub const MAX_BYTES: usize = 32;

    /// The label without digits.
    pub const START: Self = Self(Digits::Inline(0, [0; INLINE]));

    /// The label with these digits, the zeros at the end left out. More digits than a label has are left out too.
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

    /// The digits, highest first.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Digits::Inline(len, digits) => digits.get(..usize::from(*len)).unwrap_or(digits),
            Digits::Boxed(len, digits) => digits.get(..usize::from(*len)).unwrap_or(&digits[..]),
        }
    }

    /// A short label behind `before` and before `after`; `None` is the end of the array. None if it would have more than
    /// [`MAX_BYTES`](Self::MAX_BYTES) digits, or if `before` is not before `after`.
    pub fn between(before: Option<&Self>, after: Option<&Self>, hint: Hint) -> Option<Self> {
        let gap = Gap::find(before, after, hint.room())?;
        let (offset, otherwise) = match hint.lean {
            Lean::Before => (1, 2),
            Lean::After => (gap.free, gap.free.saturating_sub(1)),
            Lean::Neither => (1 + gap.free / PART_BEFORE, 2 + gap.free / PART_BEFORE),
        };
        // A number that ends in zero is one digit shorter: a run would lose its step.
        let digits = gap.number(offset);
        if digits.ends_in_zero() && (1..=gap.free).contains(&otherwise) {
            return Some(gap.number(otherwise).label());
        }
        Some(digits.label())
    }

    /// As many labels as are asked for between `before` and `after`, in order, each one step from the last: for items that come at once, which are
    /// written in a bit each. None as for [`between`](Self::between).
    pub fn run(before: Option<&Self>, after: Option<&Self>, count: usize, hint: Hint) -> Option<Labels> {
        // Every 256th number ends in zero and is left out.
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

    /// As many labels as are asked for between `before` and `after`, in order and with room between any two, for items that are there already and
    /// whose labels have grown too long. Half of the room or so is close to those at the places `hot` among them, and a gap twice as far away is
    /// half as wide: whoever inserted there goes on near by. None if they would have more than `max_bytes` digits. O(count).
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

    /// Whether it is so long that new labels for the items around cost less than more digits would.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.as_bytes().len() > LONG
    }

    /// The next label with as many digits, if there is one.
    fn successor(&self) -> Option<Self> {
        let mut number = Number::of(self);
        let found = number.add(1) && (!number.ends_in_zero() || number.add(1));
        found.then(|| number.label())
    }

    /// The label of which this is the [successor](Self::successor), if there is one.
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

/// The digits with points between them.
impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0")?;
        self.as_bytes().iter().try_for_each(|digit| write!(f, ".{digit}"))
    }
}

/// Labels in order, each one step from the last.
#[derive(Clone, Debug)]
pub struct Labels {
    next: Number,
    left: usize,
}

impl Labels {
    /// Steps over a number that ends in zero, if each is one step from the last: it would be a digit shorter.
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

/// The numbers of some count of digits that lie strictly between two labels.
struct Gap {
    /// The number below the first that is free.
    low: Number,
    free: u64,
}

impl Gap {
    /// The gap at the fewest digits that leave at least `room` numbers free; at most digits one will do.
    fn find(before: Option<&Label>, after: Option<&Label>, room: u64) -> Option<Self> {
        let low = before.map_or(&[][..], Label::as_bytes);
        let high = after.map_or(&[][..], Label::as_bytes);
        let digit = |digits: &[u8], at: usize| u64::from(digits.get(at).copied().unwrap_or(0));
        // How far apart both are in the digits so far; without `after` it is one.
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

    /// The free number at `offset`, from 1.
    fn number(&self, offset: u64) -> Number {
        let mut number = self.low.clone();
        let fits = number.add(offset);
        debug_assert!(fits && (1..=self.free).contains(&offset), "{offset} of {} is not free", self.free);
        number
    }
}

/// Some count of digits, zeros at the end included.
#[derive(Clone, Debug)]
struct Number {
    len: usize,
    digits: [u8; MAX],
}

impl Number {
    fn of(label: &Label) -> Self {
        Self::with_len(label.as_bytes(), label.as_bytes().len())
    }

    /// The first `len` of `digits`, zeros where there are not as many.
    fn with_len(digits: &[u8], len: usize) -> Self {
        let mut number = Self { len, digits: [0; MAX] };
        number.used().zip(digits).for_each(|(digit, &given)| *digit = given);
        number
    }

    fn used(&mut self) -> impl DoubleEndedIterator<Item = &mut u8> + ExactSizeIterator {
        self.digits.iter_mut().take(self.len)
    }

    /// Adds to the last digit, and carries; false if the sum has more digits.
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

    /// False if it was zero.
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
