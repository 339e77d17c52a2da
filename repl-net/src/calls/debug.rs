//! How generated code prints the parameters of a call for `Debug`.
//!
//! A macro does not know whether the type of a parameter implements `Debug`. The compiler knows, because it
//! looks for methods with fewer references first: `(&Printed(value)).printed()` calls [`ByDebug::printed`] if
//! the type implements `Debug`, and [`ByMark::printed`] otherwise.
//!
//! *Invariant:* the two traits are the only ones with this method that generated code imports.

use std::fmt;

/// A parameter of a call.
pub struct Printed<'a, T>(pub &'a T);

/// What is printed for a value whose type does not implement `Debug`: `_`.
struct Mark;

/// Prints a parameter as it prints itself.
pub trait ByDebug {
    /// Returns what is printed.
    fn printed(&self) -> &dyn fmt::Debug;
}

/// Prints a mark for a parameter.
pub trait ByMark {
    /// Returns what is printed.
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
