//! [`Variants`]: the trait of enums that are sent field by field. The derive implements it.
//!
//! *Invariant:* an enum is handled like an array of one element, which has the fields of the active variant.
//! Instead of a length, the number of the active variant is sent.

use crate::schema::property::Property;
use crate::schema::shape::Variant;

/// An enum that derives `Replicated`.
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
