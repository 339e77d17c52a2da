//! How many elements one update may add to a collection, and how many a client may hold.
//!
//! *Invariant:* a server that follows the protocol stays below these limits, however many of its packets are
//! lost.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::ReadError;
use crate::schema::limits::MAX_ITEMS;

/// The most elements that a client holds of one collection or map. A client may have more items than a server
/// may have: items whose removal was lost remain beside newer items, however small the limit of the property
/// is.
const MOST_HELD: u64 = 2 * MAX_ITEMS as u64;

/// Refuses a further whole item or entry, after `whole` others in one update, if a server never sends so
/// many, or if a client that has `held` of them would have too many.
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
