//! The attribute `crate` says where generated code finds the library, as a string or as a path.

mod vendor {
    pub mod replication {
        pub use ::repl::*;
    }
}

/// Hides the name `repl`, so that generated code cannot use it.
#[allow(dead_code)]
mod repl {}

use vendor::replication::{NetSerialize, Replicated, Rpcs, ServerCall, rpcs};

#[derive(Replicated, Default)]
#[replicated(crate = "crate::renamed_crate::vendor::replication")]
struct Player {
    #[replicated(range = 0..=100)]
    health: u8,
    #[replicated]
    stance: Stance,
}

#[rpcs(crate = "crate::renamed_crate::vendor::replication")]
impl Player {
    #[rpc(server, reliable, validate = may_run)]
    fn run(call: &mut ServerCall<'_, Self>, speed: u8) {
        call.stance = Stance::Run(speed);
    }

    fn may_run(&self, _: vendor::replication::ConnectionId, speed: &u8) -> bool {
        self.health >= *speed
    }
}

#[derive(NetSerialize, Clone, Default)]
#[replicated(crate = crate::renamed_crate::vendor::replication)]
enum Stance {
    #[default]
    Idle,
    Run(u8),
}

#[test]
fn these_forms_are_accepted() {
    let player = Player { health: 1, stance: Stance::Run(2) };
    let Stance::Run(speed) = player.stance else { return assert!(matches!(Stance::Idle, Stance::Idle)) };
    assert_eq!((speed, player.health), (2, 1));
    Player::program();
    assert_eq!(Player::CALLS.len(), 1);
}
