//! Code that both kinds of arrays share. Macros implement the shared code for each kind of array with the
//! methods of that kind.
//!
//! *Invariant:* this module does not depend on how an array stores its items.

mod attributes;
mod forms;
mod methods;
