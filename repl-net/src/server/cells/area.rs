//! Up to which distance connections see the objects of a class, and the cells into which their space is
//! divided.
//!
//! *Invariant:* whether a cell is near a point depends only on the cell, the point and the [`Area`], so every
//! connection with the same viewpoints sees the same cells.

/// A point in the world, in the user's units. A point in a plane has the last coordinate zero.
pub type Position = [f32; 3];

/// The coordinates of a cell, in sides of cells.
pub(crate) type CellPosition = [i32; 3];

/// The corner of a cell with the least coordinates, in sides of cells.
pub(crate) type CellCorner = [f32; 3];

/// Whether a connection sees all objects in a cell, or only objects that it saw before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ring {
    /// The connection sees the objects in the cell.
    InSight,
    /// The connection still sees an object in the cell if it saw the object before. It does not see any other
    /// objects in the cell.
    Kept,
}

/// How near a cell is to the viewpoints of a connection. A nearer cell compares as less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nearness {
    pub(crate) ring: Ring,
    period: u16,
    is_far: bool,
}

const _: () = assert!(size_of::<Nearness>() == 4, "the lists of viewers are read for each object that moves");

/// How often a connection receives changes of the objects in a cell, and whether it receives their `NearOnly`
/// properties. This depends on the distance of the cell. A nearer band compares as less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Band {
    /// The connection receives the changes of the objects once in this number of ticks.
    pub(crate) period: u16,
    /// Whether the connection does not receive properties with the condition `NearOnly`.
    pub(crate) is_far: bool,
}

impl Band {
    /// The band (range of distances) of near cells, and of objects without positions: the connection receives
    /// everything in each tick.
    pub(crate) const NEAREST: Self = Self { period: 1, is_far: false };
}

impl Nearness {
    /// The nearness of objects without positions.
    pub(crate) const HERE: Self = Self { ring: Ring::InSight, period: 1, is_far: false };

    #[inline]
    pub(crate) const fn band(self) -> Band {
        Band { period: self.period, is_far: self.is_far }
    }

    /// Returns whether a connection must decide again which objects in a cell it sees and which data of them
    /// it receives, after the nearness of the cell has changed from `before` to `self`. This is so if objects
    /// may come into sight, if changes that wait for a long period must be sent, or if the connection may see
    /// other properties.
    pub(crate) fn is_reconsidered_after(self, before: Option<Self>) -> bool {
        match before {
            None => self.ring == Ring::InSight,
            Some(before) => {
                let comes_into_sight = before.ring != Ring::InSight && self.ring == Ring::InSight;
                let has_waiting = before.period > 1 && before.period != self.period;
                comes_into_sight || has_waiting || before.is_far != self.is_far
            }
        }
    }
}

/// A distance beyond which the changes of objects are sent less often.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    beyond: f32,
    period: u16,
}

/// The greatest number of bands of an area.
const MAX_BANDS: usize = 3;

/// The greatest number of distances at which the nearness of cells changes: the two radii, the border for
/// `NearOnly` properties, and the borders of the bands.
pub(super) const MAX_BORDERS: usize = MAX_BANDS + 3;

/// The greatest number of ticks between two updates of an object in a band.
const MAX_PERIOD: u16 = 1_000;

/// Up to which distance connections see the objects of a class.
///
/// The space is divided into cells, which are cubes, or squares in a plane. An object comes into the sight of
/// a connection if the centre of its cell is within the radius of one of the connection's
/// [viewpoints](crate::ConnectionHandle::set_viewpoints), and it goes out of sight if the centre of its cell
/// is farther from all viewpoints than the [second radius](Self::keep_within). The server computes the cells
/// in sight again when a viewpoint has moved by a quarter of a cell's side. So each border differs from its
/// radius by at most half the diagonal of a cell and a quarter of its side. With
/// `Area::within(100.0).flat()`, a connection sees every object within 76 units, may keep objects up to 149
/// units away, and sees no object that is farther away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    radius: f32,
    keep_radius: f32,
    /// The distance up to which connections receive `NearOnly` properties.
    near_radius: f32,
    cell: f32,
    /// The number of cells per unit of length. It is stored because a multiplication is faster than a
    /// division.
    cells_per_unit: f32,
    is_flat: bool,
    /// The bands, from the nearest to the farthest. Bands that are not used have the period one.
    bands: [Rate; MAX_BANDS],
}

