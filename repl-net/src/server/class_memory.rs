//! How much memory the objects of a class take on a server.
//!
//! *Invariant:* nothing is counted twice.

/// The approximate number of bytes of memory that the objects of a class take on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassMemory {
    /// The name of the class.
    pub class: &'static str,
    /// The number of objects.
    pub objects: usize,
    /// The live objects. Zero for a class whose objects live outside the server, except for changes that
    /// wait for the next tick.
    pub object_bytes: usize,
    /// The shadows (the values at the last comparison), and the memory that comparisons need.
    pub shadow_bytes: usize,
    /// The elements of replicated arrays, fast arrays, maps, sets and `String`s, at any depth, of the live
    /// objects and of the shadows. Keys count with their bytes on the wire. Not counted are spare room,
    /// what a collection stores beside its elements, and what is inside a value that is sent as a unit,
    /// such as one whose type has `derive(NetSerialize)`.
    pub element_bytes: usize,
}
