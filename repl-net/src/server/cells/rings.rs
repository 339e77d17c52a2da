//! The rings of cells around a viewpoint (the cells that are in sight, and the cells around them in which
//! seen objects stay), as rows of cells that are equally near.
//!
//! *Invariant:* a cell is in a row with a nearness if and only if [`Area::nearness_at`] returns the nearness
//! for the distance of its centre.

use super::area::{Area, CellPosition, MAX_BORDERS, Nearness, Position};

/// The range of cell numbers on one axis that may be in the rings around a viewpoint.
#[derive(Clone, Copy)]
struct Axis {
    first: i32,
    last: i32,
    viewpoint: f32,
}

impl Axis {
    fn new(area: &Area, centre: i32, viewpoint: f32) -> Self {
        let reach = area.reach();
        Self { first: centre.saturating_sub(reach), last: centre.saturating_add(reach), viewpoint }
    }

    /// Returns the square of the distance between the centre of a cell and the viewpoint on this axis.
    #[inline]
    fn squared_distance(&self, area: &Area, cell: i32) -> f64 {
        area.squared_distance(cell, self.viewpoint)
    }

    /// Returns the cell whose centre is nearest to the viewpoint. Because of rounding, this can be a cell
    /// next to `centre`, the cell that contains the viewpoint.
    fn nearest(&self, area: &Area, centre: i32) -> i32 {
        let distance = |cell: i32| self.squared_distance(area, cell);
        let mut nearest = centre;
        while nearest < self.last && distance(nearest + 1) < distance(nearest) {
            nearest += 1;
        }
        while nearest > self.first && distance(nearest - 1) < distance(nearest) {
            nearest -= 1;
        }
        nearest
    }
}

/// The ends of the part of a row that is within a border. The search for them starts at the ends of the last
/// row, because the ends of neighbouring rows differ little.
#[derive(Clone, Copy)]
struct Ends {
    first: i32,
    last: i32,
}

impl Ends {
    /// Moves `self` to the ends of another row. `nearest` is the nearest cell of the row, which is between
    /// the ends. Returns whether there are any cells within the border.
    #[inline]
    fn move_to(&mut self, axis: &Axis, nearest: i32, is_within: impl Fn(i32) -> bool) -> bool {
        if !is_within(nearest) {
            return false;
        }
        while !is_within(self.first) {
            self.first += 1;
        }
        while self.first > axis.first && is_within(self.first - 1) {
            self.first -= 1;
        }
        while !is_within(self.last) {
            self.last -= 1;
        }
        while self.last < axis.last && is_within(self.last + 1) {
            self.last += 1;
        }
        true
    }
}

/// Calls `visit` with all cells in the rings (in sight or slightly beyond) around a viewpoint, as rows in
/// ascending order. A row consists of cells that follow each other on the last axis of their area and are
/// equally near. The arguments of `visit` are the first cell of the row, the number of its cells, and their
/// nearness.
pub(super) fn rows_around(
    area: &Area,
    viewpoint: Position,
    mut visit: impl FnMut(CellPosition, u32, Nearness),
) {
    let centre = area.cell_of(viewpoint);
    let [x_axis, y_axis, z_axis] = std::array::from_fn(|axis| Axis::new(area, centre[axis], viewpoint[axis]));
    let mut rows = Rows::new(area, if area.is_flat() { (1, y_axis) } else { (2, z_axis) }, centre);
    for x in x_axis.first..=x_axis.last {
        let along_x = x_axis.squared_distance(area, x);
        if area.is_flat() {
            rows.visit([x, 0, 0], along_x, &mut visit);
            continue;
        }
        for y in y_axis.first..=y_axis.last {
            rows.visit([x, y, 0], along_x + y_axis.squared_distance(area, y), &mut visit);
        }
    }
}

/// Divides rows of cells at the borders of an area.
struct Rows<'a> {
    area: &'a Area,
    /// The last axis of the area, along which the rows lie, and its number.
    axis: Axis,
    axis_number: usize,
    /// The nearest cell on this axis.
    nearest: i32,
    /// The squares of the distances at which the nearness of cells changes, in ascending order, each with the
    /// nearness of the cells up to this distance.
    borders: [(f64, Nearness); MAX_BORDERS],
    /// The number of borders.
    count: usize,
    /// The ends of the current row within each border.
    ends: [Ends; MAX_BORDERS],
}

impl<'a> Rows<'a> {
    fn new(area: &'a Area, (axis_number, axis): (usize, Axis), centre: CellPosition) -> Self {
        let nearest = axis.nearest(area, centre[axis_number]);
        let (borders, count) = area.borders();
        let ends = [Ends { first: nearest, last: nearest }; MAX_BORDERS];
        Self { area, axis, axis_number, nearest, borders, count, ends }
    }

