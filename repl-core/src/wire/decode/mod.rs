//! Decoding: the reverse of [`encode`](crate::wire::encode). Each update is read twice: first to validate it,
//! then to apply it.
//!
//! *Invariant:* an update is applied only after it was validated (R20), and applying cannot fail. Both passes
//! read the same bits in the same way, and the first pass records the ends of the values that user code
//! reads.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::ops::Range;

use crate::bits::{BitReader, BitSlice, ReadError, count};
use crate::ids::guid::Guid;
use crate::ids::handles::HandleSet;
use crate::ids::reference::ReferenceMap;
use crate::schema::codec::Codec;
use crate::schema::layout::MAX_DEPTH;
use crate::schema::program::{ArrayCommand, CommandKind, LeafCommand, Program, TableEntry};
use crate::wire::decode::edits::Edits;
use crate::wire::decode::pass::Pass;
use crate::wire::decode::target::Target;

mod edits;
mod elements;
mod pass;
mod recipient;
mod target;

pub(crate) use pass::{Applying, Validating};
pub(crate) use recipient::{Hide, Recipient};
pub(crate) use target::Validation;

/// Is told what an update contains while the update is read. A path consists of the handles that lead from
/// the object's own level to a value. Below the object's own level, the handles in a path are element
/// handles, which are counted from zero.
pub trait Observer {
    /// Called after the property at `handle` of the object's own level was read, if the observer
    /// [measures](Self::measures). In the update, the values of the property took `bits` bits.
    fn property(&mut self, handle: u32, bits: usize);

    /// Returns whether the observer needs to know how many bits each property takes.
    fn measures(&self) -> bool {
        true
    }

    /// Called after a leaf (a value that is sent as a unit) was read that could refer to objects and refers
    /// to none.
    fn plain(&mut self, path: &[u32]);

    /// Called after a leaf was read that refers to the objects `guids`. From `bits` the leaf can be read
    /// again when an object in `guids` appears or disappears (S117).
    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>);

    /// Called when values no longer exist. These are all values with a path that begins with `path` and
    /// continues with one of `steps`. The range `steps` contains element handles past the end of an array,
    /// the id of an item, or the end of a key.
    fn cut(&mut self, path: &[u32], steps: Range<u32>);

    /// Returns whether the callbacks of values in maps are called while the update is read.
    fn calls_back(&self) -> bool {
        true
    }
}

/// Ignores all calls, and prevents callbacks.
impl Observer for () {
    fn property(&mut self, _: u32, _: usize) {}
    fn measures(&self) -> bool {
        false
    }
    fn plain(&mut self, _: &[u32]) {}
    fn mention(&mut self, _: &[u32], _: &mut dyn Iterator<Item = Guid>, _: BitSlice<'_>) {}
    fn cut(&mut self, _: &[u32], _: Range<u32>) {}
    fn calls_back(&self) -> bool {
        false
    }
}

/// One walk over the values of an object.
pub(crate) struct Walk<'w, 'r, 'b, O: ?Sized, P> {
    pub(crate) program: &'w Program,
    pub(crate) reader: &'w mut BitReader<'b>,
    pub(crate) references: &'w mut ReferenceMap<'r>,
    pub(crate) observer: &'w mut O,
    pub(crate) pass: P,
    pub(crate) path: Path,
}

/// The handles from the object's own level down to the current value. The path to the current value is used
/// in errors, and to find a leaf again later.
pub(crate) struct Path {
    /// The first steps of the path.
    steps: [u32; MAX_DEPTH + 1],
    len: usize,
    /// All steps of the path, if there are more than fit into `steps`. The longer the key of a map entry is,
    /// the more steps it has.
    long: Vec<u32>,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self { steps: [0; MAX_DEPTH + 1], len: 0, long: Vec::new() }
    }

    pub(crate) fn steps(&self) -> &[u32] {
        self.steps.get(..self.len).unwrap_or(&self.long)
    }

    fn push(&mut self, handle: u32) {
        if let Some(step) = self.steps.get_mut(self.len) {
            *step = handle;
        } else {
            if self.long.is_empty() {
                self.long.extend(self.steps);
            }
            self.long.push(handle);
        }
        self.len = self.len.saturating_add(1);
    }

    fn pop(&mut self) {
        self.leave(self.len.saturating_sub(1));
    }

    /// Appends the steps of an id or key to the path. `enter` returns how many steps the path had before.
    fn enter(&mut self, steps: impl Iterator<Item = u32>) -> usize {
        let depth = self.len;
        steps.for_each(|step| self.push(step));
        depth
    }

    /// Drops all steps of the path except the first `depth`.
    fn leave(&mut self, depth: usize) {
        self.len = depth;
        self.long.truncate(if depth > self.steps.len() { depth } else { 0 });
    }
}

