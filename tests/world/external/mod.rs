//! Objects that live outside the server: the server compares the changed objects, and stores no live copy.
//!
//! *Invariant:* a test changes an object only in the store where the object lives, never through the server.

mod copy_out;
mod fleet;
mod handing_over;
mod limits;
mod misuse;
mod placing;
mod same_bytes;
mod store;
