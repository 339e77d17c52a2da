//! The notifies of a class: functions that run when a property changes.
//!
//! *Invariant:* a notify belongs to one property, which has one or more consecutive handles.

use repl_core::{ConditionMasks, HandleSet, Notify, PropertyIndex};

/// The notifies of a class. They are found by their indices, or by the handles of their properties.
pub(super) struct Notifies {
    all: Vec<NotifyOf>,
    /// For each handle, beginning with handle 1, the index of the notify plus one, or zero if the property
    /// has no notify. Empty if the class has no notifies.
    numbers: Vec<u32>,
}

/// The notify of a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotifyOf {
    pub(super) property: PropertyIndex,
    pub(super) when: Notify,
    /// The first handle of the property, and the handle after its last one.
    pub(super) handles: (u32, u32),
}

impl Notifies {
    /// Returns the notifies of a class with `handles` handles.
    pub(super) fn of(conditions: &ConditionMasks, handles: u32) -> Self {
        let mut all: Vec<NotifyOf> = Vec::new();
        for (property, when, handles) in conditions.notifies() {
            match all.last_mut() {
                // The elements of a fixed array have consecutive ranges of handles, and one notify for all of
                // them.
                Some(last) if last.property == property => last.handles.1 = handles.1,
                _ => all.push(NotifyOf { property, when, handles }),
            }
        }
        let handles = if all.is_empty() { 0 } else { handles };
        let place = |handle| {
            let has = |notify: &NotifyOf| (notify.handles.0..notify.handles.1).contains(&handle);
            all.iter().position(has)
        };
        let number = |handle| place(handle).map_or(0, |place| (place as u32).saturating_add(1));
        Self { numbers: (1..=handles).map(number).collect(), all }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, number: u32) -> Option<NotifyOf> {
        self.all.get(number as usize).copied()
    }

    pub(super) fn number_at(&self, handle: u32) -> Option<u32> {
        self.numbers.get(handle.wrapping_sub(1) as usize)?.checked_sub(1)
    }

    /// Returns the indices of the notifies of the properties in `handles`, without duplicates. Costs
    /// O(handles) if the class has notifies.
    pub(super) fn among(&self, handles: &HandleSet) -> impl Iterator<Item = u32> {
        let handles = (!self.is_empty()).then(|| handles.iter());
        let mut last = None;
        // All handles of one property are consecutive, so comparing with the previous notify is enough to
        // find duplicates.
        let is_next = move |notify: &u32| last.replace(*notify) != Some(*notify);
        handles.into_iter().flatten().filter_map(|handle| self.number_at(handle)).filter(is_next)
    }

    /// Returns those handles whose properties have a notify, together with all other handles of these
    /// properties.
    pub(super) fn handles_among(&self, handles: &HandleSet) -> HandleSet {
        let mut notified = HandleSet::new();
        for NotifyOf { handles, .. } in self.among(handles).filter_map(|number| self.get(number)) {
            (handles.0..handles.1).for_each(|handle| notified.insert(handle));
        }
        notified
    }
}
