//! A picture of a run as SVG: the processor time and the wall time of all ticks.
//!
//! *Invariant:* the picture needs no other file.

use std::fmt::Write;

use crate::figures::Tick;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 260.0;
const MARGIN: f64 = 70.0;

/// A series of dots: its name, its colour, and a function that returns its value for a tick. The first series
/// is drawn below the second.
type Series = (&'static str, &'static str, fn(&Tick) -> f64);
const SERIES: [Series; 2] = [
    ("time that passed", "#c2571a", |tick| tick.wall.as_secs_f64() * 1e3),
    ("time on the processor", "#1668b0", |tick| tick.cpu().as_secs_f64() * 1e3),
];

/// Returns the picture as text.
pub(crate) fn svg(ticks: &[Tick], hz: u32) -> String {
    let (width, height) = (WIDTH + 2.0 * MARGIN, HEIGHT + 2.0 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let budget = 1e3 / f64::from(hz);
    let values = ticks.iter().flat_map(|tick| SERIES.map(|(_, _, time)| time(tick)));
    let greatest = values.fold(budget, f64::max) * 1.1;
    let y = |ms: f64| MARGIN + HEIGHT * (1.0 - ms / greatest);
    let x = |tick: usize| MARGIN + WIDTH * tick as f64 / ticks.len().max(1) as f64;
    let mut title = String::from("each tick of the server:");
    for (name, colour, time) in SERIES {
        _ = write!(title, " <tspan fill=\"{colour}\">{name}</tspan>");
        for (at, tick) in ticks.iter().enumerate() {
            let (x, y) = (x(at), y(time(tick)));
            _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.2\" fill=\"{colour}\"/>");
        }
    }
    _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{title}</text>", MARGIN - 14.0);
    draw_axes(&mut text, y(budget), budget, ticks.len() as f64 / f64::from(hz));
    text + "</svg>\n"
}

/// Draws a line at the time that one tick may take (`budget`), and the labels of the axes. `top` is the time
/// at the upper border.
fn draw_axes(text: &mut String, top: f64, budget: f64, seconds: f64) {
    let (left, right, bottom) = (MARGIN, MARGIN + WIDTH, MARGIN + HEIGHT);
    _ = writeln!(
        text,
        "<line x1=\"{left}\" y1=\"{top:.1}\" x2=\"{right}\" y2=\"{top:.1}\" stroke=\"#888888\" stroke-dasharray=\"4\"/>\n\
         <line x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\" stroke=\"black\"/>\n\
         <text x=\"{0}\" y=\"{top:.1}\" text-anchor=\"end\">{budget:.0} ms</text>\n\
         <text x=\"{0}\" y=\"{bottom}\" text-anchor=\"end\">0 ms</text>\n\
         <text x=\"{right}\" y=\"{1}\" text-anchor=\"end\">{seconds:.0} s</text>",
        left - 6.0,
        bottom + 18.0
    );
}
