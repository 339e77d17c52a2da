//! A picture of a run: the bytes and the objects in sight of each connection over time, as SVG.
//!
//! *Invariant:* the picture needs no other file, and its curves have one point for each second.

use std::fmt::Write;

use crate::watch::Second;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 220.0;
const MARGIN: f64 = 70.0;

/// Returns the picture as text.
pub(crate) fn svg(seconds: &[Second], budget: u32) -> String {
    let (width, height) = (WIDTH + 2.0 * MARGIN, 2.0 * (HEIGHT + MARGIN) + MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let bytes = Chart {
        seconds,
        top: MARGIN,
        title: "bytes per second",
        mean: |at| at.mean_bytes,
        most: |at| at.most_bytes,
    };
    bytes.draw(&mut text, Some((f64::from(budget), "budget")));
    let in_sight = Chart {
        seconds,
        top: 2.0 * MARGIN + HEIGHT,
        title: "objects in sight",
        mean: |at| at.mean_in_sight,
        most: |at| at.most_in_sight,
    };
    in_sight.draw(&mut text, None);
    text + "</svg>\n"
}

/// A chart with two curves: the mean over all connections, and the most of any connection.
struct Chart<'a> {
    seconds: &'a [Second],
    top: f64,
    title: &'a str,
    mean: fn(&Second) -> f64,
    most: fn(&Second) -> f64,
}

impl Chart<'_> {
    /// Adds the chart to a picture. `limit` is a value with its name. A line is drawn at this value if the
    /// chart reaches so far up.
    fn draw(&self, text: &mut String, limit: Option<(f64, &str)>) {
        let Self { seconds, top, title, mean, most } = self;
        let greatest = seconds.iter().map(most).fold(1.0, f64::max) * 1.1;
        let y = |value: f64| top + HEIGHT * (1.0 - value / greatest);
        let bottom = top + HEIGHT;
        _ = writeln!(
            text,
            "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{title}, of each connection: \
             <tspan fill=\"#1668b0\">mean</tspan> and <tspan fill=\"#c2571a\">most</tspan></text>",
            top - 14.0
        );
        for part in 0..=4 {
            let value = greatest * f64::from(part) / 4.0;
            let y = y(value);
            _ = writeln!(
                text,
                "<path d=\"M{MARGIN} {y:.1}h{WIDTH}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
                MARGIN - 6.0,
                y + 4.0
            );
        }
        if let Some((value, name)) = limit.filter(|(value, _)| *value <= greatest) {
            let y = y(value);
            _ = writeln!(
                text,
                "<path d=\"M{MARGIN} {y:.1}h{WIDTH}\" stroke=\"#888\" stroke-dasharray=\"6 4\"/><text x=\"{}\" y=\"{:.1}\">{name}</text>",
                MARGIN + WIDTH + 6.0,
                y + 4.0
            );
        }
        for (value, colour) in [(mean, "#1668b0"), (most, "#c2571a")] {
            let step = WIDTH / seconds.len().saturating_sub(1).max(1) as f64;
            let points = seconds.iter().enumerate();
            let points = points
                .map(|(at, second)| format!("{:.1},{:.1}", MARGIN + step * at as f64, y(value(second))));
            let points: Vec<String> = points.collect();
            _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
        }
        _ = writeln!(
            text,
            "<text x=\"{MARGIN}\" y=\"{0}\">1 s</text><text x=\"{1}\" y=\"{0}\" text-anchor=\"end\">{2} s</text>",
            bottom + 18.0,
            MARGIN + WIDTH,
            seconds.len()
        );
    }
}