impl Area {
    /// Returns an area in space. Objects come into sight within `radius`, and go out of sight beyond 1.25
    /// times the radius. The cells are cubes, and their sides are a quarter of the radius.
    ///
    /// # Panics
    /// Panics if `radius` is not finite and positive, or is less than 1.2e-38, so that a unit of length has
    /// too many cells for an `f32`.
    #[must_use]
    #[track_caller]
    pub fn within(radius: f32) -> Self {
        assert!(
            radius.is_finite() && radius > 0.0,
            "the radius of an area is finite and positive, not {radius}"
        );
        let bands = [Rate { beyond: f32::INFINITY, period: 1 }; MAX_BANDS];
        let near_radius = f32::INFINITY;
        let cell = radius / 4.0;
        let cells_per_unit = cells_per_unit(cell);
        let keep_radius = (radius * 1.25).min(f32::MAX);
        Self { radius, keep_radius, near_radius, cell, cells_per_unit, is_flat: false, bands }
    }

    /// Ignores the last coordinate of all positions, because the objects move in a plane. About 50 cells are
    /// then in sight instead of 270. An area whose positions have only two coordinates is flat without this
    /// call. If the axis y of your world points up, return the coordinates `[x, z]` and do not call this
    /// function: it would ignore z.
    #[must_use]
    pub const fn flat(self) -> Self {
        Self { is_flat: true, ..self }
    }

    pub(crate) const fn flat_if(self, is_flat: bool) -> Self {
        Self { is_flat: self.is_flat || is_flat, ..self }
    }

    /// Sets the distance beyond which an object that was in sight goes out of sight. This distance is greater
    /// than the radius, because otherwise an object that moves back and forth at the border would be removed
    /// and created again and again. If it exceeds the radius by at least the diagonal of a cell, an object
    /// that has come into sight stays in sight while it moves by less than the side of a cell.
    ///
    /// [`ClassHandle::locate`](crate::ClassHandle::locate) panics if this distance is more than sixteen times
    /// the side of a cell.
    ///
    /// # Panics
    /// Panics if `radius` is not finite, or is less than the area's radius.
    #[must_use]
    #[track_caller]
    pub fn keep_within(self, radius: f32) -> Self {
        assert!(
            radius.is_finite() && radius >= self.radius,
            "an area of radius {} cannot keep objects only within {radius}",
            self.radius
        );
        Self { keep_radius: radius, ..self }
    }

    /// Sets the length of the sides of the cells. Smaller cells follow the circle around a viewpoint more
    /// exactly, larger cells cost less. [`ClassHandle::locate`](crate::ClassHandle::locate) panics if `side`
    /// is less than a sixteenth of the [second radius](Self::keep_within).
    ///
    /// # Panics
    /// Panics if `side` is not finite and positive, or is less than 3e-39, so that a unit of length has too
    /// many cells for an `f32`.
    #[must_use]
    #[track_caller]
    pub fn cells_of(self, side: f32) -> Self {
        assert!(side.is_finite() && side > 0.0, "the sides of cells are finite and positive, not {side}");
        Self { cell: side, cells_per_unit: cells_per_unit(side), ..self }
    }

    /// Reduces how often changes are sent: if an object is farther than `distance` from all viewpoints of a
    /// connection, this connection receives its changes only once in `ticks` ticks. Each object has its own
    /// ticks, so a tick sends about one in `ticks` of the far objects. The first update of an object is not
    /// delayed, and neither are the updates to its owner. Updates are also not delayed for connections that
    /// have [switched](crate::ObjectHandle::set_custom_active_for) properties of the object, and for
    /// [replays](crate::Server::connect_replay) if its class has conditions. When an object comes nearer, its
    /// waiting changes are sent. All connections that are far from an object receive the same bytes. A short
    /// [budget](crate::ConnectionHandle::set_budget) does not change these ticks, but a change that is due
    /// may then have to wait for its turn. Call this once for each band of distances, from the nearest to the
    /// farthest, at most three times. [`ClassHandle::locate`](crate::ClassHandle::locate) panics if a band
    /// begins at the [second radius](Self::keep_within) or beyond it, where nothing is in sight.
    ///
    /// ```
    /// # use repl_net::Area;
    /// // Every tick up to 50 units, every third tick up to 120, and every tenth up to 200 or 250.
    /// let area = Area::within(200.0).flat().slower_beyond(50.0, 3).slower_beyond(120.0, 10);
    /// ```
    ///
    /// # Panics
    /// Panics if `distance` is not finite or is not greater than the distance of the last band, if `ticks` is
    /// over 1,000 or is not greater than the ticks of the last band, or if the area has three bands already.
    #[must_use]
    #[track_caller]
    pub fn slower_beyond(mut self, distance: f32, ticks: u16) -> Self {
        let count = self.periods().count();
        assert!(count < MAX_BANDS, "an area has at most {MAX_BANDS} bands");
        let before = count.checked_sub(1).map_or(Rate { beyond: 0.0, period: 1 }, |last| self.bands[last]);
        assert!(
            distance.is_finite() && distance > before.beyond,
            "a band begins farther away than the band before, which begins at {}, not at {distance}",
            before.beyond
        );
        assert!(
            ticks > before.period && ticks <= MAX_PERIOD,
            "a band is slower than what is nearer, of which changes are sent every {} ticks, and has at most {MAX_PERIOD} ticks, not {ticks}",
            before.period
        );
        self.bands[count] = Rate { beyond: distance, period: ticks };
        self
    }

