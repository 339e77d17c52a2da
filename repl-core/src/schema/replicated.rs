//! [`Replicated`]: the trait of objects. The trait contains the tables of a type, and calls its notifies. The
//! derive implements this trait.
//!
//! *Invariant:* the layout and the program of a type are made from its own shape.

use crate::schema::callbacks::ObjectCallbackPolicy;
use crate::schema::layout_of::LayoutOf;
use crate::schema::program::Program;
use crate::schema::property::Property;
use crate::schema::value::NetSerialize;

/// Requires that an object is `Send`, so that a server can move to another thread between uses. The name of
/// the trait `EveryFieldIsSend` appears in the compile error for an object that is not `Send`.
#[doc(hidden)]
pub trait EveryFieldIsSend: Send {}

impl<T: Send> EveryFieldIsSend for T {}

/// Requires that an object is `Sync`, so that several threads can read one server or client. The name of the
/// trait `EveryFieldIsSync` appears in the compile error for an object that is not `Sync`.
#[doc(hidden)]
pub trait EveryFieldIsSync: Sync {}

impl<T: Sync> EveryFieldIsSync for T {}

/// An object: a struct whose annotated fields are replicated. Use the derive macro to implement this trait.
/// All fields of an object must be `Send` and `Sync`, including those that are not replicated.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object",
    label = "does not derive `Replicated`",
    note = "write `#[derive(Replicated, Default)]` on the struct, and `#[replicated]` on each field to replicate",
    note = "items of fast arrays (`FastArrayItem`) and values (`NetSerialize`) are not objects: use them as fields of an object"
)]
pub trait Replicated: Property + NetSerialize + EveryFieldIsSend + EveryFieldIsSync {
    /// The layout of the type, which is the table of its handles, paths, types, conditions and widths. The
    /// layout can be printed as a table, which people can review.
    const LAYOUT: &'static LayoutOf<Self>;

    /// Whether callbacks of the object are called: [`OwnCallbacks`](crate::schema::callbacks::OwnCallbacks)
    /// or [`NoCallbacks`](crate::schema::callbacks::NoCallbacks).
    #[doc(hidden)]
    type CallbackPolicy: ObjectCallbackPolicy<Self>;

    /// Returns the program of the type, which is the layout of the type as a flat list of commands. Objects
    /// are compared, written and read with the program. For types without generic parameters the tables of
    /// the program are static. For generic types each call makes a new program (about 2 µs for 25 commands).
    fn program() -> Program;

    /// Calls the notify method of the replicated field `field`. `field` is an index in the order of
    /// declaration. The argument `old` has the object's values from before the update.
    #[doc(hidden)]
    fn notify(&mut self, field: usize, old: &Self);
}
