//! What both kinds of arrays share. Macros implement it for each kind on top of the kind's own methods.
//!
//! *Invariant:* this module does not depend on how an array stores its items.

mod attributes;
mod forms;
mod methods;
