//! Values of which both sides store the state, so that later values can be sent as differences to them.
//!
//! *Invariant:* a base belongs to one property of one object, and is named by the revision of its value.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::bits::Revision;

/// The state of a value that both sides store, so that later values can be sent as differences to it.
#[derive(Clone)]
pub struct Base {
    state: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Base {
    pub(crate) fn new(state: impl Any + Send + Sync, bytes: usize) -> Self {
        Self { state: Arc::new(state), bytes }
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

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base({} bytes)", self.bytes)
    }
}

/// The values that a client keeps to apply differences to them.
pub trait Bases {
    /// Returns the value of a property of the object in a slot with this revision, if it was kept.
    fn base(&self, slot: u32, handle: u32, revision: Revision) -> Option<&Base>;
}

/// What an update said of the bases of a property: it was a difference to one, or its value is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedRendition {
    /// The handle of the property.
    pub handle: u32,
    /// The revision under which the value is kept.
    pub keeps: Option<Revision>,
    /// The base of the difference.
    pub base: Option<Revision>,
}
