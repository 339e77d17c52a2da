//! Fast arrays for `repl`: arrays that send only the items that changed.
//!
//! Each item of a fast array has an id. Because items have ids, the cost of an update depends on the number
//! of changed items, and not on the length of the array.
//!
//! ```
//! use repl_fastarray::FastArray;
//!
//! let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
//! let id = scores.push(40);
//!
//! scores.sort_by(|one, other| other.cmp(one)); // ids stay with their items, and nothing is sent
//! assert_eq!(scores.index_of(id), Some(0));
//!
//! for mut score in scores.iter_mut() {
//!     if *score < 20 {
//!         *score += 5; // marks this one item, so that it is sent
//!     }
//! }
//! scores[0] = 41; // so does this
//! assert_eq!(scores, [41, 30, 20, 15]);
//!
//! assert_eq!(scores.remove(0), 41);
//! assert_eq!(scores.by_id(id), None);
//! ```
//!
//! A [`ReplicatedMap`] is a `HashMap` that records which entries were written to. The cost of its updates
//! also depends only on the number of changes.
//!
//! Users depend on `repl`, which re-exports this crate together with the derive macro for items, the server
//! and the client.
//!
//! # What this crate does not do
//!
//! This crate stores items and marks the items that are written to. The crate does not compare, encode or
//! send items, and does not know which items a client lacks. `repl-core` and `repl-net` compare, encode and
//! send items through the trait [`Keyed`](repl_core::Keyed).
//!
//! With the feature `serde`, an array is serialized as the sequence of its items, without ids. An item id is
//! serialized as a number.
//!
//! # The three types to know
//!
//! - [`FastArray`] is the array whose items may have another order on clients. [`OrderedFastArray`] keeps the
//!   order of the items on clients.
//! - [`ItemMut`] is a mutable reference to an item that marks the item as changed at the first write.
//! - [`ItemCallbacks`] is the trait with the functions that a client calls when items arrive, change or are
//!   removed.
//!
//! # Guarantees
//!
//! - Every write to an item through the array is sent. Users need not mark the item themselves. Only the
//!   methods with `unmarked` in their names do not mark it.
//! - An item keeps its id wherever it moves, and no other item receives that id. A clone of an item is a new
//!   item (S137).
//! - Clients remove exactly the items that the server removed (S172, S173).
//! - Callbacks run for each item that is added to, changed in or removed from an array that itself remains,
//!   and for no other item (S178, S179). [`ItemCallbacks`] lists the cases in which no callback runs.
//! - Items that a client's own code adds to an array remain there, and are never confused with items of the
//!   server (S183).
//! - The items of an ordered array have the same order on clients as on the server: after every update if no
//!   packet is lost, otherwise after all updates have arrived (R13).
//!
//! Not guaranteed: the order of the items of a [`FastArray`] on clients (S180).
//!
//! The numbers S, R and W in parentheses refer to guarantees. The front page of `repl` says where they are
//! explained.
//!
//! *Invariant:* this crate uses no socket, clock or thread. The only `unsafe` in `repl-fastarray` is the
//! `unsafe impl Property` of the two arrays and of the map.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]
#![warn(missing_docs)]

mod array;
mod both;
mod follow;
mod ids;
mod indices;
mod item;
pub mod map;
mod marks;
pub mod ordered;
mod replica;
mod sequence;

pub use array::{FastArray, IterMut};
pub use item::{ArrayUpdate, ChangedProperties, FastArrayItem, ItemCallbacks};
pub use map::{ReplicatedMap, ValueMut};
pub use marks::ItemMut;
pub use ordered::OrderedFastArray;

/// Only for code that the derive macros generate.
#[doc(hidden)]
pub mod __private {
    pub use crate::item::{
        FastArrayItem, ItemCallbackPolicy, ItemCallbacks, LeafItem, SaysItemCallbacks, value_callbacks,
    };
}
