//! Shows a match on a terminal while it is played.
//!
//! *Invariant:* each frame is drawn over the previous frame, so the picture always takes [`ROWS`] lines plus
//! the line below with the progress.

use std::error::Error;
use std::io::{IsTerminal, Write, stdout};
use std::thread;
use std::time::Duration;

use crate::film::FRAME_TICKS;
use crate::report;
use arena_game::game::TICKS_PER_SECOND;
use arena_game::plane::{EDGE, Vec2};
use arena_game::session::Session;

const COLUMNS: usize = 66;
const ROWS: usize = 22;

/// The terminal.
pub(crate) struct Screen {
    is_drawn: bool,
}

impl Screen {
    /// # Errors
    /// Returns an error if the standard output is no terminal.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        if stdout().is_terminal() {
            Ok(Self { is_drawn: false })
        } else {
            Err("`--watch` draws on a terminal: leave it out if the output goes elsewhere".into())
        }
    }

    /// Draws a match after a tick, and waits so that it is played in real time.
    pub(crate) fn show(&mut self, session: &Session, tick: u32) {
        if !tick.is_multiple_of(FRAME_TICKS) {
            return;
        }
        thread::sleep(Duration::from_secs(1) / TICKS_PER_SECOND * FRAME_TICKS);
        let up = if self.is_drawn { format!("\x1b[{}A", ROWS + 1) } else { String::new() };
        self.is_drawn = true;
        let lines: String = map(session).lines().map(|line| format!("{line}\x1b[K\n")).collect();
        let mut out = stdout().lock();
        // An output error is ignored, so that the example continues when nobody reads its output any more.
        let _ = writeln!(out, "{up}{lines}{}\x1b[K", report::progress(session, tick));
        let _ = out.flush();
    }
}

/// Returns the map: players by the first letter of their names, in capitals if the first client sees them,
/// `o` for pickups, `#` for turrets and `*` for shots.
fn map(session: &Session) -> String {
    let mut cells = vec![vec!['·'; COLUMNS]; ROWS];
    let mut put = |[x, y]: Vec2, sign: char| {
        let along = |coordinate: f32, count: usize| {
            ((coordinate + EDGE) / (2.0 * EDGE) * count as f32).clamp(0.0, count as f32 - 1.0) as usize
        };
        cells[ROWS - 1 - along(y, ROWS)][along(x, COLUMNS)] = sign;
    };
    let (server, arena) = (&session.server, &session.arena);
    arena.pickups.iter().for_each(|&pickup| put(server[pickup].position, 'o'));
    arena.turrets.iter().for_each(|&turret| put(server[turret].position, '#'));
    arena.shots.iter().for_each(|&shot| put(server[shot].position(arena.tick), '*'));
    for &player in &arena.players {
        let (letter, alive) = (server[player].name.chars().next(), server[player].is_alive());
        let is_seen = session.guests.first().is_some_and(|guest| guest.client.contains(player));
        let letter = letter.map(|letter| if is_seen { letter } else { letter.to_ascii_lowercase() });
        put(server[player].position, letter.filter(|_| alive).unwrap_or('x'));
    }
    let lines: Vec<String> = cells.into_iter().map(|line| line.into_iter().collect()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Args;

    #[test]
    fn the_map_has_each_player_that_lives_and_who_is_seen_in_capitals() {
        let mut seen = 0;
        let args = Args::parse_from(["arena", "--ticks", "300"]);
        crate::play(&args, |session, _| {
            let map = map(session);
            assert_eq!(map.lines().count(), ROWS);
            assert!(map.lines().all(|line| line.chars().count() == COLUMNS));
            seen += map.chars().filter(char::is_ascii_uppercase).count();
        })
        .expect("the simulated network works");
        assert!(seen > 300, "{seen}");
    }
}
