//! The two bags, which get the same changes, and the journal of the first client's callbacks.
//!
//! *Invariant:* after each change the plain bag is rebuilt from the fast bag, so both have the same content.
//! The server sends only what differs from the last state.

use repl::prelude::*;

use crate::journal::{self, Entry, Model};
use crate::link::Link;
use crate::model::{Bag, PlainBag, Stack};

/// How long clients may take to converge, in ticks of 1/60 s.
const PATIENCE: u32 = 3_600;

/// Both bags, with their servers and clients.
pub(crate) struct Bags {
    pub(crate) fast: Link<Bag>,
    pub(crate) plain: Link<PlainBag>,
    pub(crate) model: Model,
}

impl Bags {
    /// Makes bags with these stacks; no client has them yet.
    pub(crate) fn new(stacks: impl IntoIterator<Item = Stack>, seed: u64) -> Self {
        let bag = Bag { stacks: stacks.into_iter().collect() };
        let plain = Link::new(PlainBag::from(&bag), seed);
        Self { fast: Link::new(bag, seed), plain, model: Model::default() }
    }

    /// Changes both bags.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut FastArray<Stack>)) {
        change(&mut self.fast.live_mut().stacks);
        *self.plain.live_mut() = PlainBag::from(self.fast.live());
    }

    /// Runs one tick of both servers and clients. Returns the callbacks of the client with the fast bag,
    /// after it replayed them on the model and compared the model with the client's bag.
    pub(crate) fn tick(&mut self) -> Vec<Entry> {
        self.fast.tick();
        self.plain.tick();
        let (entries, calls_on_items) = journal::take();
        self.model.read(&entries, calls_on_items);
        if let Some(replica) = self.fast.replica() {
            self.model.compare(&replica.stacks);
        }
        entries
    }

    /// Ticks until both clients have the state of their servers and nothing is unacknowledged. Returns the
    /// callbacks that ran during these ticks.
    pub(crate) fn settle(&mut self) -> Vec<Entry> {
        let mut told = self.tick();
        for _ in 0..PATIENCE {
            if self.have_converged() && !self.fast.is_busy() && !self.plain.is_busy() {
                break;
            }
            told.extend(self.tick());
        }
        told
    }

    /// Returns whether both clients have the state of their servers, except prices, which are not replicated.
    pub(crate) fn have_converged(&self) -> bool {
        let (Some(fast), Some(plain)) = (self.fast.replica(), self.plain.replica()) else { return false };
        fast.stacks.iter().all(|stack| stack.price == 0)
            && journal::seen(&fast.stacks) == journal::seen(&self.fast.live().stacks)
            && plain.stacks == self.plain.live().stacks
    }

    /// Returns the reason for which the first of the two sessions ended, or the first mistake in the journal,
    /// if there is one.
    pub(crate) fn trouble(&self) -> Option<String> {
        let ended = self.fast.ended().or(self.plain.ended());
        ended.map(|reason| format!("a connection ended: {reason}")).or_else(|| self.model.mistake.clone())
    }

    /// Returns how many bits of state the client of each bag has received.
    pub(crate) fn bits(&self) -> Bits {
        Bits { fast: self.fast.bits(), plain: self.plain.bits() }
    }
}

/// Bits of the fast array and of the `Vec`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bits {
    pub(crate) fast: u64,
    pub(crate) plain: u64,
}

impl Bits {
    pub(crate) fn since(self, before: Self) -> Self {
        Self { fast: self.fast - before.fast, plain: self.plain - before.plain }
    }

    /// Returns the bits as whole bytes.
    pub(crate) fn bytes(self) -> (u64, u64) {
        (self.fast.div_ceil(8), self.plain.div_ceil(8))
    }
}
