//! The kinds of channels, the limits of messages, and the errors of sending.
//!
//! *Invariant:* both sides use the same limits here, so an honest peer never exceeds them.
//!
//! To add a kind of channel, add a variant to [`Channel`]. Code that depends on the kind uses a `match`
//! without a wildcard, so the compiler lists all places to change, in this file and in the modules `sending`
//! and `incoming`. Code that calls `is_reliable` or `replaces_older` needs no change, unless both functions
//! return true for the new kind. Today no kind is reliable and also replaces older messages, so such a kind
//! would also change `Incoming::take` and `SendingChannel::arrived`.
//!
//! To add a limit for a type of messages, add a field to [`MessageOptions`]. The compiler then shows where to
//! decide whether both sides must agree on it. `outgoing` and `sending` obey limits when they send.
//! `incoming`, `exchange` and `mailbox` (messages in a second) check limits when messages arrive.
//! `send_to_each` expects that a limit is the same for all connections.

use repl_core::{Checksum, Form, WriteError};

/// The greatest number of messages of a reliable channel that may wait for their acks.
pub(crate) const MAX_MESSAGES: usize = 1_024;

/// The greatest number of bytes of messages that a connection stores in each direction. The sender stores
/// them until their acks, and the receiver until earlier messages arrive.
pub(crate) const MAX_BYTES: usize = 256 << 10;

/// The greatest number of reliable messages of a connection that are larger than a packet and not
/// acknowledged yet.
pub(crate) const MAX_UNFINISHED: usize = 16;

/// The greatest size of a message in bytes, if its type does not allow more. A larger message is *bulk*: it
/// uses the bandwidth that all other data leaves free, and does not count in [`MAX_BYTES`].
pub(crate) const USUAL_MESSAGE_BYTES: usize = 64 << 10;

/// The greatest size in bytes that a type of messages can allow.
pub(crate) const LARGEST_MESSAGE_BYTES: usize = 16 << 20;

/// Returns whether a message with this many bits is bulk.
pub(crate) const fn is_bulk(bits: usize) -> bool {
    bits > USUAL_MESSAGE_BYTES * 8
}

/// Returns how many bytes a message of `bytes` bytes counts for in the limits on stored messages: `bytes`
/// plus 64. The result is the same on every platform, so that both sides agree.
pub const fn held_bytes(bytes: usize) -> usize {
    bytes.saturating_add(64)
}

/// How the messages of a type are delivered. Each type has its own channel: its messages do not wait for
/// messages of other types. If several kinds of messages must stay in one order, make them variants of one
/// enum.
///
/// ```
/// use repl_link::plain::MessageServer;
/// use repl_link::{Channel, ServerSettings};
///
/// let mut server = MessageServer::new(ServerSettings::default());
/// server.register::<String>(Channel::Ordered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Each message arrives once, in the order in which they were sent. A message that was lost is sent
    /// again, and later messages wait for it.
    Ordered,
    /// Each message arrives once. It does not wait for other messages. A message that was lost is sent again.
    Unordered,
    /// Only the newest message counts: a message that arrives after a newer message of its type is dropped,
    /// and a lost message is not sent again. Use it for inputs and positions.
    Sequenced {
        /// In how many ticks in a row each message is sent: at least 1. The copies stop earlier if this
        /// message or a newer one is acknowledged. With 3, an input is missing only if three packets in a row
        /// are lost, as in an outage. This also holds if several messages are sent in one tick. If the link
        /// has no room, the messages of this many ticks wait, and older ones are dropped.
        copies: u8,
    },
    /// Each message is sent only one time, in the next tick in which there is room, and arrives at most once.
    /// It does not wait for other messages. Use it for effects that may be missing.
    Unreliable,
    /// Each message is sent only one time. A message that still waits for room is dropped when a newer
    /// message is added in a later tick. Each message arrives at most once, even if newer messages have
    /// arrived before it. Use it for messages that repeat the content of earlier messages, for example the
    /// last inputs of a player.
    Inputs,
}

impl Channel {
    /// Returns whether every message arrives.
    pub const fn is_reliable(self) -> bool {
        match self {
            Self::Ordered | Self::Unordered => true,
            Self::Sequenced { .. } | Self::Unreliable | Self::Inputs => false,
        }
    }

