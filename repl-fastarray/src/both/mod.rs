//! Code that both kinds of arrays share. Macros implement it for each kind with the methods of that kind.
//!
//! *Invariant:* this module does not depend on how an array stores its items.

mod attributes;
mod forms;
mod methods;
