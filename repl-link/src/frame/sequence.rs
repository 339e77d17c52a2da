//! Packet numbers: 64 bits in memory, 16 bits on the wire (R6).
//!
//! *Invariant:* a connection uses each number once in each direction, and numbers never wrap.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

/// The greatest number of packets, counted from the oldest packet that is neither acked nor declared lost. A
/// receiver can distinguish late packets from repeated packets for [`WINDOW`] packets before the newest one
/// (R6).
pub(crate) const WINDOW: u64 = 1_024;

/// The number of values that 16 bits can have.
const WIRE_SPAN: u64 = 1 << 16;
const HALF_SPAN: u64 = WIRE_SPAN / 2;

/// The number of a packet in one direction of a connection.
///
/// A number has 64 bits, so the numbers of all packets can be compared. Only the 16 bits of a packet number
/// on the wire wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(u64);

impl Sequence {
    /// Returns the `Sequence` with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the full number of 64 bits.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the packet after this one. For the last number, returns the same number. At 10,000 packets a
    /// second, a connection would reach the last number after 58 million years.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the number of the packet that is `packets` packets later.
    pub const fn plus(self, packets: u64) -> Self {
        Self(self.0.saturating_add(packets))
    }

    /// Returns the number of the packet that is `packets` packets earlier, or the number 0 if there is no
    /// such packet.
    pub const fn minus(self, packets: u64) -> Self {
        Self(self.0.saturating_sub(packets))
    }

    /// Returns how many packets this packet is after the packet `earlier`. Returns 0 if this packet is before
    /// `earlier`.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the low 16 bits, which the header contains.
    pub const fn to_wire(self) -> u16 {
        (self.0 % WIRE_SPAN) as u16
    }

    /// Returns the bits that the header does not contain: the number of times that the low 16 bits have
    /// wrapped.
    pub const fn wraps(self) -> u64 {
        self.0 / WIRE_SPAN
    }

    /// Returns the number nearest to `near` that has these low 16 bits. The result is correct for all packets
    /// that are at most 32,767 packets before or after `near`. If the nearest packet number is outside the
    /// range of 64 bits, returns the second nearest number.
    pub const fn from_wire(wire: u16, near: Self) -> Self {
        // Both numbers are below 2^16, so neither the sum nor the remainder can overflow.
        let ahead = (wire as u64).wrapping_sub(near.0) % WIRE_SPAN;
        let later = near.0.checked_add(ahead);
        let earlier = near.0.checked_sub(WIRE_SPAN.saturating_sub(ahead));
        match (later, earlier) {
            (Some(later), _) if ahead < HALF_SPAN => Self(later),
            (_, Some(earlier)) => Self(earlier),
            (Some(later), None) => Self(later),
            // Unreachable: there is always room for 16 bits below or above `near`.
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
