//! Makes wire forms: of types with derives, of types of the library, and of serialisers that were written by
//! hand.
//!
//! *Invariant:* the checksum of a form covers exactly what the form contains. So two forms with different
//! checksums print differently.

use std::any::type_name;

use crate::schema::checksum::Checksum;
use crate::schema::delta::Delta;
use crate::schema::layout::Layout;
use crate::schema::shape::{Around, Content, Field, Shape, WireForm};
use crate::schema::value::{NetSerialize, With};

impl WireForm {
    /// Returns the form of a type with hand-written functions: its name and its version.
    #[must_use]
    pub const fn by_hand<T: NetSerialize>() -> Self {
        Self { rust_name: type_name::<T>, ..Self::named(T::WIRE_NAME, T::WIRE_VERSION) }
    }

    /// Adds numbers that also decide the bits of a form that was written by hand, each with a name. For
    /// example, these can be constant parameters of the type, or checksums of the forms of other types that
    /// its functions write.
    ///
    /// ```
    /// # use repl_core as repl;
    /// use repl::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WireForm, WriteError};
    ///
    /// struct Angle<const BITS: u32>(u64);
    ///
    /// impl<const BITS: u32> NetSerialize for Angle<BITS> {
    ///     const WIRE_NAME: &'static str = "Angle";
    ///     const WIRE_FORM: &'static WireForm =
    ///         &WireForm::by_hand::<Self>().parameters(&[("bits", BITS as u128)]);
    ///
    ///     fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
    ///         writer.write_bits(self.0, BITS);
    ///         Ok(())
    ///     }
    ///     fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
    ///         reader.read_bits(BITS).map(Self)
    ///     }
    /// }
    /// assert_ne!(Angle::<8>::WIRE_FORM.checksum(), Angle::<9>::WIRE_FORM.checksum());
    /// ```
    ///
    /// # Panics
    /// Panics if the form was not made by [`by_hand`](Self::by_hand), or has parameters already. In a
    /// constant, this panic is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn parameters(self, parameters: &'static [(&'static str, u128)]) -> Self {
        let Content::ByHand { version, parameters: [] } = self.content else {
            panic!("call `parameters` once, on the result of `by_hand`");
        };
        let mut sum = Checksum::new().number(self.checksum);
        let mut i = 0;
        while i < parameters.len() {
            let (name, number) = parameters[i];
            sum = sum.text(name).number(number as u64).number((number >> 64) as u64);
            i += 1;
        }
        Self { content: Content::ByHand { version, parameters }, checksum: sum.finish(), ..self }
    }

    const fn named(name: &'static str, version: u32) -> Self {
        let checksum = Checksum::new().text(name).number(version as u64).finish();
        Self { name, rust_name: || "", content: Content::ByHand { version, parameters: &[] }, checksum }
    }

    /// Returns the form of a field with its own serialiser (`with = module`, or `as = Form`).
    pub(crate) const fn custom<T, W: With<T>>() -> Self {
        match W::AROUND {
            Around::Nothing => *W::FORM,
            around => Self::around(W::FORM.name, around, W::FORM),
        }
    }

    /// Returns the form of a field that is sent as differences.
    pub(crate) const fn delta<T: NetSerialize, D: Delta<T>>() -> Self {
        let around = const { &Around::Sequence(D::NAME, &Around::Nothing) };
        let form = Self::around(T::WIRE_NAME, around, T::WIRE_FORM);
        let checksum =
            Checksum::new().number(form.checksum).number(D::VERSION as u64).number(D::MAX_LEN as u64);
        Self { checksum: checksum.finish(), ..form }
    }

    /// Returns the form of the values of a `with` module.
    pub(crate) const fn of_module<T, W: With<T> + ?Sized>() -> Self {
        Self::named(W::WIRE_NAME, W::WIRE_VERSION)
    }

    /// Returns the form of a value with the attributes of its field.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_field(field: &Field) -> Self {
        let (shape, checksum) = (field.shape, Checksum::new().field(field).finish());
        let content = Content::Shape(field.formatted());
        Self { name: shape.name, rust_name: shape.rust_name, content, checksum }
    }

    /// Returns the form of the collections `around` with values of the form `form` inside.
    pub(crate) const fn around(name: &'static str, around: &'static Around, form: &'static Self) -> Self {
        let checksum = around.checksum(form.checksum);
        Self { name, rust_name: || "", content: Content::Around(around, form), checksum }
    }

    /// Returns the form of a type that derives `NetSerialize`, or of the calls of a class. A struct has no
    /// variants. An enum has the fields of all its variants, and for each variant its name and the number of
    /// its fields.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived<T: NetSerialize>(
        fields: &'static [Field],
        variants: &'static [(&'static str, usize)],
    ) -> Self {
        let sum = Checksum::new().text(T::WIRE_NAME);
        let sum = if variants.is_empty() {
            add_fields(sum.number(1), fields)
        } else {
            let (mut sum, mut rest) = (sum.number(variants.len() as u64), fields);
            let mut i = 0;
            while i < variants.len() {
                let (name, count) = variants[i];
                let (own, others) = rest.split_at(count);
                sum = add_fields(sum.text(name), own);
                rest = others;
                i += 1;
            }
            sum
        };
        let (name, content) = (T::WIRE_NAME, Content::Derived { fields, variants });
        Self { name, rust_name: type_name::<T>, content, checksum: sum.finish() }
    }

    /// Returns the form of an object or item that is sent as a unit.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_layout(layout: &Layout) -> Self {
        let (shape, checksum) = (layout.shape, layout.checksum());
        Self {
            name: shape.name,
            rust_name: shape.rust_name,
            content: Content::Shape(shape.native()),
            checksum,
        }
    }

    /// Returns the form of a type that is written with its shape.
    pub(crate) const fn of_shape(shape: &'static Shape) -> Self {
        let checksum = Checksum::new().field(&Field::new("", 0, shape)).finish();
        Self {
            name: shape.name,
            rust_name: shape.rust_name,
            content: Content::Shape(shape.native()),
            checksum,
        }
    }

    /// Returns the name of the type on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a checksum of everything that decides the bits: names, types, widths, limits, quantisers,
    /// versions. Builds with different checksums refuse each other.
    #[must_use]
    pub const fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Returns the name of the first field inside the value that has a condition.
    #[doc(hidden)]
    #[must_use]
    pub const fn conditional_field(&self) -> Option<&'static str> {
        match self.content.marked() {
            Some(shape) => shape.conditional_field(),
            None => None,
        }
    }
}

