//! Values of which both sides store the state, so that later values can be sent as differences to them.
//!
//! *Invariant:* a base belongs to one property of one object, and is named by the revision of its value.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::bits::Revision;

/// The state of a value that both sides store, so that later values can be sent as differences to it.
///
/// A client stores the value as the server has it: references to objects that the client lacks are not null.
#[derive(Clone)]
pub struct DeltaBase {
    state: Arc<dyn Any + Send + Sync>,
    bytes: usize,
    refers: bool,
}

impl DeltaBase {
    pub(crate) fn new(state: impl Any + Send + Sync, bytes: usize, refers: bool) -> Self {
        Self { state: Arc::new(state), bytes, refers }
    }

    /// Returns whether the value of a client's base contains references to objects.
    pub(crate) fn refers(&self) -> bool {
        self.refers
    }

    /// Returns the state, if it is of this type.
    pub(crate) fn state<S: 'static>(&self) -> Option<&S> {
        self.state.downcast_ref()
    }

    /// Returns how many bytes of memory the state takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Debug for DeltaBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaBase({} bytes)", self.bytes)
    }
}

/// The values that a client keeps to apply differences to them.
pub trait DeltaBases {
    /// Returns the value of a property of the object in a slot with this revision, if it was kept.
    fn base(&self, slot: u32, handle: u32, revision: Revision) -> Option<&DeltaBase>;
}

/// What an update said of the bases of a property: it was a difference to one, or its value is to be kept.
#[derive(Clone, Debug)]
pub struct ReceivedRendition {
    /// The handle of the property.
    pub handle: u32,
    /// The value to keep, and its revision.
    pub keeps: Option<(Revision, DeltaBase)>,
    /// The base of the difference.
    pub base: Option<Revision>,
}
