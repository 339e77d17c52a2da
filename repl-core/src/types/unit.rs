//! The traits that the type of a field must implement if the field is part of a value that is sent as a unit,
//! or has the attribute `atomic`. The generated code checks this.
//!
//! *Invariant:* each requirement is one trait, so that the compiler reports an unsuitable type only once.

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::object::whole;
use crate::schema::attributes::Unit;
use crate::schema::property::Property;
use crate::schema::shape::{Field, Shape};
use crate::schema::value::NetSerialize;

/// The trait that generated code requires of the type of a field in a value that is sent as a unit. The trait
/// has no supertrait, so that the compiler reports an unsuitable type only once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be replicated",
    label = "not a property",
    note = "for a type of your own, derive `NetSerialize`, or implement `NetSerialize` by hand and write `repl::leaf!({Self})`",
    note = "`Instant` and `SystemTime` mean nothing on another machine: use the number of a tick of the server, or a `Duration` since a moment that both sides know",
    note = "replace `&str`, `Cow<str>`, `OsString` and `PathBuf` by `String`; slices and other lists by `Vec`; `Result` by an enum of your own",
    note = "the order of an `IndexMap` or `IndexSet` would be lost on clients: use `HashMap`, `BTreeMap` or their sets if the order does not matter, and `OrderedFastArray` or a `Vec` (of pairs, for a map) if it does",
    note = "replace `Rc<T>`, `Arc<T>`, `Cell<T>`, `RefCell<T>` and `Mutex<T>` by `T`; an atomic number by the number; a reference or pointer to an object by `ObjectRef`",
    note = "to leave a field out, write `#[replicated(skip)]` on it (a parameter of a call is always sent); for a type of another crate, write `#[replicated(as = Form)]`, where `Form` is a type that can be replicated, such as `[f32; 3]`, and converts to and from it, or `#[replicated(with = module)]`",
    note = "for a type of `glam`, enable the feature of `repl` for its version: `glam` for 0.34, `glam-0-33` for 0.33",
    note = "if it is a map or a set: its keys are compared by `Eq` and `Hash`, or by `Ord` if it is sorted, so a float cannot be a key: use an integer, for example a number of millimetres"
)]
pub trait Value: Sized {
    /// The shape of the type.
    const TABLE: &'static Shape;

    /// Writes the value in the wire form that the attributes of `field` define.
    ///
    /// # Errors
    /// Returns an error if a part of the value has no wire form.
    fn write_as(&self, field: &Field, writer: &mut BitWriter) -> Result<(), WriteError>;

    /// Reads a value in the wire form that the attributes of `field` define.
    ///
    /// # Errors
    /// Returns an error if the bits are not a value of this type.
    fn read_as(
        field: &Field,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Self, ReadError>;

    /// Returns whether the replicated parts of two values are the same.
    fn same_as(&self, other: &Self) -> bool;

    /// Returns the initial value of the type.
    fn fresh() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Property> Value for T {
    const TABLE: &'static Shape = T::SHAPE;

    fn write_as(&self, field: &Field, writer: &mut BitWriter) -> Result<(), WriteError> {
        whole::write(self, field, writer)
    }

    fn read_as(
        field: &Field,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Self, ReadError> {
        whole::read(field, reader, references)
    }

    fn same_as(&self, other: &Self) -> bool {
        whole::identical(self, other)
    }

    fn fresh() -> Self {
        T::initial()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Property + NetSerialize + Clone> Unit for T {
    const PARTS: &'static Shape = T::SHAPE;
    const WHOLE: &'static Shape = &Shape::opaque::<T>();
}
