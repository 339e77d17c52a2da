//! How much one update may bring, and a client may hold, of one collection.
//!
//! *Invariant:* an honest server stays below these limits, however many of its packets are lost.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::ReadError;
use crate::schema::limits::MAX_ITEMS;

/// What a client holds at most of one collection or map. Not what a server may have: items whose removal was
/// lost are there beside those that came since, however small the limit of the property is.
const MOST_HELD: u64 = 2 * MAX_ITEMS as u64;

/// Refuses one more whole item or entry than an honest server sends in one update, after `whole` others, or
/// than a client holds, which has `held`.
pub(crate) fn check_room(whole: u32, max_len: u32, held: usize) -> Result<(), ReadError> {
    if whole >= max_len {
        return Err(ReadError::TooLong { len: whole as usize, max: max_len as usize });
    }
    if held as u64 >= MOST_HELD {
        return Err(ReadError::TooLong { len: held, max: MOST_HELD as usize });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r20_neither_one_update_nor_many_bring_more_than_a_client_holds() {
        assert!(check_room(3, 4, 2_000).is_ok());
        assert!(check_room(4, 4, 0).is_err());
        assert!(check_room(0, 4, MOST_HELD as usize - 1).is_ok());
        assert!(check_room(0, 4, MOST_HELD as usize).is_err());
    }
}
