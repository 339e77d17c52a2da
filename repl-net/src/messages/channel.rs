//! How messages are delivered, and why one cannot be sent.
//!
//! *Invariant:* both sides use the same numbers here, so an honest peer never exceeds what is allowed.

use repl_core::WriteError;

/// The most messages of a reliable channel that may wait for their acks.
pub(crate) const MAX_MESSAGES: usize = 1_024;

/// The most bytes of messages that a connection stores in each direction: on the sending side until their
/// acks, on the receiving side until earlier messages arrive.
pub(crate) const MAX_BYTES: usize = 256 << 10;

/// Returns how many bytes a message counts for. The same on every platform, so that both sides agree.
pub(crate) const fn held_bytes(bytes: usize) -> usize {
    bytes.saturating_add(64)
}

/// How the messages of a type are delivered. Each type is a channel of its own: its messages do not wait for
/// messages of other types. If messages of several kinds must be in one order, make them one enum.
///
/// ```
/// use repl_net::{Channel, Client, ClientConfig};
///
/// let mut client = Client::new(ClientConfig::default(), 1);
/// client.register_message::<String>(Channel::Ordered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Each message arrives once, in the order in which they were sent. A message that was lost is sent
    /// again, and later ones wait for it.
    Ordered,
    /// Each message arrives once, as soon as it can. A message that was lost is sent again.
    Unordered,
    /// The newest message wins: one that arrives after a newer one of its type is dropped, and none is sent
    /// again when it was lost. For inputs and positions.
    Sequenced {
        /// In how many ticks in a row each message is sent, unless it is acknowledged earlier: at least 1.
        /// With 3, an input is missing only if three packets in a row are lost.
        copies: u8,
    },
}

impl Channel {
    /// A number for checksums.
    pub(crate) const fn tag(self) -> u64 {
        match self {
            Self::Ordered => 0,
            Self::Unordered => 1,
            Self::Sequenced { .. } => 2,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Unordered => "unordered",
            Self::Sequenced { .. } => "sequenced",
        }
    }
}

/// The reason why a message was not sent. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There is no connection: it has not begun, or it has ended.
    #[error("not connected")]
    NotConnected,
    /// Too much waits for its acks: 1,024 messages of this type, or 256 KiB of reliable messages. Send the
    /// message again in a later tick. Messages of a [`Sequenced`](Channel::Sequenced) channel never fill it.
    #[error("too many messages wait to be acknowledged")]
    Full,
    /// The message is larger than a packet.
    #[error("the message takes {bits} bits, and a packet has room for {max_bits}")]
    TooLarge {
        /// The bits of the message.
        bits: usize,
        /// The most bits that a message may take.
        max_bits: usize,
    },
    /// The message has no form on the wire.
    #[error("{0}")]
    Refused(#[from] WriteError),
}
