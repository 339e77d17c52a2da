//! Packets that wait to be sent, in the order in which they were added. They are stored one after another in
//! pages, because the server sends hundreds of packets at the same time to a client that has just connected.
//! An allocation for each packet would take longer than copying it.
//!
//! *Invariant:* each packet is in one page. If one page is enough, it occupies about as much memory as its
//! packets need. Each further page occupies [`PAGE_BYTES`].

use std::collections::VecDeque;

use repl_core::__private::{preload, preload_all};

use crate::spare::{Spare, shrink_sparse};

/// The size of a page in bytes.
const PAGE_BYTES: usize = 1 << 14;

/// The first page is never shrunk below this many bytes.
const LEAST_BYTES: usize = 2_048;

#[derive(Debug, Default)]
pub(crate) struct PacketPages {
    /// The pages. The first page may begin with the bytes of packets that were already removed.
    pages: VecDeque<Vec<u8>>,
    /// The position of the first packet in the first page, in bytes.
    start: usize,
    /// The numbers of bytes of the packets.
    lengths: VecDeque<u32>,
    /// The greatest length of the first page in this round (see [`ROUND_TICKS`](crate::spare::ROUND_TICKS)).
    most: usize,
    /// The total capacity of all pages, in bytes.
    page_bytes: usize,
    spare: Spare<Vec<u8>>,
}

impl PacketPages {
    /// Appends a packet of `length` bytes. The function `write` appends these bytes to a page.
    pub(crate) fn push(&mut self, length: usize, write: impl FnOnce(&mut Vec<u8>)) {
        if self.is_empty() {
            self.pages.iter_mut().for_each(Vec::clear);
            self.start = 0;
        }
        let has_room = |page: &Vec<u8>| page.len() + length <= PAGE_BYTES;
        if !self.pages.back().is_some_and(has_room) {
            self.add_page();
        }
        let is_first = self.pages.len() == 1;
        let Some(page) = self.pages.back_mut() else { return };
        self.page_bytes -= page.capacity();
        page.reserve_exact(length);
        write(page);
        self.page_bytes += page.capacity();
        if is_first {
            self.most = self.most.max(page.len());
        }
        self.lengths.push_back(length as u32);
    }

    fn add_page(&mut self) {
        let mut page = self.spare.take();
        if !self.pages.is_empty() {
            page.reserve_exact(PAGE_BYTES);
        }
        self.page_bytes += page.capacity();
        self.pages.push_back(page);
    }

    pub(crate) fn pop(&mut self) -> Option<&[u8]> {
        let length = self.lengths.pop_front()? as usize;
        if self.pages.front().is_some_and(|page| page.len() == self.start) {
            self.remove_page();
        }
        let start = self.start;
        self.start += length;
        self.pages.front()?.get(start..self.start)
    }

    /// Removes the first page, whose packets were all removed.
    fn remove_page(&mut self) {
        let Some(mut page) = self.pages.pop_front() else { return };
        self.page_bytes -= page.capacity();
        page.clear();
        self.spare.put(page);
        self.start = 0;
    }

