//! Sends blobs: updates that are too large for a packet, cut into parts (R15).
//!
//! *Invariant:* while a blob of an object is in flight, nothing else of the object is sent.

use std::time::Duration;

use repl_core::{BitSlice, BitWriter};
use repl_link::parts::Sequence;

use super::Connection;
use super::context::{OPEN_BITS, PassContext};
use crate::body::blob::MAX_BLOBS;
use crate::body::contents::{Content, Sent};
use crate::body::fragment::FragmentHead;
use crate::body::segment::{ENTRY_BITS, SegmentKind, SegmentWriter, handles_bits};
use crate::body::writing::WriteState;

impl Connection {
    /// Begins to send one update of an object as a blob (data in several parts). The values of the update are
    /// already in the scratch buffer. If too many blobs are in flight, the object waits until the blob can
    /// begin.
    pub(super) fn send_blob(
        &mut self,
        kind: SegmentKind,
        sent: Sent,
        context: &mut PassContext<'_>,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter, BitSlice<'_>),
    ) {
        let slot = sent.slot;
        let count = context.world.store.column_of(slot).program().handles();
        let head_bits = ENTRY_BITS + OPEN_BITS + handles_bits(count);
        let bytes = (head_bits + context.scratch.values.bit_len()).div_ceil(8);
        if !self.copies.blobs.has_room(bytes, context.world.store.limits.max_object_bytes) {
            self.copies.objects.wait_for_blob(slot, bytes);
            return;
        }
        let (mut body, mut segment) = (BitWriter::new(), SegmentWriter::default());
        segment.begin(kind, 0, &mut body);
        write(&mut segment, &mut body, context.scratch.values.as_slice());
        segment.end(&mut body);
        body.write_bits(0, 1);
        let part_bits = self.part_bits();
        let stamp = self.link.outbox.stamp();
        self.copies.objects.blob_begun(slot, self.copies.blobs.begin(sent, stamp, &mut body, part_bits));
        // The object must go into another packet, because a packet may contain each object only once. A
        // packet with the last missing part of a blob also counts as containing the object of the blob.
        self.link.outbox.flush(context.now);
        self.send_parts(context.now);
    }

    /// Returns how many bits a part of a blob may have.
    fn part_bits(&self) -> usize {
        self.link.outbox.capacity() - ENTRY_BITS - FragmentHead::BITS
    }

    /// Divides all blobs again, because packets have become smaller. The client handles them as new blobs.
    fn cut_blobs_anew(&mut self) {
        for (slot, id) in self.copies.blobs.cut_anew(self.part_bits()) {
            self.copies.objects.blob_begun(slot, id);
        }
    }

    /// Sends the parts of blobs that are neither in flight nor acknowledged.
    pub(super) fn send_parts(&mut self, now: Duration) {
        if self.copies.blobs.is_empty() {
            return;
        }
        if self.copies.blobs.are_larger_than(self.part_bits()) {
            self.cut_blobs_anew();
        }
        let under_way = self.copies.blobs.under_way();
        let mut sent_parts: Vec<(u32, u32, Sequence)> = Vec::with_capacity(MAX_BLOBS);
        for blob in self.copies.blobs.iter() {
            for index in blob.unsent() {
                let part = blob.part(index);
                if !self.link.outbox.make_room(ENTRY_BITS + FragmentHead::BITS + part.len(), now) {
                    break;
                }
                let Sent { slot, generation, .. } = blob.sent;
                let sent = Sent { slot, generation, content: Content::Fragment { blob: blob.id, index } };
                let sequence = self.link.outbox.sequence();
                let head = FragmentHead {
                    blob: blob.id,
                    under_way,
                    stamp: blob.stamp,
                    cut: blob.cut,
                    index: index as usize,
                };
                self.copies.objects.blob_part_sent(slot, sequence);
                self.link.outbox.entry(SegmentKind::Fragment, 0, sent, |segment, writer| {
                    segment.slot(slot, writer);
                    head.write(sequence, writer);
                    writer.append(part);
                });
                sent_parts.push((blob.id, index, sequence));
            }
        }
        for (id, index, sequence) in sent_parts {
            self.copies.blobs.sent(id, index, sequence);
        }
    }
}