impl<O: Observer + ?Sized, P: Pass> Walk<'_, '_, '_, O, P> {
    /// Reads the values of `handles` from the update into `target`.
    pub(crate) fn object<T: Target>(&mut self, target: &mut T, handles: &HandleSet) -> Result<(), P::Stop> {
        self.properties(self.program.own_table(), handles, target, self.observer.measures())
    }

    /// Reads the values of `handles` of an object or element with this table. Reports to the observer how many
    /// bits each property takes if `is_measured` is set.
    fn properties<T: Target>(
        &mut self,
        table: &[TableEntry],
        handles: &HandleSet,
        target: &mut T,
        is_measured: bool,
    ) -> Result<(), P::Stop> {
        for (first, count) in handles.stretches() {
            let (mut handle, end) = (first, first.saturating_add(count));
            while handle < end {
                let direct = self.direct(table, handle, end, target);
                if direct > 0 {
                    if is_measured {
                        (0..direct).for_each(|at| self.measure_direct(table, handle.saturating_add(at)));
                    }
                    handle = handle.saturating_add(direct);
                    continue;
                }
                let start = self.reader.position();
                self.path.push(handle);
                self.property(table, handle, target)?;
                self.path.pop();
                if is_measured {
                    self.observer.property(handle, self.reader.position().saturating_sub(start));
                }
                handle = handle.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Reads the values of consecutive direct properties, the first of which is at `handle`. `end` is the
    /// handle after the last property that may be read. Returns how many were read. Returns zero if the
    /// property must be read alone, because it is not direct, or because the update ends within the direct
    /// properties: the error names the property that could not be read.
    #[inline]
    fn direct<T: Target>(&mut self, table: &[TableEntry], handle: u32, end: u32, target: &mut T) -> u32 {
        let (count, bits) = Program::direct(table, handle, end.saturating_sub(handle));
        if count == 0 {
            return 0;
        }
        let Ok(bits) = self.reader.take(bits as usize) else { return 0 };
        target.direct(handle, count, bits);
        count
    }

    /// Reports to the observer how many bits the direct property at `handle` took.
    fn measure_direct(&mut self, table: &[TableEntry], handle: u32) {
        if let Some(CommandKind::Leaf(leaf)) = self.program.command(table, handle).map(|found| &found.kind) {
            self.observer.property(handle, leaf.codec.width_bits().unwrap_or(0) as usize);
        }
    }

    fn flag(&mut self) -> Result<bool, P::Stop> {
        P::check(self.reader.read_flag())
    }

    /// Reads an update of the property at `handle` of a level. For an array, an update of a property contains
    /// only the changes.
    #[inline]
    fn property<T: Target>(
        &mut self,
        table: &[TableEntry],
        handle: u32,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        match self.program.command(table, handle).map(|command| &command.kind) {
            Some(CommandKind::Leaf(leaf)) => self.leaf(handle, leaf, target),
            Some(CommandKind::Array(array)) => self.array(handle, array, target),
            Some(CommandKind::Items(items)) => self.elements(items, &mut target.elements(handle)),
            Some(CommandKind::Entries(entries)) => self.elements(entries, &mut target.elements(handle)),
            Some(CommandKind::Return) | None => P::check(Err(ReadError::OutOfRange)),
        }
    }

    #[inline]
    fn leaf<T: Target>(&mut self, handle: u32, leaf: &LeafCommand, target: &mut T) -> Result<(), P::Stop> {
        let start = self.reader.position();
        let references = &mut *self.references;
        if let Codec::Opaque(_) = leaf.codec {
            let read = |reader: &mut BitReader<'_>| {
                target.leaf(handle, leaf, reader, references)?;
                Ok(references.any_mentioned())
            };
            self.pass.opaque(self.reader, read)?;
        } else {
            P::check(target.leaf(handle, leaf, self.reader, references))?;
            if !leaf.codec.may_refer() {
                return Ok(());
            }
        }
        if self.references.any_mentioned() {
            let bits = P::check(self.reader.slice(start..self.reader.position()).ok_or(ReadError::End))?;
            self.observer.mention(self.path.steps(), &mut self.references.take_mentioned(), bits);
        } else {
            self.observer.plain(self.path.steps());
        }
        Ok(())
    }

    fn array<T: Target>(&mut self, handle: u32, array: &ArrayCommand, target: &mut T) -> Result<(), P::Stop> {
        let len = P::check(count::read_count(array.max_len, self.reader))?;
        let has_tail = len > 0 && self.flag()?;
        let tail = if has_tail { P::check(self.reader.read_below(len as u64))? as usize } else { len };
        P::check(count::check_growth(len.saturating_sub(tail), array.least_bits, self.reader))?;
        let limit = P::check((tail as u32).checked_mul(array.handles).ok_or(ReadError::OutOfRange))?;
        let mut edits = P::check(Edits::read(limit, self.reader))?;
        let old_len = self.resize(target, handle, array, len);
        if P::VALIDATES && tail > old_len {
            return P::check(Err(ReadError::TooLong { len, max: old_len }));
        }
        let inner = self.program.table(array.table, array.handles);
        while let Some(edit) = P::check(edits.next())? {
            let index = edit.checked_div(array.handles).unwrap_or(0);
            let inner_handle = edit.checked_rem(array.handles).unwrap_or(0).saturating_add(1);
            self.path.push(edit);
            match target.element(handle, index as usize) {
                Some(mut element) => self.property(inner, inner_handle, &mut element)?,
                None => self.property(inner, inner_handle, &mut Validation(None))?,
            }
            self.path.pop();
        }
        self.new_elements(inner, handle, array, tail..len, target)
    }

    /// Changes the length of the array at `handle` to `len`. Returns the old length of the array.
    fn resize<T: Target>(&mut self, target: &mut T, handle: u32, array: &ArrayCommand, len: usize) -> usize {
        let old_len = target.resize(handle, len);
        if len < old_len {
            self.observer.cut(self.path.steps(), array.handles.saturating_mul(len as u32)..u32::MAX);
        }
        old_len
    }

    /// Reads the new elements at the indices `range` of the array at `handle`.
    fn new_elements<T: Target>(
        &mut self,
        table: &[TableEntry],
        handle: u32,
        array: &ArrayCommand,
        range: Range<usize>,
        target: &mut T,
    ) -> Result<(), P::Stop> {
        for index in range {
            let start = self.reader.position();
            let first = array.handles.saturating_mul(index as u32);
            match target.element(handle, index) {
                Some(mut element) => self.whole(table, first, &mut element)?,
                None => self.whole(table, first, &mut Validation(None))?,
            }
            P::check(count::read_padding(start, array.least_bits, self.reader))?;
        }
        Ok(())
    }

    /// Reads all values of a new element.
    fn whole<T: Target>(&mut self, table: &[TableEntry], first: u32, target: &mut T) -> Result<(), P::Stop> {
        let (mut next, end) = (1_u32, (table.len() as u32).saturating_add(1));
        while next < end {
            let handle = next;
            let direct = self.direct(table, handle, end, target);
            if direct > 0 {
                next = next.saturating_add(direct);
                continue;
            }
            next = next.saturating_add(1);
            self.path.push(first.saturating_add(handle.saturating_sub(1)));
            match self.program.command(table, handle).map(|command| &command.kind) {
                Some(CommandKind::Leaf(leaf)) => self.leaf(handle, leaf, target)?,
                Some(CommandKind::Array(array)) => {
                    let len = P::check(count::read_new_count(array.max_len, array.least_bits, self.reader))?;
                    self.resize(target, handle, array, len);
                    let inner = self.program.table(array.table, array.handles);
                    self.new_elements(inner, handle, array, 0..len, target)?;
                }
                Some(CommandKind::Items(items)) => {
                    self.all_elements(items, &mut target.elements(handle))?;
                }
                Some(CommandKind::Entries(entries)) => {
                    self.all_elements(entries, &mut target.elements(handle))?;
                }
                Some(CommandKind::Return) | None => P::check(Err(ReadError::OutOfRange))?,
            }
            self.path.pop();
        }
        Ok(())
    }
}
