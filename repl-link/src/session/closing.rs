//! The packet by which one side tells the other why it ended the session.
//!
//! *Invariant:* the other side reports the same reason, with two exceptions. If a packet could not be read,
//! both sides report a protocol error, but only the side that read the packet knows the details. If messages
//! were not polled, each side reports which side did not poll them.

use repl_core::{BitReader, BitWriter, ReadError};

use crate::session::disconnect::DisconnectReason;
use crate::session::login::{read_bytes, write_bytes};
use crate::session::name::cut;

/// The greatest number of bytes of a text in a disconnect packet.
const MAX_TEXT_BYTES: usize = 255;

/// The greatest number of bytes of a disconnect packet without its text.
const AROUND_TEXT_BYTES: usize = 8;

/// The reason that a side reports if the other side could not read one of its packets.
const NOT_READ: &str = "the other side could not read a packet of this side";

/// The reason in a disconnect packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// The application of the sender ended the session without a text.
    Closed,
    /// The application of the sender ended the session with a text.
    ClosedWith(String),
    /// The application of the server did not accept the client's login.
    Refused(String),
    /// The server has reached its limit of connections.
    Full,
    /// A newer session of the same address has replaced this one.
    Replaced,
    /// The connection belongs to another session.
    Taken,
    /// The sender has received nothing for too long.
    Timeout,
    /// Too much data was not acknowledged by the client for too long.
    Unacknowledged,
    /// The sender has received a packet that the protocol forbids.
    NotRead,
    /// The application of the server did not answer the client's login.
    LoginTimeout,
    /// The receiver of this packet has begun to send a reliable message, but has not finished it for too
    /// long.
    Stalled,
    /// The server has rejected the parameters of the call with this name.
    Rejected(String),
    /// The client has sent too many packets, or too many messages of the type with this name.
    TooFast(String),
    /// The server does not know the session.
    Forgotten,
    /// Too many messages of the type with this name wait to be polled by the sender.
    Unread(String),
    /// The path from the sender to the receiver does not even carry packets of the least size.
    PathTooNarrow,
}

impl Closing {
    /// Returns the content of the packet that tells the other side about this reason, in at most `mtu_bytes`
    /// bytes. Returns `None` if the reason is sent in another kind of packet.
    pub(super) fn of(reason: &DisconnectReason, mtu_bytes: usize) -> Option<Self> {
        let max = mtu_bytes.saturating_sub(AROUND_TEXT_BYTES).min(MAX_TEXT_BYTES);
        let text = |text: &str| cut(text, max).to_owned();
        Some(match reason {
            DisconnectReason::Layouts(_) | DisconnectReason::Limits(_) => return None,
            // After a failure of the transport, the other side does not receive this packet.
            DisconnectReason::Closed | DisconnectReason::Transport(_) => Self::Closed,
            DisconnectReason::ClosedWith(why) => Self::ClosedWith(text(why)),
            DisconnectReason::Refused(why) => Self::Refused(text(why)),
            DisconnectReason::Full => Self::Full,
            DisconnectReason::Replaced => Self::Replaced,
            DisconnectReason::Taken => Self::Taken,
            DisconnectReason::Timeout
            | DisconnectReason::NeverPolled
            | DisconnectReason::TicksTooFarApart(_) => Self::Timeout,
            DisconnectReason::Unacknowledged => Self::Unacknowledged,
            DisconnectReason::Protocol(_) => Self::NotRead,
            DisconnectReason::LoginTimeout => Self::LoginTimeout,
            DisconnectReason::Stalled => Self::Stalled,
            DisconnectReason::Rejected(call) => Self::Rejected(text(call)),
            DisconnectReason::TooFast(what) => Self::TooFast(text(what)),
            DisconnectReason::Forgotten => Self::Forgotten,
            DisconnectReason::Unread(what) | DisconnectReason::UnreadByOther(what) => {
                Self::Unread(text(what))
            }
            DisconnectReason::PathTooNarrow => Self::PathTooNarrow,
        })
    }

    /// Returns the reason that the receiver of the packet reports.
    pub(crate) fn into_reason(self) -> DisconnectReason {
        match self {
            Self::Closed => DisconnectReason::Closed,
            Self::ClosedWith(why) => DisconnectReason::ClosedWith(why),
            Self::Refused(why) => DisconnectReason::Refused(why),
            Self::Full => DisconnectReason::Full,
            Self::Replaced => DisconnectReason::Replaced,
            Self::Taken => DisconnectReason::Taken,
            Self::Timeout => DisconnectReason::Timeout,
            Self::Unacknowledged => DisconnectReason::Unacknowledged,
            Self::NotRead => DisconnectReason::Protocol(NOT_READ.to_owned()),
            Self::LoginTimeout => DisconnectReason::LoginTimeout,
            Self::Stalled => DisconnectReason::Stalled,
            Self::Rejected(call) => DisconnectReason::Rejected(call),
            Self::TooFast(what) => DisconnectReason::TooFast(what),
            Self::Forgotten => DisconnectReason::Forgotten,
            Self::Unread(what) => DisconnectReason::UnreadByOther(what),
            Self::PathTooNarrow => DisconnectReason::PathTooNarrow,
        }
    }