    /// Sends properties with the [condition](repl_core::Condition::NearOnly) `NearOnly` only to connections
    /// with a viewpoint within `distance` of the object, and to its owner. When an object comes nearer, the
    /// connection receives the values that it lacks. When it goes away, the client keeps the values that it
    /// has. All connections that are far from an object receive the same bytes. The border is as exact as the
    /// border of the radius. If the [relevancy](crate::Relevancy) of an object is not `Located`, all
    /// connections that see the object count as near. [`ClassHandle::set_area`](crate::ClassHandle::set_area)
    /// panics if the border is at the [second radius](Self::keep_within) or beyond it, where nothing is in
    /// sight.
    ///
    /// ```
    /// # use repl_net::Area;
    /// // Near: everything in each tick. Beyond 50 units: without details, in every tenth tick.
    /// let area = Area::within(200.0).near_within(50.0).slower_beyond(50.0, 10);
    /// ```
    ///
    /// # Panics
    /// Panics if `distance` is not finite and positive.
    #[must_use]
    #[track_caller]
    pub fn near_within(self, distance: f32) -> Self {
        assert!(
            distance.is_finite() && distance > 0.0,
            "the distance of what is near is finite and positive, not {distance}"
        );
        Self { near_radius: distance, ..self }
    }

    /// Returns whether the area has a border for `NearOnly` properties, so that a connection may see an
    /// object and be too far away for them.
    pub(crate) fn has_far(&self) -> bool {
        self.near_radius.is_finite()
    }

    /// Returns the periods of the bands (ranges of distances), in ascending order.
    pub(crate) fn periods(&self) -> impl Iterator<Item = u16> {
        self.bands.iter().map(|band| band.period).filter(|&period| period > 1)
    }

    /// Checks what depends on several settings: that a connection has at most a few thousand cells in sight,
    /// and that each band has objects in sight.
    #[track_caller]
    pub(crate) fn check(&self) {
        let Self { keep_radius, cell, .. } = self;
        assert!(
            cell * 16.0 >= *keep_radius,
            "the sides of cells are at least a sixteenth of the distance of {keep_radius} within which objects are kept, not {cell}"
        );
        let used = self.bands.iter().filter(|band| band.period > 1);
        if let Some(band) = used.max_by(|one, other| one.beyond.total_cmp(&other.beyond)) {
            assert!(
                band.beyond < *keep_radius,
                "a band of an area begins at {}, but objects farther than {keep_radius} are not in sight: pass a smaller distance to `slower_beyond`, or a greater radius to `keep_within`",
                band.beyond
            );
        }
        assert!(
            !self.has_far() || self.near_radius < *keep_radius,
            "objects within {} are near, but objects farther than {keep_radius} are not in sight: pass a smaller distance to `near_within`, or a greater radius to `keep_within`",
            self.near_radius
        );
    }

    /// Returns whether all cells are in a plane, so that the last coordinate of their positions is zero.
    pub(crate) const fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// The length of the sides of the cells.
    pub(crate) const fn side(&self) -> f32 {
        self.cell
    }

    /// Returns the cell that contains a position. On each axis, a coordinate that is too large or too small
    /// for an `i32` counts as in the last or first cell. A NaN counts as in the first cell.
    #[inline]
    pub(crate) fn cell_of(&self, position: Position) -> CellPosition {
        let at = |coordinate: f32| floor(coordinate * self.cells_per_unit);
        let [x, y, z] = position;
        [at(x), at(y), if self.is_flat { 0 } else { at(z) }]
    }

    /// Returns whether a position is certainly in the cell with this corner, so that
    /// [`cell_of`](Self::cell_of) need not be called. `cell_of` must have returned this cell before. Also
    /// returns `false` for a few positions in the cell that are next to its border. Takes a third of the time
    /// of `cell_of`.
    #[inline]
    pub(crate) fn surely_contains(&self, corner: CellCorner, position: Position) -> bool {
        // Rounding keeps the order of numbers, so the computed offset is in the range from zero to less than
        // one only if the exact offset is. As integers, the bits of all numbers in this range are less than
        // the bits of one, and the bits of negative numbers and of NaN are greater.
        let is_within = |axis: usize| {
            let offset = position[axis] * self.cells_per_unit - corner[axis];
            offset.to_bits() < 1.0_f32.to_bits()
        };
        is_within(0) && is_within(1) && (self.is_flat || is_within(2))
    }

