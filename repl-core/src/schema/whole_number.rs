//! Whole numbers in attributes: the values of `bits`, `range`, `max_len`, `per_second` and similar options.
//! Users may write constants of any integer type that fits in an `i128`.
//!
//! *Invariant:* no number is changed when it is converted. An `i128` can represent every value of each type
//! that implements [`WholeNumber`].

use crate::schema::const_text::Text;

/// A type whose constants can be whole numbers in attributes.
#[diagnostic::on_unimplemented(
    message = "a constant of the type `{Self}` cannot be the number in this attribute",
    label = "not an integer of up to 64 bits",
    note = "the number is a literal, or a constant of an integer type such as `u32`, `i64` or `usize`",
    note = "the bounds of a float are written in `quantize(step = 0.01, range = a..=b)`, and may be constants of the type `f32` or `f64`"
)]
pub trait WholeNumber: Copy {}

/// Implements [`WholeNumber`] for the given types.
macro_rules! whole_numbers {
    ($($type:ty)*) => { $(impl WholeNumber for $type {})* };
}

whole_numbers!(u8 u16 u32 u64 usize i8 i16 i32 i64 i128 isize);

/// Returns a number that generated code converts to `i128`. The function compiles only if the conversion does
/// not change the number.
#[must_use]
pub const fn whole_number<T: WholeNumber>(number: T) -> T {
    number
}

/// Returns `number`, which is the value of an attribute, after checking that it is in a range.
///
/// # Panics
/// Panics at compile time if the number is outside the range.
#[must_use]
#[track_caller]
pub const fn within(attribute: &str, number: i128, least: i128, most: i128) -> i128 {
    if number < least || number > most {
        let text = Text::of("`").and(attribute).and("` must be a whole number from ");
        panic!("{}", text.and_number(least).and(" to ").and_number(most).as_str())
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_their_range_are_refused_with_the_range() {
        assert_eq!([1, 64].map(|number| within("bits", number, 1, 64)), [1, 64]);
        for number in [0, 65, -1, 1 << 32 | 5, i128::MIN, i128::MAX] {
            let refused = std::panic::catch_unwind(|| within("bits", number, 1, 64)).unwrap_err();
            let text = refused.downcast_ref::<String>().unwrap();
            assert_eq!(text, "`bits` must be a whole number from 1 to 64");
        }
    }
}
