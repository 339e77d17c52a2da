//! The functions of a `delta` module, so that the compiler says which signature a function should have.
//!
//! Each trait has a second implementation that no function has. Because of it, the compiler reports the trait
//! itself, and not the bounds of the first implementation.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::value::NetSerialize;
use crate::schema::value::unsaid::{self, Unsaid};
use crate::types::within::{Itself, Nowhere, Unreachable};

/// A `delta` module, as a type that the derive makes for the field.
pub trait DeltaModule {
    /// The type `State` of the module, or the type of the field if the module has none.
    type State;
}

/// Is implemented for no type that stands for a missing `State`.
#[diagnostic::on_unimplemented(
    message = "the module of `delta` has no public type `State`",
    label = "`State` is missing",
    note = "write `pub type State = …;` in the module: the type of what both sides store of an earlier value, for example the type of the field"
)]
pub trait IsDefined {}

/// Checks whether a `delta` module defines the type `S`.
pub struct StateOf<S>(PhantomData<S>);

impl StateOf<unsaid::State> {
    /// Is called if the module defines no `State`. Does not compile with `D = unsaid::State`.
    pub const fn check<D: IsDefined>() {}
}

/// Is called if the module defines a `State`.
pub trait HasState {
    /// Accepts everything.
    fn check<D>() {}
}

impl<S> HasState for StateOf<S> {}

// Without any implementation, the compiler would advise the user to add one.
#[diagnostic::do_not_recommend]
impl IsDefined for str {}

/// A function takes what a value points to: the `str` of a `String`, or the slice of a `Vec`.
pub enum Target {}

/// The function `state` of a `delta` module.
#[diagnostic::on_unimplemented(
    message = "the module's `state` does not make a `{State}` from a field of type `{Field}`",
    label = "`state` is missing or has another signature",
    note = "write `pub fn state(value: &{Field}) -> State`, or `pub type State = {Field};` without `state`"
)]
pub trait MakesState<Field, State, Depth> {
    /// Makes the state of a value.
    fn make_state(&self, value: &Field) -> State;
}

impl<F, S, M: Fn(&F) -> S> MakesState<F, S, Itself> for M {
    fn make_state(&self, value: &F) -> S {
        self(value)
    }
}

/// The function `is_same` of a `delta` module.
#[diagnostic::on_unimplemented(
    message = "the module's `is_same` does not compare fields of type `{Field}`",
    label = "`is_same` has another signature",
    note = "write `pub fn is_same(one: &{Field}, other: &{Field}) -> bool`, or remove it to compare the wire forms"
)]
pub trait Compares<Field, Depth> {
    /// Returns whether two values have the same state.
    fn compare(&self, one: &Field, other: &Field) -> bool;
}

impl<F, M: Fn(&F, &F) -> bool> Compares<F, Itself> for M {
    fn compare(&self, one: &F, other: &F) -> bool {
        self(one, other)
    }
}

/// The function `write` of a `delta` module.
#[diagnostic::on_unimplemented(
    message = "the module's `write` does not write differences of a field of type `{Field}`",
    label = "`write` has another signature",
    note = "write `pub fn write(base: &State, value: &{Field}, writer: &mut repl::BitWriter) -> Result<(), repl::WriteError>`, where `State` is `{State}`"
)]
pub trait WritesDifference<Field, State, Depth> {
    /// Writes how a value differs from a base.
    ///
    /// # Errors
    /// Returns an error if the difference cannot be written.
    fn write_difference(&self, base: &State, value: &Field, writer: &mut BitWriter)
    -> Result<(), WriteError>;
}

impl<F, S, M> WritesDifference<F, S, Itself> for M
where
    M: Fn(&S, &F, &mut BitWriter) -> Result<(), WriteError>,
{
    fn write_difference(&self, base: &S, value: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        self(base, value, writer)
    }
}

