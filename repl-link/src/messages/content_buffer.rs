//! The contents of the messages that a channel stores. All contents are in one buffer, so that a message
//! needs no separate allocation.
//!
//! *Invariant:* contents are removed in the order in which they were added.

/// Contents are moved to the front of the buffer when this many bytes and half of the buffer are unused.
const LEAST_UNUSED_BYTES: usize = 1 << 10;

#[derive(Debug, Default)]
pub(super) struct ContentBuffer {
    bytes: Vec<u8>,
    /// How many bytes at the front of the buffer belong to contents that were removed.
    unused: usize,
    /// The position of the first byte of the buffer, counted from the first byte that was ever added.
    start: u64,
}

impl ContentBuffer {
    /// Adds a content. Returns its position, which stays the same when the buffer moves its contents.
    pub(super) fn add(&mut self, content: &[u8]) -> u64 {
        let position = self.start.saturating_add(self.bytes.len() as u64);
        self.bytes.extend_from_slice(content);
        position
    }

    /// Returns the content of `len` bytes at a position.
    pub(super) fn get(&self, position: u64, len: usize) -> &[u8] {
        let at = usize::try_from(position.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.bytes.get(at..at.saturating_add(len)).unwrap_or_default()
    }

    /// Removes the oldest content, which has `len` bytes. Costs amortised O(`len`).
    pub(super) fn remove_first(&mut self, len: usize) {
        self.unused = self.unused.saturating_add(len).min(self.bytes.len());
        let is_empty = self.unused == self.bytes.len();
        if is_empty || self.unused >= LEAST_UNUSED_BYTES.max(self.bytes.len() / 2) {
            self.start = self.start.saturating_add(self.unused as u64);
            self.bytes.drain(..self.unused);
            self.unused = 0;
        }
    }

    /// Returns how many bytes the contents take.
    #[cfg(test)]
    pub(super) fn stored_bytes(&self) -> usize {
        self.bytes.len() - self.unused
    }

    /// Frees memory if most of the buffer is empty.
    pub(super) fn shrink(&mut self) {
        if self.bytes.capacity() > LEAST_UNUSED_BYTES.max(self.bytes.len().saturating_mul(4)) {
            self.bytes.shrink_to(self.bytes.len().saturating_mul(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn contents_are_found_as_they_were_added(
            steps in vec((vec(any::<u8>(), 0..400), 0..4_usize), 1..200),
        ) {
            let (mut contents, mut model) = (ContentBuffer::default(), VecDeque::new());
            for (content, removed) in steps {
                model.push_back((contents.add(&content), content));
                for _ in 0..removed {
                    let Some((_, content)) = model.pop_front() else { break };
                    contents.remove_first(content.len());
                }
                if removed == 3 {
                    contents.shrink();
                }
                for (position, content) in &model {
                    prop_assert_eq!(contents.get(*position, content.len()), content.as_slice());
                }
                let stored: usize = model.iter().map(|(_, content)| content.len()).sum();
                prop_assert!(contents.bytes.len() <= 2 * stored + LEAST_UNUSED_BYTES);
            }
            model.into_iter().for_each(|(_, content)| contents.remove_first(content.len()));
            contents.shrink();
            prop_assert_eq!(contents.bytes.len(), 0);
            prop_assert!(contents.bytes.capacity() <= LEAST_UNUSED_BYTES);
        }
    }
}
