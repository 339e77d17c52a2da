//! Blobs: updates that are too large for one packet. A blob is sent in parts, and the client applies it when
//! all parts have arrived (R15).
//!
//! *Invariant:* while a blob with an update of an object is in flight, no other update of this object is sent
//! to the connection.

use repl_core::{BitSlice, BitWriter, Changelist, HandleSet};
use repl_link::parts::{Cut, Sequence};

use crate::body::contents::{Content, Sent};

/// Whether a part of a blob must be sent, is in flight, or has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Unsent,
    /// The newest packet that contains the part.
    InFlight(Sequence),
    Arrived,
}

/// An update of an object that is sent in parts.
#[derive(Debug)]
pub(crate) struct Blob {
    pub(crate) id: u32,
    /// The object and the content of the blob.
    pub(crate) sent: Sent,
    /// The number of the first packet of the tick in which the values were written.
    pub(crate) stamp: Sequence,
    bytes: Vec<u8>,
    pub(crate) cut: Cut,
    parts: Vec<Part>,
    /// Whether the traffic statistics have counted the blob, which they do only once.
    is_counted: bool,
}

impl Blob {
    pub(crate) fn part(&self, index: u32) -> BitSlice<'_> {
        self.cut.part(index as usize, &self.bytes)
    }

    /// Returns the indices of the parts that must be sent, because they are not in flight and have not
    /// arrived.
    pub(crate) fn unsent(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().zip(0..).filter(|(part, _)| **part == Part::Unsent).map(|(_, index)| index)
    }

    fn set(&mut self, index: u32, part: Part) {
        if let Some(known) = self.parts.get_mut(index as usize)
            && *known != Part::Arrived
        {
            *known = part;
        }
    }

    fn is_complete(&self) -> bool {
        self.parts.iter().all(|part| *part == Part::Arrived)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Blobs {
    blobs: Vec<Blob>,
    next_id: u32,
}

/// The greatest number of blobs that may be in flight on a connection at the same time.
pub(crate) const MAX_BLOBS: usize = 8;

/// The ids of the blobs in flight differ by less than this number, so each fragment has room for a list of
/// all blobs in flight.
pub(crate) const BLOB_SPAN: u32 = 16;

impl Blobs {
    /// Returns whether a blob of `bytes` bytes may begin. All blobs in flight together may have at most
    /// `max_bytes` bytes, because the client accepts no more. A blob may always begin if no other blob is in
    /// flight.
    pub(crate) fn has_room(&self, bytes: usize, max_bytes: usize) -> bool {
        let Some(oldest) = self.blobs.first() else { return true };
        let under_way: usize = self.blobs.iter().map(|blob| blob.bytes.len()).sum();
        self.blobs.len() < MAX_BLOBS
            && self.next_id.wrapping_sub(oldest.id) < BLOB_SPAN
            && under_way + bytes <= max_bytes
    }

    /// Returns the blobs in flight: the id of the oldest one, and a bit mask with one bit for this id and for
    /// each id after it. A bit is set if the blob with this id is in flight.
    pub(crate) fn under_way(&self) -> (u32, u64) {
        let oldest = self.blobs.first().map_or(self.next_id, |blob| blob.id);
        let bits = self.blobs.iter().map(|blob| 1 << (blob.id.wrapping_sub(oldest) % BLOB_SPAN));
        (oldest, bits.fold(0, |mask, bit: u64| mask | bit))
    }

    /// Begins to send the bits of `body` as a blob, in parts of `part_bits` bits. Returns the id of the blob.
    pub(crate) fn begin(
        &mut self,
        sent: Sent,
        stamp: Sequence,
        body: &mut BitWriter,
        part_bits: usize,
    ) -> u32 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let cut = Cut { bit_len: body.bit_len(), part_bits };
        let parts = vec![Part::Unsent; cut.parts()];
        self.blobs.push(Blob {
            id,
            sent,
            stamp,
            bytes: body.finish().to_vec(),
            cut,
            parts,
            is_counted: false,
        });
        id
    }

    /// Returns all bits of a blob at the first call. Returns `None` at later calls, so that the traffic
    /// statistics count each blob once.
    pub(crate) fn count(&mut self, id: u32) -> Option<BitSlice<'_>> {
        let blob = self.blobs.iter_mut().find(|blob| blob.id == id)?;
        let is_counted = std::mem::replace(&mut blob.is_counted, true);
        if is_counted { None } else { blob.cut.whole_of(&blob.bytes) }
    }

    /// Returns whether a part of a blob has more than `part_bits` bits.
    pub(crate) fn are_larger_than(&self, part_bits: usize) -> bool {
        self.blobs.iter().any(|blob| blob.cut.bits_of(0) > part_bits)
    }

    /// Cuts all blobs into new parts of at most `part_bits` bits. The blobs get new ids, and acks and losses
    /// of their earlier parts are ignored. Returns the slots of their objects with the new ids.
    pub(crate) fn cut_anew(&mut self, part_bits: usize) -> Vec<(u32, u32)> {
        for blob in &mut self.blobs {
            blob.id = self.next_id;
            self.next_id = self.next_id.wrapping_add(1);
            blob.cut.part_bits = part_bits;
            blob.parts = vec![Part::Unsent; blob.cut.parts()];
        }
        self.blobs.iter().map(|blob| (blob.sent.slot, blob.id)).collect()
    }

    /// Returns about how many bytes of memory the blobs take. Costs O(number of blobs).
    pub(crate) fn held_bytes(&self) -> usize {
        let of = |blob: &Blob| {
            let list = blob.sent.content.list().map_or(0, Changelist::heap_bytes);
            size_of::<Blob>() + blob.bytes.capacity() + blob.parts.capacity() + list
        };
        self.blobs.iter().map(of).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blobs.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Blob> {
        self.blobs.iter()
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Blob> {
        self.blobs.iter_mut().find(|blob| blob.id == id)
    }

    /// Returns the properties in the opening of an object that the blob contains. Returns `None` if the blob
    /// does not contain an opening.
    pub(crate) fn opens_with(&self, id: u32) -> Option<&HandleSet> {
        let blob = self.blobs.iter().find(|blob| blob.id == id)?;
        match &blob.sent.content {
            Content::Open(list) => Some(list.handles()),
            _ => None,
        }
    }

    /// Records that the packet `sequence` contains the part `index` of the blob `id`.
    pub(crate) fn sent(&mut self, id: u32, index: u32, sequence: Sequence) {
        if let Some(blob) = self.get_mut(id) {
            blob.set(index, Part::InFlight(sequence));
        }
    }

    /// Records that the packet `sequence`, which contained the part `index` of the blob `id`, was lost. The
    /// part must be sent again, unless a later packet also contains it.
    pub(crate) fn lost(&mut self, id: u32, index: u32, sequence: Sequence) {
        if let Some(blob) = self.get_mut(id)
            && let Some(Part::InFlight(newest)) = blob.parts.get(index as usize)
            && *newest <= sequence
        {
            blob.set(index, Part::Unsent);
        }
    }

    /// Records that a part of a blob has arrived at the client. If all parts of the blob have arrived,
    /// removes the blob and returns it.
    pub(crate) fn arrived(&mut self, id: u32, index: u32) -> Option<Blob> {
        let at = self.blobs.iter().position(|blob| blob.id == id)?;
        let blob = self.blobs.get_mut(at)?;
        blob.set(index, Part::Arrived);
        blob.is_complete().then(|| self.blobs.remove(at))
    }

    /// Removes and returns a blob whose content must not be sent any more.
    pub(crate) fn abandon(&mut self, id: u32) -> Option<Blob> {
        let at = self.blobs.iter().position(|blob| blob.id == id)?;
        Some(self.blobs.remove(at))
    }
}
