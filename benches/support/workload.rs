//! Workloads: the fields and players that change in a tick.
//!
//! *Invariant:* a workload writes the same values to every candidate, and each write changes its field.

/// A world with players that a workload changes.
pub(crate) trait Arena {
    /// Writes the health of player `index`.
    fn set_health(&mut self, index: u32, health: u16);
    /// Writes the position and the yaw of player `index`.
    fn turn(&mut self, index: u32, position: [f32; 3], yaw: f32);
}

/// The players that a tick writes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// None.
    Nothing,
    /// In each tick, one field of one player in this many changes.
    Health(u32),
    /// Position and yaw of every player: 16 bytes.
    Movement,
}

/// A number of players, and their changes.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) players: u32,
    pub(crate) change: Change,
}

impl Workload {
    /// All measured workloads.
    pub(crate) const ALL: [Self; 4] = [
        Self { name: "w1_idle", players: 10_000, change: Change::Nothing },
        Self { name: "w2_1_percent", players: 10_000, change: Change::Health(100) },
        Self { name: "w3_all_move", players: 2_000, change: Change::Movement },
        Self { name: "all_change", players: 10_000, change: Change::Health(1) },
    ];

    /// Returns how many players a tick changes.
    #[allow(dead_code, reason = "each bench uses a part")]
    pub(crate) fn changed(&self) -> u32 {
        match self.change {
            Change::Nothing => 0,
            Change::Health(one_in) => self.players / one_in,
            Change::Movement => self.players,
        }
    }

    /// Makes the changes of tick `step`. Steps must ascend.
    #[inline]
    pub(crate) fn apply(&self, step: u32, arena: &mut impl Arena) {
        match self.change {
            Change::Nothing => {}
            Change::Health(one_in) => {
                for group in 0..self.players / one_in {
                    // The changed players are spread over the memory, and each tick changes other players.
                    let index = group * one_in + (group + step).wrapping_mul(0x9e37_79b1) % one_in;
                    arena.set_health(index, 1_000 + (step % 50_000) as u16);
                }
            }
            Change::Movement => {
                let moved = (step % 0x0010_0000) as f32 + 1.0;
                for index in 0..self.players {
                    let place = index as f32 * 0.25;
                    arena.turn(index, [place + moved, moved, place - moved], moved * 0.001);
                }
            }
        }
    }
}