impl Content {
    /// Returns the shape of the values inside, if one of them may be a struct with fields that have
    /// conditions, notifies or `push`. These attributes have no effect in a value that is sent as a unit. A
    /// type that derives `NetSerialize` cannot contain such a struct, because its table refuses it.
    pub(crate) const fn marked(self) -> Option<&'static Shape> {
        match self {
            Self::Shape(property) => Some(property.shape),
            Self::Around(_, form) => form.content.marked(),
            Self::ByHand { .. } | Self::Derived { .. } => None,
        }
    }
}

impl Around {
    /// Returns a checksum of these collections and of the values inside. `form` is the checksum of the form
    /// of these values.
    pub(crate) const fn checksum(&self, form: u64) -> u64 {
        let (sum, inner) = match self {
            Self::Nothing => return form,
            Self::Sequence(name, inner) => (Checksum::new().text(name), inner),
            Self::Array(len, inner) => (Checksum::new().text("[;]").number(*len as u64), inner),
            Self::Map(key, inner) => (Checksum::new().text("Map").field(&Field::new("", 0, key)), inner),
        };
        sum.number(inner.checksum(form)).finish()
    }
}

const fn add_fields(sum: Checksum, fields: &[Field]) -> Checksum {
    let mut sum = sum.number(fields.len() as u64);
    let mut i = 0;
    while i < fields.len() {
        sum = sum.field(&fields[i]);
        i += 1;
    }
    sum
}
