//! A naive model of who sees what: the distance of each pair of a connection and an object.
//!
//! The library decides for whole cells (squares of space) and not for each object, so objects go out of sight
//! at a distance near the radius, not exactly at it. The documentation of [`Area`](repl::Area) says by how
//! much. For objects between the inner and the outer border, the model accepts the decision of the server,
//! and expects that the client agrees with the server.
//!
//! *Invariant:* the model reads only the positions and owners of the objects, and never the server's cells.

use crate::entry::{Entry, Rule};
use crate::model::{Point, TEAMS};

/// How much a border can differ from the radius, as a part of the radius: half the diagonal of a cell plus a
/// quarter of its side. A side is a quarter of the radius.
const BLUR: f32 = (std::f32::consts::FRAC_1_SQRT_2 + 0.25) / 4.0;

/// An object in sight goes out of sight only at the radius times this factor.
const KEEP: f32 = 1.25;

/// How far a walker can go in one tick, in metres: the server uses a position one tick later.
const NOTICE: f32 = 0.3;

/// The decision of the model for a connection and an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sees,
    /// The object is at a border, where the server decides.
    Open,
    Blind,
}

/// Returns the distance beyond which no client sees an object with this radius.
pub(crate) fn outer_border(radius: f32) -> f32 {
    radius * (KEEP + BLUR) + NOTICE
}

/// Returns whether the connection with this number sees an object, according to distances and owners.
pub(crate) fn verdict(entries: &[Entry], number: usize, object: usize) -> Verdict {
    let entry = &entries[object];
    if entry.owner == Some(number) {
        return Verdict::Sees;
    }
    let sees = |sees: bool| if sees { Verdict::Sees } else { Verdict::Blind };
    match entry.rule {
        Rule::Everyone => Verdict::Sees,
        Rule::OwnerOnly => Verdict::Blind,
        Rule::Team(team) => sees(number as u32 % TEAMS == team),
        Rule::With(other) => verdict(entries, number, other),
        Rule::Located(radius) => {
            let distance = distance(entries[number].position, entry.position);
            if distance <= radius * (1.0 - BLUR) - NOTICE {
                Verdict::Sees
            } else {
                if distance > outer_border(radius) { Verdict::Blind } else { Verdict::Open }
            }
        }
    }
}

pub(crate) fn distance(one: Point, other: Point) -> f32 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}
