//! [`Replicated`]: the trait of objects. The trait contains the tables of a type, and calls its notifies. The
//! derive implements this trait.
//!
//! *Invariant:* the layout and the program of a type are made from its own shape.

use std::marker::PhantomData;

use crate::schema::callbacks::ObjectCallbackPolicy;
use crate::schema::editor::Editor;
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

/// Requires `Send` and `Sync` of a single field that is not replicated, or that has its own serialiser. The
/// separate trait makes the compile error point to the field and say what to write.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in an object, because threads cannot share it",
    label = "not `Send`, or not `Sync`",
    note = "all fields of an object are `Send` and `Sync`, also those that are not replicated: replace `Rc<T>` by `Arc<T>`; `Cell<T>` and `RefCell<T>` by `T`, `Mutex<T>` or an atomic number; `Box<dyn Trait>` by `Box<dyn Trait + Send + Sync>`",
    note = "replace a pointer by an index or `ObjectRef`, or keep it outside of the object, in a map by `ObjectRef`"
)]
pub trait InAnObject {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync> InAnObject for T {}

/// Returns the initial value of an object. The derive calls this function and not `Default` itself, so that
/// the compiler reports only once that an object has no `Default`.
#[doc(hidden)]
#[must_use]
pub fn initial_object<T: Replicated>() -> T {
    T::default()
}

/// A type that compiles only if a field of an object can have the type `T`.
#[doc(hidden)]
pub struct InAnObjectOf<T: InAnObject>(PhantomData<T>);

/// Tells whether the derive found fast arrays in a class.
#[doc(hidden)]
pub struct FastArrays<const ANY: bool>;

/// A class without fast arrays. Its objects can be compared through `&`, because a comparison finds no new
/// items that need ids. The derive of [`Replicated`] implements this trait for each such class.
///
/// For a generic class, the derive does not know the types of the fields. It assumes that they contain no
/// fast arrays, and implements this trait. If a type argument contains fast arrays, the program does not
/// compile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has or may have fast arrays, or does not derive `Replicated`",
    label = "must be a class without fast arrays",
    note = "a comparison gives ids to new items of fast arrays: call `compare_mut(object, &mut live)` instead of `compare(object, &live)`; in a function for all classes, write `T: Replicated + WithoutFastArrays` to call `compare`",
    note = "inputs that are sent by field derive `Replicated` and have no fast arrays; all others are sent whole: call `register_inputs` instead of `register_inputs_by_field`"
)]
pub trait WithoutFastArrays: Replicated {}

#[diagnostic::do_not_recommend]
impl<T: Replicated<FastArrays = FastArrays<false>>> WithoutFastArrays for T {}

/// The editor of objects of the type `T`, for signatures of functions that take an editor.
pub type Edit<'a, T> = <T as Replicated>::Edit<'a>;

/// An object: a struct with annotated fields that are replicated. Use the derive macro to implement this
/// trait. All fields of an object must be `Send` and `Sync`, including those that are not replicated. A
/// client creates a new object with `Default` before it reads the first values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object",
    label = "does not derive `Replicated`",
    note = "write `#[derive(Replicated, Default)]` on the struct, and `#[replicated]` on each field to replicate",
    note = "items of fast arrays (`FastArrayItem`), enums and values (`NetSerialize`) are not objects: use enums and values as fields of an object, and values as messages (`register_message`) or as inputs (`register_inputs`)"
)]
pub trait Replicated: Property + NetSerialize + Default + EveryFieldIsSend + EveryFieldIsSync {
    /// The layout of the type, which is the table of its handles, paths, types, conditions and widths. Its
    /// `Display` output is a table that people can review.
    const LAYOUT: &'static LayoutOf<Self>;

    /// Whether callbacks of the object are called: [`OwnCallbacks`](crate::schema::callbacks::OwnCallbacks)
    /// or [`NoCallbacks`](crate::schema::callbacks::NoCallbacks).
    #[doc(hidden)]
    type CallbackPolicy: ObjectCallbackPolicy<Self>;

    /// Whether the class has fast arrays, as far as the derive knows without the arguments of generic types.
    #[doc(hidden)]
    type FastArrays;

    /// Returns the program of the type, which is the layout of the type as a flat list of commands. Objects
    /// are compared, written and read with the program. For types without generic parameters the tables of
    /// the program are static. For generic types each call makes a new program (about 2 µs for 25 commands).
    fn program() -> Program;

    /// The editor of an object: it has a setter for each replicated field, which writes the value and marks
    /// the property as changed. `Server::edit` of `repl` returns editors and describes them.
    type Edit<'a>;

    /// Wraps a borrowed object into its editor.
    #[doc(hidden)]
    fn edit(editor: Editor<'_, Self>) -> Self::Edit<'_>;

    /// Calls the notify method of the replicated field `field`. `field` is an index in the order of
    /// declaration. The argument `old` contains the object's values from before the update.
    #[doc(hidden)]
    fn notify(&mut self, field: usize, old: &Self);
}
