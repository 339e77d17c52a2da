//! Who may receive a message. This is checked when the message is sent, because the answer may change while
//! the message waits.
//!
//! *Invariant:* a message for [`Recipient::Anyone`] is never withdrawn.

/// The condition that the other side must meet to receive a message. It is checked each time the message or a
/// part of it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// Everyone may receive the message. It does not belong to an object.
    Anyone,
    /// A client that sees an object. The message begins with the guid (the identifier) of this object.
    Viewer,
    /// A client that sees and owns an object. The message begins with the guid of this object.
    Owner,
}

/// A function that returns whether the other side may receive a message now. Its arguments are the recipient
/// of the message, which is not [`Anyone`](Recipient::Anyone), and its content.
pub type MayReceive<'a> = &'a dyn Fn(Recipient, &[u8]) -> bool;
