//! [`Property`]: the trait of types that can be fields. The trait describes how values of a type are stored
//! in memory and encoded on the wire.
//!
//! *Invariant:* a field's `Property::SHAPE` decides how it is replicated. The spelling of the field's type
//! does not matter.
#![expect(unsafe_code, reason = "declares the trait that only the right shape may implement")]

use crate::schema::callbacks::ValueCallbacks;
use crate::schema::shape::Shape;

/// A type that can be replicated. Derive this trait, or use [`leaf!`](crate::leaf). Do not implement this
/// trait by hand.
///
/// # Safety
/// `SHAPE` describes `Self`: each field in `SHAPE` is at the stated offset in `Self`, and has a type with the
/// stated shape. For an enum, `Variants::active`, `Variants::make` and `Variants::field` agree: a field of
/// the active variant has the stated shape, and is at the returned address. If the shape is marked as
/// bitwise, two values are the same if and only if their bytes are the same, and no byte of a value is
/// padding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be replicated",
    label = "not a property",
    note = "for a type of your own, derive `Replicated` or `NetSerialize`, or implement `NetSerialize` by hand and write `repl::leaf!({Self})`",
    note = "`Instant` and `SystemTime` mean nothing on another machine: use the number of a tick of the server, or a `Duration` since a moment that both sides know",
    note = "replace `&str`, `Cow<str>`, `OsString` and `PathBuf` by `String`; slices and other lists by `Vec`; `Result` by an enum of your own",
    note = "the order of an `IndexMap` or `IndexSet` would be lost on clients: use `HashMap`, `BTreeMap` or their sets if the order does not matter, and `OrderedFastArray` or a `Vec` (of pairs, for a map) if it does",
    note = "replace `Rc<T>`, `Arc<T>`, `Cell<T>`, `RefCell<T>` and `Mutex<T>` by `T`; an atomic number by the number; a reference or pointer to an object by `ObjectRef`",
    note = "to keep the field on the server, remove `#[replicated]` or write `#[replicated(skip)]`; for a type of another crate, write `#[replicated(as = Form)]`, where `Form` is a type that can be replicated, such as `[f32; 3]`, and converts to and from it, or `#[replicated(with = module)]`",
    note = "for a type of `glam`, enable the feature of `repl` for its version: `glam` for 0.34, `glam-0-33` for 0.33"
)]
pub unsafe trait Property: Sized + 'static {
    /// The shape of the type: its parts, and how each part is written.
    const SHAPE: &'static Shape;

    /// The callbacks that a client calls on values of this type in maps, if it has any.
    #[doc(hidden)]
    const CALLBACKS: Option<ValueCallbacks<Self>> = None;

    /// Returns the value that a field has before the first value is read.
    fn initial() -> Self;
}
