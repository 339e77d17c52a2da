//! Fields that are sent as values of another type (`as = Form`). This is for types of other crates, which
//! cannot have a derive of this library.
//!
//! *Invariant:* only values of the other type are written, with the attributes of the field.

use std::marker::PhantomData;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::object::whole;
use crate::schema::property::Property;
use crate::schema::shape::{Around, Field};
use crate::types::within::{ReadsField, WritesField};

/// A field type that can be sent as a `Form`, or a container of such values. `Depth` says how deep the values
/// are, and the compiler always infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as `{Form}`",
    label = "does not convert to and from `{Form}`",
    note = "write `impl From<{Self}> for {Form}` and `impl From<{Form}> for {Self}`; for an `Option`, a `Vec`, an array or a map write the conversions of one value in it",
    note = "if neither of the types is yours, write a type of your own that derives `NetSerialize` and `Clone`, and the conversions to and from it",
    note = "the type of the field must be `Clone`"
)]
pub trait SentAs<Form, Depth>: Sized {
    /// The collections around the values.
    const AROUND: &'static Around;

    /// Writes the field as values of the other type, with the attributes of `entry`.
    ///
    /// # Errors
    /// Returns an error if a value has no wire form.
    fn write_converted(&self, entry: &'static Field, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a field from values of the other type.
    ///
    /// # Errors
    /// Returns an error if the bits are not a valid field.
    fn read_converted(
        entry: &'static Field,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Self, ReadError>;
}

#[diagnostic::do_not_recommend]
impl<F, Form, D> SentAs<Form, D> for F
where
    Conversion<Form>: WritesField<F, D> + ReadsField<F, D>,
{
    const AROUND: &'static Around = <Conversion<Form> as WritesField<F, D>>::AROUND;

    fn write_converted(&self, entry: &'static Field, writer: &mut BitWriter) -> Result<(), WriteError> {
        Conversion::<Form>::new(entry).write_field(self, writer)
    }

    fn read_converted(
        entry: &'static Field,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Self, ReadError> {
        Conversion::<Form>::new(entry).read_field(reader, references)
    }
}

/// The depth of a field that is itself converted.
pub enum Converted {}

/// Writes and reads values that convert to and from a `Form`.
pub struct Conversion<Form> {
    /// The attributes of the field, in a table entry for a `Form`.
    entry: &'static Field,
    form: PhantomData<fn() -> Form>,
}

impl<Form> Conversion<Form> {
    const fn new(entry: &'static Field) -> Self {
        Self { entry, form: PhantomData }
    }
}

impl<F: Clone + Into<Form>, Form: Property> WritesField<F, Converted> for Conversion<Form> {
    const AROUND: &'static Around = &Around::Nothing;

    fn write_field(&self, field: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        whole::write(&field.clone().into(), self.entry, writer)
    }
}

impl<F, Form: Property + Into<F>> ReadsField<F, Converted> for Conversion<Form> {
    fn read_field(
        &self,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<F, ReadError> {
        whole::read::<Form>(self.entry, reader, references).map(Into::into)
    }
}

/// How a field of type `F` is converted, written and read.
pub struct ConversionOf<F> {
    /// The collections around the values.
    pub around: &'static Around,
    /// Writes a field as values of the other type.
    pub write: fn(&F, &'static Field, &mut BitWriter) -> Result<(), WriteError>,
    /// Reads a field from values of the other type.
    pub read: fn(&'static Field, &mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<F, ReadError>,
}

impl<F> ConversionOf<F> {
    /// Returns how the field is sent as values of the type `Form`.
    #[must_use]
    pub const fn new<Form, D>() -> Self
    where
        F: SentAs<Form, D>,
    {
        Self { around: F::AROUND, write: F::write_converted, read: F::read_converted }
    }
}

/// A type that compiles only if `Form` can be replicated. With this type, the compiler reports an unsuitable
/// `Form` before other errors.
pub struct FormOf<Form: Property>(PhantomData<Form>);
