//! A server's object, its shadow, and a client's replica of it. The tests of the core share this harness.
//!
//! *Invariant:* everything that reaches a replica was encoded as bits, and was validated before it was
//! applied.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod world;

use repl::tools::wire::{read_handles, write_handles};
use repl::tools::{Changelist, Class, DecodeError, HandleSet, Objects, Scratch, Shadow};
use repl::{BitReader, BitWriter, Guid, ReferenceMap, Refusal, Replicated};

/// An object with its shadow and one replica. The object, the shadow and the replica begin as copies of the
/// same archetype.
pub(crate) struct Pair<T> {
    pub(crate) class: Class<T>,
    pub(crate) live: T,
    pub(crate) shadow: T,
    /// The bytes of the object's quantised values at the last comparison.
    pub(crate) seen: Vec<u8>,
    pub(crate) replica: T,
    pub(crate) refusals: Vec<Refusal>,
    scratch: Scratch,
    /// How often the whole object was compared.
    comparisons: usize,
}

impl<T: Replicated + Default> Pair<T> {
    pub(crate) fn new() -> Self {
        Self::from(T::default)
    }

    pub(crate) fn from(archetype: impl Fn() -> T) -> Self {
        let class = Class::new();
        let (shadow, mut seen) = (class.shadow_of(&archetype()), Vec::new());
        class.push_seen(&shadow, &mut seen);
        Self {
            live: archetype(),
            shadow,
            seen,
            replica: archetype(),
            class,
            refusals: Vec::new(),
            scratch: Scratch::default(),
            comparisons: 0,
        }
    }

    /// Changes the object and compares all of it.
    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut T)) -> Changelist {
        edit(&mut self.live);
        self.compare()
    }

    /// Compares the whole object. Every second call works like a tick: it first compares the properties that
    /// are compared in every tick, and then the other properties.
    pub(crate) fn compare(&mut self) -> Changelist {
        let mut scope = HandleSet::up_to(self.class.program().handles());
        self.comparisons += 1;
        if self.comparisons.is_multiple_of(2) {
            return self.compare_some(&scope);
        }
        let mut changes = Changelist::new();
        let Self { class, live, shadow, seen, refusals, scratch, .. } = self;
        class.compare_ordinary(live, shadow, seen, &mut changes, refusals, scratch);
        scope.difference(class.conditions().ordinary());
        self.compare_into(&scope, &mut changes);
        changes
    }

    pub(crate) fn compare_some(&mut self, scope: &HandleSet) -> Changelist {
        let mut changes = Changelist::new();
        self.compare_into(scope, &mut changes);
        changes
    }

    fn compare_into(&mut self, scope: &HandleSet, changes: &mut Changelist) {
        let (refusals, scratch) = (&mut self.refusals, &mut self.scratch);
        let shadow = Shadow { values: &mut self.shadow, seen: &mut self.seen, is_new: false };
        self.class.compare_seen(&self.live, shadow, scope, changes, refusals, scratch);
        if scratch.take_must_renumber() {
            self.class.renumber_items(&mut self.live);
        }
    }

    /// Returns whether a scan for changed objects finds a difference between the object and its shadow.
    pub(crate) fn differs(&self) -> bool {
        self.class.differs(&self.live, &self.shadow, &self.seen)
    }

    /// Changes the object and updates the replica. Returns the length of the update in bits.
    pub(crate) fn update(&mut self, edit: impl FnOnce(&mut T)) -> usize {
        let changes = self.edit(edit);
        let bits = self.encode(&changes);
        if !changes.is_empty() {
            self.receive(&bits).unwrap();
        }
        bits.bit_len()
    }

    /// Encodes the handles of `changes` and their values in the shadow.
    pub(crate) fn encode(&self, changes: &Changelist) -> BitWriter {
        let mut writer = BitWriter::new();
        if !changes.is_empty() {
            write_handles(changes.handles(), self.class.program().handles(), false, &mut writer);
            self.class.write_values(&self.shadow, changes, &mut writer).unwrap();
        }
        writer
    }

    /// Applies an update to the replica, after the whole update has been validated. No bit may remain unread.
    pub(crate) fn receive(&mut self, bits: &BitWriter) -> Result<(), DecodeError> {
        let len = bits.bit_len();
        let bytes = bits.clone().into_bytes();
        receive(&self.class, &mut self.replica, repl::tools::BitSlice::new(&bytes, 0, len).unwrap().reader())
    }

    /// Returns the changelist as a flat list of numbers, as S58 describes it.
    pub(crate) fn flat(&self, changes: &Changelist) -> Vec<u32> {
        self.class.flat(&self.shadow, changes)
    }
}

/// Resolves every reference: every object exists.
pub(crate) struct AllObjects;

impl Objects for AllObjects {
    fn contains(&self, _: Guid) -> bool {
        true
    }
}

/// Validates an update with its handles, and applies it. No bit may remain unread.
pub(crate) fn receive<T: Replicated>(
    class: &Class<T>,
    replica: &mut T,
    mut reader: BitReader<'_>,
) -> Result<(), DecodeError> {
    let mut references = ReferenceMap::new(&AllObjects);
    let wrong = |reason, bit| DecodeError { class: "update", property: String::new(), bit, reason };
    let handles = read_handles(class.program().handles(), false, &mut reader);
    let handles = handles.map_err(|reason| wrong(reason, reader.position()))?;
    let mut ahead = reader.clone();
    let mut checked = repl::tools::Checked::new();
    class.validate(Some(replica), &handles, &mut ahead, &mut references, &mut checked)?;
    if ahead.remaining() > 0 {
        return Err(wrong(repl::ReadError::OutOfRange, ahead.position()));
    }
    class.apply(replica, &handles, checked.take(&mut reader), &mut references, &mut ());
    Ok(())
}

pub(crate) fn handles(members: impl IntoIterator<Item = u32>) -> HandleSet {
    let mut set = HandleSet::new();
    members.into_iter().for_each(|handle| set.insert(handle));
    set
}
