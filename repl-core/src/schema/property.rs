//! What may be a field: the trait that tells the tables what a type looks like.
//!
//! *Invariant:* the spelling of a field's type never decides anything; its `Property::SHAPE` does.
#![expect(unsafe_code, reason = "declares the trait that only the right shape may implement")]

use crate::schema::callbacks::ValueCallbacks;
use crate::schema::shape::Shape;

/// A type that can be replicated. Derived, or made with [`leaf!`](crate::leaf); not implemented by hand.
///
/// # Safety
/// `SHAPE` describes `Self`: each field it names lies at its offset and has the type whose shape it states, and if it is
/// marked as bitwise, two values are the same exactly if their bytes are and no byte of a value is padding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be replicated",
    label = "not a property",
    note = "derive `Replicated` or `NetSerialize` for it, or implement `NetSerialize` by hand and say `repl::leaf!({Self})`",
    note = "to keep the field on the server leave it without `#[replicated]`, or say `#[replicated(skip)]`; for a foreign type say `#[replicated(with = module)]`",
    note = "instead of an `Instant` or a `SystemTime` hold a `Duration`; of a \
            `&str` or a `PathBuf` a `String`; of an \
            `Rc`, `Arc`, `Cell` or `Mutex` what is in it; of a pointer an `ObjectRef`"
)]
pub unsafe trait Property: Sized + 'static {
    /// What the type looks like.
    const SHAPE: &'static Shape;

    /// What values of maps are told on clients, if they have callbacks.
    #[doc(hidden)]
    const CALLBACKS: Option<ValueCallbacks<Self>> = None;

    /// The value that stands there before the first is read.
    fn initial() -> Self;
}
