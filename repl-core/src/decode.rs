//! Decoding: the reverse of [`encode`](crate::encode), twice: once to see that all is well, once to apply it.
//!
//! Invariant: both passes read the same bits in the same way, so what has been validated can be applied; nothing is applied of what has
//! not been validated (R20).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::ops::Range;

use crate::access::{Level, LevelMut, Slot, validate_value};
use crate::bits::{BitReader, BitSlice};
use crate::handles::HandleSet;
use crate::layout::MAX_DEPTH;
use crate::program::{ArrayCommand, CommandKind, LeafCommand, Program};
use crate::reference::{Guid, ReferenceMap};
use crate::value::ReadError;
use crate::wire;

/// Where decoded values go.
pub(crate) trait Target {
    /// The same for an element of an array.
    type Element<'e>: Target
    where
        Self: 'e;

    /// Reads the leaf at `handle`.
    fn leaf(
        &mut self,
        handle: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError>;

    /// Makes the array at `handle` `len` elements long; gives its length before.
    fn resize(&mut self, handle: u32, len: usize) -> usize;

    /// The element `index` of the array at `handle`.
    fn element(&mut self, handle: u32, index: usize) -> Option<Self::Element<'_>>;
}

impl Target for LevelMut<'_> {
    type Element<'e>
        = LevelMut<'e>
    where
        Self: 'e;

    fn leaf(
        &mut self,
        handle: u32,
        _: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        self.read_leaf(handle, reader, references)
    }

    fn resize(&mut self, handle: u32, len: usize) -> usize {
        LevelMut::resize(self, handle, len).unwrap_or(0)
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<LevelMut<'_>> {
        LevelMut::element(self, handle, index)
    }
}

/// Applies nothing; knows the lengths of the arrays that an object has now, if there is one.
pub(crate) struct Validation<'a>(pub(crate) Option<Level<'a>>);

impl<'a> Target for Validation<'a> {
    type Element<'e>
        = Validation<'e>
    where
        Self: 'e;

    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        validate_value(&command.codec, reader, references)
    }

    fn resize(&mut self, handle: u32, _: usize) -> usize {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) => array.len(),
            _ => 0,
        }
    }

    fn element(&mut self, handle: u32, index: usize) -> Option<Validation<'_>> {
        match self.0.and_then(|level| level.slot(handle)) {
            Some(Slot::Array(array)) => Some(Validation(array.element(index))),
            _ => Some(Validation(None)),
        }
    }
}

/// Told what an update brings. A path is the handles from the object's own level down; below it they are element handles, from 0.
pub trait Observer {
    /// All of the property at `handle` of the object's own level was read; it took `bits` bits.
    fn property(&mut self, handle: u32, bits: usize);

    /// A leaf was read that mentions no object.
    fn plain(&mut self, path: &[u32]);

    /// A leaf was read that mentions `guids`; with its bits it can be read again when they come or go (S117).
    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>);

    /// Of the array at `path` the element handles from `end` on are no more.
    fn cut(&mut self, path: &[u32], end: u32);
}

/// Observes nothing.
impl Observer for () {
    fn property(&mut self, _: u32, _: usize) {}
    fn plain(&mut self, _: &[u32]) {}
    fn mention(&mut self, _: &[u32], _: &mut dyn Iterator<Item = Guid>, _: BitSlice<'_>) {}
    fn cut(&mut self, _: &[u32], _: u32) {}
}

/// One walk over the values of an object.
pub(crate) struct Walk<'w, 'r, 'b, O: ?Sized> {
    pub(crate) program: &'w Program,
    pub(crate) reader: &'w mut BitReader<'b>,
    pub(crate) references: &'w mut ReferenceMap<'r>,
    pub(crate) observer: &'w mut O,
    pub(crate) path: Path,
}

/// Handles from the object's own level down to where a walk stands: for errors, and for finding a leaf again.
pub(crate) struct Path {
    steps: [u32; MAX_DEPTH + 1],
    len: usize,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self { steps: [0; MAX_DEPTH + 1], len: 0 }
    }

    pub(crate) fn steps(&self) -> &[u32] {
        self.steps.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, handle: u32) {
        debug_assert!(self.len < self.steps.len(), "layouts are no deeper");
        if let Some(step) = self.steps.get_mut(self.len) {
            *step = handle;
            self.len = self.len.saturating_add(1);
        }
    }

    fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }
}

