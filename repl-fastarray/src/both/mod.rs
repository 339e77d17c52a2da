//! Code that both kinds of arrays share. The code is in macros, which are expanded for each kind of array.
//!
//! *Invariant:* this module does not depend on how an array stores its items.

mod attributes;
mod forms;
mod methods;
