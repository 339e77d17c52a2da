//! Property replication for games and simulations.

pub use repl_core::*;
pub use repl_derive::{NetSerialize, Replicated};
pub use repl_net::*;

/// What most programs need.
pub mod prelude {
    pub use repl_core::{Callbacks, Condition, NetSerialize, ObjectRef, Replicated};
    pub use repl_derive::{NetSerialize, Replicated};
    pub use repl_net::{
        Client, ClientConfig, ClientEvent, ConnectionId, Role, Server, ServerConfig, ServerEvent,
    };
}

#[doc(hidden)]
pub mod __private {
    pub use repl_core::__private::*;
}