    /// Returns whether a message makes the older messages of its type useless.
    pub(crate) const fn replaces_older(self) -> bool {
        match self {
            Self::Sequenced { .. } | Self::Inputs => true,
            Self::Ordered | Self::Unordered | Self::Unreliable => false,
        }
    }

    /// Returns the number of the channel's kind, for checksums.
    pub const fn tag(self) -> u64 {
        match self {
            Self::Ordered => 0,
            Self::Unordered => 1,
            Self::Sequenced { .. } => 2,
            Self::Unreliable => 3,
            Self::Inputs => 4,
        }
    }

    /// Returns the name of the kind, for error texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Unordered => "unordered",
            Self::Sequenced { .. } => "sequenced",
            Self::Unreliable => "unreliable",
            Self::Inputs => "of inputs",
        }
    }
}

/// The limits of a type of messages. The [`Channel`] of the type is a separate argument.
///
/// ```
/// use repl_link::plain::MessageServer;
/// use repl_link::{Channel, MessageOptions, ServerSettings};
///
/// let mut server = MessageServer::new(ServerSettings::default());
/// let options = MessageOptions { max_bytes: 1_000, ..MessageOptions::default() };
/// server.register_with::<String>(Channel::Ordered, options);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageOptions {
    /// The greatest size of a message in bytes: 1 to 16,777,216, and at most 65,536 if the channel is not
    /// [reliable](Channel::is_reliable). A message that is larger than a packet is sent in parts. Both sides
    /// must register the same size. Default 65,536.
    ///
    /// A message of more than 65,536 bytes is *bulk*. It uses the bandwidth that state and other messages
    /// leave free, and at least a 32nd of the link. Later messages of an [`Ordered`](Channel::Ordered) type
    /// wait for it. All bulk messages of a type that wait for their acks have together at most `max_bytes`.
    /// Both sides may have to store this many bytes for each connection. If a message is sent to several
    /// connections at once, the sender stores one copy for all of them.
    pub max_bytes: usize,
    /// The weight of this type: 1 to 255. If several types have more to send than the link carries, they
    /// share the link in proportion to their weights. If a type does not need its whole share, the other
    /// types use the rest. Each side has its own weights. Default 16.
    pub weight: u8,
    /// How many messages of this type a client may send in a second: at least 1. After a pause, it may send
    /// the same number without any delay between them. The client itself obeys this limit
    /// ([`SendError::TooFast`]), and the server ends the connection of a client that exceeds it
    /// ([`TooFast`](crate::DisconnectReason::TooFast)). Messages of a server have no such limit. Both sides
    /// must register the same limit. Default 1,000.
    pub per_second: u32,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl MessageOptions {
    /// The default limits, for constants.
    pub const DEFAULT: Self = Self { max_bytes: USUAL_MESSAGE_BYTES, weight: 16, per_second: 1_000 };

    /// Returns how many bits a channel sends in one turn: 64 bytes for a weight of 1.
    pub fn quantum_bits(&self) -> i64 {
        i64::from(self.weight).saturating_mul(64 * 8)
    }

    /// # Panics
    /// Panics if a field is out of its range. The message contains the name of the field and its range.
    #[track_caller]
    pub fn assert_valid(&self) {
        let Self { max_bytes, weight, per_second } = *self;
        assert!(weight > 0, "`weight` is at least 1, but 0 was asked for: nothing could ever be sent");
        assert!(
            per_second > 0,
            "`per_second` is at least 1, but 0 was asked for: nothing could ever be sent"
        );
        assert!(
            (1..=LARGEST_MESSAGE_BYTES).contains(&max_bytes),
            "`max_bytes` is from 1 to {LARGEST_MESSAGE_BYTES}, but {max_bytes} was asked for"
        );
    }
}

/// A channel and the limits of its type of messages.
#[derive(Clone, Copy, Debug)]
pub struct ChannelConfig {
    /// How messages are delivered.
    pub channel: Channel,
    /// The limits.
    pub options: MessageOptions,
}

