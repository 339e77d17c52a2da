//! A pool of shared buffers. Records of packets may refer to a buffer for some time after the tick that
//! filled it.
//!
//! *Invariant:* a buffer is filled again only after the last reference to it was dropped.

use std::sync::Arc;

/// Buffers of one kind. `T` keeps its memory when it is cleared.
#[derive(Debug)]
pub(super) struct Pool<T> {
    /// Buffers of earlier ticks that records of packets may still refer to.
    in_use: Vec<Arc<T>>,
    /// Buffers to which no record of a packet refers any more. Their memory is reused for new buffers.
    free: Vec<Arc<T>>,
    /// The greatest number of buffers that any tick has filled since spare buffers were last freed.
    most: usize,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { in_use: Vec::new(), free: Vec::new(), most: 0 }
    }
}

impl<T: Default> Pool<T> {
    /// Takes back the buffers of the last tick, and the buffers of earlier ticks to which no record refers
    /// any more.
    pub(super) fn reclaim(&mut self, last: &mut Vec<Arc<T>>) {
        self.most = self.most.max(last.len());
        self.in_use.append(last);
        let Self { in_use, free, .. } = self;
        free.extend(in_use.extract_if(.., |buffer| Arc::strong_count(buffer) == 1));
    }

    /// Frees spare buffers. Keeps at most as many buffers as any tick since the last call has filled, and
    /// clears the kept buffers with `clear`.
    pub(super) fn end_round(&mut self, clear: impl FnMut(&mut T)) {
        self.free.truncate(std::mem::take(&mut self.most));
        self.free.iter_mut().filter_map(Arc::get_mut).for_each(clear);
    }

    /// Returns a buffer that is new or that `clear` has cleared.
    pub(super) fn blank(&mut self, clear: impl FnOnce(&mut T)) -> Arc<T> {
        let mut buffer = self.free.pop().unwrap_or_default();
        if let Some(buffer) = Arc::get_mut(&mut buffer) {
            clear(buffer);
        }
        buffer
    }

    /// Puts an unused buffer back.
    pub(super) fn give_back(&mut self, buffer: Arc<T>) {
        self.free.push(buffer);
    }

    /// Takes back buffers that are not sent.
    pub(super) fn withdraw(&mut self, buffers: impl IntoIterator<Item = Arc<T>>) {
        self.in_use.extend(buffers);
    }
}
