//! A naive model of relevancy: it computes the distance of each viewpoint to the cell of each object.
//!
//! *Invariant:* nothing here uses the library's cells.

use std::collections::{BTreeMap, BTreeSet};

use repl::{Audience, Group, Relevancy};

use super::{RADIUS, SIDE};

/// The distance beyond which a viewer no longer sees a cell that it saw before.
const KEEP_RADIUS: f32 = RADIUS * 1.25;
/// The distance up to which viewers are near an object.
pub(crate) const NEAR_RADIUS: f32 = RADIUS * 0.6;

/// An object of the model. Objects are identified by their indices.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) relevancy: Kind,
    pub(crate) owner: Option<usize>,
    /// The object that owns this one.
    pub(crate) owner_object: Option<usize>,
    pub(crate) audience: Audience,
    /// Whether the object is a subobject of the object to which it is attached.
    pub(crate) is_subobject: bool,
    pub(crate) hidden_from: BTreeSet<usize>,
    /// Three positions: the position that relevancy uses in this tick, the position at the last comparison,
    /// and the current position.
    pub(crate) positions: [[f32; 2]; 3],
}

/// A relevancy, with indices instead of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Always,
    OwnerOnly,
    Group(u32),
    Located,
    AttachedTo(usize),
    Nobody,
}