/// Makes a channel for the calls of a class. Each call has its own limit, which is at most 10,000 calls a
/// second.
impl From<Channel> for ChannelConfig {
    fn from(channel: Channel) -> Self {
        Self { channel, options: MessageOptions { per_second: 10_000, ..MessageOptions::default() } }
    }
}

impl ChannelConfig {
    /// # Panics
    /// Panics if an option is out of its range. The message contains the name of the option and its range.
    #[track_caller]
    pub fn assert_valid(&self) {
        self.options.assert_valid();
        let max_bytes = self.options.max_bytes;
        assert!(
            self.channel.is_reliable() || max_bytes <= USUAL_MESSAGE_BYTES,
            "`max_bytes` of a channel that is {} is at most {USUAL_MESSAGE_BYTES}, but {max_bytes} was asked for: \
             larger messages need a channel that is ordered or unordered",
            self.channel.name(),
        );
    }

    /// Checks whether a message of `bits` bits may be sent.
    ///
    /// # Errors
    /// Returns an error if the message is larger than its type allows.
    pub fn check_size(&self, bits: usize) -> Result<(), SendError> {
        let max_bits = self.options.max_bytes.saturating_mul(8);
        if bits > max_bits { Err(SendError::TooLarge { bits, max_bits }) } else { Ok(()) }
    }

    /// Returns whether the messages of the channel can be bulk.
    pub(crate) const fn allows_bulk(&self) -> bool {
        self.options.max_bytes > USUAL_MESSAGE_BYTES
    }

    /// Returns the options that both sides must agree on, each with the name that the user knows.
    pub fn forms(&self) -> Vec<Form> {
        let form = |path: &str, text: String, number: u64| Form {
            path: path.to_owned(),
            text,
            sum: Checksum::new().number(number).finish(),
        };
        let MessageOptions { max_bytes, weight: _, per_second } = self.options;
        vec![
            form("channel", self.channel.name().to_owned(), self.channel.tag()),
            form("max_bytes", max_bytes.to_string(), max_bytes as u64),
            form("per_second", per_second.to_string(), per_second.into()),
        ]
    }

    /// Adds the options that both sides must agree on to a checksum.
    pub const fn checksum(&self, checksum: Checksum) -> Checksum {
        let MessageOptions { max_bytes, weight: _, per_second } = self.options;
        checksum.number(self.channel.tag()).number(max_bytes as u64).number(per_second as u64)
    }
}

/// The reason why a message was not sent. The call has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// There is no connection: it has not begun, or it has ended. Wait for the event `Connected`, and send
    /// the message again if it still makes sense then.
    #[error("not connected")]
    NotConnected,
    /// Too many messages of this type wait for their acks. Send the message again in a later tick. Three
    /// limits apply: a type may have 1,024 waiting messages. All types together may have 256 KiB of waiting
    /// bytes and 16 waiting messages that are larger than a packet. A type may use at most as much of these
    /// two limits as is still free after all types are counted, so one type alone uses at most half. Messages
    /// of more than 64 KiB do not count in these bytes: all such messages of a type have together at most
    /// [`max_bytes`](MessageOptions::max_bytes). Channels that are not [reliable](Channel::is_reliable) never
    /// return this error. If too much waits there, the oldest messages of the type are dropped.
    #[error("too many messages wait to be acknowledged")]
    Full,
    /// This client has sent more messages of this type in the last second than
    /// [`per_second`](MessageOptions::per_second) allows. Send the message again in a later tick.
    #[error("too many messages: the type allows {per_second} a second")]
    TooFast {
        /// How many messages of the type a client may send in a second.
        per_second: u32,
    },
    /// The message is larger than its [limit](MessageOptions::max_bytes). Raise the limit on both sides, or
    /// send several messages.
    #[error("the message takes {bits} bits, and its type may take {max_bits}")]
    TooLarge {
        /// The bits of the message.
        bits: usize,
        /// The greatest number of bits that a message may take.
        max_bits: usize,
    },
    /// The message cannot be written, for example because a number is outside its `range`. [`WriteError`]
    /// states the reason, and what to change.
    #[error("{0}")]
    Refused(#[from] WriteError),
}
