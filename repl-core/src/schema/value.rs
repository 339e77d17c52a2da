//! [`NetSerialize`]: the trait of values that write and read themselves.
//!
//! *Invariant:* a value that was read writes the same bits again.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::checksum::Checksum;

/// A value that serialises itself as a unit.
///
/// The derives implement it. Write it by hand for a type with its own wire form, and add
/// [`leaf!`](crate::leaf) to use the type as a field.
///
/// ```
/// use repl_core::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError, leaf};
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
pub trait NetSerialize: Sized + 'static {
    /// The type's name in checksums, layouts and errors.
    const WIRE_NAME: &'static str;

    /// The version of the bits that [`write`](Self::write) writes. 1 by default. Raise it when they change:
    /// two builds with different versions refuse each other before any state is sent (R21).
    const WIRE_VERSION: u32 = 1;

    /// A checksum of everything that decides the bits written. By default, of the name and the version.
    const WIRE_CHECKSUM: u64 = form_checksum(Self::WIRE_NAME, Self::WIRE_VERSION);

    /// Writes the value.
    ///
    /// # Errors
    /// When the value has no wire form. Such a value is never sent: the property keeps the last value that
    /// had one.
    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a value. The bytes may come from anyone: refuse what [`write`](Self::write) cannot have written,
    /// and never panic.
    ///
    /// A reference reads as null while its object is not there, even if `write` wrote another. Accept null
    /// wherever you accept a reference, or the packet is refused and the connection ends. The number of bits
    /// read must not depend on whether the object is there.
    ///
    /// Clients read a value twice, to validate it and to apply it, and again when an object that it mentions
    /// comes or goes. If only a later read refuses the value, the property keeps the value that it had.
    ///
    /// # Errors
    /// When the bits are not a value of this type. The whole packet is then refused.
    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError>;

    /// Whether both are the same value, so that nothing needs to be sent. By default this compares the bits
    /// that they write, and is false if one of them has no wire form. Override it where that is slow.
    fn identical(&self, other: &Self) -> bool {
        same_bits(|writer| self.write(writer), |writer| other.write(writer))
    }
}

/// Returns the checksum of a wire form that is identified by its name and version alone.
pub(crate) const fn form_checksum(name: &str, version: u32) -> u64 {
    Checksum::new().text(name).number(version as u64).finish()
}

/// Values for constants that a module of `with = module` does not define.
pub mod unsaid {
    /// No name. Refused at compile time.
    pub const NAME: &str = "";
    /// The first version.
    pub const VERSION: u32 = 1;
}

/// Refuses a module without a name.
///
/// # Panics
/// If `name` is empty. It is called in a constant, so this is a compile error.
#[track_caller]
pub const fn assert_named(name: &str) {
    assert!(
        !name.is_empty(),
        "the module does not say what its form is called on the wire: write `pub const NAME: &str = \"…\";` in it, with a name \
         that no other form has, and raise `pub const VERSION: u32` whenever its bits change"
    );
}

/// Whether two values write the same bits. False if one of them has no wire form.
pub(crate) fn same_bits(
    one: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    other: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
) -> bool {
    let (mut ours, mut theirs) = (BitWriter::new(), BitWriter::new());
    one(&mut ours).is_ok() && other(&mut theirs).is_ok() && ours == theirs
}

/// A serialiser for values of another type `T`. `with = module` makes it of the module's functions `write`
/// and `read` and of its constants `NAME` and `VERSION`.
pub trait With<T>: 'static {
    /// Identifies the serialiser in checksums and layouts: the module's `NAME`.
    const WIRE_NAME: &'static str;

    /// As [`NetSerialize::WIRE_VERSION`]: the module's `VERSION`, or 1 if it has none.
    const WIRE_VERSION: u32;

    /// A checksum of what is written around the module's values, if the field holds several of them.
    /// Otherwise zero.
    const AROUND: u64 = 0;

    /// As [`NetSerialize::write`].
    ///
    /// # Errors
    /// When the value has no wire form.
    fn write(value: &T, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// As [`NetSerialize::read`].
    ///
    /// # Errors
    /// When the bits are not a valid value.
    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<T, ReadError>;
}
