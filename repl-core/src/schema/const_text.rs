//! Texts that are composed at compile time, without allocation. They are used for compile errors that state
//! their cause, and for wire names of generic types.
//!
//! *Invariant:* a text that is too long is cut between two pieces, and [`Text::is_whole`] then returns false.

/// The greatest length of a text, in bytes.
const CAPACITY: usize = 1024;

const MOST_DIGITS: usize = 39;

/// The greatest length, in bytes, of a name that is compared with similar names.
const LONGEST_NAME: usize = 63;

/// A text that is composed of pieces. If a piece of the text does not fit, this piece and all later pieces
/// are dropped.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
    full: bool,
}

impl Text {
    pub(crate) const fn of(piece: &str) -> Self {
        Self { bytes: [0; CAPACITY], len: 0, full: false }.and(piece)
    }

    /// Returns the text with another piece at its end.
    pub(crate) const fn and(mut self, piece: &str) -> Self {
        let piece = piece.as_bytes();
        self.full = self.full || piece.len() > CAPACITY - self.len;
        let mut i = 0;
        while !self.full && i < piece.len() {
            self.bytes[self.len] = piece[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    pub(crate) const fn and_number(self, number: i128) -> Self {
        let mut digits = [0; MOST_DIGITS];
        let (mut rest, mut first) = (number.unsigned_abs(), MOST_DIGITS);
        while first == MOST_DIGITS || rest > 0 {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let signed = if number < 0 { self.and("-") } else { self };
        match str::from_utf8(digits.split_at(first).1) {
            Ok(digits) => signed.and(digits),
            Err(_) => signed,
        }
    }

    /// Returns whether no piece was dropped.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.full
    }

    /// Returns the text, without the pieces that were dropped.
    pub(crate) const fn as_str(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// Returns how many typing errors lead from the name `right` to the name `wrong`. Returns `None` if the two
/// names differ too much.
pub(crate) const fn typos(wrong: &str, right: &str) -> Option<usize> {
    let distance = distance(wrong.as_bytes(), right.as_bytes());
    let limit = if wrong.len() < 6 { 1 } else { wrong.len() / 3 };
    if distance <= limit { Some(distance) } else { None }
}

/// Returns how many bytes must be inserted, removed or replaced to turn `a` into `b`, ignoring ASCII case.
const fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len() > LONGEST_NAME || b.len() > LONGEST_NAME {
        return usize::MAX;
    }
    let mut row = [0; LONGEST_NAME + 1];
    let mut j = 0;
    while j <= b.len() {
        row[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut j = 0;
        while j < b.len() {
            let replaced = diagonal + !a[i].eq_ignore_ascii_case(&b[j]) as usize;
            diagonal = row[j + 1];
            let moved = 1 + if row[j] < diagonal { row[j] } else { diagonal };
            row[j + 1] = if replaced < moved { replaced } else { moved };
            j += 1;
        }
        i += 1;
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_joins_its_pieces_and_drops_pieces_that_do_not_fit() {
        const TEXT: Text = Text::of("`Tür`").and(" has ").and("no key");
        assert_eq!(TEXT.as_str(), "`Tür` has no key");
        let long = "x".repeat(CAPACITY - 1);
        assert_eq!(Text::of(&long).and("ü").and("y").as_str(), long);
        assert_eq!(Text::of(&long).and("y").as_str().len(), CAPACITY);
    }

    #[test]
    fn a_text_shows_every_digit_of_a_number() {
        for number in [0, 7, -8, 10, 255, 4_294_967_295, i128::MIN, i128::MAX] {
            assert_eq!(Text::of("is ").and_number(number).as_str(), format!("is {number}"));
        }
    }

    #[test]
    fn distances_count_slips() {
        let distance = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes());
        assert_eq!(distance("helth", "health"), 1);
        assert_eq!(distance("Health", "health"), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance(&"x".repeat(64), "x"), usize::MAX);
        assert_eq!((typos("heatlh", "health"), typos("mana", "name")), (Some(2), None));
    }
}
