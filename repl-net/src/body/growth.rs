//! How lists grow that have an entry for each object.
//!
//! *Invariant:* a list that grows gets memory for at most [`MOST_FACTOR`] times as many entries as it has.

/// Lists smaller than this grow by [`MOST_FACTOR`], and larger lists by 2.
const LARGE_BYTES: usize = 1 << 20;
/// When a list grows, all entries are copied to memory that is mostly new, which costs more than the work for
/// a new entry. So small lists grow fast. What is not used of new memory costs nothing.
const MOST_FACTOR: usize = 4;

/// Adds the entry that `make` returns to the end of a list. `make` is called when there is room, so that the
/// entry is written only once, at its place: to copy an entry that was just written takes longer than to
/// write it.
#[inline]
pub(crate) fn push_with<T>(list: &mut Vec<T>, make: impl FnOnce() -> T) {
    if list.len() == list.capacity() {
        grow(list);
    }
    list.push(make());
}

#[inline(never)]
fn grow<T>(list: &mut Vec<T>) {
    let is_small = list.len().saturating_mul(size_of::<T>()) < LARGE_BYTES;
    list.reserve(if is_small { list.len() * (MOST_FACTOR - 1) } else { list.len() }.max(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_lists_grow_faster_than_large_ones() {
        let mut list = Vec::new();
        for entry in 0..3 * LARGE_BYTES / 64 {
            push_with(&mut list, || [entry as u64; 8]);
            let factor = if list.len() * 64 > 2 * LARGE_BYTES { 2 } else { MOST_FACTOR };
            assert!(list.capacity() <= 8.max(list.len() * factor));
        }
        assert!(list.iter().zip(0..).all(|(entry, number)| *entry == [number; 8]));
    }
}
