//! Reads an update without an object, to list its properties for statistics and logs.
//!
//! *Invariant:* a survey reads the same bits as the two passes of decoding, stores no value, and runs no
//! callback.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;

use crate::bits::{BitReader, BitSlice, ReadError};
use crate::ids::epoch::Epoch;
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::reference::{AnyObject, ReferenceMap};
use crate::object::leaf::validate_value;
use crate::object::print;
use crate::schema::command::{Collected, CommandKind, LeafCommand};
use crate::schema::program::Program;
use crate::wire::checked::Checked;
use crate::wire::decode::{ElementTarget, Path, ReadElement, Target, Validating, Walk};

impl Program {
    /// Reads the values of `handles` of an update of an object of this class, and calls `each` with the
    /// handle and the bits of each property, in the order of the handles. Does not check whether the update
    /// can be applied to an object. Costs O(bits). Values with hand-written serialisers are read by these
    /// serialisers.
    ///
    /// # Errors
    /// Returns an error if the bits are not an update of these properties. In this case, `each` is not
    /// called.
    pub fn survey<'b>(
        &self,
        handles: &HandleSet,
        reader: &mut BitReader<'b>,
        mut each: impl FnMut(u32, BitSlice<'b>),
    ) -> Result<(), ReadError> {
        let mut at = reader.position();
        let any = AnyObject::default();
        let (mut ends, mut references) = (Vec::new(), ReferenceMap::new(&any));
        let (observer, references) = (&mut (), &mut references);
        let pass = Validating(&mut Checked::new());
        let mut walk = Walk { program: self, reader, references, observer, pass, path: Path::new() };
        for handle in handles.iter() {
            walk.path.push(handle);
            walk.property(self.own_table(), handle, &mut Survey)?;
            walk.path.pop();
            ends.push((handle, walk.reader.position()));
        }
        for (handle, end) in ends {
            each(handle, reader.slice(at..end).unwrap_or_default());
            at = end;
        }
        Ok(())
    }

    /// Returns the value of a property as text, for logs. `bits` are the bits that [`survey`](Self::survey)
    /// passed to `each`. For an array, a collection, or a type that is sent as a unit, such as a type with
    /// `derive(NetSerialize)`, only the number of bits is printed. References are printed with the guids of
    /// `epoch`.
    #[must_use]
    pub fn value_text(&self, handle: u32, bits: BitSlice<'_>, epoch: Epoch) -> String {
        match self.command(self.own_table(), handle).map(|command| &command.kind) {
            Some(CommandKind::Leaf(leaf)) => format!("{:?}", WireValue { leaf, bits, epoch }),
            _ => format!("<{} bits>", bits.len()),
        }
    }
}

struct WireValue<'a> {
    leaf: &'a LeafCommand,
    bits: BitSlice<'a>,
    epoch: Epoch,
}

impl fmt::Debug for WireValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print::wire_value(&self.leaf.codec, self.bits, &mut ReferenceMap::new(&AnyObject(self.epoch)), f)
    }
}

/// The target of a survey: an object that accepts every element that an update names.
struct Survey;

impl Target for Survey {
    type Element<'e> = Self;

    type Elements<'e, I: Collected> = Self;

    fn leaf(
        &mut self,
        _: u32,
        command: &LeafCommand,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<(), ReadError> {
        validate_value(&command.codec, reader, references)
    }

    fn direct(&mut self, _: u32, _: u32, _: BitSlice<'_>) {}

    fn resize(&mut self, _: u32, _: usize) -> usize {
        usize::MAX
    }

    fn element(&mut self, _: u32, _: usize) -> Option<Self> {
        Some(Self)
    }

    fn elements<I: Collected>(&mut self, _: u32) -> Self {
        Self
    }
}

impl<I: Identity> ElementTarget<I> for Survey {
    fn whole<R: ReadElement>(&mut self, _: &I, _: bool, read: &mut R) -> Result<bool, R::Stop> {
        read.read(self).map(|()| false)
    }

    fn change<R: ReadElement>(
        &mut self,
        _: &I,
        _: &HandleSet,
        _: bool,
        read: &mut R,
    ) -> Option<Result<(), R::Stop>> {
        Some(read.read(self))
    }
}
