//! Finds the waiting updates that are no longer needed.
//!
//! *Invariant:* a user who polls only the remaining updates ends with the same knowledge of objects and
//! owners as after all updates.

use std::collections::HashMap;
use std::sync::Arc;

use repl_core::ObjectRef;

use super::entry::Entry;
use super::update::UpdateKind;

/// Drops updates that are no longer needed. Returns the remaining updates, and the removed objects that no
/// update reports. Drops all updates of objects that were created and removed in the meantime. If an object
/// was despawned, keeps only this update of it. Merges all changes of an object into one update, and drops
/// them if the arrival of the object is still to be reported. Keeps only the last change of the owner of each
/// object, and the last update of each kind for each path. However, if the user knows an object as bound, its
/// unbinding is kept. Each entry has only one object.
pub(super) fn thinned(entries: Vec<Entry>) -> (Vec<Entry>, Vec<ObjectRef<()>>) {
    let entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    let mut thinner = Thinner { entries, ..Thinner::default() };
    for at in 0..thinner.entries.len() {
        thinner.take(at);
    }
    (thinner.entries.into_iter().flatten().collect(), thinner.unreported)
}

/// Finds the updates that are no longer needed.
#[derive(Default)]
struct Thinner {
    /// All updates. Updates that are not needed become `None`.
    entries: Vec<Option<Entry>>,
    /// For each object, the index in `entries` of its last update, for each kind of update.
    arrived: HashMap<ObjectRef<()>, usize>,
    changed: HashMap<ObjectRef<()>, usize>,
    owned: HashMap<ObjectRef<()>, usize>,
    torn_off: HashMap<ObjectRef<()>, usize>,
    unknown: HashMap<ObjectRef<()>, usize>,
    /// For each path, the index in `entries` of its last update, for each kind of update.
    bound: HashMap<Arc<str>, usize>,
    destroyed: HashMap<Arc<str>, usize>,
    unreported: Vec<ObjectRef<()>>,
}

impl Thinner {
    /// Reads the update at an index, and drops the earlier updates that it makes unnecessary.
    fn take(&mut self, at: usize) {
        let Some(Entry { objects: (object, _), what, .. }) = self.entries.get(at).cloned().flatten() else {
            return;
        };
        match what {
            UpdateKind::Spawned => _ = self.arrived.insert(object, at),
            UpdateKind::Changed if self.arrived.contains_key(&object) => self.drop(Some(at)),
            UpdateKind::Changed => {
                let before = self.changed.insert(object, at);
                self.merge(before, at);
            }
            UpdateKind::Owner => {
                let before = self.owned.insert(object, at);
                self.drop(before);
            }
            UpdateKind::TornOff => _ = self.torn_off.insert(object, at),
            UpdateKind::UnknownPath(_) => _ = self.unknown.insert(object, at),
            UpdateKind::Bound(path) => {
                self.arrived.insert(object, at);
                let destroyed = self.destroyed.remove(&path);
                self.drop(destroyed);
                // An object that was bound under the path and then torn off still exists.
                let before = self.bound.insert(path, at).filter(|&before| self.is_end(before));
                self.drop(before);
            }
            UpdateKind::Unbound(path) => {
                for of_kind in [&mut self.changed, &mut self.owned, &mut self.unknown] {
                    drop_at(&mut self.entries, of_kind.remove(&object));
                }
                // A user who knows the object as bound must learn of its unbinding, whatever comes after.
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

    fn despawned(&mut self, object: ObjectRef<()>, at: usize) {
        for of_kind in [&mut self.changed, &mut self.owned, &mut self.torn_off, &mut self.unknown] {
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

    /// Returns whether the update at an index reports that an object is no longer bound.
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