/// A level's table and what stands at its handles.
#[derive(Clone, Copy)]
struct Table<'w> {
    program: &'w Program,
    commands: &'w [u32],
}

impl<'w> Table<'w> {
    fn own(program: &'w Program) -> Self {
        Self { program, commands: program.tables().get(..program.handles() as usize).unwrap_or_default() }
    }

    fn element(self, array: &ArrayCommand) -> Self {
        let end = array.table.saturating_add(array.handles) as usize;
        Self { commands: self.program.tables().get(array.table as usize..end).unwrap_or_default(), ..self }
    }

    fn at(self, handle: u32) -> Result<&'w CommandKind, ReadError> {
        let command = self.commands.get(handle.wrapping_sub(1) as usize);
        let command = command.and_then(|&at| self.program.commands().get(at as usize));
        command.map(|command| &command.kind).ok_or(ReadError::OutOfRange)
    }
}

impl<O: Observer + ?Sized> Walk<'_, '_, '_, O> {
    /// Reads the values of `handles` into `target`.
    pub(crate) fn object<T: Target>(&mut self, target: &mut T, handles: &HandleSet) -> Result<(), ReadError> {
        let table = Table::own(self.program);
        for handle in handles.iter() {
            let start = self.reader.position();
            self.path.push(handle);
            self.property(table, handle, target)?;
            self.path.pop();
            self.observer.property(handle, self.reader.position().saturating_sub(start));
        }
        Ok(())
    }

    /// Reads what stands at `handle` of a level, as an update: of an array, only what changed.
    fn property<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        target: &mut T,
    ) -> Result<(), ReadError> {
        match table.at(handle)? {
            CommandKind::Leaf(leaf) => self.leaf(handle, leaf, target),
            CommandKind::Array(array) => self.array(table, handle, array, target),
            CommandKind::Return => Err(ReadError::OutOfRange),
        }
    }

    fn leaf<T: Target>(&mut self, handle: u32, leaf: &LeafCommand, target: &mut T) -> Result<(), ReadError> {
        let start = self.reader.position();
        target.leaf(handle, leaf, self.reader, self.references)?;
        if self.references.any_mentioned() {
            let bits = self.reader.slice(start..self.reader.position()).ok_or(ReadError::End)?;
            self.observer.mention(self.path.steps(), &mut self.references.take_mentioned(), bits);
        } else {
            self.observer.plain(self.path.steps());
        }
        Ok(())
    }

    fn array<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        array: &ArrayCommand,
        target: &mut T,
    ) -> Result<(), ReadError> {
        let len = wire::read_count(array.max_len, self.reader)?;
        let has_tail = len > 0 && self.reader.read_bits(1)? == 1;
        let tail = if has_tail { self.reader.read_below(len as u64)? as usize } else { len };
        wire::check_growth(len.saturating_sub(tail), array.least_bits, self.reader)?;
        let limit = (tail as u32).checked_mul(array.handles).ok_or(ReadError::OutOfRange)?;
        let mut edits = Edits::read(limit, self.reader)?;
        let old_len = self.resize(target, handle, array, len);
        if tail > old_len {
            return Err(ReadError::TooLong { len, max: old_len });
        }
        let inner = table.element(array);
        while let Some(edit) = edits.next()? {
            let index = edit.checked_div(array.handles).ok_or(ReadError::OutOfRange)?;
            let inner_handle =
                edit.checked_rem(array.handles).ok_or(ReadError::OutOfRange)?.saturating_add(1);
            let mut element = target.element(handle, index as usize).ok_or(ReadError::OutOfRange)?;
            self.path.push(edit);
            self.property(inner, inner_handle, &mut element)?;
            self.path.pop();
        }
        self.new_elements(inner, handle, array, tail..len, target)
    }

    /// Makes the array at `handle` `len` elements long; gives its length before.
    fn resize<T: Target>(&mut self, target: &mut T, handle: u32, array: &ArrayCommand, len: usize) -> usize {
        let old_len = target.resize(handle, len);
        if len < old_len {
            self.observer.cut(self.path.steps(), array.handles.saturating_mul(len as u32));
        }
        old_len
    }

    /// Reads all of the elements in `range` of the array at `handle`.
    fn new_elements<T: Target>(
        &mut self,
        table: Table<'_>,
        handle: u32,
        array: &ArrayCommand,
        range: Range<usize>,
        target: &mut T,
    ) -> Result<(), ReadError> {
        for index in range {
            let start = self.reader.position();
            let mut element = target.element(handle, index).ok_or(ReadError::OutOfRange)?;
            self.whole(table, array.handles.saturating_mul(index as u32), &mut element)?;
            wire::read_padding(start, array.least_bits, self.reader)?;
        }
        Ok(())
    }

    /// Reads all of a new element.
    fn whole<T: Target>(&mut self, table: Table<'_>, first: u32, target: &mut T) -> Result<(), ReadError> {
        for (at, handle) in (0..table.commands.len() as u32).zip(1..) {
            self.path.push(first.saturating_add(at));
            match table.at(handle)? {
                CommandKind::Leaf(leaf) => self.leaf(handle, leaf, target)?,
                CommandKind::Array(array) => {
                    let len = wire::read_count(array.max_len, self.reader)?;
                    wire::check_growth(len, array.least_bits, self.reader)?;
                    self.resize(target, handle, array, len);
                    self.new_elements(table.element(array), handle, array, 0..len, target)?;
                }
                CommandKind::Return => return Err(ReadError::OutOfRange),
            }
            self.path.pop();
        }
        Ok(())
    }
}