    /// Calls `visit` with the parts of a row. `along_others` is the sum of its squared distances on the other
    /// axes.
    #[inline]
    fn visit(
        &mut self,
        row: CellPosition,
        along_others: f64,
        visit: &mut impl FnMut(CellPosition, u32, Nearness),
    ) {
        let Self { area, ref axis, axis_number, nearest, ref borders, count, ref mut ends } = *self;
        let borders = &borders[..count];
        // All borders before `innermost` are nearer than all cells of the row.
        let mut innermost = count;
        for (ends, &(border, _)) in ends.iter_mut().zip(borders).rev() {
            let is_within = |cell: i32| along_others + axis.squared_distance(area, cell) <= border;
            if !ends.move_to(axis, nearest, is_within) {
                break;
            }
            innermost -= 1;
        }
        // In `i64`, because the number after the last cell may not fit into an `i32`.
        let first = |at: usize| i64::from(ends[at].first);
        let end = |at: usize| i64::from(ends[at].last) + 1;
        let mut part = |first: i64, end: i64, at: usize| {
            if first < end {
                let mut position = row;
                position[axis_number] = first as i32;
                visit(position, (end - first) as u32, borders[at].1);
            }
        };
        if innermost == count {
            return;
        }
        let outer = innermost + 1..count;
        outer.clone().rev().for_each(|at| part(first(at), first(at - 1), at));
        part(first(innermost), end(innermost), innermost);
        outer.for_each(|at| part(end(at - 1), end(at), at));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the cells in the rings around a viewpoint, in ascending order.
    fn cells_of_rows(area: &Area, viewpoint: Position) -> Vec<(CellPosition, Nearness)> {
        let mut cells = Vec::new();
        rows_around(area, viewpoint, |mut cell, count, nearness| {
            let axis = if area.is_flat() { 1 } else { 2 };
            let first = cell[axis];
            for at in 0..count {
                cell[axis] = first.wrapping_add_unsigned(at);
                cells.push((cell, nearness));
            }
        });
        cells
    }

    /// Returns the same cells, found by the distance of each cell.
    fn cells_by_distance(area: &Area, viewpoint: Position) -> Vec<(CellPosition, Nearness)> {
        let centre = area.cell_of(viewpoint);
        let range = |axis: usize| {
            let at = centre[axis];
            at.saturating_sub(area.reach())..=at.saturating_add(area.reach())
        };
        let depth = if area.is_flat() { 0..=0 } else { range(2) };
        let mut cells = Vec::new();
        for cell in range(0).flat_map(|x| range(1).map(move |y| [x, y])) {
            for z in depth.clone() {
                let [x, y] = [0, 1].map(|axis| area.squared_distance(cell[axis], viewpoint[axis]));
                let z_distance = if area.is_flat() { 0.0 } else { area.squared_distance(z, viewpoint[2]) };
                let nearness = area.nearness_at(x + y + z_distance);
                cells.extend(nearness.map(|nearness| ([cell[0], cell[1], z], nearness)));
            }
        }
        cells
    }

    fn coordinate() -> impl Strategy<Value = f32> {
        let whole = (-20..20_i32).prop_map(|at| at as f32 * 2.5);
        let extreme = [0.0, f32::NAN, f32::INFINITY, f32::MAX, -f32::MAX, 2_147_483_648.0, -2_147_483_648.0];
        let extreme = prop::sample::select(extreme.to_vec());
        prop_oneof![-1e3..1e3_f32, whole, extreme, any::<f32>(), -1e10..1e10_f32]
    }

    proptest! {
        #[test]
        fn rows_have_the_cells_that_are_near_by_their_distances(
            viewpoint in [coordinate(), coordinate(), coordinate()],
            side in prop_oneof![Just(2.5_f32), Just(1.0), 1.0..20.0_f32],
            keep in prop_oneof![Just(10.0_f32), 10.0..16.0_f32],
            near in prop_oneof![Just(f32::INFINITY), 0.1..9.9_f32],
            bands in 0..=3_u16,
            flat in any::<bool>(),
        ) {
            let mut area = Area::within(10.0).keep_within(keep).cells_of(side).flat_if(flat);
            if near.is_finite() {
                area = area.near_within(near);
            }
            for band in 1..=bands {
                area = area.slower_beyond(f32::from(band) * 3.0, band * 2);
            }
            prop_assert_eq!(cells_of_rows(&area, viewpoint), cells_by_distance(&area, viewpoint));
        }
    }
}
