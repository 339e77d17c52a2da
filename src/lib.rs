//! Property replication for games and simulations.

pub use repl_core::*;
pub use repl_derive::{NetSerialize, Replicated};

#[doc(hidden)]
pub mod __private {
    pub use repl_core::__private::*;
}
