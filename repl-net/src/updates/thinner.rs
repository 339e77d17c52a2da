//! Finds the updates in the queue that are no longer needed.
//!
//! *Invariant:* a user who polls only the remaining updates knows the same about objects and owners in the
//! end as a user who polls all updates.

use std::collections::HashMap;
use std::sync::Arc;

use repl_core::ObjectRef;

use super::entry::Entry;
use super::update::UpdateKind;

/// Drops updates that are no longer needed. Returns the remaining updates, and the removed objects whose
/// removal no update reports. Each entry must have only one object. For each object:
/// - If it arrived and was despawned in these updates, all its updates are dropped.
/// - If it was only despawned, this is the only update that remains.
/// - All its changes are merged into one, or dropped if its arrival is among the updates.
/// - Of the changes of its owner, the last one remains.
/// - If it came back into sight, its earlier changes and its time out of sight are dropped.
///
/// For each path, the last update of each kind remains. However, if the user knows an object as bound under
/// the path, the end of this binding remains.
pub(super) fn thinned(entries: Vec<Entry>) -> (Vec<Entry>, Vec<ObjectRef<()>>) {
    let entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    let mut thinner = Thinner { entries, ..Thinner::default() };
    for at in 0..thinner.entries.len() {
        thinner.take(at);
    }
    (thinner.entries.into_iter().flatten().collect(), thinner.unreported)
}

#[derive(Default)]
struct Thinner {
    /// All updates. An update that is not needed becomes `None`.
    entries: Vec<Option<Entry>>,
    /// For each kind of update, a map from an object to the index in `entries` of its last update of this
    /// kind.
    arrived: HashMap<ObjectRef<()>, usize>,
    changed: HashMap<ObjectRef<()>, usize>,
    owned: HashMap<ObjectRef<()>, usize>,
    torn_off: HashMap<ObjectRef<()>, usize>,
    unknown: HashMap<ObjectRef<()>, usize>,
    out_of_sight: HashMap<ObjectRef<()>, usize>,
    back_in_sight: HashMap<ObjectRef<()>, usize>,
    /// For each kind of update, a map from a path to the index in `entries` of its last update of this kind.
    bound: HashMap<Arc<str>, usize>,
    destroyed: HashMap<Arc<str>, usize>,
    unreported: Vec<ObjectRef<()>>,
}

impl Thinner {
    /// Handles the update at the index `at`, and drops the earlier updates that it makes unnecessary.
    fn take(&mut self, at: usize) {
        let Some(Entry { objects: (object, _), what, .. }) = self.entries.get(at).cloned().flatten() else {
            return;
        };
        match what {
            UpdateKind::Spawned => _ = self.arrived.insert(object, at),
            UpdateKind::Changed if self.has_arrived(object) => self.drop(Some(at)),
            UpdateKind::Changed => {
                let before = self.changed.insert(object, at);
                self.merge(before, at);
            }
            UpdateKind::Owner => {
                let before = self.owned.insert(object, at);
                self.drop(before);
            }
            UpdateKind::TornOff => _ = self.torn_off.insert(object, at),
            UpdateKind::OutOfSight => {
                let before = self.out_of_sight.insert(object, at);
                self.drop(before);
            }
            UpdateKind::BackInSight => self.back_in_sight(object, at),
            UpdateKind::UnknownPath(_) => _ = self.unknown.insert(object, at),
            UpdateKind::Bound(path) => {
                self.arrived.insert(object, at);
                let destroyed = self.destroyed.remove(&path);
                self.drop(destroyed);
                // If the earlier object under the path was torn off, it still exists, so its binding must be
                // reported.
                let before = self.bound.insert(path, at).filter(|&before| self.is_end(before));
                self.drop(before);
            }
            UpdateKind::Unbound(path) => {
                for of_kind in [&mut self.changed, &mut self.owned, &mut self.unknown] {
                    drop_at(&mut self.entries, of_kind.remove(&object));
                }
                // If the user already knows the object as bound, the end of the binding must be reported in
                // any case.
                if let Some(arrived) = self.arrived.remove(&object) {
                    self.drop(Some(arrived));
                    let before = self.bound.insert(path, at);
                    self.drop(before);
                }
            }
            UpdateKind::PathDestroyed(path) => {
                let before = self.destroyed.insert(path, at);
                self.drop(before);
            }
            UpdateKind::Despawned(_) => self.despawned(object, at),
        }
    }

    fn has_arrived(&self, object: ObjectRef<()>) -> bool {
        self.arrived.contains_key(&object) || self.back_in_sight.contains_key(&object)
    }

    fn back_in_sight(&mut self, object: ObjectRef<()>, at: usize) {
        for of_kind in [&mut self.changed, &mut self.out_of_sight, &mut self.back_in_sight] {
            drop_at(&mut self.entries, of_kind.remove(&object));
        }
        if self.arrived.contains_key(&object) {
            self.drop(Some(at));
        } else {
            self.back_in_sight.insert(object, at);
        }
    }

    fn despawned(&mut self, object: ObjectRef<()>, at: usize) {
        for of_kind in [
            &mut self.changed,
            &mut self.owned,
            &mut self.torn_off,
            &mut self.unknown,
            &mut self.out_of_sight,
            &mut self.back_in_sight,
        ] {
            drop_at(&mut self.entries, of_kind.remove(&object));
        }
        if let Some(start) = self.arrived.remove(&object) {
            self.drop(Some(start));
            self.drop(Some(at));
            self.unreported.push(object);
        }
    }

    /// Adds the properties of an earlier change to a later change, and drops the earlier change.
    fn merge(&mut self, before: Option<usize>, at: usize) {
        let before = before.and_then(|before| self.entries.get_mut(before)).and_then(Option::take);
        if let (Some(before), Some(Some(entry))) = (before, self.entries.get_mut(at)) {
            entry.properties.add(&before.properties.to_set());
        }
    }

    /// Returns whether the update at the index `at` reports that an object is no longer bound.
    fn is_end(&self, at: usize) -> bool {
        let entry = self.entries.get(at).and_then(Option::as_ref);
        entry.is_some_and(|entry| matches!(entry.what, UpdateKind::Unbound(_)))
    }

    fn drop(&mut self, at: Option<usize>) {
        drop_at(&mut self.entries, at);
    }
}

fn drop_at(entries: &mut [Option<Entry>], at: Option<usize>) {
    if let Some(entry) = at.and_then(|at| entries.get_mut(at)) {
        *entry = None;
    }
}
