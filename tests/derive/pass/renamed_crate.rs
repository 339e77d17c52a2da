//! The attribute `crate` says where generated code finds the library, as a string or as a path.

mod vendor {
    pub mod replication {
        pub use ::repl::*;
    }
}

/// Hides the library's own name.
#[allow(dead_code)]
mod repl {}

use vendor::replication::{NetSerialize, Replicated};

#[derive(Replicated, Default)]
#[replicated(crate = "crate::vendor::replication")]
struct Player {
    #[replicated(range = 0..=100)]
    health: u8,
    #[replicated]
    stance: Stance,
}

#[derive(NetSerialize, Clone, Default)]
#[replicated(crate = crate::vendor::replication)]
enum Stance {
    #[default]
    Idle,
    Run(u8),
}

fn main() {
    let player = Player { health: 1, stance: Stance::Run(2) };
    let Stance::Run(speed) = player.stance else { return assert!(matches!(Stance::Idle, Stance::Idle)) };
    assert_eq!((speed, player.health), (2, 1));
    Player::program();
}
