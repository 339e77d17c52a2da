//! [`Delta`]: how the difference between two values of a property is written, so that a large value need not
//! be sent whole when a small part of it changes (R23).
//!
//! *Invariant:* a difference is applied to the value to which it was made, and to no other. So a difference
//! that arrives twice does no harm.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::marker::PhantomData;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::delta_base::DeltaBase;
use crate::ids::reference::ReferenceMap;
use crate::schema::value::NetSerialize;

/// How the differences between values of type `T` are written and read.
///
/// `#[replicated(delta = module)]` makes an implementation from the functions of a module. Unreal has
/// the same as `NetDeltaSerialize` with an `INetDeltaBaseState`.
pub trait Delta<T: NetSerialize>: 'static {
    /// Identifies the form of the differences in checksums and layouts.
    const NAME: &'static str;

    /// The version of the bits that [`write`](Self::write) writes. Two builds with different versions refuse
    /// each other before any state is sent (R21).
    const VERSION: u32;

    /// The greatest length of a value. Zero if lengths have no limit of the field's own.
    const MAX_LEN: u32 = 0;

    /// Says that `T` is `String`, and that two values are the same if and only if they are equal. Then the
    /// scan of an object compares them without a call of [`is_same`](Self::is_same).
    #[doc(hidden)]
    const STRINGS: Option<Strings<T>> = None;

    /// What both sides store of a value to which others are compared.
    type State: Send + Sync + 'static;

    /// Returns the state of a value.
    fn state(value: &T) -> Self::State;

    /// Returns whether two values have the same state, so that nothing need be sent.
    fn is_same(one: &T, other: &T) -> bool;

    /// Writes a whole value, for clients without a base.
    ///
    /// # Errors
    /// Returns an error if the value has no wire form.
    fn write_whole(value: &T, writer: &mut BitWriter) -> Result<(), WriteError> {
        value.write(writer)
    }

    /// Reads a value that [`write_whole`](Self::write_whole) wrote.
    ///
    /// # Errors
    /// Returns an error if the bits are no value.
    fn read_whole(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<T, ReadError> {
        T::read(reader, references)
    }

    /// Writes how `value` differs from the value with the state `base`.
    ///
    /// # Errors
    /// Returns an error if the difference cannot be written. Then the value is sent whole.
    fn write(base: &Self::State, value: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a difference, and returns the value that it makes of the value with the state `base`. The bytes
    /// may come from an attacker: the function must refuse bits that [`write`](Self::write) cannot have
    /// written, must never panic, and must not allocate more than a value may take.
    ///
    /// # Errors
    /// Returns an error if the bits are no difference to `base`. Then the whole packet is refused.
    fn read(
        base: &Self::State,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<T, ReadError>;

    /// Returns how many bytes of memory a state takes.
    fn bytes(state: &Self::State) -> usize {
        size_of_val(state)
    }
}

/// The proof that `T` is `String`. Only this crate can make one.
#[doc(hidden)]
pub struct Strings<T>(PhantomData<T>);

impl Strings<String> {
    pub(crate) const PROOF: Self = Self(PhantomData);
}

impl DeltaBase {
    /// Makes the base of a value. `refers` says whether the value contains references to objects.
    pub(crate) fn of<T: NetSerialize, D: Delta<T>>(value: &T, refers: bool) -> Self {
        let state = D::state(value);
        let bytes = D::bytes(&state);
        Self::new(state, bytes, refers)
    }
}