    /// Returns the packets, from the newest to the oldest.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &[u8]> {
        let (mut pages, mut end) = (self.pages.iter().rev().peekable(), None);
        self.lengths.iter().rev().map_while(move |&length| {
            while end.unwrap_or_else(|| pages.peek().map_or(0, |page| page.len())) == 0 {
                pages.next()?;
                end = None;
            }
            let page = pages.peek()?;
            let packet_end = end.unwrap_or(page.len());
            let start = packet_end.checked_sub(length as usize)?;
            end = Some(start);
            page.get(start..packet_end)
        })
    }

    /// Returns the number of bytes of the first packet.
    pub(crate) fn first_length(&self) -> Option<usize> {
        self.lengths.front().map(|&length| length as usize)
    }

    /// Returns the number of bytes of all packets. Costs O(packets).
    pub(crate) fn bytes(&self) -> usize {
        self.lengths.iter().map(|&length| length as usize).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Loads into the processor cache the lists that are read when a packet is added or removed.
    pub(crate) fn preload_lists(&self) {
        self.pages.front().into_iter().for_each(preload);
        self.lengths.front().into_iter().for_each(preload);
    }

    /// Loads into the processor cache the packet that is removed next. If there is no packet, loads the
    /// memory for the next packet that is added. Call it some time after
    /// [`preload_lists`](Self::preload_lists), because it reads the lists.
    pub(crate) fn preload_next(&self) {
        if let Some(page) = self.pages.front() {
            let start = if self.is_empty() { 0 } else { self.start };
            let length = self.first_length().unwrap_or(LEAST_BYTES).min(page.len() - start);
            preload_all(&page[start..start + length]);
        }
    }

    /// Returns how many bytes of memory the packets and the spare pages occupy. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.page_bytes + self.lengths.capacity() * size_of::<u32>() + self.spare.held_bytes()
    }

    /// Frees the memory that no packet needs.
    pub(crate) fn free_spare(&mut self) {
        self.spare.clear();
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        let most = std::mem::take(&mut self.most);
        if self.is_empty()
            && let Some(page) = self.pages.front_mut()
            && page.capacity() > LEAST_BYTES.max(4 * most)
        {
            self.page_bytes -= page.capacity();
            *page = Vec::with_capacity(2 * most);
            self.page_bytes += page.capacity();
            self.start = 0;
        }
        shrink_sparse(&mut self.lengths);
        shrink_sparse(&mut self.pages);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::spare::ROUND_TICKS;

    /// Returns a packet of `length` bytes. Packets with different numbers have different bytes.
    fn packet(number: usize, length: usize) -> Vec<u8> {
        (0..length).map(|at| (number * 31 + at) as u8).collect()
    }

    fn push(pages: &mut PacketPages, packet: &[u8]) {
        pages.push(packet.len(), |page| page.extend_from_slice(packet));
    }

    /// Adds packets of 1,000 bytes, and removes them.
    fn tick(pages: &mut PacketPages, packets: usize) {
        (0..packets).for_each(|number| push(pages, &packet(number, 1_000)));
        (0..packets).for_each(|number| assert_eq!(pages.pop(), Some(packet(number, 1_000).as_slice())));
        assert_eq!(pages.pop(), None);
    }

    proptest! {
        #[test]
        fn packets_are_removed_in_the_order_in_which_they_were_added(
            steps in prop::collection::vec((0..8_u8, 1..20_000_usize), 0..300),
        ) {
            let (mut pages, mut naive) = (PacketPages::default(), VecDeque::new());
            for (number, (kind, length)) in steps.into_iter().enumerate() {
                match kind {
                    0..=3 => {
                        // Most packets are much smaller than a page, and some are larger.
                        let packet = packet(number, if kind == 0 { length } else { length / 20 + 1 });
                        push(&mut pages, &packet);
                        naive.push_back(packet);
                    }
                    4..=6 => prop_assert_eq!(pages.pop().map(<[u8]>::to_vec), naive.pop_front()),
                    _ if length < 2_000 => pages.free_spare(),
                    _ => pages.end_round(),
                }
                prop_assert_eq!(pages.first_length(), naive.front().map(Vec::len));
                let newest_first = pages.newest_first().map(<[u8]>::to_vec);
                prop_assert!(newest_first.eq(naive.iter().rev().cloned()));
                prop_assert_eq!(pages.bytes(), naive.iter().map(Vec::len).sum::<usize>());
                prop_assert_eq!(pages.is_empty(), naive.is_empty());
                prop_assert_eq!(pages.page_bytes, pages.pages.iter().map(Vec::capacity).sum::<usize>());
                pages.preload_next();
            }
        }
    }

    #[test]
    fn the_memory_of_a_burst_is_freed_after_two_rounds() {
        let mut pages = PacketPages::default();
        tick(&mut pages, 500);
        assert!((500_000..=600_000).contains(&pages.held_bytes()), "{} bytes", pages.held_bytes());
        for _ in 0..2 {
            (0..ROUND_TICKS).for_each(|_| tick(&mut pages, 3));
            pages.end_round();
        }
        assert!((3_000..=8_192).contains(&pages.held_bytes()), "{} bytes", pages.held_bytes());
        let held = pages.held_bytes();
        tick(&mut pages, 3);
        assert_eq!(pages.held_bytes(), held, "what each tick needs is kept");
        pages.free_spare();
        assert_eq!(pages.held_bytes(), 0);
    }

    #[test]
    fn ticks_with_as_many_packets_as_before_allocate_nothing() {
        let mut pages = PacketPages::default();
        (0..3).for_each(|_| tick(&mut pages, 100));
        let held = pages.held_bytes();
        for _ in 0..4 * ROUND_TICKS {
            tick(&mut pages, 100);
            assert_eq!(pages.held_bytes(), held);
        }
    }
}
