//! Priorities: which of the waiting objects are sent to a connection first (S189).
//!
//! *Invariant:* a priority is always positive and finite, so the urgency of a waiting object keeps growing,
//! and no object waits for ever (S193).

use std::collections::BTreeMap;

use repl_core::ObjectRef;
use repl_link::ConnectionId;

use super::cells::Group;
use super::cells::area::Position;

/// The least allowed priority.
const LEAST: f32 = 1e-6;
/// The greatest allowed priority.
const MOST: f32 = 1e6;

/// The factor by which an object is more important to its owner than to others (S189).
const FOR_OWNER: f32 = 4.0;

/// Returns the factor by which ownership multiplies a priority. `is_owner` says whether the connection owns
/// the object.
pub(crate) fn owner_factor(is_owner: bool) -> f32 {
    if is_owner { FOR_OWNER } else { 1.0 }
}

/// How a connection sees the world, for a function that computes
/// [priorities](crate::ClassHandle::set_priority_by) or decides [who sees an
/// object](crate::ClassHandle::set_relevancy_by).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Viewer<'a> {
    /// The object for which the function is called.
    pub object: ObjectRef<()>,
    /// The connection for which the function is called.
    pub connection: ConnectionId,
    /// Whether the connection owns the object.
    pub is_owner: bool,
    /// The [viewpoints](crate::ConnectionHandle::set_viewpoints) of the connection.
    pub viewpoints: &'a [Position],
    /// The view directions of the connection, one for each viewpoint, as
    /// [`ConnectionHandle::set_view_directions`](crate::ConnectionHandle::set_view_directions) has set them.
    /// There may be fewer directions than viewpoints.
    pub directions: &'a [Position],
    /// The groups of the connection, in ascending order.
    pub(super) groups: &'a [Group],
}

impl Viewer<'_> {
    /// Returns whether the connection is in a [group](crate::ConnectionHandle::join_group), for example the
    /// team of the object.
    #[must_use]
    pub fn is_in_group(&self, group: Group) -> bool {
        self.groups.binary_search(&group).is_ok()
    }

    /// Returns Unreal's priority factor for an object at `position`, with Unreal's numbers. The factor is 4
    /// if the connection owns the object. Otherwise, the first of these rules that applies decides: 0.2 if
    /// the object is behind a viewpoint and farther away than 2,000, 0.4 if it is behind and farther than
    /// 500, 2 if it is ahead within 45° and nearer than 8,000, 0.4 if it is farther away than 3,162, else 1.
    /// With several viewpoints, the greatest factor counts. If a viewpoint has no direction, nothing is ahead
    /// of it or behind it. The numbers are meant for centimetres: if your unit is a metre, pass 100 as
    /// `scale`, otherwise 1.
    #[must_use]
    pub fn unreal_priority(&self, position: Position, scale: f32) -> f32 {
        if self.is_owner {
            return FOR_OWNER;
        }
        let factor = |(at, viewpoint): (usize, &Position)| {
            let to: Position = std::array::from_fn(|axis| (position[axis] - viewpoint[axis]) * scale);
            let squared: f32 = to.iter().map(|part| part * part).sum();
            let dot = self.directions.get(at).map(|direction| {
                let length = direction.iter().map(|part| part * part).sum::<f32>().sqrt();
                let along: f32 = direction.iter().zip(&to).map(|(one, other)| one * other).sum();
                if length > 0.0 { along / length } else { 0.0 }
            });
            let is_behind = dot.is_some_and(|dot| dot < 0.0);
            match dot {
                _ if is_behind && squared > 2_000.0 * 2_000.0 => 0.2,
                _ if is_behind && squared > 500.0 * 500.0 => 0.4,
                Some(dot) if !is_behind && squared < 8_000.0 * 8_000.0 && dot * dot > 0.5 * squared => 2.0,
                _ if squared > 3_162.0 * 3_162.0 => 0.4,
                _ => 1.0,
            }
        };
        self.viewpoints.iter().enumerate().map(factor).reduce(f32::max).unwrap_or(1.0)
    }
}

/// # Panics
/// Panics if a priority is out of the range from [`LEAST`] to [`MOST`].
#[track_caller]
pub(super) fn assert_in_range(priority: f32) {
    assert!(
        (LEAST..=MOST).contains(&priority),
        "a priority is from {LEAST} to {MOST}, but {priority} was asked for"
    );
}

fn in_range(priority: f32) -> f32 {
    if priority.is_nan() { LEAST } else { priority.clamp(LEAST, MOST) }
}

