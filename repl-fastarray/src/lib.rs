//! Fast arrays for `repl`: arrays of items with identities of their own, whose deltas cost what changed and not how long the array is.
//!
//! ```
//! use repl_fastarray::FastArray;
//!
//! let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
//! let id = scores.push(40);
//!
//! scores.sort_by(|one, other| other.cmp(one)); // ids go with their items, and no client is told
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
//! Users go through `repl`, which re-exports this crate beside the derive for items, server and client.
//!
//! # What this crate does not do
//!
//! It holds items and knows which of them were touched. What differs in an item, how that travels, and what each client still lacks is the business
//! of `repl-core` and `repl-net`, which know an array as a [`Keyed`](repl_core::Keyed) collection.
//!
//! With the feature `serde` arrays are written and read as sequences of their items, without ids, and ids as their numbers.
//!
//! # The three types to know
//!
//! - [`FastArray`] is the array; [`OrderedFastArray`] is its sister for items whose order matters.
//! - [`ItemMut`] is an item that may be written to, and notes whether it was.
//! - [`ItemCallbacks`] is what items and arrays are told on clients.
//!
//! # Guarantees
//!
//! - What is written to an item through the array is sent; nothing need be marked by hand (S138 to S142).
//! - An item keeps its id wherever it moves, and no other item gets that id; a clone is a new item (S137).
//! - No removed item survives on a client, and no item that is there is removed (S172, S173).
//! - A callback runs for what came into an array that stays, changed in it or went from it, and for nothing else (S178, S179); [`ItemCallbacks`] says
//!   when none does.
//! - Items that a client adds by itself stay, and are never taken for items of the server (S183).
//! - The items of an ordered array stand on clients as they stand on the server: after every update on a link without loss, and when all has
//!   arrived on any (R13).
//!
//! Not guaranteed: the order of the items of other arrays on clients (S180).
//!
//! S, R and W numbers name statements and rules: the front page of `repl` says where they stand.
//!
//! *Invariant:* like `repl-core`, this crate names no socket, clock or thread. Its one use of `unsafe` states the shape of an array.
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod array;
mod both;
mod follow;
mod ids;
mod item;
mod marks;
pub mod ordered;
mod places;
mod replica;
mod sequence;

pub use array::{FastArray, IterMut};
pub use item::{ArrayUpdate, ChangedProperties, FastArrayItem, ItemCallbacks};
pub use marks::ItemMut;
pub use ordered::OrderedFastArray;

/// For code made by the derives; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::item::{
        FastArrayItem, ItemCallbacks, ItemsTold, LeafItem, SaysItemCallbacks, value_callbacks,
    };
}
