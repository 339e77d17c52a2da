//! Packet numbers: 64 bits inside, 16 on the wire (R6).
//!
//! Invariant: a number is used for one packet of a connection and direction only; it never wraps.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

/// How many packets may be unresolved at a time, and how far behind the newest packet a receiver still tells late from repeated (R6).
pub(crate) const WINDOW: u64 = 1_024;

/// What the 16 bits of the wire tell apart.
const WIRE_SPAN: u64 = 1 << 16;
const HALF_SPAN: u64 = WIRE_SPAN / 2;

/// The number of a packet in one direction of a connection.
///
/// It has 64 bits and so a true order; only its form on the wire wraps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sequence(u64);

impl Sequence {
    /// The packet of this number.
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, of 64 bits.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    /// The packet after this one. At 10,000 packets a second the last number is 58 million years away, so it stays there.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The packet that many later.
    pub(crate) const fn plus(self, packets: u64) -> Self {
        Self(self.0.saturating_add(packets))
    }

    /// The packet that many earlier, or the first of all.
    pub(crate) const fn minus(self, packets: u64) -> Self {
        Self(self.0.saturating_sub(packets))
    }

    /// How many packets this one comes after `earlier`; 0 if it does not.
    pub(crate) const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The low 16 bits, which is what a header holds.
    pub(crate) const fn to_wire(self) -> u16 {
        (self.0 % WIRE_SPAN) as u16
    }

    /// The bits that a header does not hold: how often the form on the wire has wrapped.
    pub(crate) const fn epoch(self) -> u64 {
        self.0 / WIRE_SPAN
    }

    /// The number with these low 16 bits that lies nearest to `near`: exact for whatever lies at most 32,767 packets before or after
    /// it. At the ends of the 64 bits, where the nearest does not exist, it is the one that does.
    pub(crate) const fn from_wire(wire: u16, near: Self) -> Self {
        // Both are below 2^16, so neither the sum nor the remainder can go wrong.
        let ahead = (wire as u64).wrapping_sub(near.0) % WIRE_SPAN;
        let later = near.0.checked_add(ahead);
        let earlier = near.0.checked_sub(WIRE_SPAN.saturating_sub(ahead));
        match (later, earlier) {
            (Some(later), _) if ahead < HALF_SPAN => Self(later),
            (_, Some(earlier)) => Self(earlier),
            (Some(later), None) => Self(later),
            // Unreachable: 64 bits have room for 16 on one side at least.
            (None, None) => near,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r06_the_wire_form_wraps_and_the_number_does_not() {
        let mut sequence = Sequence::new(65_500);
        for _ in 0..200 {
            let next = sequence.next();
            assert_eq!(Sequence::from_wire(next.to_wire(), sequence), next);
            assert!(next > sequence);
            sequence = next;
        }
        assert_eq!(sequence.number(), 65_700);
        assert_eq!(sequence.to_wire(), 164);
    }

    #[test]
    fn a_number_before_the_first_is_read_as_the_one_that_exists() {
        assert_eq!(Sequence::from_wire(65_535, Sequence::new(0)), Sequence::new(65_535));
        assert_eq!(Sequence::from_wire(0, Sequence::new(u64::MAX)), Sequence::new(u64::MAX - 65_535));
    }

    #[test]
    fn distances_stop_at_zero() {
        assert_eq!(Sequence::new(7).since(Sequence::new(3)), 4);
        assert_eq!(Sequence::new(3).since(Sequence::new(7)), 0);
        assert_eq!(Sequence::new(3).minus(7), Sequence::new(0));
        assert_eq!(Sequence::new(u64::MAX).next(), Sequence::new(u64::MAX));
    }

    proptest! {
        #[test]
        fn r06_from_wire_finds_every_number_within_half_the_span(
            near in any::<u64>(), distance in -32_767_i64..=32_767
        ) {
            if let Some(number) = near.checked_add_signed(distance) {
                let sequence = Sequence::new(number);
                prop_assert_eq!(Sequence::from_wire(sequence.to_wire(), Sequence::new(near)), sequence);
            }
        }

        #[test]
        fn from_wire_keeps_the_wire_bits(near in any::<u64>(), wire in any::<u16>()) {
            prop_assert_eq!(Sequence::from_wire(wire, Sequence::new(near)).to_wire(), wire);
        }
    }
}
