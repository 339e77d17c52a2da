//! A naive model of relevancy: it computes the distance of each viewpoint to the cell of each object.
//!
//! *Invariant:* nothing here uses the library's cells.

use std::collections::{BTreeMap, BTreeSet};

use repl::{Group, Relevancy};

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
    pub(crate) audience: Kind,
    /// Whether the object is a subobject of the object to which it is attached.
    pub(crate) is_subobject: bool,
    pub(crate) hidden_from: BTreeSet<usize>,
    /// Three positions: the position that relevancy uses in this tick, the position at the last comparison,
    /// and the current position.
    pub(crate) positions: [[f32; 2]; 3],
}

/// A relevancy, with indices instead of references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Always,
    OwnerOnly,
    Group(u32),
    Located,
    AttachedTo(usize),
    Nobody,
    Computed,
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
}

/// How a viewer sees an object, from the least to the most: not at all, if it has seen the object before, or
/// in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sight {
    Never,
    IfSeenBefore,
    Now,
}

impl Sight {
    const fn of(sees: bool) -> Self {
        if sees { Self::Now } else { Self::Never }
    }
}

impl Kind {
    /// Whether the function of the class is a part of this relevancy.
    pub(crate) fn is_computed(&self) -> bool {
        match self {
            Self::Computed => true,
            Self::Any(parts) | Self::All(parts) => parts.iter().any(Self::is_computed),
            Self::Not(part) => part.is_computed(),
            _ => false,
        }
    }

    pub(crate) fn relevancy(&self, reference: &dyn Fn(usize) -> repl::ObjectRef<()>) -> Relevancy {
        let all = |parts: &[Self]| parts.iter().map(|part| part.relevancy(reference)).collect::<Vec<_>>();
        match self {
            Self::Always => Relevancy::Always,
            Self::OwnerOnly => Relevancy::OwnerOnly,
            Self::Group(group) => Relevancy::Group(Group(*group)),
            Self::Located => Relevancy::Located,
            Self::AttachedTo(parent) => Relevancy::AttachedTo(reference(*parent)),
            Self::Nobody => Relevancy::Nobody,
            Self::Computed => Relevancy::Computed,
            Self::Any(parts) => Relevancy::any(all(parts)),
            Self::All(parts) => Relevancy::all(all(parts)),
            Self::Not(part) => Relevancy::not(part.relevancy(reference)),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Viewer {
    pub(crate) groups: BTreeSet<u32>,
    /// The viewpoints for which the cells in sight were computed last.
    viewpoints: Vec<[f32; 2]>,
    /// The newest viewpoints, which functions get.
    pub(crate) newest_viewpoints: Vec<[f32; 2]>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) objects: BTreeMap<usize, Object>,
    pub(crate) viewers: Vec<Viewer>,
    /// The pairs of viewers and objects that they see.
    pub(crate) shown: BTreeSet<(usize, usize)>,
    /// The pairs of viewers and objects for which the function of the class has returned true.
    pub(crate) verdicts: BTreeSet<(usize, usize)>,
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
                let is_near = match self.sight(viewer, object, &self.objects[&object].relevancy) {
                    Sight::Never => false,
                    Sight::IfSeenBefore => before.contains(&(viewer, self.top(object))),
                    Sight::Now => true,
                };
                let is_visible = self.is_owned(viewer, object) || is_near;
                if is_visible && !self.is_hidden(viewer, object) {
                    self.shown.insert((viewer, object));
                }
            }
        }
    }

    /// Whether a viewer does not see the `NearOnly` properties of an object that it sees.
    pub(crate) fn is_far(&self, viewer: usize, object: usize) -> bool {
        let top = self.top(object);
        self.has_far
            && !self.is_owned(viewer, object)
            && !self.is_within(&self.viewers[viewer].viewpoints, top, NEAR_RADIUS)
            && self.is_by_distance(viewer, top, &self.objects[&top].relevancy)
    }

    /// Whether a viewer would not see an object by this relevancy if it were far from the object.
    fn is_by_distance(&self, viewer: usize, object: usize, relevancy: &Kind) -> bool {
        self.sight_from(viewer, &[], object, relevancy) == Sight::Never
    }

    /// Returns the object that carries an object and is attached to no other object.
    fn top(&self, object: usize) -> usize {
        match self.objects[&object].relevancy {
            Kind::AttachedTo(parent) => self.top(parent),
            _ => object,
        }
    }

    /// Whether the centre of the cell of an object is within a distance of a viewpoint.
    fn is_within(&self, viewpoints: &[[f32; 2]], object: usize, radius: f32) -> bool {
        let position = self.objects[&object].positions[0];
        let centre = position.map(|coordinate| ((coordinate / SIDE).floor() + 0.5) * SIDE);
        viewpoints.iter().any(|&viewpoint| distance(viewpoint, centre) <= radius)
    }

    fn is_hidden(&self, viewer: usize, object: usize) -> bool {
        let entry = &self.objects[&object];
        entry.relevancy == Kind::Nobody
            || entry.hidden_from.contains(&viewer)
            || !self.is_in_audience(viewer, object)
            || matches!(entry.relevancy, Kind::AttachedTo(parent) if self.is_hidden(viewer, parent))
    }

    fn is_in_audience(&self, viewer: usize, object: usize) -> bool {
        self.sight(viewer, object, &self.objects[&object].audience) == Sight::Now
    }

    /// Returns the viewer that owns an object, directly or through other objects.
    pub(crate) fn owner(&self, object: usize) -> Option<usize> {
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

    /// Returns how a viewer sees an object by a relevancy.
    fn sight(&self, viewer: usize, object: usize, relevancy: &Kind) -> Sight {
        self.sight_from(viewer, &self.viewers[viewer].viewpoints, object, relevancy)
    }

    fn sight_from(&self, viewer: usize, viewpoints: &[[f32; 2]], object: usize, relevancy: &Kind) -> Sight {
        let of = |part: &Kind| self.sight_from(viewer, viewpoints, object, part);
        match relevancy {
            Kind::Always => Sight::Now,
            Kind::OwnerOnly => Sight::of(self.owner(object) == Some(viewer)),
            Kind::Nobody => Sight::Never,
            Kind::Computed => Sight::of(self.verdicts.contains(&(viewer, object))),
            Kind::Group(group) => Sight::of(self.viewers[viewer].groups.contains(group)),
            Kind::Located if self.is_within(viewpoints, object, RADIUS) => Sight::Now,
            Kind::Located if self.is_within(viewpoints, object, KEEP_RADIUS) => Sight::IfSeenBefore,
            Kind::Located => Sight::Never,
            Kind::AttachedTo(parent) => {
                self.sight_from(viewer, viewpoints, *parent, &self.objects[parent].relevancy)
            }
            Kind::Any(parts) => parts.iter().map(of).max().unwrap_or(Sight::Never),
            Kind::All(parts) => parts.iter().map(of).min().unwrap_or(Sight::Now),
            Kind::Not(part) => match of(part) {
                Sight::Never => Sight::Now,
                Sight::IfSeenBefore => Sight::IfSeenBefore,
                Sight::Now => Sight::Never,
            },
        }
    }

    pub(crate) fn set_viewpoints(&mut self, viewer: usize, viewpoints: &[[f32; 2]]) {
        let viewer = &mut self.viewers[viewer];
        viewer.newest_viewpoints = viewpoints.to_vec();
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
        self.verdicts.retain(|&(_, of)| of != object);
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
