//! [`InputError`]: the reasons why an input was not set.
//!
//! *Invariant:* a call that returns this error has changed nothing.

use repl_link::SendError;

/// The reason why an input was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The tick is not due. A client can set inputs only for the ticks that are
    /// [due](crate::ClientInputs::due). The host can set inputs only for the 256 ticks after the [newest
    /// tick](crate::Server::ticks).
    #[error("no input is due for this tick")]
    NotDue,
    /// The tick already has an input, or, on a client, a later tick has an input. An input may already have
    /// been sent, so it cannot be changed.
    #[error("this tick or a later one has an input")]
    HasInput,
    /// The input cannot be sent, because it is too large or has no form on the wire. The server has no input
    /// for this tick unless the program sets another input.
    #[error("the input cannot be sent: {0}")]
    Unsent(#[from] SendError),
}
