//! Who may receive a message. The sender asks when the message leaves, because the answer may change while
//! the message waits.
//!
//! *Invariant:* a message for [`Recipient::Anyone`] is never withdrawn.

/// What the other side must be to receive a message, each time when the message or a part of it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// Whoever it is. The message belongs to no object.
    Anyone,
    /// A client that sees the object with whose guid the message begins.
    Viewer,
    /// A client that sees the object with whose guid the message begins, and owns it.
    Owner,
}

/// Returns whether the other side may receive a message now. The arguments are its recipient, which is not
/// [`Anyone`](Recipient::Anyone), and its content.
pub type MayReceive<'a> = &'a dyn Fn(Recipient, &[u8]) -> bool;
