//! Prints the parameters of a call, for the `Debug` implementation in generated code.
//!
//! A macro does not know whether the type of a parameter implements `Debug`, but method lookup does: it tries
//! a receiver with fewer references first. Therefore `(&Printed(value)).printed()` calls [`ByDebug::printed`]
//! if the type implements `Debug`, and [`ByMark::printed`] otherwise.
//!
//! *Invariant:* generated code imports no other trait with a method that is named `printed`.

use std::fmt;

/// A parameter of a call.
pub struct Printed<'a, T>(pub &'a T);

/// Prints `_` instead of a value whose type does not implement `Debug`.
struct Mark;

/// Prints a parameter with its own `Debug` implementation.
pub trait ByDebug {
    /// Returns the printable form of the value.
    fn printed(&self) -> &dyn fmt::Debug;
}

/// Prints `_` instead of a parameter.
pub trait ByMark {
    /// Returns the printable form of the value.
    fn printed(&self) -> &dyn fmt::Debug;
}

impl<T: fmt::Debug> ByDebug for Printed<'_, T> {
    fn printed(&self) -> &dyn fmt::Debug {
        self.0
    }
}

impl<T> ByMark for &Printed<'_, T> {
    fn printed(&self) -> &dyn fmt::Debug {
        &Mark
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
