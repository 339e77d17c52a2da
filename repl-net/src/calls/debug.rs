//! Prints the parameters of a call for `Debug`, in generated code.
//!
//! A macro does not know whether the type of a parameter implements `Debug`. The compiler knows it, because
//! method lookup tries fewer references first: `(&Printed(value)).printed()` calls [`ByDebug::printed`] if
//! the type implements `Debug`, and [`ByMark::printed`] otherwise.
//!
//! *Invariant:* generated code imports no other trait with a method of this name.

use std::fmt;

/// A parameter of a call.
pub struct Printed<'a, T>(pub &'a T);

/// Prints `_`, for a value whose type does not implement `Debug`.
struct Mark;

/// Prints a parameter with its own `Debug`.
pub trait ByDebug {
    /// Returns the printable form of the value.
    fn printed(&self) -> &dyn fmt::Debug;
}

/// Prints a mark instead of a parameter.
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
