//! [`CallError`]: why a call cannot be made.
//!
//! *Invariant:* a call that is not queued changes nothing.

use repl_core::WriteError;

use crate::messages::channel::SendError;

/// The reason why a call was not made. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no connection: it has not begun, or it has ended.
    #[error("not connected")]
    NotConnected,
    /// The object does not exist, or is of another class. Or the call is for clients, and the object was
    /// [torn off](crate::Server::tear_off), so it belongs to them.
    #[error("the object does not exist, or was torn off")]
    Gone,
    /// This client does not own the object, so the server would ignore the call (S213).
    #[error("only the owner of an object may call its server functions")]
    NotOwner,
    /// The object has no owner, so there is no client that could run the call (S213).
    #[error("the object has no owner that could run the call")]
    NoOwner,
    /// This client made more calls of this function in the last second than the function allows.
    #[error("too many calls: the function allows {per_second} a second")]
    TooFast {
        /// How many calls a second the function allows.
        per_second: u32,
    },
    /// Too much waits for its acks. Make the call again in a later tick.
    #[error("too many calls wait to be acknowledged")]
    Full,
    /// The parameters are too large.
    #[error("the call takes {bits} bits, and there is room for {max_bits}")]
    TooLarge {
        /// The bits of the call.
        bits: usize,
        /// The most bits that a call may take.
        max_bits: usize,
    },
    /// A parameter has no form on the wire.
    #[error("{0}")]
    Refused(#[from] WriteError),
}

impl From<SendError> for CallError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::NotConnected => Self::NotConnected,
            SendError::Full => Self::Full,
            SendError::TooFast { per_second } => Self::TooFast { per_second },
            SendError::TooLarge { bits, max_bits } => Self::TooLarge { bits, max_bits },
            SendError::Refused(error) => Self::Refused(error),
        }
    }
}
