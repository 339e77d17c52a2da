//! Replicas: all objects of one class on a client.
//!
//! Invariant: row `n` of each of the vectors belongs to the same object; `old` is kept only by classes with notifies. Updates are deltas to
//! what the server sent, so an object that the user may have changed has a base, which holds that and nothing else.

use std::any::Any;
use std::collections::HashMap;

use repl_core::__private::ObjectTold;
use repl_core::{
    BitReader, BitSlice, Checked, CheckedUpdate, Class, DecodeError, HandleSet, Notify, Observer, Program,
    PropertyIndex, ReferenceMap, Replicated,
};

use crate::column::Archetype;

/// What an update is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    /// The object in this row.
    Row(u32),
    /// A new object, as this archetype makes it.
    Archetype(u32),
}

/// What of the user's code is called, in the order of S54.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callback {
    PreNetReceive,
    PostNetReceive,
    Notify(PropertyIndex),
    PostRepNotifies,
    PostNetInit,
}

/// The objects of one class, whatever its type.
pub(crate) trait Replica: Any + Send + Sync {
    fn program(&self) -> &Program;
    /// Reads an update without applying it; what applying needs goes to `checked`.
    fn validate(
        &self,
        subject: Subject,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError>;
    /// Applies an update that was validated, and remembers what [`changed`](Self::changed) asks for.
    fn apply(
        &mut self,
        row: u32,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    );
    /// Adds the properties among `handles` that must be notified after an update of these to `notifies`.
    fn changed(&self, row: u32, handles: &HandleSet, notifies: &mut Vec<PropertyIndex>);
    /// Reads one leaf again (S118). `received` are the handles that this packet brought or that were read again.
    fn read_again(
        &mut self,
        row: u32,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
        received: &mut HandleSet,
        notifies: &mut Vec<PropertyIndex>,
    );
    fn has_archetype(&self, archetype: u32) -> bool;
    /// Adds an object as its archetype makes it; gives its row.
    fn insert(&mut self, slot: u32, archetype: u32) -> u32;
    /// Takes an object out; gives the slot of the one that moved to its row.
    fn remove(&mut self, row: u32) -> Option<u32>;
    /// Ends an update of an object's collections: their callbacks, then what is to go goes (S178).
    fn conclude(&mut self, row: u32);
    /// Calls the user's code on an object.
    fn call(&mut self, row: u32, callback: Callback);
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// The objects of the class `T`.
pub(crate) struct TypedReplica<T> {
    class: Class<T>,
    pub(crate) live: Vec<T>,
    /// The values from before the last receipt, for notifies.
    old: Vec<T>,
    /// By slot, what the server sent of objects with arrays that were lent to the user.
    bases: HashMap<u32, T>,
    slots: Vec<u32>,
    archetypes: Vec<Archetype<T>>,
    notifies: Vec<(PropertyIndex, Notify, (u32, u32))>,
}

impl<T: Replicated> TypedReplica<T> {
    pub(crate) fn new() -> Self {
        let class = Class::new();
        // A static array has several ranges, one behind the other, and one notify that is given all of it.
        let mut notifies: Vec<(PropertyIndex, Notify, (u32, u32))> = Vec::new();
        for (property, notify, range) in class.lifetime().notifies() {
            match notifies.last_mut() {
                Some((last, _, known)) if *last == property => known.1 = range.1,
                _ => notifies.push((property, notify, range)),
            }
        }
        Self {
            class,
            live: Vec::new(),
            old: Vec::new(),
            bases: HashMap::new(),
            slots: Vec::new(),
            archetypes: vec![Box::new(T::initial)],
            notifies,
        }
    }

    pub(crate) fn add_archetype(&mut self, archetype: Archetype<T>) -> u32 {
        self.archetypes.push(archetype);
        self.archetypes.len() as u32 - 1
    }

    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The object in a row, for the user to change.
    pub(crate) fn lend(&mut self, row: u32) -> Option<&mut T> {
        let row = row as usize;
        let (live, slot) = (self.live.get_mut(row)?, self.slots.get(row)?);
        if self.class.has_arrays() {
            self.bases.entry(*slot).or_insert_with(|| {
                let mut base = self.class.shadow_of(live);
                self.class.adopt(&mut base);
                base
            });
        }
        Some(live)
    }

    /// Lends an object before it is written to, if its values are told of that while it is.
    fn lend_to_callbacks(&mut self, row: u32) {
        if self.class.lends_entries() {
            self.lend(row);
        }
    }

    /// What the server sent of the object in a row.
    fn base(&self, row: usize) -> Option<&T> {
        let lent = if self.bases.is_empty() { None } else { self.bases.get(self.slots.get(row)?) };
        lent.or_else(|| self.live.get(row))
    }

    /// Remembers the values of the notified properties among `touched`.
    fn remember(&mut self, row: usize, touched: impl Fn((u32, u32)) -> bool) {
        let (Some(live), Some(old)) = (self.live.get(row), self.old.get_mut(row)) else { return };
        let mut handles = HandleSet::new();
        for (.., range) in self.notifies.iter().filter(|(.., range)| touched(*range)) {
            (range.0..range.1).for_each(|handle| handles.insert(handle));
        }
        // Of collections nobody keeps what they were: it would cost all of their items at each update. They know by themselves what came.
        handles.difference(self.class.keyed());
        if !handles.is_empty() {
            self.class.copy(live, old, &handles);
        }
    }

    /// Adds the notified properties among `touched` that changed, or are told of always, each once (S49, S50), and removes those that
    /// changed back.
    fn queue(&self, row: usize, touched: impl Fn((u32, u32)) -> bool, into: &mut Vec<PropertyIndex>) {
        let (Some(live), Some(old)) = (self.live.get(row), self.old.get(row)) else { return };
        for (property, notify, range) in self.notifies.iter().filter(|(.., range)| touched(*range)) {
            let is_due = *notify == Notify::Always || self.class.any_changed(live, old, *range);
            match into.iter().position(|known| known == property) {
                None if is_due => into.push(*property),
                Some(at) if !is_due => drop(into.swap_remove(at)),
                _ => {}
            }
        }
    }
}

fn touches(handles: &HandleSet) -> impl Fn((u32, u32)) -> bool {
    |range| (range.0..range.1).any(|handle| handles.contains(handle))
}

impl<T: Replicated> Replica for TypedReplica<T> {
    fn program(&self) -> &Program {
        self.class.program()
    }

    fn validate(
        &self,
        subject: Subject,
        handles: &HandleSet,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
        checked: &mut Checked,
    ) -> Result<(), DecodeError> {
        let class = &self.class;
        match subject {
            Subject::Row(row) => {
                class.validate(self.base(row as usize), handles, reader, references, checked)
            }
            Subject::Archetype(0) => class.validate(None, handles, reader, references, checked),
            Subject::Archetype(archetype) => {
                let object = self.archetypes.get(archetype as usize).map(|make| make());
                class.validate(object.as_ref(), handles, reader, references, checked)
            }
        }
    }

    fn apply(
        &mut self,
        row: u32,
        handles: &HandleSet,
        update: CheckedUpdate<'_, '_>,
        references: &mut ReferenceMap<'_>,
        observer: &mut dyn Observer,
    ) {
        self.lend_to_callbacks(row);
        let row = row as usize;
        self.remember(row, touches(handles));
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(slot)) = (live.get_mut(row), slots.get(row)) else { return };
        let Some(base) = bases.get_mut(slot) else {
            return class.apply(live, handles, update, references, observer);
        };
        class.apply_lent((live, base), handles, update.clone(), references, observer);
        class.apply(base, handles, update, references, &mut ());
    }

    fn changed(&self, row: u32, handles: &HandleSet, notifies: &mut Vec<PropertyIndex>) {
        self.queue(row as usize, touches(handles), notifies);
    }

    fn read_again(
        &mut self,
        row: u32,
        path: &[u32],
        bits: BitSlice<'_>,
        references: &mut ReferenceMap<'_>,
        received: &mut HandleSet,
        notifies: &mut Vec<PropertyIndex>,
    ) {
        self.lend_to_callbacks(row);
        let row = row as usize;
        let own = path.first().copied().unwrap_or(0);
        let touched = |range: (u32, u32)| (range.0..range.1).contains(&own);
        // What this packet brought already has its old value: the one shown before the packet.
        self.remember(row, |range| touched(range) && !touches(received)(range));
        received.insert(own);
        if let Some(base) = self.slots.get(row).and_then(|slot| self.bases.get_mut(slot)) {
            self.class.read_again_silently(base, path, bits, references);
        }
        if let Some(live) = self.live.get_mut(row) {
            self.class.read_again(live, path, bits, references);
        }
        self.queue(row, touched, notifies);
    }

    fn has_archetype(&self, archetype: u32) -> bool {
        (archetype as usize) < self.archetypes.len()
    }

    fn insert(&mut self, slot: u32, archetype: u32) -> u32 {
        let make = || {
            let mut object = self.archetypes.get(archetype as usize).map_or_else(T::initial, |make| make());
            self.class.adopt(&mut object);
            object
        };
        if !self.notifies.is_empty() {
            self.old.push(make());
        }
        self.live.push(make());
        self.slots.push(slot);
        self.live.len() as u32 - 1
    }

    fn remove(&mut self, row: u32) -> Option<u32> {
        let row = row as usize;
        if row >= self.live.len() {
            return None;
        }
        self.live.swap_remove(row);
        self.bases.remove(&self.slots.swap_remove(row));
        if !self.notifies.is_empty() {
            self.old.swap_remove(row);
        }
        self.slots.get(row).copied()
    }

    fn conclude(&mut self, row: u32) {
        if self.class.lends_arrays() {
            self.lend(row);
        }
        let Self { class, live, bases, slots, .. } = self;
        let (Some(live), Some(slot)) = (live.get_mut(row as usize), slots.get(row as usize)) else { return };
        class.conclude(live, true);
        if let Some(base) = bases.get_mut(slot) {
            class.conclude(base, false);
        }
    }

    fn call(&mut self, row: u32, callback: Callback) {
        if !T::Told::HAS_CALLBACKS && !matches!(callback, Callback::Notify(_)) {
            return;
        }
        self.lend(row);
        let Some(live) = self.live.get_mut(row as usize) else { return };
        match callback {
            Callback::PreNetReceive => T::Told::receiving(live),
            Callback::PostNetReceive => T::Told::received(live),
            Callback::Notify(property) => {
                if let Some(old) = self.old.get(row as usize) {
                    live.notify(property.index(), old);
                }
            }
            Callback::PostRepNotifies => T::Told::notified(live),
            Callback::PostNetInit => T::Told::begun(live),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