/// A function that computes the priority of an object for a connection.
pub(crate) type Prioritize<T> = Box<dyn Fn(&T, &Viewer<'_>) -> f32 + Send + Sync>;

#[derive(Debug, Default)]
pub(crate) struct Priorities {
    /// The priority of each class, and whether the class has a function that multiplies it.
    classes: Vec<(f32, bool)>,
    /// The priorities of single objects, by their slots. The priority of an object replaces the priority of
    /// its class. The function of the class still multiplies it.
    pub(crate) objects: BTreeMap<u32, f32>,
}

impl Priorities {
    /// Returns whether any class or object has another priority than 1.
    pub(crate) fn is_used(&self) -> bool {
        !self.classes.is_empty() || !self.objects.is_empty()
    }

    /// Returns the priority of a class, and whether the class has a function that multiplies it.
    pub(crate) fn class(&mut self, class: u16) -> &mut (f32, bool) {
        let at = usize::from(class);
        if self.classes.len() <= at {
            self.classes.resize(at + 1, (1.0, false));
        }
        &mut self.classes[at]
    }

    pub(crate) fn forget(&mut self, slot: u32) {
        self.objects.remove(&slot);
    }

    /// Returns the priority of an object for a connection. `is_owner` says whether the connection owns the
    /// object. `compute` calls the function of its class.
    pub(crate) fn of(&self, slot: u32, class: u16, is_owner: bool, compute: impl FnOnce() -> f32) -> f32 {
        let (class, is_computed) = self.classes.get(usize::from(class)).copied().unwrap_or((1.0, false));
        let priority = self.objects.get(&slot).copied().unwrap_or(class);
        let factor = if is_computed { in_range(compute()) } else { owner_factor(is_owner) };
        in_range(priority * factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s189_the_next_object_of_a_slot_does_not_have_the_priority_of_the_last_one() {
        let mut priorities = Priorities::default();
        priorities.objects.insert(3, 50.0);
        assert_eq!(priorities.of(3, 0, false, || 1.0), 50.0);
        priorities.forget(3);
        assert_eq!(priorities.of(3, 0, false, || 1.0), 1.0);
        assert!(!priorities.is_used());
    }

    #[test]
    fn s189_the_results_of_functions_and_the_products_count_as_the_nearest_numbers_of_the_range() {
        let mut priorities = Priorities::default();
        *priorities.class(0) = (0.25, true);
        assert_eq!(priorities.of(3, 0, true, || 4e9), 250_000.0, "the result counts as 1,000,000");
        assert_eq!(priorities.of(3, 0, false, || 0.0), LEAST);
        *priorities.class(0) = (4_096.0, true);
        assert_eq!(priorities.of(3, 0, false, || f32::NAN), 4_096.0 * LEAST);
        assert_eq!(priorities.of(3, 0, false, || -1.0), 4_096.0 * LEAST);
        assert_eq!(priorities.of(3, 0, false, || 5_000.0), MOST);
        *priorities.class(0) = (500_000.0, false);
        assert_eq!([true, false].map(|is_owner| priorities.of(3, 0, is_owner, || 1.0)), [MOST, 500_000.0]);
    }

    #[test]
    fn s189_the_factors_are_those_of_unreal() {
        let viewer = |is_owner| Viewer {
            groups: &[],
            object: ObjectRef::NULL,
            connection: ConnectionId::for_tests(0),
            is_owner,
            viewpoints: &[[10.0, 0.0, 0.0]],
            directions: &[[2.0, 0.0, 0.0]],
        };
        assert_eq!(viewer(true).unreal_priority([0.0; 3], 1.0), 4.0);
        let ahead_of = |x: f32, y: f32| viewer(false).unreal_priority([10.0 + x, y, 0.0], 1.0);
        assert_eq!(
            [ahead_of(-2_001.0, 0.0), ahead_of(-1_999.0, 0.0), ahead_of(-499.0, 0.0)],
            [0.2, 0.4, 1.0]
        );
        assert_eq!([ahead_of(100.0, 99.0), ahead_of(100.0, 101.0), ahead_of(7_999.0, 0.0)], [2.0, 1.0, 2.0]);
        assert_eq!([ahead_of(8_001.0, 0.0), ahead_of(0.0, 3_161.0), ahead_of(0.0, 3_163.0)], [0.4, 1.0, 0.4]);
        let metres = viewer(false).unreal_priority([10.0 - 20.01, 0.0, 0.0], 100.0);
        assert_eq!(metres, 0.2);
        let two = Viewer { viewpoints: &[[0.0; 3], [9_000.0, 0.0, 0.0]], directions: &[], ..viewer(false) };
        assert_eq!(two.unreal_priority([8_900.0, 0.0, 0.0], 1.0), 1.0, "the best of several viewpoints");
    }
}
