//! What both kinds of arrays have alike, made by macros over what each has of its own.
//!
//! *Invariant:* nothing here knows how an array keeps its items.

mod attributes;
mod forms;
mod methods;
