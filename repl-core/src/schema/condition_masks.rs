//! Condition masks: the set of handles that are compared, and the set of handles that are sent under each
//! condition. A handle is the number of a property, or of a part of a property, in its object.
//!
//! *Invariant:* a mask contains all handles of a property or none. A condition applies to all handles of a
//! property (S73).

use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::property_index::PropertyIndex;
use crate::schema::command::Parent;
use crate::schema::condition::{Condition, ViewFlags};
use crate::schema::program::Program;
use crate::schema::shape::Notify;

/// The conditions of one class, stored as sets of handles.
#[derive(Clone, Debug)]
pub struct ConditionMasks {
    ordinary: HandleSet,
    initial_only: HandleSet,
    may_end_with_opening: HandleSet,
    push: HandleSet,
    marks_itself: HandleSet,
    not_scanned: HandleSet,
    starts_off: HandleSet,
    active: Vec<HandleSet>,
    parents: Vec<Parent>,
    /// The property of each handle. The first entry is for handle 1.
    properties: Vec<PropertyIndex>,
    /// The handles of each property.
    handles: Vec<HandleSet>,
    conditional: bool,
    depends_on_distance: bool,
}

impl ConditionMasks {
    pub(crate) fn new(program: &Program, scan_nothing: bool) -> Self {
        let parents = program.parents().to_vec();
        let select = |keep: &dyn Fn(&Parent) -> bool| handles_where(&parents, keep);
        let is_updated = |parent: &Parent| parent.condition.is_compared_each_tick();
        let active = (0..ViewFlags::COUNT)
            .map(|index| select(&|parent| parent.condition.allows(ViewFlags::from_index(index))))
            .collect();
        let ordinary = select(&|parent| !parent.push && is_updated(parent));
        let push = select(&|parent| parent.push && is_updated(parent));
        let is_scanned = |handle| !scan_nothing && program.is_plain(handle);
        Self {
            not_scanned: ordinary.iter().filter(|&handle| !is_scanned(handle)).collect(),
            initial_only: select(&|parent| parent.condition == Condition::InitialOnly),
            may_end_with_opening: select(&|parent| parent.condition.may_end_with_opening()),
            marks_itself: push.iter().filter(|&handle| program.is_collection::<ItemId>(handle)).collect(),
            push,
            starts_off: select(&|parent| parent.starts_off),
            conditional: parents.iter().any(|parent| parent.condition != Condition::None),
            depends_on_distance: parents.iter().any(|parent| parent.condition.depends_on_distance()),
            properties: parents
                .iter()
                .flat_map(|parent| (parent.handles.0..parent.handles.1).map(|_| parent.property))
                .collect(),
            handles: handles_of_each(&parents),
            ordinary,
            active,
            parents,
        }
    }

    /// Returns the properties that every comparison covers: all properties except those with `InitialOnly`,
    /// `Never` or `push`.
    #[must_use]
    pub fn ordinary(&self) -> &HandleSet {
        &self.ordinary
    }

    /// Returns the properties that are compared when an object is sent to a connection for the first time.
    #[must_use]
    pub fn initial_only(&self) -> &HandleSet {
        &self.initial_only
    }

    /// Returns the properties that may be sent only until the client acknowledges the opening (the first
    /// update of an object): the properties with `InitialOnly`, `InitialOrOwner` or `Dynamic`.
    #[must_use]
    pub fn may_end_with_opening(&self) -> &HandleSet {
        &self.may_end_with_opening
    }

    /// Returns the properties that are compared only when they are marked, and when the object is sent to a
    /// connection for the first time. An `InitialOnly` property is compared only when the object is sent to a
    /// connection for the first time, even if it is marked.
    #[must_use]
    pub fn push(&self) -> &HandleSet {
        &self.push
    }

    /// Returns the properties that are sent to a connection only after the server has switched them on for
    /// that connection.
    #[must_use]
    pub fn starts_off(&self) -> &HandleSet {
        &self.starts_off
    }

    /// Returns the fast arrays among the [`push`](Self::push) properties. A fast array records every write to
    /// itself (S129).
    pub(crate) fn marks_itself(&self) -> &HandleSet {
        &self.marks_itself
    }

    /// Returns whether any `push` property records every write to itself.
    #[must_use]
    pub fn has_marks_of_its_own(&self) -> bool {
        !self.marks_itself.is_empty()
    }

    /// Returns the handles whose values are not plain memory, so that the commands of the program must
    /// compare them.
    pub(crate) fn not_scanned(&self) -> &HandleSet {
        &self.not_scanned
    }

    /// Returns the properties that are sent to a connection that sees an object with `flags`, before switches
    /// and run-time conditions are applied.
    #[must_use]
    pub fn active(&self, flags: ViewFlags) -> &HandleSet {
        &self.active[flags.index()]
    }

    /// Returns whether any property has a condition. If no property has a condition, all connections see the
    /// same properties.
    #[inline]
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.conditional
    }

    /// Returns whether connections that are near an object may see other properties than connections that are
    /// far away: whether any property has the condition `NearOnly` or `Dynamic`.
    #[must_use]
    pub fn depend_on_distance(&self) -> bool {
        self.depends_on_distance
    }

    /// Returns the handles of a property.
    #[inline]
    #[must_use]
    pub fn handles_of(&self, property: PropertyIndex) -> &HandleSet {
        static NONE: HandleSet = HandleSet::new();
        self.handles.get(property.index()).unwrap_or(&NONE)
    }

    /// Returns all handles of the properties to which these handles belong.
    #[must_use]
    pub fn whole_properties(&self, handles: &HandleSet) -> HandleSet {
        let mut whole = HandleSet::new();
        for property in handles.iter().filter_map(|handle| self.property_of(handle)) {
            whole.union(self.handles_of(property));
        }
        whole
    }

    /// Returns the condition with which a property was declared.
    #[must_use]
    pub fn condition_of(&self, property: PropertyIndex) -> Condition {
        self.parents
            .iter()
            .find(|parent| parent.property == property)
            .map_or(Condition::None, |parent| parent.condition)
    }

    /// Returns an entry for each property with a notify: the index of the property, when the notify is
    /// called, and the range of the handles of the property. The end of the range is exclusive.
    pub fn notifies(&self) -> impl Iterator<Item = (PropertyIndex, Notify, (u32, u32))> {
        self.parents
            .iter()
            .filter(|parent| parent.notify != Notify::None)
            .map(|parent| (parent.property, parent.notify, parent.handles))
    }

    /// Returns the property to which a handle belongs.
    #[inline]
    #[must_use]
    pub fn property_of(&self, handle: u32) -> Option<PropertyIndex> {
        self.properties.get(handle.wrapping_sub(1) as usize).copied()
    }
}

/// Returns the handles of each property, by the indices of the properties.
fn handles_of_each(parents: &[Parent]) -> Vec<HandleSet> {
    let count = parents.iter().map(|parent| parent.property.index() + 1).max().unwrap_or(0);
    let mut handles = vec![HandleSet::new(); count];
    for parent in parents {
        (parent.handles.0..parent.handles.1)
            .for_each(|handle| handles[parent.property.index()].insert(handle));
    }
    handles
}

/// Returns the handles of the parents (replicated fields, or elements of fixed arrays) for which `keep`
/// returns true.
fn handles_where(parents: &[Parent], keep: &dyn Fn(&Parent) -> bool) -> HandleSet {
    let kept = parents.iter().filter(|parent| keep(parent));
    kept.flat_map(|parent| parent.handles.0..parent.handles.1).collect()
}
