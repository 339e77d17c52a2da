//! Fast arrays for `repl`: arrays of items with identities of their own, whose deltas cost what changed and not how long the array is.
//!
//! Nothing is in it yet. The crate holds the place of fast arrays among the others: above `repl-core`, whose changelists its items use, and
//! below `repl-net`, which sends them. What belongs here:
//!
//! - `FastArray<T>`, which keeps an identity for each item, so that an item inserted or removed in the middle moves no other;
//! - a log of what changed since when, so that a connection is sent exactly what it lacks;
//! - guards that note each write to an item, so that none is forgotten;
//! - callbacks on clients for items that were added, changed and removed.
//!
//! Until then a `Vec` goes by index: an element inserted in the middle changes every one behind it.
//!
//! *Invariant:* like `repl-core`, this crate names no socket, clock or thread.
#![forbid(unsafe_code)]
