//! Records a match frame by frame, for its picture.
//!
//! *Invariant:* recording does not change the match.

use repl::prelude::*;

use arena_game::model::Player;
use arena_game::plane::Vec2;
use arena_game::session::Session;

/// The number of ticks from one frame to the next: a second has fifteen frames.
pub(crate) const FRAME_TICKS: u32 = 4;

/// A match, frame by frame.
#[derive(Default)]
pub(crate) struct Film {
    /// One track for each player, in the order of `Arena::players`.
    pub(crate) tracks: Vec<Track>,
    /// For each frame, the bytes that were sent to all clients together since the match began.
    pub(crate) bytes: Vec<u64>,
}

/// The recorded path and deaths of one player.
#[derive(Default)]
pub(crate) struct Track {
    /// One step for each frame.
    pub(crate) steps: Vec<Step>,
    /// The points where the player died.
    pub(crate) deaths: Vec<Vec2>,
}

/// A player in a frame.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// The player's position on the server. `None` while the player is dead.
    pub(crate) position: Option<Vec2>,
    /// Whether the first client shows the player.
    pub(crate) is_seen: bool,
}

impl Film {
    /// Looks at a match after a tick.
    pub(crate) fn record(&mut self, session: &Session, tick: u32) {
        if !tick.is_multiple_of(FRAME_TICKS) {
            return;
        }
        let players = &session.arena.players;
        self.tracks.resize_with(players.len(), Track::default);
        for (track, &player) in self.tracks.iter_mut().zip(players) {
            track.record(session, player);
        }
        self.bytes.push(session.sent().0);
    }
}

impl Track {
    fn record(&mut self, session: &Session, player: ObjectRef<Player>) {
        let now = &session.server[player];
        let was_alive = self.steps.last().is_some_and(|step| step.position.is_some());
        if was_alive && !now.is_alive() {
            self.deaths.push(now.position);
        }
        let is_seen = session.guests.first().is_some_and(|guest| guest.client.contains(player));
        self.steps.push(Step { position: now.is_alive().then_some(now.position), is_seen });
    }

    /// Returns the parts of the player's path on which it was alive and on which the first client saw it
    /// (`is_seen`) or did not see it (not `is_seen`).
    pub(crate) fn ways(&self, is_seen: bool) -> Vec<Vec<Vec2>> {
        let mut ways = vec![Vec::new()];
        for pair in self.steps.windows(2) {
            match (pair[0].position, pair[1].position) {
                (Some(from), Some(to)) if pair[1].is_seen == is_seen => {
                    if ways.last().is_none_or(Vec::is_empty) {
                        ways.push(vec![from]);
                    }
                    ways.last_mut().into_iter().for_each(|way| way.push(to));
                }
                _ => ways.push(Vec::new()),
            }
        }
        ways.retain(|way| !way.is_empty());
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_ends_where_a_player_dies_or_is_no_longer_seen() {
        let step = |x: Option<f32>, is_seen| Step { position: x.map(|x| [x, 0.0]), is_seen };
        let steps = vec![
            step(Some(0.0), true),
            step(Some(1.0), true),
            step(Some(2.0), false),
            step(Some(3.0), false),
            step(None, false),
            step(Some(9.0), true),
            step(Some(8.0), true),
        ];
        let track = Track { steps, deaths: Vec::new() };
        let ways = |is_seen| -> Vec<Vec<f32>> {
            track.ways(is_seen).iter().map(|way| way.iter().map(|at| at[0]).collect()).collect()
        };
        assert_eq!(ways(true), [vec![0.0, 1.0], vec![9.0, 8.0]]);
        assert_eq!(ways(false), [vec![1.0, 2.0, 3.0]]);
    }
}
