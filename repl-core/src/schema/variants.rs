//! Enums that are sent field by field: their variants, and the functions that access them.
//!
//! *Invariant:* an enum is handled like an array of one element, which has the fields of the active variant.
//! Instead of a length, the number of the active variant is sent.

use std::any::type_name;

use crate::schema::property::Property;
use crate::schema::shape::{ArrayShape, Field, Kind, Shape};

/// An enum that derives `Replicated`. The derive implements this trait.
#[doc(hidden)]
pub trait Variants: Property {
    /// The variants in the order of declaration.
    const VARIANTS: &'static [Variant];

    /// Returns the index of the active variant.
    fn active(&self) -> usize;

    /// Returns the address of a sent field of the active variant. `field` is an index into its
    /// [`fields`](Variant::fields). Returns a null pointer if the variant has no such field.
    fn field(&self, field: usize) -> *const u8;

    /// Makes a variant in which all fields have their initial values. Returns `None` if there is no such
    /// variant.
    fn make(variant: usize) -> Option<Self>;
}

/// Makes the fields of a new variant that are not properties: skipped fields, and fields with their own
/// serialiser. The trait improves the compile error for a field without `Default`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in a variant of an enum that derives `Replicated`, but has no `Default`",
    label = "no `Default`",
    note = "when the server makes a variant active, a client makes the variant from nothing: the fields that it does not receive get their `Default`, and so do fields with `with` or `as` until their first value",
    note = "derive or implement `Default` for the type of the field, or send the field without `with` and `as`"
)]
pub trait MadeWithVariant: Sized {
    /// Returns the value that the field has in a new variant.
    fn make() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> MadeWithVariant for T {
    fn make() -> Self {
        Self::default()
    }
}

/// One variant of an enum, as the derive describes it.
#[derive(Clone, Copy)]
pub struct Variant {
    pub(crate) name: &'static str,
    /// The fields that are sent, in the order of declaration. Their offsets are not known at compile time, so
    /// the offsets in these entries are zero.
    pub(crate) fields: &'static [Field],
}

impl Variant {
    /// Makes a variant called `name` on the wire.
    #[must_use]
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Self { name, fields }
    }
}

/// Describes an enum, with functions that access it without knowing its type.
pub(crate) struct EnumShape {
    pub(crate) variants: &'static [Variant],
    /// The access to the enum as an array. Its only element is the enum itself. The length that is passed to
    /// `resize` is the index of a variant: if another variant is active, the variant is made with initial
    /// values.
    pub(crate) array: ArrayShape,
    /// A function that returns the index of the active variant of the enum at a pointer.
    pub(crate) active: unsafe fn(*const u8) -> usize,
    /// A function that returns the offset of a field of the active variant, in bytes from the start of the
    /// enum.
    pub(crate) offset: unsafe fn(*const u8, usize) -> Option<usize>,
    /// A function that returns the offsets of all sent fields of a variant.
    pub(crate) offsets: fn(usize) -> Vec<usize>,
    /// A function that replaces the enum at a pointer by another variant with initial values, and calls the
    /// given function. If the given function returns `false`, the enum gets its old value back.
    pub(crate) replace: Replace,
}

/// A function that replaces an enum of unknown type by another of its variants.
pub(crate) type Replace = unsafe fn(*mut u8, usize, &mut dyn FnMut() -> bool);

impl EnumShape {
    /// Returns the greatest number that is sent for a variant.
    pub(crate) const fn last(&self) -> u32 {
        (self.variants.len() as u32).saturating_sub(1)
    }
}

impl Shape {
    /// Returns the shape of an enum that is sent field by field.
    #[must_use]
    pub const fn variants<T: Variants>(name: &'static str) -> Self {
        let kind = Kind::Enum(const { &EnumShape::of::<T>() });
        Self { name, rust_name: type_name::<T>, size: size_of::<T>(), bitwise: false, kind, form: None }
    }
}