/// Which handles of an array's old elements changed, read as they are walked over, so that a long list takes no memory.
enum Edits<'b> {
    None,
    /// A bit for each handle: those to be read, and those that were and stand for the handles from `first` on.
    Mask {
        bits: BitReader<'b>,
        first: u32,
        word: u64,
    },
    /// Stretches: those to be read, and what is left of the one that was.
    Ranges {
        list: RangeList<'b>,
        range: Range<u32>,
    },
}

impl<'b> Edits<'b> {
    /// Takes the list of some of the first `limit` handles from `reader`, which then stands behind it.
    fn read(limit: u32, reader: &mut BitReader<'b>) -> Result<Self, ReadError> {
        if limit == 0 || !reader.read_flag()? {
            return Ok(Self::None);
        }
        if reader.read_flag()? {
            let list = RangeList { reader: reader.clone(), next: 0, limit, more: true };
            let mut ahead = list.clone();
            while ahead.next()?.is_some() {}
            *reader = ahead.reader;
            return Ok(Self::Ranges { list, range: 0..0 });
        }
        let mut edits = Self::Mask { bits: reader.take(limit as usize)?.reader(), first: 0, word: 0 };
        // An empty list has a shorter form.
        let Some(first) = edits.next()? else { return Err(ReadError::OutOfRange) };
        if let Self::Mask { first: base, word, .. } = &mut edits {
            *word |= 1_u64.wrapping_shl(first.wrapping_sub(*base));
        }
        Ok(edits)
    }

    /// The next handle, counted from zero.
    fn next(&mut self) -> Result<Option<u32>, ReadError> {
        match self {
            Self::None => Ok(None),
            Self::Mask { bits, first, word } => {
                while *word == 0 {
                    let width = bits.remaining().min(64) as u32;
                    if width == 0 {
                        return Ok(None);
                    }
                    *first = bits.position() as u32;
                    *word = bits.read_bits(width)?;
                }
                let bit = word.trailing_zeros();
                *word &= word.wrapping_sub(1);
                Ok(Some(first.saturating_add(bit)))
            }
            Self::Ranges { list, range } => {
                if range.start >= range.end {
                    match list.next()? {
                        Some(next) => *range = next,
                        None => return Ok(None),
                    }
                }
                Ok(range.next())
            }
        }
    }
}

/// Ascending stretches of handles, with at least one handle between two of them.
#[derive(Clone)]
struct RangeList<'b> {
    reader: BitReader<'b>,
    /// The first handle at which the next stretch may begin.
    next: u32,
    limit: u32,
    more: bool,
}

impl RangeList<'_> {
    fn next(&mut self) -> Result<Option<Range<u32>>, ReadError> {
        if !self.more {
            return Ok(None);
        }
        let left = self.limit.saturating_sub(self.next);
        let start = self.next.saturating_add(self.reader.read_below(left.into())? as u32);
        let more = u32::try_from(self.reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let end =
            start.checked_add(more).and_then(|last| last.checked_add(1)).filter(|&end| end <= self.limit);
        let end = end.ok_or(ReadError::OutOfRange)?;
        self.next = end.saturating_add(1);
        self.more = self.next < self.limit && self.reader.read_flag()?;
        Ok(Some(start..end))
    }
}
