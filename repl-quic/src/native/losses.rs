//! Converts the reason why a QUIC connection was lost into the reason why its session ends.
//!
//! *Invariant:* a client connects again only if another attempt may succeed.

use quinn_proto::{ConnectionError, TransportErrorCode};
use repl_link::DisconnectReason;

use crate::closing::{FULL, LATE};

/// QUIC error codes from this number on are TLS alerts (RFC 9001, section 4.8).
const FIRST_ALERT: u64 = 0x100;

/// Returns the reason why a session ends after its connection was lost with `error`.
pub(crate) fn reason_of(error: &ConnectionError) -> DisconnectReason {
    match error {
        ConnectionError::Reset => DisconnectReason::Forgotten,
        ConnectionError::TimedOut => DisconnectReason::Timeout,
        ConnectionError::ApplicationClosed(close) if close.error_code == FULL.into() => {
            DisconnectReason::Full
        }
        ConnectionError::ApplicationClosed(close) if close.error_code == LATE.into() => {
            DisconnectReason::Timeout
        }
        ConnectionError::LocallyClosed | ConnectionError::ApplicationClosed(_) => DisconnectReason::Closed,
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            DisconnectReason::Full
        }
        ConnectionError::ConnectionClosed(close)
            if [
                TransportErrorCode::INVALID_TOKEN,
                TransportErrorCode::INTERNAL_ERROR,
                TransportErrorCode::NO_VIABLE_PATH,
            ]
            .contains(&close.error_code) =>
        {
            DisconnectReason::Timeout
        }
        ConnectionError::ConnectionClosed(close) => refused(close.error_code, &error.to_string()),
        ConnectionError::TransportError(own) => refused(own.code, &own.to_string()),
        ConnectionError::VersionMismatch => {
            given_up("the other side knows no version of QUIC that this one does")
        }
        ConnectionError::CidsExhausted => given_up(&error.to_string()),
    }
}

/// Returns the reason for an error code of QUIC or TLS.
fn refused(code: TransportErrorCode, text: &str) -> DisconnectReason {
    let why = match u64::from(code).checked_sub(FIRST_ALERT) {
        Some(42) => "the certificate of the server does not have the name to which the client connects",
        Some(45) => {
            "the certificate of the server is not valid now: renew it, or set the clocks of both machines right"
        }
        Some(48) => {
            "the certificate of the server is signed by no authority that this client trusts: pin its hash, or get one from a \
             certificate authority"
        }
        Some(49) => {
            "the certificate of the server has none of the pinned hashes: pin what `Identity::hash` of the server returns, or \
             read the folder of `Trust::development` again, in which the server has put another one"
        }
        Some(120) => "the other side speaks another protocol: connect to the port of a server of this game",
        _ => return given_up(text),
    };
    given_up(why)
}

fn given_up(why: &str) -> DisconnectReason {
    DisconnectReason::Transport(why.to_owned())
}
