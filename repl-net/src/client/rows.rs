//! The objects of a class, one in each row. Their memory consists of pieces, so existing objects are not
//! moved when others are added. In one growing vector, the objects would be copied several times when a
//! client joins and receives many objects.
//!
//! *Invariant:* all pieces except the last one are full, and no piece is empty. The spare vector is empty.

/// A list of objects.
pub(crate) struct Rows<T> {
    pieces: Vec<Vec<T>>,
    /// The memory of the piece that became empty last. The next piece reuses it.
    spare: Vec<T>,
}

/// The greatest size of a piece in bytes, unless [`LEAST_OBJECTS`] objects are larger.
const PIECE_BYTES: usize = 1 << 15;

/// The least number of objects in a full piece.
const LEAST_OBJECTS: usize = 8;

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), spare: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// The binary logarithm of the number of objects in a full piece.
    const FULL_BITS: u32 = {
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        let fitting = PIECE_BYTES / size;
        if fitting < LEAST_OBJECTS { LEAST_OBJECTS.ilog2() } else { fitting.ilog2() }
    };

    const FULL: usize = 1 << Self::FULL_BITS;

    /// Returns the index of the piece that contains a row, and the index of the row in this piece.
    #[inline]
    const fn place(row: usize) -> (usize, usize) {
        (row.wrapping_shr(Self::FULL_BITS), row & Self::FULL.wrapping_sub(1))
    }

    pub(crate) fn len(&self) -> usize {
        let before = self.pieces.len().saturating_sub(1).saturating_mul(Self::FULL);
        self.pieces.last().map_or(0, |last| before.saturating_add(last.len()))
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&T> {
        let (piece, at) = Self::place(row);
        self.pieces.get(piece)?.get(at)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, row: usize) -> Option<&mut T> {
        let (piece, at) = Self::place(row);
        self.pieces.get_mut(piece)?.get_mut(at)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }

    pub(crate) fn push(&mut self, object: T) {
        self.extend(std::iter::once(object));
    }

    /// Adds objects at the end.
    pub(crate) fn extend(&mut self, objects: impl ExactSizeIterator<Item = T>) {
        let mut objects = objects;
        while objects.len() > 0 {
            match self.pieces.last_mut() {
                Some(last) if last.len() < Self::FULL => {
                    let free = Self::FULL.saturating_sub(last.len());
                    last.extend(objects.by_ref().take(free));
                }
                // The first piece grows like a vector, because most classes have few objects.
                None => self.pieces.push(Vec::new()),
                Some(_) => {
                    let mut piece = std::mem::take(&mut self.spare);
                    piece.reserve_exact(Self::FULL);
                    self.pieces.push(piece);
                }
            }
        }
    }

    /// Removes the object in a row, and moves the last object to this row. Returns the removed object, or
    /// `None` if the row does not exist.
    pub(crate) fn swap_remove(&mut self, row: usize) -> Option<T> {
        if row >= self.len() {
            return None;
        }
        let moved = self.pieces.last_mut()?.pop()?;
        if self.pieces.last().is_some_and(Vec::is_empty) {
            self.spare = self.pieces.pop().unwrap_or_default();
        }
        match self.get_mut(row) {
            Some(removed) => Some(std::mem::replace(removed, moved)),
            None => Some(moved),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A type of which only few objects fit into a piece.
    type Large = [u16; 2_000];

    proptest! {
        #[test]
        fn rows_are_like_a_vector(steps in prop::collection::vec((0..40_usize, any::<bool>()), 0..60)) {
            let (mut rows, mut vector) = (Rows::<Large>::default(), Vec::new());
            let mut next = 0;
            for (number, is_added) in steps {
                if is_added {
                    let added = || (next..next + number).map(|value| [value as u16; 2_000]);
                    rows.extend(added());
                    vector.extend(added());
                    next += number;
                } else if number < vector.len() {
                    prop_assert_eq!(rows.swap_remove(number), Some(vector.swap_remove(number)));
                } else {
                    prop_assert_eq!(rows.swap_remove(number.max(vector.len())), None);
                }
                prop_assert_eq!(rows.len(), vector.len());
                prop_assert!(rows.iter().eq(&vector));
                for row in 0..vector.len() + 9 {
                    prop_assert_eq!(rows.get(row), vector.get(row));
                    prop_assert_eq!(rows.get_mut(row), vector.get_mut(row));
                }
                prop_assert!(rows.pieces.iter().all(|piece| !piece.is_empty()));
            }
        }
    }
}
