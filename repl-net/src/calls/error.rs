//! [`CallError`]: why a call cannot be made.
//!
//! *Invariant:* if a call returns an error, nothing was changed.

use repl_core::WriteError;
use repl_link::SendError;

/// The reason why a call was not made. If a call returns this error, nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no connection: it has not begun, or it has ended. Wait for the event `Connected`, and make
    /// the call again if it is still useful then.
    #[error("not connected")]
    NotConnected,
    /// The object does not exist on this side, or is of another class. Perhaps it was despawned, or the
    /// client does not see it now. Another cause is a call for clients on an object that was [torn
    /// off](crate::ObjectHandle::tear_off), which belongs to the clients. Drop the reference, or make the
    /// last calls before the object is removed.
    #[error("the object does not exist, or was torn off")]
    Gone,
    /// This client does not own the object, so the server would ignore the call. Make the call on an object
    /// that the client [owns](crate::ClientObjectInfo::is_owner), or let the server
    /// [set](crate::ObjectHandle::set_owner) the owner first.
    #[error("only the owner of an object may call its server functions")]
    NotOwner,
    /// The object has no owner, so there is no client that could run the call.
    /// [Set](crate::ObjectHandle::set_owner) its owner first, or make the call a `multicast`.
    #[error("the object has no owner that could run the call")]
    NoOwner,
    /// This client made more calls of this function in the last second than the function allows. Make the
    /// call again in a later tick, or raise `per_second` in the function's attribute `#[rpc(…)]`.
    #[error("too many calls: the function allows {per_second} a second")]
    TooFast {
        /// The number of calls per second that the function allows.
        per_second: u32,
    },
    /// Too many calls of this class wait for their acks. The limits are described at [`SendError::Full`].
    /// Make the call again in a later tick. If this happens often, make fewer calls, or make the function
    /// `unreliable`.
    #[error("too many calls wait to be acknowledged")]
    Full,
    /// The parameters are too large for one call. Limit them with `max_len`, or send their content as a
    /// property or in several calls.
    #[error("the call takes {bits} bits, and there is room for {max_bits}")]
    TooLarge {
        /// The size of the call in bits.
        bits: usize,
        /// The greatest size of a call in bits.
        max_bits: usize,
    },
    /// A parameter has no form on the wire, for example a number outside its `range`. The [`WriteError`] says
    /// why, and what to change.
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