impl Kind {
    pub(crate) fn relevancy(self, reference: impl Fn(usize) -> repl::ObjectRef<()>) -> Relevancy {
        match self {
            Self::Always => Relevancy::Always,
            Self::OwnerOnly => Relevancy::OwnerOnly,
            Self::Group(group) => Relevancy::Group(Group(group)),
            Self::Located => Relevancy::Located,
            Self::AttachedTo(parent) => Relevancy::AttachedTo(reference(parent)),
            Self::Nobody => Relevancy::Nobody,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Viewer {
    pub(crate) groups: BTreeSet<u32>,
    viewpoints: Vec<[f32; 2]>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) objects: BTreeMap<usize, Object>,
    pub(crate) viewers: Vec<Viewer>,
    /// The pairs of viewers and objects that they see.
    pub(crate) shown: BTreeSet<(usize, usize)>,
    /// Whether viewers do not see the `NearOnly` properties of far objects.
    pub(crate) has_far: bool,
}

impl Model {
    pub(crate) fn sees(&self, viewer: usize, object: usize) -> bool {
        self.shown.contains(&(viewer, object))
    }

    /// Computes which viewers see which objects, after one change.
    pub(crate) fn refresh(&mut self) {
        let before = std::mem::take(&mut self.shown);
        for viewer in 0..self.viewers.len() {
            for &object in self.objects.keys() {
                let is_visible = self.is_owned(viewer, object) || self.is_near(viewer, object, &before);
                if is_visible && !self.is_hidden(viewer, object) {
                    self.shown.insert((viewer, object));
                }
            }
        }
    }

    /// Whether a viewer does not see the `NearOnly` properties of an object that it sees.
    pub(crate) fn is_far(&self, viewer: usize, object: usize) -> bool {
        self.has_far && !self.is_owned(viewer, object) && self.is_in_far_cell(viewer, object)
    }

    fn is_in_far_cell(&self, viewer: usize, object: usize) -> bool {
        match self.objects[&object].relevancy {
            Kind::Located => !self.is_within(viewer, object, NEAR_RADIUS),
            Kind::AttachedTo(parent) => self.is_in_far_cell(viewer, parent),
            Kind::Always | Kind::OwnerOnly | Kind::Group(_) | Kind::Nobody => false,
        }
    }

    /// Whether the centre of the cell of an object is within a distance of a viewpoint.
    fn is_within(&self, viewer: usize, object: usize, radius: f32) -> bool {
        let position = self.objects[&object].positions[0];
        let centre = position.map(|coordinate| ((coordinate / SIDE).floor() + 0.5) * SIDE);
        self.viewers[viewer].viewpoints.iter().any(|&viewpoint| distance(viewpoint, centre) <= radius)
    }

    fn is_hidden(&self, viewer: usize, object: usize) -> bool {
        let entry = &self.objects[&object];
        entry.relevancy == Kind::Nobody
            || entry.hidden_from.contains(&viewer)
            || !self.is_in_audience(viewer, object)
            || matches!(entry.relevancy, Kind::AttachedTo(parent) if self.is_hidden(viewer, parent))
    }

    fn is_in_audience(&self, viewer: usize, object: usize) -> bool {
        match self.objects[&object].audience {
            Audience::Owner => self.owner(object) == Some(viewer),
            Audience::NotOwner => self.owner(object) != Some(viewer),
            Audience::Group(Group(group)) => self.viewers[viewer].groups.contains(&group),
            _ => true,
        }
    }

    /// Returns the viewer that owns an object, directly or through other objects.
    fn owner(&self, object: usize) -> Option<usize> {
        let entry = &self.objects[&object];
        entry.owner_object.map_or(entry.owner, |owner| self.owner(owner))
    }

    /// Whether `owner` owns an object, directly or through other objects, or is the object.
    pub(crate) fn is_owned_by(&self, object: usize, owner: usize) -> bool {
        object == owner
            || self.objects[&object].owner_object.is_some_and(|object| self.is_owned_by(object, owner))
    }

    fn is_owned(&self, viewer: usize, object: usize) -> bool {
        let entry = &self.objects[&object];
        self.owner(object) == Some(viewer)
            || matches!(entry.relevancy, Kind::AttachedTo(parent) if self.is_owned(viewer, parent))
    }

    /// Whether a viewer sees an object because of the object's relevancy. `before` are the pairs of viewers
    /// and objects that were seen until now.
    fn is_near(&self, viewer: usize, object: usize, before: &BTreeSet<(usize, usize)>) -> bool {
        let entry = &self.objects[&object];
        match entry.relevancy {
            Kind::Always => true,
            Kind::OwnerOnly | Kind::Nobody => false,
            Kind::Group(group) => self.viewers[viewer].groups.contains(&group),
            Kind::Located => {
                let radius = if before.contains(&(viewer, object)) { KEEP_RADIUS } else { RADIUS };
                self.is_within(viewer, object, radius)
            }
            Kind::AttachedTo(parent) => self.is_near(viewer, parent, before),
        }
    }

    pub(crate) fn set_viewpoints(&mut self, viewer: usize, viewpoints: &[[f32; 2]]) {
        let viewer = &mut self.viewers[viewer];
        let is_near = viewer.viewpoints.len() == viewpoints.len()
            && viewer
                .viewpoints
                .iter()
                .zip(viewpoints)
                .all(|(one, other)| distance(*one, *other) <= SIDE / 4.0);
        if is_near {
            return;
        }
        viewer.viewpoints = viewpoints.to_vec();
    }

    /// Sets which viewers see an object. The position of its last comparison counts immediately.
    pub(crate) fn set_relevancy(&mut self, object: usize, relevancy: Kind) {
        let entry = self.objects.get_mut(&object).expect("it exists");
        entry.relevancy = relevancy;
        entry.positions[0] = entry.positions[1];
    }

    /// Runs one tick.
    pub(crate) fn tick(&mut self) {
        for object in self.objects.values_mut() {
            let [_, compared, current] = object.positions;
            object.positions = [compared, current, current];
        }
    }

    /// Removes an object and its subobjects.
    pub(crate) fn remove(&mut self, object: usize) {
        let is_below = |other: &Object| other.is_subobject && other.relevancy == Kind::AttachedTo(object);
        let below: Vec<usize> =
            self.objects.iter().filter(|(_, other)| is_below(other)).map(|(&number, _)| number).collect();
        below.into_iter().for_each(|number| self.remove(number));
        self.objects.remove(&object);
        for other in self.objects.values_mut() {
            if other.relevancy == Kind::AttachedTo(object) {
                other.relevancy = Kind::OwnerOnly;
            }
            if other.owner_object == Some(object) {
                (other.owner_object, other.owner) = (None, None);
            }
        }
    }

    /// Whether an object is attached to another object, directly or through others, or is this object.
    pub(crate) fn is_attached(&self, object: usize, to: usize) -> bool {
        object == to
            || matches!(self.objects[&object].relevancy, Kind::AttachedTo(parent) if self.is_attached(parent, to))
    }
}

fn distance(one: [f32; 2], other: [f32; 2]) -> f32 {
    (one[0] - other[0]).hypot(one[1] - other[1])
}