    /// Returns the greatest distance, in cells along one axis, between the cell of a viewpoint and a cell
    /// that may be in its rings (in sight or slightly beyond).
    pub(super) fn reach(&self) -> i32 {
        (self.keep_radius / self.cell).ceil() as i32 + 1
    }

    /// Returns the borders at which the nearness of cells changes, in ascending order, and their number. A
    /// border is the square of a distance, with the nearness of the cells between the border before it and
    /// this one.
    pub(super) fn borders(&self) -> ([(f64, Nearness); MAX_BORDERS], usize) {
        let mut borders = [(0.0, Nearness::HERE); MAX_BORDERS];
        let [one, two, three] = self.bands.map(|band| band.beyond);
        let mut radii = [self.radius, self.keep_radius, self.near_radius, one, two, three];
        radii.sort_unstable_by(f32::total_cmp);
        let mut count = 0;
        for radius in radii {
            if let Some(nearness) = self.nearness_at(square(radius)) {
                borders[count] = (square(radius), nearness);
                count += 1;
            }
        }
        (borders, count)
    }

    /// Returns the square of the distance between the centre of a cell and a viewpoint on one axis.
    #[inline]
    pub(super) fn squared_distance(&self, cell: i32, viewpoint: f32) -> f64 {
        // In `f64`, because the centres of far cells are infinite or NaN in `f32`.
        let distance = (f64::from(cell) + 0.5) * f64::from(self.cell) - f64::from(viewpoint);
        distance * distance
    }

    /// Returns the nearness of a cell whose centre is at this squared distance from a viewpoint. Returns
    /// `None` if the cell is neither in sight nor kept.
    #[inline]
    pub(super) fn nearness_at(&self, squared_distance: f64) -> Option<Nearness> {
        let is_within = |radius: f32| squared_distance <= square(radius);
        if !is_within(self.keep_radius) {
            return None;
        }
        let ring = if is_within(self.radius) { Ring::InSight } else { Ring::Kept };
        let rate = self.bands.iter().rev().find(|band| !is_within(band.beyond));
        let is_far = !is_within(self.near_radius);
        Some(Nearness { ring, period: rate.map_or(1, |rate| rate.period), is_far })
    }
}

/// Returns the number of cells with these sides along a unit of length.
///
/// # Panics
/// Panics if the number is not finite.
#[track_caller]
fn cells_per_unit(side: f32) -> f32 {
    let cells = 1.0 / side;
    assert!(
        cells.is_finite(),
        "cells with sides of {side} are too small: a unit of length has more than an `f32` can count"
    );
    cells
}

#[inline]
fn square(distance: f32) -> f64 {
    f64::from(distance) * f64::from(distance)
}

/// Returns the greatest integer that is not greater than `value`, or the least `i32` if `value` is NaN.
/// `f32::floor` would be a function call on the x86-64 processors for which Rust compiles by default.
#[inline]
fn floor(value: f32) -> i32 {
    if value.is_nan() {
        return i32::MIN;
    }
    let towards_zero = value as i32;
    towards_zero.saturating_sub(i32::from(towards_zero as f32 > value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_is_surely_in_no_other_cell_than_its_own(
            side in prop_oneof![1e-3..1e6_f32, Just(25.0)],
            cell in prop_oneof![-100.0..100.0_f32, -1e10..1e10_f32],
            offset in prop_oneof![-2.0..2.0_f32, Just(0.0), Just(1.0), any::<f32>()],
            ulps in -2..=2_i32,
            flat in any::<bool>(),
        ) {
            let area = Area::within(side).cells_of(side).flat_if(flat);
            let coordinate = (cell.floor() + offset) * side;
            let coordinate = f32::from_bits(coordinate.to_bits().wrapping_add_signed(ulps));
            for axis in 0..3 {
                let at = |coordinate: f32| std::array::from_fn(|of| if of == axis { coordinate } else { 0.0 });
                let own = area.cell_of(at(coordinate));
                for other in [-1.0, 0.0, 1.0].map(|step| area.cell_of(at(coordinate + step * side))) {
                    let corner = other.map(|at| at as f32);
                    prop_assert!(other == own || !area.surely_contains(corner, at(coordinate)));
                }
            }
        }

        #[test]
        fn a_position_inside_a_cell_is_surely_in_it(cell in -1_000..1_000_i32, at in 0.01..0.99_f32) {
            let area = Area::within(100.0);
            let cell = cell as f32;
            let position = [(cell + at) * 25.0; 3];
            prop_assert!(area.surely_contains([cell; 3], position));
            prop_assert!(!area.surely_contains([cell, cell, cell + 1.0], position));
            prop_assert!(area.flat().surely_contains([cell, cell, 0.0], position));
        }
    }
}
