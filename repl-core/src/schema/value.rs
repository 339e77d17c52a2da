//! [`NetSerialize`]: the trait of values with their own serialisers.
//!
//! *Invariant:* if a value that was read is written again, the bits are the same.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::shape::{Around, WireForm};

/// A value with its own serialiser, which is always sent whole.
///
/// The derives implement the trait `NetSerialize`. Implement `NetSerialize` by hand for a type with its own
/// wire form, and add [`leaf!`](crate::leaf) to use the type as a field.
///
/// ```
/// # use repl_core as repl;
/// use repl::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError, leaf};
/// use bitstream_io::{BitRead, BitWrite};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq)]
/// struct Heading(u16); // degrees, 0 to 359
///
/// impl NetSerialize for Heading {
///     const WIRE_NAME: &'static str = "Heading";
///     fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
///         if self.0 >= 360 {
///             return Err(WriteError::OutOfRange);
///         }
///         Ok(writer.write_var(9, self.0)?)
///     }
///     fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
///         match reader.read_var(9)? {
///             degrees @ 0..360 => Ok(Self(degrees)),
///             _ => Err(ReadError::OutOfRange),
///         }
///     }
/// }
/// leaf!(Heading);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as a whole",
    label = "not `NetSerialize`",
    note = "write `#[derive(NetSerialize, Clone)]` on it, or implement `NetSerialize` by hand"
)]
pub trait NetSerialize: Sized + 'static {
    /// The name of the type in checksums, layouts and errors.
    const WIRE_NAME: &'static str;

    /// The version of the bits that [`write`](Self::write) writes. The default version is 1. Increase the
    /// version when the bits change, because two builds with different versions refuse each other before any
    /// state is sent (R21).
    const WIRE_VERSION: u32 = 1;

    /// Everything that decides which bits the serialiser writes, as a constant. Its `Display` output is a
    /// table for reviews, and two builds compare its checksum in the handshake.
    ///
    /// The derives fill the form with names, types, widths and limits. By default, the form has only the name
    /// and the version. If other numbers also decide the bits of a type with its own serialiser, add them
    /// with [`WireForm::parameters`].
    const WIRE_FORM: &'static WireForm = &WireForm::by_hand::<Self>();

    /// Writes the value in its wire form.
    ///
    /// # Errors
    /// Returns an error if the value has no wire form. A value without a wire form is never sent. If a value
    /// has no wire form, the property on clients keeps the last value that had a wire form.
    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a value from its wire form. The bytes may come from an attacker, so the function must refuse
    /// bits that [`write`](Self::write) cannot have written, and must never panic.
    ///
    /// A reference reads as null while the client does not have its object, even if `write` wrote another
    /// reference. An implementation must accept null wherever it accepts a reference, because otherwise the
    /// packet is refused and the connection ends. The number of bits that are read must not depend on whether
    /// the client has the object.
    ///
    /// Clients read a value twice: first to validate it and then to apply it. Both sides read the value once
    /// more for statistics and for packet logs. Clients also read the value again when an object to which it
    /// refers appears or disappears. If only a later read refuses the value, the property keeps its old
    /// value.
    ///
    /// # Errors
    /// Returns an error if the bits are not a value of this type. If a value cannot be read, the whole packet
    /// is refused.
    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError>;

    /// Returns whether two values are the same, so that the value need not be sent. By default `identical`
    /// compares the bits of both values, and returns false if one of them has no wire form. Override
    /// `identical` if the comparison of bits is slow.
    fn identical(&self, other: &Self) -> bool {
        same_bits(|writer| self.write(writer), |writer| other.write(writer))
    }
}

/// What a module of `with = module` or `delta = module` does not define.
pub mod unsaid {
    /// The default name, which is empty. A module without a name is refused at compile time.
    pub const NAME: &str = "";
    /// The default version of the wire form.
    pub const VERSION: u32 = 1;

    /// Stands for a function that a `delta` module does not define.
    pub struct Unsaid;

    /// Stands for the type `State` that a `delta` module does not define.
    pub struct State;

    /// A value is its own state.
    #[expect(non_upper_case_globals, reason = "it stands for a function")]
    pub const state: Unsaid = Unsaid;

    /// Values with the same wire form are the same.
    #[expect(non_upper_case_globals, reason = "it stands for a function")]
    pub const is_same: Unsaid = Unsaid;
}

/// Panics if a `with` module has no name.
///
/// # Panics
/// Panics if `name` is empty. `assert_named` is called in a constant, so the panic is a compile error.
#[track_caller]
pub const fn assert_named(name: &str) {
    assert!(
        !name.is_empty(),
        "the module lacks a name for its wire format: write `pub const NAME: &str = \"…\";` in it, with a name that no other format has, and increase `pub const VERSION: u32` whenever the format changes"
    );
}

/// Returns whether two values write the same bits. Returns false if one of the values has no wire form.
pub(crate) fn same_bits(
    one: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    other: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
) -> bool {
    let (mut ours, mut theirs) = (BitWriter::new(), BitWriter::new());
    one(&mut ours).is_ok() && other(&mut theirs).is_ok() && ours == theirs
}

/// A serialiser for values of another type `T`. `with = module` makes this serialiser from the module's
/// functions `write` and `read` and its constants `NAME` and `VERSION`, and `as = Form` from conversions.
pub trait With<T>: 'static {
    /// Identifies the serialiser in checksums and layouts: this is the `NAME` of the module.
    const WIRE_NAME: &'static str;

    /// The version of the wire form, as in [`NetSerialize::WIRE_VERSION`]. The version is the constant
    /// `VERSION` of the module, or 1 if the module has no `VERSION`.
    const WIRE_VERSION: u32;

    /// The wire form of one value.
    #[doc(hidden)]
    const FORM: &'static WireForm = &WireForm::of_module::<T, Self>();

    /// The collections around the module's values, if the field is a collection of such values.
    #[doc(hidden)]
    const AROUND: &'static Around = &Around::Nothing;

    /// Writes a value in the same way as [`NetSerialize::write`].
    ///
    /// # Errors
    /// Returns an error if the value has no wire form.
    fn write(value: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a value in the same way as [`NetSerialize::read`].
    ///
    /// # Errors
    /// Returns an error if the bits are not a valid value.
    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<T, ReadError>;
}
