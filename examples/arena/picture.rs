//! A picture of a match, as SVG: a map with the paths of the players, and the bytes over time.
//!
//! *Invariant:* the picture needs no other file.

use std::fmt::Write;

use crate::film::{FRAME_TICKS, Film};
use arena_game::game::TICKS_PER_SECOND;
use arena_game::plane::{EDGE, Vec2};
use arena_game::session::Session;

/// The length of the sides of the map, and the height of the curve below it.
const SIDE: f64 = 640.0;
const CURVE: f64 = 110.0;
const MARGIN: f64 = 40.0;

/// The colours of the teams.
const TEAMS: [&str; 2] = ["#1668b0", "#c2571a"];

/// Returns the picture as text.
pub(crate) fn svg(film: &Film, session: &Session) -> String {
    let (width, height) = (SIDE + 2.0 * MARGIN, SIDE + CURVE + 4.5 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    draw_title(&mut text, session);
    draw_things(&mut text, session);
    draw_players(&mut text, film, session);
    draw_bytes(&mut text, film, session);
    text + "</svg>\n"
}

/// Converts a point of the arena to coordinates of the picture.
fn place([x, y]: Vec2) -> (f64, f64) {
    let along = |coordinate: f32| f64::from(coordinate + EDGE) / f64::from(2.0 * EDGE) * SIDE;
    (MARGIN + along(x), MARGIN + SIDE - along(y))
}

fn draw_title(text: &mut String, session: &Session) {
    let [one, other] = session.arena.teams.map(|team| &session.server[team]);
    let first = session.guests.first().and_then(|guest| guest.connection);
    let seat = first.and_then(|connection| session.sight.seats.get(&connection));
    let who = seat.map_or("nobody", |&seat| session.server[seat].name.as_str());
    _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{}\"><tspan fill=\"{}\" font-weight=\"bold\">{} {}</tspan> : \
         <tspan fill=\"{}\" font-weight=\"bold\">{} {}</tspan>. In colour: what the client of {who} saw. Grey: what it did not \
         get.</text>",
        MARGIN - 14.0,
        TEAMS[0],
        one.name,
        one.score,
        TEAMS[1],
        other.score,
        other.name
    );
    let side = SIDE;
    _ = writeln!(
        text,
        "<rect x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{side}\" height=\"{side}\" fill=\"#f7f5ef\" stroke=\"#cccccc\"/>"
    );
}

/// Draws the pickups and the turrets, as they are at the end.
fn draw_things(text: &mut String, session: &Session) {
    for &pickup in &session.arena.pickups {
        let (x, y) = place(session.server[pickup].position);
        _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#b8a45a\"/>");
    }
    for &turret in &session.arena.turrets {
        let (x, y) = place(session.server[turret].position);
        _ = writeln!(
            text,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"14\" height=\"14\" fill=\"#555555\"/>",
            x - 7.0,
            y - 7.0
        );
    }
}

fn draw_players(text: &mut String, film: &Film, session: &Session) {
    let arena = &session.arena;
    for (track, &player) in film.tracks.iter().zip(&arena.players) {
        let player = &session.server[player];
        let colour = TEAMS[usize::from(player.team != arena.teams[0])];
        for (is_seen, colour, width) in [(false, "#c4c4c4", 1.5), (true, colour, 3.0)] {
            track.ways(is_seen).iter().for_each(|way| draw_way(text, way, colour, width));
        }
        for (x, y) in track.deaths.iter().copied().map(place) {
            _ = writeln!(
                text,
                "<path d=\"M{:.1} {:.1}l12 12m0 -12l-12 12\" stroke=\"{colour}\" stroke-width=\"3\"/>",
                x - 6.0,
                y - 6.0
            );
        }
        let (x, y) = place(player.position);
        _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" fill=\"{colour}\" stroke=\"white\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
            x + 9.0,
            y + 5.0,
            player.name
        );
    }
}

fn draw_way(text: &mut String, way: &[Vec2], colour: &str, width: f64) {
    let points: Vec<_> = way.iter().copied().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"/>",
        points.join(" ")
    );
}

/// Draws the bytes a second to each client, over time.
fn draw_bytes(text: &mut String, film: &Film, session: &Session) {
    const FRAMES: usize = (TICKS_PER_SECOND / FRAME_TICKS) as usize / 3;
    let clients = session.guests.len().max(1) as u64;
    let thirds = film.bytes.windows(FRAMES + 1).step_by(FRAMES);
    let rates: Vec<u64> = thirds.map(|part| (part[FRAMES] - part[0]) * 3 / clients).collect();
    let (top, most) = (SIDE + 2.75 * MARGIN, rates.iter().copied().max().unwrap_or(0).max(1));
    _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{:.1}\">bytes a second to each of {clients} clients over {:.0} s, at most {most}</text>",
        top - 10.0,
        film.bytes.len() as f64 / f64::from(TICKS_PER_SECOND / FRAME_TICKS)
    );
    let step = SIDE / rates.len().max(1) as f64;
    for (at, rate) in rates.iter().enumerate() {
        let tall = CURVE * *rate as f64 / most as f64;
        let (x, y) = (MARGIN + step * at as f64, top + CURVE - tall);
        _ = writeln!(
            text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" fill=\"#2a8a3e\"/>",
            step * 0.8
        );
    }
}
