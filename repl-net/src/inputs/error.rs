//! Why an input was not set.
//!
//! *Invariant:* an input that was not set changes nothing.

use repl_link::SendError;

/// Why an input was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A client sets inputs only for the ticks that are [due](crate::ClientInputs::due), and the host for one
    /// of the 256 ticks after the [last](crate::Server::ticks).
    #[error("no input is due for this tick")]
    NotDue,
    /// The tick has an input, or on a client a later one has: it may be on its way, so it cannot be changed.
    #[error("this tick or a later one has an input")]
    HasInput,
    /// The input cannot be sent, because it is too large, or has no form on the wire. The server has no input
    /// for this tick, unless another one is set.
    #[error("the input cannot be sent: {0}")]
    Unsent(#[from] SendError),
}
