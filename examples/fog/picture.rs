//! A picture of two maps, as SVG.
//!
//! *Invariant:* the picture needs no other file.

use std::fmt::Write;

use crate::{SIDE, fog};

/// Returns a picture of the map of a server and of that of a client. Tiles that the client lacks are red.
pub(crate) fn svg(here: &[u64], there: &[u64]) -> String {
    let none = &vec![0; here.len()][..];
    let mut text =
        String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 536 276\" font-size=\"12\">");
    text += "<rect width=\"536\" height=\"276\" fill=\"white\"/><path fill=\"#333\" d=\"M8 18h256v256H8zM272 18h256v256H272z\"/>";
    let layers = [
        (8, "server", here, none, "#4b4"),
        (272, "client", there, none, "#4b4"),
        (272, "", here, there, "red"),
    ];
    for (left, name, one, other, colour) in layers {
        _ = write!(
            text,
            "<g transform=\"translate({left} 18)\"><text y=\"-5\">{name}</text><path stroke=\"{colour}\" d=\""
        );
        let rows = one.chunks(SIDE / 64).zip(other.chunks(SIDE / 64)).enumerate();
        for (row, run) in
            rows.flat_map(|(row, (one, other))| fog::runs(one, other).map(move |run| (row, run)))
        {
            _ = write!(text, "M{} {row}.5h{}", run.start, run.len());
        }
        text += "\"/></g>\n";
    }
    text + "</svg>\n"
}
