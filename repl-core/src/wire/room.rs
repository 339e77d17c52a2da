//! Limits how many elements one update may add to a collection, and how many elements of a collection a
//! client may have.
//!
//! *Invariant:* a server that follows the protocol never exceeds the limits on elements, even if many packets
//! are lost.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::ReadError;
use crate::schema::limits::MAX_ITEMS;

/// The greatest number of elements that a client stores for one collection or map. A client may have more
/// items than the server: if the packet with a removal is lost, the removed item remains while newer items
/// are added. The limit does not depend on the `max_len` of the property.
const MOST_HELD: u64 = 2 * MAX_ITEMS as u64;

/// Returns an error if one more whole item or entry would exceed a limit. `whole` is the number of whole
/// items or entries that were read so far in this update, and `max_len` is the greatest number that a server
/// sends. `held` is the number of items or entries that the client has now.
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
