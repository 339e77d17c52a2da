//! Objects: the trait that gives a type its tables and calls its notifies. Derived.
//!
//! *Invariant:* the layout and the program of a type are made from its own shape.

use crate::schema::callbacks::ObjectTold;
use crate::schema::layout_of::LayoutOf;
use crate::schema::program::Program;
use crate::schema::property::Property;
use crate::schema::value::NetSerialize;

/// What every object is, so that a server can work on another thread than the last time: its name is for the error where it is not.
#[doc(hidden)]
pub trait EveryFieldIsSend: Send {}

impl<T: Send> EveryFieldIsSend for T {}

/// What every object is, so that threads can read one server or client together: its name is for the error where it is not.
#[doc(hidden)]
pub trait EveryFieldIsSync: Sync {}

impl<T: Sync> EveryFieldIsSync for T {}

/// An object: a struct whose annotated fields are replicated. Derive it. All its fields are `Send` and `Sync`, those that are not
/// replicated included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no object",
    label = "does not derive `Replicated`",
    note = "say `#[derive(Replicated, Default)]` on the struct, and `#[replicated]` on each field that clients are to have",
    note = "items of fast arrays (`FastArrayItem`) and values (`NetSerialize`) are no objects: hold them in a field of one"
)]
pub trait Replicated: Property + NetSerialize + EveryFieldIsSend + EveryFieldIsSync {
    /// The table of the type: handles, paths, types, conditions, widths. Prints as a reviewer reads it.
    const LAYOUT: &'static LayoutOf<Self>;

    /// Whether the object is told what it receives: [`OwnCallbacks`](crate::schema::callbacks::OwnCallbacks) or
    /// [`NoCallbacks`](crate::schema::callbacks::NoCallbacks).
    #[doc(hidden)]
    type Told: ObjectTold<Self>;

    /// The flat form of the table, by which objects are compared, written and read: static for types without parameters,
    /// made by the call for generic ones (about 2 µs for 25 commands).
    fn program() -> Program;

    /// Calls the notify method of the replicated field with index `field`, in the order of declaration, with the values
    /// from before the receipt.
    #[doc(hidden)]
    fn notify(&mut self, field: usize, old: &Self);
}
