//! A picture of a match, as SVG: positions over time, and the hits of each bot.
//!
//! *Invariant:* the picture needs no other file.

use std::fmt::Write;

use crate::player::Frame;
use crate::report::Outcome;
use crate::session::{LINKS, Session};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 70.0;

/// The bot of which positions are drawn, and for how many frames.
const BOT: usize = 1;
const FRAMES: usize = 240;

/// A curve: its name, its colour, and a function that returns its value in a frame.
type Curve = (&'static str, &'static str, fn(&Frame) -> Option<f32>);
const CURVES: [Curve; 4] = [
    ("predicted", "#1668b0", |frame| Some(frame.predicted)),
    ("confirmed", "#c2571a", |frame| Some(frame.confirmed)),
    ("smoothed", "#2a8a3e", |frame| Some(frame.smoothed)),
    ("another, as shown", "#888888", |frame| frame.other),
];

/// Returns the picture as text.
pub(crate) fn svg(session: &Session, outcome: &Outcome) -> String {
    let (width, height) = (WIDTH + 2.0 * MARGIN, 2.0 * (HEIGHT + MARGIN) + MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    draw_positions(&mut text, shown_frames(&session.players[BOT].frames));
    draw_hits(&mut text, outcome);
    text + "</svg>\n"
}

/// Returns `FRAMES` frames around the greatest correction of a wrong prediction.
fn shown_frames(frames: &[Frame]) -> &[Frame] {
    let apart = |frame: &Frame| (frame.predicted - frame.smoothed).abs();
    let most = (0..frames.len()).max_by(|&one, &other| apart(&frames[one]).total_cmp(&apart(&frames[other])));
    let start = most.unwrap_or(0).saturating_sub(FRAMES / 2).min(frames.len().saturating_sub(FRAMES));
    &frames[start..frames.len().min(start + FRAMES)]
}

fn draw_positions(text: &mut String, frames: &[Frame]) {
    let values =
        || frames.iter().flat_map(|frame| CURVES.iter().filter_map(move |(_, _, value)| value(frame)));
    let (low, high) = (values().fold(f32::MAX, f32::min), values().fold(f32::MIN, f32::max));
    let y = |value: f32| MARGIN + HEIGHT * (1.0 - f64::from(value - low) / f64::from((high - low).max(0.1)));
    let step = WIDTH / frames.len().saturating_sub(1).max(1) as f64;
    let mut title = String::from("positions on one axis over time:");
    for (name, colour, value) in CURVES {
        _ = write!(title, " <tspan fill=\"{colour}\">{name}</tspan>");
        let points = frames.iter().enumerate();
        let points = points.filter_map(|(at, frame)| {
            Some(format!("{:.1},{:.1}", MARGIN + step * at as f64, y(value(frame)?)))
        });
        let points = points.collect::<Vec<_>>().join(" ");
        _ = writeln!(
            text,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
    }
    _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{title}</text>", MARGIN - 14.0);
    for (value, at) in [(low, MARGIN + HEIGHT), (high, MARGIN)] {
        let x = MARGIN - 6.0;
        _ = writeln!(text, "<text x=\"{x}\" y=\"{at:.1}\" text-anchor=\"end\">{value:.1} m</text>");
    }
    if let (Some(first), Some(last)) = (frames.first(), frames.last()) {
        let y = MARGIN + HEIGHT + 18.0;
        for (at, x, anchor) in [(first.at, MARGIN, "start"), (last.at, MARGIN + WIDTH, "end")] {
            let secs = at.as_secs_f64();
            _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{secs:.1} s</text>");
        }
    }
}

fn draw_hits(text: &mut String, outcome: &Outcome) {
    let top = 2.0 * MARGIN + HEIGHT;
    _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">shots that hit: <tspan fill=\"#1668b0\">with lag compensation</tspan> \
         <tspan fill=\"#c2571a\">without</tspan></text>",
        top - 14.0
    );
    let place = WIDTH / LINKS.len() as f64;
    for (at, ((round_trip, _, _), line)) in LINKS.iter().zip(&outcome.bots).enumerate() {
        let left = MARGIN + place * at as f64;
        for (bar, (share, colour)) in
            [(line.hits, "#1668b0"), (line.hits_uncompensated, "#c2571a")].into_iter().enumerate()
        {
            let (x, tall) = (left + 20.0 + 60.0 * bar as f64, HEIGHT * share);
            let y = top + HEIGHT - tall;
            _ = writeln!(
                text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"50\" height=\"{tall:.1}\" fill=\"{colour}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\">{:.0} %</text>",
                y - 4.0,
                share * 100.0
            );
        }
        _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\">{round_trip} ms</text>",
            left + 40.0,
            top + HEIGHT + 18.0
        );
    }
}
