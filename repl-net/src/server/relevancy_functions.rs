//! The functions that decide which connections see the objects of a class, and for which objects they must be
//! called.
//!
//! *Invariant:* an object that uses the function of its class and was not decided about yet, or whose owner
//! has changed since, is in `marked`.

use std::collections::BTreeMap;

use super::verdicts::Due;
use crate::body::slot_set::SlotSet;

/// The classes that have functions.
#[derive(Debug, Default)]
pub(crate) struct RelevancyFunctions {
    classes: BTreeMap<u16, ClassFunction>,
    /// Whether the functions must be called for all objects of some connection, because it is new, or because
    /// something of it has changed.
    pub(crate) have_outdated: bool,
}

/// When the function of a class is called.
#[derive(Debug, Default)]
pub(crate) struct ClassFunction {
    /// The objects in whose relevancy or audience the function decides.
    users: SlotSet,
    /// The users that are due in the next tick, whether or not they have changed.
    marked: SlotSet,
    /// If this is not zero, the function is called for each pair once in so many ticks. Otherwise it is
    /// called for objects and connections that have changed.
    pub(crate) period_ticks: u16,
    /// How often the function was called so far.
    pub(crate) calls: u64,
    /// The objects that are due in this tick, for all connections.
    pub(crate) due: Vec<Due>,
    /// All users, for connections that are outdated.
    pub(crate) all: Vec<Due>,
    is_all_current: bool,
}

impl RelevancyFunctions {
    pub(crate) fn are_used(&self) -> bool {
        !self.classes.is_empty()
    }

    pub(crate) fn class(&self, class: u16) -> Option<&ClassFunction> {
        self.classes.get(&class)
    }

    /// Returns the function of a class, and adds it if the class has none.
    pub(crate) fn class_mut(&mut self, class: u16) -> &mut ClassFunction {
        self.classes.entry(class).or_default()
    }

    pub(crate) fn classes_mut(&mut self) -> impl Iterator<Item = (u16, &mut ClassFunction)> {
        self.classes.iter_mut().map(|(&class, function)| (class, function))
    }

    /// Records whether the function decides who sees an object. If so, it is called in the next tick.
    pub(crate) fn set_user(&mut self, class: u16, slot: u32, is_user: bool) {
        if let Some(function) = self.classes.get_mut(&class) {
            function.users.set(slot, is_user);
            function.marked.set(slot, is_user);
            function.is_all_current = false;
        }
    }

    /// Lets the function be called in the next tick for an object whose owner has changed.
    pub(crate) fn mark(&mut self, class: u16, slot: u32) {
        if let Some(function) = self.classes.get_mut(&class).filter(|function| function.users.contains(slot))
        {
            function.marked.insert(slot);
        }
    }

    /// Forgets an object that is removed, and that other objects of its class may have changed their rows.
    /// Returns whether connections may have verdicts about the object.
    pub(crate) fn forget(&mut self, class: u16, slot: u32) -> bool {
        self.set_user(class, slot, false);
        self.classes.contains_key(&class)
    }

    /// Finds the objects for which functions are called in the tick `tick`. `changed` has the objects that
    /// have changed, and `due_of` returns the object in a slot. Returns whether any function is called.
    pub(crate) fn find_due(&mut self, tick: u64, changed: &SlotSet, due_of: impl Fn(u32) -> Due) -> bool {
        let have_outdated = std::mem::take(&mut self.have_outdated);
        let mut is_any_due = have_outdated;
        for function in self.classes.values_mut() {
            function.find_due(tick, changed, &due_of);
            is_any_due |= !function.due.is_empty();
            if have_outdated {
                function.find_all(&due_of);
            }
        }
        is_any_due
    }
}

impl ClassFunction {
    /// Lets the function be called for all its users in the next tick.
    pub(crate) fn mark_all(&mut self) {
        self.marked.clone_from(&self.users);
    }

    fn find_due(&mut self, tick: u64, changed: &SlotSet, due_of: &impl Fn(u32) -> Due) {
        let Self { users, marked, period_ticks, due, .. } = self;
        due.clear();
        if *period_ticks == 0 {
            users.masks_in(changed).for_each(|(word, mask)| marked.insert_mask(word, mask));
        } else {
            let has_turn = |word: usize| (tick + word as u64).is_multiple_of(u64::from(*period_ticks));
            let words = users.masks().filter(|(word, _)| has_turn(*word));
            words.for_each(|(word, mask)| marked.insert_mask(word, mask));
        }
        due.extend(marked.iter().map(due_of));
        marked.clear();
    }

    fn find_all(&mut self, due_of: &impl Fn(u32) -> Due) {
        if !self.is_all_current {
            self.all.clear();
            self.all.extend(self.users.iter().map(due_of));
            self.is_all_current = true;
        }
    }

    /// Returns the objects for which the function is called for a connection that is new or outdated, or for
    /// any other connection.
    pub(crate) fn due_for(&self, is_new: bool, is_outdated: bool) -> &[Due] {
        if is_new || is_outdated && self.period_ticks == 0 { &self.all } else { &self.due }
    }
}