    /// Returns whether a client may send this reason. Only servers send the other reasons.
    pub(crate) const fn is_of_client(&self) -> bool {
        matches!(
            self,
            Self::Closed
                | Self::ClosedWith(_)
                | Self::Timeout
                | Self::NotRead
                | Self::Stalled
                | Self::Unread(_)
                | Self::PathTooNarrow
        )
    }

    pub(crate) fn write(&self, writer: &mut BitWriter) {
        let (code, text) = match self {
            Self::Closed => (0, None),
            Self::ClosedWith(text) => (1, Some(text)),
            Self::Refused(text) => (2, Some(text)),
            Self::Full => (3, None),
            Self::Replaced => (4, None),
            Self::Taken => (5, None),
            Self::Timeout => (6, None),
            Self::Unacknowledged => (7, None),
            Self::NotRead => (8, None),
            Self::LoginTimeout => (9, None),
            Self::Stalled => (10, None),
            Self::Rejected(text) => (11, Some(text)),
            Self::TooFast(text) => (12, Some(text)),
            Self::Forgotten => (13, None),
            Self::Unread(text) => (14, Some(text)),
            Self::PathTooNarrow => (15, None),
        };
        writer.write_bits(code, 4);
        if let Some(text) = text {
            write_bytes(cut(text, MAX_TEXT_BYTES).as_bytes(), 8, writer);
        }
    }

    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Ok(match reader.read_bits(4)? {
            0 => Self::Closed,
            1 => Self::ClosedWith(read_text(reader)?),
            2 => Self::Refused(read_text(reader)?),
            3 => Self::Full,
            4 => Self::Replaced,
            5 => Self::Taken,
            6 => Self::Timeout,
            7 => Self::Unacknowledged,
            8 => Self::NotRead,
            9 => Self::LoginTimeout,
            10 => Self::Stalled,
            11 => Self::Rejected(read_text(reader)?),
            12 => Self::TooFast(read_text(reader)?),
            13 => Self::Forgotten,
            14 => Self::Unread(read_text(reader)?),
            _ => Self::PathTooNarrow,
        })
    }
}

fn read_text(reader: &mut BitReader<'_>) -> Result<String, ReadError> {
    String::from_utf8(read_bytes(reader, 8, MAX_TEXT_BYTES)?).map_err(|_| ReadError::InvalidUtf8)
}

/// Returns the text, cut to the length that fits into a disconnect packet.
pub fn shortened(text: &str) -> String {
    cut(text, MAX_TEXT_BYTES).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons() -> Vec<DisconnectReason> {
        vec![
            DisconnectReason::Closed,
            DisconnectReason::ClosedWith("good night".to_owned()),
            DisconnectReason::Refused("unknown player".to_owned()),
            DisconnectReason::Full,
            DisconnectReason::Replaced,
            DisconnectReason::Taken,
            DisconnectReason::Timeout,
            DisconnectReason::Unacknowledged,
            DisconnectReason::Protocol(NOT_READ.to_owned()),
            DisconnectReason::LoginTimeout,
            DisconnectReason::Stalled,
            DisconnectReason::Rejected("fire".to_owned()),
            DisconnectReason::TooFast("packets".to_owned()),
            DisconnectReason::Forgotten,
            DisconnectReason::UnreadByOther("message Chat".to_owned()),
            DisconnectReason::PathTooNarrow,
        ]
    }

    fn reread(closing: &Closing) -> (usize, Result<Closing, ReadError>) {
        let mut writer = BitWriter::new();
        closing.write(&mut writer);
        let bytes = writer.into_bytes();
        (bytes.len(), Closing::read(&mut BitReader::new(&bytes)))
    }

    #[test]
    fn every_reason_arrives_as_itself() {
        for reason in reasons() {
            let closing = Closing::of(&reason, 1_200).expect("it is not about classes or limits");
            assert_eq!(reread(&closing).1, Ok(closing.clone()));
            assert_eq!(closing.into_reason(), reason);
        }
    }

    #[test]
    fn who_did_not_poll_is_the_sender() {
        let closing = Closing::of(&DisconnectReason::Unread("message Chat".to_owned()), 1_200);
        let reason = closing.expect("it is not about classes or limits").into_reason();
        assert_eq!(reason, DisconnectReason::UnreadByOther("message Chat".to_owned()));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = DisconnectReason::ClosedWith("é".repeat(400));
        for (mtu_bytes, kept) in [(1_200, 127), (263, 127), (29, 10), (8, 0)] {
            let closing = Closing::of(&long, mtu_bytes).expect("a text");
            assert_eq!(closing, Closing::ClosedWith("é".repeat(kept)));
            let (len, read) = reread(&closing);
            // The packet also has a checksum of four bytes, and four bits before the reason.
            assert!(4 + 1 + len <= mtu_bytes, "{len} bytes");
            assert_eq!(read, Ok(closing));
        }
    }

    #[test]
    fn r20_texts_longer_than_their_packet_or_not_utf_8_are_malformed() {
        let read = |write: fn(&mut BitWriter)| {
            let mut writer = BitWriter::new();
            write(&mut writer);
            Closing::read(&mut BitReader::new(writer.finish()))
        };
        assert!(matches!(read(|writer| writer.write_bits(0xff1, 12)), Err(ReadError::TooLong { .. })));
        assert_eq!(read(|writer| writer.write_bits(0xff_011, 20)), Err(ReadError::InvalidUtf8));
    }
}
