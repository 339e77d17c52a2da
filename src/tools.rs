//! Types for your own tools, tests and transports. They work on single objects without a server, and describe
//! the details of errors and statistics.
//!
//! [`Class`] compares an object with its shadow, which is a copy of the values that were compared last. It
//! writes the differences, and reads them into a replica. [`Changelist`] lists the differences, and
//! [`History`] stores these lists for receivers that lack several of them:
//!
//! ```
//! use repl::prelude::*;
//! use repl::tools::{Changelist, Class, HandleSet, Scratch};
//!
//! #[derive(Replicated, Default)]
//! struct Player {
//!     #[replicated]
//!     health: u16,
//!     #[replicated]
//!     ammo: u16,
//! }
//!
//! let class = Class::<Player>::new();
//! let (player, mut shadow) = (Player { health: 0, ammo: 5 }, Player::default());
//! let all = HandleSet::up_to(class.program().handles());
//! let (mut changes, mut refusals) = (Changelist::new(), Vec::new());
//! class.compare(&player, &mut shadow, &all, &mut changes, &mut refusals, &mut Scratch::default());
//! assert_eq!(changes.handles().iter().collect::<Vec<_>>(), [2]);
//! assert_eq!(shadow.ammo, 5);
//! ```
pub use repl_core::wire;
pub use repl_core::{
    BitSlice, Changelist, Checked, Class, Counts, DecodeError, Form, HandleSet, History, Keyed, LayoutOf,
    Objects, Observer, Program, Scratch, Shadow, ViewFlags,
};
pub use repl_net::{ClassTraffic, Difference, LayoutMismatch, Limit, LimitMismatch, PropertyTraffic, Side};