/// The function `read` of a `delta` module.
#[diagnostic::on_unimplemented(
    message = "the module's `read` does not read differences of a field of type `{Field}`",
    label = "`read` has another signature",
    note = "write `pub fn read(base: &State, reader: &mut repl::BitReader<'_>, references: &mut repl::ReferenceMap<'_>) -> Result<{Field}, repl::ReadError>`, where `State` is `{State}`"
)]
pub trait ReadsDifference<Field, State, Depth> {
    /// Reads a difference, and returns the value that it makes of a base.
    ///
    /// # Errors
    /// Returns an error if the bits are no difference to the base.
    fn read_difference(
        &self,
        base: &State,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Field, ReadError>;
}

impl<F, S, M> ReadsDifference<F, S, Itself> for M
where
    M: Fn(&S, &mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<F, ReadError>,
{
    fn read_difference(
        &self,
        base: &S,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<F, ReadError> {
        self(base, reader, references)
    }
}

impl<F: Clone> MakesState<F, F, Self> for Unsaid {
    fn make_state(&self, value: &F) -> F {
        value.clone()
    }
}

impl<F: NetSerialize> Compares<F, Self> for Unsaid {
    fn compare(&self, one: &F, other: &F) -> bool {
        one.identical(other)
    }
}

impl<F: Deref, S, M: Fn(&F::Target) -> S> MakesState<F, S, Target> for M {
    fn make_state(&self, value: &F) -> S {
        self(value)
    }
}

impl<F: Deref, M: Fn(&F::Target, &F::Target) -> bool> Compares<F, Target> for M {
    fn compare(&self, one: &F, other: &F) -> bool {
        self(one, other)
    }
}

impl<F: Deref, S: Deref, M> WritesDifference<F, S, (Target, Target)> for M
where
    M: Fn(&S::Target, &F::Target, &mut BitWriter) -> Result<(), WriteError>,
{
    fn write_difference(&self, base: &S, value: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        self(base, value, writer)
    }
}

impl<F, S: Deref, M> WritesDifference<F, S, (Target, Itself)> for M
where
    M: Fn(&S::Target, &F, &mut BitWriter) -> Result<(), WriteError>,
{
    fn write_difference(&self, base: &S, value: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        self(base, value, writer)
    }
}

impl<F: Deref, S, M> WritesDifference<F, S, (Itself, Target)> for M
where
    M: Fn(&S, &F::Target, &mut BitWriter) -> Result<(), WriteError>,
{
    fn write_difference(&self, base: &S, value: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        self(base, value, writer)
    }
}

impl<F, S: Deref, M> ReadsDifference<F, S, Target> for M
where
    M: Fn(&S::Target, &mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<F, ReadError>,
{
    fn read_difference(
        &self,
        base: &S,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<F, ReadError> {
        self(base, reader, references)
    }
}

impl<F, S, M: Unreachable> MakesState<F, S, Nowhere> for M {
    fn make_state(&self, _: &F) -> S {
        unreachable!("no type is unreachable")
    }
}

impl<F, M: Unreachable> Compares<F, Nowhere> for M {
    fn compare(&self, _: &F, _: &F) -> bool {
        false
    }
}

impl<F, S, M: Unreachable> WritesDifference<F, S, Nowhere> for M {
    fn write_difference(&self, _: &S, _: &F, _: &mut BitWriter) -> Result<(), WriteError> {
        Ok(())
    }
}

impl<F, S, M: Unreachable> ReadsDifference<F, S, Nowhere> for M {
    fn read_difference(
        &self,
        _: &S,
        _: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<F, ReadError> {
        Err(ReadError::End)
    }
}

/// Calls the function `state` of a `delta` module.
pub fn state_with<F, S, D>(state: impl MakesState<F, S, D>, value: &F) -> S {
    state.make_state(value)
}

/// Calls the function `is_same` of a `delta` module.
pub fn is_same_with<F, D>(is_same: impl Compares<F, D>, one: &F, other: &F) -> bool {
    is_same.compare(one, other)
}

/// Calls the function `write` of a `delta` module.
///
/// # Errors
/// Returns an error if the difference cannot be written.
pub fn write_difference_with<F, S, D>(
    write: impl WritesDifference<F, S, D>,
    (base, value): (&S, &F),
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    write.write_difference(base, value, writer)
}

/// Calls the function `read` of a `delta` module.
///
/// # Errors
/// Returns an error if the bits are no difference to the base.
pub fn read_difference_with<F, S, D>(
    read: impl ReadsDifference<F, S, D>,
    base: &S,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<F, ReadError> {
    read.read_difference(base, reader, references)
}
